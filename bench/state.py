"""A state on disk beside a release in memory, on the same files: the cost of ingestion, in turns; and the
time to open a state with a window of 100,000,000 events, and its size.

The arguments are the program and the folder of the files."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from programs import REPETITIONS, run

WINDOW = ["--window", "10000000", "--slide", "156250", "--policy", "uniform"]
LONG = 100_000_000
TIMES = 10


def quietly(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def begun(frostpane: str, state: Path, options: list[str]) -> None:
    shutil.rmtree(state, ignore_errors=True)
    quietly([frostpane, "init", str(state), *options])


def ingestion(frostpane: str, folder: Path) -> dict[str, dict[str, list[dict[str, float]]]]:
    state = folder / "state"
    results: dict[str, dict[str, list[dict[str, float]]]] = {}
    for kind in ["txt", "csv", "parquet"]:
        file = str(folder / f"events.{kind}")
        key = [] if kind == "txt" else ["--key", "key"]
        results[kind] = {"list": [], "ingest": []}
        for _ in range(REPETITIONS):
            results[kind]["list"].append(run([frostpane, "list", *key, *WINDOW, "--json", file]))
            begun(frostpane, state, [*key, *WINDOW])
            results[kind]["ingest"].append(run([frostpane, "ingest", str(state), file]))
    return results


def opening(frostpane: str, folder: Path) -> dict[str, object]:
    state, file = folder / "state", str(folder / "events.txt")
    begun(frostpane, state, ["--window", str(LONG)])
    for number in range(TIMES):
        quietly([frostpane, "ingest", str(state), file, "--id", str(number)])
    opened = []
    for _ in range(REPETITIONS):
        start = time.monotonic()
        quietly([frostpane, "release", str(state), "--dry-run"])
        opened.append(time.monotonic() - start)
    size = sum(os.path.getsize(file) for file in state.iterdir())
    shutil.rmtree(state)
    return {"window": LONG, "seconds": opened, "bytes": size}


def main(frostpane: str, folder: str) -> None:
    results = {"ingest": ingestion(frostpane, Path(folder)), "open": opening(frostpane, Path(folder))}
    json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
