"""The same ten million events as text, CSV and Parquet: Zipf(1.1) over a million words of 6 to 20 letters."""

import sys

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

EVENTS, KEYS = 10_000_000, 1_000_000


def main(folder: str) -> None:
    random = np.random.default_rng(1)
    cumulative = np.cumsum(np.arange(1, KEYS + 1, dtype=np.float64) ** -1.1)
    ranks = np.searchsorted(cumulative, random.random(EVENTS) * cumulative[-1])
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", dtype=np.uint8)
    rows = letters[random.integers(0, len(letters), (KEYS, 20))]
    lengths = random.integers(6, 21, KEYS)
    words = [row[:length].tobytes().decode() for row, length in zip(rows, lengths, strict=True)]
    key = pa.array(words, pa.string()).take(pa.array(ranks))
    table = pa.table(
        {
            "time": pa.array(1_700_000_000 + np.arange(EVENTS) // 100),
            "key": key,
            "size": pa.array(random.integers(0, 100_000, EVENTS)),
        }
    )
    plain = csv.WriteOptions(include_header=False, quoting_style="none")
    csv.write_csv(pa.table({"key": key}), f"{folder}/events.txt", plain)
    csv.write_csv(table, f"{folder}/events.csv", csv.WriteOptions(quoting_style="none"))
    parquet.write_table(table, f"{folder}/events.parquet")


main(sys.argv[1])
