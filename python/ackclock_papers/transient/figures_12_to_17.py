"""Figures 12 to 17: fairness, smoothness and queue of several flows on the droptail link."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ackclock import metrics
from ackclock.engine import build
from ackclock.metrics import Estimate
from ackclock.reproduction.claims.numbers import Effort, Numbers
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.curves import STEADY
from ackclock_papers.transient.figures_3_to_6 import alone
from ackclock_papers.transient.setting import TCP, Protocol, Reference, ReferenceCase


def _next_to_tcp(effort: Effort, protocol: Protocol, queue: build.Table | None = None) -> Case:
    flow, seven_tcp = setting.flows(effort, protocol), setting.flows(effort, TCP, count=7)
    return setting.steady(effort, flow, seven_tcp, queue=queue)


def _cases_next_to_tcp(effort: Effort) -> dict[Protocol, Case]:
    return {protocol: _next_to_tcp(effort, protocol) for protocol in Protocol}


FIGURE_12 = STEADY.figure(
    12,
    "rate",
    "sending rates, one flow and seven TCP flows",
    about="Eight flows on the 2.5 Mbit/s link; the rate of the first.",
    cases=_cases_next_to_tcp,
)


def change_by_red(numbers: Numbers, protocol: str, key: str) -> Estimate:
    """Estimate how much higher a share of figure 13 is on a RED link."""
    red = ReferenceCase(Protocol(protocol), Reference.NEXT_TO_TCP_RED)
    changes = np.subtract(numbers.each(red, key), numbers.each(protocol, key))
    return metrics.over_runs(changes, least=-1.0, most=1.0)


def _cases_13(effort: Effort) -> Mapping[Protocol | ReferenceCase, Case]:
    return _cases_next_to_tcp(effort) | {
        ReferenceCase(protocol, Reference.NEXT_TO_TCP_RED): _next_to_tcp(effort, protocol, setting.RED)
        for protocol in Protocol
    }


FIGURE_13 = STEADY.figure(
    13,
    "fairness",
    "fairness, one flow and seven TCP flows",
    about="Jain's index of the eight rates in every round trip.",
    cases=_cases_13,
    headline=True,
)

ONE_TCP = ReferenceCase(TCP, Reference.ALONE)


def _cases_14(effort: Effort) -> Mapping[Protocol | ReferenceCase, Case]:
    return {protocol: _next_to_tcp(effort, protocol) for protocol in Protocol} | {ONE_TCP: alone(effort, TCP)}


FIGURE_14 = STEADY.figure(
    14,
    "queue",
    "queue, one flow and seven TCP flows",
    about="The runs of figure 12, and the lone TCP of figure 11.",
    cases=_cases_14,
)


def _eight_flows(effort: Effort, protocol: Protocol) -> Case:
    return setting.steady(effort, setting.flows(effort, protocol, count=8))


def _cases_eight_flows(effort: Effort) -> Mapping[Protocol, Case]:
    return {protocol: _eight_flows(effort, protocol) for protocol in Protocol}


def _cases_15(effort: Effort) -> Mapping[Protocol | ReferenceCase, Case]:
    return {protocol: _eight_flows(effort, protocol) for protocol in Protocol} | {
        ReferenceCase(protocol, Reference.NEXT_TO_TCP): _next_to_tcp(effort, protocol)
        for protocol in Protocol
    }


FIGURE_15 = STEADY.figure(
    15,
    "rate",
    "sending rates, eight flows of one protocol",
    about="Eight flows on the 2.5 Mbit/s link; the rate of the first.",
    cases=_cases_15,
)

FIGURE_16 = STEADY.figure(
    16,
    "fairness",
    "fairness, eight flows of one protocol",
    about="Jain's index of the eight rates in every round trip.",
    cases=_cases_eight_flows,
    headline=True,
)


def _cases_17(effort: Effort) -> Mapping[Protocol | ReferenceCase, Case]:
    return {protocol: _eight_flows(effort, protocol) for protocol in Protocol} | {
        ReferenceCase(TCP, Reference.NEXT_TO_TCP): _next_to_tcp(effort, TCP)
    }


FIGURE_17 = STEADY.figure(
    17, "queue", "queue, eight flows of one protocol", about="The runs of figure 16.", cases=_cases_17
)
