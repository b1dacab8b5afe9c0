"""Write the parts of README.md that are made from results: `python docs/make.py readme` runs it.

What stands between two marks is made from what is published of the papers, from the engine next to the
measured tables of ns-2 and Linux, and from the table of speeds. Lines that a command of the README prints are
looked up in what it prints now.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import ackclock
from ackclock.draw import markdown, plots, printed
from ackclock.draw.figure import Group
from ackclock.reproduction.shown import classes, outcome, page, published, telling
from ackclock.reproduction.trials import exchanges
from ackclock.summary import FlowSummary
from ackclock_papers import PAPERS

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
MEASURED = ROOT / "tests" / "data"
SPEEDS = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "images" / "answer.png"
ANSWER = "fit", "figure-1"
"""The figure that the README shows."""
FIRST_RUN = "make run"
BLOCK = re.compile(r"^```(console|python)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

IDEAS = {
    "illinois": ("2008", "queueing delay sets how fast the window grows and how much a loss reduces it"),
    "fit": ("2011", "one flow acts like N flows, and N adapts to the queue"),
    "bic": ("2004", "a binary search for the right window"),
    "africa": ("2005", "HighSpeed TCP until a queue builds up, then Reno"),
    "transient": ("2001", "how TCP, GAIMD, TFRC and TEAR respond to changing conditions"),
}
"""By paper: when it was published, and what it proposes or studies."""


TELLING = "telling: falls with Reno"
"""The head of the column of main claims that are telling: they hold, and fall with Reno, in quick runs."""


def papers() -> list[str]:
    """Return a table with a row per paper: its page, its main claims, and how many of them hold."""
    places = published.folders(PAPERS.values())
    rows = []
    for name, (year, idea) in IDEAS.items():
        paper = PAPERS[name]
        classified = classes.classify(
            paper, [known.record for known in published.read(places[name]).values()]
        )
        holding, asked, others = outcome.counted(classified)
        rest = [len(others.get(group, [])) for group in classes.GROUPS if group != classes.HOLDS]
        fallen = len(telling.by_outcome(paper.exchanges, classified).get(exchanges.FALLS, ()))
        none = ("not published in full", *[""] * (1 + len(classes.GROUPS)))
        counts = (asked, holding, fallen, *rest) if asked else none
        link = f"[{outcome.short_name(paper)}](papers/{name}/README.md)"
        rows.append([link, year, idea, *map(str, counts)])
    first, *further = classes.GROUPS
    heads = ["paper", "year", "what it proposes or studies", "main claims", first, TELLING, *further]
    return markdown.table(heads, rows)


ALONE: tuple[tuple[str, str, str, str, Mapping[str, float]], ...] = (
    ("Reno", "one linux reno", "reno", "linux-2.6", {}),
    ("Reno on NewReno", "one newreno", "reno", "newreno", {}),
    ("Reno on SACK", "one sack1", "reno", "sack", {}),
    ("HighSpeed", "one linux highspeed", "hstcp-table", "linux-2.6", {}),
    ("BIC", "one linux bic", "bic-linux", "linux-2.6", {}),
    # The CUBIC of Linux 2.6.22 keeps 819/1024 of the window.
    ("CUBIC", "one linux cubic", "cubic", "linux-2.6", {"beta": 819 / 1024}),
    ("H-TCP", "one linux htcp", "htcp-linux", "linux-2.6", {}),
    ("Compound", "one linux compound", "compound-linux", "linux-2.6", {}),
    ("Illinois", "one linux illinois", "illinois-linux", "linux-2.6", {}),
    ("Veno", "one linux veno", "veno", "linux-2.6", {}),
)
"""Every flow that ns-2 has alone: name, case of `tests/data/ns2`, and ours with its parameters."""
IN_LINUX = {"reno": "reno", "cubic": "cubic-linux", "highspeed": "hstcp-table"}
"""The controls that were measured in Linux 6.12, and ours."""
LEFT_OUT_S = 5.0


def flow(scenario: Mapping[str, Any], control: str, rtt: str, **keys: Any) -> FlowSummary:
    """Return the summary of a flow that is alone on a path."""
    flows = [{"controller": control, "rtt": rtt} | keys]
    run = ackclock.simulate({**scenario, "flow": flows}, record=False)
    return run.summary["flows"][0]


def _measured(value: float | None) -> float:
    if value is None:
        raise ValueError("a flow alone on its path has sent nothing")
    return value


def next_to_ns2() -> Iterator[tuple[str, float, float, int, int]]:
    """Yield for each control its name, the goodputs of ns-2 and ours in Mbit/s, and the drops of the two."""
    flows, runs = (
        pl.read_csv(MEASURED / "ns2" / f"{table}.csv", infer_schema_length=None)
        for table in ("flows", "runs")
    )
    queue = {"kind": "droptail", "limit": "100 packets"}
    for name, case, control, recovery, parameters in ALONE:
        scenario = {
            "run": {"duration": "300 s", "warmup": "100 s"},
            "dumbbell": {"rate": "100 Mbit/s", "delay": "50 ms", "queue": queue},
            "tcp": {"recovery": recovery},
        }
        given = {"params": parameters} if parameters else {}
        ours = flow(scenario, control, "100 ms", **given)
        theirs = flows.filter(case=case).row(0, named=True)["goodput_mbps"]
        drops = runs.filter(case=case).row(0, named=True)["drops"]
        yield name, theirs, _measured(ours["goodput_mbps"]), drops, ours["dropped_packets"]


def next_to_linux() -> Iterator[tuple[str, float, float]]:
    """Yield for each control its name in Linux, and the mean windows of Linux and ours in packets."""
    lines = (MEASURED / "linux" / "windows.csv").read_text(encoding="ascii").splitlines()
    heads, *rows = [line.split(",") for line in lines if not line.startswith("#")]
    kept = [row for row in rows if float(row[0]) > LEFT_OUT_S]
    scenario = {
        "run": {"duration": "20 s", "warmup": f"{LEFT_OUT_S:g} s"},
        "tcp": {"profile": "linux", "packet": "1014 B"},
        "dumbbell": {
            "rate": "10 Mbit/s",
            "delay": "30 ms",
            "queue": {"kind": "droptail", "limit": "50 packets"},
        },
    }
    for name, control in IN_LINUX.items():
        turns = [index for index, head in enumerate(heads) if head == name]
        theirs = sum(float(row[index]) for row in kept for index in turns) / (len(kept) * len(turns))
        yield name, theirs, _measured(flow(scenario, control, "60 ms")["mean_window"])


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def accuracy() -> list[str]:
    """Return how right and how fast the simulator is, in three lines."""
    alone = list(next_to_ns2())
    off = max(abs(ours / theirs - 1) for _, theirs, ours, *_ in alone)
    same = sum(theirs == ours for *_, theirs, ours in alone)
    worst, _, _, theirs_lost, ours_lost = max(alone, key=lambda row: abs(row[4] / row[3] - 1))
    windows = max(abs(ours / theirs - 1) for _, theirs, ours in next_to_linux())
    (one, many), machine = speeds()
    return [
        f"- **Compared with ns-2.35**, the goodputs of {len(alone)} single flows differ by at most "
        f"{_percent(off)}. Queue drops are equal for {same} of them; {worst} differs most, with "
        f"{ours_lost} drops instead of {theirs_lost}.",
        f"- **Compared with Linux 6.12**, the mean windows of {len(IN_LINUX)} controls differ by at most "
        f"{_percent(windows)}.",
        f"- **One core** of an {machine} simulates {one} million packets per second with one flow, and "
        f"{many} million with 1000.",
    ]


def speeds() -> tuple[tuple[str, str], str]:
    """Return the speeds of one flow and of 1000, in million packets per second, and the processor."""
    text = SPEEDS.read_text(encoding="utf-8").split("<!-- speed: ")[1].split("<!-- end of speed")[0]
    machine = re.search(r"^- processor: (.+?)(?: Processor)?, \d+ cores$", text, re.MULTILINE)
    if machine is None:
        raise LookupError(f"{SPEEDS.name} does not say on which processor its speeds were measured")
    row = re.compile(r"^\| (.+?) \|(?: [\d.]+ \|){3} ([\d.]+) \|", re.MULTILINE)
    by_load = dict(row.findall(text))
    values = tuple(
        f"{float(by_load[load]):.2g}" for load in ("one Reno flow, 2.5 Gbit/s", "1000 Reno flows, 2.5 Gbit/s")
    )
    return (values[0], values[1]), machine[1].replace("(R)", "").replace("  ", " ")


MADE = {"papers": papers, "accuracy": accuracy}
"""The parts between two marks, and the functions that make them."""


def marked(name: str) -> tuple[str, str]:
    """Return the marks around a part."""
    return f"<!-- {name}: made by docs/make.py readme -->", f"<!-- end of {name} -->"


def text() -> str:
    """Return the README with its parts made again; this takes a few seconds."""
    whole = README.read_text(encoding="utf-8")
    for name, make in MADE.items():
        begin, end = marked(name)
        before, rest = whole.split(begin, 1)
        whole = before + "\n".join([begin, *make(), end]) + rest.split(end, 1)[1]
    return whole


def answer() -> Group:
    """Return the first two charts of the figure, from what is published of its paper."""
    paper, name = PAPERS[ANSWER[0]], ANSWER[1]
    known = published.read(published.folders([paper])[paper.name])[name]
    with tempfile.TemporaryDirectory() as folder:
        published.unpack({name: known}, Path(folder))
        figure = page.figure(Path(folder) / name, page.stated_for(paper, paper[name]))
    if not isinstance(figure, Group):
        raise TypeError(f"{paper.name}/{name} has no charts")
    return Group(figure.charts[:2], columns=2)


def points(figure: Group) -> dict[str, list[list[float]]]:
    """Return the points of a figure by chart and series, with six digits, as metadata of the picture."""
    return {
        f"{chart.key}, {series.name}": [
            [float(f"{x:.6g}"), float(f"{y:.6g}")]
            for x, y in zip(np.atleast_1d(series.x), np.atleast_1d(series.y), strict=True)
        ]
        for chart in figure.charts
        for series in chart.series
    }


def draw() -> None:
    """Draw the answer, with its points in the file."""
    figure = answer()
    description = json.dumps(points(figure))
    with plots.in_style():
        printed.draw(figure).savefig(PICTURE, dpi=130, metadata={"Description": description})


def blocks(language: str, whole: str) -> Iterator[tuple[str, str]]:
    """Yield the blocks of a language: the name of the file, if it is one, and the text."""
    for of, name, body in BLOCK.findall(whole):
        if of == language:
            yield name, body


def commands(whole: str) -> Iterator[tuple[str, list[str]]]:
    """Yield every command of the README with the lines that it is said to print."""
    for _, body in blocks("console", whole):
        for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield command.split("  #")[0].strip(), [line for line in lines if line.strip()]


def prints(said: str, lines: Sequence[str]) -> str | None:
    """Return the line of an output that a line of the README quotes, None if there is none.

    A quoted line that ends in ``…`` is the beginning of a printed one.
    """
    start = said.removesuffix("…")
    return next((line for line in lines if line == said or (start != said and line.startswith(start))), None)


def nearest(said: str, lines: Sequence[str]) -> str:
    """Return the only line of an output with the same words before its first number, or the line itself."""
    words = re.split(r"\d", said)[0]
    similar = [line for line in lines if re.split(r"\d", line)[0] == words]
    return similar[0] if len(similar) == 1 else said


def run(command: str, folder: Path) -> list[str]:
    """Run a command of the README in a folder, and return the lines that it prints."""
    words = shlex.split(command)
    if words[0] != "ackclock":
        raise ValueError(f"{command}: the README quotes what ackclock prints")
    done = subprocess.run(
        [sys.executable, "-m", "ackclock", *words[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command}: status {done.returncode}\n{done.stderr}")
    return [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]


def save_files(whole: str, folder: Path) -> None:
    """Save the files that the README tells its reader to save."""
    for name, body in blocks("python", whole):
        if name:
            (folder / name).write_text(body, encoding="utf-8")


def missing(lines: Sequence[str], printed_lines: Sequence[str]) -> list[str]:
    """Return the quoted lines that an output does not have."""
    return [said for said in lines if prints(said, printed_lines) is None]


def with_outputs(whole: str) -> str:
    """Return the README with every quoted line as its command prints it now; `make run` is not called."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_files(whole, folder)
        for command, lines in commands(whole):
            if command.startswith("make "):
                continue
            if ">" in command:
                command, _, file = (part.strip() for part in command.partition(">"))
                (folder / file).write_text("\n".join(run(command, folder)) + "\n", encoding="utf-8")
                continue
            output = run(command, folder)
            for said in missing(lines, output):
                whole = whole.replace(said, nearest(said, output))
    return whole


def write() -> None:
    """Write the README and its picture."""
    README.write_text(with_outputs(text()), encoding="utf-8")
    draw()


if __name__ == "__main__":
    # CI passes the output of `make run` as standard input.
    ((_, quoted),) = [entry for entry in commands(README.read_text("utf-8")) if entry[0] == FIRST_RUN]
    if absent := missing(quoted, [line.rstrip() for line in sys.stdin]):
        sys.exit("\n".join(["README.md quotes what make run does not print:", *absent]))
