#!/usr/bin/env python3
"""Gaussian noise through the square root of the window's Toeplitz matrix, beside the tree that is used.

The sums of B consecutive panes are C(C(x)) for the series C(z) = sqrt((1 - z^B) / (1 - z)). Releasing C(x)
with Gaussian noise and applying C again adds noise of the same energy in every window: deviation = sigma *
|C|^2, where sigma hides a change of |C| at two keys.
"""

import math

EPSILON, DELTA = 1.0, 1e-9
# Slides of a window; deviation and floor of the tree:
# `frostpane plan --watch --all --window Bk --slide 1k --memory 2GB --json`.
TREES = [(32, 15.83, 121), (100, 24.59, 204), (365, 35.68, 281), (4_380, 62.28, 504)]


def normal_tail(x: float) -> float:
    return 0.5 * math.erfc(x / math.sqrt(2))


def least(low: float, high: float, holds) -> float:
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def quantile(chance: float) -> float:
    """The quantile of the normal distribution with this upper tail."""
    return least(0, 40, lambda x: normal_tail(x) <= chance)


def sigma(epsilon: float, delta: float) -> float:
    """Sigma of Gaussian noise for a change of 1 (Balle and Wang 2018)."""

    def spent(s: float) -> float:
        below, above = normal_tail(epsilon * s - 0.5 / s), normal_tail(epsilon * s + 0.5 / s)
        return below - math.exp(epsilon) * above

    return least(1e-3, 1e3, lambda s: spent(s) <= delta)


def energy(panes: int) -> float:
    """|C|^2, from the series over 20 windows."""
    length = 20 * panes
    root = [1.0]
    for k in range(1, length):
        root.append(root[-1] * (2 * k - 1) / (2 * k))
    series, factor = [0.0] * length, 1.0
    for k in range(20):
        for i in range(length - k * panes):
            series[i + k * panes] += factor * root[i]
        factor *= -(0.5 - k) / (k + 1)
    return sum(c * c for c in series)


def main() -> None:
    print("slides  deviation of the tree  Gaussian  threshold of the tree  Gaussian")
    for panes, tree, floor in TREES:
        deviation = sigma(EPSILON, DELTA / 2) * math.sqrt(2) * energy(panes)
        reach = deviation * quantile(DELTA / 2 / (2 * panes))
        print(f"{panes:6} {tree:22.1f} {deviation:9.1f} {floor:22} {1 + reach:9.0f}")


if __name__ == "__main__":
    main()
