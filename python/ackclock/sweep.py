"""Many scenarios on all cores: each is simulated, measured where it ran, and let go."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ackclock import api, parallel, progress

Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Case:
    """A scenario and how often it is run.

    Attributes
    ----------
    scenario : mapping
        As in a scenario file.
    runs : int
        How many runs, each with other random streams.
    record : bool
        Whether tables over time are needed, or only the summary.
    """

    scenario: Mapping[str, Any]
    runs: int = 1
    record: bool = True


def run_all(cases: Sequence[Case], jobs: int | None = None) -> list[list[api.Run]]:
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
        As `api.simulate`.
    """
    return measure_all(cases, lambda run: run, jobs)


def measure_all(
    cases: Sequence[Case], measure: Callable[[api.Run], Measured], jobs: int | None = None
) -> list[list[Measured]]:
    """Run cases over the cores; the same scenario runs once however many cases ask for it.

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
        As `api.simulate`.
    """

    def key(case: Case, run: int) -> tuple[str, int, bool]:
        return json.dumps(case.scenario, sort_keys=True), run, case.record

    keys = list(dict.fromkeys(key(case, run) for case in cases for run in range(case.runs)))
    total_s = sum(progress.duration_of(api.check(json.loads(text))) for text, _, _ in keys)
    with progress.Bar(total_s) as bar:

        def one(index: int, check: parallel.Check) -> Measured:
            def tell(simulated_s: float, packets: int) -> None:
                check()
                bar.update(index, simulated_s, packets)

            text, run, record = keys[index]
            return measure(api.simulate(json.loads(text), run=run, record=record, progress=tell))

        done = dict(zip(keys, parallel.in_order(one, range(len(keys)), jobs), strict=True))
    return [[done[key(case, run)] for run in range(case.runs)] for case in cases]
