"""Turns bench/results/*.json into docs/speed.svg, tables of docs/measurements.md, docs/people.md and
docs/python.md, and five lines of the README."""

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
    """Median, least and largest."""
    return f"{median(values):.{digits}f} ({values[0]:.{digits}f} to {values[-1]:.{digits}f})"


def against(rates: dict[str, list[float]], ours: str, rival: str, digits: int = 1) -> str | None:
    """The speed relative to the rival, if both were measured."""
    if ours not in rates or rival not in rates:
        return None
    return shown(ratios(rates[ours], rates[rival]), digits)


def rate(rates: dict[str, list[float]], ours: str) -> str | None:
    return f"{median(rates[ours]):.0f}" if ours in rates else None


def ingestion() -> list[tuple[str, str, str, str]]:
    """L2 and L1 for each stream and measurement."""
    results = load("ingest")
    rows = []
    for stream, title in STREAMS.items():
        rates = results[stream]
        measured = {
            f"speed against {name}": [against(rates, f"uniform{norm}", rival) for norm in NORMS]
            for rival, name in RIVALS.items()
        }
        measured["speed against L1"] = [against(rates, "uniform, L2", "uniform", 2), None]
        measured["smooth panes against uniform ones"] = [
            against(rates, f"smooth{norm}", f"uniform{norm}", 2) for norm in NORMS
        ]
        measured["two threads against one"] = [
            against(rates, f"two threads, by the clock{norm}", f"one thread, by the clock{norm}", 2)
            for norm in NORMS
        ]
        for ours, name in OURS.items():
            measured[f"million events a second{name}"] = [rate(rates, ours + norm) for norm in NORMS]
        rows.extend(
            (title, how, *(value or "" for value in values))
            for how, values in measured.items()
            if any(values)
        )
    return rows


# The default first.
NORMS = [", L2", ""]
STREAMS = {"zipf": "integers, Zipf(1.1)", "flat": "integers, flat", "strings": "strings, Zipf(1.1)"}
OURS = {
    "uniform": "",
    "uniform, one by one": ", one by one",
    "exponential": ", exponential panes",
    "smooth": ", smooth panes",
    "continual": ", continual release",
}
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
    "watch": "`watch`, 320 lists",
}
FILES = {
    "txt": "text file",
    "csv": "CSV file",
    "parquet": "Parquet file",
    "private": "text file, private release",
    "slides": "text file, window of 1,000,000 events",
}


def programs() -> list[tuple[str, str, str]]:
    rows = []
    for job, contenders in load("programs").items():
        ours = contenders.pop("frostpane")
        for rival, runs in contenders.items():
            for unit, what in [("seconds", "time"), ("bytes", "memory")]:
                values = ratios([run[unit] for run in runs], [run[unit] for run in ours])
                ours_is = "that of one list" if job == "slides" else "ours"
                rows.append((FILES[job], f"{what} of {NAMES[rival]}", f"{shown(values)} times {ours_is}"))
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


Run = dict[str, float]


def times(theirs: list[Run], ours: list[Run], unit: str) -> str:
    return shown(ratios([run[unit] for run in theirs], [run[unit] for run in ours]))


def megabytes(runs: list[Run]) -> str:
    return f"{max(run['bytes'] for run in runs) / 1e6:.0f} MB"


def people() -> list[tuple[str, ...]]:
    """Releases of users beside DuckDB."""
    body = []
    for kind, contenders in load("people").items():
        if kind not in FILES:
            continue
        theirs = contenders.pop("duckdb")
        for name, ours in contenders.items():
            _, keys, memory = name.split(", ")
            body.append(
                (
                    FILES[kind],
                    memory.replace("MB", " MB").replace("GB", " GB"),
                    keys.split()[0],
                    times(theirs, ours, "seconds"),
                    times(theirs, ours, "cpu_seconds"),
                    megabytes(ours),
                    times(theirs, ours, "bytes"),
                )
            )
    return body


def private_people() -> list[tuple[str, str, str]]:
    """A tenth of the users, beside OpenDP."""
    tenth = load("people")["tenth"]
    return [
        (
            "a million events of users, private release of 4 keys a user and day",
            f"{what} of OpenDP with Polars",
            f"{times(tenth['opendp'], tenth['frostpane'], unit)} times ours",
        )
        for unit, what in UNITS.items()
    ]


UNITS = {"seconds": "time", "cpu_seconds": "time of the processor", "bytes": "memory"}


def state() -> list[tuple[str, str, str]]:
    """A state on disk beside a release in memory."""
    kinds = {"txt": "text file", "csv": "CSV", "parquet": "Parquet"}
    results = load("state")
    rows = [
        (
            f"10 million events, {kinds[kind]}, taken into a state on disk",
            "speed of `ingest`, of that of `list`",
            shown(
                ratios([run["seconds"] for run in runs["list"]], [run["seconds"] for run in runs["ingest"]]),
                2,
            ),
        )
        for kind, runs in results["ingest"].items()
    ]
    opened = results["open"]
    rows.append(
        (
            f"state with a window of {opened['window']:,} events",
            "time to open it; size on disk",
            f"{shown(sorted(opened['seconds']), 2)} s; {opened['bytes'] / 1e6:.0f} MB",
        )
    )
    return rows


