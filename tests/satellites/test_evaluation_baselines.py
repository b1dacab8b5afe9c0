"""Shipped numbers of the baselines: runs that are made again have them, and an evaluation is spared them."""

import random
import subprocess
from pathlib import Path

import polars as pl
import pytest

from ackclock import engine
from ackclock.runs import Job, Store
from ackclock_evaluate import baselines
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import BASELINES, Subject
from ackclock_evaluate.suites import SUITES, chosen
from ackclock_evaluate.work import Work

HOME = Path(baselines.__file__).parent
LONGEST_S = 100.0
"""Longer runs are not drawn."""
SAME = 1e-9
"""Largest relative difference of equal numbers: the mathematics of another processor rounds differently."""


def baseline_jobs(store: Path) -> list[tuple[str, Job]]:
    """Return the runs of the baselines in every cell of every suite, with the cell's name."""
    every = tuple(criterion for name in SUITES for criterion in chosen([name]))
    work = Work(Request(Subject(BASELINES[0]), every, shipped=False), Store(store))
    # The first runs may be drawn, and such a run has no shipped numbers.
    return [
        (work.cells[cell][1].name, job)
        for cell in range(len(work.cells))
        for control in (1, 2)
        for run, _, job in work.jobs(cell, control)
        if run
    ]


def test_every_cell_has_shipped_numbers(tmp_path: Path) -> None:
    known = set(pl.read_parquet(HOME / baselines.DIGESTS).select("scenario", "run").iter_rows())
    missing = {name for name, job in baseline_jobs(tmp_path) if (job.scenario.digest, job.run) not in known}
    assert not missing, "benches/baselines.py computes what is missing"


def test_a_shipped_run_of_each_measure_is_the_same_again(tmp_path: Path) -> None:
    """Draw the runs by the hash of the commit; another commit draws others."""
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=HOME, capture_output=True, text=True, check=False)
    drawn = random.Random(git.stdout.strip())  # noqa: S311
    shipped = baselines.read()
    of_measure: dict[str, list[tuple[str, Job]]] = {}
    for cell, job in baseline_jobs(tmp_path):
        if job.scenario.duration_s <= LONGEST_S:
            measure = baselines.key_of(job)[1].partition("(")[0]
            of_measure.setdefault(measure, []).append((cell, job))
    digests = pl.read_parquet(HOME / baselines.DIGESTS)
    for cell, job in map(drawn.choice, of_measure.values()):
        run = engine.simulate(job.scenario, run=job.run, record=job.record)
        (known,) = digests.filter(scenario=job.scenario.digest, run=job.run)["digest"]
        assert run.summary["digest"] == known, cell
        assert job.measure is not None
        again = job.measure(run)["numbers"]
        assert shipped.runs(job)[job.run] == pytest.approx(again, rel=SAME, nan_ok=True)


def test_an_evaluation_runs_only_the_candidate_and_what_is_drawn(tmp_path: Path) -> None:
    request = Request(Subject("illinois"), chosen(["rfc9743"], ["mixed", "loss"]))
    work = Work(request, Store(tmp_path))
    jobs = {job.key: job for job in work.all_jobs()}.values()
    for job in jobs:
        own = "illinois" in job.scenario.controls
        drawn = getattr(job.measure, "drawn", False)
        assert own or drawn, job.scenario.controls
    # 16 cells of harm and 6 of loss, five runs of the candidate each; the 16 are drawn with CUBIC, too.
    assert len(jobs) == 5 * (16 + 6) + 16
    assert all(len(list(work.jobs(cell, 1))) % baselines.RUNS == 0 for cell in range(len(work.cells)))


def test_other_seeds_have_no_shipped_numbers(tmp_path: Path) -> None:
    request = Request(Subject("illinois"), chosen(["rfc9743"], ["loss"]), seed=2)
    assert len(Work(request, Store(tmp_path)).all_jobs()) == 3 * 5 * 6
