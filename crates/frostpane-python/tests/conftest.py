"""Fixtures: streams with known contents, the program, and the library alone."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug"

# At this epsilon noise differs from 0 with a probability below e^-10000: the tests compare exact counts of
# the shipped build, not of a test build.
NOISELESS = 1_000_000

DAY = 86_400_000_000
START = 1_764_547_200_000_000  # 2025-12-01
UNTIL = "2025-12-08"


@pytest.fixture(autouse=True)
def quiet(recwarn: pytest.WarningsRecorder) -> None:
    """Warnings for the operator have tests of their own."""


def executable(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path} is not there: cargo build -p frostpane-cli, and -p frostpane-python --example direct")
    return path


@pytest.fixture(scope="session")
def program() -> Path:
    """The `frostpane` program."""
    return executable(BUILT / "frostpane")


@pytest.fixture(scope="session")
def direct() -> Path:
    """The library alone."""
    return executable(BUILT / "examples" / "direct")


def run(*command: object) -> str:
    plain = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, env=plain)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lists(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


class Stream:
    """Events of a week in order of time: time, user, key."""

    def __init__(self, events: int = 20_000, seed: int = 7) -> None:
        chance = random.Random(seed)
        self.times = sorted(START + chance.randrange(7 * DAY) for _ in range(events))
        self.users = [f"u{chance.randrange(700)}" for _ in range(events)]
        self.keys = [min(int(chance.paretovariate(0.9)), 900) for _ in range(events)]

    @property
    def pages(self) -> list[str]:
        return [f"page {key} é" for key in self.keys]

    def write(self, folder: Path, keys: list[Any]) -> Path:
        """The events with a header line, as the program reads them, and times in microseconds."""
        file = folder / "events.tsv"
        rows = zip(self.times, self.users, keys)
        file.write_text("time\tuser\tkey\n" + "".join(f"{time}\t{user}\t{key}\n" for time, user, key in rows))
        return file

    def write_bare(self, folder: Path, keys: list[Any]) -> Path:
        file = folder / "bare.tsv"
        rows = zip(self.times, self.users, keys)
        file.write_text("".join(f"{time}\t{user}\t{key}\n" for time, user, key in rows))
        return file


@pytest.fixture(scope="session")
def stream() -> Stream:
    return Stream()
