"""Frequent keys of a sliding window, in memory."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _internal
from ._amount import Amount
from ._columns import rows
from ._fields import Fields
from ._once import Closing
from ._progress import Progress, told
from ._signature import with_fields
from ._time import Span, span
from .errors import InsufficientBudgetError, OperatorWarning
from .plan import Explanation, Plan
from .release import Release
from .spec import Spec, written

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class Counted:
    """Counts of events by outcome. For the operator, who has the events anyway: **they must not be
    published**."""

    rows: int = 0
    """Events that were given."""
    without_key: int = 0
    """Events without a key that counts: missing, unreadable, undeclared or too long."""
    without_time: int = 0
    """Events without a time within the calendar, which were left out."""
    without_user: int = 0
    """Events without a user, which do not count if users are protected."""
    beyond_bounds: int = 0
    """Events beyond the bounds of their users; known after a release."""
    outside: int = 0
    """Events outside of a window with a known end."""
    late: int = 0
    """Events that were too late."""
    ahead: int = 0
    """Events whose time lies too far ahead of the clock, which were left out."""
    memory: int = 0
    """The approximate memory of the window in bytes."""
    panes: int = 0
    """The number of closed panes."""


class HeavyHitters(Closing):
    """The frequent keys of a sliding window, and private releases of them, in memory.

    What is asked for is given as keywords (:class:`Fields` has them all), as a :class:`Spec`, or as both.
    ``key``, ``time`` and ``user`` are the columns of tables that :meth:`update` is given; with ``user``,
    users are protected and not single events. ``integers`` says that open keys are integers from 0 on; else
    they are text, and integers are their digits.

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

    Users are protected by the clock, whose end is told and never read off the events:

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
        """The specification."""
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
        """Counts all of the events, or none of them.

        ``events`` is a table (anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``, a data frame of
        pandas, a mapping of columns), a column of keys (Arrow's, numpy's, pandas', an iterable of ``str``,
        ``bytes`` or ``int``), one key, or files, which are read as the program reads them: a path, several
        paths or, where ``key`` names a column, text with the name of a file, a folder or a pattern of names.
        Beside a column of keys, ``time`` and ``user`` are columns of the same length. Every value is read by
        itself: what is no key, no time or no user is the loss of its event alone.

        Types of columns are checked before the first event is counted. An interrupt comes before the first
        event or after the last: if it cannot wait that long, nothing more is released from this object.
        """
        names = (key or self._columns[0], self._columns[1] if time is None else time, self._columns[2] if user is None else user)
        self._take(events, *names, progress=progress)

    def _take(self, events: Any, key: Any, time: Any, user: Any, *, progress: Progress) -> None:
        self._hitters.update(rows(events, key, time, user, self._spec._json), told(progress))

    def release(self, window: Span | None = None) -> Release:
        """A private list of the longest window, or of a shorter one. Its epsilon is charged to all events
        that it covers."""
        asked = None if window is None else str(span(window))
        try:
            release = Release(*self._hitters.release(asked))
        except InsufficientBudgetError as error:
            raise self._with_numbers(error) from None
        for warning in release.warnings:
            warnings.warn(warning, OperatorWarning, stacklevel=2)
        return release

    def _with_numbers(self, error: InsufficientBudgetError) -> InsufficientBudgetError:
        """A refused event has been in as many releases as it may."""
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
        """The stages that epsilon is spent on."""
        return Explanation(self._spec)

    @property
    def counted(self) -> Counted:
        """Counts of events by outcome. For the operator, who has the events anyway: **they must not be
        published**."""
        return Counted(**json.loads(self._hitters.counted()))

    def close(self) -> None:
        """Drops all state."""
        self._hitters.close()

    def __repr__(self) -> str:
        return f"HeavyHitters({self._spec!r})"
