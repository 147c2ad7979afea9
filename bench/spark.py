"""Panes that Spark builds from twenty million events on two executors, beside the plain count that they
include: `groupBy(pane, key).count()` for events, after `dropDuplicates` of user, day and key for users. In
turns, by wall time, with the bytes written for each row, user and key.

The argument is the folder of the files, which are made if they are missing."""

import json
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import frostpane
import numpy as np
import pyarrow as pa
from frostpane.spark import _columns, build_panes, release_panes
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

from events import keys_of

warnings.simplefilter("ignore")

EVENTS, FILES, DAYS = 20_000_000, 8, 7
KEYS, USERS, PER_USER = 1_000_000, 2_000_000, 4
DAY, START, UNTIL = 86_400_000_000, 1_764_547_200_000_000, "2025-12-08"
REPETITIONS = 3


def written(folder: Path) -> Path:
    """Keys are Zipf(1.1) over a million words, users are uniform."""
    target = folder / "spark-events"
    if target.exists():
        return target
    random = np.random.default_rng(4)
    unfinished = folder / "spark-events.unfinished"
    unfinished.mkdir(exist_ok=True)
    once = keys_of(random, KEYS)
    key = pa.chunked_array([once] * (EVENTS // len(once)))
    user = pa.array([f"u{number:07}" for number in range(USERS)], pa.string())
    share = EVENTS // FILES
    for number in range(FILES):
        times = START + random.integers(0, DAYS * DAY, share)
        table = pa.table(
            {
                "time": pa.array(times, pa.timestamp("us", tz="UTC")),
                "key": key.slice(number * share, share),
                "user": user.take(pa.array(random.integers(0, USERS, share))),
            }
        )
        parquet.write_table(table, unfinished / f"{number}.parquet")
    return unfinished.rename(target)


def session() -> SparkSession:
    builder: Any = SparkSession.builder.master("local-cluster[2,1,3072]")
    settings = {"spark.ui.enabled": "false", "spark.executor.memory": "2g", "spark.sql.shuffle.partitions": 8}
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def shuffled(spark: SparkSession) -> int:
    """Shuffle bytes written so far."""
    executors = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    return sum(executors.apply(number).totalShuffleWrite() for number in range(executors.size()))


class Measured:
    """Panes and the plain count for one unit of privacy."""

    def __init__(self, spark: SparkSession, frame: DataFrame, folder: Path, user: str | None) -> None:
        self.spark, self.frame, self.folder, self.user = spark, frame, folder, user
        self.fields: dict[str, Any] = {"window": f"{DAYS}d", "top": 100, "memory": "1GB", "releases": 1}
        self.fields |= {"per_user": PER_USER} if user else {"slide": "1d", "policy": "uniform"}

    def store(self, name: str) -> frostpane.Store:
        return frostpane.Store.create(self.folder / name, **self.fields, begin="2025-12-01")

    def plain(self) -> None:
        with self.store("plain") as store:
            plan, numbers = store._keeper.plan(), store._keeper.to_build(START + DAYS * DAY)
        shutil.rmtree(self.folder / "plain")
        rows = _columns.rows(self.frame if self.user else self.frame.drop("user"), plan, numbers)
        if self.user:
            rows = rows.dropDuplicates(["pane", "user", "key"])
        rows.groupBy("pane", "key").count().write.format("noop").mode("overwrite").save()

    def panes(self) -> dict[str, int]:
        table = str(self.folder / "panes")
        with self.store("store") as store:
            build_panes(self.frame, store, table, key="key", time="time", user=self.user, until=UNTIL)
            start = time.perf_counter()
            release_panes(store, table, id="list")
            self.release = time.perf_counter() - start
        size = sum(file.stat().st_size for file in Path(table).rglob("*.parquet"))
        kept = parquet.read_table(table, columns=["bytes"])["bytes"]
        for name in ("store", "panes"):
            shutil.rmtree(self.folder / name)
        return {"parquet": size, "panes": sum(len(pane) for pane in kept.to_pylist())}

    def turns(self) -> dict[str, Any]:
        contenders: dict[str, Callable[[], Any]] = {"plain": self.plain, "frostpane": self.panes}
        results: dict[str, Any] = {name: [] for name in contenders}
        results["shuffled"], results["release"] = {}, []
        for contender in contenders.values():
            contender()
        for _ in range(REPETITIONS):
            for name, contender in contenders.items():
                before, start = shuffled(self.spark), time.perf_counter()
                made = contender()
                taken = time.perf_counter() - start
                if name == "frostpane":
                    taken -= self.release
                    results["release"].append(self.release)
                    results["bytes"] = made
                results[name].append(taken)
                print(f"{self.fields} {name}: {taken:.1f} s", file=sys.stderr)
                results["shuffled"][name] = shuffled(self.spark) - before
        return results


def main() -> None:
    files = written(Path(sys.argv[1]))
    spark = session()
    frame = spark.read.parquet(str(files))
    results: dict[str, Any] = {"events of the stream": EVENTS}
    folder = Path(tempfile.mkdtemp())
    for unit, user in (("events", None), ("people", "user")):
        results[unit] = Measured(spark, frame, folder, user).turns()
    results["driver"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024
    spark.stop()
    shutil.rmtree(folder)
    json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
