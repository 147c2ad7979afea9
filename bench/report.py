"""Turns bench/results/*.json into docs/speed.svg, the tables of docs/measurements.md, and five lines of the
README."""

import json
import re
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "bench" / "results"
BEGIN, END = "<!-- measurements -->", "<!-- end of measurements -->"
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)

Rates = dict[str, list[float]]
Run = dict[str, float]


def load(name: str):
    return json.loads((RESULTS / f"{name}.json").read_text())


def table(*head: str, body: list[tuple[str, ...]]) -> str:
    first, *rest = (f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in [head, *body])
    return f"{first}|{'---|' * len(head)}\n{''.join(rest)}"


def ratios(numerators: list[float], denominators: list[float]) -> list[float]:
    return sorted(a / b for a, b in zip(numerators, denominators, strict=True))


def shown(values: list[float], digits: int = 1) -> str:
    """Median, least and largest."""
    return f"{median(values):.{digits}f} ({values[0]:.{digits}f}–{values[-1]:.{digits}f})"


def against(rates: Rates, rival: str) -> str:
    """The speed with the default norm relative to the rival, if it was measured."""
    return shown(ratios(rates["uniform, L2"], rates[rival])) if rival in rates else ""


def rate(rates: Rates, ours: str) -> str:
    return f"{median(rates[ours]):.0f}" if ours in rates else ""


def times(theirs: list[Run], ours: list[Run], unit: str, digits: int = 1) -> str:
    return shown(ratios([run[unit] for run in theirs], [run[unit] for run in ours]), digits)


def megabytes(size: float, digits: int = 0) -> str:
    return f"{size / 1e6:.{digits}f} MB"


STREAMS = {"zipf": "integers, Zipf(1.1)", "flat": "integers, flat", "strings": "strings, Zipf(1.1)"}
# The default is L2.
OURS = {
    "uniform, L2": "million events a second",
    "uniform": "with L1",
    "smooth": "with L1, policy `smooth`",
}
RIVALS = {
    "exact window": "an exact window",
    "hash map": "a hash map, no window",
    "frequent items, map 4,096": "DataSketches, map 4,096",
}


def streams() -> str:
    results = [load("ingest")[stream] for stream in STREAMS]
    body = [
        *((name, *(rate(rates, ours) for rates in results)) for ours, name in OURS.items()),
        *(
            (f"speed beside {name}", *(against(rates, rival) for rates in results))
            for rival, name in RIVALS.items()
        ),
    ]
    return table("", *STREAMS.values(), body=body)


FILES = {"txt": "text", "csv": "CSV", "parquet": "Parquet"}
NAMES = {"duckdb": "DuckDB", "polars": "Polars"}
OPENDP = "opendp, counted in a dict"


def files() -> str:
    """Time and memory of rivals that read the same file."""
    results = load("programs")
    beside = [(job, FILES[job], rival, name) for job in FILES for rival, name in NAMES.items()]
    beside.append(("private", FILES["txt"], OPENDP, "OpenDP"))
    body = []
    for job, file, rival, name in beside:
        ours, theirs = results[job]["frostpane"], results[job][rival]
        body.append((file, name, times(theirs, ours, "seconds"), times(theirs, ours, "bytes")))
    return table("file", "rival", "time, of ours", "memory, of ours", body=body)


def program() -> str:
    """Memory, states, releases and continual release."""
    windows, disk, released = load("memory"), load("state"), load("releases")
    sizes, taken_up = (
        ", ".join(f"{result[field] / 1e6:.0f}" for result in windows) for field in ["window", "measured"]
    )
    taken, opened = disk["ingest"]["txt"], disk["open"]
    body = [
        (f"memory, windows of {sizes} million events", f"{taken_up} MB"),
        ("speed of `ingest`, of `list`'s", times(taken["list"], taken["ingest"], "seconds", 2)),
        (
            f"opening a state of {opened['window'] / 1e6:.0f} million events; its size",
            f"{median(opened['seconds']):.2f} s; {megabytes(opened['bytes'])}",
        ),
        ("release of a million keys", f"{released['release of a window with a million keys']:.0f} ms"),
    ]
    if slides := load("programs").get("slides"):
        body.append(
            (
                "time of `watch`, 320 lists, of `list`'s",
                times(slides["watch"], slides["frostpane"], "seconds"),
            )
        )
    return table("what", "measured", body=body)


