"""An evaluation: every cell runs with the candidate and with each baseline in its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ackclock import engine
from ackclock.engine import controls
from ackclock.runs import Limits, Store, drive, places, progress
from ackclock.runs.live import OFF, Live
from ackclock_evaluate.results import Evaluation, Request
from ackclock_evaluate.setting import BASELINES, STANDARD
from ackclock_evaluate.work import FIRST_RUNS, Work


def evaluate(
    request: Request,
    cache: Path,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    limits: Limits | None = None,
    shown: bool = True,
    tell: Callable[[str], object] | None = None,
    live: Live = OFF,
) -> Evaluation:
    """Measure the candidate, the baselines and the further controls, and judge.

    Numbers are kept in `cache`, from which the evaluation of the next control reuses those of the
    baselines. There are `jobs` runs at once, by default one per core, or the workers of a Dask
    `cluster` make them; controls that are not built in have the default `Limits`. `tell` is called
    with a line when cells get more runs; `live` is a page for progress and interim results. A
    baseline whose run fails raises a SimulationError.
    """
    names = [subject.name for subject in request.subjects]
    refuse_unknown(request)
    with (
        Store(cache).opened() as kept,
        places.opened(names, jobs=jobs, cluster=cluster, limits=limits) as place,
    ):
        work = _complete(request, kept)
        request = work.request
        if live.is_on:
            # The module imports Matplotlib, which is slow.
            from ackclock_evaluate.interim import Interim

            live.shows(Interim(work))
        while True:
            wanted = work.all_jobs()
            unique = {job.key: job for job in wanted}
            expected = sum(job.expected_packets for job in unique.values())
            with progress.Count(len(unique), "runs", shown=shown, live=live, packets=expected) as bar:
                drive.make(wanted, kept, place, bar)
            _refuse_failed_baselines(work)
            if not work.undecided():
                break
            if tell is not None:
                more = sum(runs > FIRST_RUNS[request.mode] for runs in work.runs)
                tell(f"adding runs to {more} undecided cells")
        live.settle()
        answers = {job.key: kept.get(job.key) for job in work.all_jobs()}
        packets = sum(answer.packets for answer in answers.values() if answer is not None)
        others = {
            subject.name: work.of_criteria(index) for index, subject in enumerate(request.subjects) if index
        }
        mine = work.of_criteria(0)
        return Evaluation(request, mine, others, packets, work.versions(mine))


def _complete(request: Request, kept: Store) -> Work:
    """Leave out criteria of an earlier evaluation if any of their runs is missing."""
    work = Work(request, kept)
    incomplete = {
        criterion.key
        for cell, (criterion, _) in enumerate(work.cells)
        if criterion.key in request.previous
        for subject in range(len(request.subjects))
        if not work.is_complete(cell, subject)
    }
    left = tuple(criterion for criterion in request.criteria if criterion.key not in incomplete)
    return Work(replace(request, criteria=left), kept) if incomplete else work


def refuse_unknown(request: Request) -> None:
    """Load the controls; unknown controls and parameters raise a ScenarioError."""
    controls.load_missing([subject.name for subject in request.subjects])
    for subject in request.subjects:
        try:
            engine.read(STANDARD.scenario(subject.flow("c", STANDARD.rtt_ms), duration_s=2))
        except engine.ScenarioError as error:
            text = str(error).removeprefix("scenario: ").removeprefix("flow.0.")
            raise engine.ScenarioError(f"{subject.name}: {text}") from error


def _refuse_failed_baselines(work: Work) -> None:
    for cell, (criterion, described) in enumerate(work.cells):
        for index, subject in enumerate(work.request.subjects):
            errors = work.measured(cell, index).errors if subject.name in BASELINES and index else []
            if errors:
                raise engine.SimulationError(
                    f"{criterion.id}, {described.name}: the baseline {subject.name} failed: {errors[0]}"
                )
