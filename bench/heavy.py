"""The number of L1 and of L2 heavy hitters of real streams at alpha 1/500, as the table of docs/paper.md.

    python bench/heavy.py [FOLDER]

FOLDER has the streams, by default ../shared/data; zstd unpacks them.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

STREAMS = ["baseball_batter", "flights_route", "homebrew_formula", "nycflights_dest"]
# One over alpha.
SHARE = 500


def heavy(counts: list[int]) -> tuple[int, int]:
    """The keys with at least alpha of the L1 norm, and of the L2 norm."""
    events, squares = sum(counts), sum(count**2 for count in counts)
    of_l1 = sum(count * SHARE >= events for count in counts)
    of_l2 = sum((count * SHARE) ** 2 >= squares for count in counts)
    return of_l1, of_l2


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "shared" / "data")
    print("| stream | events | keys | L1 | L2 |\n|---|---|---|---|---|")
    for name in STREAMS:
        unpack = ["zstd", "-dcq", folder / f"{name}.tsv.zst"]
        lines = subprocess.run(unpack, check=True, stdout=subprocess.PIPE).stdout.splitlines()
        counts = list(Counter(line.split(b"\t", 1)[1] for line in lines).values())
        l1, l2 = heavy(counts)
        print(f"| {name} | {sum(counts)} | {len(counts)} | {l1} | {l2} |")


if __name__ == "__main__":
    main()
