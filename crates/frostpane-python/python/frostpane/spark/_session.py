"""Requirements on a Spark session that builds panes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import InputError, ParameterError, StateError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MISSING = ("No module named 'frostpane", "No module named 'pyarrow", "cannot import name")


def active() -> SparkSession:
    """The running session."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise StateError("this needs PySpark 4: pip install frostpane[spark]") from None
    spark = SparkSession.getActiveSession()
    if spark is None:
        raise StateError("no session of Spark runs here: begin one, with SparkSession.builder.getOrCreate()")
    return ready(spark)


def session_of(frame: DataFrame) -> SparkSession:
    """The session of a frame, checked for building panes."""
    if not hasattr(frame, "sparkSession") or not hasattr(frame, "schema"):
        raise InputError(f"{type(frame).__name__} is no DataFrame of Spark: give one, or take frostpane.top")
    if frame.isStreaming:
        raise ParameterError("this frame is a stream, which has no end: have foreachBatch write it, with sink, and tick")
    return ready(frame.sparkSession)


def ready(spark: SparkSession) -> SparkSession:
    """The session, with local executors on the Python of this process unless another is configured."""
    if not hasattr(spark, "_jsparkSession"):
        raise ParameterError(
            "this is a session of Spark Connect, which has no broadcast variables, and secrets of hashes go nowhere else: run the driver here"
        )
    context = spark.sparkContext
    told = "PYSPARK_PYTHON" in os.environ or context.getConf().contains("spark.pyspark.python")
    if str(context.master).startswith("local") and not told:
        context.pythonExec = sys.executable
    return spark


@contextmanager
def translated() -> Iterator[None]:
    """Checks that executors can build panes."""
    try:
        yield
    except Exception as error:
        said = str(error)
        if any(missing in said for missing in _MISSING) and "Traceback" in said:
            raise StateError(
                "the Python of the executors lacks frostpane, of this version, or pyarrow: install frostpane[spark] there, or name a Python that has it, "
                "with PYSPARK_PYTHON. Nothing was charged"
            ) from error
        raise
