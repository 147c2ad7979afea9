"""A private release of how many users a day came to each key by OpenDP with Polars, on two threads: keys open, epsilon 1, delta 1e-9.

A user's day is protected. Each key of it counts once, and so many keys of it count, the first ones.
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
