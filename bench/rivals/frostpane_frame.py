"""A private release of a Polars frame by Frostpane's Python package: the hundred most frequent keys, keys
open, epsilon 1, delta 1e-9. Writes its seconds, without reading the frame.

The arguments are the file, `events` or `people`, the keys that count of a user and day, and the memory.
"""

import sys
import time
import warnings

import frostpane
import polars as pl

warnings.simplefilter("ignore")

file, unit, per_user, memory = sys.argv[1:]
frame = pl.read_parquet(file)
start = time.monotonic()
if unit == "events":
    release = frostpane.top(frame, key="key", window=frame.height, top=100, memory=memory)
else:
    asked = {"window": "7d", "until": "1970-01-08", "per_user": int(per_user), "top": 100, "memory": memory}
    release = frostpane.top(frame, key="key", time="time", user="user", **asked)
seconds = time.monotonic() - start
print(len(release), seconds)