def users() -> str:
    """Lists of users, with at most four keys of a user and day."""
    results = load("people")
    ours = "frostpane, 4 of a user and day, 64MB"
    runs = [
        (FILES[kind], "DuckDB", results[kind][ours], results[kind]["duckdb"]) for kind in ["csv", "parquet"]
    ]
    tenth = results["tenth"]
    runs.append(("Parquet, a tenth", "OpenDP", tenth["frostpane"], tenth["opendp"]))
    body = []
    for file, rival, ours, theirs in runs:
        most = megabytes(max(run["bytes"] for run in ours))
        body.append((file, rival, times(theirs, ours, "seconds"), times(theirs, ours, "bytes"), most))
    return table("file", "rival", "time, of ours", "memory, of ours", "our memory", body=body)


COLUMNS = {"arrow strings": "pyarrow", "polars string views": "Polars"}
FRAMES = {"events": "events", "people": "users"}


def python_package() -> str:
    """The Python package beside Rust and its rivals."""
    results = load("python")
    text, frames = results["columns"]["text"], [results["release"][unit] for unit in FRAMES]
    body = [
        (f"speed with strings of {library}, of Rust's", shown(ratios(text["rust"], text[column]), 2), "")
        for column, library in COLUMNS.items()
    ]

    def beside(rival: str) -> list[str]:
        """Contenders that take minutes run less often."""
        found = []
        for frame in frames:
            ratio = ratios(frame[rival], frame["frostpane, 4GB"][: len(frame[rival])])
            found.append(shown(ratio) if len(ratio) > 1 else f"{ratio[0]:.0f}, once" if ratio else "")
        return found

    body.append(("time of OpenDP, of ours", *beside("opendp")))
    body.append(("time of PipelineDP, of ours", *beside("pipelinedp")))
    return table("", *FRAMES.values(), body=body)


def spark() -> str:
    """Panes that Spark builds beside the plain count in them."""
    results = load("spark")
    count = results["events of the stream"]
    units = [results[unit] for unit in FRAMES]

    def shuffled(unit: dict[str, dict[str, float]]) -> str:
        plain, ours = (unit["shuffled"][name] / count for name in ["plain", "frostpane"])
        return f"{plain:.1f}; {ours:.1f}"

    body = [
        (
            "time, of the plain count's",
            *(shown(ratios(unit["frostpane"], unit["plain"]), 2) for unit in units),
        ),
        ("bytes shuffled for an event: plain; ours", *map(shuffled, units)),
        ("panes of the week", *(megabytes(unit["bytes"]["panes"], 1) for unit in units)),
        ("release on the driver", *(f"{median(unit['release']):.1f} s" for unit in units)),
    ]
    return table("", *FRAMES.values(), body=body)


def service() -> str:
    """The service under load."""
    results = load("service")
    speed, disk = results["events_per_second"], results["from_disk_events_per_second"]
    memory, heard = results["memory_mb"], results["listeners"]
    answers = results["overload"]["answers"]
    quantiles = "{p50:.1f} ms; {p99:.1f} ms".format
    body = [
        ("events a second", f"{speed / 1e6:.1f} million"),
        ("speed, of `frostpane ingest`'s", shown(sorted(speed / each for each in disk), 2)),
        ("a request, p50; p99", quantiles(**results["ingest_ms"])),
        ("`releases/latest`, p50; p99", quantiles(**results["latest_ms"])),
        ("memory, halfway; at the end", f"{memory[len(memory) // 2]}; {memory[-1]} MB"),
        (
            "listeners that get the next list",
            f"{heard['heard']:,} of {heard['of']:,} in {heard['seconds']:.2f} s",
        ),
        (
            "answers to 40 clients with 20 MB each",
            ", ".join(f"{count} times {status}" for status, count in answers.items()),
        ),
    ]
    return table("what", "measured", body=body)


