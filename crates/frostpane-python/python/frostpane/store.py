"""State and budget that outlive the process."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from . import _internal
from ._amount import Amount
from ._columns import rows
from ._fields import Fields
from ._once import Once
from ._progress import Progress, told
from ._signature import with_fields
from ._time import Moment, Span, micros, span
from .errors import OperatorWarning, ParameterError
from .plan import Explanation
from .release import Release
from .spec import Spec, written

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack

_NOTHING = Amount(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Period:
    """Panes, or epochs of people, next to each other that have spent the same."""

    begin: str
    """Where the first begins."""
    end: str
    """Where the last ends."""
    panes: int
    """How many they are."""
    spent: Amount
    """What each of them has spent."""
    leaves: str
    """When the last of them has left the window."""


@dataclass(frozen=True)
class Budget:
    """What has been spent of a store, and how much is left. Nothing in it is private."""

    charge: Amount
    """What one release costs everyone it covers."""
    cap: Amount
    """The most that anyone may spend."""
    left: int
    """How many more releases of the longest window fit now."""
    more: tuple[str, int] | None
    """When there will be more, because panes have left, and how many then."""
    periods: tuple[Period, ...]
    """What the panes, or epochs, of the longest window have spent."""

    @classmethod
    def _read(cls, text: str) -> Budget:
        fields = json.loads(text)
        more = fields["more"]
        return cls(
            Amount.read(fields["charge"]) or _NOTHING,
            Amount.read(fields["cap"]) or _NOTHING,
            fields["left"],
            (more[0], more[1]) if more else None,
            tuple(
                Period(each["from"], each["to"], each["panes"], Amount.read(each["spent"]) or _NOTHING, each["leaves"]) for each in fields["periods"]
            ),
        )

    def __str__(self) -> str:
        releases = "release fits" if self.left == 1 else "releases fit"
        lines = [f"{self.left} more {releases} now; each costs {self.charge}, and no pane may lose more than {self.cap}."]
        if self.more:
            lines.append(f"{self.more[1]} will from {self.more[0]} on.")
        lines += [f"  {each.begin} to {each.end}: {each.spent} spent, {each.panes} panes" for each in self.periods]
        return "\n".join(lines)


@dataclass(frozen=True)
class Cost:
    """What a release of a store would cost."""

    begin: str
    """Those whom it would be charged to, from here on."""
    end: str
    """Up to here."""
    panes: int
    """How many they are."""
    charge: Amount
    """What each of them would be charged."""
    left: int
    """How many more such releases could follow."""


@dataclass(frozen=True)
class Taken:
    """What came of events. The numbers are for the operator: **they must not be published**."""

    new: int
    """How many were taken now; those that had been taken under this id before are passed over."""
    without_time: int
    """How many had no time within the calendar, and were left out."""
    lists: list[Release]
    """Of a store of lists at every slide: those that became due."""


class Store(Once):
    """A folder that keeps a stream: its events, panes, noise and what every pane has spent, across crashes and restarts.

    The program reads and writes the same folder (``docs/state.md``). One process has it at a time.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp() + "/searches"
    >>> store = Store.create(folder, window=1_000, slide=100, top=3, releases=2)
    >>> store.update(["snow", "rain", "snow"] * 300, id="monday.txt").new
    900
    >>> store.update(["snow", "rain", "snow"] * 300, id="monday.txt").new
    0
    >>> first = store.release("monday")
    >>> store.release("monday") == first, store.budget().left
    (True, 1)
    >>> store.close()
    >>> with Store.open(folder) as store:
    ...     store.releases()
    ['monday']
    """

    __slots__ = ("_header", "_keeper", "path")

    path: str
    """The folder."""
    _keeper: _internal.Keeper
    _header: dict[str, Any]

    def __init__(self) -> None:
        raise TypeError("Store.create begins a store, and Store.open goes on with one")

    @classmethod
    def _of(cls, path: str | os.PathLike[str], keeper: _internal.Keeper) -> Self:
        store = cls.__new__(cls)
        store.path, store._keeper = os.fspath(path), keeper
        store._header = json.loads(keeper.header())
        return store

    @classmethod
    @with_fields
    def create(
        cls,
        path: str | os.PathLike[str],
        spec: Spec | None = None,
        *,
        user: bool = False,
        integers: bool = False,
        begin: Moment | None = None,
        witness: str | os.PathLike[str] | None = None,
        like: Store | None = None,
        **fields: Unpack[Fields],
    ) -> Self:
        """Begins a store in a new folder; what is asked for is fixed from then on.

        With ``user``, or any bound such as ``per_user``, people are protected, from ``begin`` on (now unless told). ``integers`` says that open keys are integers from 0 on; else they are text, and integers are their digits. ``witness`` is a
        file elsewhere that notices restored copies. With ``like`` another store, it makes the same panes, and panes can go from one to the other.
        """
        since = None if begin is None else micros(begin)
        kept = None if witness is None else os.fspath(witness)
        if like is not None:
            if spec is not None or any(value is not None for value in fields.values()):
                raise ParameterError("a store like another one is asked for the same: leave the other keywords out")
            return cls._of(path, like._keeper.create_like(os.fspath(path), since, kept))
        asked = written(spec, dict(fields), people=user)
        return cls._of(path, _internal.Keeper.create(os.fspath(path), asked, integers, since, kept))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Goes on with a store."""
        return cls._of(path, _internal.Keeper.open(os.fspath(path)))

    @classmethod
    def restore(cls, path: str | os.PathLike[str]) -> Self:
        """Goes on with a store that was restored from a copy, after marking all of its past as spent.

        Refuses one that its witness knows as the latest: nothing has to be restored then.
        """
        return cls._of(path, _internal.Keeper.open(os.fspath(path), True))

    @staticmethod
    def read_budget(path: str | os.PathLike[str]) -> Budget:
        """The budget of a store that another process may have open, as of its last change."""
        return Budget._read(_internal.read_budget(os.fspath(path))[1])

    @property
    def id(self) -> str:
        """What tells it from all others: panes are exported to it."""
        return str(self._header["store"])

    @property
    def spec(self) -> Spec:
        """What it is asked for, with all choices made."""
        return Spec.from_dict(self._header["spec"])

    @property
    def now(self) -> str:
        """How far it has come: a moment, or the number of an event."""
        return self._keeper.now()

    def update(
        self,
        events: Any,
        *,
        id: str,
        key: str | None = None,
        time: Any = None,
        user: Any = None,
        until: Moment | None = None,
        progress: Progress = None,
    ) -> Taken:
        """Takes the events of a source, each of them once, as :meth:`HeavyHitters.update` takes them; what has been taken when it returns is there for good.

        ``id`` tells the source from others: the name of a file, a day, never what is in it. What was taken under it before is passed over, so an update that was interrupted
        is simply given again, and one to which events were added is gone on with. One that does not begin with the events that were taken under its id is refused.

        With ``until``, time comes to that moment afterwards: where people are protected that ends epochs, and events after it are left out for good. Without it those are that are
        more than an hour ahead of the clock of the machine; an event belongs to the epoch of its own time, and waits for it.
        """
        end = None if until is None else micros(until)
        new, without_time, made = self._keeper.update(rows(events, key, time, user), id, end, told(progress))
        lists = [Release(*each) for each in made]
        if end is not None:
            lists += self.advance(end)
        return Taken(new, without_time, lists)

    def advance(self, time: Moment | None = None, *, accept_clock: bool = False) -> list[Release]:
        """Time has come to this moment, with events or without; it never goes back. Returns the lists at every slide that are due.

        Unless told it is the clock of the machine that says so. It is not believed if it is behind the store, or ahead of it by more than a day (four slides, if they are longer);
        ``accept_clock`` says that a clock which is ahead is right.
        """
        return [Release(*each) for each in self._keeper.advance(None if time is None else micros(time), accept_clock)]

    def release(self, id: str | None = None, *, window: Span | None = None) -> Release:
        """A private list of the longest window, or of a shorter one, charged to everyone it covers and kept before it is returned.

        The same ``id`` gives the same release again and charges nothing; it is the present time unless told. Who cannot pay refuses it with
        :class:`InsufficientBudgetError`, and nothing has changed.
        """
        name = datetime.now(timezone.utc).isoformat() if id is None else id
        asked = None if window is None else str(span(window))
        made, words, shown, again = self._keeper.release(name, asked)
        release = Release(made, words, table=shown if words is None else None, id=name, again=again)
        for warning in [] if again else release.warnings:
            warnings.warn(warning, OperatorWarning, stacklevel=2)
        return release

    def dry_run(self, *, window: Span | None = None) -> Cost:
        """What a release would cost, with nothing charged."""
        fields = json.loads(self._keeper.dry_run(None if window is None else str(span(window))))
        charge = Amount.read(fields["charge"]) or _NOTHING
        return Cost(fields["from"], fields["to"], fields["panes"], charge, fields["left"])

    def budget(self) -> Budget:
        """What has been spent, and how much is left."""
        return Budget._read(self._keeper.budget())

    def explain(self) -> Explanation:
        """What the epsilon of a release is spent on, stage by stage."""
        return Explanation(self.spec)

    def releases(self) -> list[str]:
        """The ids of all releases."""
        return self._keeper.releases()

    def lists(self, after: int = 0) -> list[Release]:
        """The lists at every slide after this number, as they were published; the first is number 1."""
        return [Release(made, id=str(number), again=True) for number, made in self._keeper.lists(after)]

    def history(self, begin: int = 1) -> list[dict[str, Any]]:
        """What was done, from this record on."""
        records: list[dict[str, Any]] = json.loads(self._keeper.history(begin))
        return records

    def export_panes(self, begin: Moment, until: Moment, *, to: Store | str) -> bytes:
        """Takes closed panes out, with what they have spent, for one other store (or its id). They are spent here; the same range gives the same bytes again.

        **They hold what people did.**
        """
        destination = to if isinstance(to, str) else to.id
        return self._keeper.export(self._position(begin), self._position(until), destination)

    def import_panes(self, panes: bytes) -> None:
        """Takes panes in that come from another store, where this one has none, with what they have spent."""
        self._keeper.import_(panes)

    def forget(self, begin: Moment, until: Moment) -> None:
        """Forgets closed panes: later releases are without them, and what they have spent stays spent."""
        self._keeper.forget(self._position(begin), self._position(until))

    def _position(self, at: Moment) -> int:
        """A moment in microseconds or, by count, the number of an event."""
        window = self.spec.window
        _, by_count = _internal.span(str(window[0] if isinstance(window, list) else window))
        return at if by_count and isinstance(at, int) else micros(at)

    def close(self) -> None:
        """Leaves the folder to other processes."""
        self._keeper.close()

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
        return f"Store({self.path!r})"
