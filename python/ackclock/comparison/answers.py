"""The answers of a comparison: every control in every scenario, with 95 % intervals over runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ackclock.comparison.measures import CAUSES, RunNumbers
from ackclock.comparison.path import PathSetup
from ackclock.comparison.questions import QUESTIONS
from ackclock.comparison.words import words
from ackclock.draw import curves as curves_of
from ackclock.draw import latex
from ackclock.draw.card import card
from ackclock.engine import Scenario
from ackclock.metrics import Estimate, bandwidth_stolen_rate, within

NEXT_TO = {"next to Reno": "reno", "next to cubic-linux": "cubic-linux"}
"""The controls that share a link with every compared control, by the names of their scenarios."""
ScenarioKey = tuple[int, str, str]
"""The number of a path, the name of a scenario, and a control."""
ScenarioNumbers = dict[tuple[str, str], list[RunNumbers]]
"""The numbers of each run, by the name of a scenario and the control."""
StopReason = Literal["decided", "hopeless", "last look", "budget"]
"""Why a question of the first screen got no further runs."""


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
        Means over runs of the causes that limit a flow alone, by control and by `CAUSES`.
    packets : float
        Packets simulated in one run of everything; 0 when they are not known.
    packets_of : mapping
        The packets of each scenario, by its name.
    stops : mapping
        Why the runs of each question of the first screen ended, by its key: ``decided``, ``hopeless``,
        ``last look`` or ``budget``; empty where the number of runs was given.
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
    packets_of: Mapping[str, float] = field(default_factory=dict)
    stops: Mapping[str, StopReason] = field(default_factory=dict)

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
        """One row per question and control: question, title, control, value, low, high, runs, profile, stop.

        The last is why the question got no further runs: as in `stops`, ``given`` where their number was
        given, and ``first group`` for questions that ask for none.
        """
        other = "first group" if self.stops else "given"
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
                    "stop": self.stops.get(question.key, other),
                }
                for question in QUESTIONS
                for control, estimate in self.estimates[question.key].items()
            ]
        )


def assembled(
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
        # A packet counts whole if its last bit arrives within the measured time.
        most_mbps = max(setting.most_mbps, *answers["goodput"])
        estimates["goodput"][control] = within(estimates["goodput"][control], 0.0, most_mbps)
    causes = {
        control: {key: float(np.mean([run[key] for run in numbers["alone", control]])) for key in CAUSES}
        for control in names
    }
    return Comparison(setting, names, estimates, values_of, warnings, curves, own, causes)


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
