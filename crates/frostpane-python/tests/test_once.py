"""Copies, forks, threads and interrupts."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import frostpane
from conftest import NOISELESS


def things(folder: Path) -> list[Any]:
    store = frostpane.Store.create(folder / "store", window=1_000, slide=100, top=3, releases=3)
    store.update(["a"] * 500, id="a")
    hitters = frostpane.HeavyHitters(window=1_000, top=3)
    hitters.update(["a"] * 500)
    watch = frostpane.Watch(window=1_000, slide=100, top=3)
    watch.update(["a"] * 500)
    return [hitters, store, watch, frostpane.watch(["a"] * 500, window=1_000, slide=100, top=3)]


def test_nothing_that_exists_once_is_copied_or_pickled(tmp_path: Path) -> None:
    for thing in things(tmp_path):
        for refused in (copy.copy, copy.deepcopy, pickle.dumps, lambda thing: thing.__reduce_ex__(5)):
            with pytest.raises(TypeError, match="cannot be copied or pickled"):
                refused(thing)
        for inner in ("_hitters", "_handle"):
            if hasattr(thing, inner):
                with pytest.raises(TypeError):
                    pickle.dumps(getattr(thing, inner))


def test_what_is_published_can_be_pickled() -> None:
    release = frostpane.top(["a"] * 500)
    assert pickle.loads(pickle.dumps(release)) == release
    assert str(copy.deepcopy(release)) == str(release)
    spec = frostpane.Spec(top=5)
    assert pickle.loads(pickle.dumps(spec)) == spec


def in_a_child(act: Callable[[], bytes]) -> bytes:
    """The result of a call in a forked child."""
    into, out = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(out, act() or b"nothing")
        except BaseException:  # noqa: BLE001
            os.write(out, traceback.format_exc().encode()[-4_000:])
        finally:
            os._exit(0)
    os.close(out)
    with os.fdopen(into, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0
    return said


def test_a_child_of_the_process_is_refused_and_the_parent_goes_on(tmp_path: Path) -> None:
    hitters, store, watch, lists = things(tmp_path)

    def refused() -> bytes:
        acts: list[Callable[[], Any]] = [
            lambda: hitters.update(["b"]),
            hitters.release,
            lambda: hitters.counted,
            hitters.close,
            lambda: store.update(["b"], id="b"),
            lambda: store.release("child"),
            store.budget,
            store.close,
            lambda: watch.update(["b"]),
            watch.latest,
            lambda: next(lists),
        ]
        for number, act in enumerate(acts):
            try:
                act()
            except frostpane.ForkedError:
                continue
            return f"{number} was not refused".encode()
        return b"all were refused"

    assert in_a_child(refused) == b"all were refused"

    def dropped() -> bytes:
        """A child that drops its copies writes to no file and releases no lock."""
        nonlocal hitters, store, watch, lists
        del hitters, store, watch, lists
        try:
            frostpane.Store.open(tmp_path / "store")
        except frostpane.BusyError:
            return b"the parent has it"
        return b"the lock is gone"

    assert in_a_child(dropped) == b"the parent has it"
    store.update(["b"] * 100, id="b")
    assert len(store.release("parent")) >= 1
    store.close()
    with frostpane.Store.open(tmp_path / "store") as again:
        assert again.releases() == ["parent"]


def test_parent_and_child_draw_their_own_noise() -> None:
    """Two windows with 400 declared keys each, whose noise would be equal if buffered entropy of the
    system survived a fork."""

    def noise() -> bytes:
        ports = frostpane.HeavyHitters(keys=range(400), all=True, window=1_000_000)
        ports.update(np.repeat(np.arange(400), 100))
        return " ".join(f"{heavy.key}:{heavy.count}" for heavy in ports.release()).encode()

    noise()
    lists = [in_a_child(noise), in_a_child(noise), noise()]
    assert len(set(lists)) == 3, "with a chance of e^-500 they are the same without a fault"
    assert all(len(each.split()) > 300 for each in lists)


def test_two_threads_count_every_event_once() -> None:
    ports = frostpane.HeavyHitters(window=10_000_000, all=True, epsilon=NOISELESS)
    ports.update(np.array([0]))
    keys = np.arange(400_000) % 10

    def work() -> None:
        for part in np.split(keys, 40):
            ports.update(part)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(heavy.count for heavy in ports.release()) == 1_600_001


def test_two_threads_with_a_store(tmp_path: Path) -> None:
    store = frostpane.Store.create(tmp_path / "s", window=100_000, slide=100_000, all=True, epsilon=NOISELESS, releases=9)
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for part in range(10):
                store.update(["a", "b"] * 500, id=f"{name}-{part}")
                store.budget()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    release = store.release("all")
    assert {heavy.key: heavy.count for heavy in release} == {"a": 15_000, "b": 15_000}


def test_other_threads_run_while_events_are_counted() -> None:
    """A thread that only counts makes progress during a long update, which it could not if the interpreter
    were locked."""
    ports = frostpane.HeavyHitters(window=50_000_000, top=5)
    keys = np.random.default_rng(1).integers(0, 2**40, 8_000_000)
    steps, going = 0, True

    def count() -> None:
        nonlocal steps
        while going:
            steps += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = steps
    ports.update(keys)
    during = steps - before
    going = False
    thread.join()
    assert during > 10_000


INTERRUPTED = """
    import os, signal, sys, threading, time
    import numpy as np
    import frostpane

    signal.signal(signal.SIGINT, signal.default_int_handler)
    ports = frostpane.HeavyHitters(window=1_000_000_000, all=True, epsilon=1_000_000, memory="2GB")
    ports.update(np.zeros(10, dtype=np.int64))
    keys = np.random.default_rng(1).integers(0, 2**20, {rows})
    seen = []

    def told(done, total):
        if not seen:
            seen.append(done)
            os.kill(os.getpid(), signal.SIGINT)

    begun = time.monotonic()
    try:
        ports.update(keys, progress=told)
        print("was not interrupted")
    except KeyboardInterrupt:
        took = time.monotonic() - begun
    try:
        rows = ports.counted.rows
        events = ports.release().window.events
        print("whole" if rows == events == 10 + len(keys) else "nothing" if rows == events == 10 else f"a part: {{rows}} {{events}}")
    except frostpane.StateError as error:
        print("closed" if "interrupted" in str(error) else error)
    print("soon" if took < 20 else took)
