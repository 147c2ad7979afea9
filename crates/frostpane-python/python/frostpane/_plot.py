"""Plots of a release."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ._text import cut, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .release import Release

_LONGEST_LABEL = 40


def bars(release: Release, ax: Axes | None, most: int) -> Axes:
    """Bars from the top down, each with the interval of its count."""
    import matplotlib.pyplot as plt

    shown = release.heavy[:most]
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 1.2 + 0.3 * max(len(shown), 2)), layout="constrained")
    places = range(len(shown))
    counts = [row.count for row in shown]
    reach = [[row.count - row.low for row in shown], [row.high - row.count for row in shown]]
    ax.barh(places, counts, xerr=reach if shown else None, color="#3a8fb7", error_kw={"elinewidth": 1, "capsize": 2})
    ax.set_yticks(places, [_label(row.key) for row in shown])
    ax.invert_yaxis()
    ax.set_xlabel(f"count, with noise (epsilon {release.epsilon:g}, delta {release.delta:g})")
    ax.set_title("\n".join(textwrap.wrap(_label(release.title, 200), 60)), loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _label(text: str | int, most: int = _LONGEST_LABEL) -> str:
    """Text without control characters that a plot does not interpret as a formula."""
    return cut(printable(str(text)), most).replace("$", r"\$")
