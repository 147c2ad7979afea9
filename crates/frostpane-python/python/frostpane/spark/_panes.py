"""Panes of a frame, built by Spark."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .. import _internal
from ._columns import rows

if TYPE_CHECKING:
    from pyspark.core.broadcast import Broadcast
    from pyspark.sql import DataFrame


def panes(frame: DataFrame, plan: _internal.PanePlan, shared: Broadcast[bytes], numbers: tuple[int, int]) -> DataFrame:
    """A row for every pane of these numbers, with or without events: ``pane``, ``bytes`` and ``seal``.

    All that a pane holds comes from one pass over its rows, so that its parts cannot have seen different
    ones.
    """
    from pyspark.sql import functions as F

    from . import _workers as workers

    first, end = numbers
    events = rows(frame, plan, numbers)
    if plan.people:
        counts = _bounded(events, plan, shared, numbers)
    else:
        counts = events.groupBy("pane", "key").count()
        if not plan.integers:
            counts = counts.withColumn("key", F.col("key").cast("binary"))
    parts = counts.mapInArrow(partial(workers.count, shared), workers.PARTS)
    every = frame.sparkSession.range(first, end).select(F.col("id").alias("pane"), F.lit(None).cast("binary").alias("part"))
    gathered = parts.union(every).groupBy("pane").agg(F.collect_list("part").alias("parts"))
    return gathered.mapInArrow(partial(workers.close, shared), workers.PANES)


def _bounded(events: DataFrame, plan: _internal.PanePlan, shared: Broadcast[bytes], numbers: tuple[int, int]) -> DataFrame:
    """All events of a user in a pane go to one task, which bounds them; counts then add up."""
    from pyspark.sql import functions as F

    from . import _workers as workers

    schema = f"pane bigint, key {'bigint' if plan.integers else 'binary'}, count bigint"
    of_users = events.repartition("pane", "user")
    counted = of_users.mapInArrow(partial(workers.bound, shared, *numbers), schema)
    return counted.groupBy("pane", "key").agg(F.sum("count").alias("count"))
