"""Plans: accuracy and cost of a release, before any data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _internal
from ._fields import Fields
from ._signature import with_fields
from ._text import wrapped
from .release import ALONE
from .spec import Spec, written

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Plan:
    """The expected accuracy of a release. It follows from public numbers alone.

    >>> plan(top=10, window=1_000_000).surely_listed < 200
    True
    """

    __slots__ = ("_fields",)

    def __init__(self, text: str) -> None:
        self._fields: dict[str, Any] = json.loads(text)

    def to_dict(self) -> dict[str, Any]:
        """The plan as a dictionary: ``plan`` is the division of the window into panes, ``forecast`` the
        expected statements of a release."""
        return dict(self._fields)

    @property
    def events(self) -> int:
        """The assumed number of events of the window."""
        return int(self._fields["forecast"]["events"])

    @property
    def memory(self) -> int:
        """The maximal memory in bytes."""
        return int(self._fields["memory"])

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of a count."""
        return float(self._fields["forecast"]["deviation"])

    @property
    def noise(self) -> int:
        """The maximal error of a count, with the stated confidence."""
        return int(self._fields["forecast"]["noise"])

    @property
    def threshold(self) -> int:
        """The least noisy count that is listed."""
        return int(self._fields["forecast"]["threshold"])

    @property
    def surely_listed(self) -> int:
        """Every key with this count is listed, with the stated confidence."""
        return int(self._fields["forecast"]["least_listed"])

    def __str__(self) -> str:
        forecast = self._fields["forecast"]
        return "\n".join(
            [
                f"panes          {self._fields['plan']['panes']:,}",
                f"memory         at most {self.memory / 1e6:,.0f} MB",
                f"noise          {forecast['noise_law']}, standard deviation {self.deviation:.1f}; no count is off by more than {self.noise:,}",
                f"threshold      {self.threshold:,}",
                f"surely listed  every key that occurs {self.surely_listed:,} times in {self.events:,} events",
            ]
        )

    def __repr__(self) -> str:
        return f"<Plan: noise {self.noise}, threshold {self.threshold}, surely listed from {self.surely_listed} on>"


@dataclass(frozen=True)
class Stage:
    """A measurement, and the epsilon that it spends."""

    what: str
    """``boundaries``, ``total``, ``norm`` or ``counts``."""
    words: str
    """The measurement in words."""
    epsilon: float
    """The epsilon of all of its measurements that one protected unit is in."""
    times: int
    """The number of measurements that one protected unit is in."""


class Explanation:
    """The stages that epsilon is spent on, and the unit of privacy.

    >>> print(explain(top=5, window="7d", per_user=3, epsilon=1))
    Privacy: epsilon 1, delta 1e-09, of which
       0.05  how much was counted in all
       0.95  how often each key occurred
    What is protected: all that one person did in one epoch (1d), of which at most 3 keys are counted,
    each at most once.
    This epsilon is for this release alone: another one of the same events, also by running this again,
    spends as much once more. A Store adds them up.
    """

    __slots__ = ("spec", "stages")

    spec: Spec
    stages: tuple[Stage, ...]

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.stages = tuple(Stage(**stage) for stage in json.loads(_internal.stages(spec._json)))

    @property
    def epsilon(self) -> float:
        """The explanation as a dictionary."""
        return self.spec.epsilon

    @property
    def delta(self) -> float:
        """The probability that the loss is larger; 0 for declared keys."""
        return self.spec.delta if self.spec.keys == "open" else 0.0

    @property
    def protected(self) -> str:
        """The unit of privacy, in words."""
        unit = self.spec.unit
        if not isinstance(unit, dict):
            return "the key of one event; not that it took place, nor when"
        bounds = unit["user"]
        keys = "key is" if bounds["per_user"] == 1 else "keys are"
        often = "once" if bounds["per_key"] == 1 else f"{bounds['per_key']} times"
        return f"all that one person did in one epoch ({bounds['epoch']}), of which at most {bounds['per_user']} {keys} counted, each at most {often}"

    def __str__(self) -> str:
        lines = [f"Privacy: epsilon {self.epsilon:g}, delta {self.delta:g}, of which"]
        for stage in self.stages:
            times = f", {stage.times} times" if stage.times > 1 else ""
            lines.append(f"{stage.epsilon:>7.4g}  {stage.words}{times}")
        lines += wrapped(f"What is protected: {self.protected}.")
        if self.spec.continual:
            lines.append("All lists together cost this once, however many there are.")
        else:
            lines += wrapped(ALONE)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Explanation: {', '.join(f'{stage.what} {stage.epsilon:g}' for stage in self.stages)}>"


@with_fields
def plan(spec: Spec | None = None, *, events: int | None = None, at_norm: int | None = None, **fields: Unpack[Fields]) -> Plan:
    """The expected accuracy of a release of so many events; by count, of a full window.

    >>> print(plan(top=10, window="7d", events=700_000).threshold)
    42
    """
    return Plan(_internal.plan(written(spec, dict(fields)), events, at_norm))


@with_fields
def explain(spec: Spec | None = None, **fields: Unpack[Fields]) -> Explanation:
    """The stages that epsilon is spent on."""
    return Explanation(Spec._of(written(spec, dict(fields))))


@with_fields
def epsilon_for(count: int, *, events: int, spec: Spec | None = None, **fields: Unpack[Fields]) -> float | None:
    """The least epsilon, to the thousandth, at which every key with count ``count`` is listed; none if there
    is none.

    >>> epsilon_for(100, events=1_000_000) < 1
    True
    """
    return _internal.epsilon_for(written(spec, dict(fields)), count, events)
