"""The hundred most frequent keys of a file by DuckDB, on two threads."""

import sys

import duckdb

file = sys.argv[1]
if file.endswith(".txt"):
    source = f"read_csv('{file}', header=false, columns={{'key': 'VARCHAR'}}, delim='\t', quote='', auto_detect=false)"
else:
    source = f"'{file}'"
query = f"SELECT key, count(*) AS events FROM {source} GROUP BY key ORDER BY events DESC LIMIT 100"
print(duckdb.connect(config={"threads": 2}).execute(query).fetchall())
