"""Panes that Spark builds day by day, and releases of them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import _internal
from .._time import Moment, Span, micros
from ..errors import StateError
from ..release import Release
from ..store import Store
from ._columns import Columns
from ._panes import panes
from ._session import active, ready, session_of, translated
from ._table import PaneTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Built:
    """Panes that were built. Nothing in it is private."""

    begin: str
    """The begin of the first pane."""
    end: str
    """The end of the last pane."""
    panes: int
    """The number of panes, with and without events."""
    build: str
    """The name of the build in the table."""


def build_panes(
    df: DataFrame,
    store: Store,
    table: str,
    *,
    key: str,
    time: str,
    user: str | None = None,
    until: Moment,
    since: Moment | None = None,
) -> Built:
    """Counts the events of a frame on Spark, appends the panes to a table, and records them in the store.

    These are the panes up to ``until`` that were not built before, as far back as a window of the store
    reaches; events of other times are left out. The frame has to hold **all** events of their time: what
    comes later is not counted. Until the first release that covers them panes can be built again, from
    ``since`` on, and take the place of those that were built before; after it that is refused.

    ``table`` is a folder, which executors can reach, or the name of a catalog's table. It holds
    unnoised counts.
    """
    columns = Columns(key, time, user)
    spark = session_of(df)
    columns.check(df)
    kept = PaneTable(spark, table, store.id)
    numbers = store._handle.to_build(micros(until), None if since is None else micros(since))
    kept.check()
    build = uuid.uuid4().hex
    with assembled(columns.select(df), store, numbers) as (plan, made):
        kept.append(made, plan.fingerprint, build)
    store._handle.record_build(build, numbers[0], kept.seals(build, numbers))
    return _built(plan, numbers, build)


def _built(plan: _internal.PanePlan, numbers: tuple[int, int], build: str) -> Built:
    length, offset = plan.grid
    begin, end = (_internal.moment_text(number * length + offset) for number in numbers)
    return Built(begin, end, numbers[1] - numbers[0], build)


@contextmanager
def assembled(frame: DataFrame, store: Store, numbers: tuple[int, int]) -> Iterator[tuple[_internal.PanePlan, DataFrame]]:
    """The panes of a frame, built while the executors have the secret of the store."""
    plan = store._handle.plan()
    shared = ready(frame.sparkSession).sparkContext.broadcast(plan.to_bytes())
    try:
        with translated():
            yield plan, panes(frame, plan, shared, numbers)
    finally:
        shared.destroy()


def release_panes(store: Store, table: str, *, id: str | None = None, window: Span | None = None) -> Release:
    """A private list of the panes that were built, with the noise and the budget of the store:
    :meth:`frostpane.Store.release`.

    Panes that the store does not have yet are taken in from the table first, all of them or none, if they are
    those that were built. What no window reaches any more is deleted from a table that is a folder.
    """
    spark = active()
    kept = PaneTable(spark, table, store.id)
    kept.check()
    if awaited := store._handle.awaited():
        store._handle.take_built(kept.panes(awaited))
    elif store._handle.built_to() is None:
        raise StateError("no panes were built for this store: build_panes does. Nothing was charged")
    release = store.release(id, window=window)
    kept.expire(store._handle.oldest())
    return release
