"""The program beside DuckDB, Polars and OpenDP on the same files, continual release beside one release, and
releases of users beside DuckDB and OpenDP: wall time, processor time and peak memory, in turns.

The arguments are the program, the folder of the files, and `programs` or `people`."""

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


def commands_of_people(frostpane: str, folder: str) -> dict[str, dict[str, list[str]]]:
    """At most 1, 4 or 16 keys of a user and day, with the default memory and with enough for all users."""

    def ours(file: str, keys: int, memory: str) -> list[str]:
        columns = ["--user", "user", "--time", "time", "--key", "key", "--per-user", str(keys)]
        window = ["--window", "7d", "--until", "1970-01-08", "--top", "100", "--memory", memory]
        return [frostpane, "list", *columns, *window, "--json", file]

    jobs: dict[str, dict[str, list[str]]] = {}
    for kind in ["csv", "parquet"]:
        file = f"{folder}/people.{kind}"
        jobs[kind] = {
            f"frostpane, {keys} of a user and day, {memory}": ours(file, keys, memory)
            for memory in ["64MB", "1GB"]
            for keys in [1, 4, 16]
        }
        jobs[kind]["duckdb"] = [sys.executable, str(RIVALS / "duckdb_people.py"), file]
    tenth = f"{folder}/people-tenth.parquet"
    # OpenDP depends on a specific version of Polars.
    opendp = [f"{folder}/opendp/bin/python", str(RIVALS / "opendp_people.py"), tenth, "4"]
    jobs["tenth"] = {"frostpane": ours(tenth, 4, "64MB"), "opendp": opendp}
    return jobs


JOBS = {"programs": commands, "people": commands_of_people}


def main(frostpane: str, folder: str, jobs: str) -> None:
    results: dict[str, dict[str, list[dict[str, float]]]] = {}
    for job, contenders in JOBS[jobs](frostpane, folder).items():
        results[job] = {name: [] for name in contenders}
        for _ in range(REPETITIONS):
            for name, command in contenders.items():
                results[job][name].append(run(command))
    json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
