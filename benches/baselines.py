"""Make the shipped numbers of the baselines: 30 runs of each scenario of every suite.

Runs whose numbers are shipped are made again only where that is asked for, because all of them take
minutes; a test makes a sample of them again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

import ackclock_evaluate
from ackclock.runs import Job, Store, drive, places, progress
from ackclock_evaluate import baselines
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import BASELINES, Subject
from ackclock_evaluate.suites import SUITES, criteria
from ackclock_evaluate.work import Work

HOME = Path(ackclock_evaluate.__path__[0])


def main() -> None:
    """Make the missing runs, and write the tables into the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=None, help="runs at once; by default one per core")
    parser.add_argument(
        "--again", default="", help="measures, with commas, whose runs are made again; or all"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("results/baselines"))
    given = parser.parse_args()
    every = tuple(criterion for name in SUITES for criterion in criteria(name))
    request = Request(Subject(BASELINES[0]), every, seed=baselines.SEED, shipped=False)
    with Store(given.output).opened() as kept, places.opened(BASELINES, jobs=given.jobs) as place:
        work = Work(request, kept)
        work.runs = [baselines.RUNS] * len(work.cells)
        jobs = list({job.key: job for job in work.all_jobs() if job.run < baselines.RUNS}.values())
        answers = [] if given.again == "all" else _shipped(jobs, given.again.split(","))
        left = {job.key for job, _ in answers}
        jobs = [job for job in jobs if job.key not in left]
        with progress.Count(len(jobs), "runs") as bar:
            drive.make(jobs, kept, place, bar)
        for job in jobs:
            answer = kept.get(job.key)
            if answer is None or answer.error:
                raise SystemExit(f"a run failed: {answer.error if answer else job.scenario.digest}")
            answers.append((job, answer.value))
    write(answers, HOME)
    for name in (baselines.NUMBERS, baselines.DIGESTS):
        print(f"{HOME / name}: {(HOME / name).stat().st_size / 1e6:.2f} MB")


def _shipped(jobs: Sequence[Job], again: Sequence[str]) -> list[tuple[Job, dict[str, Any]]]:
    """Return the jobs with shipped numbers and their answers, except for the measures in `again`."""
    shipped = baselines.read()
    digests = {
        (scenario, run): digest for scenario, run, digest in pl.read_parquet(HOME / baselines.DIGESTS).rows()
    }
    answers = []
    for job in jobs:
        runs = shipped.runs(job)
        name = baselines.label(job.measure.measure).partition("(")[0].rpartition(".")[2]
        if job.run < len(runs) and name not in again:
            digest = digests[job.scenario.digest, job.run]
            answers.append((job, {"numbers": runs[job.run], "flows": {"digest": digest}}))
    return answers


def tables(answers: Iterable[tuple[Job, dict[str, Any]]]) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables that are shipped, each with the name of its file, from the answers of runs."""
    numbers: dict[tuple[str, str, str], dict[int, float]] = {}
    digests: dict[str, dict[int, str]] = {}
    for job, answer in answers:
        scenario, measure = baselines.key_of(job)
        digests.setdefault(scenario, {})[job.run] = answer["flows"]["digest"]
        for metric, value in answer["numbers"].items():
            numbers.setdefault((scenario, measure, metric), {})[job.run] = value
    rows = [
        (*key, [values.get(run) for run in range(baselines.RUNS)]) for key, values in sorted(numbers.items())
    ]
    schema = {"scenario": pl.String, "measure": pl.String, "metric": pl.String}
    yield baselines.NUMBERS, pl.DataFrame(rows, schema | {"values": pl.List(pl.Float64)}, orient="row")
    runs = [(key, run, digest) for key, by_run in sorted(digests.items()) for run, digest in by_run.items()]
    yield (
        baselines.DIGESTS,
        pl.DataFrame(runs, {"scenario": pl.String, "run": pl.Int64, "digest": pl.String}, orient="row"),
    )


def write(answers: Iterable[tuple[Job, dict[str, Any]]], directory: Path) -> None:
    """Write the tables that are shipped."""
    for name, table in tables(answers):
        table.write_parquet(directory / name, compression="zstd", compression_level=19)


if __name__ == "__main__":
    main()
