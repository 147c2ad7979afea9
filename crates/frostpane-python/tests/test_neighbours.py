"""Neighbours that differ in one event with an odd user, key or time: only that event is affected."""

from __future__ import annotations

import datetime
import decimal
import fractions
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import frostpane
from conftest import NOISELESS, START, UNTIL

USERS = [-number for number in range(1, 1_001)]
KEYS = [7, 8, -9] * 300
DAY = START + 6 * 86_400_000_000
ID = uuid.UUID(int=5)


# A listed key has more events than one, in its usual form.
SAME = {True: 20, False: 0}


class Strange:
    """An object of an unknown type."""

    def __str__(self) -> str:
        raise RuntimeError("it is asked for its text")

    __repr__ = __index__ = __float__ = __hash__ = __bool__ = __str__  # type: ignore[assignment]


# The key and user that each value stands for: its text, or none.
VALUES: dict[str, tuple[Any, str | None]] = {
    "text": ("seven", "seven"),
    "text of digits": ("17", "17"),
    "text that is no Unicode": ("\ud800", None),
    "bytes": (b"\xc3\xa9", "é"),
    "a bytearray": (bytearray(b"ab"), "ab"),
    "none": (None, None),
    "0": (0, "0"),
    "2 to the 63": (2**63, str(2**63)),
    "2 to the 64": (2**64, str(2**64)),
    "2 to the 70": (2**70, str(2**70)),
    "below -2 to the 63": (-(2**63) - 1, str(-(2**63) - 1)),
    "an integer of 4,000 digits": (10**4_000 - 1, "9" * 4_000),
    "an integer of 5,000 digits": (10**5_000, None),
    "true": (True, None),
    "a whole float": (17.0, "17"),
    "a float below 0": (-17_000.0, "-17000"),
    "a fraction": (1.5, None),
    "a float that skips integers": (2.0**53, None),
    "not a number": (float("nan"), None),
    "infinite": (float("inf"), None),
    "an int16 of numpy": (np.int16(-3_000), "-3000"),
    "a uint64 of numpy": (np.uint64(2**63), str(2**63)),
    "a float32 of numpy": (np.float32(5), "5"),
    "a float64 of numpy": (np.float64(5.5), None),
    "a bool of numpy": (np.True_, None),
    "text of numpy": (np.str_("ash"), "ash"),
    "a moment of numpy": (np.datetime64("2025-12-01"), None),
    "a decimal": (decimal.Decimal("1.70E+1"), "17"),
    "a decimal with a fraction": (decimal.Decimal("17.5"), None),
    "a decimal that is too long": (decimal.Decimal("1E+999999"), None),
    "a decimal that is none": (decimal.Decimal("sNaN"), None),
    "a ratio": (fractions.Fraction(17, 1), None),
    "a complex number": (5 + 0j, None),
    "a UUID": (ID, str(ID)),
    "a datetime": (datetime.datetime(2025, 12, 1), None),
    "a date": (datetime.date(2025, 12, 1), None),
    "a list": ([5], None),
    "a tuple": ((5,), None),
    "a dict": ({}, None),
    "an array": (np.array([5]), None),
    "NA": (pd.NA, None),
    "NaT": (pd.NaT, None),
    "anything else": (Strange(), None),
}


def objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        array[row] = value
    return array


# Containers that accept any value.
CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": lambda values: values,
    "tuple": tuple,
    "generator": iter,
    "numpy": objects,
    "pandas": lambda values: pd.Series(objects(values), dtype=object),
    "polars": lambda values: pl.Series(values, dtype=pl.Object),
}


def listed(users: Any, keys: Any = None, **fields: Any) -> tuple[dict[Any, int], frostpane.hitters.Counted]:
    rows = len(USERS) + 1
    hitters = frostpane.HeavyHitters(user="u", window="7d", until=UNTIL, all=True, epsilon=NOISELESS, **fields)
    hitters.update(["x"] * rows if keys is None else keys, time=np.full(rows, DAY), user=users)
    return {heavy.key: heavy.count for heavy in hitters.release()}, hitters.counted


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", VALUES)
def test_one_user_moves_no_other(name: str, container: str) -> None:
    value, text = VALUES[name]
    hold = CONTAINERS[container]
    for place in (0, len(USERS)):
        users = [*USERS[:place], value, *USERS[place:]]
        counts, counted = listed(hold(users))
        assert counts == {"x": 1_000 + (text is not None)}
        assert (counted.rows, counted.without_user) == (1_001, int(text is None))


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("name", VALUES)
def test_one_key_moves_no_other(name: str, container: str) -> None:
    value, text = VALUES[name]
    hold, same = CONTAINERS[container], SAME[text is not None]
    for place in (0, len(KEYS)):
        hitters = frostpane.HeavyHitters(window=1_000, all=True, epsilon=NOISELESS)
        hitters.update([text] * same)
        hitters.update(hold([*KEYS[:place], value, *KEYS[place:]]))
        counts = {heavy.key: heavy.count for heavy in hitters.release()}
        assert counts == {"7": 300, "8": 300, "-9": 300} | ({} if text is None else {text: same + 1})
        assert (hitters.counted.rows, hitters.counted.without_key) == (901 + same, int(text is None))


