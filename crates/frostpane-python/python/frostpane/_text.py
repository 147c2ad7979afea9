"""Text in columns, as the program writes it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Protocol

WIDTH = 100
_SHORTEST, _LONGEST = 10, 40
_LEAST_KEY = 8
_GAP = 2
_MOST_MARKS = 4
_EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
_TURNING = frozenset("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Row(Protocol):
    """A listed key."""

    @property
    def key(self) -> str | int: ...
    @property
    def count(self) -> int: ...
    @property
    def low(self) -> int: ...
    @property
    def high(self) -> int: ...


def printable(text: str) -> str:
    """Text without terminal control and bidirectional characters."""
    return "".join(f"\\u{{{ord(c):x}}}" if unicodedata.category(c) == "Cc" or c in _TURNING else c for c in text)


def width(text: str) -> int:
    """The width of a text in columns."""
    return sum(_columns(c) for c in text)


def _columns(c: str) -> int:
    if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def cut(text: str, most: int) -> str:
    """The text, shortened with an ellipsis if it does not fit."""
    if width(text) <= most and len(text) <= _MOST_MARKS * most:
        return text
    room, short, taken = max(most - 1, 0), "", 0
    for c in text[: _MOST_MARKS * room]:
        taken += _columns(c)
        if taken > room:
            break
        short += c
    return short + "…"


def bar(count: int, most: int, columns: int) -> str:
    """A bar in proportion, in eighths of a column."""
    share = min(count / max(most, 1), 1.0)
    eighths = int(share * columns * 8 + 0.5)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def interval(row: Row) -> str:
    """The interval of a count."""
    return f"{row.low:,} to {row.high:,}"


def table(heavy: Sequence[Row]) -> list[str]:
    """A line for each key, with its bar."""
    keys = [printable(str(row.key)) for row in heavy]
    counts = max([5, *(len(f"{row.count:,}") for row in heavy)])
    intervals = max([7, *(len(interval(row)) for row in heavy)])
    left = max(WIDTH - (counts + intervals + 2 * _GAP) - 2 * _GAP, 0)
    key_width = min(max([3, *map(width, keys)]), max(left - _SHORTEST, _LEAST_KEY))
    bar_width = min(max(left - key_width, _SHORTEST), _LONGEST)
    lines = [f"  {'count':>{counts}}  {'between':<{intervals}}  {' ' * bar_width}  key"]
    most = heavy[0].count if heavy else 0
    for row, key in zip(heavy, keys):
        shown = bar(row.count, most, bar_width)
        lines.append(f"  {row.count:>{counts},}  {interval(row):<{intervals}}  {shown:<{bar_width}}  {cut(key, key_width)}")
    return lines


def wrapped(text: str, bullet: str = "") -> Iterable[str]:
    """A text in lines; all but the first are indented as far as the bullet is wide."""
    room, line, lead = WIDTH - width(bullet), "", bullet
    for word in text.split(" "):
        if line and width(line) + 1 + width(word) > room:
            yield lead + line
            line, lead = word, " " * width(bullet)
        else:
            line = f"{line} {word}" if line else word
    yield lead + line
