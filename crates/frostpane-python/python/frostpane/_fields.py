"""The fields of a specification, as keywords."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

from ._time import Moment, Span, edge, span
from .errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

Keys = Union["range", "Sequence[str | int]", "str", "PathLike[str]"]


class Fields(TypedDict, total=False):
    """The fields of a specification, named like the options of the program and the keys in TOML."""

    window: Span | Sequence[Span] | None
    """The window: a number of events, a time such as ``"30d"``, or several of one kind; by default
    1,000,000 events."""
    slide: Span | None
    """The step by which the window slides; by default chosen."""
    until: Moment | None
    """The end of all windows, if it is known before the first event; if users are protected it must be."""
    top: int | None
    """The number of keys to list, those with the highest counts."""
    all: bool | None
    """List every key that privacy allows."""
    alpha: float | None
    """The share of the norm from which a key is heavy; heavy keys are listed unless ``top`` or ``all`` is
    given. 0.05 by default."""
    norm: Literal["l1", "l2"] | None
    """The norm that heaviness is relative to; ``"l2"`` by default."""
    epsilon: float | None
    """The privacy loss of one release, or of all continual releases together; 1 by default."""
    delta: float | None
    """The probability that the loss is larger; 1e-9 by default, 0 for declared keys."""
    keys: Keys | None
    """The keys that may be listed: ``"open"``, a range of integers, a list, or the name of a file with one
    key a line."""
    unit: str | Mapping[str, Any] | None
    """The unit of privacy: ``"event"``, or ``{"user": {...}}``, which ``user`` and the next fields set
    too."""
    per_user: int | None
    """The number of different keys of a user that count in an epoch; 1 by default."""
    per_key: int | None
    """The number of times that each of them counts; 1 by default."""
    epoch: Span | None
    """The length of an epoch; a day by default."""
    offset: Span | None
    """The offset of epochs from UTC."""
    sample_users: str | None
    """The share of users whose events are counted, such as ``"1/4"``."""
    lateness: Span | None
    """The time to wait for late events, by the clock."""
    policy: Literal["auto", "uniform", "exponential", "smooth", "fixed"] | None
    """The policy of panes."""
    confidence: float | None
    """The probability that all statements of a release hold; 0.95 by default."""
    continual: bool | None
    """Continual releases, one after every slide."""
    releases: int | None
    """The number of releases that an event may be in."""
    budget: float | Mapping[str, float] | None
    """The budget of a pane, or an epoch, for all releases of a store: an epsilon, or ``{"epsilon": 3,
    "delta": 1e-6}``."""
    horizon: int | None
    """Read and not used: delta holds for any number of continual releases."""
    together: int | None
    """The number of continual releases over which the statements hold together; 1,000 by default."""
    memory: int | str | None
    """The most memory to use; ``"64MB"`` by default."""
    key_bytes: int | None
    """The mean length of keys in bytes, for the estimate of memory."""
    entries: int | None
    """The most keys that a pane keeps; by default as many as the memory allows."""
    sketch: Mapping[str, int] | None
    """The sketch of panes that are not exact."""


_PEOPLE = ("per_user", "per_key", "epoch", "offset", "sample_users")
_SPANS = ("slide", "lateness")
_BUDGET_DELTA = 1e-6


def to_json(fields: Mapping[str, Any], *, people: bool = False) -> str:
    """The fields as JSON, with users protected if a field says or implies it."""
    spec = {name: value for name, value in fields.items() if value is not None}
    bounds = {name: spec.pop(name) for name in _PEOPLE if name in spec}
    if bounds or people:
        spec["unit"] = _unit(spec.get("unit"), bounds)
    if "window" in spec:
        spec["window"] = _windows(spec["window"])
    for name in _SPANS:
        if name in spec:
            spec[name] = span(spec[name])
    if "until" in spec:
        spec["until"] = edge(spec["until"])
    if "keys" in spec:
        spec["keys"] = _keys(spec["keys"])
    if "budget" in spec and not hasattr(spec["budget"], "keys"):
        spec["budget"] = {"epsilon": spec["budget"], "delta": _BUDGET_DELTA}
    try:
        return json.dumps(spec, default=_plain, allow_nan=True)
    except TypeError as error:
        raise InputError(f"the specification cannot be written down: {error}") from None


def _unit(unit: Any, bounds: dict[str, Any]) -> dict[str, Any]:
    given = dict(unit["user"]) if hasattr(unit, "keys") and "user" in unit else {}
    for name in ("epoch", "offset"):
        if name in bounds:
            bounds[name] = span(bounds[name])
    return {"user": given | bounds}


def _windows(window: Any) -> Any:
    if isinstance(window, (list, tuple)):
        return [span(one) for one in window]
    return span(window)


def _keys(keys: Any) -> Any:
    if isinstance(keys, str):
        return keys
    if isinstance(keys, range):
        if keys.step != 1:
            raise InputError("a range of keys goes up by 1: give the keys as a list")
        return f"{keys.start}..{keys.stop}"
    if hasattr(keys, "__fspath__"):
        return keys.__fspath__()
    return [key.decode() if isinstance(key, bytes) else str(key) for key in keys]


def _plain(value: Any) -> Any:
    """Converts numbers of numpy, and mappings that are no dict."""
    if hasattr(value, "item"):
        return value.item()
    if hasattr(value, "keys"):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is none of its types")
