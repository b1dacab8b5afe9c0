"""The runs of a comparison: a fixed number of them, or groups of them until its questions are decided."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ackclock import engine
from ackclock.comparison.answers import (
    NEXT_TO,
    Comparison,
    ScenarioKey,
    ScenarioNumbers,
    StopReason,
    WindowCurve,
    assembled,
)
from ackclock.comparison.measures import RunNumbers
from ackclock.comparison.path import FIXED_RUNS, PathSetup
from ackclock.comparison.questions import BY_KEY, FIRST_SCREEN, LOOKED_AT, measures, scenarios
from ackclock.comparison.ranking import rank
from ackclock.decision import LOOKS, is_decided, is_hopeless, next_look
from ackclock.draw import curves as curves_of
from ackclock.engine import Run, Scenario, SimulationError, build
from ackclock.engine.controls import labelled
from ackclock.runs import Case, Job, Limits, Store, each
from ackclock.runs.estimate import DryRunError

BUDGET = 4e8
"""Packets that the runs of a comparison may simulate, by default: one to two minutes of two cores."""
RECORDED = ("alone", "after a step")
"""Scenarios with runs that need tables over time."""


def compare(
    setting: PathSetup,
    controls: Sequence[str],
    jobs: int | None = None,
    cache: Path | None = None,
    cluster: str | None = None,
    limits: Limits | None = None,
    budget: float = BUDGET,
) -> Comparison:
    """Answer all questions for all controls.

    Parameters
    ----------
    setting : PathSetup
        The path and its runs.
    controls : sequence of str
        Names; your own controls as ``module:Class``, ``library.so:name``, or as registered;
        ``Label=module:Class`` calls it Label in results.
    jobs : int, optional
        Runs at once; by default one per core.
    cache : Path, optional
        Directory in which finished runs are kept for the next comparison.
    cluster : str, optional
        Address of a Dask scheduler whose workers make the runs.
    limits : Limits, optional
        Resources that a run may use; by default those of `Limits` for a control that is not built in,
        whose runs have processes of their own.
    budget : float
        Packets that may be simulated where `setting` has no number of runs; those of a control in Python
        count five times, and the first group of runs is always made.

    Returns
    -------
    Comparison
        Answers to all questions.

    Raises
    ------
    ScenarioError, SimulationError
        The errors of `simulate`; also when the process of a control ends or reaches a limit.
    StorageError
        When runs cannot be kept.
    """
    (answers,) = compare_each([setting], controls, jobs, cache, cluster, limits, budget)
    return answers


def compare_each(
    settings: Sequence[PathSetup],
    controls: Sequence[str],
    jobs: int | None = None,
    cache: Path | None = None,
    cluster: str | None = None,
    limits: Limits | None = None,
    budget: float = BUDGET,
) -> list[Comparison]:
    """Answer all questions for all controls on several paths; the runs of all paths are made together.

    Parameters, errors and answers are the same as in `compare`. Runs until the questions are decided need a
    single path and more than one control.
    """
    names = labelled(controls)
    if len(settings) > 1 or len(names) < 2:
        settings = [replace(setting, runs=setting.runs or FIXED_RUNS) for setting in settings]

    @functools.cache
    def parsed(text: str) -> Scenario:
        return engine.parse(text, "scenario", is_json=True)

    def read(tables: build.Table) -> Scenario:
        return parsed(json.dumps(tables))

    # Every scenario is read here, and once, so that a mistake in one leaves nothing behind in the cache.
    wanted = {
        (index, name, control): scenario
        for index, setting in enumerate(settings)
        for control in names
        for name, scenario in scenarios(setting, control, read).items()
    }
    # The goodput that Reno loses to a control is measured against its goodput next to another Reno.
    for index, setting in enumerate(settings):
        for name, other in NEXT_TO.items():
            if (index, name, other) not in wanted:
                wanted[index, name, other] = scenarios(setting, other, read, name)[name]
    with ExitStack() as stack:
        store = None if cache is None else stack.enter_context(Store(cache).opened())
        options = {"at_once": jobs, "cluster": cluster, "limits": limits, "store": store}
        work = _RunsSoFar(settings, names, wanted, options)
        if settings[0].runs is None:
            return [_until_decided(work, budget)]
        work.make({key: setting.runs or 0 for key in wanted for setting in [settings[key[0]]]})
        return [work.comparison(index) for index in range(len(settings))]


def _until_decided(work: _RunsSoFar, budget: float) -> Comparison:
    """Make runs in groups until the first screen is decided or hopeless, or the budget ends.

    Only the scenarios of open questions get further runs, for all controls. The choice of scenarios and the
    looks depend on numbers and packets, never on wall time.
    """
    runs, going = min(LOOKS), [name for _, name, _ in work.wanted]
    stops: dict[str, StopReason] = {}
    while True:
        try:
            work.make({key: runs for key in work.wanted if key[1] in going})
        except DryRunError as stopped:
            raise DryRunError(stopped.cost.of_budget(budget, work.expected_packets)) from None
        comparison = work.comparison(0)
        of_scenario = {name: _stops(comparison, name, runs) for name in LOOKED_AT if name in going}
        for reasons in of_scenario.values():
            stops |= reasons
        following = next_look(runs)
        left, going = budget - work.cost, []
        for name, reasons in of_scenario.items():
            price = ((following or runs) - runs) * work.cost_of_a_run(name)
            if "budget" in reasons.values() and price <= left:
                left -= price
                going.append(name)
        if not going or following is None:
            return replace(comparison, stops=stops)
        runs = following


def _stops(comparison: Comparison, scenario: str, runs: int) -> dict[str, StopReason]:
    """Return why the runs of a scenario's questions end; an open question can end only by the budget."""
    reasons: dict[str, StopReason] = {}
    for key in FIRST_SCREEN:
        if BY_KEY[key].scenario == scenario:
            places = rank(comparison, BY_KEY[key]).places
            if is_decided(places, runs):
                reasons[key] = "decided"
            elif next_look(runs) is None:
                reasons[key] = "last look"
            else:
                reasons[key] = "hopeless" if is_hopeless(places, runs) else "budget"
    return reasons


