"""Stores."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frostpane
from conftest import NOISELESS, Stream


def test_an_id_is_one_release_also_in_another_process(tmp_path: Path) -> None:
    with frostpane.Store.create(tmp_path / "s", window=1_000, slide=100, top=3, releases=2) as store:
        assert store.update(["a", "b", "a"] * 300, id="monday").new == 900
        cost = store.dry_run()
        assert (cost.charge.epsilon, cost.left) == (1.0, 1)
        first = store.release("monday")
        assert (first.again, store.budget().left) == (False, 1)
    script = f"import frostpane; print(frostpane.Store.open({str(tmp_path / 's')!r}).release('monday').to_json())"
    again = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert again.strip() == first.to_json()
    with frostpane.Store.open(tmp_path / "s") as store:
        kept = store.release("monday")
        assert kept.again and kept == first and str(kept) == str(first)
        with pytest.raises(frostpane.ConflictError, match="give this one another id"):
            store.release("monday", window=500)
        assert all(record["what"] for record in store.history()) and len(store.history()) >= 2


def test_events_count_once_under_an_id_and_other_events_are_refused(tmp_path: Path) -> None:
    with frostpane.Store.create(tmp_path / "s", window=10_000, slide=10_000, all=True, epsilon=NOISELESS) as store:
        assert store.update(["a"] * 500, id="x").new == 500
        assert store.update(["a"] * 700, id="x").new == 200
        assert store.update(["a"] * 700, id="x").new == 0
        with pytest.raises(frostpane.ConflictError, match="does not begin with the events"):
            store.update(["b"] * 700, id="x")
        with pytest.raises(frostpane.ConflictError, match="fewer events"):
            store.update(["a"] * 600, id="x")
        assert store.update(["a"] * 800, id="x").new == 100
        with pytest.raises(frostpane.InputError):
            store.update(np.array([True]), id="y")
        assert store.update(["a"] * 100, id="y").new == 100
        assert store.release("one")[0].count == 900


def test_one_process_has_it_at_a_time_and_others_can_look(tmp_path: Path) -> None:
    with frostpane.Store.create(tmp_path / "s", window=1_000, slide=100, top=3) as store:
        store.update(["a"] * 500, id="x")
        script = (
            "import frostpane, sys\n"
            f"folder = {str(tmp_path / 's')!r}\n"
            "print(frostpane.Store.read_budget(folder).left)\n"
            "try:\n    frostpane.Store.open(folder)\nexcept frostpane.BusyError:\n    print('busy')\n"
        )
        said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
        assert said.split() == ["1", "busy"]


def test_people_day_by_day_and_a_budget_that_renews_itself(stream: Stream, tmp_path: Path) -> None:
    with frostpane.Store.create(tmp_path / "s", window="3d", slide="1d", top=5, epsilon=0.5, per_user=3, releases=1, begin="2025-12-01") as store:
        assert store.spec.unit["user"]["per_user"] == 3  # type: ignore[index]
        columns = {"key": stream.pages, "time": stream.times, "user": stream.users}
        store.update(columns, id="week", key="key", time="time", user="user", until="2025-12-05")
        release = store.release("thursday")
        assert (release.window.begin, release.window.end) == ("2025-12-02T00:00:00Z", "2025-12-05T00:00:00Z")
        with pytest.raises(frostpane.InsufficientBudgetError) as refused:
            store.release("again")
        assert refused.value.when == "2025-12-08T00:00:00Z"
        budget = store.budget()
        assert budget.left == 0 and budget.more == ("2025-12-08T00:00:00Z", 1)
        assert "0 more releases fit now" in str(budget)
        store.advance("2025-12-08")
        assert store.budget().left == 1 and len(store.release("sunday")) == 0
        with pytest.raises(frostpane.ParameterError, match="nothing says whose an event is"):
            store.update({"key": ["a"], "time": [1]}, id="z", key="key", time="time")


def test_forgotten_panes_are_in_no_later_release_and_stay_paid_for(stream: Stream, tmp_path: Path) -> None:
    fields: dict[str, Any] = {"window": "7d", "slide": "1d", "all": True, "epsilon": NOISELESS, "releases": 2}
    with frostpane.Store.create(tmp_path / "a", **fields) as source:
        begun = source.spec
    with frostpane.Store.open(tmp_path / "a") as source, frostpane.Store.create(tmp_path / "b", like=source) as store:
        assert store.spec == begun and store.id != source.id
        store.update({"key": stream.pages, "time": stream.times}, id="week", key="key", time="time")
        before = {heavy.key: heavy.count for heavy in store.release("before")}
        store.forget("2025-12-05", "2025-12-07")
        after = {heavy.key: heavy.count for heavy in store.release("after")}
        days = [str(np.datetime64(time, "us"))[:10] for page, time in zip(stream.pages, stream.times) if page == "page 1 é"]
        forgotten = sum("2025-12-05" <= day <= "2025-12-06" for day in days)
        assert forgotten > 0 and before["page 1 é"] - after["page 1 é"] == forgotten
        with pytest.raises(frostpane.InsufficientBudgetError):
            store.release("once more")
        with pytest.raises(frostpane.WindowError, match="no closed pane"):
            store.forget("2025-12-05", "2025-12-07")


def test_a_list_at_every_slide_outlives_the_process(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"window": 4_000, "slide": 1_000, "top": 2, "continual": True}
    with frostpane.Store.create(tmp_path / "s", **fields) as store:
        first = store.update(["a", "b", "a"] * 800, id="x").lists
        assert len(first) == 2 and "once for all lists" in " ".join(str(first[0]).split())
    with frostpane.Store.open(tmp_path / "s") as store:
        second = store.update(["a"] * 700, id="y").lists
        assert len(second) == 1
        assert store.lists() == first + second and store.lists(after=2) == second
        with pytest.raises(frostpane.WindowError, match="one at every slide"):
            store.release("single")


def test_a_restored_copy_is_noticed_and_its_past_is_spent(tmp_path: Path) -> None:
    import shutil

    folder, witness = tmp_path / "s", tmp_path / "witness"
    with frostpane.Store.create(folder, window="3d", slide="1d", top=2, witness=witness) as store:
        store.update({"k": ["a"] * 90, "t": ["2025-12-01"] * 90}, id="x", key="k", time="t")
    shutil.copytree(folder, tmp_path / "backup")
    with frostpane.Store.open(folder) as store:
        store.release("one")
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "backup", folder)
    with pytest.raises(frostpane.ConflictError, match=r"Store\.restore"):
        frostpane.Store.open(folder)
    with frostpane.Store.restore(folder) as store:
        assert store.budget().left == 0
        with pytest.raises(frostpane.InsufficientBudgetError) as refused:
            store.release("two")
        assert refused.value.spent and refused.value.spent.epsilon == float("inf")


def test_folders_that_are_no_stores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(frostpane.StateError):
        frostpane.Store.open(tmp_path / "nothing")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    with pytest.raises(frostpane.StateError):
        frostpane.Store.create(tmp_path / "full", top=3)
    with pytest.raises(frostpane.ParameterError, match="until is given, but a stream that is kept goes on"):
        frostpane.Store.create(tmp_path / "s", window="1d", until="2025-12-01")
    with pytest.raises(TypeError, match=r"Store\.create begins"):
        frostpane.Store()


DAY = 86_400


@pytest.mark.parametrize(
    ("seconds", "until", "counts"),
    [
        ([1], None, [0, 1]),
        ([1, 1], None, [0, 1]),
        ([0], None, [0, 1]),
        ([-1], None, [1, 0]),
        ([-1, 1], None, [1, 1]),
        ([1, -1], None, [1, 1]),
        ([-1], 0, [1, 0]),
        ([1], 0, [0, 0]),
        ([1, -1], 0, [0, 0]),
        ([-DAY - 1], None, [0, 0]),
        ([30 * DAY], None, [0, 0]),
    ],
)
def test_an_event_of_a_user_counts_in_the_epoch_of_its_own_time(tmp_path: Path, seconds: list[int], until: int | None, counts: list[int]) -> None:
    """One event after the other, each at a given moment or now, in seconds from midnight a week ago."""
    midnight = (int(time.time()) // DAY - 7) * DAY
    kept: dict[str, Any] = {"window": "1d", "slide": "1d", "continual": True, "keys": ["base", "x"], "top": 2, "epsilon": NOISELESS}
    with frostpane.Store.create(tmp_path / "s", per_user=1, epoch="1d", begin=midnight - DAY, **kept) as store:
        for number, second in enumerate(seconds):
            row = {"key": ["x"], "time": [(midnight + second) * 1_000_000], "user": ["challenge"]}
            told = None if until is None else midnight + until
            store.update(row, id=str(number), key="key", time="time", user="user", until=told)
        store.advance(midnight + DAY)
        found = [{heavy.key: heavy.count for heavy in each.heavy} for each in store.lists()]
    assert [each.get("x", 0) for each in found] == counts


def test_a_clock_that_is_far_ahead_ends_nothing_until_it_is_accepted(tmp_path: Path) -> None:
    kept: dict[str, Any] = {"window": "1d", "slide": "1d", "continual": True, "keys": ["base", "x"], "top": 2, "epsilon": NOISELESS}
    begin = int(time.time()) - 320 * DAY
    with frostpane.Store.create(tmp_path / "s", per_user=1, epoch="1d", begin=begin, **kept) as store:
        before = store.now
        with pytest.raises(frostpane.ConflictError, match="accept_clock=True"):
            store.advance()
        assert store.now == before and not store.lists()
        assert len(store.advance(accept_clock=True)) in (319, 320)
        assert store.advance() == []
