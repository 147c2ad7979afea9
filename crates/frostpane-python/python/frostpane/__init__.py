"""Differentially private heavy hitters over sliding windows.

A frosted pane of glass shows the large shapes behind it and no detail. Frostpane does that to an event
stream: it names the keys that were frequent in a sliding window, with counts, under differential privacy. In
one call:

>>> import frostpane
>>> events = {"page": ["/", "/", "/about"] * 2_000}
>>> release = frostpane.top(events, key="page", top=2, epsilon=1.0)
>>> [heavy.key for heavy in release]
['/', '/about']

:class:`HeavyHitters` takes events as they come, :class:`Watch` and :func:`watch` release a list at every
slide at one epsilon, :class:`Store` keeps events and what they have spent across processes, :func:`plan` and
:func:`explain` say what a list will be good for and what it costs, before any data. What is asked for has the
names that the program and its specifications have (:class:`Spec`).
"""

from __future__ import annotations

from ._amount import Amount
from ._fields import Fields
from ._internal import __version__
from .errors import (
    BusyError,
    ColumnError,
    ConflictError,
    EntropyError,
    FileError,
    ForkedError,
    FrostpaneError,
    InputError,
    InsufficientBudgetError,
    MemoryLimitError,
    OperatorWarning,
    PaneError,
    ParameterError,
    StateError,
    WindowError,
)
from .hitters import Counted, HeavyHitters
from .plan import Explanation, Plan, Stage, epsilon_for, explain, plan
from .release import Coverage, Heavy, Release
from .spec import Spec
from .store import Budget, Cost, Period, Store, Taken
from .top import top
from .watch import Watch, watch

__all__ = [
    "Amount",
    "Budget",
    "BusyError",
    "ColumnError",
    "ConflictError",
    "Cost",
    "Counted",
    "Coverage",
    "EntropyError",
    "Explanation",
    "Fields",
    "FileError",
    "ForkedError",
    "FrostpaneError",
    "Heavy",
    "HeavyHitters",
    "InputError",
    "InsufficientBudgetError",
    "MemoryLimitError",
    "OperatorWarning",
    "PaneError",
    "ParameterError",
    "Period",
    "Plan",
    "Release",
    "Spec",
    "Stage",
    "StateError",
    "Store",
    "Taken",
    "Watch",
    "WindowError",
    "__version__",
    "epsilon_for",
    "explain",
    "plan",
    "top",
    "watch",
]
