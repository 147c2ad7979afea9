"""What executors run: rows in, what Rust makes of them out. They need this package and pyarrow, and nothing else."""

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
    """Of the events of some users, all that each has in a pane, those that count: how often each key does."""
    bounder = _internal.Plan.from_bytes(plan.value).bounder(first, end, _MEMORY)
    for batch in batches:
        bounder.add(batch)
    yield from pa.RecordBatchReader.from_stream(bounder.finish())


def count(plan: Broadcast[bytes], batches: Iterator[Any]) -> Iterator[Any]:
    """Of some keys, with all that each counts in a pane, what the pane may need of them."""
    counter = _internal.Plan.from_bytes(plan.value).counter()
    for batch in batches:
        counter.add(batch)
    for pane, part in counter.finish():
        yield pa.record_batch({"pane": pa.array([pane], pa.int64()), "part": pa.array([part], pa.binary())})


def close(plan: Broadcast[bytes], batches: Iterator[Any]) -> Iterator[Any]:
    """Of some panes, with all parts of each: the panes."""
    made = _internal.Plan.from_bytes(plan.value)
    for batch in batches:
        for pane, parts in zip(batch.column("pane").to_pylist(), batch.column("parts").to_pylist()):
            closed, seal = made.close(pane, parts)
            columns = {"pane": pa.array([pane], pa.int64()), "bytes": pa.array([closed], pa.binary()), "seal": pa.array([seal], pa.binary())}
            yield pa.record_batch(columns)
