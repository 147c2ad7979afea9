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
    """What can be asked for. These are the names that the program's options and a specification in TOML have."""

    window: Span | Sequence[Span] | None
    """How far back to look: a number of events, a time such as ``"30d"``, or several of one kind. 1,000,000 events unless told."""
    slide: Span | None
    """The step by which the window slides, if it is not to be chosen."""
    until: Moment | None
    """Where all windows end, if that is known before the first event; with people it must be."""
    top: int | None
    """List so many keys, those with the highest counts."""
    all: bool | None
    """List every key that privacy allows."""
    alpha: float | None
    """A key is heavy from this share of the norm on, and heavy keys are listed unless ``top`` or ``all`` say which. 0.05 unless told."""
    norm: Literal["l1", "l2"] | None
    """What heavy is relative to. ``"l2"`` unless told."""
    epsilon: float | None
    """The privacy loss: of one release, or of a list at every slide for ever. 1 unless told."""
    delta: float | None
    """The chance with which it may be larger. 1e-9 unless told; declared keys have none."""
    keys: Keys | None
    """The keys that may be named: ``"open"``, a range of integers, a list, or the name of a file with one a line."""
    unit: str | Mapping[str, Any] | None
    """What is protected: ``"event"``, or ``{"user": {...}}``; ``user`` and the next ones say the same."""
    per_user: int | None
    """At most so many different keys of a person are counted in an epoch. 1 unless told."""
    per_key: int | None
    """Each of them at most so often. 1 unless told."""
    epoch: Span | None
    """How long an epoch of people is. A day unless told."""
    offset: Span | None
    """By how much later than in UTC epochs begin."""
    sample_users: str | None
    """The share of users whose events are counted, such as ``"1/4"``."""
    lateness: Span | None
    """How long to wait for events that come late, by the clock."""
    policy: Literal["auto", "uniform", "exponential", "smooth", "fixed"] | None
    """How panes are kept."""
    confidence: float | None
    """With what probability the statements of a release hold together. 0.95 unless told."""
    continual: bool | None
    """Whether a list is released at every slide."""
    releases: int | None
    """In how many releases an event may be."""
    budget: float | Mapping[str, float] | None
    """What a pane, or an epoch, may lose by all releases of a store: an epsilon, or ``{"epsilon": 3, "delta": 1e-6}``."""
    horizon: int | None
    """For how many lists at every slide delta holds. 1,000,000 unless told."""
    together: int | None
    """Over how many lists at every slide the statements hold together. 1,000 unless told."""
    memory: int | str | None
    """The most memory to take. ``"64MB"`` unless told."""
    key_bytes: int | None
    """The mean length of keys made of bytes, for the reckoning of memory."""
    entries: int | None
    """The most keys that a pane keeps, instead of as many as the memory allows."""
    sketch: Mapping[str, int] | None
    """The sketch of panes that are not exact."""


_PEOPLE = ("per_user", "per_key", "epoch", "offset", "sample_users")
_SPANS = ("slide", "lateness")
_BUDGET_DELTA = 1e-6


def to_json(fields: Mapping[str, Any], *, people: bool = False) -> str:
    """As a specification is written down, with people protected if that is said or follows."""
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
    """A number of numpy's, or a mapping that is no dict."""
    if hasattr(value, "item"):
        return value.item()
    if hasattr(value, "keys"):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is none of its types")