REAL = {"mathoverflow_answers": "MathOverflow", "retail_items": "shop", "commits_folder": "Django"}


def accuracy() -> str:
    """The top 20 by users of real streams; each cell has all bounds, in the order of the results."""
    cases = [case for case in load("real-people") if case["top"] == 20]

    def cell(stream: str, field: str, form: str, by: str | None = None) -> str:
        found = [case for case in cases if case["stream"] == stream]
        return ", ".join(format(case[field] / (case[by] if by else 1), form) for case in found)

    body = [
        (
            name,
            cell(stream, "counted", ".0%"),
            cell(stream, "f1", ".2f"),
            cell(stream, "error_of_all", ".0f"),
            cell(stream, "mean_of_all", ".0f"),
            cell(stream, "untrue", ".1%", "releases"),
        )
        for stream, name in REAL.items()
    ]
    return table("stream", "counted", "F1", "error", "of a mean of", "untrue", body=body)


SECTIONS = {
    "Streams": [streams],
    "Files": [files, program],
    "Users": [users],
    "Python": [python_package],
    "Spark": [spark],
    "Service": [service],
    "Accuracy": [accuracy],
}


def five_lines() -> str:
    """The table of the README."""
    stream, results, largest = load("ingest")["zipf"], load("programs"), load("memory")[-1]

    def of(ratio: str) -> str:
        return ratio.replace(" (", " × ours (")

    def reading(rival: str, job: str, name: str) -> tuple[str, str, str]:
        ours, theirs = results[job]["frostpane"], results[job][name]
        return (rival, of(times(theirs, ours, "seconds")), of(times(theirs, ours, "bytes")))

    body = [
        ("exact window, 50 million integers", of(against(stream, "exact window")), ""),
        (
            "DataSketches, the same integers",
            of(against(stream, "frequent items, map 4,096")),
            "",
        ),
        reading("DuckDB, 10 million rows of Parquet", "parquet", "duckdb"),
        reading("OpenDP, private list of 10 million lines", "private", OPENDP),
        (
            f"Frostpane, window of {largest['window'] / 1e6:.0f} million events",
            "",
            megabytes(largest["measured"]),
        ),
    ]
    return table("", "time", "memory", body=body)


WIDTH, LEFT, LONGEST, ROW = 480, 158, 250, 25
RATES = {
    "Frostpane": "uniform, L2",
    "DataSketches": "frequent items, map 4,096",
    "hash map": "hash map",
    "exact window": "exact window",
}
PROGRAMS = {"Frostpane": "frostpane", "DuckDB": "duckdb", "Polars": "polars", "OpenDP": OPENDP}


def panel(title: str, about: str, contenders: Rates, y: int, digits: int) -> tuple[str, int]:
    """A bar for each contender, with a line from the least to the largest."""
    scale = LONGEST / max(max(values) for values in contenders.values())
    body = [
        f'<text x="16" y="{y}" class="title">{title}</text>',
        f'<text x="16" y="{y + 19}" class="soft">{about}</text>',
    ]
    y += 28
    for name, values in contenders.items():
        least, middle, most = (scale * value for value in (min(values), median(values), max(values)))
        kind = "ours" if name == "Frostpane" else "rival"
        body.append(
            f'<text x="{LEFT - 8}" y="{y + 17}" text-anchor="end">{name}</text>'
            f'<rect class="{kind}" x="{LEFT}" y="{y + 3}" width="{middle:.1f}" height="{ROW - 6}"/>'
            f'<path class="spread" d="M{LEFT + least:.1f} {y + ROW / 2}H{LEFT + most:.1f}"/>'
            f'<text x="{LEFT + most + 6:.1f}" y="{y + 17}">{median(values):.{digits}f}</text>'
        )
        y += ROW
    return "\n".join(body), y + 33