class _RunsSoFar:
    """The scenarios of a comparison, and the results of their runs so far."""

    def __init__(
        self,
        settings: Sequence[PathSetup],
        names: tuple[str, ...],
        wanted: dict[ScenarioKey, Scenario],
        options: dict[str, Any],
    ) -> None:
        self.settings, self.names, self.wanted, self.options = settings, names, wanted, options
        self.expected_packets = 0.0
        """Packets that all runs asked for so far should have, for estimates of time."""
        self._functions = [measures(setting) for setting in settings]
        self._order = {key: index for index, key in enumerate(wanted)}
        self._numbers: dict[ScenarioKey, list[RunNumbers]] = {key: [] for key in wanted}
        self._packets: list[dict[Job, int]] = [{} for _ in settings]
        self._owners: dict[Job, list[ScenarioKey]] = {}
        self._curves: list[dict[str, WindowCurve]] = [{} for _ in settings]
        self._warnings: list[dict[tuple[int, int, str], str]] = [{} for _ in settings]

    @property
    def cost(self) -> float:
        """Packets of all runs so far, including kept runs: the answer must not depend on the store."""
        return math.fsum(number * job.cost_of_packet for own in self._packets for job, number in own.items())

    def cost_of_a_run(self, name: str) -> float:
        """Return the packets of one run of a scenario with all controls, on the first path."""
        own = self._packets[0]
        return _of_a_run({job: own[job] * job.cost_of_packet for job in own if self._has(job, 0, name)})

    def make(self, runs: dict[ScenarioKey, int]) -> None:
        """Make the runs that these scenarios lack of so many."""
        jobs: dict[ScenarioKey, list[Job]] = {}
        owners: dict[Job, list[ScenarioKey]] = {}
        for key, number in runs.items():
            first = len(self._numbers[key])
            case = Case(self.wanted[key], number - first, key[1] in RECORDED)
            jobs[key] = case.jobs(first)
            for job in jobs[key]:
                owners.setdefault(job, []).append(key)
        self.expected_packets += sum(job.expected_packets for job in owners)
        measured: dict[tuple[Job, ScenarioKey], RunNumbers] = {}

        def work(job: Job, run: Run) -> None:
            # Reno against itself is Reno next to Reno: one run answers two questions.
            for key in owners[job]:
                index, name, control = key
                self._packets[index][job] = run.summary["packets_simulated"]
                if run.summary["warnings"]:
                    place = self._order[key], job.run, control
                    self._warnings[index][place] = run.summary["warnings"][0]
                measured[job, key] = self._functions[index][name](run)
                if name == "alone" and job.run == 0:
                    self._curves[index][control] = WindowCurve(
                        *curves_of.of_flow(run, 0, "window"),
                        rtt_ms=curves_of.of_flow(run, 0, "rtt_ms")[1],
                        goodput=curves_of.rate(run, 0),
                        queue=curves_of.queues(run)[0][1:],
                    )

        wanted = [job for of_key in jobs.values() for job in of_key]
        with closing(each(wanted, work, **self.options)) as answers:
            for job, answer in answers:
                if answer.error:
                    if answer.cause is None and not answer.trace:
                        names = " and ".join(name for name in job.scenario.controls if ":" in name)
                        raise SimulationError(f"{names or 'a run'}: {answer.error}")
                    raise answer.failure()
        for key, of_key in jobs.items():
            self._numbers[key] += [measured[job, key] for job in of_key]
        for job, keys in owners.items():
            self._owners.setdefault(job, []).extend(keys)

    def comparison(self, index: int) -> Comparison:
        """Return the answers of a path so far."""
        numbers: ScenarioNumbers = {
            key[1:]: values for key, values in self._numbers.items() if key[0] == index
        }
        own = {key[1:]: scenario for key, scenario in self.wanted.items() if key[0] == index}
        answers = assembled(
            self.settings[index], self.names, numbers, _texts(self._warnings[index]), self._curves[index], own
        )
        packets = self._packets[index]
        names = dict.fromkeys(name for name, _ in numbers)
        return replace(
            answers,
            packets=_of_a_run(packets),
            packets_of={
                name: _of_a_run({job: packets[job] for job in packets if self._has(job, index, name)})
                for name in names
            },
        )

    def _has(self, job: Job, index: int, name: str) -> bool:
        return any(key[:2] == (index, name) for key in self._owners[job])


def _of_a_run(packets: Mapping[Job, float]) -> float:
    """Return the packets of one run of every scenario."""
    by_scenario: dict[Scenario, list[float]] = {}
    for job, number in packets.items():
        by_scenario.setdefault(job.scenario, []).append(number)
    return math.fsum(float(np.mean(numbers)) for numbers in by_scenario.values())


def _texts(warnings: dict[tuple[int, int, str], str]) -> tuple[str, ...]:
    """Return one warning per control, from its first scenario: the order of threads must not matter."""
    first = {control: warning for (*_, control), warning in sorted(warnings.items(), reverse=True)}
    return tuple(f"{control}: {warning}" for control, warning in sorted(first.items()))
