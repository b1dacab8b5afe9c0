"""How large a fault must be for an evaluation to find it: the operating characteristics of its criteria.

Controls with a fault of several sizes run in the scenarios of the criteria that ask for it, and the
evaluation, with its further runs, is repeated with runs drawn from these and from those of the baselines. The
probabilities are written into the package, and every page shows those of its criteria and its mode.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import faulty
import faulty_in_time
import numpy as np

import ackclock
from ackclock import engine
from ackclock.names import slug
from ackclock.runs import Store, drive, places, progress
from ackclock_evaluate import power
from ackclock_evaluate.cell import Cell, Criterion
from ackclock_evaluate.results import Measured, Request
from ackclock_evaluate.setting import Mode, Subject
from ackclock_evaluate.suites import chosen
from ackclock_evaluate.work import FIRST_RUNS, MOST_RUNS, Work

OTHER_RUNS = 1000
"""Number of the first run of a control, so that its random streams differ from the baselines'."""
FOUND, PASSED = ("worse", "fails"), ("better", "like", "not worse", "holds")
REPEATED = 200
"""Evaluations that are repeated; the standard error of a probability is at most 3.5 points."""


def _own(base: type[faulty.Honest], **attributes: object) -> Subject:
    name = slug("-".join([base.__name__, *(f"{value:g}" for value in attributes.values())]))
    ackclock.register(name, type(base.__name__, (base,), attributes))
    return Subject(name)


@dataclass(frozen=True)
class Family:
    """Controls with the same fault in several sizes, the first of which is honest."""

    name: str
    sizes: tuple[float, ...]
    control: Callable[[float], Subject]
    criteria: tuple[str, ...]
    runs: int = MOST_RUNS
    """Runs that the repeated evaluations are drawn from; fewer where the control is slow."""


FAMILIES = (
    Family(
        "packets gained per round trip",
        (1, 1.25, 1.5, 2, 4),
        lambda size: Subject("aimd", {"alpha": size, "beta": 0.5}),
        ("mixed", "loss"),
    ),
    Family(
        "share of the window kept at a loss",
        (0.5, 0.7, 0.8, 0.9, 0.95),
        lambda size: Subject("aimd", {"alpha": 1.0, "beta": round(1 - size, 2)}),
        ("mixed", "loss"),
    ),
    Family(
        "loss that is ignored, %",
        (0, 0.1, 1, 3, 10),
        lambda size: _own(faulty.IgnoresSome, ignored=size / 100),
        ("loss",),
        runs=10,
    ),
    Family(
        "power of 40 ms/RTT by which it grows",
        (0, 1, 2, 3),
        lambda size: _own(faulty.UnfairByRtt, exponent=size),
        ("rtt",),
        runs=10,
    ),
    Family(
        "gives way to a queue of 1/x ms",
        (0, 0.02, 0.1, 0.2, 1),
        lambda size: _own(faulty.GivesWay, queue_s=0.001 / size if size else math.inf),
        ("compete",),
    ),
    Family(
        "flows in one after 100 s",
        (1, 1.5, 2, 4, 8),
        lambda size: _own(faulty.TurnsMuchLater, flows=size),
        ("late",),
    ),
    Family(
        "packets sent at once after a minute of silence",
        (10, 50, 200, 1000),
        lambda size: _own(faulty_in_time.BurstsAfterAMinute, burst=size),
        ("late",),
    ),
)


