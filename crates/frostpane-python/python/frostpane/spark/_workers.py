"""Functions of the executors, from rows to results of Rust. They need this package and pyarrow, and
nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .. import _internal

if TYPE_CHECKING:
    from pyspark.core.broadcast import Broadcast

# Users who take more go to the executor's disk.
_MEMORY = 256 << 20

PARTS = "pane bigint, part binary"
PANES = "pane bigint, bytes binary, seal binary"


def bound(plan: Broadcast[bytes], first: int, end: int, batches: Iterator[Any]) -> Iterator[Any]:
    """The counts of keys from all events of some users in their panes, within the bounds."""
    bounder = _internal.PanePlan.from_bytes(plan.value).bounder(first, end, _MEMORY)
    for batch in batches:
        bounder.add(batch)
    yield from pa.RecordBatchReader.from_stream(bounder.finish())


def count(plan: Broadcast[bytes], batches: Iterator[Any]) -> Iterator[Any]:
    """The parts of panes from all counts of some keys in them."""
    counter = _internal.PanePlan.from_bytes(plan.value).counter()
    for batch in batches:
        counter.add(batch)
    for pane, part in counter.finish():
        yield pa.record_batch({"pane": pa.array([pane], pa.int64()), "part": pa.array([part], pa.binary())})


def close(plan: Broadcast[bytes], batches: Iterator[Any]) -> Iterator[Any]:
    """The panes from all of their parts."""
    made = _internal.PanePlan.from_bytes(plan.value)
    for batch in batches:
        for pane, parts in zip(batch.column("pane").to_pylist(), batch.column("parts").to_pylist()):
            closed, seal = made.close(pane, parts)
            columns = {"pane": pa.array([pane], pa.int64()), "bytes": pa.array([closed], pa.binary()), "seal": pa.array([seal], pa.binary())}
            yield pa.record_batch(columns)
