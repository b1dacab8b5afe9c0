"""Which verdicts are artefacts of the senders: effects with one of their settings switched off at a time.

A control is compared with the baselines in every quick scenario of RFC 9743 as an evaluation does, and
again without delayed ACKs, without the random delay before each send, and with the profile of ns-2. What
changes by more than a margin and three standard errors is printed, as a table for the documentation.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ackclock.runs import Store, drive, places, progress
from ackclock_evaluate.cell import Cell, Criterion, Parts, words
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import BASELINES, Mode, Subject
from ackclock_evaluate.suites import chosen
from ackclock_evaluate.work import Work

OFF: Mapping[str, Mapping[str, object]] = {
    "delayed ACKs": {"delayed_ack": 1},
    "noise": {"overhead": "0 s"},
    "the profile of Linux": {"profile": "ns2"},
}
"""The effects that are switched off, and the keys of the senders that do so."""
Effects = dict[tuple[str, str, str], tuple[float, float]]
"""The effect in margins and its error, by criterion, cell and metric."""


def _with(criterion: Criterion, keys: Mapping[str, object]) -> Criterion:
    def changed(cell: Cell) -> Cell:
        def parts(subject: Subject) -> Parts:
            return {
                name: replace(part, scenario={**part.scenario, "tcp": {**part.scenario["tcp"], **keys}})
                for name, part in cell.parts(subject).items()
            }

        return replace(cell, parts=parts, drawn=False)

    def cells(mode: Mode) -> list[Cell]:
        return [changed(cell) for cell in criterion.cells(mode)] if criterion.cells else []

    return replace(criterion, cells=cells, further=None)


def _effects(given: argparse.Namespace, keys: Mapping[str, object]) -> Effects:
    control, output, jobs = given.control, given.output, given.jobs
    wanted_criteria = chosen(["rfc9743"], list(filter(None, given.only.split(","))))
    criteria = tuple(_with(criterion, keys) for criterion in wanted_criteria if criterion.cells)
    with Store(output).opened() as kept, places.opened([control, *BASELINES], jobs=jobs) as place:
        work = Work(Request(Subject(control), criteria, shipped=not keys), kept)
        work.runs, work.shares = [given.runs] * len(work.cells), {}
        wanted = work.all_jobs()
        with progress.Count(len({job.key for job in wanted}), "runs") as bar:
            drive.make(wanted, kept, place, bar)
        return {
            (result.criterion.id, cell.cell.name, judged.margin.metric): (
                judged.compared.effect.value,
                judged.compared.effect.error,
            )
            for result in work.of_criteria(0)
            for cell in result.cells
            for judged in cell.judged
        }


def main() -> None:
    """Measure the effects with each setting, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--control", default="bbr")
    parser.add_argument("--only", default="", help="criteria, with commas; by default all")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=None, help="runs at once; one per core")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/artefacts"))
    given = parser.parse_args()
    usual = _effects(given, {})
    changed = {name: _effects(given, keys) for name, keys in OFF.items()}
    print(f"| metric | comparisons | {' | '.join(f'without {name}' for name in OFF)} |")
    print("| --- | --- |" + " --- |" * len(OFF))
    for metric in dict.fromkeys(key[2] for key in usual):
        keys = [key for key in usual if key[2] == metric]
        columns = []
        for effects in changed.values():
            shifts = {
                key: effects[key][0] - usual[key][0]
                for key in keys
                if abs(effects[key][0] - usual[key][0])
                > max(1.0, 3 * np.hypot(effects[key][1], usual[key][1]))
            }
            largest = max(shifts, key=lambda key: abs(shifts[key]), default=None)
            columns.append(
                f"{len(shifts)}: {shifts[largest]:+.1f} in {': '.join(largest[:2])}" if largest else "-"
            )
        print(f"| {words(metric)} | {len(keys)} | {' | '.join(columns)} |")


if __name__ == "__main__":
    main()
