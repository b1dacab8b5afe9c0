"""Figures 7 to 11: smoothness and queue of one flow on the droptail link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ackclock import metrics
from ackclock.engine import Run
from ackclock.metrics import Estimate
from ackclock.reproduction.claims.artefact import Probe
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import measure, setting
from ackclock_papers.transient.curves import STEADY
from ackclock_papers.transient.figures_3_to_6 import alone
from ackclock_papers.transient.setting import GAIMD, TCP, LossyFlow, Protocol


def _cases_on_off(effort: Effort) -> dict[Protocol, Case]:
    datagrams = setting.datagrams(effort)
    return {
        protocol: setting.steady(effort, setting.flows(effort, protocol), datagrams) for protocol in Protocol
    }


LOSSES = (0.0025, 0.005, 0.01, 0.02)
"""Bernoulli loss rates that figure 7 is compared with."""


def _cases_7(effort: Effort) -> Mapping[Protocol | LossyFlow, Case]:
    return _cases_on_off(effort) | {
        LossyFlow(protocol, loss): alone(effort, protocol, setting.bernoulli(loss))
        for protocol in Protocol
        for loss in LOSSES
    }


def _measure_7(run: Run) -> Row:
    """Measure the steadiness, and the share of the first flow's packets that is lost."""
    own = run.summary["flows"][0]
    lost = {"loss": own["dropped_packets"] / own["sent_packets"]}
    return {**measure.steadiness(run), **lost}


def _bernoulli(numbers: Numbers, protocol: str) -> metrics.FloatArray:
    """Interpolate between the runs under Bernoulli loss, run by run; outside them, use the nearest."""
    cases = [LossyFlow(Protocol(protocol), loss) for loss in LOSSES]
    lost, cov = ([numbers.of(case, key).value for case in cases] for key in ("loss", "cov"))
    return np.interp(numbers.each(protocol, "loss"), lost, cov)


def cov_under_bernoulli(numbers: Numbers, protocol: str) -> Estimate:
    """Estimate the CoV of a protocol under Bernoulli loss at the rate at which its flow loses packets."""
    return metrics.over_runs(_bernoulli(numbers, protocol), least=0.0)


def cov_over_bernoulli(numbers: Numbers, protocol: str) -> Estimate:
    """Estimate the CoV of a protocol over the mean one under Bernoulli loss at the same loss rate."""
    on_off = np.array(numbers.each(protocol, "cov"))
    return metrics.over_runs(on_off / _bernoulli(numbers, protocol), least=0.0)


FIGURE_7 = replace(STEADY, probe=Probe((*measure.STEADINESS.keys, "loss"), _measure_7)).figure(
    7,
    "rate",
    "sending rates, one flow and five ON/OFF sources",
    about="Droptail, 2.5 Mbit/s; ON/OFF sources of 500 kbit/s, Pareto times of shape 1.5.",
    cases=_cases_7,
)

FIGURE_8 = STEADY.figure(
    8, "queue", "queue, one flow and five ON/OFF sources", about="The runs of figure 7.", cases=_cases_on_off
)


def _cases_alone(effort: Effort) -> Mapping[Protocol, Case]:
    return {protocol: alone(effort, protocol) for protocol in Protocol}


FIGURE_9 = STEADY.figure(
    9,
    "rate",
    "sending rates, one flow",
    about="Each protocol alone on the 2.5 Mbit/s link.",
    cases=_cases_alone,
    headline=True,
)

FIGURE_10 = STEADY.figure(
    10,
    "window",
    "windows, one flow",
    about="The runs of figure 9; the windows of TCP and GAIMD (TFRC and TEAR have none).",
    cases=lambda effort: {protocol: alone(effort, protocol) for protocol in (TCP, GAIMD)},
)

FIGURE_11 = STEADY.figure(11, "queue", "queue, one flow", about="The runs of figure 9.", cases=_cases_alone)
