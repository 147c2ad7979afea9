"""A release of a DataFrame in one call."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from typing import TYPE_CHECKING, Any

from .. import _internal
from .._fields import Fields
from .._signature import with_fields
from .._time import micros
from ..errors import OperatorWarning, ParameterError
from ..release import Release
from ..spec import Spec, written
from ..store import Store
from ._columns import Columns
from ._session import session_of
from .building import assembled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

_TOP = 10


@with_fields
def heavy_hitters(
    df: DataFrame,
    spec: Spec | None = None,
    *,
    key: str,
    time: str,
    user: str | None = None,
    integers: bool = False,
    **fields: Unpack[Fields],
) -> Release:
    """A private list of the most frequent keys of a DataFrame, counted by Spark, by default 10 of them, or as
    ``top``, ``alpha`` or ``all`` say.

    Keys that are listed are text, and integers are their digits, unless ``integers`` says that they are
    integers from 0 on. The window, such as ``window="30d"``, ends at ``until``, where a slide, or an epoch of
    people, ends. With ``user`` users are protected. The epsilon is for this release alone: build panes for a
    :class:`frostpane.Store` where lists are made again and again.
    """
    columns = Columns(key, time, user)
    session_of(df)
    columns.check(df)
    given: dict[str, Any] = dict(fields)
    if (until := given.pop("until", None)) is None:
        raise ParameterError("it was not said where the window ends, and events do not say: give until, a moment such as 2026-03-02")
    if spec is None and not any(given.get(name) is not None for name in ("top", "alpha", "all", "norm")):
        given["top"] = _TOP
    asked = Spec._of(written(spec, given, people=user is not None)).replace(until=None)
    if isinstance(asked.window, list):
        raise ParameterError("several windows are several releases, each at its epsilon: build panes for a Store, and release each of them")
    return _released(columns.select(df), asked, micros(until), integers)


def _released(frame: DataFrame, spec: Spec, until: int, integers: bool) -> Release:
    length, by_count = _internal.span(str(spec.window))
    if by_count:
        raise ParameterError(f'the window is {spec.window} events, whose order Spark does not keep: give a time, such as window="30d"')
    folder = tempfile.mkdtemp()
    try:
        with Store.create(f"{folder}/store", _evenly(spec), integers=integers, begin=_internal.moment_text(until - length)) as store:
            numbers = store._handle.to_build(until)
            with assembled(frame, store, numbers) as (_, made):
                rows = sorted(made.collect(), key=lambda row: int(row["pane"]))
            store._handle.record_build("once", numbers[0], [bytes(row["seal"]) for row in rows])
            store._handle.take_built([bytes(row["bytes"]) for row in rows])
            release = Release(*store._handle.release("once")[:2])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for warning in release.warnings:
        warnings.warn(warning, OperatorWarning, stacklevel=3)
    return release


def _evenly(spec: Spec) -> Spec:
    """The specification with separate panes, unless another policy is given."""
    told = spec.unit != "event" or spec.policy not in (None, "auto")
    return spec if told else spec.replace(policy="uniform")
