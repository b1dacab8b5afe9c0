"""Figures of papers, made again: simulate, measure, draw, judge, write."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from ackclock import api, plots, report, storage, sweep
from ackclock.papers import PAPERS
from ackclock.papers.figure import Figure, Paper, Runs

Selected = list[tuple[Paper, Figure]]


def select(targets: Sequence[str]) -> Selected:
    """Find the figures that are meant.

    Parameters
    ----------
    targets : sequence of str
        As in ``illinois`` or ``illinois/figure-8``; none is all.

    Returns
    -------
    list of (Paper, Figure)
        Each once.

    Raises
    ------
    LookupError
        When there is no such paper or figure; the message suggests one.
    """
    every = {
        f"{paper.name}/{figure.name}": (paper, figure)
        for paper in PAPERS.values()
        for figure in paper.figures.values()
    }
    chosen: dict[str, tuple[Paper, Figure]] = {}
    for target in targets or PAPERS:
        wanted = target.strip("/")
        found = {key: one for key, one in every.items() if wanted in (key, key.split("/")[0])}
        if not found:
            words = [*PAPERS, *every]
            close = difflib.get_close_matches(target, words, 1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(words)}"
            raise LookupError(f"there is no {target}: {hint}")
        chosen |= found
    return list(chosen.values())


def reproduce(figures: Selected, output: Path, jobs: int | None = None) -> list[dict[str, Any]]:
    """Make figures again: pictures, data and verdicts, and the page that shows them all.

    Parameters
    ----------
    figures : list of (Paper, Figure)
        As `select` gives them.
    output : Path
        Directory of the page; figures that it has already stay on it.
    jobs : int, optional
        Runs at once; by default one per core.

    Returns
    -------
    list of dict
        The verdicts, with paper and figure.

    Raises
    ------
    StorageError
        When something cannot be written.
    """
    places = [output / paper.name / figure.name for paper, figure in figures]
    for place in places:
        storage.refuse_unless_free(place, force=True, is_result=_is_figure)
    results = iter(sweep.run_all([case for _, one in figures for case in one.cases.values()], jobs))
    verdicts = []
    for place, (paper, figure) in zip(places, figures, strict=True):
        runs = {name: next(results) for name in figure.cases}
        record = _write(place, paper, figure, runs)
        verdicts += [{"paper": paper.name, "figure": figure.name} | v for v in record["verdicts"]]
    report.write(output, PAPERS.values())
    return verdicts


def _is_figure(directory: Path) -> bool:
    endings = {".parquet", ".png", ".pdf", ".json"}
    return (directory / "figure.json").is_file() and all(
        one.suffix in endings or one.name == "scenarios" for one in directory.iterdir()
    )


def _write(place: Path, paper: Paper, figure: Figure, runs: Runs) -> dict[str, Any]:
    numbers = figure.measure(runs)
    record = {
        "paper": paper.name,
        "name": figure.name,
        "version": api.__version__,
        "cases": {
            name: {"file": f"scenarios/{_slug(name)}.toml", "runs": len(of_case)}
            for name, of_case in runs.items()
        },
        "verdicts": [asdict(verdict) for verdict in figure.judge(numbers)],
    }
    with storage.new_directory(place, force=True, is_result=_is_figure) as directory:
        storage.write_table(numbers, directory, "numbers")
        for table in ("windows", "events"):
            frame = _over_cases(figure, runs, table)
            if frame is not None:
                storage.write_table(frame, directory, table)
        (directory / "scenarios").mkdir()
        for name, of_case in runs.items():
            file = directory / "scenarios" / f"{_slug(name)}.toml"
            file.write_text(of_case[0].scenario, encoding="utf-8")
        with plots.in_style():
            plots.save(figure.draw(runs, numbers), directory, figure.name)
        (directory / "figure.json").write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    return record


def _over_cases(figure: Figure, runs: Runs, table: str) -> pl.DataFrame | None:
    frames = [
        getattr(run, table).select(
            pl.lit(name).alias("case"), pl.lit(number).alias("run"), pl.all()
        )
        for name, case in figure.cases.items()
        if case.record
        for number, run in enumerate(runs[name])
    ]
    # Controls have different internals: what one lacks is null.
    return pl.concat(frames, how="diagonal") if frames else None


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")
