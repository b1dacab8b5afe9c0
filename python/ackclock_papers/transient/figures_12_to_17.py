"""Figures 12 to 17: fairness, smoothness and queue of several flows on the droptail link."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ackclock import metrics
from ackclock.engine import build
from ackclock.metrics import Estimate
from ackclock.names import slug
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers
from ackclock.reproduction.claims.orders import was_plain
from ackclock.reproduction.claims.usual import between, mean, near
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.curves import STEADY
from ackclock_papers.transient.figures_3_to_6 import alone, rougher, smoother
from ackclock_papers.transient.measure import extreme, recounted
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Protocol, Reference, ReferenceCase


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
    claims=recounted(smoother(TFRC, TEAR)),
)


def _change(after: tuple[Key, Key], before: tuple[Key, Key]) -> Callable[[Numbers], Estimate]:
    def change(numbers: Numbers) -> Estimate:
        changes = np.subtract(numbers.each(*after), numbers.each(*before))
        return metrics.over_runs(changes, least=-1.0, most=1.0)

    return change


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
    claims=recounted(
        *(
            near(
                slug("f-fluctuates-around-0.7-with", protocol),
                f"F fluctuates around 0.7 with {protocol}",
                mean(protocol, "fairness"),
                0.7,
                within=0.1,
                absolute=True,
                why="the study's prediction from a CoV of 0.58; 'around'",
            )
            for protocol in Protocol
        ),
        *(
            near(
                slug("f-with", protocol, "similar-on-red-link"),
                f"F with {protocol} is similar on a RED link",
                _change(
                    (ReferenceCase(protocol, Reference.NEXT_TO_TCP_RED), "fairness"), (protocol, "fairness")
                ),
                0,
                within=0.1,
                absolute=True,
                why="the same tolerance as for 0.7",
                paper="similar",
            )
            for protocol in Protocol
        ),
    ),
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
    claims=tuple(
        was_plain(
            slug(protocol, "shorter-cycles-than-lone-tcp"),
            f"{protocol}: shorter cycles than those of a lone TCP flow",
            [(str(key), mean(key, "queue_period")) for key in (ONE_TCP, protocol)],
            unit="round trips",
            paper="shorter cycles",
        )
        for protocol in Protocol
    ),
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
    claims=recounted(
        *(
            rougher(
                slug(protocol, "smoother-than-beside-tcp"),
                f"{protocol} is smoother than next to TCP",
                ("next to TCP", ReferenceCase(protocol, Reference.NEXT_TO_TCP)),
                ("alike", protocol),
                "improves",
            )
            for protocol in (GAIMD, TFRC, TEAR)
        )
    ),
)

FIGURE_16 = STEADY.figure(
    16,
    "fairness",
    "fairness, eight flows of one protocol",
    about="Jain's index of the eight rates in every round trip.",
    cases=_cases_eight_flows,
    headline=True,
    claims=recounted(
        *(
            between(
                slug("f", protocol, "close-to-1"),
                f"F of {protocol} is close to 1",
                mean(protocol, "fairness"),
                0.9,
                1,
                why="the study predicts 0.96",
                paper="close to 1",
            )
            for protocol in (TFRC, TEAR)
        ),
        *(
            was_plain(
                slug("f", protocol, "not-vary-much"),
                f"F of {protocol} does not vary much",
                [(case, mean(case, "fairness_std")) for case in (TCP, protocol)],
                unit="(standard deviation)",
                paper="no large variations",
            )
            for protocol in (TFRC, TEAR)
        ),
        was_plain(
            "tfrc-and-tear-fairer-than-tcp",
            "TFRC and TEAR are fairer than TCP",
            [
                ("the less fair of TFRC and TEAR", extreme(min, (TFRC, TEAR), "fairness")),
                (TCP, mean(TCP, "fairness")),
            ],
            unit="(F)",
            paper="better short-term fairness performance than that of TCP",
        ),
        near(
            "f-gaimd-slightly-below-0.93",
            "F of GAIMD is slightly below 0.93",
            mean(GAIMD, "fairness"),
            0.9,
            within=0.05,
            absolute=True,
            why="'slightly lower' than the prediction",
            paper="about 0.9",
        ),
    ),
)


def _cases_17(effort: Effort) -> Mapping[Protocol | ReferenceCase, Case]:
    return {protocol: _eight_flows(effort, protocol) for protocol in Protocol} | {
        ReferenceCase(TCP, Reference.NEXT_TO_TCP): _next_to_tcp(effort, TCP)
    }


FIGURE_17 = STEADY.figure(
    17,
    "queue",
    "queue, eight flows of one protocol",
    about="The runs of figure 16.",
    cases=_cases_17,
    claims=(
        *(
            was_plain(
                slug(protocol, "higher-queue-than-tcp"),
                f"{protocol}: a longer queue than TCP's",
                [(case, mean(case, "queue")) for case in (protocol, TCP)],
                unit="packets",
                paper="high",
            )
            for protocol in (GAIMD, TFRC, TEAR)
        ),
        *(
            was_plain(
                slug(protocol, "steadier-queue-than-tcp"),
                f"{protocol}: a steadier queue than TCP's",
                [(case, mean(case, "queue_std")) for case in (TCP, protocol)],
                unit="packets",
                paper="stable",
            )
            for protocol in (GAIMD, TFRC, TEAR)
        ),
    ),
)
