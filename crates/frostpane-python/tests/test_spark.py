"""Spark with two executors yields the panes, counts, norms and lists of one machine, also if tasks,
batches and processes fail."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import frostpane
from conftest import DAY, NOISELESS, START, UNTIL, Stream, run

pytest.importorskip("pyspark")

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from frostpane import spark as on_spark
from frostpane.spark import _columns, _session, _table, _workers
from frostpane.spark.building import assembled

BEGIN = "2025-12-01"
FIRST, END = START // DAY + 4, START // DAY + 7
EVENTS: dict[str, Any] = {"window": "3d", "slide": "1d", "policy": "uniform"}
PEOPLE: dict[str, Any] = {"window": "3d", "per_user": 2, "per_key": 2}
UNITS = {"events": EVENTS, "events, cut": {**EVENTS, "entries": 100}, "people": PEOPLE}


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    os.environ.pop("PYSPARK_PYTHON", None)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder: Any = SparkSession.builder
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        # Far from UTC, with summer time.
        "spark.sql.session.timeZone": "America/New_York",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.master("local-cluster[2,1,1024]").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def events(stream: Stream) -> dict[str, list[Any]]:
    """A week of rows, some with missing columns, or with invalid keys and users."""
    day = START + 5 * DAY
    odd: list[tuple[Any, Any, Any]] = [
        (None, day, "u1"),
        ("k" * 65_537, day, "u1"),
        ("", day, "u2"),
        ("a", day, ""),
        ("a", day, None),
        ("b", day - 1, "é"),
    ]
    # A user with a thousand events of thirty keys.
    odd += [(f"page {number % 30} é", day + number, "u3") for number in range(1_000)]
    rows = sorted([*zip(stream.pages, stream.times, stream.users), *odd], key=lambda row: row[1])
    return {name: [row[place] for row in rows] for place, name in enumerate(("key", "time", "user"))}


@pytest.fixture(scope="module")
def frame(spark: SparkSession, events: dict[str, list[Any]]) -> DataFrame:
    import pyarrow as pa

    times = pa.array(events["time"], pa.timestamp("us", tz="UTC"))
    made = spark.createDataFrame(pa.table({"key": events["key"], "time": times, "user": events["user"]}))
    # Without times, and with impossible ones.
    nowhere = (
        "SELECT 'page 1 é' key, timestamp_micros(time) time, 'u9' user FROM VALUES (NULL), (9223372036854775807L), (-9223372036854775808L) AS (time)"
    )
    return made.union(spark.sql(nowhere)).persist()


def fed(folder: Path, fields: dict[str, Any], events: dict[str, list[Any]]) -> frostpane.Store:
    """A store on one machine, whose last pane ends because an event comes after it."""
    of_people = "per_user" in fields
    store = frostpane.Store.create(folder, **fields, alpha=0.02, epsilon=NOISELESS, releases=2, begin=BEGIN)
    after: dict[str, list[Any]] = {"key": ["after"], "time": [START + 7 * DAY + 1], "user": ["u"]}
    table = {name: column + ([] if of_people else after[name]) for name, column in events.items()}
    store.update(table, id="week", key="key", time="time", user="user" if of_people else None, until=UNTIL if of_people else None)
    return store


def columns(of_people: bool) -> dict[str, str]:
    return {"key": "key", "time": "time", **({"user": "user"} if of_people else {})}


def number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def decoded(data: bytes) -> dict[str, Any]:
    """A closed pane with keys of bytes, as in docs/format.md."""
    found: dict[str, Any] = {}
    at = 0
    for name in ("events", "cut", "mass", "entries", "bytes"):
        found[name], at = number(data, at)
    counts: dict[bytes, int] = {}
    for _ in range(found["entries"]):
        length, at = number(data, at)
        key, at = data[at : at + length], at + length
        counts[key], at = number(data, at)
    has_sketch, at = data[at], at + 1
    cells = []
    while at < len(data):
        value, at = number(data, at)
        cells.append(value >> 1 ^ -(value & 1))
    assert bool(cells) == bool(has_sketch)
    return {**found, "counts": counts, "cells": cells}


def built(frame: DataFrame, store: frostpane.Store, partitions: int) -> list[bytes]:
    session = frame.sparkSession
    session.conf.set("spark.sql.shuffle.partitions", partitions)
    try:
        of_people = store._handle.plan().people
        spread = frame.select(*columns(of_people).values()).repartition(partitions)
        with assembled(spread, store, (FIRST, END)) as (_, made):
            rows = made.collect()
    finally:
        session.conf.set("spark.sql.shuffle.partitions", 2)
    assert [row["pane"] for row in sorted(rows)] == list(range(FIRST, END))
    return [bytes(row["bytes"]) for row in sorted(rows)]


@pytest.mark.parametrize("unit", UNITS)
def test_panes_are_the_same_however_rows_are_spread(
    unit: str, frame: DataFrame, events: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with frostpane.Store.create(tmp_path / "spark", **UNITS[unit], alpha=0.02, epsilon=NOISELESS, releases=2, begin=BEGIN) as store:
        panes = {partitions: built(frame, store, partitions) for partitions in (1, 2, 7, 64)}
        with monkeypatch.context() as patch:
            for name in ("bound", "count", "close"):
                patch.setattr(_workers, name, dying(name))
            panes[0] = built(frame, store, 2)
    assert all(one == panes[1] for one in panes.values())
    found = [decoded(pane) for pane in panes[1]]
    assert all((pane["cut"] > 0, bool(pane["cells"])) == ("cut" in unit, "cut" in unit) for pane in found)
    if unit == "people":
        # The rule and the hashes decide which keys of a user count: two of the thirty, twice each.
        assert sum(pane["events"] for pane in found) < len(events["key"]) / 3


def dying(name: str) -> Callable[..., Any]:
    """The task, by a worker that is killed in the middle of its first attempt."""

    def work(*arguments: Any) -> Any:
        import signal

        from pyspark import TaskContext

        from frostpane.spark import _workers

        task = TaskContext.get()
        assert task is not None
        made = iter(getattr(_workers, name)(*arguments))
        first = next(made, None)
        if task.partitionId() == 0 and task.attemptNumber() == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if first is not None:
            yield first
        yield from made

    return work


@pytest.mark.parametrize("unit", ["events", "people"])
def test_lists_are_those_of_the_program_day_by_day(unit: str, frame: DataFrame, stream: Stream, program: Path, tmp_path: Path) -> None:
    of_people = unit == "people"
    options = ["--user", "user", "--per-user", 2, "--per-key", 2, "--from", BEGIN] if of_people else ["--slide", "1d", "--policy", "uniform"]
    asked = ["--key", "key", "--time", "time", "--window", "3d", "--top", 12, "--epsilon", NOISELESS, "--releases", 3, *options]
    state, table = tmp_path / "state", str(tmp_path / "panes")
    run(program, "init", state, *asked)
    with frostpane.Store.open(state) as begun:
        store = frostpane.Store.create(tmp_path / "store", like=begun, begin=BEGIN)
    clean = frame.where("length(key) < 100 AND user <> '' AND user <> 'u3' AND user <> 'é' AND key <> ''")
    for until in ("2025-12-07", UNTIL):
        on_spark.build_panes(clean, store, table, **columns(of_people), until=until)
        release = on_spark.release_panes(store, table, id=until)
    assert release.window.end == "2025-12-08T00:00:00Z" and store.budget().left == 1
    rows = [(time, user, key) for time, user, key in zip(stream.times, stream.users, stream.pages) if user != "u3"]
    file = tmp_path / "events.tsv"
    file.write_text("time\tuser\tkey\n" + "".join(f"{time}\t{user}\t{key}\n" for time, user, key in rows))
    run(program, "ingest", state, file, "--until", UNTIL)
    by_program = json.loads(run(program, "release", state, "--id", "x", "--json"))
    made = release.to_dict()
    if of_people:
        assert made == by_program
    else:
        # If events are protected, the window ends with the last of them, and begins in a pane: the program
        # fixes panes from a given end.
        asked = ["--window", "3d", "--slide", "1d", "--top", 12, "--epsilon", NOISELESS, "--until", UNTIL]
        by_program = json.loads(run(program, "list", "--json", "--key", "key", "--time", "time", *asked, file))
        assert {**made, "policy": None} == {**by_program, "policy": None}
    # The same id is the same release, also in another process, and charges nothing.
    store.close()
    with frostpane.Store.open(store.path) as again:
        assert again.release(UNTIL).to_dict() == made and again.budget().left == 1


def test_one_call_is_the_list_of_one_machine(frame: DataFrame, events: dict[str, list[Any]]) -> None:
    asked: dict[str, Any] = {"window": "3d", "until": UNTIL, "alpha": 0.02, "epsilon": NOISELESS, "per_user": 40}
    release = on_spark.heavy_hitters(frame, key="key", time="time", user="user", **asked)
    hitters = frostpane.HeavyHitters(key="key", time="time", user="user", **asked)
    hitters.update(events)
    assert release == hitters.release() and release.alone
    numbers = frame.select(F.length("user").alias("n"), "time")
    asked = {"key": "n", "time": "time", "window": "3d", "slide": "1d", "until": UNTIL, "all": True, "epsilon": NOISELESS}
    release = on_spark.heavy_hitters(numbers, integers=True, **asked)
    assert {heavy.key for heavy in release} == {2, 3, 4}
    # Text by default, for any type of the column.
    counts = {str(heavy.key): heavy.count for heavy in release}
    released = on_spark.heavy_hitters(numbers.withColumn("n", F.col("n").cast("double")), **asked)
    assert {heavy.key: heavy.count for heavy in released} == counts


KINDS: dict[str, str] = {
    "timestamp": "timestamp_micros(n)",
    "timestamp without a zone": "timestampadd(MICROSECOND, n, TIMESTAMP_NTZ '1970-01-01 00:00:00')",
    "microseconds": "n",
    "seconds": "CAST((n - pmod(n, 1000000)) div 1000000 AS INT)",
    "date": "date_from_unix_date(CAST((n - pmod(n, 86400000000)) div 86400000000 AS INT))",
}


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati"])
def test_a_day_is_a_day_in_utc_wherever_the_session_is(zone: str, spark: SparkSession, tmp_path: Path) -> None:
    """Times around midnight, also on the day on which clocks in New York go back, and before 1970."""
    midnights = [1_200, START // DAY, 20_394, -3_000]
    moments = [day * DAY + step for day in midnights for step in (-1, 0, 1, 4 * 3_600_000_000, DAY // 2, DAY - 1)]
    expected = sorted(moment // DAY for moment in moments)
    spark.conf.set("spark.sql.session.timeZone", zone)
    with frostpane.Store.create(tmp_path / "s", **EVENTS) as store:
        plan = store._handle.plan()
    try:
        given = spark.createDataFrame([(moment,) for moment in moments], "n bigint")
        for kind, expression in KINDS.items():
            rows = given.select(F.lit("a").alias("key"), F.expr(expression).alias("time"))
            counted = _columns.rows(rows, plan, (-10_000, 40_000)).collect()
            assert sorted(row["pane"] for row in counted) == expected, kind
    finally:
        spark.conf.set("spark.sql.session.timeZone", "America/New_York")


# Values in JSON: user, key and time of one more event, and whether it counts.
ODD: dict[str, tuple[str, str, str, bool]] = {
    "a user of 2 to the 63": ("9223372036854775808", "7", "1765065600", True),
    "a user of 2 to the 70": ("1180591620717411303424", "7", "1765065600", True),
    "a user that is text": ('"ann"', "7", "1765065600", True),
    "a user that is a whole float": ("17000.0", "7", "1765065600", True),
    "a user that is a fraction": ("0.5", "7", "1765065600", False),
    "no user": ("null", "7", "1765065600", False),
    "a key of 2 to the 63": ("17000", "9223372036854775808", "1765065600", True),
    "a key of 2 to the 70": ("17000", "1180591620717411303424", "1765065600", True),
    "a key that is text": ("17000", '"seven"', "1765065600", True),
    "a key that is a fraction": ("17000", "0.5", "1765065600", False),
    "no key": ("17000", "null", "1765065600", False),
    "a time in milliseconds": ("17000", "7", "1765065600000", True),
    "a time with a fraction": ("17000", "7", "1765065600.5", True),
    "a time of another day": ("17000", "7", "5", False),
    "no time": ("17000", "7", "null", False),
}


@pytest.mark.parametrize("name", ODD)
def test_one_event_that_changes_the_schema_moves_no_other(name: str, spark: SparkSession, tmp_path: Path) -> None:
    """Spark infers types that fit all values of a JSON column."""
    user, key, time, counts = ODD[name]
    usual = [(str(-number), "7", "1765065600") for number in range(1, 101)]
    with frostpane.Store.create(tmp_path / "s", **PEOPLE, begin=BEGIN) as store:
        plan = store._handle.plan()
    expected = sorted((f"-{number}".encode(), b"7") for number in range(1, 101))
    lines = [f'{{"user": {u}, "key": {k}, "time": {t}}}' for u, k, t in [*usual, (user, key, time)]]
    (tmp_path / "events.json").write_text("\n".join(lines))
    frame = spark.read.json(str(tmp_path / "events.json"))
    selected = _columns.Columns("key", "time", "user")
    selected.check(frame)
    rows = _columns.rows(selected.select(frame), plan, (FIRST, END)).collect()
    found = sorted((bytes(row["user"]), bytes(row["key"])) for row in rows)
    assert [row for row in found if row in expected] == expected
    assert len(found) == 100 + counts


# Local times of one user around midnight of 9 March 2025, on which New York, the zone of the session, has no
# hour from two to three: the day of March of the event, if it is one of the three that are built.
NINTH = 20_156 * DAY
CLOCKS: dict[str, int | None] = {
    "2025-03-07T23:59:59.999999Z": None,
    "2025-03-08T00:00:00Z": 8,
    "2025-03-08T23:59:59Z": 8,
    "2025-03-08T23:59:59.999999Z": 8,
    "2025-03-09T00:00:00Z": 9,
    "2025-03-09T00:00:00.000001Z": 9,
    "2025-03-09T00:00:01Z": 9,
    "2025-03-09T23:59:59.999999Z": 9,
    "2025-03-10T00:00:00Z": 10,
    "2025-03-10T23:59:59.999999Z": 10,
    "2025-03-11T00:00:00Z": None,
    # With an offset.
    "2025-03-09T05:29:59.999999+05:30": 8,
    "2025-03-09T05:30:00+05:30": 9,
    "2025-03-08T18:59:59-05:00": 8,
    "2025-03-08T19:00:00-05:00": 9,
    "2025-03-10T13:59:59+14:00": 9,
    "2025-03-10T14:00:00+14:00": 10,
    "2025-03-08T05:59:59-18:00": 8,
    "2025-03-08T06:00:00-18:00": 9,
    # In a zone; Havana has no hour from midnight to one.
    "2025-03-09 08:59:59.999999 Asia/Tokyo": 8,
    "2025-03-09 09:00:00 Asia/Tokyo": 9,
    "2025-03-09 13:44:59 Pacific/Chatham": 8,
    "2025-03-09 13:45:00 Pacific/Chatham": 9,
    "2025-03-09 00:30:00 America/Havana": 9,
    "2025-03-09 19:59:59 America/Havana": 9,
    "2025-03-09 20:00:00 America/Havana": 10,
    # Without a zone: that of the session.
    "2025-03-08 18:59:59.999999": 8,
    "2025-03-08 19:00:00": 9,
    "2025-03-09": 9,
    "2025-03-09 01:59:59": 9,
    "2025-03-09 02:30:00": 9,
    "2025-03-09 03:00:00": 9,
    "2025-03-09 19:59:59": 9,
    "2025-03-09 20:00:00": 10,
    "2025-03-10": 10,
    # Far away, and invalid.
    "0001-01-01T00:00:00Z": None,
    "1582-10-10T00:00:00Z": None,
    "1883-11-18T12:00:00 America/New_York": None,
    "1969-12-31T23:59:59.999999Z": None,
    "2025-03-08T23:59:60Z": None,
    "2025-03-09T24:00:00Z": None,
    "2025-02-30T00:00:00Z": None,
    "9999-12-31T23:59:59.999999Z": None,
    "+294247-01-10T04:00:54.775807Z": None,
    "-290308-12-21T19:59:05.224192Z": None,
    "noon": None,
    "": None,
}


def test_a_staged_event_counts_in_the_epoch_of_its_own_time_whenever_it_comes(spark: SparkSession, tmp_path: Path) -> None:
    """Every row is a user with two events of two keys: before the first tick, and after it."""
    import pandas as pd

    folder, staging, table, checkpoint = (str(tmp_path / name) for name in ("events", "staging", "panes", "checkpoint"))
    days = CLOCKS | {"NaT": None, "of pandas": 9}
    texts = spark.createDataFrame([(clock,) for clock in CLOCKS], "user string")
    rows = texts.withColumn("time", F.expr("try_cast(user AS timestamp)"))
    nanoseconds = pd.Timestamp("2025-03-09T09:00:00.000000001", tz="Asia/Tokyo")
    rows = rows.union(spark.createDataFrame(pd.DataFrame({"user": ["NaT", "of pandas"], "time": [pd.NaT, nanoseconds]})))
    others = spark.range(150).selectExpr("'base' key", f"timestamp_micros({NINTH} + (id % 3 - 1) * {DAY}) time", "CAST(id div 3 AS string) user")

    def come(events: DataFrame) -> None:
        events.coalesce(1).write.mode("append").parquet(folder)
        stream = spark.readStream.schema("key string, time timestamp, user string").parquet(folder)
        writer = stream.writeStream.foreachBatch(on_spark.sink(staging, **columns(True))).option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()

    with frostpane.Store.create(tmp_path / "s", window="3d", per_user=1, begin="2025-03-08") as store:
        come(rows.selectExpr("'early ' || user key", "time", "user").union(others))
        on_spark.tick(store, table, staging, until="2025-03-10")
        come(rows.selectExpr("'late ' || user key", "time", "user"))
        on_spark.tick(store, table, staging, until="2025-03-11")
    built = spark.read.schema(_table.SCHEMA).parquet(table).collect()
    panes = {row["pane"] - NINTH // DAY + 9: decoded(bytes(row["bytes"]))["counts"] for row in built}
    assert set(panes) == {8, 9, 10}
    for day, counts in panes.items():
        assert counts.pop(b"base") == 50
        found = sorted(key.decode().split(" ", 1)[1] for key in counts)
        assert found == sorted(clock for clock, own in days.items() if own == day), day
        assert set(counts.values()) == {1}


# Columns of other types, whose days are in UTC.
OTHERS: dict[str, dict[str, int | None]] = {
    "timestamp": {
        f"timestamp_micros({NINTH - 1})": 8,
        f"timestamp_micros({NINTH})": 9,
        f"timestamp_seconds({NINTH / 1e6 - 0.5})": 8,
        "CAST(TIMESTAMP_NTZ '2025-03-09 02:30:00' AS timestamp)": 9,
        "CAST(DATE '2025-03-10' AS timestamp)": 10,
        "timestamp_micros(9223372036854775807)": None,
        "timestamp_micros(-9223372036854775808)": None,
    },
    "timestamp_ntz": {
        "TIMESTAMP_NTZ '2025-03-08 23:59:59.999999'": 8,
        "TIMESTAMP_NTZ '2025-03-09 00:00:00'": 9,
        "TIMESTAMP_NTZ '2025-03-09 02:30:00'": 9,
        "TIMESTAMP_NTZ '2025-03-09 23:59:59.999999'": 9,
        "TIMESTAMP_NTZ '2025-03-10 00:00:00'": 10,
        "TIMESTAMP_NTZ '0001-01-01 00:00:00'": None,
        "TIMESTAMP_NTZ '1582-10-10 00:00:00'": None,
        "TIMESTAMP_NTZ '+294247-01-10 04:00:54.775807'": None,
        "TIMESTAMP_NTZ '-290308-12-21 19:59:05.224192'": None,
        "CAST(NULL AS timestamp_ntz)": None,
    },
    "date": {
        "DATE '2025-03-07'": None,
        "DATE '2025-03-08'": 8,
        "DATE '2025-03-09'": 9,
        "DATE '2025-03-10'": 10,
        "DATE '2025-03-11'": None,
        "DATE '0001-01-01'": None,
        "DATE '9999-12-31'": None,
        "date_from_unix_date(2147483647)": None,
        "date_from_unix_date(-2147483648)": None,
        "CAST(NULL AS date)": None,
    },
    "bigint": {
        f"{NINTH // 1_000_000 - 1}L": 8,
        f"{NINTH // 1_000_000}L": 9,
        f"{NINTH // 1_000 - 1}L": 8,
        f"{NINTH // 1_000}L": 9,
        f"{NINTH - 1}L": 8,
        f"{NINTH}L": 9,
        f"{NINTH * 1_000 - 1}L": 8,
        f"{NINTH * 1_000}L": 9,
        "20250309L": None,
        "0L": None,
        "-1L": None,
        "9223372036854775807L": None,
        "-9223372036854775808L": None,
        "CAST(NULL AS bigint)": None,
    },
    "double": {
        f"DOUBLE('{NINTH / 1e6 - 0.5}')": 8,
        f"DOUBLE('{NINTH / 1e6}')": 9,
        f"DOUBLE('{NINTH / 1e3 - 0.5}')": 8,
        f"DOUBLE('{NINTH / 1e3}')": 9,
        f"DOUBLE('{float(NINTH - 1)}')": 8,
        "DOUBLE('NaN')": None,
        "DOUBLE('Infinity')": None,
        "DOUBLE('-Infinity')": None,
        "DOUBLE('1e300')": None,
        "DOUBLE('-0.0')": None,
        "CAST(NULL AS double)": None,
    },
}


def test_a_staged_clock_of_any_type_belongs_to_its_own_day(spark: SparkSession, tmp_path: Path) -> None:
    with frostpane.Store.create(tmp_path / "s", window="3d", per_user=1, begin="2025-03-08") as store:
        plan = store._handle.plan()
    context: Any = spark.sparkContext
    context.setLocalProperty("sql.streaming.queryId", "q")
    try:
        found = {kind: staged_days(spark, plan, kind, str(tmp_path / kind)) for kind in OTHERS}
    finally:
        context.setLocalProperty("sql.streaming.queryId", None)
    assert found == {kind: {clock: day for clock, day in clocks.items() if day} for kind, clocks in OTHERS.items()}


def staged_days(spark: SparkSession, plan: Any, kind: str, staging: str) -> dict[str, int]:
    """The days of times of a type, as a staged batch has them."""
    clocks = " UNION ALL ".join(f'SELECT "{clock}" key, {clock} time, "{clock}" user' for clock in OTHERS[kind])
    frame = spark.sql(clocks)
    assert frame.schema["time"].dataType.simpleString() == kind
    on_spark.sink(staging, **columns(True))(frame.coalesce(1), 0)
    staged = spark.read.parquet(staging + "/query=q/batch=0")
    day = NINTH // DAY - 9
    return {bytes(row["key"]).decode(): row["pane"] - day for row in _columns.rows(staged, plan, (day + 8, day + 11)).collect()}


TYPES = ["smallint", "int", "bigint", "float", "double", "decimal(12,3)", "decimal(38,0)", "string", "binary"]


def test_keys_and_users_are_the_same_whatever_type_has_them(spark: SparkSession, tmp_path: Path) -> None:
    with frostpane.Store.create(tmp_path / "s", **PEOPLE, begin=BEGIN) as store:
        plan = store._handle.plan()
    given = spark.createDataFrame([(number, START + 5 * DAY) for number in (-300, 0, 17)], "n bigint, time bigint")
    for kind in TYPES:
        column = F.col("n").cast("string").cast(kind) if kind == "binary" else F.col("n").cast(kind)
        frame = given.select(column.alias("key"), "time", column.alias("user"))
        rows = _columns.rows(frame, plan, (FIRST, END)).collect()
        assert sorted(bytes(row["key"]) for row in rows) == [b"-300", b"0", b"17"], kind
        assert all(row["key"] == row["user"] for row in rows)


def test_panes_are_built_again_before_their_release_and_not_after(frame: DataFrame, tmp_path: Path) -> None:
    table = str(tmp_path / "panes")
    some = frame.where("key LIKE 'page 1%'")
    with frostpane.Store.create(tmp_path / "s", **PEOPLE, all=True, epsilon=NOISELESS, releases=2, begin=BEGIN) as store:
        on_spark.build_panes(some, store, table, **columns(True), until=UNTIL)
        with pytest.raises(frostpane.ConflictError, match="not in this state yet"):
            store.release("early")
        again = on_spark.build_panes(frame, store, table, **columns(True), until=UNTIL, since="2025-12-05")
        assert again.panes == 3
        release = on_spark.release_panes(store, table, id="one")
        assert {heavy.key for heavy in release} > {"page 1 é", "page 2 é"}
        for since in (None, "2025-12-07", "2025-12-05"):
            with pytest.raises(frostpane.ConflictError):
                on_spark.build_panes(some, store, table, **columns(True), until=UNTIL, since=since)
        with pytest.raises(frostpane.ConflictError, match="built elsewhere"):
            store.update({"k": ["a"], "t": [START + 8 * DAY], "u": ["u"]}, id="x", key="k", time="t", user="u")
        assert [record["what"] for record in store.history()][1]["built"]["seal"]
        assert on_spark.release_panes(store, table, id="one") == release and store.budget().left == 1
        with (
            frostpane.Store.create(tmp_path / "other", **PEOPLE, begin=BEGIN) as other,
            pytest.raises(frostpane.ConflictError, match="another store"),
        ):
            on_spark.build_panes(frame, other, table, **columns(True), until=UNTIL)
        with (
            frostpane.Store.create(tmp_path / "third", **PEOPLE, begin=BEGIN) as other,
            pytest.raises(frostpane.ConflictError, match="another store"),
        ):
            on_spark.release_panes(other, table)


def test_what_is_in_the_table_is_what_was_built(spark: SparkSession, frame: DataFrame, tmp_path: Path) -> None:
    table = str(tmp_path / "panes")
    with frostpane.Store.create(tmp_path / "s", **EVENTS, top=3, epsilon=NOISELESS) as store:
        with pytest.raises(frostpane.StateError, match="no panes were built"):
            on_spark.release_panes(store, table)
        made = on_spark.build_panes(frame, store, table, key="key", time="time", until=UNTIL)
        with pytest.raises(frostpane.StateError, match="3 of the panes that were built are not in the table"):
            on_spark.release_panes(store, str(tmp_path / "elsewhere"))
        kept = spark.read.schema(_table.SCHEMA).parquet(table).collect()
        forged = spark.createDataFrame(
            [(row["store"], row["fingerprint"], row["build"], row["pane"], kept[0]["bytes"], row["seal"]) for row in kept], _table.SCHEMA
        )
        forged.write.partitionBy("store", "build").parquet(str(tmp_path / "forged"))
        with pytest.raises(frostpane.ConflictError, match="not the one that was built"):
            on_spark.release_panes(store, str(tmp_path / "forged"))
        assert store.budget().left == 1 and not store.releases()
        assert len(on_spark.release_panes(store, table, id="x")) == 3
        with pytest.raises(frostpane.InsufficientBudgetError):
            on_spark.release_panes(store, table, id="y")
        # Four days later none of them is in a window, and they are deleted from the table.
        on_spark.build_panes(frame, store, table, key="key", time="time", until="2025-12-12")
        on_spark.release_panes(store, table, id="later")
        left = spark.read.schema(_table.SCHEMA).parquet(table).select("build").distinct().collect()
        assert len(left) == 1 and left[0]["build"] != made.build


def test_what_cannot_be_is_refused_in_a_sentence(spark: SparkSession, frame: DataFrame, tmp_path: Path) -> None:
    table = str(tmp_path / "panes")
    asked: dict[str, Any] = {"window": "3d", "slide": "1d", "until": UNTIL}

    def refused(error: type[Exception], match: str, df: Any = frame, **changes: Any) -> None:
        with pytest.raises(error, match=match):
            on_spark.heavy_hitters(df, **{"key": "key", "time": "time", **asked, **changes})

    refused(frostpane.ColumnError, "there is no column kee: there are key, time, user", key="kee")
    refused(frostpane.InputError, "holds boolean, but keys are text", df=frame.withColumn("key", F.lit(True)))
    refused(frostpane.InputError, "holds string, but times are timestamps", time="user")
    refused(frostpane.InputError, "holds timestamp, but users are text", user="time", slide=None)
    refused(frostpane.ParameterError, "it was not said where the window ends", until=None)
    refused(frostpane.WindowError, "lies within a pane", until="2025-12-08T03:00:00Z")
    refused(frostpane.ConflictError, "lies in the future", until="2120-01-01")
    refused(frostpane.ParameterError, "whose order Spark does not keep", window=1_000, slide=None)
    refused(frostpane.WindowError, "policy", policy="exponential", slide="1h")
    refused(frostpane.ParameterError, "epsilon is -1", epsilon=-1)
    refused(frostpane.InputError, "is no DataFrame of Spark", df={"key": ["a"]})
    with frostpane.Store.create(tmp_path / "s", **EVENTS) as store:
        with pytest.raises(frostpane.ParameterError, match="says too little of where panes go"):
            on_spark.build_panes(frame, store, "panes", key="key", time="time", until=UNTIL)
        with pytest.raises(frostpane.ParameterError, match="users were given"):
            on_spark.build_panes(frame, store, table, **columns(True), until=UNTIL)
        on_spark.build_panes(frame, store, table, key="key", time="time", until="2025-12-06")
        with pytest.raises(frostpane.ConflictError, match="are missing: build those first"):
            on_spark.build_panes(frame, store, table, key="key", time="time", until=UNTIL, since="2025-12-07")
        assert store.budget().left == 1
    with pytest.raises(frostpane.StateError), frostpane.Store.open(tmp_path / "nothing") as store:
        on_spark.release_panes(store, table)
    with pytest.raises(frostpane.StateError, match="lacks frostpane"), _session.translated():
        raise RuntimeError("Traceback (most recent call last): ... ModuleNotFoundError: No module named 'frostpane'")


def test_the_secret_of_hashes_is_in_no_plan(frame: DataFrame, tmp_path: Path) -> None:
    with frostpane.Store.create(tmp_path / "s", **PEOPLE, begin=BEGIN) as store:
        plan = store._handle.plan()
        with assembled(frame, store, (FIRST, END)) as (_, made):
            shown = str(made._jdf.queryExecution().toString()) + repr(plan)
    seed = plan.to_bytes()[34:42]
    assert seed.hex() not in shown and str(int.from_bytes(seed, "little")) not in shown and repr(seed)[2:-1] not in shown


def test_a_stream_that_is_stopped_and_goes_on_counts_every_row_once(
    spark: SparkSession, frame: DataFrame, events: dict[str, list[Any]], tmp_path: Path
) -> None:
    folder, staging, table, checkpoint = (str(tmp_path / name) for name in ("events", "staging", "panes", "checkpoint"))
    days = [frame.where(F.unix_micros("time").between(START + first * DAY, START + end * DAY - 1)) for first, end in ((0, 5), (5, 6), (6, 7))]
    for day in days[:2]:
        day.coalesce(1).write.mode("append").parquet(folder)

    def go_on() -> None:
        stream = spark.readStream.schema(frame.schema).option("maxFilesPerTrigger", 1).parquet(folder)
        writer = stream.writeStream.foreachBatch(on_spark.sink(staging, **columns(True))).option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()

    go_on()
    # The process ended after staging a batch, before noting it: the batch comes again.
    batches = sorted(Path(checkpoint, "commits").glob("[0-9]*"))
    assert len(batches) == 2
    for file in Path(checkpoint, "commits").glob(f"*{batches[-1].name}*"):
        file.unlink()
    days[2].coalesce(1).write.mode("append").parquet(folder)
    go_on()
    store = fed(tmp_path / "fed", PEOPLE, events)
    with frostpane.Store.create(tmp_path / "s", like=store, begin=BEGIN) as streamed:
        ticked = on_spark.tick(streamed, table, staging, until="2025-12-07")
        assert (ticked.built.end, ticked.built.panes, ticked.late) == ("2025-12-07T00:00:00Z", 3, 0)
        assert on_spark.release_panes(streamed, table, id="saturday").window.end == "2025-12-07T00:00:00Z"
        # Rows of a day that has been built do not count, and the operator learns their number.
        days[1].limit(70).coalesce(1).write.mode("append").parquet(folder)
        go_on()
        ticked = on_spark.tick(streamed, table, staging, until=UNTIL)
        assert (ticked.built.panes, ticked.late) == (1, 70)
        assert not list(Path(staging).glob("query=*/batch=*"))
        release = on_spark.release_panes(streamed, table, id="sunday")
        assert release.to_dict() == store.release("sunday").to_dict()
        with pytest.raises(frostpane.ConflictError, match="all panes up to"):
            on_spark.tick(streamed, table, staging, until=UNTIL)
        spent = {period.begin: round(period.spent.epsilon / NOISELESS) for period in streamed.budget().periods}
        assert spent == {"2025-12-05T00:00:00Z": 2, "2025-12-07T00:00:00Z": 1, "2025-12-08T00:00:00Z": 0}
    store.close()


def test_executors_run_the_python_that_this_is(spark: SparkSession, frame: DataFrame) -> None:
    _session.ready(spark)
    assert spark.sparkContext.pythonExec == sys.executable
