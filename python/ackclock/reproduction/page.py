"""What shows every artefact with its verdicts: a page for browsers, and a page of Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from ackclock import engine
from ackclock.draw.markdown import table
from ackclock.draw.page import html
from ackclock.engine import storage
from ackclock.reproduction.artefact import Artefact
from ackclock.reproduction.paper import Paper

SHOWN_ROWS = 60
"""More numbers are left to the Parquet file."""


def write(output: Path, papers: Iterable[Paper]) -> None:
    """Write index.html for all artefacts that `output` holds.

    Parameters
    ----------
    output : Path
        Directory with one directory per paper.
    papers : iterable of Paper
        Papers that may be there.

    Raises
    ------
    StorageError
        When the page cannot be written.
    """
    shown = [(paper, _artefacts(output / paper.name, paper)) for paper in papers]
    every = [one for _, artefacts in shown for one in artefacts]
    text = html(
        "report.html",
        papers=[(paper, artefacts) for paper, artefacts in shown if artefacts],
        version=engine.VERSION,
        count=Counter(one["verdict"] for one in every),
        artefacts=len(every),
        claims=sum(len(one["claims"]) for one in every),
        holding=sum(claim["holds"] for one in every for claim in one["claims"]),
        quick=any(one["quick"] for one in every),
    )
    with storage.new_file(output / "index.html") as file:
        file.write_text(text, encoding="utf-8")


def _artefacts(directory: Path, paper: Paper) -> list[dict[str, Any]]:
    found = []
    for artefact in paper.artefacts:
        place = directory / artefact.name
        record = place / "artefact.json"
        if record.exists():
            found.append(_shown(json.loads(record.read_text(encoding="utf-8")), artefact, place))
    return found


def _shown(record: dict[str, Any], artefact: Artefact, place: Path) -> dict[str, Any]:
    numbers = pl.DataFrame()
    if (place / "numbers.parquet").exists():
        numbers = pl.read_parquet(place / "numbers.parquet")
    return record | {
        "title": artefact.title,
        "about": artefact.about,
        "place": f"{place.parent.name}/{place.name}",
        "columns": [name.replace("_", " ") for name in numbers.columns],
        "numbers": [[_cell(value) for value in row] for row in numbers[:SHOWN_ROWS].iter_rows()],
        "more": max(0, numbers.height - SHOWN_ROWS),
        "tables": sorted(file.name for file in place.glob("*.parquet")),
    }


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def markdown(output: Path, papers: Iterable[Paper]) -> str:
    """Give the summary of all verdicts, one row per artefact of every paper.

    Parameters
    ----------
    output : Path
        Directory of a reproduction.
    papers : iterable of Paper
        All papers.

    Returns
    -------
    str
        Tables of Markdown; an artefact that `output` lacks is in them as *not run*.
    """
    lines: list[str] = []
    count: Counter[str] = Counter()
    for paper in papers:
        found = {one["name"]: one for one in _artefacts(output / paper.name, paper)}
        rows = []
        for artefact in paper.artefacts:
            record = found.get(artefact.name, {"verdict": "not run", "claims": []})
            claims = record["claims"]
            count[record["verdict"]] += 1
            holding = sum(claim["holds"] for claim in claims)
            reasons = "<br>".join(
                f"{claim['claim']}: {claim['measured']} ({claim['paper']}). {claim['reason']}"
                for claim in claims
                if not claim["holds"]
            )
            shares = f"{holding} of {len(claims)}"
            rows.append([artefact.name, artefact.caption, record["verdict"], shares, reasons])
        heads = ["artefact", "what", "verdict", "claims", "differs"]
        lines += ["", f"## {paper.title}", *table(heads, rows)]
    words = ", ".join(f"{number} {verdict}" for verdict, number in count.most_common())
    return "\n".join([f"{count.total()} artefacts: {words}.", *lines]) + "\n"
