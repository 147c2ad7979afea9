"""A private release of a Polars frame by OpenDP, on two threads: keys open, epsilon 1, delta 1e-9. Writes its
seconds, without reading the frame.

With `people` the unit is a user and day: each key counts once, and only the first keys count. The
arguments are the file, `events` or `people` and, with `people`, the number of keys.
"""

import os
import sys
import time

os.environ["POLARS_MAX_THREADS"] = "2"

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")

file, unit, per_user = sys.argv[1:]
frame = pl.read_parquet(file)
start = time.monotonic()
if unit == "events":
    data, protected = frame.lazy().select("key"), dp.unit_of(contributions=1)
else:
    user_day = pl.concat_str("user", pl.col("time") // 86_400, separator=" ")
    data = frame.lazy().select("key", user_day=user_day)
    protected = dp.unit_of(contributions=1, identifier="user_day")
context = dp.Context.compositor(
    data=data,
    privacy_unit=protected,
    privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-9),
    split_evenly_over=1,
    margins=[dp.polars.Margin(by=[], max_length=10_000_000)],
)
query = context.query()
if unit == "people":
    query = query.truncate_per_group(1, by=["key"], keep="first").truncate_per_group(
        int(per_user), keep="first"
    )
release = query.group_by("key").agg(dp.len()).release().collect()
seconds = time.monotonic() - start
print(release.height, seconds)
