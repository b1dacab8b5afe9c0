"""Make the shipped numbers of the baselines again: 30 runs of each scenario of every suite."""

from __future__ import annotations

import argparse
from pathlib import Path

import ackclock_evaluate
from ackclock.runs import Store, drive, places, progress
from ackclock_evaluate import baselines
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import BASELINES, Subject
from ackclock_evaluate.suites import SUITES, criteria
from ackclock_evaluate.work import Work


def main() -> None:
    """Run what is missing in the cache, and write the tables into the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=None, help="runs at once; by default one per core")
    parser.add_argument("-o", "--output", type=Path, default=Path("results/baselines"))
    given = parser.parse_args()
    every = tuple(criterion for name in SUITES for criterion in criteria(name))
    request = Request(Subject(BASELINES[0]), every, seed=baselines.SEED, shipped=False)
    with Store(given.output).opened() as kept, places.opened(BASELINES, jobs=given.jobs) as place:
        work = Work(request, kept)
        work.runs = [baselines.RUNS] * len(work.cells)
        jobs = list({job.key: job for job in work.all_jobs() if job.run < baselines.RUNS}.values())
        with progress.Count(len(jobs), "runs") as bar:
            drive.make(jobs, kept, place, bar)
        answers = []
        for job in jobs:
            answer = kept.get(job.key)
            if answer is None or answer.error:
                raise SystemExit(f"a run failed: {answer.error if answer else job.scenario.digest}")
            answers.append((job, answer.value))
    home = Path(ackclock_evaluate.__path__[0])
    baselines.write(answers, home)
    for name in (baselines.NUMBERS, baselines.DIGESTS):
        print(f"{home / name}: {(home / name).stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
