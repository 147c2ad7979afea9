"""Tables of docs/paper.md: `frostpane compare` on the real streams of shared/data and on a flat one.

python bench/paper.py target/release/frostpane ../shared/data
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

# Stream, window, alpha for L1 and for L2.
STREAMS = [
    ("nycflights_dest", 100_000, "0.01", "0.05"),
    ("homebrew_formula", 200_000, "0.002", "0.05"),
    ("flights_route", 1_000_000, "0.002", "0.05"),
    ("baseball_batter", 1_000_000, "0.001", "0.05"),
    ("flat", 200_000, "0.001", "0.1"),
]
CONTENDERS = [
    "Frostpane",
    "paper, noise as printed",
    "paper, noise by its proof",
    "paper, continual, as printed",
    "paper, continual, by its proof",
]


def flat(events: int) -> str:
    """Ten planted keys in a fiftieth of the events, and 100,000 keys at random."""
    draw = random.Random(1)
    keys = (f"planted{i // 50 % 10}" if i % 50 == 0 else draw.randrange(100_000) for i in range(events))
    return "".join(f"{key}\n" for key in keys)


def cell(contender: dict) -> str:
    """The mean error in parts of a heavy count, and the heavy keys missed and the light ones listed."""
    error = contender["mean_error"]
    shown = "-" if error is None else f"{error:.3f}" if error < 10 else f"{error:,.0f}"
    return f"{shown} ({contender['missed']:.0f}, {contender['wrong']:.0f})"


def main(program: str, data: str) -> None:
    """Prints one row for each stream and norm, and keeps all outcomes as JSON on standard error."""
    with tempfile.TemporaryDirectory() as folder:
        for norm in ("l1", "l2"):
            print(f"\n| {norm.upper()}, stream | alpha | heavy | " + " | ".join(CONTENDERS) + " |")
            print("|---" * (3 + len(CONTENDERS)) + "|")
            for name, window, *alphas in STREAMS:
                alpha = alphas[norm == "l2"]
                if name == "flat":
                    file, key = Path(folder) / "flat.txt", []
                    file.write_text(flat(2 * window))
                else:
                    file, key = Path(data) / f"{name}.tsv.zst", ["--key", "2"]
                options = ["--norm", norm, "--alpha", alpha, "--window", str(window), *key, "--json"]
                done = subprocess.run(
                    [program, "compare", *options, str(file)], stdout=subprocess.PIPE, text=True, check=True
                )
                print(done.stdout, file=sys.stderr)
                contest = json.loads(done.stdout)["contests"][0]
                found = {contender["name"]: contender for contender in contest["contenders"]}
                cells = [cell(found[name]) if name in found else "-" for name in CONTENDERS]
                print(
                    f"| {name} | {alpha} | {contest['heavy_keys']} | " + " | ".join(cells) + " |", flush=True
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
