"""The frequent keys of a sliding window, and private releases of them."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _internal
from ._amount import Amount
from ._columns import rows
from ._fields import Fields
from ._once import Once
from ._progress import Progress, told
from ._signature import with_fields
from ._time import Span, span
from .errors import InsufficientBudgetError, OperatorWarning
from .plan import Explanation, Plan
from .release import Release
from .spec import Spec, written

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack


@dataclass(frozen=True)
class Counted:
    """What became of events. For the operator, who holds them anyway: **it must not be published**."""

    rows: int = 0
    """How many were given."""
    without_key: int = 0
    """How many had no key that counts: none, one that cannot be read, an undeclared one, or one that is too long."""
    without_time: int = 0
    """How many had no time within the calendar, and were left out."""
    without_user: int = 0
    """How many were of nobody, and so not counted where people are protected."""
    beyond_bounds: int = 0
    """How many were beyond what their people may contribute; known after a release."""
    outside: int = 0
    """How many lay outside a window whose end is known."""
    late: int = 0
    """How many came too late."""
    memory: int = 0
    """About how many bytes the window takes."""
    panes: int = 0
    """How many closed panes there are."""


class HeavyHitters(Once):
    """The frequent keys of a sliding window, and private releases of them, in memory.

    What is asked for is given as keywords (:class:`Fields` has them all), as a :class:`Spec`, or as both. ``key``, ``time`` and ``user`` are the
    columns of tables that :meth:`update` is given; with ``user``, people are protected and not single events. ``integers`` says that open keys are integers
    from 0 on; else they are text, and integers are their digits.

    >>> pages = HeavyHitters(window=100_000, top=2)
    >>> pages.update(["/"] * 5_000 + ["/about"] * 1_000)
    >>> release = pages.release()
    >>> [heavy.key for heavy in release]
    ['/', '/about']

    Events are in one release, unless ``releases`` says more:

    >>> pages.release()
    Traceback (most recent call last):
    ...
    frostpane.errors.InsufficientBudgetError: ...

    People are protected by the clock, whose end is told and never read off the events:

    >>> visits = HeavyHitters(user="who", key="page", time="at", per_user=2, window="7d", top=5, until="2026-03-02")
    >>> visits.update({"who": [f"u{n}" for n in range(900)], "page": ["/"] * 900, "at": ["2026-03-01"] * 900})
    >>> 800 < visits.release()[0].count < 1_000
    True

    It exists once: it refuses to be copied or pickled and, after a fork, to be used by the child.
    """

    __slots__ = ("_columns", "_hitters", "_spec")

    @with_fields
    def __init__(
        self,
        spec: Spec | None = None,
        *,
        key: str | None = None,
        time: str | None = None,
        user: str | None = None,
        integers: bool = False,
        **fields: Unpack[Fields],
    ) -> None:
        asked = written(spec, dict(fields), people=user is not None)
        self._spec = Spec._of(asked)
        self._columns = (key, time, user)
        self._hitters = _internal.Hitters(asked, integers)

    @property
    def spec(self) -> Spec:
        """What is asked for."""
        return self._spec

    def update(
        self,
        events: Any,
        *,
        key: str | None = None,
        time: Any = None,
        user: Any = None,
        progress: Progress = None,
    ) -> None:
        """Counts events, all of them or none.

        ``events`` is a table (anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``, a data frame of pandas, a mapping of columns), a column
        of keys (Arrow's, numpy's, pandas', an iterable of ``str``, ``bytes`` or ``int``), or one key. Beside a column of keys, ``time`` and ``user`` are columns of
        the same length. Every value is read by itself: what is no key, no time or no user is the loss of its event alone.

        Types of columns are checked before the first event is counted. An interrupt comes before the first event or after the last: if it cannot wait that long,
        nothing more is released from this object.
        """
        names = (key or self._columns[0], self._columns[1] if time is None else time, self._columns[2] if user is None else user)
        self._take(events, *names, progress=progress)

    def _take(self, events: Any, key: Any, time: Any, user: Any, *, progress: Progress) -> None:
        self._hitters.update(rows(events, key, time, user), told(progress))

    def release(self, window: Span | None = None) -> Release:
        """A private list of the longest window, or of a shorter one. It costs its epsilon of all events that it covers."""
        asked = None if window is None else str(span(window))
        try:
            release = Release(*self._hitters.release(asked))
        except InsufficientBudgetError as error:
            raise self._with_numbers(error) from None
        for warning in release.warnings:
            warnings.warn(warning, OperatorWarning, stacklevel=2)
        return release

    def _with_numbers(self, error: InsufficientBudgetError) -> InsufficientBudgetError:
        """Who is refused has been in as many releases as it may."""
        one = self._spec.decided()
        delta = 0.0 if one.keys != "open" else one.delta
        releases = one.releases or 1
        error.asked = Amount(one.epsilon, delta, one.epsilon**2 / 2)
        error.spent = Amount(releases * one.epsilon, releases * delta, releases * one.epsilon**2 / 2)
        error.left = Amount(0.0, 0.0, 0.0)
        return error

    def plan(self, events: int | None = None, *, norm: int | None = None) -> Plan:
        """What to expect of a release of so many events; by count, of a full window."""
        return Plan(_internal.plan(self._spec._json, events, norm))

    def explain(self) -> Explanation:
        """What epsilon is spent on, stage by stage."""
        return Explanation(self._spec)

    @property
    def counted(self) -> Counted:
        """What became of events. For the operator: **it must not be published**."""
        return Counted(**json.loads(self._hitters.counted()))

    def close(self) -> None:
        """Forgets everything."""
        self._hitters.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"HeavyHitters({self._spec!r})"
