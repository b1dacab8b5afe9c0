"""What `ackclock reproduce` does in place of reproducing: it tries settings and controls, or plans runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ackclock.reproduction.claims.artefact import Artefact
    from ackclock.reproduction.claims.numbers import Effort
    from ackclock.reproduction.paper import Paper
    from ackclock.reproduction.trials.cells import Cell


def infer(
    papers: list[Paper],
    output: Path,
    jobs: int | None,
    tell: Callable[[str], None],
    settings: int | None,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Infer the settings of papers, and write them."""
    from ackclock.cli import tables
    from ackclock.engine import storage
    from ackclock.reproduction.inference import infer
    from ackclock.reproduction.trials import tried
    from ackclock.runs.store import CACHE

    inferred = {}
    count = settings or infer.SETTINGS
    for paper in papers:
        target = output / paper.name / infer.DIRECTORY

        def keep(result: infer.Inferred, target: Path = target) -> None:
            with storage.new_directory(target, force=True, is_result=infer.is_kept) as directory:
                infer.keep(result, directory)

        result = infer.infer(paper, output / CACHE, jobs, tell, count, cluster, keep)
        keep(result)
        _write_readings(output / paper.name / tried.READINGS, result.cells)
        inferred[paper.name] = infer.words(result)
        if not as_json:
            tables.print_setting(paper, result)
    if as_json:
        print(json.dumps(inferred, indent=2, ensure_ascii=False))


def readings(
    chosen: list[tuple[Paper, Artefact]],
    output: Path,
    jobs: int | None,
    tell: Callable[[str], None],
    runs: int | None,
    cluster: str | None,
) -> None:
    """Judge claims at the other values of open items, and write the table."""
    from ackclock.reproduction.inference import readings as judged
    from ackclock.reproduction.inference.search import Search
    from ackclock.reproduction.trials import cells as matrix
    from ackclock.reproduction.trials import tried
    from ackclock.runs import Store
    from ackclock.runs.store import CACHE

    with Store(output / CACHE).opened() as store:
        for name in dict.fromkeys(paper.name for paper, _ in chosen):
            paper = next(paper for paper, _ in chosen if paper.name == name)
            artefacts = [artefact for of, artefact in chosen if of.name == name]
            search = Search(paper, store, jobs, tell, cluster)
            cells = judged.judged(search, artefacts, runs or judged.RUNS, known=paper.trials)
            file = output / name / tried.READINGS
            _write_readings(file, matrix.merge(matrix.read(file), cells))
            print("\n".join(judged.tables(paper, cells)))
            print(f"Table: {file}", file=sys.stderr)


def _write_readings(file: Path, cells: Sequence[Cell]) -> None:
    from ackclock.engine import storage
    from ackclock.reproduction.trials import cells as matrix

    file.parent.mkdir(parents=True, exist_ok=True)
    with storage.sealed_file(file) as new:
        matrix.write(new, cells)


def exchange(
    chosen: list[tuple[Paper, Artefact]],
    papers: Iterable[Paper],
    output: Path,
    jobs: int | None,
    tell: Callable[[str], None],
    effort: Effort,
    planned: bool,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Judge claims with Reno in the place of the paper's control; the exit status is 1 if a run failed."""
    from ackclock.reproduction import exchange as exchanged
    from ackclock.reproduction.trials import exchanges

    results = exchanged.write(chosen, papers, output, effort, jobs, cluster, tell, planned=planned)
    described = {result.paper.name: [row._asdict() for row in result.rows] for result in results}
    lines = "\n".join(result.sentence for result in results)
    print(json.dumps(described, indent=2, ensure_ascii=False) if as_json else lines)
    for result in results:
        print(f"Table: {output / result.paper.name / exchanges.EXCHANGE}", file=sys.stderr)
    if any(result.errors for result in results):
        raise click.exceptions.Exit(1)


def plan(
    chosen: list[tuple[Paper, Artefact]],
    output: Path,
    jobs: int | None,
    tell: Callable[[str], None],
    cluster: str | None,
    quick: bool,
    runs: int | None,
) -> None:
    """Plan the runs of artefacts, and write the tables."""
    from ackclock.engine import storage
    from ackclock.reproduction.inference import plan as planned
    from ackclock.reproduction.library import PLANNED, PLANNED_QUICK
    from ackclock.runs import Store
    from ackclock.runs.store import CACHE

    with Store(output / CACHE).opened() as store:
        pilot = planned.QUICK_PILOT if quick else planned.PILOT
        pilot = replace(pilot, runs=runs or pilot.runs)
        plans = planned.make(chosen, store, jobs, cluster, tell, pilot)
    for name, rows in plans.items():
        file = output / name / (PLANNED_QUICK if quick else PLANNED)
        file.parent.mkdir(parents=True, exist_ok=True)
        every = planned.merge(planned.read(file), rows)
        with storage.sealed_file(file) as new:
            planned.write(new, every)
        runs, cut = sum(row.runs for row in every), sum(bool(row.cut) for row in every)
        print(f"{name}: {runs} runs of {len(every)} scenarios; {cut} need more than they may have ({file})")