@pytest.mark.parametrize("name", VALUES)
def test_one_key_moves_no_other_where_keys_are_integers(name: str) -> None:
    value, text = VALUES[name]
    number = int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 30 else None
    asked: list[tuple[dict[str, Any], int]] = [({"integers": True}, 2**64), ({"keys": range(20)}, 20)]
    for fields, end in asked:
        for hold in CONTAINERS.values():
            hitters = frostpane.HeavyHitters(window=1_000, all=True, epsilon=NOISELESS, **fields)
            hitters.update(np.array([7] * 20 if number is None or number >= end else [number] * 20, dtype=np.uint64))
            hitters.update(hold([value, *KEYS]))
            counts = {heavy.key: heavy.count for heavy in hitters.release() if heavy.count}
            assert counts == ({7: 320, 8: 300} if number is None or number >= end else {7: 300, 8: 300, number: 21})


def a_frame(values: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"u": values})


# Containers that choose one type for all values.
CHOOSERS: dict[str, Callable[[list[Any]], Any]] = {
    "numpy.array": np.array,
    "numpy.asarray, strided": lambda values: np.repeat(np.asarray(values), 2)[::2],
    "pandas.Series": pd.Series,
    "pandas.Index": pd.Index,
    "pandas.DataFrame": lambda values: a_frame(values)["u"],
    "pandas, nullable": lambda values: pd.Series(values).convert_dtypes(),
    "pandas, as categories": lambda values: pd.Series(values, dtype="category"),
    "polars.Series": lambda values: pl.Series(values, strict=False),
    "polars, as decimals": lambda values: pl.Series(values, dtype=pl.Decimal(38, 0)),
    "pyarrow.array": lambda values: pa.array(values, from_pandas=True),
    "pyarrow, as decimals": lambda values: pa.array(values, type=pa.decimal256(50, 4)),
    "pyarrow, from pandas": lambda values: pa.Table.from_pandas(a_frame(values))["u"],
    "pyarrow, as a dictionary": lambda values: pa.array(values, from_pandas=True).dictionary_encode(),
}
ODD: dict[str, tuple[Any, int]] = {
    "none": (None, 0),
    "not a number": (float("nan"), 0),
    "a fraction": (0.5, 0),
    "2 to the 63": (2**63, 1),
    "2 to the 70": (2**70, 1),
    "text": ("ann", 1),
    "bytes": (b"ann", 1),
}


def takes(chooser: str, odd: Any) -> bool:
    """Some libraries refuse such columns themselves."""
    try:
        CHOOSERS[chooser]([*USERS, odd])
    except (TypeError, ValueError, ArithmeticError):
        return False
    return True


@pytest.mark.parametrize(("chooser", "name"), [(chooser, name) for chooser in CHOOSERS for name in ODD if takes(chooser, ODD[name][0])])
def test_one_value_that_changes_the_type_of_a_column_moves_no_other(chooser: str, name: str) -> None:
    odd, count = ODD[name]
    choose = CHOOSERS[chooser]
    users, keys = choose([*USERS, odd]), choose([*KEYS, odd])
    # A float cannot represent these integers: that event alone is lost.
    is_float = "float" in str(getattr(users, "dtype", "")) or "double" in str(getattr(users, "type", ""))
    count -= is_float and count and isinstance(odd, int)
    counts, counted = listed(users)
    assert counts == {"x": 1_000 + count} and counted.without_user == 1 - count
    hitters = frostpane.HeavyHitters(window=1_000, all=True, epsilon=NOISELESS)
    hitters.update(keys)
    counts = {heavy.key: heavy.count for heavy in hitters.release()}
    assert {key: counts.pop(key, 0) for key in ("7", "8", "-9")} == {"7": 300, "8": 300, "-9": 300}
    assert not counts and hitters.counted.without_key == 1 - count


