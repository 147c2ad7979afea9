"""The hundred keys with the most users, by DuckDB on two threads: each user counts once for a key."""

import sys

import duckdb

query = f"SELECT key, count(DISTINCT user) AS users FROM '{sys.argv[1]}' GROUP BY key ORDER BY users DESC LIMIT 100"
print(duckdb.connect(config={"threads": 2}).execute(query).fetchall())
