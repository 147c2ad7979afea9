"""Invalid input is refused with a message, and nothing is counted or charged."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import frostpane
from conftest import NOISELESS, UNTIL

GOOD = pa.table(
    {
        "page": ["/", "/a"] * 50,
        "at": pa.array([1_764_900_000_000_000] * 100, type=pa.timestamp("us")),
        "who": [f"u{n}" for n in range(100)],
    }
)


def hitters(**fields: Any) -> frostpane.HeavyHitters:
    asked = {"window": "7d", "until": UNTIL, "all": True, "epsilon": NOISELESS, "key": "page", "time": "at", "user": "who", **fields}
    return frostpane.HeavyHitters(**asked)


WRONG_COLUMNS: dict[str, tuple[str, Any, str]] = {
    "boolean keys": ("page", pa.array([True] * 100), "the column page holds Boolean, but keys are text, bytes or whole numbers"),
    "keys of time": ("page", GOOD["at"], "the column page holds Timestamp"),
    "nested keys": ("page", pa.array([["a"]] * 100), "the column page holds List"),
    "run-end keys": ("page", pa.RunEndEncodedArray.from_arrays([100], ["/"]), "the column page holds RunEndEncoded"),
    "text as times": ("at", pa.array(["2025-12-07"] * 100), "the column at holds Utf8, but times are timestamps, dates or numbers"),
    "durations as times": ("at", pa.array([5] * 100, type=pa.duration("s")), "the column at holds Duration"),
    "times of day": ("at", pa.array([5] * 100, type=pa.time32("s")), "the column at holds Time32"),
    "decimals as times": ("at", pa.array([5] * 100, type=pa.decimal128(5)), "the column at holds Decimal128"),
    "boolean users": ("who", pa.array([True] * 100), "the column who holds Boolean, but users are text, bytes or whole numbers"),
}


@pytest.mark.parametrize("name", WRONG_COLUMNS)
def test_a_type_that_cannot_be_read_is_named(name: str) -> None:
    column, values, message = WRONG_COLUMNS[name]
    place = GOOD.column_names.index(column)
    visits = hitters()
    with pytest.raises(frostpane.InputError, match=re.escape(message)):
        visits.update(GOOD.set_column(place, column, values))
    assert visits.counted.rows == 0
    visits.update(GOOD)
    assert sum(heavy.count for heavy in visits.release()) == 100


WRONG_KEYS: dict[str, tuple[Callable[[], Any], str]] = {
    "booleans of numpy": (lambda: np.array([True]), "the array of keys holds bool"),
    "booleans of pandas": (lambda: pd.Series([True, False]), "the array of keys holds bool"),
    "booleans of polars": (lambda: pl.Series([True]), "the column of keys holds Boolean"),
    "long doubles of numpy": (lambda: np.array([1], dtype=np.longdouble), "the array of keys holds"),
    "moments of numpy": (lambda: np.array(["2025-12-01"], dtype="datetime64[D]"), "the array of keys holds datetime64"),
    "two dimensions": (lambda: np.zeros((2, 2), dtype=int), "2 dimensions"),
    "one float": (lambda: 0.5, "float is no column of keys"),
    "nothing": (lambda: None, "NoneType is no column of keys"),
    "a lazy frame": (lambda: pl.LazyFrame({"a": [1]}), "collect it first"),
}


@pytest.mark.parametrize("name", WRONG_KEYS)
def test_keys_that_cannot_be_read_are_named(name: str) -> None:
    make, message = WRONG_KEYS[name]
    keys = frostpane.HeavyHitters()
    with pytest.raises(frostpane.InputError, match=re.escape(message)):
        keys.update(make())
    assert keys.counted.rows == 0


def test_a_source_that_fails_late_has_counted_nothing() -> None:
    keys = frostpane.HeavyHitters(all=True, epsilon=NOISELESS)
    keys.update(["a"] * 10)

    def failing() -> Any:
        yield from ["a"] * 1_000
        raise RuntimeError("the source has failed")

    with pytest.raises(RuntimeError, match="the source has failed"):
        keys.update(failing())
    assert keys.release()[0].count == 10


def test_a_stream_that_fails_in_the_middle_has_counted_nothing() -> None:
    def batches() -> Any:
        yield GOOD.to_batches()[0]
        raise RuntimeError("the source has failed")

    visits = hitters()
    with pytest.raises(frostpane.InputError, match="the source has failed"):
        visits.update(pa.RecordBatchReader.from_batches(GOOD.schema, batches()))
    assert visits.counted.rows == 0


def test_a_missing_column_is_named_with_those_that_are_there() -> None:
    for table in (GOOD, GOOD.to_pandas(), pl.from_arrow(GOOD), GOOD.to_pydict()):
        with pytest.raises(frostpane.ColumnError, match="there is no column url: there are page, at, who"):
            hitters(key="url").update(table)
    twice = pa.table([["a"], ["b"]], names=["page", "page"])
    with pytest.raises(frostpane.ColumnError, match="several columns page"):
        frostpane.top(twice, key="page")
    doubled = pd.DataFrame([["a", "b"]], columns=["page", "page"])
    with pytest.raises(frostpane.ColumnError, match="several columns page"):
        frostpane.top(doubled, key="page")


def test_columns_that_are_needed_are_asked_for() -> None:
    missing: list[tuple[dict[str, Any], str]] = [
        ({"key": None}, "say which column holds the keys, with key"),
        ({"time": None}, "a window by time needs the times of the events"),
        ({"user": None, "per_user": 1}, "users are protected, but nothing says whose an event is"),
    ]
    for given, message in missing:
        with pytest.raises(frostpane.ParameterError, match=message):
            hitters(**given).update(GOOD)
    events = frostpane.HeavyHitters()
    with pytest.raises(frostpane.ParameterError, match="users were given, but what is protected is the key of one event"):
        events.update(["a"], user=["u"])
    with pytest.raises(frostpane.ParameterError, match="is the name of a column, but the events are a single column"):
        events.update(pa.array(["a"]), time="at")
    with pytest.raises(frostpane.InputError, match="there are 2 keys and 3 times"):
        events.update(["a", "b"], time=[1, 2, 3])


def test_nulls_are_events_without_a_key_and_of_nobody() -> None:
    table = pa.table(
        {
            "page": ["/", None, "/", "/", "/"],
            "at": pa.array([1_764_900_000_000_000] * 4 + [None], type=pa.timestamp("us")),
            "who": ["a", "b", None, "c", "d"],
        }
    )
    visits = hitters()
    visits.update(table)
    counted = visits.counted
    assert (counted.rows, counted.without_key, counted.without_user, counted.without_time) == (5, 1, 1, 1)
    assert [heavy.count for heavy in visits.release()] == [2]
    nothing = frostpane.HeavyHitters(all=True)
    nothing.update([None, None])
    nothing.update(pa.nulls(3))
    nothing.update(["a"])
    assert nothing.counted.without_key == 5


def test_times_outside_the_calendar_are_left_out() -> None:
    times = pa.array([2**62, -(2**62), *[1_764_900_000] * 3], type=pa.timestamp("s"))
    pages = frostpane.HeavyHitters(window="7d", until=UNTIL, all=True, epsilon=NOISELESS)
    pages.update(["/"] * 5, time=times)
    assert (pages.counted.without_time, pages.release()[0].count) == (2, 3)
    missing = pd.Series([None, pd.NaT, pd.NA, float("nan"), "2025-12-05", "2025-12-05"], dtype=object)
    others = frostpane.HeavyHitters(window="7d", until=UNTIL, all=True, epsilon=NOISELESS)
    others.update(["/"] * 6, time=missing)
    assert (others.counted.without_time, others.release()[0].count) == (4, 2)
    with pytest.raises(frostpane.InputError, match="no event has a time"):
        frostpane.top(["/"], time=pa.nulls(1), window="1d")


def test_empty_frames_are_no_events() -> None:
    for empty in (GOOD[:0], GOOD.to_pandas()[:0], pl.from_arrow(GOOD)[:0], pa.Table.from_batches([], GOOD.schema)):
        visits = hitters(epsilon=1)
        visits.update(empty)
        release = visits.release()
        assert len(release) == 0 and "The list is empty" in str(release)
    nothings: list[Any] = [[], (), np.array([], dtype=int), pa.array([], type=pa.string_view()), pa.chunked_array([], type=pa.string())]
    for nothing in nothings:
        release = frostpane.top(nothing)
        assert len(release) == 0 and "The list is empty" in release._repr_html_()
        assert release.to_polars().shape[0] == release.to_arrow().num_rows == len(release.to_pandas()) == 0
        assert release.to_arrow()["key"].type == pa.large_string()


def test_a_window_that_takes_no_more_events_says_so_and_is_still_there() -> None:
    pages = frostpane.HeavyHitters(window="7d", until=UNTIL, all=True, epsilon=NOISELESS, releases=2)
    pages.update(["/"] * 5, time=["2025-12-05"] * 5)
    first = pages.release()
    for _ in range(2):
        with pytest.raises(frostpane.WindowError, match="takes no more events"):
            pages.update(["/"] * 5, time=["2025-12-05"] * 5)
    assert pages.release() == first
    visits = frostpane.Watch(user="who", window="2d", slide="1d", top=3)
    for _ in range(2):
        with pytest.raises(frostpane.WindowError):
            visits.update(["/"], time=["2025-12-05"], user=["a"])
    assert visits.advance("2025-12-05") == []


def test_no_column_decides_what_keys_are() -> None:
    for first, second in ((["80"], np.array([80])), (np.array([80]), ["80"]), ([80], pa.array([80.0])), (pd.Series([80, None]), [b"80"])):
        for fields, key in (({}, "80"), ({"integers": True}, 80)):
            ports = frostpane.HeavyHitters(all=True, epsilon=NOISELESS, **fields)  # type: ignore[arg-type]
            for _ in range(20):
                ports.update(first)
                ports.update(second)
            assert [(heavy.key, heavy.count) for heavy in ports.release()] == [(key, 40)]


def test_people_need_an_end_that_is_told() -> None:
    with pytest.raises(frostpane.ParameterError, match="users are protected, so events do not say where the windows end: give until"):
        frostpane.HeavyHitters(user="who", window="7d")
    with pytest.raises(frostpane.ParameterError, match="give until"):
        frostpane.top(GOOD, key="page", time="at", user="who", window="7d")
    with pytest.raises(frostpane.ParameterError, match="give until"):
        frostpane.watch(GOOD, key="page", time="at", user="who", window="7d", slide="1d")
    with pytest.raises(frostpane.ParameterError, match="window"):
        frostpane.HeavyHitters(user="who", window=1_000, until=1_000)


def test_an_exhausted_budget_says_what_was_asked_spent_and_left() -> None:
    pages = frostpane.HeavyHitters(window=1_000, top=3, epsilon=0.5, delta=1e-8, releases=2)
    pages.update(["/"] * 900)
    pages.release()
    pages.release()
    with pytest.raises(frostpane.InsufficientBudgetError) as refused:
        pages.release()
    error = refused.value
    assert error.asked and error.spent and error.left
    assert (error.asked.epsilon, error.spent.epsilon, error.left.epsilon) == (0.5, 1.0, 0.0)
    assert (error.asked.delta, error.spent.delta) == (1e-8, 2e-8)


def test_a_store_that_cannot_pay_says_when_it_can(tmp_path: Path) -> None:
    with frostpane.Store.create(tmp_path / "s", window=1_000, slide=100, top=3, epsilon=0.5, integers=True) as store:
        store.update(np.arange(950) % 5, id="a")
        store.release("one")
        before = store.budget()
        with pytest.raises(frostpane.InsufficientBudgetError) as refused:
            store.release("two")
        error = refused.value
        assert error.asked and error.spent and error.left
        assert (error.asked.epsilon, error.spent.epsilon, error.left.epsilon) == (0.5, 0.5, 0.0)
        assert error.when == "event 1900" or (error.when or "").startswith("event")
        assert store.budget() == before and store.releases() == ["one"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"epsilon": -1}, "epsilon is -1, but must be above 0"),
        ({"epsilon": "much"}, "invalid type"),
        ({"epsilom": 1}, "unknown field `epsilom`"),
        ({"window": "a month"}, "expected a number of events, a time such as"),
        ({"window": 0}, "the window is 0 events"),
        ({"top": 0}, "top is 0"),
        ({"norm": "l3"}, "unknown variant `l3`"),
        ({"until": "soon", "window": "1d"}, "soon is no time"),
        ({"keys": "no such file"}, "cannot be read"),
        ({"per_user": 0, "window": "1d", "until": UNTIL}, "per_user is 0"),
        ({"memory": "1kB"}, "too small"),
    ],
)
def test_parameters_are_refused_in_the_words_of_the_program(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(frostpane.ParameterError, match=message):
        frostpane.HeavyHitters(**fields)
    assert issubclass(frostpane.ParameterError, ValueError)
