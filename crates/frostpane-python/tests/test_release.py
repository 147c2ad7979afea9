"""Statements, renderings and conversions of a release."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import frostpane

matplotlib.use("agg")

HOSTILE = [
    "<script>alert(1)</script>",
    "a & b",
    '" onmouseover="x',
    "$\\frac{1}",
    "\x1b[31mred",
    "turned \u202e around",
    "東京 " * 30,
    "e" + "\u0301" * 500,
    "",
    b"not \xff text",
    "_{hidden}",
]


@pytest.fixture(scope="module")
def hostile() -> frostpane.Release:
    keys = [key.encode() if isinstance(key, str) else key for key in HOSTILE]
    return frostpane.top([key for place, key in enumerate(keys) for _ in range(2_000 + 100 * place)], top=20, delta=1e-7)


def test_keys_that_strangers_chose_stay_keys(hostile: frostpane.Release) -> None:
    page = hostile._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert 'onmouseover="x' not in page
    shown = str(hostile)
    for text in (page, shown):
        assert "\x1b" not in text and "\u202e" not in text
        assert "\\u{1b}[31mred" in text and "turned \\u{202e} around" in text
    # With any number of combining marks.
    assert max(map(len, shown.splitlines())) <= 400
    assert "not \\xff text" in [heavy.key for heavy in hostile]


def test_it_converts_to_frames_of_all_kinds(hostile: frostpane.Release) -> None:
    keys = [heavy.key for heavy in hostile]
    arrow, polars, pandas = hostile.to_arrow(), hostile.to_polars(), hostile.to_pandas()
    assert isinstance(arrow, pa.Table) and isinstance(polars, pl.DataFrame) and isinstance(pandas, pd.DataFrame)
    for columns in (arrow.to_pydict(), polars.to_dict(as_series=False), pandas.to_dict(orient="list")):
        assert list(columns) == ["key", "count", "low", "high"]
        assert columns["key"] == keys and columns["count"] == [heavy.count for heavy in hostile]
    assert pa.table(hostile) == arrow and pl.DataFrame(hostile).equals(polars)
    numbers = frostpane.top(np.array([2**63 + 1, 5] * 900, dtype=np.uint64), integers=True)
    assert numbers.to_arrow()["key"].type == pa.uint64()
    assert set(numbers.to_polars()["key"]) == {2**63 + 1, 5}


def test_it_is_a_picture_also_with_keys_that_are_no_formulas(hostile: frostpane.Release, tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    axes = hostile.plot()
    plt.figure(axes.figure.number)  # type: ignore[union-attr]
    plt.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5_000
    assert len(axes.patches) == len(hostile)
    _, given = plt.subplots()
    assert frostpane.top([]).plot(given) is given
    plt.savefig(tmp_path / "empty.png")
    plt.close("all")


def test_without_a_store_it_says_that_its_epsilon_is_for_itself_alone(tmp_path: Path) -> None:
    hitters = frostpane.HeavyHitters(top=3, releases=2)
    hitters.update(["a"] * 900)
    alone = [frostpane.top(["a"] * 900), hitters.release(), hitters.release()]
    for release in alone:
        said = " ".join(str(release).split())
        assert "This epsilon is for this release alone" in said and "by running this again" in said
        assert "This epsilon is for this release alone" in release._repr_html_() and release.id is None
    with frostpane.Store.create(tmp_path / "s", top=3) as store:
        store.update(["a"] * 900, id="a")
        kept = store.release("one")
    assert "alone" not in str(kept) and "alone" not in kept._repr_html_() and kept.id == "one"
    for listed in frostpane.watch(["a"] * 900, window=600, slide=300, top=1):
        assert "once for all lists" in " ".join(str(listed).split()) and "release alone" not in str(listed)


def test_it_reads_as_what_it_is() -> None:
    release = frostpane.top(["a"] * 5_000 + ["b"] * 100, top=2, epsilon=0.5, delta=1e-6)
    assert (release.epsilon, release.delta, release.confidence) == (0.5, 1e-6, 0.95)
    assert (release.window.events, release.window.begin, release.window.end) == (5_100, 0, 5_100)
    assert len(release) == 2 and release[0].low <= 5_000 <= release[0].high and release[:1] == (release[0],)
    assert release.complete_above >= release.nothing_below and release.threshold > 0
    assert release.to_json().startswith('{"version"') and release.to_dict()["top"] == 2
    assert repr(release) == "<Release of 2 keys, epsilon 0.5, delta 1e-06>"
    assert frostpane.top(["a"] * 100_000, alpha=0.1).held


def test_the_operator_is_warned_and_nobody_else() -> None:
    with pytest.warns(frostpane.OperatorWarning, match="epsilon is 50, but above 10 protects nobody") as warned:
        release = frostpane.top(["a"] * 900, epsilon=50)
    assert all("--" not in str(warning.message) for warning in warned)
    assert "protects nobody" not in str(release) and "protects nobody" not in release.to_json()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frostpane.top(["a"] * 2_000_000, epsilon=1)


def test_stages_add_up() -> None:
    asked: list[dict[str, Any]] = [{"top": 3}, {"alpha": 0.1}, {"alpha": 0.1, "per_user": 3, "window": "7d"}, {"policy": "smooth"}]
    for fields in asked:
        explained = frostpane.explain(epsilon=0.8, **fields)
        assert sum(stage.epsilon for stage in explained.stages) == pytest.approx(0.8)
        assert "how often each key occurred" in str(explained)
    assert frostpane.explain(keys=range(5)).delta == 0
    lists = frostpane.explain(continual=True, window=32_000, slide=1_000)
    assert [stage.times for stage in lists.stages] == [32, 1] and "however many" in str(lists)


def test_plans_come_true() -> None:
    plan = frostpane.plan(top=5, window=100_000, epsilon=1)
    release = frostpane.top(["a"] * 90_000 + ["b"] * plan.surely_listed, top=5)
    assert {heavy.key for heavy in release} == {"a", "b"}
    assert str(plan.threshold) in str(plan) and plan.memory < 64_000_000
    with pytest.raises(frostpane.ParameterError, match="say how many to expect, with events"):
        frostpane.plan(window="7d")
    hitters = frostpane.HeavyHitters(top=5, window=100_000)
    assert hitters.plan().to_dict() == plan.to_dict()
