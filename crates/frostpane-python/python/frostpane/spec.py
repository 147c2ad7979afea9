"""Specifications."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _internal
from ._fields import Fields, to_json
from ._signature import with_fields

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class Spec:
    """A specification of releases, with the options of the program as fields.

    >>> spec = Spec(window="7d", top=20, epsilon=0.5)
    >>> spec.window, spec.epsilon, spec.delta
    ('1w', 0.5, 1e-09)
    >>> Spec.from_toml(spec.to_toml()) == spec
    True
    >>> spec.replace(epsilon=1).epsilon
    1.0
    >>> Spec(epsilom=1)
    Traceback (most recent call last):
    ...
    frostpane.errors.ParameterError: the specification cannot be used: unknown field `epsilom`, expected one of ...
    """

    __slots__ = ("_json",)
    _json: str

    if TYPE_CHECKING:
        version: int
        unit: str | dict[str, Any]
        keys: str | list[str]
        norm: str
        alpha: float
        top: int | None
        all: bool
        epsilon: float
        delta: float
        window: str | int | list[str | int]
        slide: str | int | None
        until: str | int | None
        lateness: str
        policy: str
        confidence: float
        continual: bool
        releases: int | None
        budget: dict[str, float] | None
        horizon: int | None
        together: int | None
        memory: str | int
        key_bytes: int
        entries: int | None
        sketch: dict[str, int] | None

    @with_fields
    def __init__(self, **fields: Unpack[Fields]) -> None:
        object.__setattr__(self, "_json", _internal.read_spec(to_json(fields)))

    @classmethod
    def _of(cls, written: str) -> Self:
        spec = cls.__new__(cls)
        object.__setattr__(spec, "_json", written)
        return spec

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """A specification from the result of :meth:`to_dict`, or the keywords of this class."""
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """All fields, as in JSON and TOML."""
        fields: dict[str, Any] = json.loads(self._json)
        return fields

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """A specification from the text of a file for ``--spec``."""
        return cls._of(_internal.read_spec(text, True))

    def to_toml(self) -> str:
        """The text of such a file."""
        return _internal.spec_to_toml(self._json)

    @with_fields
    def replace(self, **fields: Unpack[Fields]) -> Self:
        """A copy with other values of these fields."""
        given: dict[str, Any] = {**self.to_dict(), **fields}
        return type(self)(**given)

    def decided(self) -> Self:
        """The specification with all choices made, to be stored beside a release.

        >>> Spec(window=1_000_000, top=5).decided().slide
        1000
        """
        return self._of(_internal.decide(self._json))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        fields = self.to_dict()
        if name in fields:
            return fields[name]
        if name in Fields.__annotations__:
            return False if name in ("all", "continual") else None
        raise AttributeError(f"a specification has no field {name}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a specification is not changed: replace gives another one")

    def __eq__(self, other: object) -> bool:
        return self._json == other._json if isinstance(other, Spec) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._json)

    def __repr__(self) -> str:
        usual = json.loads(_internal.read_spec("{}"))
        told = {name: value for name, value in self.to_dict().items() if usual.get(name) != value}
        return f"Spec({', '.join(f'{name}={value!r}' for name, value in told.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self)._of, (self._json,))


def written(spec: Spec | None, fields: dict[str, Any], *, people: bool = False) -> str:
    """A specification with other values of some fields, as JSON."""
    given = {name: value for name, value in fields.items() if value is not None}
    if spec is None:
        return _internal.read_spec(to_json(given, people=people))
    return _internal.read_spec(to_json({**spec.to_dict(), **given}, people=people))
