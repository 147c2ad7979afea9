"""Turns bench/results/*.json into docs/speed.svg and the table of measurements in the README."""

import json
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "bench" / "results"
BEGIN, END = "<!-- measurements -->", "<!-- end of measurements -->"


def load(name: str):
    return json.loads((RESULTS / f"{name}.json").read_text())


def ratios(numerators: list[float], denominators: list[float]) -> list[float]:
    return sorted(a / b for a, b in zip(numerators, denominators, strict=True))


def shown(values: list[float], digits: int = 1) -> str:
    """The median, and the least and the largest."""
    return f"{median(values):.{digits}f} ({values[0]:.{digits}f} to {values[-1]:.{digits}f})"


def ingestion() -> list[tuple[str, str, str]]:
    results = load("ingest")
    streams = {"zipf": "integers, Zipf(1.1)", "flat": "integers, flat", "strings": "strings, Zipf(1.1)"}
    rows = []
    for stream, title in streams.items():
        rates = results[stream]
        ours = rates["uniform"]
        for rival in ["exact window", "frequent items, map 4,096", "frequent items, map 262,144", "hash map"]:
            if rival in rates:
                rows.append(
                    (title, f"speed against {RIVALS[rival]}", shown(ratios(ours, rates[rival])) + " times")
                )
        threads = rates.get("two threads, by the clock")
        if threads:
            rows.append(
                (
                    title,
                    "two threads against one",
                    shown(ratios(threads, rates["one thread, by the clock"]), 2),
                )
            )
        rows.append((title, "million events a second", f"{median(ours):.0f}"))
    return rows


RIVALS = {
    "exact window": "an exact window",
    "frequent items, map 4,096": "DataSketches, map 4,096",
    "frequent items, map 262,144": "DataSketches, map 262,144",
    "hash map": "a hash map without a window",
}
NAMES = {
    "duckdb": "DuckDB",
    "polars": "Polars",
    "opendp": "OpenDP in Python",
    "opendp, counted in a dict": "OpenDP, counted in a dict",
}
FILES = {
    "txt": "text file",
    "csv": "CSV file",
    "parquet": "Parquet file",
    "private": "text file, private release",
}


def programs() -> list[tuple[str, str, str]]:
    rows = []
    for job, contenders in load("programs").items():
        ours = contenders.pop("frostpane")
        for rival, runs in contenders.items():
            for unit, what in [("seconds", "time"), ("bytes", "memory")]:
                values = ratios([run[unit] for run in runs], [run[unit] for run in ours])
                rows.append((FILES[job], f"{what} of {NAMES[rival]}", shown(values) + " times ours"))
    return rows


def memory() -> list[tuple[str, str, str]]:
    return [
        (
            f"window of {result['window']:,} events",
            "memory taken, of memory planned",
            f"{result['measured'] / 1e6:.0f} of {result['planned'] / 1e6:.0f} MB",
        )
        for result in load("memory")
    ]


def releases() -> list[tuple[str, str, str]]:
    return [("one release", name, f"{took:.1f} ms") for name, took in load("releases").items()]


def table() -> str:
    rows = [*ingestion(), *programs(), *memory(), *releases()]
    lines = ["| what | measured | median of 5 (least to largest) |", "|---|---|---|"]
    return "\n".join(lines + [f"| {what} | {how} | {value} |" for what, how, value in rows])


def panel(title: str, contenders: dict[str, list[float]], y: int, digits: int) -> tuple[str, int]:
    """A bar for each contender, with a line from the least to the largest."""
    row, left, widest = 24, 250, 500
    longest = max(max(values) for values in contenders.values())
    body = [f'<text x="20" y="{y}" font-weight="600">{title}</text>']
    y += 12
    for name, values in contenders.items():
        least, middle, most = (
            left + widest * value / longest for value in [min(values), median(values), max(values)]
        )
        kind = "rival" if name in RIVALS or name in NAMES else "ours"
        body.append(
            f'<text x="{left - 8}" y="{y + 16}" text-anchor="end" class="soft">{NAMES.get(name, name)}</text>'
            f'<rect class="{kind}" x="{left}" y="{y + 4}" width="{middle - left:.1f}" height="{row - 8}"/>'
            f'<path class="spread" d="M{least:.1f} {y + 12}H{most:.1f}"/>'
            f'<text x="{most + 6:.1f}" y="{y + 16}">{median(values):.{digits}f}</text>'
        )
        y += row
    return "\n".join(body), y + 34


def picture() -> str:
    body, y = [], 56
    results = load("ingest")
    for stream, title in TITLES.items():
        rates = {name: values for name, values in results[stream].items() if name != "plain pass"}
        fastest_first = dict(sorted(rates.items(), key=lambda rate: -median(rate[1])))
        text, y = panel(f"Million events a second: {title}", fastest_first, y, 0)
        body.append(text)
    for job, contenders in load("programs").items():
        if job != "private":
            seconds = {name: [run["seconds"] for run in runs] for name, runs in contenders.items()}
            text, y = panel(f"Seconds on two threads: 10 million events, {FILES[job]}", seconds, y, 2)
            body.append(text)
    title = "Medians of 5, and the spread: ours in blue, rivals in orange"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {y}" font-family="system-ui, sans-serif" '
        f'font-size="13" role="img" aria-labelledby="t">\n<title id="t">{title}</title>\n<style>{STYLE}</style>\n'
        f'<text x="20" y="24" font-weight="600">{title}</text>\n' + "\n".join(body) + "\n</svg>\n"
    )


TITLES = {
    "zipf": "50 million integers, Zipf(1.1) over 10^6 keys, window 10^7",
    "flat": "50 million integers, flat over 10^7 keys, window 10^7",
    "strings": "50 million strings of 6 to 20 bytes, Zipf(1.1) over 10^6 keys, window 10^7",
}
STYLE = (
    "text { fill: #1d2b36 } .soft { fill: #5d6f7d } .ours { fill: #0b6fa4 } .rival { fill: #c2410c } "
    ".spread { stroke: #1d2b36; stroke-width: 1.5 } "
    "@media (prefers-color-scheme: dark) { text { fill: #e6eef3 } .soft { fill: #9fb2bf } "
    ".ours { fill: #6fb7d6 } .rival { fill: #fb923c } .spread { stroke: #e6eef3 } }"
)


def main() -> None:
    (ROOT / "docs" / "speed.svg").write_text(picture())
    readme = ROOT / "README.md"
    before, rest = readme.read_text().split(BEGIN)
    after = rest.split(END)[1]
    readme.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")


main()
