"""A private release of the users of each key and day by OpenDP with Polars, on two threads: keys open,
epsilon 1, delta 1e-9.

The unit is a user and day: each key counts once, and only the first keys count.
"""

import os
import sys

os.environ["POLARS_MAX_THREADS"] = "2"

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")

file, per_user = sys.argv[1], int(sys.argv[2])
user_day = pl.concat_str("user", pl.col("time") // 86_400, separator=" ")
context = dp.Context.compositor(
    data=pl.scan_parquet(file).select("key", user_day=user_day),
    privacy_unit=dp.unit_of(contributions=1, identifier="user_day"),
    privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-9),
    split_evenly_over=1,
    margins=[dp.polars.Margin(by=[], max_length=10_000_000)],
)
once = context.query().truncate_per_group(1, by=["key"], keep="first")
counts = once.truncate_per_group(per_user, keep="first").group_by("key").agg(dp.len())
print(counts.release().collect().height)
