"""Rust, the program and Python agree on one stream without noise: counts, norms, lists and panes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import frostpane
from conftest import DAY, NOISELESS, START, UNTIL, Stream, lists, run

EVENTS = {"window": 15_000, "slide": 500}
CLOCK = {"window": "3d", "until": UNTIL}
# With more keys than count, a secret hash chooses, another one in each process: no user has more in an epoch.
PEOPLE = {"window": "3d", "until": UNTIL, "per_user": 40, "per_key": 2}

SPECS: dict[str, dict[str, Any]] = {
    "heavy by count": {**EVENTS, "alpha": 0.02},
    "top by count": {**EVENTS, "top": 20},
    "heavy of L1 by count": {**EVENTS, "norm": "l1", "alpha": 0.01},
    "with an end by count": {"window": 15_000, "until": 20_000, "all": True},
    "heavy by the clock": {**CLOCK, "alpha": 0.02},
    "top by the clock": {**CLOCK, "top": 20},
    "all by the clock": {"window": "3d", "slide": "1h", "all": True},
    "two windows": {"window": ["1d", "3d"], "until": UNTIL, "top": 7},
    "top of people": {**PEOPLE, "top": 20},
    "heavy of people": {**PEOPLE, "alpha": 0.05},
    "all of people, by hours": {**PEOPLE, "epoch": "1h", "all": True},
}
KEYS: dict[str, Any] = {"open": "open", "a range": range(1_000), "a list": [str(number) for number in range(1_000)]}


def of_python(fields: dict[str, Any], stream: Stream) -> list[frostpane.Release]:
    of_people = "per_user" in fields
    keys: list[Any] = list(map(str, stream.keys))
    table = {"key": keys, "time": stream.times, "user": stream.users}
    hitters = frostpane.HeavyHitters(key="key", time="time", user="user" if of_people else None, **fields)
    hitters.update(table)
    windows = hitters.spec.window
    return [hitters.release(window) for window in (windows if isinstance(windows, list) else [windows])]


def of_rust(fields: dict[str, Any], stream: Stream, direct: Path, folder: Path) -> list[dict[str, Any]]:
    spec = folder / "spec.json"
    spec.write_text(json.dumps(frostpane.Spec(**fields).to_dict()))
    return lists(run(direct, spec, stream.write_bare(folder, stream.keys)))


def of_program(fields: dict[str, Any], stream: Stream, program: Path, folder: Path, command: str = "list") -> list[dict[str, Any]]:
    spec = folder / "spec.toml"
    spec.write_text(frostpane.Spec(**fields).to_toml())
    options: list[object] = ["--user", "user"] if "per_user" in fields else []
    file = stream.write(folder, stream.keys)
    return lists(run(program, command, "--json", "--spec", spec, "--key", "key", "--time", "time", *options, file))


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("name", SPECS)
def test_lists_are_the_same(name: str, keys: str, stream: Stream, direct: Path, program: Path, tmp_path: Path) -> None:
    fields = {**SPECS[name], "keys": KEYS[keys], "epsilon": NOISELESS, "releases": 2}
    made = [release.to_dict() for release in of_python(fields, stream)]
    assert all(release["heavy"] for release in made)
    assert made == of_rust(fields, stream, direct, tmp_path)
    if "slide" not in fields:
        # The program knows the end of files, and fixes panes from there; so does top.
        assert made == of_program(fields, stream, program, tmp_path)


def test_people_with_more_keys_than_are_counted_are_bounded_alike(stream: Stream, direct: Path, program: Path, tmp_path: Path) -> None:
    """The choice of keys differs; their number does not."""
    fields: dict[str, Any] = {"window": "3d", "until": UNTIL, "per_user": 2, "per_key": 1, "all": True, "keys": range(1_000), "epsilon": NOISELESS}
    seen: dict[tuple[str, int], set[int]] = {}
    for time, user, key in zip(stream.times, stream.users, stream.keys):
        if time >= START + 4 * DAY:
            seen.setdefault((user, time // DAY), set()).add(key)
    expected = sum(min(len(keys), 2) for keys in seen.values())
    assert expected < sum(map(len, seen.values()))
    made = [
        of_python(fields, stream)[0].to_dict(),
        *of_rust(fields, stream, direct, tmp_path),
        *of_program(fields, stream, program, tmp_path),
    ]
    for release in made:
        assert sum(row["count"] for row in release["heavy"]) == expected == release["window"]["events"]


@pytest.mark.parametrize("window", [12_000, "2d"])
def test_one_call_is_what_the_program_does_with_a_file(window: str | int, stream: Stream, program: Path, tmp_path: Path) -> None:
    fields: dict[str, Any] = {"window": window, "top": 15, "epsilon": NOISELESS}
    table = {"key": stream.pages, "time": stream.times}
    release = frostpane.top(table, key="key", time="time", **fields)
    spec = tmp_path / "spec.toml"
    spec.write_text(frostpane.Spec(**fields).to_toml())
    file = stream.write(tmp_path, stream.pages)
    command = [program, "list", "--spec", spec, "--key", "key", "--time", "time", file]
    assert [release.to_dict()] == lists(run(*command, "--json"))
    shown, alone, _ = str(release).partition("This epsilon is for")
    assert alone and shown.rstrip() == run(*command).rstrip()


def test_lists_at_every_slide_are_the_same(stream: Stream, direct: Path, program: Path, tmp_path: Path) -> None:
    for fields in ({"window": 8_000, "slide": 1_000, "alpha": 0.05}, {"window": "2d", "slide": "6h", "top": 5}):
        asked: dict[str, Any] = {**fields, "epsilon": NOISELESS, "continual": True}
        table = {"key": list(map(str, stream.keys)), "time": stream.times}
        made = [release.to_dict() for release in frostpane.watch(table, key="key", time="time", **asked)]
        assert len(made) > 10
        assert made == of_rust(asked, stream, direct, tmp_path)
        of_files = of_program(asked, stream, program, tmp_path, "watch")
        assert made == of_files[: len(made)] and len(of_files) - len(made) <= 1


def test_lists_at_every_slide_of_people_are_the_same(stream: Stream, program: Path, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"window": "2d", "slide": "1d", "top": 9, "per_user": 40, "epsilon": NOISELESS, "continual": True}
    table = {"key": stream.pages, "time": stream.times, "user": stream.users}
    made = [release.to_dict() for release in frostpane.watch(table, key="key", time="time", user="user", begin="2025-12-01", until=UNTIL, **asked)]
    spec = tmp_path / "spec.toml"
    spec.write_text(frostpane.Spec(**asked).to_toml())
    file = stream.write(tmp_path, stream.pages)
    columns = ["--key", "key", "--time", "time", "--user", "user", "--from", "2025-12-01", "--until", UNTIL]
    assert made == lists(run(program, "watch", "--json", "--spec", spec, *columns, file))
    assert len(made) == 7


@pytest.mark.parametrize("of_people", [False, True])
def test_a_state_of_the_program_and_a_store_have_the_same_releases(of_people: bool, stream: Stream, program: Path, tmp_path: Path) -> None:
    """The store is created like the state, with the same hashes."""
    options = ["--user", "user", "--per-user", 3, "--from", "2025-12-01"] if of_people else []
    columns = ["--key", "key", "--time", "time", *options]
    asked = ["--window", "3d", "--slide", "1d", "--top", 12, "--epsilon", NOISELESS, "--releases", 3]
    state = tmp_path / "state"
    run(program, "init", state, *columns, *asked)
    with frostpane.Store.open(state) as begun:
        store = frostpane.Store.create(tmp_path / "store", like=begun, begin="2025-12-01" if of_people else None)
    file = stream.write(tmp_path, stream.pages)
    run(program, "ingest", state, file, "--until", UNTIL)
    table = {"key": stream.pages, "time": stream.times, "user": stream.users}
    taken = store.update(table, id="week", key="key", time="time", user="user" if of_people else None, until=UNTIL)
    assert taken.new == len(stream.times)
    by_program = json.loads(run(program, "release", state, "--id", "one", "--json"))
    assert store.release("one").to_dict() == by_program
    # The program goes on with a store of Python.
    store.close()
    again = json.loads(run(program, "release", store.path, "--id", "one", "--json"))
    assert again == by_program
