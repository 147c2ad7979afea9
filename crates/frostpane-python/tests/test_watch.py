"""Continual releases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import frostpane
from conftest import NOISELESS, Stream


def test_lists_come_as_soon_as_they_are_due() -> None:
    asked: list[int] = []

    def source() -> Iterator[Any]:
        for number in range(3):
            asked.append(number)
            yield ["a"] * 1_000

    lists = frostpane.watch(source(), window=2_000, slide=500, top=1)
    assert asked == []
    next(lists), next(lists)
    assert asked == [0]
    assert len(list(lists)) == 4 and asked == [0, 1, 2]


def test_one_noise_for_each_pane() -> None:
    ports = frostpane.Watch(keys=range(50), all=True, window=4_000, slide=1_000)
    lists = ports.update(np.arange(3_000) % 50)
    assert len(lists) == 3 and ports.latest() == ports.latest() == lists[-1]
    assert ports.counted.rows == 3_000


def test_the_clock_moves_on_without_events() -> None:
    pages = frostpane.Watch(window="4h", slide="1h", top=3, epsilon=NOISELESS)
    assert pages.update(["/"] * 10, time=["2025-12-01T00:30:00Z"] * 10) == []
    due = pages.advance("2025-12-01T03:00:00Z")
    assert [release[0].count for release in due] == [10, 10, 10]
    with pytest.raises(frostpane.InputError, match="text"):
        pages.update(np.array([True]), time=["2025-12-01T03:30:00Z"])


def test_people_live_by_the_clock_that_is_told() -> None:
    pages = frostpane.Watch(user="who", key="page", time="at", window="2d", slide="1d", top=3, epsilon=NOISELESS, integers=True)
    assert pages.advance("2025-12-01") == []
    day = {"page": np.array([7, 7, 9] * 40), "who": list(range(120)), "at": ["2025-12-01T12:00:00Z"] * 120}
    # An event of tomorrow without a user does not move the clock.
    assert pages.update({**day, "at": ["2025-12-02T12:00:00Z"] * 120}) == []
    assert (pages.counted.late, pages.counted.ahead) == (0, 120)
    pages.update(day)
    (release,) = pages.advance("2025-12-02")
    assert {heavy.key: heavy.count for heavy in release} == {7: 80, 9: 40}


def test_people_of_a_time_that_is_over_come_in_any_order(stream: Stream) -> None:
    table = {"page": stream.pages[::-1], "at": stream.times[::-1], "who": stream.users[::-1]}
    asked: dict[str, Any] = {"key": "page", "time": "at", "user": "who", "window": "2d", "slide": "1d", "per_user": 40, "top": 4}
    lists = list(frostpane.watch(table, until="2025-12-08", begin="2025-12-01", epsilon=NOISELESS, **asked))
    ends = [release.window.end for release in lists]
    assert ends == [f"2025-12-0{day}T00:00:00Z" for day in range(2, 9)]
    usual = list(frostpane.watch(table, until="2025-12-08", epsilon=NOISELESS, **asked))
    assert usual == lists[-2:] or [release.window.end for release in usual] == ends[-2:]


def test_an_interrupt_keeps_lists_for_the_next_call() -> None:
    ports = frostpane.Watch(window=8_000_000, slide=1_000_000, keys=range(100), top=3)
    keys = np.arange(4_000_000) % 100

    def told(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ports.update(keys, progress=told)
    assert ports.counted.rows == 4_000_000
    assert len(ports.update(keys[:1_000_000])) == 5


def test_what_does_not_go_together_is_refused() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"begin": "2025-12-01"}, "begin is for people"),
        ({"window": [1_000, 2_000]}, "window"),
        ({"policy": "smooth"}, "polic"),
        ({"releases": 3}, "releases"),
    ]
    for fields, message in wrong:
        with pytest.raises(frostpane.ParameterError, match=message):
            frostpane.watch(["a"], **{"window": 1_000, "slide": 100, **fields})
    with pytest.raises(frostpane.WindowError, match="no pane has ended"):
        frostpane.Watch(window=1_000, slide=100).latest()
    with pytest.raises(frostpane.ParameterError, match="give it to Watch"):
        frostpane.HeavyHitters(continual=True)
