"""Exceptions, one for each kind of error of the library.

>>> import frostpane
>>> try:
...     frostpane.HeavyHitters(epsilon=-1)
... except frostpane.ParameterError as error:
...     print(error)
the specification cannot be used: epsilon is -1, but must be above 0: 1 is a common choice, less is more private
"""

from __future__ import annotations

import json
from typing import Any

from ._amount import Amount

__all__ = [
    "BusyError",
    "ColumnError",
    "ConflictError",
    "EntropyError",
    "FileError",
    "ForkedError",
    "FrostpaneError",
    "InputError",
    "InsufficientBudgetError",
    "MemoryLimitError",
    "OperatorWarning",
    "PaneError",
    "ParameterError",
    "StateError",
    "WindowError",
]


class FrostpaneError(Exception):
    """Base of all errors. Nothing was charged and nothing was counted, unless the message says so."""


class ParameterError(FrostpaneError, ValueError):
    """A parameter lies outside of its range."""


class WindowError(FrostpaneError, ValueError):
    """An event or a request does not fit the kind of window."""


class InsufficientBudgetError(FrostpaneError):
    """Some of the events have been in as many releases as they may, or cannot pay for this one. Nothing was
    charged.

    ``asked``, ``spent`` and ``left`` are what was asked of the first who cannot pay, what they have spent and
    have left; ``when`` says when the last of them leaves the window, where a store knows.
    """

    asked: Amount | None
    spent: Amount | None
    left: Amount | None
    when: str | None

    def __init__(self, message: str, numbers: str | None = None) -> None:
        super().__init__(message)
        given: dict[str, Any] = json.loads(numbers) if numbers else {}
        self.asked = Amount.read(given.get("asked"))
        self.spent = Amount.read(given.get("spent"))
        self.left = Amount.read(given.get("left"))
        self.when = given.get("when")


class EntropyError(FrostpaneError, OSError):
    """The operating system gave no entropy."""


class PaneError(FrostpaneError):
    """Panes that were made with other parameters cannot be merged."""


class MemoryLimitError(FrostpaneError, MemoryError):
    """The users fit neither into the memory nor onto the disk."""


class StateError(FrostpaneError):
    """The object was closed or an update was broken, or stored data cannot be read."""


class ConflictError(StateError):
    """The request contradicts the store: other events under a known id, a restored copy, panes of another
    store."""


class BusyError(StateError):
    """Another process has the store open."""


class FileError(StateError, OSError):
    """A file of a store cannot be read or written, or is damaged."""


class ForkedError(FrostpaneError, RuntimeError):
    """The object belongs to the process that this one was forked from."""


class InputError(FrostpaneError, TypeError):
    """Events have a type that cannot be read."""


class ColumnError(FrostpaneError, LookupError):
    """A column is missing."""


class OperatorWarning(UserWarning):
    """A warning for the operator alone, not to be published."""