def gaussian() -> list[tuple[str, str, str]]:
    return [
        (
            f"discrete Gaussian values, deviation {deviation}",
            "speed against OpenDP",
            f"{shown(ratios(rates['frostpane'], rates['opendp']), 0)}; {median(rates['frostpane']) / 1e6:.0f} million a second",
        )
        for deviation, rates in load("gaussian").items()
    ]


def python_package() -> str:
    """The Python package beside Rust and its rivals, for docs/python.md."""
    results = load("python")
    body = [
        (COLUMNS[name], "speed, of that of Rust", shown(ratios(kinds["rust"], kinds[name]), 2))
        for kinds in results["columns"].values()
        for name in kinds
        if name != "rust"
    ]
    for unit, contenders in results["release"].items():
        for rival in ["opendp", "pipelinedp"]:
            for ours, memory in {"frostpane": "64 MB", "frostpane, 4GB": "4 GB"}.items():
                theirs = contenders[rival]
                if not theirs:
                    continue
                values = ratios(theirs, contenders[ours][: len(theirs)])
                outcome = (
                    f"{shown(values)} times ours" if len(values) > 1 else f"{values[0]:.0f} times ours, once"
                )
                body.append((f"{FRAMES[unit]}, {memory}", f"time, {FRAME_RIVALS[rival]}", outcome))
    imported = {name: median(seconds) for name, seconds in results["import"].items()}
    alone = {name: 1e3 * (seconds - imported["nothing"]) for name, seconds in imported.items()}
    outcome = f"{alone['frostpane']:.0f} ms; {alone['opendp']:.0f} ms"
    body.append(("an import", "`frostpane`; `opendp.prelude`, without the interpreter", outcome))
    return table("what", "measured", "outcome", body=body)


def spark() -> str:
    """Panes that Spark builds beside the plain count in them, for docs/spark.md."""
    results = load("spark")
    events = results["events of the stream"]
    body = []
    for unit, plain in PLAIN.items():
        measured = results[unit]
        times = shown(ratios(measured["frostpane"], measured["plain"]), 2)
        body.append((f"panes of {unit}", f"time, of that of {plain}", times))
        for name, whose in {"plain": "the plain count", "frostpane": "ours"}.items():
            each = measured["shuffled"][name] / events
            body.append((f"panes of {unit}", f"bytes shuffled for an event, {whose}", f"{each:.1f}"))
        size = measured["bytes"]["panes"] / 1e6
        body.append((f"panes of {unit}", "all panes of the week", f"{size:.1f} MB"))
        body.append((f"panes of {unit}", "release on the driver", f"{median(measured['release']):.1f} s"))
    body.append(("driver", "memory of its Python, at the most", f"{results['driver'] / 1e6:.0f} MB"))
    return table("what", "measured", "outcome", body=body)


def service() -> str:
    """The service under load, for docs/service.md."""
    results = load("service")
    speed, disk = results["events_per_second"], results["from_disk_events_per_second"]
    memory, heard = results["memory_mb"], results["listeners"]
    answers = results["overload"]["answers"]
    quantiles = "{p50:.1f} ms; {p99:.1f} ms".format
    load_of = f"{results['clients']} clients for {results['seconds']:.0f} s, {results['lines_per_request']:,} lines a request"
    body = [
        (load_of, "events a second", f"{speed / 1e6:.1f} million"),
        (
            load_of,
            "of what `frostpane ingest` does with the same lines on disk",
            shown(sorted(speed / each for each in disk), 2),
        ),
        (load_of, "a request, p50; p99", quantiles(**results["ingest_ms"])),
        (load_of, "`releases/latest` meanwhile, p50; p99", quantiles(**results["latest_ms"])),
        (load_of, "memory, halfway; at the end", f"{memory[len(memory) // 2]} MB; {memory[-1]} MB"),
        (
            f"{heard['of']:,} who listen",
            "hear the next list",
            f"{heard['heard']:,}, within {heard['seconds']:.2f} s",
        ),
        (
            "40 clients with 20 MB each",
            "answers",
            ", ".join(f"{count} times {status}" for status, count in answers.items()),
        ),
        ("a second later", "answer", str(results["overload"]["after"])),
    ]
    return table("what", "measured", "outcome", body=body)


PLAIN = {"events": "`groupBy(pane, key).count()`", "people": "`dropDuplicates` and that count"}

