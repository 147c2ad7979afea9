"""Stores: streams and budgets that outlive the process."""

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
from ._once import Closing
from ._progress import Progress, told
from ._signature import with_fields
from ._time import Moment, Span, micros, span
from .errors import OperatorWarning, ParameterError
from .plan import Explanation
from .release import Release
from .spec import Spec, written

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

_NOTHING = Amount(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Period:
    """Neighbouring panes, or epochs, that have spent the same."""

    begin: str
    """The begin of the first."""
    end: str
    """The end of the last."""
    panes: int
    """Their number."""
    spent: Amount
    """The amount that each of them has spent."""
    leaves: str
    """The moment at which the last of them has left the window."""


@dataclass(frozen=True)
class Budget:
    """The budget of a store that is spent and left. Nothing in it is private."""

    charge: Amount
    """The charge of one release to each pane or epoch that it covers."""
    cap: Amount
    """The most that each may spend."""
    left: int
    """The number of releases of the longest window that are affordable now."""
    more: tuple[str, int] | None
    """When panes have left so that more are affordable, and how many then."""
    periods: tuple[Period, ...]
    """Spending of the panes, or epochs, of the longest window."""

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
    """The cost of a release of a store."""

    begin: str
    """The begin of the panes or epochs that would be charged."""
    end: str
    """Their end."""
    panes: int
    """Their number."""
    charge: Amount
    """The charge to each of them."""
    left: int
    """The number of such releases that could follow."""


@dataclass(frozen=True)
class Taken:
    """The outcome of events. The numbers are for the operator: **they must not be published**."""

    new: int
    """The number of new events; those that were stored under this id before are skipped."""
    counted: int
    """Those of them that count for a key, before bounds of users. Each of the others is in one of the numbers below."""
    late: int
    """Events whose pane, or epoch, had ended."""
    ahead: int
    """Events later than the clock allows."""
    without_key: int
    """Events without a key that counts: missing, undeclared or too long."""
    without_user: int
    """Events without a user, where users are protected."""
    without_time: int
    """Events without a time within the calendar, which were left out."""
    not_sampled: int
    """Events of users that are not in the sample."""
    lists: list[Release]
    """The continual releases that fell due."""


class Store(Closing):
    """A folder that keeps a stream: its events, panes, noise and spending, across crashes and restarts.

    The program reads and writes the same folder (``docs/nightly.md``). One process has it at a time.

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

    __slots__ = ("_handle", "_header", "path")

    path: str
    """The folder."""
    _handle: _internal.StoreHandle
    _header: dict[str, Any]

    def __init__(self) -> None:
        raise TypeError("Store.create begins a store, and Store.open goes on with one")

    @classmethod
    def _of(cls, path: str | os.PathLike[str], handle: _internal.StoreHandle) -> Self:
        store = cls.__new__(cls)
        store.path, store._handle = os.fspath(path), handle
        store._header = json.loads(handle.header())
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
        """Creates a store in a new folder. Its specification is fixed from then on.

        With ``user``, or any bound such as ``per_user``, users are protected, from ``begin`` on, by
        default from now on. ``integers`` says that open keys are integers from 0 on; else they are text, and integers are
        their digits. ``witness`` is a file elsewhere that notices restored copies. With ``like`` another
        store, it makes the same panes, and panes can go from one to the other.
        """
        since = None if begin is None else micros(begin)
        kept = None if witness is None else os.fspath(witness)
        if like is not None:
            if spec is not None or any(value is not None for value in fields.values()):
                raise ParameterError("a store like another one is asked for the same: leave the other keywords out")
            return cls._of(path, like._handle.create_like(os.fspath(path), since, kept))
        asked = written(spec, dict(fields), people=user)
        return cls._of(path, _internal.StoreHandle.create(os.fspath(path), asked, integers, since, kept))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Opens a store."""
        return cls._of(path, _internal.StoreHandle.open(os.fspath(path)))

    @classmethod
    def restore(cls, path: str | os.PathLike[str]) -> Self:
        """Opens a store that was restored from a copy, after marking all of its past as spent.

        Refuses one that its witness knows as the latest: nothing has to be restored then.
        """
        return cls._of(path, _internal.StoreHandle.open(os.fspath(path), True))

    @staticmethod
    def read_budget(path: str | os.PathLike[str]) -> Budget:
        """The budget of a store that another process may have open, as of its last change."""
        return Budget._read(_internal.read_budget(os.fspath(path))[1])

    @property
    def id(self) -> str:
        """The identity of the store, a random number."""
        return str(self._header["store"])

    @property
    def spec(self) -> Spec:
        """The specification, with all choices made."""
        return Spec.from_dict(self._header["spec"])

    @property
    def now(self) -> str:
        """The time of the stream: a moment, or the number of an event."""
        return self._handle.now()

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
        """Ingests the events of a source, each of them once, as :meth:`HeavyHitters.update` does; they are
        durable when it returns.

        ``id`` tells the source from others: the name of a file, a day, never what is in it. What was taken
        under it before is passed over, so an update that was interrupted is simply given again, and one to
        which events were added is gone on with. One that does not begin with the events that were taken under
        its id is refused.

        With ``until``, time comes to that moment afterwards: if users are protected that ends epochs, and
        events after it are left out for good. Without it those are that are more than an hour ahead of the
        clock of the machine; an event belongs to the epoch of its own time, and waits for it.
        """
        end = None if until is None else micros(until)
        counts, made = self._handle.update(rows(events, key, time, user, json.dumps(self._header["spec"])), id, end, told(progress))
        lists = [Release(*each) for each in made]
        if end is not None:
            lists += self.advance(end)
        return Taken(**json.loads(counts), lists=lists)

    def advance(self, time: Moment | None = None, *, accept_clock: bool = False) -> list[Release]:
        """Advances time to a moment, with or without events; it never goes back. Returns the continual
        releases that fell due.

        Unless told it is the clock of the machine that says so. It is not believed if it is behind the store,
        or ahead of it by more than a day (four slides, if they are longer); ``accept_clock`` says that a
        clock which is ahead is right.
        """
        return [Release(*each) for each in self._handle.advance(None if time is None else micros(time), accept_clock)]

    def release(self, id: str | None = None, *, window: Span | None = None) -> Release:
        """A private list of the longest window, or of a shorter one, charged to all panes or epochs that it
        covers and stored before it is returned.

        The same ``id`` gives the same release again and charges nothing; by default it is the present time.
        Who cannot pay refuses it with :class:`InsufficientBudgetError`, and nothing has changed.
        """
        name = datetime.now(timezone.utc).isoformat() if id is None else id
        asked = None if window is None else str(span(window))
        made, words, shown, again = self._handle.release(name, asked)
        release = Release(made, words, table=shown if words is None else None, id=name, again=again)
        for warning in [] if again else release.warnings:
            warnings.warn(warning, OperatorWarning, stacklevel=2)
        return release

    def dry_run(self, *, window: Span | None = None) -> Cost:
        """The cost of a release, without charging it."""
        fields = json.loads(self._handle.dry_run(None if window is None else str(span(window))))
        charge = Amount.read(fields["charge"]) or _NOTHING
        return Cost(fields["from"], fields["to"], fields["panes"], charge, fields["left"])

    def budget(self) -> Budget:
        """The budget that is spent and left."""
        return Budget._read(self._handle.budget())

    def explain(self) -> Explanation:
        """The stages that the epsilon of a release is spent on."""
        return Explanation(self.spec)

    def releases(self) -> list[str]:
        """The ids of all releases."""
        return self._handle.releases()

    def lists(self, after: int = 0) -> list[Release]:
        """The continual releases after this number, as they were published; the first is number 1."""
        return [Release(made, id=str(number), again=True) for number, made in self._handle.lists(after)]

    def history(self, begin: int = 1) -> list[dict[str, Any]]:
        """The history from this record on."""
        records: list[dict[str, Any]] = json.loads(self._handle.history(begin))
        return records

    def forget(self, begin: Moment, until: Moment) -> None:
        """Forgets closed panes: later releases are without them, and what they have spent stays spent."""
        self._handle.forget(self._position(begin), self._position(until))

    def _position(self, at: Moment) -> int:
        """A moment in microseconds or, by count, the number of an event."""
        window = self.spec.window
        _, by_count = _internal.span(str(window[0] if isinstance(window, list) else window))
        return at if by_count and isinstance(at, int) else micros(at)

    def close(self) -> None:
        """Closes the store for other processes to open."""
        self._handle.close()

    def __repr__(self) -> str:
        return f"Store({self.path!r})"