TIMES: dict[str, tuple[Any, int]] = {
    "none": (None, 0),
    "not a number": (float("nan"), 0),
    "infinite": (float("inf"), 0),
    "NaT": (pd.NaT, 0),
    "true": (True, 0),
    "no time": ("soon", 0),
    "bytes": (b"2025-12-07", 0),
    "beyond 64 bits": (2**70, 0),
    "beyond the calendar": ("99999-01-01", 0),
    "a list": ([5], 0),
    "anything else": (Strange(), 0),
    "seconds": (DAY // 1_000_000, 1),
    "seconds with a fraction": (DAY / 1_000_000 + 0.5, 1),
    "milliseconds": (DAY // 1_000, 1),
    "nanoseconds": (DAY * 1_000, 1),
    "text": ("2025-12-07T08:00:00Z", 1),
    "a date as text": ("2025-12-07", 1),
    "a date": (datetime.date(2025, 12, 7), 1),
    "a datetime": (datetime.datetime(2025, 12, 7, 23, tzinfo=datetime.timezone.utc), 1),
    "a moment of numpy": (np.datetime64("2025-12-07T08"), 1),
    "a timestamp of pandas": (pd.Timestamp("2025-12-07T12", tz="Asia/Tokyo"), 1),
    "the year 1": (datetime.date(1, 1, 1), 0),
    "1970": (0, 0),
}
# Times of others, in units of every size.
OTHERS: dict[str, Any] = {"seconds": DAY // 1_000_000, "microseconds": DAY, "text": "2025-12-07", "datetimes": datetime.datetime(2025, 12, 7)}


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("name", TIMES)
def test_one_time_moves_no_other(name: str, others: str) -> None:
    odd, count = TIMES[name]
    for container, hold in CONTAINERS.items():
        for place in (0, 1_000):
            times = [OTHERS[others]] * 1_000
            times.insert(place, odd)
            hitters = frostpane.HeavyHitters(user="u", window="1d", until=UNTIL, all=True, epsilon=NOISELESS)
            hitters.update(["x"] * 1_001, time=hold(times), user=list(range(1_001)))
            assert [heavy.count for heavy in hitters.release()] == [1_000 + count], container


@pytest.mark.parametrize("unit", [1, 1_000, 1_000_000])
def test_a_missing_time_that_makes_floats_of_integers_moves_no_other(unit: int) -> None:
    moments = [DAY + 1_000_000 * second for second in range(1_000)]
    for choose in (pd.Series, lambda times: np.array(times, dtype=float), lambda times: pa.array(times, type=pa.float64())):
        hitters = frostpane.HeavyHitters(user="u", window="1d", until=UNTIL, all=True, epsilon=NOISELESS)
        hitters.update(["x"] * 1_001, time=choose([*(moment // unit for moment in moments), None]), user=list(range(1_001)))
        assert [heavy.count for heavy in hitters.release()] == [1_000]
        assert (hitters.counted.without_time, hitters.counted.outside) == (1, 0)


def test_in_every_way_in_one_user_moves_no_other(tmp_path: Path) -> None:
    columns: dict[str, Any] = {"key": "k", "time": "t", "user": "u"}
    asked: dict[str, Any] = {"window": "2d", "all": True, "epsilon": NOISELESS}
    for odd, count in ((2**63, 1), (2**70, 1), (None, 0), (0.5, 0), ("ann", 1), (True, 0)):
        table: dict[str, list[Any]] = {"k": ["x"] * 1_001, "t": [DAY] * 1_001, "u": [odd, *USERS]}
        frames: list[Any] = [table, pd.DataFrame(table), pd.DataFrame({**table, "u": objects(table["u"])})]
        for number, frame in enumerate(frames):
            releases = [frostpane.top(frame, until=UNTIL, **columns, **asked)]
            releases += list(frostpane.watch(frame, until=UNTIL, slide="1d", **columns, **asked))[-1:]
            with frostpane.Store.create(tmp_path / f"{odd} {number}", user=True, begin="2025-12-01", **asked) as store:
                store.update(frame, id="one", until=UNTIL, **columns)
                releases.append(store.release("one"))
            assert [[(heavy.key, heavy.count) for heavy in release] for release in releases] == [[("x", 1_000 + count)]] * 3


def test_columns_of_which_nothing_can_be_read_are_pointed_out_to_the_operator() -> None:
    for keys in ([0.5, 1.5], np.array([0.5]), pa.array([0.5]), pa.table({"k": pa.array([0.5])}), {"k": [Strange()]}):
        hitters = frostpane.HeavyHitters(key="k")
        with pytest.warns(frostpane.OperatorWarning, match="none of the keys can be read: keys are text, bytes or whole numbers"):
            hitters.update(keys)
        assert hitters.counted.without_key == hitters.counted.rows
    visits = frostpane.HeavyHitters(user="u", window="1d", until=UNTIL)
    with pytest.warns(frostpane.OperatorWarning, match="none of the users"):
        visits.update(["x"], time=[DAY], user=[0.5])
