"""Many scenarios on all cores: each is simulated once, kept on disk, and measured."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ackclock import engine
from ackclock.engine import controls, integrity, storage
from ackclock.runs import parallel, progress
from ackclock.runs.live import OFF, Live

Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Case:
    """A scenario and how often it is run.

    Attributes
    ----------
    scenario : Path, str, mapping or Scenario
        As `engine.read` takes it.
    runs : int
        How many runs, each with other random streams.
    record : bool
        Whether tables over time are needed, or only the summary.
    """

    scenario: engine.Given
    runs: int = 1
    record: bool = True


@dataclass(frozen=True)
class Task:
    """One run of one scenario; tasks are equal when they give the same run.

    Attributes
    ----------
    scenario : Scenario
        What is run.
    run : int
        Number of the run.
    record : bool
        Whether tables over time are needed.
    """

    scenario: engine.Scenario
    run: int
    record: bool

    @classmethod
    def all_of(cls, case: Case, first: int = 0) -> list[Task]:
        """Give the tasks of a case.

        Parameters
        ----------
        case : Case
            A scenario and its number of runs.
        first : int
            Number of the first run.

        Returns
        -------
        list of Task
            One per run.

        Raises
        ------
        ScenarioError
            When the scenario is refused.
        """
        scenario = engine.read(case.scenario)
        return [cls(scenario, run, case.record) for run in range(first, first + case.runs)]

    @functools.cached_property
    def key(self) -> str:
        """Name of the run: 32 hexadecimal digits of everything that it follows from."""
        own = controls.fingerprint(self.scenario.controls)
        words = [engine.ENGINE, self.scenario.digest, self.run, self.record, own]
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:32]

    def place(self, cache: Path) -> Path:
        """Say where the run is kept.

        Parameters
        ----------
        cache : Path
            Directory of earlier runs.

        Returns
        -------
        Path
            Its directory, which need not exist.
        """
        return cache / self.key[:2] / self.key[2:]


def run(task: Task, tell: engine.Progress | None = None, cache: Path | None = None) -> engine.Run:
    """Run a task, or read what an earlier run of it gave.

    Parameters
    ----------
    task : Task
        What to run.
    tell : callable, optional
        Called with simulated seconds and packets.
    cache : Path, optional
        Directory of earlier runs; the run is added to it, whole or not at all.

    Returns
    -------
    Run
        The run.

    Raises
    ------
    SimulationError
        As `engine.simulate`.
    """
    place = None if cache is None else task.place(cache)
    kept = None if place is None else _kept(place)
    if kept is not None:
        return kept
    done = engine.simulate(task.scenario, run=task.run, record=task.record, progress=tell)
    if place is not None:
        keep(place, lambda directory: done.write(directory, tables=task.record))
    return done


def is_kept(place: Path) -> bool:
    """Say whether there is a run, whole or not.

    Parameters
    ----------
    place : Path
        As `Task.place` gives it.

    Returns
    -------
    bool
        True when there is one.
    """
    return (place / "summary.json").exists()


def keep(place: Path, fill: Callable[[Path], None]) -> None:
    """Keep a run, whole or not at all, with the checksums of its files.

    Parameters
    ----------
    place : Path
        As `Task.place` gives it.
    fill : callable
        Writes the files of the run into the directory that it is given.

    Raises
    ------
    StorageError
        When it cannot be written.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    with storage.new_directory(place, force=True, is_result=lambda _: True) as directory:
        fill(directory)


def _kept(place: Path) -> engine.Run | None:
    """Read a run that is kept; None when there is none, or one that is not as it was written."""
    if not is_kept(place):
        return None
    problem = integrity.problem_of(place)
    if problem is not None:
        progress.say(f"{place}: {problem}; the run is made again")
        return None
    return engine.Run.read(place, checked=False)


def _simulated_s(task: Task, cache: Path | None) -> float:
    """Give the simulated time that a task will take; none if its run is kept."""
    if cache is not None and is_kept(task.place(cache)):
        return 0.0
    return task.scenario.duration_s


def each(
    tasks: Sequence[Task],
    work: Callable[[Task, engine.Run], None],
    jobs: int | None = None,
    cache: Path | None = None,
    live: Live = OFF,
) -> Iterator[tuple[Task, Exception | None]]:
    """Run tasks over the cores, in their order; a failing one does not stop the others.

    Parameters
    ----------
    tasks : sequence of Task
        What to run; the same task runs once.
    work : callable
        Called with each finished run, in the thread that ran it; the run is let go then.
    jobs : int, optional
        Runs at once; by default one per core.
    cache : Path, optional
        As for `run`.
    live : Live
        A page that shows how far it is.

    Yields
    ------
    Task, Exception or None
        Each task when it is done, and what went wrong with it or its work.
    """
    wanted = list(dict.fromkeys(tasks))
    live.expect(len(wanted), "runs")
    with progress.Bar(sum(_simulated_s(task, cache) for task in wanted), live=live) as bar:

        def one(index: int, check: parallel.Check) -> Exception | None:
            def tell(simulated_s: float, packets: int) -> None:
                check()
                bar.update(index, simulated_s, packets)

            try:
                work(wanted[index], run(wanted[index], tell, cache))
            except parallel.StoppedError:
                raise
            except Exception as error:
                live.advance(1, failed=1)
                return error
            live.advance(1)
            return None

        results = parallel.in_order(one, range(len(wanted)), jobs)
        yield from zip(wanted, results, strict=True)


def measure_all(
    cases: Sequence[Case], measure: Callable[[engine.Run], Measured], jobs: int | None = None
) -> list[list[Measured]]:
    """Run cases over the cores and measure every run.

    Parameters
    ----------
    cases : sequence of Case
        What to run.
    measure : callable
        What is wanted of a run, asked in the thread that ran it; the run itself is let go then.
    jobs : int, optional
        Runs at once; by default one per core.

    Returns
    -------
    list of list
        What `measure` gave for the runs of each case.

    Raises
    ------
    ScenarioError, SimulationError
        As `engine.simulate`; and what `measure` raises.
    """
    found: dict[Task, Measured] = {}

    def work(task: Task, done: engine.Run) -> None:
        found[task] = measure(done)

    for _, error in each([task for case in cases for task in Task.all_of(case)], work, jobs):
        if error is not None:
            raise error
    return [[found[task] for task in Task.all_of(case)] for case in cases]


def run_all(cases: Sequence[Case], jobs: int | None = None) -> list[list[engine.Run]]:
    """Run cases over the cores and keep every run.

    Parameters
    ----------
    cases : sequence of Case
        What to run.
    jobs : int, optional
        Runs at once; by default one per core.

    Returns
    -------
    list of list of Run
        The runs of each case.

    Raises
    ------
    ScenarioError, SimulationError
        As `engine.simulate`.
    """
    return measure_all(cases, lambda done: done, jobs)
