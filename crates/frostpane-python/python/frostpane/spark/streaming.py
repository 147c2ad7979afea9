"""Structured Streaming: rows are staged as they come, and every epoch is built once, after a tick."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import _internal
from .._time import Moment, micros
from ..errors import StateError
from ..store import Store
from ._columns import Columns, pane_of
from ._session import active
from ._table import Folder
from .building import Built, build_panes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_QUERY = "sql.streaming.queryId"
_WHOLE = "_SUCCESS"
_SEEN = "_SEEN"


@dataclass(frozen=True)
class Ticked:
    """The outcome of a tick."""

    built: Built
    """The panes that were built."""
    late: int
    """The number of rows since the last tick for panes that were built already, which do not count. For
    the operator: **it must not be published**."""


def sink(staging: str, *, key: str, time: str, user: str | None = None) -> Callable[[DataFrame, int], None]:
    """A function for ``foreachBatch``: it writes these columns of each batch to a folder of its own below
    ``staging``, and does nothing else.

    A batch that comes again, after a crash or a restart from the checkpoint, is there already: nothing is
    doubled. The folder holds raw events.
    """
    columns = Columns(key, time, user)

    def stage(batch: DataFrame, number: int) -> None:
        columns.check(batch)
        spark = batch.sparkSession
        query = spark.sparkContext.getLocalProperty(_QUERY)
        if not query:
            raise StateError("this is no batch of a streaming query: give sink to writeStream.foreachBatch")
        folder = Folder(spark, staging).below(f"query={query}").below(f"batch={number}")
        if not folder.below(_WHOLE).exists():
            columns.select(batch).write.mode("overwrite").parquet(folder.path)

    return stage


def tick(store: Store, table: str, staging: str, *, until: Moment | None = None, accept_clock: bool = False) -> Ticked:
    """Advances time to ``until``, by default the wall clock: builds every pane up to there from all staged
    rows.

    The clock on the wall is judged as by :meth:`Store.advance`; ``accept_clock`` says that one which is far
    ahead of the store is right. What is staged later for these panes is not counted. Batches of which nothing
    is left to count are deleted. :func:`release_panes` has the list.
    """
    spark = active()
    plan = store._handle.plan()
    length, offset = plan.grid
    now = micros(until) if until is not None else (store._handle.present(accept_clock) - offset) // length * length + offset
    before, (_, end) = store._handle.built_to(), store._handle.to_build(now)
    batches = _batches(spark, staging)
    if not batches:
        raise StateError(f"nothing is staged in {staging}: has the query written its first batch?")
    paths = [batch.path for batch in batches]
    frame = spark.read.option("basePath", staging).parquet(*paths)
    user = "user" if "user" in frame.columns else None
    built = build_panes(frame, store, table, key="key", time="time", user=user, until=_internal.moment_text(now))
    return Ticked(built, _settle(frame, plan, batches, before, end))


def _batches(spark: SparkSession, staging: str) -> list[Folder]:
    """The complete batches."""
    queries = Folder(spark, staging).folders()
    return [batch for query in queries for batch in query.folders() if batch.below(_WHOLE).exists()]


def _settle(frame: DataFrame, plan: _internal.PanePlan, batches: list[Folder], before: int | None, end: int) -> int:
    """Deletes batches that were counted as a whole, and marks the others as seen. Returns the number of
    rows that were too late."""
    from pyspark.sql import functions as F

    ever = (-(2**62) // plan.grid[0], 2**62 // plan.grid[0])
    of_batches = frame.withColumn("pane", pane_of(frame, plan, ever)).groupBy("query", "batch")
    found = of_batches.agg(F.max("pane").alias("latest"), F.count_if(F.col("pane") < (ever[0] if before is None else before)).alias("late")).collect()
    known = {f"query={row['query']}/batch={row['batch']}": row for row in found}
    late = 0
    for batch in batches:
        row = known.get("/".join(batch.path.split("/")[-2:]))
        seen = batch.below(_SEEN)
        late += row["late"] if row and not seen.exists() else 0
        if row is None or row["latest"] is None or row["latest"] < end:
            batch.delete()
        else:
            seen.create()
    return late
