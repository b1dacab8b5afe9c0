"""Figures 18 and 19: fairness of means over seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from ackclock import metrics
from ackclock.draw.figure import Group
from ackclock.engine import Run
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.measure import rounds
from ackclock_papers.transient.setting import Protocol

LOSSES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.17)


class LongTerm(NamedTuple):
    """Flows of one protocol that do not meet, whose rates are averaged over a time."""

    protocol: Protocol
    loss: float
    """Probability that a packet is lost."""
    span_s: int
    """Time over which rates are averaged, seconds."""

    def __str__(self) -> str:
        return f"{self.protocol}, {self.loss:.1%}, {self.span_s} s"


COUNTS = {15: 32, 60: 16}
"""Number of flows by the time over which rates are averaged, seconds."""


def _cases(effort: Effort, *spans_s: int) -> Mapping[LongTerm, Case]:
    return {
        LongTerm(protocol, loss, span_s): setting.case(
            effort,
            [setting.flows(effort, protocol, count=COUNTS[span_s])],
            setting.MEASURED_FROM_S + effort.pick(8, 4) * span_s,
            loss=setting.bernoulli(loss),
            recovery="sack",
        )
        for span_s in spans_s
        for protocol in Protocol
        for loss in LOSSES
    }


def _measure(span_s: int, run: Run) -> Row:
    span = round(span_s / setting.RTT_S)
    counted = rounds(run)
    sent = counted.sent[counted.first :]
    parts = sent[: len(sent) // span * span].reshape(-1, span, sent.shape[1]).mean(axis=1)
    return {"cov": float(metrics.cov(parts, axis=1).mean())}


def _draw(span_s: int) -> Callable[[Numbers, Traces], Group]:
    def draw(numbers: Numbers, _traces: Traces) -> Group:
        curves = {
            str(protocol): [(100 * loss, LongTerm(protocol, loss, span_s), "cov") for loss in LOSSES]
            for protocol in Protocol
        }
        return figures.against(numbers, curves, "loss rate (%)", "CoV over flows of their means", bottom=0)

    return draw


FIGURE_18 = Simulated(
    name="figure-18",
    caption="long-term fairness, 32 flows, means over 15 s",
    about="32 flows of one protocol that do not meet, SACK; CoV over flows of their means.",
    cases=lambda effort: _cases(effort, 15),
    probe=lambda key, _effort: Probe(("cov",), partial(_measure, key.span_s)),
    draw=_draw(15),
)

FIGURE_19 = Simulated(
    name="figure-19",
    caption="long-term fairness, 16 flows, means over 60 s",
    about="16 flows of one protocol that do not meet, SACK; compared with the runs of figure 18.",
    cases=lambda effort: _cases(effort, 60, 15),
    probe=lambda key, _effort: Probe(("cov",), partial(_measure, key.span_s)),
    draw=_draw(60),
)
