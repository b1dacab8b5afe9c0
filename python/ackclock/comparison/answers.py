"""The answers of a comparison: every control in every scenario, with 95 % intervals over runs."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ackclock import engine
from ackclock.comparison.measures import CAUSES, RunNumbers
from ackclock.comparison.path import PathSetup
from ackclock.comparison.questions import QUESTIONS, measures, scenarios
from ackclock.comparison.words import words
from ackclock.draw import curves as curves_of
from ackclock.draw import latex
from ackclock.draw.card import card
from ackclock.engine import Run, Scenario, SimulationError, build
from ackclock.engine.controls import labelled
from ackclock.metrics import Estimate, bandwidth_stolen_rate, within
from ackclock.runs import Case, Job, Limits, Store, each

NEXT_TO = {"next to Reno": "reno", "next to cubic-linux": "cubic-linux"}
"""The controls that share a link with every compared control, by the names of their scenarios."""
ScenarioKey = tuple[int, str, str]
"""The number of a path, the name of a scenario, and a control."""
ScenarioNumbers = dict[tuple[str, str], list[RunNumbers]]
"""The numbers of each run, by the name of a scenario and the control."""


@dataclass(frozen=True)
class WindowCurve:
    """The first run of one flow alone over time; windows and queues are in packets."""

    time_s: NDArray[np.float64]
    window: NDArray[np.float64]
    rtt_ms: NDArray[np.float64]
    goodput: curves_of.TimeSeries
    """Times in seconds and Mbit/s."""
    queue: curves_of.TimeSeries
    """Times in seconds and packets in the queue of the bottleneck."""


@dataclass(frozen=True, repr=False)
class Comparison:
    """Answers for several controls on one path.

    Attributes
    ----------
    setting : PathSetup
        The path and its runs.
    controls : tuple of str
        Names in the order given.
    estimates : dict
        Estimates by question and control.
    values : dict
        The number of each run, by question and control.
    warnings : tuple of str
        Warnings of the runs, at most one per control.
    curves : dict
        Window curve by control.
    scenarios : dict
        Every scenario as it was run, by its name and control.
    causes : dict
        Means over runs of what limits a flow alone, by control and by `CAUSES`.
    packets : float
        Packets simulated in one run of everything; 0 when they are not known.
    """

    setting: PathSetup
    controls: tuple[str, ...]
    estimates: dict[str, dict[str, Estimate]]
    values: dict[str, dict[str, list[float]]]
    warnings: tuple[str, ...]
    curves: dict[str, WindowCurve]
    scenarios: dict[tuple[str, str], Scenario]
    causes: dict[str, dict[str, float]] = field(default_factory=dict)
    packets: float = 0.0

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.controls)}: {self.setting.describe()}>"

    def _rows(self) -> list[list[str]]:
        return [
            [question.title, *(self.words(question.key, control) for control in self.controls)]
            for question in QUESTIONS
        ]

    def words(self, question: str, control: str) -> str:
        """Return an answer for people: a mean with its interval, or both modes where the runs have two.

        Parameters
        ----------
        question, control : str
            Key of the question and name of the control.

        Returns
        -------
        str
            Such as ``9.5 ± 0.7`` or ``10 in 4 runs, 1 in 1``.
        """
        return words(self.estimates[question][control], self.values[question][control])

    def _repr_html_(self) -> str:
        return card("Comparison", [self.setting.describe()], ["", *self.controls], self._rows())

    def to_latex(self) -> str:
        """Return the answers as a LaTeX table with the rules of booktabs.

        Returns
        -------
        str
            A tabular environment with a row per question and a column per control; the last row names
            the profile.
        """
        return latex.table(["", *self.controls], self._rows(), profile=self.setting.profile)

    @property
    def table(self) -> pl.DataFrame:
        """One row per question and control: question, title, control, value, low, high, runs, profile."""
        return pl.DataFrame(
            [
                {
                    "question": question.key,
                    "title": question.title,
                    "control": control,
                    "value": estimate.value,
                    "low": estimate.low,
                    "high": estimate.high,
                    "runs": estimate.samples,
                    "profile": self.setting.profile,
                }
                for question in QUESTIONS
                for control, estimate in self.estimates[question.key].items()
            ]
        )


def compare(
    setting: PathSetup,
    controls: Sequence[str],
    jobs: int | None = None,
    cache: Path | None = None,
    cluster: str | None = None,
    limits: Limits | None = None,
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
    (answers,) = compare_each([setting], controls, jobs, cache, cluster, limits)
    return answers


def compare_each(
    settings: Sequence[PathSetup],
    controls: Sequence[str],
    jobs: int | None = None,
    cache: Path | None = None,
    cluster: str | None = None,
    limits: Limits | None = None,
) -> list[Comparison]:
    """Answer all questions for all controls on each of several paths, whose runs are made together.

    Parameters, errors and each of the answers are those of `compare`.
    """
    names = labelled(controls)

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
    record = {"alone", "after a step"}
    runs = {
        key: Case(scenario, settings[key[0]].runs, key[1] in record).jobs()
        for key, scenario in wanted.items()
    }
    with ExitStack() as stack:
        store = None if cache is None else stack.enter_context(Store(cache).opened())
        options = {"at_once": jobs, "cluster": cluster, "limits": limits, "store": store}
        measured = _measured(settings, runs, options)
    compared = []
    for index, (setting, (numbers, packets, curves, warnings)) in enumerate(
        zip(settings, measured, strict=True)
    ):
        own = {key[1:]: scenario for key, scenario in wanted.items() if key[0] == index}
        answers = _compared(setting, names, numbers, warnings, curves, own)
        compared.append(replace(answers, packets=packets))
    return compared


def _compared(
    setting: PathSetup,
    names: tuple[str, ...],
    numbers: ScenarioNumbers,
    warnings: tuple[str, ...],
    curves: dict[str, WindowCurve],
    own: dict[tuple[str, str], Scenario],
) -> Comparison:
    """Return the answers of one path from the numbers of its runs."""
    estimates: dict[str, dict[str, Estimate]] = {question.key: {} for question in QUESTIONS}
    values_of: dict[str, dict[str, list[float]]] = {question.key: {} for question in QUESTIONS}
    for control in names:
        answers = _answers(numbers, control)
        for question in QUESTIONS:
            values = answers[question.key]
            values_of[question.key][control] = values
            estimates[question.key][control] = (
                question.estimate(values) if _is_finite(values) else _never(values)
            )
        # A packet of which the last bit arrives within the measured time counts whole.
        most_mbps = max(setting.most_mbps, *answers["goodput"])
        estimates["goodput"][control] = within(estimates["goodput"][control], 0.0, most_mbps)
    causes = {
        control: {key: float(np.mean([run[key] for run in numbers["alone", control]])) for key in CAUSES}
        for control in names
    }
    return Comparison(setting, names, estimates, values_of, warnings, curves, own, causes)


def _measured(
    settings: Sequence[PathSetup], jobs: dict[ScenarioKey, list[Job]], options: dict[str, Any]
) -> list[tuple[ScenarioNumbers, float, dict[str, WindowCurve], tuple[str, ...]]]:
    """Return the numbers, the packets of a run of everything, the curves and the warnings of each path."""
    owners: dict[Job, list[ScenarioKey]] = {}
    for key, of_key in jobs.items():
        for job in of_key:
            owners.setdefault(job, []).append(key)
    order = {key: index for index, key in enumerate(jobs)}
    functions = [measures(setting) for setting in settings]
    measured: dict[tuple[Job, ScenarioKey], RunNumbers] = {}
    packets: list[dict[Job, int]] = [{} for _ in settings]
    curves: list[dict[str, WindowCurve]] = [{} for _ in settings]
    warnings: list[dict[tuple[int, int, str], str]] = [{} for _ in settings]

    def work(job: Job, run: Run) -> None:
        # Reno against itself is Reno next to Reno: one run answers two questions.
        for key in owners[job]:
            index, name, control = key
            packets[index][job] = run.summary["packets_simulated"]
            if run.summary["warnings"]:
                warnings[index][order[key], job.run, control] = run.summary["warnings"][0]
            measured[job, key] = functions[index][name](run)
            if name == "alone" and job.run == 0:
                curves[index][control] = WindowCurve(
                    *curves_of.of_flow(run, 0, "window"),
                    rtt_ms=curves_of.of_flow(run, 0, "rtt_ms")[1],
                    goodput=curves_of.rate(run, 0),
                    queue=curves_of.queues(run)[0][1:],
                )

    wanted = [job for of_key in jobs.values() for job in of_key]
    with closing(each(wanted, work, **options)) as answers:
        for job, answer in answers:
            if answer.error:
                if answer.cause is None and not answer.trace:
                    names = " and ".join(name for name in job.scenario.controls if ":" in name)
                    raise SimulationError(f"{names or 'a run'}: {answer.error}")
                raise answer.failure()
    numbers: list[ScenarioNumbers] = [{} for _ in settings]
    for key, of_key in jobs.items():
        numbers[key[0]][key[1:]] = [measured[job, key] for job in of_key]
    of_a_run = [sum(own.values()) / setting.runs for own, setting in zip(packets, settings, strict=True)]
    return list(zip(numbers, of_a_run, curves, map(_texts, warnings), strict=True))


def _texts(warnings: dict[tuple[int, int, str], str]) -> tuple[str, ...]:
    """Return one warning per control, from its first scenario: the order of threads must not matter."""
    first = {control: warning for (*_, control), warning in sorted(warnings.items(), reverse=True)}
    return tuple(f"{control}: {warning}" for control, warning in sorted(first.items()))


def _answers(numbers: ScenarioNumbers, control: str) -> dict[str, list[float]]:
    """Return the number of each run by question, in the order of questions."""
    for name, other in NEXT_TO.items():
        for run, usual in zip(numbers[name, control], numbers[name, other], strict=True):
            alone = usual["victim_goodput"]
            run["stolen"] = bandwidth_stolen_rate(alone, run["victim_goodput"]) if alone else float("nan")
    return {
        question.key: [question.scale * run[question.metric] for run in numbers[question.scenario, control]]
        for question in QUESTIONS
    }


def _is_finite(values: Sequence[float]) -> bool:
    return not any(np.isinf(values))


def _never(values: Sequence[float]) -> Estimate:
    """Return the estimate for a metric that is infinite in some runs."""
    count = int(np.isinf(values).sum())
    missing = float("nan")
    return Estimate(float("inf"), missing, missing, len(values), f"in {count} of {len(values)} runs")