"""


@pytest.mark.parametrize("rows", [200_000, 20_000_000])
def test_an_interrupt_leaves_an_update_whole_or_undone(rows: int) -> None:
    script = textwrap.dedent(INTERRUPTED.format(rows=rows))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    said = done.stdout.split()
    assert said[-1] == "soon" and said[0] in ("whole", "nothing", "closed"), done.stdout


@pytest.fixture
def interrupts() -> Iterator[None]:
    """The parent process may have had interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_while_a_source_is_read_counts_nothing() -> None:
    pages = frostpane.HeavyHitters(all=True, epsilon=NOISELESS)
    pages.update(["a"] * 7)

    def endless() -> Any:
        for number in range(10_000_000):
            if number == 50_000:
                signal.raise_signal(signal.SIGINT)
            yield "a"

    with pytest.raises(KeyboardInterrupt):
        pages.update(endless())
    assert pages.release()[0].count == 7


def test_a_store_that_was_interrupted_goes_on_with_the_same_events(tmp_path: Path) -> None:
    keys = np.arange(8_000_000) % 1_000
    with frostpane.Store.create(
        tmp_path / "s", window=10_000_000, slide=10_000_000, all=True, epsilon=NOISELESS, integers=True, memory="1GB"
    ) as store:

        def told(done: int, total: int) -> None:
            if 2_500_000 < done < total:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.update(keys, id="all", progress=told)
    with frostpane.Store.open(tmp_path / "s") as store:
        assert 0 < store.update(keys, id="all").new < 8_000_000
        assert {heavy.count for heavy in store.release("one")} == {8_000}


def test_what_was_closed_says_so(tmp_path: Path) -> None:
    hitters, store, watch, _ = things(tmp_path)
    for thing in (hitters, store, watch):
        thing.close()
    for act in (hitters.release, store.budget, watch.latest):
        with pytest.raises(frostpane.StateError, match="closed"):
            act()
