"""Equal events in any container have equal counts."""

from __future__ import annotations

import collections
import datetime
import itertools
from collections.abc import Callable
from typing import Any

import datafusion
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import frostpane
from conftest import NOISELESS, START, UNTIL, Stream

TEXT = ["snow", None, "rain", "snow", "", "fög", "snow", "rain"] * 500
INTEGERS = [7, 9, 7, 2**40, 7, 0, 9, 7] * 500


def counts(release: frostpane.Release) -> dict[Any, int]:
    return {heavy.key: heavy.count for heavy in release}


def expected(keys: list[Any]) -> dict[Any, int]:
    return dict(collections.Counter(key for key in keys if key not in (None, "", b"")))


def listed(events: Any, **columns: Any) -> dict[Any, int]:
    return counts(frostpane.top(events, all=True, epsilon=NOISELESS, **columns))


def chunked(kind: pa.DataType) -> pa.ChunkedArray:
    """A column in chunks of all lengths, some of them empty."""
    array = pa.array(TEXT, type=kind)
    cuts = [0, 0, 1, 17, 17, 900, 4_000]
    return pa.chunked_array([array[a:b] for a, b in itertools.pairwise(cuts)])


def sliced(kind: pa.DataType) -> pa.Array:
    return pa.array(["before", *TEXT, "after", None], type=kind)[1:-2]


