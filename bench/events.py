"""Ten million events as text, CSV and Parquet, and ten million events of users as CSV and Parquet.

Keys are Zipf(1.1) over words of 6 to 20 letters: over a million words, and over 100,000 for the events of
a million users in seven days. The events of a tenth of the users are in a file of their own.
"""

import sys

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv, parquet

EVENTS, KEYS = 10_000_000, 1_000_000
USERS, KEYS_OF_USERS, SECONDS = 1_000_000, 100_000, 7 * 86_400


def keys_of(random: np.random.Generator, keys: int) -> pa.Array:
    cumulative = np.cumsum(np.arange(1, keys + 1, dtype=np.float64) ** -1.1)
    ranks = np.searchsorted(cumulative, random.random(EVENTS) * cumulative[-1])
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", dtype=np.uint8)
    rows = letters[random.integers(0, len(letters), (keys, 20))]
    lengths = random.integers(6, 21, keys)
    words = [row[:length].tobytes().decode() for row, length in zip(rows, lengths, strict=True)]
    return pa.array(words, pa.string()).take(pa.array(ranks))


def events(folder: str) -> None:
    random = np.random.default_rng(1)
    key = keys_of(random, KEYS)
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


def people(folder: str) -> None:
    """In order of time, from the start of 1970 on."""
    random = np.random.default_rng(2)
    key = keys_of(random, KEYS_OF_USERS)
    users = random.integers(0, USERS, EVENTS)
    ids = pa.array([f"u{number:07}" for number in range(USERS)], pa.string())
    table = pa.table(
        {
            "time": pa.array(np.sort(random.integers(0, SECONDS, EVENTS))),
            "user": ids.take(pa.array(users)),
            "key": key,
        }
    )
    csv.write_csv(table, f"{folder}/people.csv", csv.WriteOptions(quoting_style="none"))
    parquet.write_table(table, f"{folder}/people.parquet")
    some = compute.less(pa.array(users), USERS // 10)
    parquet.write_table(table.filter(some), f"{folder}/people-tenth.parquet")


if __name__ == "__main__":
    events(sys.argv[1])
    people(sys.argv[1])
