"""Releases: a list of frequent keys, and its guarantees."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from . import _internal
from ._text import table, wrapped

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.axes import Axes

ALONE = (
    "This epsilon is for this release alone: another one of the same events, also by running this again, spends as much once more. "
    "A Store adds them up."
)


@dataclass(frozen=True)
class Heavy:
    """A listed key."""

    key: str | int
    """The key; bytes that are not text are written as ``\\xNN``."""
    count: int
    """The noisy count."""
    low: int
    """The count is at least this; if users are protected, contributions beyond the bounds are not counted."""
    high: int
    """The count is at most this."""


@dataclass(frozen=True)
class Coverage:
    """The window of a release."""

    events: int
    """The number of events; if users are protected, the noisy number of counted ones."""
    between: tuple[int, int] | None
    """Bounds on the number, if it is noisy."""
    begin: str | int | None
    """The first moment, or the number of the first event."""
    end: str | int | None
    """The first moment, or event, after the window."""
    missed: int
    """The number of events that were too late to count."""


class Release:
    """A private list of frequent keys, with its guarantees.

    It prints as the program's table, shows as a table with bars in notebooks, and converts to pandas, Polars
    and Arrow.

    >>> import frostpane
    >>> release = frostpane.top(["snow"] * 5_000 + ["rain"] * 2_000, top=2)
    >>> [heavy.key for heavy in release]
    ['snow', 'rain']
    >>> release[0].low <= 5_000 <= release[0].high
    True
    """

    __slots__ = ("_json", "_table", "_words", "again", "heavy", "id", "window")

    heavy: tuple[Heavy, ...]
    """The listed keys, by falling count."""
    window: Coverage
    """The window."""
    id: str | None
    """The id of the release in a store."""
    again: bool
    """True if a store had made the release before, so that nothing was charged now."""

    def __init__(
        self,
        written: str,
        words: str | None = None,
        *,
        table: str | None = None,
        id: str | None = None,
        again: bool = False,
    ) -> None:
        fields = json.loads(written)
        covered = fields["window"]
        between = covered.get("between")
        self._json, self._table, self.id, self.again = written, table, id, again
        self._words: dict[str, Any] = json.loads(words) if words else {}
        self.heavy = tuple(Heavy(**row) for row in fields["heavy"])
        self.window = Coverage(
            covered["events"],
            (between[0], between[1]) if between else None,
            covered["from"],
            covered["to"],
            covered.get("missed", 0),
        )

    @property
    def epsilon(self) -> float:
        """The privacy loss of this release, or of all continual releases together."""
        return float(self.to_dict()["epsilon"])

    @property
    def delta(self) -> float:
        """The probability that the loss is larger; 0 for declared keys."""
        return float(self.to_dict()["delta"])

    @property
    def confidence(self) -> float:
        """The probability that all statements hold."""
        return float(self.to_dict()["confidence"])

    @property
    def complete_above(self) -> int:
        """Every key with at least this count is listed."""
        return int(self.to_dict()["complete_above"])

    @property
    def nothing_below(self) -> int:
        """No key with a count below this is listed."""
        return int(self.to_dict()["nothing_below"])

    @property
    def threshold(self) -> int:
        """The least noisy count that is listed."""
        return int(self.to_dict()["threshold"])

    @property
    def held(self) -> bool:
        """True if the three guarantees of heavy hitters are made, and hold."""
        promises = self.to_dict().get("promises")
        return bool(promises and promises["held"])

    @property
    def title(self) -> str:
        """The title: the keys that are listed, and the window."""
        return str(self._words.get("title", "A private list"))

    @property
    def statements(self) -> list[str]:
        """The statements, which hold together with the stated confidence."""
        return [text for text, _ in self._words.get("statements", [])]

    @property
    def privacy(self) -> str:
        """The unit of privacy and its price."""
        said = str(self._words.get("privacy", f"Privacy: epsilon {self.epsilon:g}, delta {self.delta:g}."))
        return said if self.alone is None else f"{said} {self.alone}"

    @property
    def alone(self) -> str | None:
        """A note that no store adds up the epsilon of this release; none for continual releases, which
        need no store for that."""
        return ALONE if self.id is None and "continual" not in self.to_dict() else None

    @property
    def warnings(self) -> list[str]:
        """Warnings for the operator alone."""
        return [_in_python(warning) for warning in self._words.get("warnings", [])]

    def __len__(self) -> int:
        return len(self.heavy)

    def __iter__(self) -> Iterator[Heavy]:
        return iter(self.heavy)

    @overload
    def __getitem__(self, place: int) -> Heavy: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Heavy, ...]: ...
    def __getitem__(self, place: int | slice) -> Heavy | tuple[Heavy, ...]:
        return self.heavy[place]

    def __eq__(self, other: object) -> bool:
        return self._json == other._json if isinstance(other, Release) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._json)

    def __repr__(self) -> str:
        return f"<Release of {len(self)} keys, epsilon {self.epsilon:g}, delta {self.delta:g}>"

    def __str__(self) -> str:
        if self._table is not None:
            return self._table.rstrip("\n")
        lines = [*wrapped(self.title), ""]
        if self.heavy:
            lines += table(self.heavy)
        else:
            lines += wrapped(self._words.get("empty") or "The list is empty.", "  ")
        lines += ["", *self._said()]
        return "\n".join(lines)

    def _said(self) -> Iterator[str]:
        if "sure" in self._words:
            yield from wrapped(self._words["sure"])
        for statement in self.statements:
            yield from wrapped(statement, "- ")
        for note in self._words.get("notes", []):
            yield from wrapped(note)
        yield from wrapped(self.privacy)

    def _repr_html_(self) -> str:
        from ._html import page

        return page(self)

    def to_dict(self) -> dict[str, Any]:
        """The release as a dictionary, like the JSON of the program."""
        fields: dict[str, Any] = json.loads(self._json)
        return fields

    def to_json(self) -> str:
        """The release as JSON, like that of the program."""
        return self._json

    def _columns(self) -> dict[str, list[Any]]:
        names = ("key", "count", "low", "high")
        return {name: [getattr(row, name) for row in self.heavy] for name in names}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        columns = self._columns()
        rows = _internal.Table(columns["key"], columns["count"], columns["low"], columns["high"])
        return rows.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """The listed keys as a table of pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The listed keys as a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self._columns())

    def to_polars(self) -> polars.DataFrame:
        """The listed keys as a data frame of Polars."""
        import polars

        return polars.DataFrame(self)

    def plot(self, ax: Axes | None = None, *, most: int = 30) -> Axes:
        """Bars with intervals, of the first keys. Needs matplotlib."""
        from ._plot import bars

        return bars(self, ax, most)


def _in_python(text: str) -> str:
    """Replaces options of the program by keywords."""
    named = re.sub(r"--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), text)
    return named.replace("`frostpane plan`", "`frostpane.plan`")
