"""Frostpane on Spark: events that are too many for one machine become panes there, and lists are made of the
panes here.

Executors count, exactly; if users are protected they bound first what each contributes, by the rule and
the hashes of one machine. What leaves them are panes, the same ones however rows were spread and tasks were
tried again. Noise, threshold and budget are on the driver alone, in a :class:`frostpane.Store`.

:func:`heavy_hitters` is all of it in one call. :func:`build_panes` and :func:`release_panes` are its halves,
for a list every day; :func:`sink` and :func:`tick` are for Structured Streaming. ``docs/spark.md`` says what
is promised, and what it takes at scale.
"""

from __future__ import annotations

from .building import Built, build_panes, release_panes
from .once import heavy_hitters
from .streaming import Ticked, sink, tick

__all__ = ["Built", "Ticked", "build_panes", "heavy_hitters", "release_panes", "sink", "tick"]