class Repeated(Work):
    """An evaluation with runs drawn from another evaluation, with replacement."""

    def __init__(self, pool: Work, shipped: set[tuple[int, int]], seed: int) -> None:
        self.__dict__ |= copy.copy(pool).__dict__
        self.pool, self.shipped = pool, shipped
        self.runs = [FIRST_RUNS[pool.request.mode]] * len(pool.cells)
        self._random = np.random.default_rng(seed)
        self._drawn: dict[tuple[int, int], list[int]] = {}

    def measured(self, cell: int, subject: int) -> Measured:
        """Return the first of the drawn runs of a control in a cell: of a shipped baseline, all."""
        numbers = self.pool.measured(cell, subject).numbers
        key = (cell, subject)
        if key not in self._drawn:
            self._drawn[key] = self._random.integers(0, len(numbers), MOST_RUNS).tolist()
        count = MOST_RUNS if key in self.shipped else self.runs[cell]
        return Measured([numbers[run] for run in self._drawn[key][:count]])


def _undrawn(criterion: Criterion) -> Criterion:
    """Return a criterion without curves, for which the baselines would have to run."""

    def cells(mode: Mode) -> list[Cell]:
        return [replace(cell, drawn=False) for cell in criterion.cells(mode)] if criterion.cells else []

    return replace(criterion, cells=cells)


def _chances(
    family: Family, size: float, mode: Mode, output: Path, jobs: int | None
) -> Iterator[tuple[str, float, float]]:
    """Yield for each criterion how often a fault of a size is found, and how often it passes."""
    subject = family.control(size)
    criteria = tuple(map(_undrawn, chosen(["rfc9743"], family.criteria)))
    with Store(output).opened() as kept, places.opened([subject.name], jobs=jobs) as place:
        pool = Work(Request(subject, criteria, mode=mode, first=OTHER_RUNS), kept)
        pool.runs = [family.runs] * len(pool.cells)
        wanted = pool.all_jobs()
        with progress.Count(len({job.key for job in wanted}), "runs") as bar:
            drive.make(wanted, kept, place, bar)
        shipped = {
            (cell, subject)
            for cell in range(len(pool.cells))
            for subject in range(1, len(pool.request.subjects))
            if all(pool.is_shipped(job) for _, _, job in pool.jobs(cell, subject))
        }
        verdicts: dict[str, list[str]] = {criterion.id: [] for criterion in criteria}
        for seed in range(REPEATED):
            work = Repeated(pool, shipped, seed)
            while work.undecided():
                pass
            for result in work.of_criteria(0):
                verdicts[result.criterion.id].append(result.verdict)
    for name, each in verdicts.items():
        yield name, *(sum(verdict in some for verdict in each) / REPEATED for some in (FOUND, PASSED))


def main() -> None:
    """Run the families, print the probabilities, and write them into the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="numbers of families from 0, with commas; by default all")
    parser.add_argument("--full", action="store_true", help="full mode; by default quick mode")
    parser.add_argument("--jobs", type=int, default=None, help="runs at once; one per core")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/power"))
    given = parser.parse_args()
    known = {str(index): index for index in range(len(FAMILIES))}
    if unknown := [index for index in given.only.split(",") if index and index not in known]:
        parser.error(f"--only: there is no family {unknown[0]}: choose from 0 to {len(FAMILIES) - 1}")
    wanted = [known[index] for index in given.only.split(",") if index] or [*known.values()]
    mode: Mode = "full" if given.full else "quick"
    replaced = {(mode, FAMILIES[index].name) for index in wanted}
    curves = [curve for curve in power.read() if (curve.mode, curve.fault) not in replaced]
    for family in (FAMILIES[index] for index in wanted):
        by_criterion: dict[str, list[tuple[float, float, float]]] = {}
        for size in family.sizes:
            for name, caught, passed in _chances(family, size, mode, given.output, given.jobs):
                by_criterion.setdefault(name, []).append((size, caught, passed))
                print(f"{family.name} {size:g}: {name}: found {caught:.0%}, passed {passed:.0%}", flush=True)
        for name, points in by_criterion.items():
            curves.append(power.Curve(mode, name, family.name, *map(list, zip(*points, strict=True))))
    curves.sort(key=lambda curve: curve.mode, reverse=True)
    record = {"ackclock": engine.__version__, "curves": [vars(each) for each in curves]}
    power.FILE.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