COLUMNS = {
    "arrow strings": "column of strings, pyarrow",
    "polars string views": "column of strings, Polars",
    "numpy uint64": "integers, numpy's uint64",
    "numpy int64": "integers, numpy's int64",
}
FRAMES = {
    "events": "private release of a frame of 10 million events",
    "people": "private release of a frame of 10 million events of a million people, 4 keys a day",
}
FRAME_RIVALS = {"opendp": "OpenDP with Polars, on two threads", "pipelinedp": "PipelineDP on this machine"}


def table(*head: str, body: list[tuple[str, ...]]) -> str:
    return rows([head, ("---",) * len(head), *body])


def rows(cells: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def tables() -> str:
    """All tables of docs/measurements.md."""
    streams = table("stream", "measured", "L2, the default", "L1", body=ingestion())
    rest = [*programs(), *memory(), *releases(), *state(), *gaussian(), *private_people()]
    of_people = table(
        "people",
        "`--memory`",
        "`--per-user`",
        "time of DuckDB, of ours",
        "of the processor",
        "our memory, at the most",
        "memory of DuckDB, of ours",
        body=people(),
    )
    return "\n\n".join([streams, table("what", "measured", "outcome", body=rest), of_people])


def lists_of_people() -> str:
    """Accuracy on real streams, for docs/people.md."""
    body = [
        (
            TITLES_OF_PEOPLE[case["stream"]],
            str(case["per_user"]),
            str(case["top"]),
            f"{case['counted']:.0%}",
            f"{case['deviation']:.1f}",
            str(case["threshold"]),
            f"{case['could_be_listed']} of {case['truly']}",
            f"{case['listed']:.0f}",
            f"{case['f1']:.2f}",
            f"{case['error_of_counted']:.1f}",
            f"{case['error_of_all']:.0f} of {case['mean_of_all']:.0f}",
            f"{case['untrue'] / case['releases']:.1%}",
        )
        for case in load("real-people")
    ]
    return table(*COLUMNS_OF_PEOPLE, body=body)


TITLES_OF_PEOPLE = {
    "mathoverflow_answers": "MathOverflow",
    "retail_items": "shop",
    "commits_folder": "Django",
}
COLUMNS_OF_PEOPLE = [
    "stream",
    "C",
    "`--top`",
    "counted",
    "deviation",
    "threshold",
    "could be listed",
    "listed",
    "F1",
    "off from what counts",
    "off from all, of",
    "untrue",
]


def five_lines() -> str:
    """The table of the README."""
    streams = load("ingest")
    files = load("programs")
    largest = load("memory")[-1]

    def speed(stream: str) -> tuple[str, str]:
        def of(norm: str) -> str:
            ours = f"uniform{norm}"
            ratio = against(streams[stream], ours, "exact window")
            return f"{rate(streams[stream], ours)} million events a second, {ratio} times an exact window"

        l2, l1 = map(of, NORMS)
        return (STREAMS[stream], f"{l2}; L1: {l1}")

    def rival(job: str, name: str) -> tuple[str, str]:
        ours, theirs = files[job]["frostpane"], files[job][name]
        time, space = (
            shown(ratios([run[unit] for run in theirs], [run[unit] for run in ours]))
            for unit in ["seconds", "bytes"]
        )
        return (
            f"10 million events, {FILES[job]}",
            f"{NAMES[name]}: {time} times our time, {space} times our memory",
        )

    lines = [
        ("what", "median of 5 (least to largest), L2 unless said"),
        ("---",) * 2,
        speed("zipf"),
        speed("flat"),
        rival("txt", "duckdb"),
        rival("private", "opendp, counted in a dict"),
        (f"window of {largest['window']:,} events", f"{largest['measured'] / 1e6:.0f} MB"),
    ]
    return rows(lines)


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


def labelled(contender: str) -> str:
    """The name, with the norm for Frostpane."""
    return contender if contender in RIVALS or contender.endswith(", L2") else f"{contender}, L1"


def picture() -> str:
    body, y = [], 56
    results = load("ingest")
    for stream, title in TITLES.items():
        rates = {labelled(name): rates for name, rates in results[stream].items() if name != "plain pass"}
        fastest_first = dict(sorted(rates.items(), key=lambda rate: -median(rate[1])))
        text, y = panel(f"Million events a second: {title}", fastest_first, y, 0)
        body.append(text)
    for job, contenders in load("programs").items():
        if job in ["txt", "csv", "parquet"]:
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


def put(file: Path, text: str) -> None:
    """Replaces the text between the marks in a file."""
    before, rest = file.read_text().split(BEGIN)
    after = rest.split(END)[1]
    file.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main() -> None:
    (ROOT / "docs" / "speed.svg").write_text(picture())
    put(ROOT / "docs" / "measurements.md", tables())
    put(ROOT / "docs" / "people.md", lists_of_people())
    put(ROOT / "docs" / "python.md", python_package())
    put(ROOT / "docs" / "spark.md", spark())
    put(ROOT / "docs" / "service.md", service())
    put(ROOT / "README.md", five_lines())


main()
