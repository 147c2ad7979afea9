"""A private release of the rows of a Parquet file by PipelineDP on this machine: keys open, epsilon 1, delta
1e-9. Writes its seconds, without reading the rows.

With `events` each row is of a different user; with `people` the unit is a user and day, and each of the
first keys counts once. The arguments are the file, `events` or `people` and, with `people`, the number of
keys.
"""

import sys
import time

import pipeline_dp
from pyarrow import parquet

file, unit, per_user = sys.argv[1:]
table = parquet.read_table(file)
keys = table["key"].to_pylist()
if unit == "events":
    rows = list(enumerate(keys))
else:
    days = (second // 86_400 for second in table["time"].to_pylist())
    rows = [((user, day), key) for user, day, key in zip(table["user"].to_pylist(), days, keys, strict=True)]
start = time.monotonic()
budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=1e-9)
engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
asked = pipeline_dp.AggregateParams(
    metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
    noise_kind=pipeline_dp.NoiseKind.LAPLACE,
    max_partitions_contributed=int(per_user),
    max_contributions_per_partition=1,
)
columns = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: 1,
)
release = engine.aggregate(rows, asked, columns)
budget.compute_budgets()
released = list(release)
seconds = time.monotonic() - start
print(len(released), seconds)
