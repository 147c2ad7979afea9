"""The Python package beside Rust, OpenDP with Polars, and PipelineDP, in turns: the processor time to ingest
a column, and the wall time of one private release of a frame of ten million rows and of an import.

The arguments are the executable of the Rust measurements and the folder of the files and environments."""

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import frostpane
import numpy as np
import polars as pl
from pyarrow import parquet

from programs import REPETITIONS, RIVALS

warnings.simplefilter("ignore")

EVENTS, KEYS = 10_000_000, 1_000_000
PER_USER = 4
# One release of PipelineDP takes minutes.
TIMES = {"frostpane": REPETITIONS, "frostpane, 4GB": REPETITIONS, "opendp": 3, "pipelinedp": 1}


def counted(column: Any, integers: bool) -> float:
    """Processor seconds to ingest a column."""
    hitters = frostpane.HeavyHitters(window=EVENTS, integers=integers)
    hitters.update(column[:1])
    start = time.thread_time()
    hitters.update(column)
    return time.thread_time() - start


def columns(bench: str, folder: Path) -> dict[str, dict[str, list[float]]]:
    text = parquet.read_table(folder / "events.parquet", columns=["key"])["key"]
    views = pl.from_arrow(text)
    cumulative = np.cumsum(np.arange(1, KEYS + 1, dtype=np.float64) ** -1.1)
    random = np.random.default_rng(3)
    integers = np.searchsorted(cumulative, random.random(EVENTS) * cumulative[-1])
    (folder / "integers").write_bytes(integers.astype("<u8").tobytes())
    given = {
        "text": {"arrow strings": text, "polars string views": views},
        "integers": {"numpy uint64": integers.astype(np.uint64), "numpy int64": integers.astype(np.int64)},
    }
    files = {"text": folder / "events.txt", "integers": folder / "integers"}
    results: dict[str, dict[str, list[float]]] = {}
    for kind, contenders in given.items():
        results[kind] = {"rust": [], **{name: [] for name in contenders}}
        for _ in range(REPETITIONS):
            command = [bench, "columns", kind, str(files[kind])]
            results[kind]["rust"].append(
                float(subprocess.run(command, check=True, capture_output=True).stdout)
            )
            for name, column in contenders.items():
                results[kind][name].append(counted(column, kind == "integers"))
    return results


def release(python: str, script: str, *arguments: str) -> float:
    command = [python, str(RIVALS / f"{script}_frame.py"), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def releases(folder: Path) -> dict[str, dict[str, list[float]]]:
    results: dict[str, dict[str, list[float]]] = {}
    for unit, file, per_user in [("events", "events.parquet", 1), ("people", "people.parquet", PER_USER)]:
        arguments = [str(folder / file), unit, str(per_user)]
        contenders = {
            "frostpane": (sys.executable, "frostpane", "64MB"),
            "frostpane, 4GB": (sys.executable, "frostpane", "4GB"),
            "opendp": (f"{folder}/opendp/bin/python", "opendp"),
            "pipelinedp": (f"{folder}/pipelinedp/bin/python", "pipelinedp"),
        }
        results[unit] = {name: [] for name in contenders}
        for turn in range(REPETITIONS):
            for name, (python, script, *memory) in contenders.items():
                if turn < TIMES[name]:
                    results[unit][name].append(release(python, script, *arguments, *memory))
    return results


def imports(folder: Path) -> dict[str, list[float]]:
    """Seconds from the start of the interpreter to its end."""
    contenders = {
        "nothing": (sys.executable, "pass"),
        "frostpane": (sys.executable, "import frostpane"),
        "opendp": (f"{folder}/opendp/bin/python", "import opendp.prelude"),
        "polars": (sys.executable, "import polars"),
    }
    results: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(4 * REPETITIONS):
        for name, (python, code) in contenders.items():
            start = time.monotonic()
            subprocess.run([python, "-c", code], check=True)
            results[name].append(time.monotonic() - start)
    return results


def main(bench: str, folder: str) -> None:
    work = Path(folder)
    results = {"columns": columns(bench, work), "import": imports(work), "release": releases(work)}
    json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
