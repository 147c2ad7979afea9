"""Memory of the program beside its plan, on streams that fill every pane."""

import json
import os
import subprocess
import sys

WINDOWS = [1_000_000, 10_000_000, 100_000_000]


def lines(events: int, slide: int, entries: int):
    """Fills each pane with keys that are just frequent enough; one event in twenty has a unique key."""
    kept = slide * 19 // 20 // (slide // (entries + 1) + 1)
    for start in range(0, events, 100_000):
        chunk = []
        for event in range(start, min(events, start + 100_000)):
            if event % 20 == 0:
                key = event
            else:
                key = 1 << 40 | (event // slide * kept + (event - event // 20) % kept)
            chunk.append(f"{key:016x}\n")
        yield "".join(chunk).encode()


def measure(frostpane: str, window: int) -> dict[str, float]:
    request = ["--window", str(window), "--policy", "uniform", "--json"]
    plan = json.loads(subprocess.run([frostpane, "plan", *request], check=True, capture_output=True).stdout)
    process = subprocess.Popen(
        [frostpane, "list", *request],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for chunk in lines(window * 5 // 4, plan["plan"]["slide"], plan["plan"]["entries"]):
        process.stdin.write(chunk)
    process.stdin.close()
    _, _, usage = os.wait4(process.pid, 0)
    return {"window": window, "planned": plan["memory"], "measured": usage.ru_maxrss * 1024}


json.dump([measure(sys.argv[1], window) for window in WINDOWS], sys.stdout, indent=1)
