"""Moments and spans of time."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta, timezone
from typing import Any, Union

from . import _internal
from .errors import InputError

Moment = Union[str, int, float, datetime, date]
"""A moment: text such as ``2025-12-01`` or ``2025-12-01T08:00:00Z``, a ``datetime`` or a ``date``, by
default in UTC; or a Unix time in seconds, milliseconds, microseconds or nanoseconds, distinguished by
magnitude."""

Span = Union[str, int, timedelta]
"""A number of events, or a time such as ``"30d"``."""

_BILLION = 1_000_000_000
_MICROSECOND = timedelta(microseconds=1)
_START = datetime(1970, 1, 1, tzinfo=timezone.utc)


def micros(moment: Any) -> int:
    """The moment in microseconds since 1970."""
    if isinstance(moment, str):
        return _internal.moment(moment)
    if isinstance(moment, datetime):
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
        return (aware - _START) // _MICROSECOND
    if isinstance(moment, date):
        return micros(datetime(moment.year, moment.month, moment.day))
    if hasattr(moment, "astype") and getattr(moment, "dtype", None) is not None and moment.dtype.kind == "M":
        return int(moment.astype("datetime64[us]").astype("int64"))
    if hasattr(moment, "item"):
        moment = moment.item()
    if isinstance(moment, int) and not isinstance(moment, bool):
        return _unix(moment)
    if isinstance(moment, float) and math.isfinite(moment):
        whole = int(moment)
        return _unix(whole * _BILLION + int((moment - whole) * _BILLION), _BILLION)
    raise InputError(f"{type(moment).__name__} is no time: give text such as 2025-12-01, a datetime, or a Unix time")


def _unix(number: int, parts: int = 1) -> int:
    """The moment of a Unix time, whose unit follows from its magnitude."""
    size = abs(number) // parts
    if size < 100_000_000_000:
        return number * 1_000_000 // parts
    if size < 100_000_000_000_000:
        return number * 1_000 // parts
    if size < 100_000_000_000_000_000:
        return number // parts
    return number // (1_000 * parts)


def edge(moment: Any) -> str | int:
    """The end of a window in a specification: a moment, or a number of events."""
    if hasattr(moment, "item") and getattr(getattr(moment, "dtype", None), "kind", "") in "iu":
        moment = moment.item()
    if isinstance(moment, int) and not isinstance(moment, bool):
        return moment
    return _internal.moment_text(micros(moment))


def span(given: Any) -> str | int:
    """The span as text in a specification."""
    if isinstance(given, timedelta):
        return f"{given // _MICROSECOND}us"
    if hasattr(given, "item"):
        return given.item()  # type: ignore[no-any-return]
    return given  # type: ignore[no-any-return]