def picture() -> str:
    rates, results = load("ingest")["zipf"], load("programs")

    def measured(job: str, unit: str, scale: float = 1.0) -> Rates:
        found = {name: results[job].get(key) for name, key in PROGRAMS.items()}
        return {name: [scale * run[unit] for run in runs] for name, runs in found.items() if runs}

    rows = "10 million rows, two threads; shorter is better"
    panels = [
        (
            "Million events a second",
            "integers, Zipf(1.1), one thread; longer is better",
            {name: rates[key] for name, key in RATES.items()},
            0,
        ),
        ("Seconds to list a CSV file", rows, measured("csv", "seconds"), 2),
        ("Seconds to list a Parquet file", rows, measured("parquet", "seconds"), 2),
        ("Memory for the Parquet file, MB", rows, measured("parquet", "bytes", 1e-6), 0),
        (
            "Seconds for a private list",
            "10 million lines; shorter is better",
            measured("private", "seconds"),
            1,
        ),
    ]
    title = "Speed and memory of Frostpane and its rivals"
    body, y = [], 80
    for heading, about, contenders, digits in panels:
        text, y = panel(heading, about, contenders, y, digits)
        body.append(text)
    height = y - 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="system-ui, sans-serif" font-size="15" role="img" aria-labelledby="t">\n'
        f'<title id="t">{title}</title>\n<style>{STYLE}</style>\n'
        f'<rect class="ground" width="{WIDTH}" height="{height}" rx="8"/>\n'
        '<text x="16" y="28" class="soft">Medians of 5 runs, with the least and the largest.</text>\n'
        '<text x="16" y="48" class="soft">Frostpane and OpenDP add noise, the others do not.</text>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


# The ground is painted, since a page may be light where the system is dark.
STYLE = (
    "text { fill: #1d2b36 } .title { font-size: 17px; font-weight: 600 } .soft { fill: #4d5f6d } "
    ".ground { fill: #ffffff } .ours { fill: #0b6fa4 } .rival { fill: #d9772b } "
    ".spread { stroke: #1d2b36; stroke-width: 1.5 } "
    "@media (prefers-color-scheme: dark) { text { fill: #e6eef3 } .soft { fill: #a9bac6 } "
    ".ground { fill: #0d1117 } .ours { fill: #4fa8d8 } .rival { fill: #e08a45 } .spread { stroke: #e6eef3 } }"
)


def fill(page: Path) -> None:
    """Replaces the first tables of each section."""
    before, *parts = re.split(r"^(?=## )", page.read_text(), flags=re.MULTILINE)
    headings = [part.partition("\n")[0].removeprefix("## ") for part in parts]
    for heading, makers in SECTIONS.items():
        number = headings.index(heading)
        tables = iter([make() for make in makers])
        parts[number], found = TABLE.subn(lambda _: next(tables), parts[number], count=len(makers))  # noqa: B023
        if found != len(makers):
            raise SystemExit(f"{page}: {heading} has {found} tables, not {len(makers)}")
    page.write_text(before + "".join(parts))


def put(file: Path, text: str) -> None:
    """Replaces the text between the marks in a file."""
    before, rest = file.read_text().split(BEGIN)
    after = rest.split(END)[1]
    file.write_text(f"{before}{BEGIN}\n{text}{END}{after}")


def main() -> None:
    (ROOT / "docs" / "speed.svg").write_text(picture())
    fill(ROOT / "docs" / "measurements.md")
    put(ROOT / "README.md", five_lines())


main()
