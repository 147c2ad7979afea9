"""Small synthetic streams, the same every time, with features that real streams lack."""

import gzip
import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 3, 1, tzinfo=UTC)
PAGES = [f"/page/{number}" for number in range(400)]
COUNTRIES = ["pt", "no", "it", "fr", "pl", "se", "at", "ie", None]


def make_streams(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    chance = random.Random(2026)
    pages = skewed(chance, PAGES, 60_000)
    ports = skewed(chance, [str(number) for number in range(2_000)], 80_000)
    (folder / "pages.txt").write_text(lines(pages))
    (folder / "ports.txt").write_text(lines(ports))
    (folder / "steep.txt").write_text(lines(skewed(chance, PAGES, 1_000_000, 2)))
    (folder / "flat.txt").write_text(lines(str(i * 7_919 % 50_000) for i in range(1_000_000)))
    (folder / "sorted.txt").write_text(lines(sorted(pages)))
    (folder / "few.txt").write_text(lines(pages[:20]))
    (folder / "empty.txt").write_text("")
    (folder / "keys.txt").write_text(lines([*PAGES[:300], "/never"]))
    (folder / "airports.txt").write_text(lines(["ORD", "ATL", "LAX", "BOS", "MCO", "CLT", "SFO", "XXX"]))
    (folder / "odd.txt").write_bytes(odd(chance))
    log = table(chance, pages)
    (folder / "log.csv").write_text(log)
    (folder / "log.csv.gz").write_bytes(gzip.compress(log.encode(), mtime=0))
    (folder / "log.jsonl").write_text(objects(chance, pages))


def skewed(chance: random.Random, keys: list[str], events: int, slope: int = 1) -> list[str]:
    return chance.choices(keys, [rank**-slope for rank in range(1, len(keys) + 1)], k=events)


def lines(keys) -> str:
    return "".join(f"{key}\n" for key in keys)


def odd(chance: random.Random) -> bytes:
    """Keys that are empty, too long, not text, or harmful in a terminal or a page."""
    keys = [
        b"",
        b"x" * 70_000,
        b"\xff\xfe",
        b"\x1b[31mred",
        b"<script>alert(1)</script>",
        b'a,"b"',
        "schön".encode(),
    ]
    return b"".join(key + b"\n" for key in chance.choices(keys, [3, 0.1, 5, 8, 9, 10, 11], k=20_000))


def late(chance: random.Random, events: int):
    """Times about a minute apart; one event in fifty comes up to an hour late."""
    for number in range(events):
        delay = timedelta(minutes=chance.randrange(60) if chance.random() < 0.02 else 0)
        yield START + timedelta(minutes=number) - delay


def table(chance: random.Random, pages: list[str]) -> str:
    rows = ["at,page,note\n"]
    for at, page in zip(late(chance, 40_000), pages):
        note = chance.choice(["", '"a, b"', '"said ""no"""', "plain"])
        rows.append(
            chance.choice(["no columns\n", f"{at.isoformat()},,\n"])
            if chance.random() < 0.01
            else f"{at.isoformat()},{page},{note}\n"
        )
    return "".join(rows)


def objects(chance: random.Random, pages: list[str]) -> str:
    rows = []
    for at, page in zip(late(chance, 40_000), pages):
        user = {"country": chance.choice(COUNTRIES)}
        rows.append(json.dumps({"at": int(at.timestamp() * 1_000), "page": page, "user": user}))
    rows[100] = "{ not JSON"
    return lines(rows)
