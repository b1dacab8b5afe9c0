"""The figures of all artefacts, with made-up numbers: ``every_figure.py FILE`` writes a page."""

from __future__ import annotations

import html
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from ackclock.draw import charts
from ackclock.draw.figure import Drawing, Group
from ackclock.reproduction.claims.artefact import Computed, Simulated
from ackclock.reproduction.claims.figures import with_paper
from ackclock.reproduction.claims.numbers import QUICK, Numbers
from ackclock.reproduction.shown import stated
from ackclock_papers import PAPERS

COLUMNS = (
    "time_s",
    "round_trip",
    "flows",
    "window",
    "rtt_ms",
    "sent_bytes",
    "mbps",
    "progress",
    "share",
    "queue",
    "flow 0",
    "flow 1",
    "flow 2",
    "flow 3",
    "all",
    "fairness",
    "cov",
    "rate",
)
"""A trace that has every key."""
TRACE = pl.DataFrame({name: np.linspace(1.0, 20.0, 40) for name in COLUMNS})


def drawn() -> Iterator[tuple[str, Drawing]]:
    """Yield what every artefact draws, by paper and artefact."""
    for paper_name, paper in PAPERS.items():
        effort = QUICK.at(paper.setting)
        said = stated.load(PAPERS[paper_name].home)
        for artefact in paper.artefacts:
            if isinstance(artefact, Computed):
                rows, traces = artefact.compute(effort)
            else:
                assert isinstance(artefact, Simulated)
                # Three runs, so that everything has an interval; no two numbers are alike.
                rows = {
                    case: [
                        {
                            key: (1 + 0.1 * k) * (1 + 0.01 * n + 0.05 * run)
                            for k, key in enumerate(sorted(keys, key=str))
                        }
                        for run in range(3)
                    ]
                    for n, (case, keys) in enumerate(artefact.supplied(effort))
                }
                traces = dict.fromkeys(artefact.cases(effort), TRACE) if artefact.trace else {}
            figure = artefact.draw(Numbers(rows, paper.setting, printed=artefact.printed), traces)
            if isinstance(figure, Group):
                figure = with_paper(figure, artefact.printed)
            marked = stated.marked(figure, said.get(artefact.name, []))
            assert marked is not None
            yield f"{paper_name}/{artefact.name}", marked


def page() -> str:
    """Return a page of all figures."""
    groups = {name: figure for name, figure in drawn() if isinstance(figure, Group)}
    numbers, _ = charts.data(groups)
    places = "".join(
        f'<section><h2>{name}</h2><div data-charts="{name}"></div></section>'
        for name in map(html.escape, groups)
    )
    return (
        f'<!doctype html><meta charset="utf-8"><title>All figures</title><body>{places}'
        f'<script id="charts-data" type="application/json">{numbers}</script>'
        f"<script>{charts.script()}</script>"
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
