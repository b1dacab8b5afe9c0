"""The page for browsers that shows every artefact with its verdicts."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import polars as pl

from ackclock import engine
from ackclock.draw import charts, thumbnail
from ackclock.draw.diagram import svg
from ackclock.draw.figure import Drawing, Group
from ackclock.draw.page import html
from ackclock.engine import integrity, lab, storage
from ackclock.reproduction.claims.artefact import Artefact
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ArtefactRecord, alike, reliability, state
from ackclock.reproduction.shown import classes, in_lab, outcome, stated, strips, telling
from ackclock.reproduction.shown.words import (
    at_other_setting,
    explained,
    gain,
    in_ns2,
    losses_table,
    setting_rows,
)
from ackclock.reproduction.trials import cells, exchanges, tried
from ackclock.reproduction.trials.exchanges import Exchanges
from ackclock.reproduction.trials.tried import ClaimKey
from ackclock.runs import progress
from ackclock.runs.live import InterimResults

Described = dict[str, Any]
"""The record of an artefact, and further entries that a page shows."""
PAIRS = 10
"""Most pairs shown of claims that never hold together; claims that hold most often come first."""
NEWEST = 3
"""Figures in the live view."""
NOT_RUN = "not run"
"""Replaces the class of an artefact without a result."""
TONES = {
    classes.HOLDS: "holds",
    classes.OTHER_SIMULATOR: "fails",
    classes.SETTING: "depends",
    classes.OPEN: "undecided",
    classes.FAILED: "failed",
    classes.NO_CLAIM: "no-claim",
    NOT_RUN: "no-claim",
}
"""The style of a group on the page."""
FIGURE = "figure.json"
"""The figure of an artefact."""
TAKEN = (".csv", ".parquet", ".pdf", ".png")
"""Kinds of files that a page links to."""
SHOWN_ROWS = 60
"""More numbers are left to the Parquet file."""


def write(output: Path, papers: Iterable[Paper]) -> None:
    """Write index.html, a map of all artefacts in a directory, and a page with them for each paper.

    `papers` are those that may have artefacts there. The page of a paper is index.html in its directory.
    """
    shown = [(paper, described(output / paper.name, paper)) for paper in papers]
    shown = [(paper, artefacts) for paper, artefacts in shown if artefacts]
    laboratory = lab.page()
    if laboratory is not None:
        storage.write_sealed(output / lab.NAME, laboratory)
    for paper, artefacts in shown:
        _write_paper(output, paper, artefacts, has_lab=laboratory is not None)
    every = [artefact for _, artefacts in shown for artefact in artefacts]
    text = html(
        "report.html",
        papers=[(paper, artefacts, _of_paper(output, paper, artefacts)) for paper, artefacts in shown],
        short_name=outcome.short_name,
        thumbnail=thumbnail.svg,
        version=engine.__version__,
        count=classes.counts(artefact["class"] for artefact in every),
        kinds=Counter(artefact["class"].name for artefact in every),
        groups=classes.GROUPS,
        classes=classes.CLASSES,
        tone=TONES,
        meaning=strips.MEANING,
        of_claims=strips.counts(every),
        reliability=reliability(cast("list[ArtefactRecord]", every)).sentences(),
        quick=any(artefact["quick"] for artefact in every),
    )
    storage.write_sealed(output / "index.html", text)


def _write_paper(output: Path, paper: Paper, artefacts: Sequence[Described], *, has_lab: bool) -> None:
    """Write the page of a paper."""
    text = html(
        "paper.html",
        # The page may be mailed, so that it names the command and not where it is on this machine.
        program="ackclock",
        quoted=shlex.quote,
        charts={
            artefact["name"]: artefact["figure"]
            for artefact in artefacts
            if isinstance(artefact["figure"], Group)
        },
        diagram=svg,
        thumbnail=thumbnail.svg,
        explained=explained,
        at_other_setting=at_other_setting,
        in_ns2=in_ns2,
        exchanged=partial(telling.of_claim, known_exchanges(output / paper.name, paper)),
        in_lab=(lambda file: f"../{_in_lab(output / file)}") if has_lab else None,
        opened_first=lambda artefact: _opened_first(output, artefact),
        gain=gain(paper),
        tone=TONES,
        state=state,
        alike=alike,
        paper=paper,
        short_name=outcome.short_name(paper),
        artefacts=artefacts,
        said=_of_paper(output, paper, artefacts),
        setting=setting_rows(paper),
        pairs=never_together(paper),
        version=engine.__version__,
        quick=any(artefact["quick"] for artefact in artefacts),
    )
    storage.write_sealed(output / paper.name / "index.html", text)


def never_together(paper: Paper) -> list[tuple[ClaimKey, ClaimKey]]:
    """Return claims of two artefacts that hold, but at no setting that was tried both."""
    given = [(first[:2], second[:2]) for first, second in cells.apart(paper.matrix())]
    return [*given, *tried.never_together(paper.trials)][:PAIRS]


def _of_paper(output: Path, paper: Paper, artefacts: Sequence[Described]) -> str:
    """Return how many main claims of a paper hold, and how many of them are telling, as sentences."""
    classified = {artefact["name"]: artefact["class"] for artefact in artefacts}
    holding, total, _ = outcome.counted(classified)
    words = outcome.sentence(holding, total)
    known = known_exchanges(output / paper.name, paper)
    exchanged = telling.counts(telling.by_outcome(known, classified))
    words += f" {exchanged[0].upper()}{exchanged[1:]}." if exchanged else ""
    return f"{words[0].upper()}{words[1:]}"


def so_far(
    output: Path, chosen: Sequence[tuple[Paper, Artefact]], records: Sequence[ArtefactRecord]
) -> InterimResults:
    """Return the state of a reproduction in progress: a row per artefact, and the charts of the newest.

    `records` are those of the finished artefacts, the newest last.
    """
    every = {f"{paper.name}/{artefact.name}": (paper, artefact) for paper, artefact in chosen}
    finished = {f"{record['paper']}/{record['name']}": record for record in records}
    newest: dict[str, Group] = {}
    for name in reversed(finished):
        drawing = figure(output / name, stated_for(*every[name]))
        if isinstance(drawing, Group) and len(newest) < NEWEST:
            newest[name] = drawing
    rows = []
    for name, (_, artefact) in every.items():
        held = ""
        if name in finished:
            claims = finished[name]["claims"]
            held = finished[name]["error"] or f"{sum(claim['holds'] for claim in claims)} of {len(claims)}"
        rows.append([name, artefact.title, held])
    return InterimResults(
        newest,
        ("artefact", "what", "claims that hold"),
        rows,
        f"The charts are those of the newest figures, at most {NEWEST}." if newest else "",
    )


def _opened_first(output: Path, artefact: Described) -> str | None:
    """Return the label of the case that the laboratory opens for an artefact."""
    files = {label: output / artefact["place"] / case["file"] for label, case in artefact["cases"].items()}
    opened = in_lab.first(artefact["paper"], ((label, engine.read(file)) for label, file in files.items()))
    return None if opened is None else opened[0]


def _in_lab(file: Path) -> str:
    """Return the address at which the laboratory opens a scenario."""
    return lab.NAME + lab.fragment(engine.read(file))


def described(directory: Path, paper: Paper) -> list[Described]:
    """Return the artefacts of a paper whose results are in a directory, as pages show them."""
    artefacts = []
    for artefact in paper.artefacts:
        folder = directory / artefact.name
        record = folder / "artefact.json"
        if record.exists():
            problem = integrity.problem_of(folder)
            if problem is not None:
                progress.say(
                    f"{folder}: {problem}; it is left out of the page until "
                    f"ackclock reproduce {paper.name}/{artefact.name} makes it again"
                )
                continue
            artefacts.append(_shown(json.loads(record.read_text(encoding="utf-8")), artefact, paper, folder))
    classified = classes.classify(paper, artefacts)
    exchanged = known_exchanges(directory, paper)
    return [
        artefact
        | {
            "class": of_artefact,
            "found": outcome.found(paper, of_artefact),
            "exchanged": telling.of_main(exchanged, of_artefact),
        }
        for artefact in artefacts
        for of_artefact in (classified[artefact["name"]],)
    ]


def known_exchanges(directory: Path, paper: Paper) -> Exchanges:
    """Return the exchanges of a paper's claims; those in the results replace the published ones."""
    return {**paper.exchanges, **exchanges.read(directory / exchanges.EXCHANGE)}


