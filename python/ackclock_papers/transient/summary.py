"""Table 1: fairness, smoothness, responsiveness and aggressiveness."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ackclock.engine import Run
from ackclock.models import transients
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Simulated, Traces
from ackclock.reproduction.claims import mean, near
from ackclock.reproduction.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.lossy import READ, alone
from ackclock_papers.transient.measure import Steadiness, rounds, steadiness
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Protocol, Without

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Data classes, because tuples of different kinds are equal when their values are.
@dataclass(frozen=True)
class EightFlows:
    """Eight flows of one protocol on the link."""

    protocol: Protocol

    def __str__(self) -> str:
        return f"{self.protocol}, 8 flows"


@dataclass(frozen=True)
class Lossy:
    """One flow under Bernoulli loss of a rate."""

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


Summarised = EightFlows | Lossy | Growing
LOSSES = (0.02, 0.2)
WITHOUT_DISCOUNTING = Without(TFRC, "discounting")


def _cases(effort: Effort) -> Mapping[Summarised, Case]:
    found: dict[Summarised, Case] = {}
    for one in Protocol:
        found[EightFlows(one)] = setting.steady(effort, setting.flows(one, count=8))
        for loss in LOSSES:
            found[Lossy(one, loss)] = alone(effort, one, setting.bernoulli(loss))
    for one in (TCP, GAIMD, TEAR):
        found[Growing(one)] = _growing(effort, one)
    for key, discounting in ((WITHOUT_DISCOUNTING, False), (TFRC, True)):
        params = {"discounting": discounting, "discount_floor": 0.5}
        found[Growing(key)] = _growing(effort, TFRC, params=params)
    return found


def _growing(effort: Effort, protocol: Protocol, **settings: object) -> Case:
    change = {"at": f"{setting.CHANGE_S:g} s", "set": "dumbbell.loss.rate", "to": 1e-9}
    return setting.case(
        effort, [setting.flows(protocol, count=5, **settings)], 112,
        loss={"kind": "periodic", "rate": 0.01}, events=[change],
    )  # fmt: skip


INCREASE = "increase"


def _measure(key: Summarised, run: Run) -> Row:
    if not isinstance(key, Growing):
        return steadiness(key, run)
    counted = rounds(run)
    # A cycle at 1 % has 12 round trips: from then on the open interval is longer than the others.
    start = counted.change + 40
    rate = counted.sent.mean(axis=1)[start : start + 70]
    return {INCREASE: float(np.polyfit(np.arange(70), rate, 1)[0])}


def _numbers(key: Summarised, _effort: Effort) -> Collection[Key]:
    return (INCREASE,) if isinstance(key, Growing) else Steadiness._fields


def _draw(numbers: Numbers, _traces: Traces) -> Figure:
    def row(label: str, keys: Sequence[Summarised], number: str) -> list[str]:
        return [label, *(f"{numbers.of(key, number).value:.2f}" for key in keys)]

    rows = [
        row("fairness F, 8 flows", [EightFlows(one) for one in Protocol], "fairness"),
        row("CoV at 2 %", [Lossy(one, 0.02) for one in Protocol], "cov"),
        row("CoV at 20 %", [Lossy(one, 0.2) for one in Protocol], "cov"),
        ["D (RTTs)", "1", "6", str(transients.tfrc_halving()), str(transients.tear_halving())],
        row("I (packets per RTT)", [Growing(one) for one in Protocol], INCREASE),
    ]
    return pictures.grid(["", *Protocol], rows)


FAIRNESS = {TCP: 0.7, GAIMD: 0.9, TFRC: 1.0, TEAR: 1.0}
COV = {0.02: (0.58, 0.26, 0.22, 0.2), 0.2: (1.7, 1.7, 2.0, 0.4)}
"""By loss rate and protocol."""
GAINED: dict[Protocol | Without, float] = {
    TCP: 1.0,
    GAIMD: 0.31,
    WITHOUT_DISCOUNTING: 0.12,
    TFRC: 0.22,
    TEAR: 0.08,
}
"""Packets per round trip in each round trip, as the paper prints them."""

TABLE_1 = Simulated(
    name="table-1", caption="summary",
    about=(
        "F of eight flows on the link; CoV of one flow; D by the models; I of flows whose loss "
        "rate falls from 1 % (periodic) to 0, least squares over 70 round trips."
    ),
    cases=_cases, measure=_measure, numbers=_numbers, draw=_draw, headline=True,
    claims=(
        *(
            near(
                f"F of {one}", mean(EightFlows(one), "fairness"), value, within=0.1,
                absolute=True, why="one digit",
            )
            for one, value in FAIRNESS.items()
        ),
        *(
            near(
                f"CoV of {one} at {loss:.0%}", mean(Lossy(one, loss), "cov"), value, within=0.25,
                why=READ,
            )
            for loss, values in COV.items()
            for one, value in zip(Protocol, values, strict=True)
        ),
        *(
            near(
                f"I of {one}", mean(Growing(one), INCREASE), value, within=0.2,
                why="two digits, and what the feedback delays", unit="per RTT",
            )
            for one, value in GAINED.items()
        ),
    ),
)  # fmt: skip
