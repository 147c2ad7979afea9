"""The program beside DuckDB, Polars and OpenDP on the same files, and a list at every slide beside one list:
wall time and peak memory, in turns."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

REPETITIONS = 5
RIVALS = Path(__file__).parent / "rivals"


def run(command: list[str]) -> dict[str, float]:
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return {
        "seconds": seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "bytes": usage.ru_maxrss * 1024,
    }


def commands(frostpane: str, folder: str) -> dict[str, dict[str, list[str]]]:
    jobs: dict[str, dict[str, list[str]]] = {}
    for kind in ["txt", "csv", "parquet"]:
        file = f"{folder}/events.{kind}"
        key = [] if kind == "txt" else ["--key", "key"]
        jobs[kind] = {
            "frostpane": [frostpane, "list", *key, "--window", "10000000", "--json", file],
            "duckdb": [sys.executable, str(RIVALS / "duckdb_count.py"), file],
            "polars": [sys.executable, str(RIVALS / "polars_count.py"), file],
        }
    text = f"{folder}/events.txt"
    jobs["private"] = {
        "frostpane": jobs["txt"]["frostpane"],
        "opendp": [sys.executable, str(RIVALS / "opendp_release.py"), "library", text],
        "opendp, counted in a dict": [sys.executable, str(RIVALS / "opendp_release.py"), "dict", text],
    }
    window = ["--window", "1000000", "--json", text]
    jobs["slides"] = {"frostpane": [frostpane, "list", *window], "watch": [frostpane, "watch", *window]}
    return jobs


def main(frostpane: str, folder: str) -> None:
    results: dict[str, dict[str, list[dict[str, float]]]] = {}
    for job, contenders in commands(frostpane, folder).items():
        results[job] = {name: [] for name in contenders}
        for _ in range(REPETITIONS):
            for name, command in contenders.items():
                results[job][name].append(run(command))
    json.dump(results, sys.stdout, indent=1)


main(sys.argv[1], sys.argv[2])
