"""Discrete Gaussian values drawn per second by Frostpane and by OpenDP, in turns."""

import json
import subprocess
import sys
from pathlib import Path

REPETITIONS = 5
DEVIATIONS = ["5.5", "25"]
RIVAL = Path(__file__).parent / "rivals" / "opendp_gaussian.py"


def main(bench: str) -> None:
    results: dict[str, dict[str, list[float]]] = {}
    for deviation in DEVIATIONS:
        contenders = {
            "frostpane": [bench, "gaussian", deviation],
            "opendp": [sys.executable, str(RIVAL), deviation],
        }
        rates = results[deviation] = {name: [] for name in contenders}
        for _ in range(REPETITIONS):
            for name, command in contenders.items():
                done = subprocess.run(command, check=True, capture_output=True)
                rates[name].append(float(done.stdout))
    json.dump(results, sys.stdout, indent=1)


main(sys.argv[1])