COLUMNS: dict[str, Callable[[], Any]] = {
    "a list": lambda: TEXT,
    "a tuple": lambda: tuple(TEXT),
    "a generator": lambda: (key for key in TEXT),
    "bytes": lambda: [None if key is None else key.encode() for key in TEXT],
    "bytearrays": lambda: [None if key is None else bytearray(key.encode()) for key in TEXT],
    "numpy objects": lambda: np.array(TEXT, dtype=object),
    "pandas objects": lambda: pd.Series(TEXT, dtype=object),
    "pandas strings": lambda: pd.Series(TEXT, dtype="string"),
    "pandas strings of Arrow": lambda: pd.Series(TEXT, dtype=pd.ArrowDtype(pa.string())),
    "pandas categories": lambda: pd.Series(TEXT, dtype="category"),
    "a pandas index": lambda: pd.Index(TEXT),
    "polars": lambda: pl.Series(TEXT),
    "polars categories": lambda: pl.Series(TEXT, dtype=pl.Categorical),
    "polars slice": lambda: pl.Series(["before", *TEXT]).slice(1),
    "polars in chunks": lambda: pl.concat([pl.Series(TEXT[:700]), pl.Series(TEXT[700:])], rechunk=False),
    "utf8": lambda: pa.array(TEXT),
    "large utf8": lambda: pa.array(TEXT, type=pa.large_string()),
    "utf8 view": lambda: pa.array(TEXT, type=pa.string_view()),
    "binary": lambda: pa.array(TEXT, type=pa.binary()),
    "large binary": lambda: pa.array(TEXT, type=pa.large_binary()),
    "binary view": lambda: pa.array(TEXT, type=pa.binary_view()),
    "dictionary": lambda: pa.array(TEXT).dictionary_encode(),
    "dictionary of small indices": lambda: pa.array(TEXT, type=pa.dictionary(pa.int8(), pa.large_string())),
    "sliced dictionary": lambda: sliced(pa.string()).dictionary_encode()[0:],
    "chunks": lambda: chunked(pa.string()),
    "chunks of views": lambda: chunked(pa.string_view()),
    "chunks of dictionaries": lambda: chunked(pa.string()).dictionary_encode(),
    "a slice": lambda: sliced(pa.string()),
    "a slice of views": lambda: sliced(pa.string_view()),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_text_is_counted_whatever_holds_it(name: str) -> None:
    assert listed(COLUMNS[name]()) == expected(TEXT)


def test_bytes_of_one_length_and_bytes_that_are_not_text() -> None:
    fixed = pa.array([b"ab", b"\xff\x00", None, b"ab"] * 100, type=pa.binary(2))
    assert listed(fixed) == {"ab": 200, "\\xff\x00": 100}
    release = frostpane.top(fixed, epsilon=NOISELESS)
    assert "\\xff\\u{0}" in str(release) and "\\xff" in release._repr_html_()


NUMBERS: dict[str, Callable[[], Any]] = {
    "a list": lambda: INTEGERS,
    "numpy int64": lambda: np.array(INTEGERS),
    "numpy uint64": lambda: np.array(INTEGERS, dtype=np.uint64),
    "numpy with gaps": lambda: np.repeat(np.array(INTEGERS), 2)[::2],
    "numpy backwards": lambda: np.array(INTEGERS)[::-1],
    "numpy big endian": lambda: np.array(INTEGERS, dtype=">i8"),
    "pandas": lambda: pd.Series(INTEGERS),
    "pandas with nulls": lambda: pd.Series(INTEGERS, dtype="Int64"),
    "polars": lambda: pl.Series(INTEGERS),
    "arrow": lambda: pa.array(INTEGERS),
    "arrow uint64": lambda: pa.array(INTEGERS, type=pa.uint64()),
    "arrow dictionary": lambda: pa.array(INTEGERS).dictionary_encode(),
    "arrow slice": lambda: pa.array([1, *INTEGERS, None])[1:-1],
    "numpy objects": lambda: np.array(INTEGERS, dtype=object),
    "numpy float64": lambda: np.array(INTEGERS, dtype=float),
    "numpy with a mask": lambda: np.ma.array(INTEGERS, mask=False),
    "pandas objects": lambda: pd.Series(INTEGERS, dtype=object),
    "pandas with a gap": lambda: pd.Series([*INTEGERS, None]),
    "pandas categories": lambda: pd.Series(INTEGERS, dtype="category"),
    "polars objects": lambda: pl.Series(INTEGERS, dtype=pl.Object),
    "polars int128": lambda: pl.Series(INTEGERS, dtype=pl.Int128),
    "polars decimal": lambda: pl.Series(INTEGERS, dtype=pl.Decimal(30, 3)),
    "arrow double": lambda: pa.array(INTEGERS, type=pa.float64()),
    "arrow decimal": lambda: pa.array(INTEGERS, type=pa.decimal256(60, 2)),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_integers_are_counted_whatever_holds_them(name: str) -> None:
    """Integers are their digits, unless keys are integers."""
    assert listed(NUMBERS[name]()) == expected([str(number) for number in INTEGERS])
    assert listed(NUMBERS[name](), integers=True) == expected(INTEGERS)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
def test_narrow_integers_are_counted(kind: str) -> None:
    small = [number % 100 for number in INTEGERS]
    assert listed(np.array(small, dtype=kind), integers=True) == expected(small)
    assert listed(pa.array([*small, None], type=kind), integers=True) == expected(small)


def test_where_keys_are_integers_those_below_0_and_beyond_64_bits_are_none() -> None:
    hitters = frostpane.HeavyHitters(all=True, epsilon=NOISELESS, integers=True)
    hitters.update([5, -1, None, 2**64, 2**63] * 100)
    assert counts(hitters.release()) == {5: 100, 2**63: 100}
    assert (hitters.counted.rows, hitters.counted.without_key) == (500, 300)
    text = frostpane.HeavyHitters(all=True, epsilon=NOISELESS)
    text.update([5, -1, None, 2**64, 2**63] * 100)
    assert counts(text.release()) == {str(number): 100 for number in (5, -1, 2**64, 2**63)}
    assert (text.counted.rows, text.counted.without_key) == (500, 100)


def test_integers_are_text_where_declared_keys_are_and_text_is_read_where_they_are_integers() -> None:
    assert listed(np.array([80, 443, 80, -7] * 90), keys=["80", "-7"]) == {"80": 180, "-7": 90}
    assert listed(["80", "443", "x", "80"] * 90, keys=range(100)) == {80: 180}


def table(stream: Stream) -> pa.Table:
    return pa.table(
        {
            "other": [0.5] * len(stream.times),
            "page": stream.pages,
            "at": pa.array(stream.times, type=pa.timestamp("us", tz="UTC")),
            "who": stream.users,
        }
    )


def reader(stream: Stream) -> pa.RecordBatchReader:
    return table(stream).to_reader(max_chunksize=999)


TABLES: dict[str, Callable[[Stream], Any]] = {
    "pyarrow": table,
    "pyarrow in chunks": lambda stream: pa.Table.from_batches(table(stream).to_batches(max_chunksize=777)),
    "a stream": reader,
    "a batch": lambda stream: table(stream).combine_chunks().to_batches()[0],
    "a slice": lambda stream: pa.concat_tables([table(stream)[:5], table(stream)])[5:],
    "pandas": lambda stream: table(stream).to_pandas(),
    "pandas without a zone": lambda stream: table(stream).to_pandas().assign(at=lambda frame: frame["at"].dt.tz_localize(None)),
    "polars": lambda stream: pl.from_arrow(table(stream)),
    "duckdb": lambda stream: duckdb.from_arrow(table(stream)),
    "datafusion": lambda stream: datafusion.SessionContext().from_arrow(table(stream)),
    "a mapping": lambda stream: {"page": stream.pages, "at": stream.times, "who": stream.users},
    "a mapping of columns": lambda stream: {
        "page": pl.Series(stream.pages),
        "at": np.array(stream.times, dtype="datetime64[us]"),
        "who": pa.array(stream.users).dictionary_encode(),
    },
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("people", [False, True])
def test_tables_are_counted_whatever_holds_them(name: str, people: bool, stream: Stream) -> None:
    fields: dict[str, Any] = {"window": "7d", "until": UNTIL, "top": 30, "epsilon": NOISELESS, "key": "page", "time": "at"}
    if people:
        # With more keys than count, a secret hash chooses: no user has more in a day.
        fields |= {"user": "who", "per_user": 40, "per_key": 2}
    first = frostpane.top(TABLES["a mapping"](stream), **fields)
    assert frostpane.top(TABLES[name](stream), **fields) == first
    if not people:
        pages = collections.Counter(stream.pages)
        assert counts(first) == {key: pages[key] for key in counts(first)} and len(first) == 30


TIMES: dict[str, Callable[[list[int]], Any]] = {
    "datetimes": lambda times: [datetime.datetime.fromtimestamp(t // 1_000_000, datetime.timezone.utc) for t in times],
    "text": lambda times: [datetime.datetime.fromtimestamp(t // 1_000_000, datetime.timezone.utc).isoformat() for t in times],
    "seconds": lambda times: [t // 1_000_000 for t in times],
    "milliseconds": lambda times: np.array(times) // 1_000,
    "microseconds": lambda times: np.array(times, dtype=np.uint64),
    "nanoseconds": lambda times: pa.array([t * 1_000 for t in times]),
    "timestamps of seconds": lambda times: pa.array([t // 1_000_000 for t in times], type=pa.timestamp("s")),
    "timestamps of milliseconds": lambda times: pa.array([t // 1_000 for t in times], type=pa.timestamp("ms", tz="Europe/Berlin")),
    "timestamps of nanoseconds": lambda times: pa.array([t * 1_000 for t in times], type=pa.timestamp("ns")),
    "numpy nanoseconds": lambda times: np.array(times, dtype="datetime64[us]").astype("datetime64[ns]"),
    "polars": lambda times: pl.Series(times).cast(pl.Datetime("us")),
    "pandas": lambda times: pd.to_datetime(pd.Series(times), unit="us"),
    "dictionaries": lambda times: pa.array(times, type=pa.timestamp("us")).dictionary_encode(),
}


@pytest.mark.parametrize("name", TIMES)
def test_times_are_read_whatever_holds_them(name: str) -> None:
    times = [START + 1_000_000 * second for second in range(0, 700_000, 700)]
    release = frostpane.top(["a"] * len(times), time=TIMES[name](times), window="2d", until="2025-12-05", epsilon=NOISELESS)
    within = sum(START + 2 * 86_400_000_000 <= time < START + 4 * 86_400_000_000 for time in times)
    assert counts(release) == {"a": within}


def test_days_end_with_the_day_and_early_times_are_not_taken_for_seconds() -> None:
    days = pa.array([datetime.date(2025, 12, 1 + n % 3) for n in range(300)])
    release = frostpane.top(["a"] * 300, time=days, window="2d", epsilon=NOISELESS)
    assert (release.window.begin, release.window.end, release[0].count) == ("2025-12-02T00:00:00Z", "2025-12-04T00:00:00Z", 200)
    early = np.array([5, 6, 7], dtype="datetime64[s]")
    release = frostpane.top(["a"] * 3, time=early, window="2s", epsilon=NOISELESS)
    assert (release.window.end, release[0].count) == ("1970-01-01T00:00:08Z", 2)


def test_one_event_at_a_time_is_the_same_as_all_at_once() -> None:
    together = frostpane.HeavyHitters(window=50, all=True, epsilon=NOISELESS, slide=10)
    together.update(TEXT[:120])
    single = frostpane.HeavyHitters(window=50, all=True, epsilon=NOISELESS, slide=10)
    for key in TEXT[:120]:
        single.update([None] if key is None else key)
    assert single.release() == together.release()
    visits = frostpane.HeavyHitters(user="who", window="1d", until=UNTIL, all=True, epsilon=NOISELESS)
    for user in range(30):
        visits.update(b"/", time="2025-12-07T12:00:00Z", user=str(user))
        visits.update("/", time=datetime.datetime(2025, 12, 7, 13), user=f"{user}")
    assert counts(visits.release()) == {"/": 30}
