"""The page that shows every figure with its verdicts: one file, offline, also on a phone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jinja2
import polars as pl

from ackclock import api, storage
from ackclock.papers.figure import Paper


def write(output: Path, papers: Iterable[Paper]) -> None:
    """Write index.html for all figures that `output` holds.

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
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ackclock"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    shown = [(paper, _figures(output / paper.name, paper)) for paper in papers]
    verdicts = [one for _, figures in shown for figure in figures for one in figure["verdicts"]]
    page = environment.get_template("report.html").render(
        papers=[(paper, figures) for paper, figures in shown if figures],
        version=api.__version__,
        reproduced=sum(verdict["reproduced"] for verdict in verdicts),
        verdicts=len(verdicts),
    )
    with storage.new_file(output / "index.html") as file:
        file.write_text(page, encoding="utf-8")


def _figures(directory: Path, paper: Paper) -> list[dict[str, Any]]:
    figures = []
    for figure in paper.figures.values():
        place = directory / figure.name
        record = place / "figure.json"
        if not record.exists():
            continue
        numbers = pl.read_parquet(place / "numbers.parquet")
        figures.append(
            json.loads(record.read_text(encoding="utf-8"))
            | {
                "title": figure.title,
                "about": figure.about,
                "place": f"{paper.name}/{figure.name}",
                "columns": [name.replace("_", " ") for name in numbers.columns],
                "numbers": [[_cell(value) for value in row] for row in numbers.iter_rows()],
                "tables": sorted(file.name for file in place.glob("*.parquet")),
            }
        )
    return figures


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
