"""Shipped numbers of runs in which only baselines take part, so that they are not simulated again.

A number belongs to the digest of its scenario, the number of its run and the name of its measure. It is
stale when a run that is made again differs, not when a file has changed: a test makes some of them again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import TYPE_CHECKING

from ackclock.runs import Job
from ackclock_evaluate.cell import CellMeasure, CellNumbers
from ackclock_evaluate.runs import RunMeasurement

if TYPE_CHECKING:
    pass

RUNS = 30
"""Number of runs of each scenario."""
SEED = 1
"""Seed of their random streams."""
NUMBERS, DIGESTS = "baselines.parquet", "baseline-runs.parquet"


def label(measure: CellMeasure) -> str:
    """Return the name of a measure with its arguments."""
    if isinstance(measure, functools.partial):
        arguments = ", ".join(f"{name}={value!r}" for name, value in sorted(measure.keywords.items()))
        return f"{label(measure.func)}({arguments})"
    return f"{measure.__module__}.{measure.__qualname__}"


class Shipped:
    """The numbers of shipped runs, by scenario and measure."""

    def __init__(self, rows: Iterable[tuple[str, str, str, list[float | None]]] = ()) -> None:
        self._runs: dict[tuple[str, str], list[CellNumbers]] = {}
        for scenario, measure, metric, values in rows:
            runs = self._runs.setdefault((scenario, measure), [{} for _ in values])
            for run, value in zip(runs, values, strict=True):
                if value is not None:
                    run[metric] = value

    def runs(self, job: Job) -> Sequence[CellNumbers]:
        """Return the numbers of all shipped runs of the scenario of a job, by its measure."""
        return self._runs.get(key_of(job), ())


def key_of(job: Job) -> tuple[str, str]:
    """Return the digest of the scenario of a job and the name of its measure."""
    measure = job.measure.measure if isinstance(job.measure, RunMeasurement) else None
    return job.scenario.digest, "" if measure is None else label(measure)


@functools.cache
def read() -> Shipped:
    """Read the shipped numbers; there are none when the file is missing."""
    file = resources.files("ackclock_evaluate") / NUMBERS
    if not file.is_file():
        return Shipped()
    import polars as pl

    with resources.as_file(file) as path:
        return Shipped(pl.read_parquet(path).iter_rows())
