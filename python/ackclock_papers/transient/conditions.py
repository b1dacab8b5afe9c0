"""Conditions that the study states for its simulations, measured in them."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Effort, Key, Row
from ackclock.runs import Case
from ackclock_papers.transient import figures_1_and_2, setting
from ackclock_papers.transient.figures_3_to_6 import alone
from ackclock_papers.transient.setting import TCP, LossyFlow

SOURCES = "five ON/OFF sources"
ONE_PER_CENT = LossyFlow(TCP, 0.01)


def _cases(effort: Effort) -> Mapping[Key, Case]:
    return {
        figures_1_and_2.ONE_FLOW: figures_1_and_2.FIGURE_1.cases(effort)[figures_1_and_2.ONE_FLOW],
        SOURCES: setting.case(effort, [setting.datagrams(effort)], 250),
        ONE_PER_CENT: alone(effort, TCP, setting.bernoulli(ONE_PER_CENT.loss)),
    }


def _load(run: Run) -> Row:
    return {"load": sum(flow["goodput_mbps"] for flow in run.summary["flows"])}


def _lost(run: Run) -> Row:
    (flow,) = run.summary["flows"]
    return {"lost": flow["dropped_packets"] / flow["sent_packets"]}


PROBES: Mapping[Key, Probe] = {
    figures_1_and_2.ONE_FLOW: figures_1_and_2.FIGURE_1.probe_of(figures_1_and_2.ONE_FLOW),
    SOURCES: Probe(("load",), _load),
    ONE_PER_CENT: Probe(("lost",), _lost),
}


CONDITIONS = Simulated(
    name="conditions",
    caption="conditions that section 2 states for the simulations",
    about="A TCP flow on the link, the ON/OFF sources alone, and a TCP flow under Bernoulli loss.",
    cases=_cases,
    probe=lambda case, _effort: PROBES[case],
    draw=every_number,
)