def stated_for(paper: Paper, artefact: Artefact) -> list[stated.Stated]:
    """Return the numbers that a paper states for the figure of an artefact."""
    return stated.load(paper.home).get(artefact.name, [])


def figure(folder: Path, marks: Sequence[stated.Stated]) -> Drawing | None:
    """Return the figure in the directory of an artefact with marks; None when the artefact failed."""
    file = folder / FIGURE
    return stated.marked(charts.load(file.read_text("utf-8")), marks) if file.exists() else None


def _shown(record: ArtefactRecord, artefact: Artefact, paper: Paper, folder: Path) -> Described:
    marks = stated_for(paper, artefact)
    numbers = pl.DataFrame()
    if (folder / "numbers.parquet").exists():
        numbers = pl.read_parquet(folder / "numbers.parquet")
    return record | {
        "title": f"{outcome.in_print(artefact)}: {artefact.caption}",
        "about": artefact.about,
        "place": f"{folder.parent.name}/{folder.name}",
        "figure": figure(folder, marks),
        "stated": stated.sources(marks),
        "strips": strips.strips(artefact, paper),
        "columns": [name.replace("_", " ") for name in numbers.columns],
        "numbers": [[_cell(value) for value in row] for row in numbers[:SHOWN_ROWS].iter_rows()],
        "losses_table": losses_table(record),
        "more": max(0, numbers.height - SHOWN_ROWS),
        "files": sorted(file.name for file in folder.iterdir() if file.suffix in TAKEN),
    }


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
