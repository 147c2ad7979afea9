"""Privacy losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_EPSILON, _DELTA, _RHO = 1e6, 1e36, 1e18
_ALL = (1 << 64) - 1


@dataclass(frozen=True)
class Amount:
    """A privacy loss, by each method of accounting."""

    epsilon: float
    """The sum of epsilons."""
    delta: float
    """The sum of deltas."""
    rho: float
    """The loss of zero-concentrated privacy, which grows more slowly."""

    @classmethod
    def read(cls, given: dict[str, Any] | None) -> Amount | None:
        """Converts the stored integers; more than any cap is infinite."""
        if given is None:
            return None
        if given["epsilon"] >= _ALL:
            return cls(float("inf"), float("inf"), float("inf"))
        return cls(given["epsilon"] / _EPSILON, given["delta"] / _DELTA, given["rho"] / _RHO)

    def __str__(self) -> str:
        return f"epsilon {self.epsilon:g}, delta {self.delta:g}"
