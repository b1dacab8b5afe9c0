"""An evaluation: every cell with the candidate and with each baseline in its place, judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.engine import controls
from ackclock.runs import Limits, Store, drive, places, progress
from ackclock.runs.live import OFF, Live
from ackclock_evaluate.results import Asked, Evaluation
from ackclock_evaluate.setting import BASELINES, STANDARD
from ackclock_evaluate.work import FIRST_RUNS, Work


def evaluate(
    asked: Asked,
    cache: Path,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    limits: Limits | None = None,
    shown: bool = True,
    tell: Callable[[str], Any] | None = None,
    live: Live = OFF,
) -> Evaluation:
    """Measure the candidate and the baselines, and judge.

    Parameters
    ----------
    asked : Asked
        What to do.
    cache : Path
        Directory in which numbers are kept, for the next control, too.
    jobs : int, optional
        Runs at once on this machine; by default one per core.
    cluster : str, optional
        Address of a Dask scheduler; its workers make the runs.
    limits : Limits, optional
        What a run may use; by default those of `Limits` when a control is not built in.
    shown : bool
        Whether a bar with the time left is shown on a terminal.
    tell : callable, optional
        Called with a line when cells get more runs.
    live : Live
        A page that shows how far it is, and what the situations have given that are done.

    Returns
    -------
    Evaluation
        Verdicts and all numbers.

    Raises
    ------
    ScenarioError
        When the candidate cannot be loaded, or a cluster cannot be reached.
    SimulationError
        When a run of a baseline fails.
    StorageError
        When numbers cannot be kept.
    """
    names = [subject.name for subject in asked.subjects]
    refuse_unknown(asked)
    with (
        Store(cache).opened() as kept,
        places.opened(names, jobs=jobs, cluster=cluster, limits=limits) as place,
    ):
        work = _whole(asked, kept)
        asked = work.asked
        if live.is_on:
            # It draws, and Matplotlib is slow to import.
            from ackclock_evaluate.sofar import SoFar

            live.shows(SoFar(work))
        while True:
            wanted = work.all_jobs()
            count = len({job.key for job in wanted})
            with progress.Count(count, "runs", shown=shown, live=live) as bar:
                drive.make(wanted, kept, place, bar)
            _refuse_failed_baselines(work)
            if not work.undecided():
                break
            if tell is not None:
                tell(f"{sum(one > FIRST_RUNS[asked.mode] for one in work.runs)} cells get more runs")
        live.settle()
        made = {job.key: kept.get(job.key) for job in work.all_jobs()}
        packets = sum(answer.packets for answer in made.values() if answer is not None)
        others = {
            subject.name: work.of_criteria(index) for index, subject in enumerate(asked.subjects) if index
        }
        return Evaluation(asked, work.of_criteria(0), others, packets)


def _whole(asked: Asked, kept: Store) -> Work:
    """Leave out what was asked before and would have to be run again."""
    work = Work(asked, kept)
    torn = {
        criterion.key
        for cell, (criterion, _) in enumerate(work.cells)
        if criterion.key in asked.earlier
        for subject in range(len(asked.subjects))
        if any(kept.get(job.key) is None for _, _, job in work.jobs(cell, subject))
    }
    left = tuple(one for one in asked.criteria if one.key not in torn)
    return Work(replace(asked, criteria=left), kept) if torn else work


def refuse_unknown(asked: Asked) -> None:
    """Load the controls, and refuse one that cannot even send on the standard path.

    Parameters
    ----------
    asked : Asked
        What is to be done.

    Raises
    ------
    ScenarioError
        When there is no such control or parameter.
    """
    controls.load_missing([subject.name for subject in asked.subjects])
    for subject in asked.subjects:
        try:
            engine.read(STANDARD.scenario(subject.flow("c", STANDARD.rtt_ms), duration_s=2))
        except engine.ScenarioError as error:
            text = str(error).removeprefix("<mapping>: ").removeprefix("flow.0.")
            raise engine.ScenarioError(f"{subject.name}: {text}") from error


def _refuse_failed_baselines(work: Work) -> None:
    for cell, (criterion, described) in enumerate(work.cells):
        for index, subject in enumerate(work.asked.subjects):
            errors = work.measured(cell, index).errors if subject.name in BASELINES and index else []
            if errors:
                raise engine.SimulationError(
                    f"{criterion.id}, {described.name}: the baseline {subject.name} failed: {errors[0]}"
                )
