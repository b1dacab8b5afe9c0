"""Figures 20 to 23: responses to more congestion, one flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ackclock import metrics
from ackclock.decision import difference
from ackclock.metrics import Estimate
from ackclock.reproduction.claims.numbers import Effort, Numbers
from ackclock.runs import Case
from ackclock_papers.transient import setting, steps
from ackclock_papers.transient.curves import STEP
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Protocol, Without

ALL_BUT_TCP = (GAIMD, TFRC, TEAR)


def spread_at_10(numbers: Numbers) -> Estimate:
    """Return the largest difference of what GAIMD, TFRC and TEAR have covered after 10 round trips."""
    shares = [numbers.of(protocol, "after_10").value for protocol in ALL_BUT_TCP]
    return metrics.over_runs([max(shares) - min(shares)])


FIGURE_20 = steps.analytic(20, "rate decrease, analytic, 1 % to 4 %", 0.01, 0.04, end=50)

FIGURE_21 = STEP.figure(
    21,
    "rate",
    "periodic loss from 1 % to 4 %",
    about=f"{steps.ALIKE} flows of each protocol that do not meet; the picture has the first.",
    cases=steps.loss_step("periodic", 0.01, 0.04),
)

WITHOUT_TIMEOUT = Without(TEAR, "timeout")


def _cases_22(effort: Effort) -> Mapping[Protocol | Without, Case]:
    def case(protocol: Protocol, **settings: Any) -> Case:
        flows = setting.flows(effort, protocol, count=steps.ALIKE, **settings)
        return steps.one_loss_step(effort, "bernoulli", 0.005, 1.0, flows)

    params = {WITHOUT_TIMEOUT.mechanism: False}
    return {protocol: case(protocol) for protocol in Protocol} | {WITHOUT_TIMEOUT: case(TEAR, params=params)}


FIGURE_22 = STEP.figure(
    22,
    "rate",
    "Bernoulli loss from 0.5 % to 100 %",
    about=f"{steps.ALIKE} flows of each protocol; TEAR also without its timeout.",
    cases=_cases_22,
)


def falls_further_than_others(numbers: Numbers) -> Estimate:
    """Estimate how much lower TCP's lowest share of its new rate is than the least of the others."""
    others = (numbers.of(protocol, "lowest_share") for protocol in ALL_BUT_TCP)
    lowest = min(others, key=lambda share: share.value)
    return difference(lowest, numbers.of(TCP, "lowest_share"))


FIGURE_23 = STEP.figure(
    23,
    "rate",
    "Bernoulli loss from 1 % to 4 %",
    about=f"{steps.ALIKE} flows of each protocol; the picture has the first.",
    cases=steps.loss_step("bernoulli", 0.01, 0.04),
    headline=True,
)
