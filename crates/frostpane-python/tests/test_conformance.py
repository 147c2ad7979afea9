"""Odd input, and the events that it is: the table that every edge is tested with.

A store knows a source by all of its events: one that was given the events of the table has nothing new to take from the file, and refuses a file with
other events.
"""

from __future__ import annotations

import json
import warnings
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import frostpane

TABLE: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "frostpane-events/tests/conformance.json").read_text())
STORES: dict[str, dict[str, Any]] = {
    "count": {"window": 1_000, "slide": 100},
    "clock": {"window": "3d", "slide": "1d"},
    "user": {"window": "3d", "user": True, "per_user": 4, "begin": "2025-11-01"},
}


def _bytes(value: Any) -> bytes:
    """Each character is a byte; a list is of parts, and ``["x", 3]`` is a part three times."""
    if isinstance(value, str):
        return value.encode("latin-1")
    if len(value) == 2 and isinstance(value[1], int):
        return _bytes(value[0]) * value[1]
    return b"".join(map(_bytes, value))


def _optional(value: Any) -> bytes | None:
    return None if value is None else _bytes(value)


def _moment(micros: int) -> datetime:
    return datetime(1970, 1, 1) + timedelta(microseconds=micros)


@pytest.mark.parametrize("mode", STORES)
def test_files_are_the_events_of_the_table(mode: str, tmp_path: Path) -> None:
    store = frostpane.Store.create(tmp_path / "store", top=5, **STORES[mode])
    named = {"count": [], "clock": ["time"], "user": ["time", "user"]}[mode]
    columns: dict[str, Any] = {name: name for name in named}
    for row in TABLE:
        if row["mode"] != mode or row["format"] == "json":
            continue
        name, events = row["name"], row["events"]
        file = tmp_path / ("row." + ("txt" if row["format"] == "text" else row["format"]))
        file.write_bytes(_bytes(row["body"]))
        key = None if row["format"] == "text" else "key"
        given: dict[str, Any] = {}
        if mode != "count":
            given["time"] = [_moment(time) for time, _, _ in events]
        if mode == "user":
            given["user"] = [_optional(user) for _, _, user in events]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert store.update([_optional(key) for _, key, _ in events], id=name, **given).new == len(events), name
            if row["waiting"]:
                with pytest.raises(frostpane.InputError, match="no event has a time"):
                    store.update(file, id=name, key=key, **columns)
            else:
                assert store.update(file, id=name, key=key, **columns).new == 0, name


SPECS: dict[str, dict[str, Any]] = {
    "count": {"window": 1_000, "slide": 100, "top": 5},
    "clock": {"window": "12h", "slide": "1h", "lateness": "1h", "top": 5},
    "user": {"window": "3d", "top": 5, "per_user": 1, "epoch": "1d"},
}
OUTCOMES: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "frostpane-events/tests/outcomes.json").read_text())


@pytest.mark.parametrize("row", OUTCOMES, ids=lambda row: row["name"])
def test_a_store_says_what_became_of_the_events_of_the_table(row: dict[str, Any], tmp_path: Path) -> None:
    now = datetime.now(timezone.utc)
    moments = [None if seconds is None else now + timedelta(seconds=seconds) for seconds, _, _ in row["events"]]
    file = tmp_path / "events.jsonl"
    lines = [
        {"key": key, "user": user} | ({} if moment is None else {"time": moment.isoformat()})
        for moment, (_, key, user) in zip(moments, row["events"])
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    names: dict[str, Any] = {"count": {}, "clock": {"time": "time"}, "user": {"time": "time", "user": "user"}}[row["mode"]]
    with frostpane.Store.create(tmp_path / "store", **SPECS[row["mode"]]) as store:
        taken = store.update(file, id="events", key="key", **names)
    outcomes = ("counted", "late", "ahead", "without_key", "without_user")
    assert {name: getattr(taken, name) for name in outcomes} == {name: row[name] for name in outcomes}


def test_an_empty_key_is_none_in_columns_too() -> None:
    hitters = frostpane.HeavyHitters(window=1_000, top=5)
    hitters.update(["", b"", "a", None])
    assert hitters.counted.without_key == 3


def test_a_user_who_is_empty_or_longer_than_64_kib_is_nobody() -> None:
    visits = frostpane.HeavyHitters(user="who", key="page", time="at", window="7d", per_user=2, until="2026-03-02")
    users = ["", "u" * 65_536, "u" * 65_537]
    visits.update({"who": users, "page": ["/"] * 3, "at": ["2026-03-01"] * 3})
    assert visits.counted.without_user == 2


def test_a_whole_date_is_a_date_in_columns_too() -> None:
    pages = frostpane.HeavyHitters(window="2d", slide="1d", top=5, until="2025-11-17")
    pages.update({"page": ["a"] * 3, "at": [20251116, "20251116", 20251116.0]}, key="page", time="at")
    assert pages.counted.outside == 1, "a float is a Unix time"


def test_files_give_the_same_as_their_columns(tmp_path: Path) -> None:
    keys = [f"k{number % 7}" for number in range(5_000)]
    for part in range(2):
        lines = "".join(f"{key}\n" for key in keys[part::2])
        (tmp_path / f"part-{part}.csv").write_text("page\n" + lines)
    of_columns = frostpane.top(keys, top=3, epsilon=100_000.0)
    for files in (str(tmp_path), str(tmp_path / "part-*.csv"), tmp_path):
        of_files = frostpane.top(files, key="page", top=3, epsilon=100_000.0)
        assert {heavy.key: heavy.count for heavy in of_files} == {heavy.key: heavy.count for heavy in of_columns}
    with pytest.raises(frostpane.ColumnError, match="there is no column"):
        frostpane.top(tmp_path, key="pages", top=3)
    with pytest.raises(frostpane.InputError, match="there is no such file"):
        frostpane.top(str(tmp_path / "none.csv"), key="page", top=3)
