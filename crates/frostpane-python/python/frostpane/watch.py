"""Continual releases, all of them at one epsilon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _internal
from ._columns import rows
from ._fields import Fields
from ._once import Once
from ._progress import Progress, told
from ._signature import with_fields
from ._time import Moment, micros
from .errors import ParameterError
from .hitters import Counted
from .release import Release
from .spec import Spec, written

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Watch(Once):
    """The frequent keys of a sliding window, released after every slide, all releases at one epsilon.

    >>> ports = Watch(window=32_000, slide=1_000, keys=range(1_000), top=3)
    >>> lists = ports.update([22, 443, 443] * 1_000)
    >>> len(lists), lists[-1][0].key
    (3, 443)
    >>> ports.latest() == lists[-1]
    True

    By the clock, the times of events end slides, and so does :meth:`advance`. If users are protected only
    :meth:`advance` does, and it must be called before the first event; for a time that is over, :func:`watch`
    with ``until`` is simpler. ``integers`` says that open keys are integers from 0 on; else they are text,
    and integers are their digits.
    """

    __slots__ = ("_columns", "_handle", "_spec")

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
        self._begin(written(spec, _continual(dict(fields)), people=user is not None), (key, time, user), None, integers)

    def _begin(self, asked: str, columns: tuple[str | None, str | None, str | None], period: tuple[int, int] | None, integers: bool) -> None:
        self._spec, self._columns = Spec._of(asked), columns
        self._handle = _internal.ContinualHandle(asked, period, integers)

    @classmethod
    def _over(cls, asked: str, columns: tuple[str | None, str | None, str | None], period: tuple[int, int] | None, integers: bool) -> Watch:
        watch = cls.__new__(cls)
        watch._begin(asked, columns, period, integers)
        return watch

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
    ) -> list[Release]:
        """Counts all of the events or none, as :meth:`HeavyHitters.update` does, and returns the releases
        that fell due.

        Lists that an interrupt has kept from being returned are returned by the next call.
        """
        names = (key or self._columns[0], self._columns[1] if time is None else time, self._columns[2] if user is None else user)
        return _releases(self._handle.update(rows(events, *names, self._spec._json), told(progress)))

    def advance(self, time: Moment) -> list[Release]:
        """Advances time to a moment, with or without events. Returns the releases that fell due."""
        return _releases(self._handle.advance(micros(time)))

    def latest(self) -> Release:
        """The latest release again, unchanged."""
        return Release(*self._handle.latest())

    @property
    def counted(self) -> Counted:
        """Counts of events by outcome. For the operator: **they must not be published**."""
        return Counted(**json.loads(self._handle.counted()))

    def close(self) -> None:
        """Drops all state."""
        self._handle.close()

    def __repr__(self) -> str:
        return f"Watch({self._spec!r})"


class Lists(Once):
    """An iterator of releases as they fall due."""

    __slots__ = ("_due", "_events", "_watch")

    def __init__(self, watch: Watch, events: Iterator[Any], until: Moment | None, of_people: bool) -> None:
        self._watch = watch
        self._events: Iterator[list[Release]] = self._past(events) if of_people else self._live(events, until)
        self._due: list[Release] = []

    def _live(self, events: Iterator[Any], until: Moment | None) -> Iterator[list[Release]]:
        for some in events:
            yield self._watch.update(some)
        if until is not None:
            yield self._watch.advance(until)

    def _past(self, events: Iterator[Any]) -> Iterator[list[Release]]:
        for some in events:
            self._watch.update(some)
        yield _releases(self._watch._handle.finish())

    def __iter__(self) -> Lists:
        return self

    def __next__(self) -> Release:
        while not self._due:
            self._due = list(next(self._events))
        return self._due.pop(0)


@with_fields
def watch(
    events: Any,
    spec: Spec | None = None,
    *,
    key: str | None = None,
    time: str | None = None,
    user: str | None = None,
    integers: bool = False,
    begin: Moment | None = None,
    **fields: Unpack[Fields],
) -> Lists:
    """Continual releases of ``events``, all of them at one epsilon, as an iterator.

    ``events`` is whatever :meth:`HeavyHitters.update` takes, or an iterator of those (a generator of tables,
    one after the other): lists come as soon as they are due. With ``user``, users are protected and
    ``until`` is required: events may come in any order, and lists come at the end, from ``begin`` on (a
    window before ``until`` by default).

    >>> lists = watch(["snow", "rain", "snow"] * 1_000, window=2_000, slide=1_000, top=1)
    >>> [release[0].key for release in lists]
    ['snow', 'snow', 'snow']
    """
    given: dict[str, Any] = dict(fields)
    until: Moment | None = given.pop("until", None)
    asked = written(spec, _continual(given), people=user is not None)
    of_people = isinstance(Spec._of(asked).unit, dict)
    period = None
    if of_people:
        if until is None:
            raise ParameterError('users are protected, so events do not say where the lists end: give until, such as until="2025-12-01"')
        period = _period(asked, begin, until)
    elif begin is not None:
        raise ParameterError("begin is for people, whose events do not tell the time: leave it out")
    watching = Watch._over(asked, (key, time, user), period, integers)
    is_several = hasattr(events, "__next__") and not hasattr(events, "__arrow_c_stream__")
    return Lists(watching, iter(events) if is_several else iter([events]), until, of_people)


def _period(asked: str, begin: Moment | None, until: Moment) -> tuple[int, int]:
    end = micros(until)
    if begin is not None:
        return micros(begin), end
    window = Spec._of(asked).window
    length, _ = _internal.span(str(window))
    return end - length, end


def _continual(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "continual": True}


def _releases(made: list[tuple[str, str]]) -> list[Release]:
    return [Release(*each) for each in made]
