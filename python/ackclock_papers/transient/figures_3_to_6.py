"""Figures 3 to 6: smoothness of one flow under a controlled loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ackclock.draw.figure import Group
from ackclock.engine import build
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.curves import STEADY
from ackclock_papers.transient.measure import STEADINESS
from ackclock_papers.transient.setting import LossyFlow, Protocol, Reference, ReferenceCase

LOSSES = (0.005, 0.01, 0.02, 0.04, 0.08, 0.12, 0.15, 0.2)
PERIODIC = {"kind": "periodic", "every": 20}


def alone(effort: Effort, protocol: Protocol, loss: build.Table | None = None) -> Case:
    """Make a case of one flow, which fills the link unless there is a controlled `loss`."""
    return setting.steady(effort, setting.flows(effort, protocol), loss=loss)


def _under(loss: build.Table) -> Callable[[Effort], Mapping[Protocol, Case]]:
    return lambda effort: {protocol: alone(effort, protocol, loss) for protocol in Protocol}


FIGURE_3 = STEADY.figure(
    3,
    "rate",
    "sending rates, periodic loss of 5 %",
    about="Each protocol alone, every 20th packet lost; bytes sent per round trip.",
    cases=_under(PERIODIC),
)


def _cases_4(effort: Effort) -> Mapping[Protocol | ReferenceCase, Case]:
    """Return the runs of figures 3 and 4, whose fluctuations are compared."""
    return {protocol: alone(effort, protocol, setting.bernoulli(0.05)) for protocol in Protocol} | {
        ReferenceCase(protocol, Reference.PERIODIC): alone(effort, protocol, PERIODIC)
        for protocol in Protocol
    }


FIGURE_4 = STEADY.figure(
    4,
    "rate",
    "sending rates, Bernoulli loss of 5 %",
    about="Each protocol alone; bytes sent per round trip.",
    cases=_cases_4,
    headline=True,
)


FIGURE_5 = STEADY.figure(
    5,
    "rate",
    "sending rates, Bernoulli loss of 20 %",
    about="Each protocol alone; bytes sent per round trip.",
    cases=_under(setting.bernoulli(0.2)),
)


def _cases_6(effort: Effort) -> Mapping[LossyFlow, Case]:
    keys = [LossyFlow(protocol, loss) for protocol in Protocol for loss in LOSSES]
    return {key: alone(effort, key.protocol, setting.bernoulli(key.loss)) for key in keys}


def _draw_6(numbers: Numbers, _traces: Traces) -> Group:
    curves = {
        str(protocol): [(100 * loss, LossyFlow(protocol, loss), "cov") for loss in LOSSES]
        for protocol in Protocol
    }
    return figures.against(numbers, curves, "loss rate (%)", "CoV of the rate", bottom=0)


FIGURE_6 = Simulated(
    name="figure-6",
    caption="CoV of the rate under Bernoulli loss",
    about="Each protocol alone, 500 s.",
    cases=_cases_6,
    probe=STEADINESS,
    draw=_draw_6,
    headline=True,
)
