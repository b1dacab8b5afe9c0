"""Table 1: fairness, smoothness, responsiveness and aggressiveness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ackclock.draw.figure import Table
from ackclock.engine import Run, build
from ackclock.metrics import Estimate, over_runs
from ackclock.models import smoothness, timeouts, transients
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.figures_3_to_6 import alone
from ackclock_papers.transient.measure import STEADINESS, rounds
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Protocol, Without


# Data classes, because tuples of different kinds are equal when their values are.
@dataclass(frozen=True)
class EightFlows:
    """Eight flows of one protocol on the link."""

    protocol: Protocol

    def __str__(self) -> str:
        return f"{self.protocol}, 8 flows"


@dataclass(frozen=True)
class OneLossyFlow:
    """One flow under Bernoulli loss."""

    protocol: Protocol
    loss: float

    def __str__(self) -> str:
        return f"{self.protocol}, {self.loss:.0%}"


@dataclass(frozen=True)
class Growing:
    """Flows whose losses end."""

    protocol: Protocol | Without

    def __str__(self) -> str:
        return f"{self.protocol}, growing"


SummaryCase = EightFlows | OneLossyFlow | Growing
LOSSES = (0.02, 0.2)
WITHOUT_DISCOUNTING = Without(TFRC, "discounting")


def _cases(effort: Effort) -> Mapping[SummaryCase, Case]:
    cases: dict[SummaryCase, Case] = {}
    for protocol in Protocol:
        cases[EightFlows(protocol)] = setting.steady(effort, setting.flows(effort, protocol, count=8))
        for loss in LOSSES:
            cases[OneLossyFlow(protocol, loss)] = alone(effort, protocol, setting.bernoulli(loss))
    for protocol in (TCP, GAIMD, TEAR):
        cases[Growing(protocol)] = _growing(effort, protocol)
    for key, discounting in ((WITHOUT_DISCOUNTING, False), (TFRC, True)):
        params = {"discounting": discounting, "discount_floor": 0.5}
        cases[Growing(key)] = _growing(effort, TFRC, params=params)
    return cases


def _growing(effort: Effort, protocol: Protocol, **settings: object) -> Case:
    change = {"at": build.seconds(setting.CHANGE_S), "set": "dumbbell.loss.rate", "to": 1e-9}
    return setting.case(
        effort,
        [setting.flows(effort, protocol, count=5, **settings)],
        112,
        loss={"kind": "periodic", "rate": 0.01},
        events=[change],
    )


INCREASE = "increase"


def _increase(run: Run) -> Row:
    counted = rounds(run)
    # A cycle at 1 % has 12 round trips: from then on the open interval is longer than those before.
    start = counted.change + 40
    rate = counted.sent.mean(axis=1)[start : start + 70]
    return {INCREASE: float(np.polyfit(np.arange(70), rate, 1)[0])}


def _probe(key: SummaryCase, _effort: Effort) -> Probe:
    if isinstance(key, Growing):
        return Probe((INCREASE,), _increase)
    return STEADINESS


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    def row(label: str, keys: Sequence[SummaryCase], number: str) -> list[str]:
        return [label, *(f"{numbers.of(key, number).value:.2f}" for key in keys)]

    rows = [
        row("fairness F, 8 flows", [EightFlows(protocol) for protocol in Protocol], "fairness"),
        row("CoV at 2 %", [OneLossyFlow(protocol, 0.02) for protocol in Protocol], "cov"),
        row("CoV at 20 %", [OneLossyFlow(protocol, 0.2) for protocol in Protocol], "cov"),
        ["D (RTTs)", "1", "6", str(transients.tfrc_halving()), str(transients.tear_halving())],
        row("I (packets per RTT)", [Growing(protocol) for protocol in Protocol], INCREASE),
    ]
    return Table(["", *Protocol], rows)


CALCULATED: Mapping[str, float] = {
    "CoV of TCP at 2%": smoothness.aimd_poisson(1, 1, 0.5).cov,
    "CoV of GAIMD at 2%": smoothness.aimd_poisson(1, 0.31, 7 / 8).cov,
    "CoV of TFRC at 2%": float(smoothness.tfrc(0.02)[1]),
    "CoV of TEAR at 2%": smoothness.tear_factor() / math.sqrt(3),
    "CoV of TCP and GAIMD at 20%": timeouts.printed_cov(0.2, 4),
    "D of TCP": transients.aimd_halving(0.5),
    "D of GAIMD": math.log(0.5) / math.log(7 / 8),
    "D of TFRC": transients.tfrc_halving(),
    "D of TEAR": transients.tear_halving(),
    "I of TFRC without discounting": transients.tfrc_increase(),
    "I of TFRC": transients.tfrc_increase(0.5),
    "I of TEAR": transients.tear_increase(),
}
"""Numbers of the table that the study calculates, by its formulas."""


def calculated(numbers: Numbers, number: str) -> Estimate:  # noqa: ARG001
    """Return a number of `CALCULATED`."""
    return over_runs([CALCULATED[number]])


def farthest(numbers: Numbers, cases: Sequence[str], key: str, value: float) -> Estimate:
    """Return that number of some cases which is farthest from a value."""
    return max((numbers.of(case, key) for case in cases), key=lambda number: abs(number.value - value))


TABLE_1 = Simulated(
    name="table-1",
    caption="summary of fairness, smoothness, responsiveness and aggressiveness",
    about=(
        "F of eight flows on the link; CoV of one flow; D by the models; I of flows whose loss "
        "rate falls from 1 % (periodic) to 0, least squares over 70 round trips. Numbers that the "
        "study calculates are judged by its formulas, those that it measures by runs."
    ),
    cases=_cases,
    probe=_probe,
    draw=_draw,
    headline=True,
)
