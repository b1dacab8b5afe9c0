"""Figures 10 and 11: fairness at several time scales."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ackclock import metrics
from ackclock.draw import figure
from ackclock.engine import Run
from ackclock.metrics import Estimate
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.bic.setting import CONTROLS, GIGABIT_MBPS, case


class Scale(NamedTuple):
    """Length of the intervals over which fairness is measured, seconds."""

    length_s: int

    def __str__(self) -> str:
        return f"{self.length_s} s"


ALL_STARTED_S = 70.0
"""Time at which the last flows of figures 10 and 11 have begun, seconds."""
MEASURED_S = 300
"""Measured time of a full run for figures 10 and 11, seconds."""
QUICK_S = 160.0
"""Length of a quick run: a minute for the last flows to get their share, seconds."""
QUICK_MEASURED_S = 30.0
"""Measured time at the end of a quick run, seconds."""


@dataclass(frozen=True)
class _Fairness:
    """Fairness of four flows at several time scales, with adaptive RED or droptail."""

    red: bool
    scales: tuple[Scale, ...]
    """Scales of a full run; a quick run has those that are not longer than its measured time."""
    worst: float
    """Share of the intervals, the least fair ones, over which the mean is taken."""

    def cases(self, effort: Effort) -> Mapping[str, Case]:
        """Return the cases by control: two flows, and two more 50 s later."""
        cases = {}
        for name, control in CONTROLS.items():
            flows = [
                {**control, "rtt": "100 ms", "count": 2, "start": {"uniform": [a, b]}}
                for a, b in (("0 s", "20 s"), ("50 s", f"{ALL_STARTED_S:g} s"))
            ]
            cases[name] = case(
                effort,
                flows,
                GIGABIT_MBPS,
                duration_s=2 * MEASURED_S,
                quick_s=QUICK_S,
                measured_s=effort.pick(MEASURED_S, QUICK_MEASURED_S),
                red=self.red,
            )
        return cases

    def within(self, measured_s: float) -> list[Scale]:
        """Return the scales that are not longer than the measured time."""
        return [scale for scale in self.scales if scale.length_s <= measured_s]

    def probe(self, _name: str, effort: Effort) -> Probe:
        """Measure the fairness at the scales that the runs of this effort have."""
        return Probe(self.within(effort.pick(MEASURED_S, QUICK_MEASURED_S)), self._measure)

    def _measure(self, run: Run) -> Row:
        """Return the mean of the worst Jain indices at each scale."""
        start, end = run.summary["measured_from_s"], run.summary["duration_s"]
        own = [run.windows_of(index) for index in range(4)]
        time = own[0]["time_s"].to_numpy()
        amounts = np.stack([samples["arrived_bytes"].to_numpy() for samples in own], axis=1)
        row = {}
        for scale in self.within(end - start):
            _, rates = metrics.over_intervals(time, amounts, scale.length_s, start, end)
            row[scale] = metrics.worst_mean(metrics.jain(rates, axis=1), self.worst)
        return row

    def draw(self, numbers: Numbers, _traces: Traces) -> figure.Group:
        """Draw the mean of the worst Jain indices over the scales, a curve per control."""
        curves = {
            name: [(scale.length_s, name, scale) for scale in self.scales if scale in numbers.rows[name][0]]
            for name in CONTROLS
        }
        return figures.against(
            numbers, curves, "measurement interval (s)", "mean of the worst Jain indices", log_x=self.red
        )


DROPTAIL = _Fairness(red=False, scales=tuple(map(Scale, (1, 5, 25, 75, 150, 300))), worst=0.2)
RED = _Fairness(red=True, scales=tuple(map(Scale, (1, 5, 25, 125))), worst=0.01)


def at_longest(numbers: Numbers, control: str, most_s: float = math.inf) -> Estimate:
    """Return a control's number at the longest scale that was measured, up to a limit."""
    scales = (scale for scale in numbers.rows[control][0] if scale.length_s <= most_s)
    return numbers.of(control, max(scales))


FIGURE_10 = Simulated(
    name="figure-10", caption="fairness at several time scales, droptail",
    about=(
        "Four flows, RTT 100 ms, 2.5 Gbit/s, of which two start 50 s later; from 300 s to 600 s, "
        "the mean of the worst fifth of Jain's indices at each scale."
    ),
    cases=DROPTAIL.cases, probe=DROPTAIL.probe, draw=DROPTAIL.draw,

)  # fmt: skip
WITH_DROPTAIL = {name: f"{name}, droptail" for name in ("HSTCP", "STCP")}
"""Runs of figure 10 with which figure 11 is compared."""


def _cases_11(effort: Effort) -> Mapping[str, Case]:
    droptail = DROPTAIL.cases(effort)
    return {**RED.cases(effort), **{label: droptail[name] for name, label in WITH_DROPTAIL.items()}}


def deviation(numbers: Numbers, control: str, scale: str) -> Estimate:
    """Return how far the mean of the worst Jain indices is below 1."""
    index = numbers.of(control, scale)
    return replace(index, value=1 - index.value, low=1 - index.high, high=1 - index.low)


FIGURE_11 = Simulated(
    name="figure-11", caption="fairness at several time scales, RED",
    about="As figure 10, with adaptive RED; the mean of the worst hundredth.",
    cases=_cases_11, probe=RED.probe, draw=RED.draw,

)  # fmt: skip
