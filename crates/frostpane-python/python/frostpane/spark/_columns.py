"""Rows of a frame as Spark counts them: the number of the pane, the key and, if users are protected, the
user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _internal
from ..errors import ColumnError, InputError, ParameterError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_LONGEST_KEY = 65_536
_SECOND, _DAY = 1_000_000, 86_400_000_000
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_FLOATS = ("float", "double")
# From here on floats skip integers.
_INEXACT = float(2**53)
# Far outside of the calendar, and far from overflow.
_MOST_DAYS = 4_000_000
_MOST_SECONDS, _MOST_MILLIS, _MOST_MICROS = 10**11, 10**14, 10**17


@dataclass(frozen=True)
class Columns:
    """The roles of columns."""

    key: str
    time: str
    user: str | None = None

    def check(self, frame: DataFrame) -> None:
        """Checks that the columns exist, once each, with readable types."""
        for name, role in ((self.key, "key"), (self.time, "time"), (self.user, "user")):
            if name is None:
                continue
            if not isinstance(name, str):
                raise ParameterError(f"{role} is the name of a column, not {type(name).__name__}")
            if frame.columns.count(name) != 1:
                several = "there are several columns" if name in frame.columns else "there is no column"
                raise ColumnError(f"{several} {name}: there are {', '.join(frame.columns)}")
        names = ("string", "binary", "decimal", *_FLOATS, *_INTEGERS)
        _refuse(frame, self.key, "keys", "text, bytes or whole numbers", names)
        _refuse(frame, self.time, "times", "timestamps, dates or numbers (Unix times)", ("timestamp", "timestamp_ntz", "date", *_FLOATS, *_INTEGERS))
        if self.user is not None:
            _refuse(frame, self.user, "users", "text, bytes or whole numbers", names)

    def select(self, frame: DataFrame) -> DataFrame:
        """These columns alone, named by their roles."""
        columns = [_named(self.key).alias("key"), _named(self.time).alias("time")]
        if self.user is not None:
            columns.append(_named(self.user).alias("user"))
        return frame.select(*columns)


def rows(frame: DataFrame, plan: _internal.PanePlan, numbers: tuple[int, int]) -> DataFrame:
    """The rows with columns ``key``, ``time`` and perhaps ``user`` that lie in these panes, with the
    number of the pane in place of the time."""
    from pyspark.sql import functions as F

    if plan.people != ("user" in frame.columns):
        raise ParameterError(
            "users are protected, but nothing says whose an event is: say which column holds the user, with user"
            if plan.people
            else "users were given, but what is protected is the key of one event: begin the store with user, or leave them out"
        )
    columns = [pane_of(frame, plan, numbers).alias("pane"), _key(frame, plan).alias("key")]
    if plan.people:
        columns.append(_bytes(frame, "user").alias("user"))
    if _type(frame, "time") == "timestamp":
        # What other days have is not even read where files say so.
        length, offset = plan.grid
        begin, end = (F.timestamp_micros(F.lit(number * length + offset)) for number in numbers)
        frame = frame.where((F.col("time") >= begin) & (F.col("time") < end))
    counted = frame.select(*columns).where(F.col("pane").isNotNull())
    if plan.people:
        counted = counted.where(F.col("user").isNotNull() & F.col("key").isNotNull())
    return counted


def _type(frame: DataFrame, name: str) -> str:
    kind = frame.schema[name].dataType.simpleString()
    if kind.startswith("decimal"):
        return "decimal"
    return "string" if kind.startswith(("string", "char", "varchar")) else kind


def _refuse(frame: DataFrame, name: str, what: str, allowed: str, kinds: tuple[str, ...]) -> None:
    if (kind := _type(frame, name)) not in kinds:
        raise InputError(f"the column {name} holds {kind}, but {what} are {allowed}: cast it to one of these")


def _named(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def _floor(number: Column, step: int) -> Column:
    """Whole steps, rounded down, with integers alone; null if the least integer has none below."""
    from pyspark.sql import functions as F

    return F.call_function("div", F.try_subtract(number, F.pmod(number, F.lit(step))), F.lit(step))


def _micros(frame: DataFrame) -> Column:
    """Microseconds since 1970 in UTC, independent of the time zone of the session. Invalid values are null
    and never stop the job."""
    from pyspark.sql import functions as F

    time, kind = F.col("time"), _type(frame, "time")
    if kind == "timestamp":
        return F.unix_micros(time)
    if kind == "timestamp_ntz":
        return F.expr("(time - TIMESTAMP_NTZ '1970-01-01 00:00:00') div INTERVAL '0.000001' SECOND")
    if kind == "date":
        days = F.unix_date(time).cast("bigint")
        return F.when(days.between(-_MOST_DAYS, _MOST_DAYS), days * _DAY)
    is_float = kind in _FLOATS
    number = time.cast("double" if is_float else "bigint")

    def within(most: int) -> Column:
        return (number > -most) & (number < most)

    def whole(scaled: Column) -> Column:
        # The floor of what is no bigint would stop the job.
        return F.floor(F.when(F.abs(scaled) < 2.0**63, scaled)) if is_float else scaled

    return (
        F.when(within(_MOST_SECONDS), whole(number * _SECOND))
        .when(within(_MOST_MILLIS), whole(number * 1_000))
        .when(within(_MOST_MICROS), whole(number))
        .otherwise(whole(number / 1_000) if is_float else _floor(number, 1_000))
    )


def pane_of(frame: DataFrame, plan: _internal.PanePlan, numbers: tuple[int, int]) -> Column:
    """The number of the pane of each row, if it is one of these."""
    from pyspark.sql import functions as F

    length, offset = plan.grid
    begin, end = (number * length + offset for number in numbers)
    micros = _micros(frame)
    return F.when((micros >= begin) & (micros < end), _floor(micros - offset, length))


def _bytes(frame: DataFrame, name: str) -> Column:
    """The column as bytes, compared as a whole in any collation. Whole numbers are their digits, for any
    type that Spark has inferred."""
    from pyspark.sql import functions as F

    column, kind = F.col(name), _type(frame, name)
    if kind in _FLOATS:
        exact = (F.abs(column) < _INEXACT) & (column == F.rint(column))
        return F.when(exact, column.try_cast("bigint").cast("string").cast("binary"))
    if kind == "decimal":
        whole = column.cast("decimal(38,0)")
        return F.when(column == whole, whole.cast("string").cast("binary"))
    return (column.cast("string") if kind in _INTEGERS else column).cast("binary")


def _key(frame: DataFrame, plan: _internal.PanePlan) -> Column:
    from pyspark.sql import functions as F

    kind = _type(frame, "key")
    if plan.integers:
        if kind not in _INTEGERS:
            raise InputError(f"the keys of this store are integers, but these are {kind}: cast them to bigint")
        return F.when(F.col("key") >= 0, F.col("key").cast("bigint"))
    key: Any = F.col("key")
    plain = frame.schema["key"].dataType.simpleString() == "string"
    # Spark counts plain text faster than bytes.
    key = key if plain and not plan.people else _bytes(frame, "key")
    return F.when(F.octet_length(key) <= _LONGEST_KEY, key)
