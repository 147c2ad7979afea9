"""The hundred most frequent keys of a file by Polars, on two threads."""

import os
import sys

os.environ["POLARS_MAX_THREADS"] = "2"

import polars as pl

file = sys.argv[1]
if file.endswith(".txt"):
    events = pl.scan_csv(file, has_header=False, schema={"key": pl.String}, separator="\t", quote_char=None)
elif file.endswith(".csv"):
    events = pl.scan_csv(file)
else:
    events = pl.scan_parquet(file)
frequent = events.group_by("key").len().sort("len", descending=True).head(100)
print(frequent.collect(engine="streaming").rows())
