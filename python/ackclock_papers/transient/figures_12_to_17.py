"""Figures 12 to 17: fairness, smoothness and queue of several flows on the droptail link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ackclock import metrics
from ackclock.engine.names import slug
from ackclock.metrics import Estimate
from ackclock.reproduction.claims import between, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Key, Numbers
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.curves import STEADY
from ackclock_papers.transient.figures_3_to_6 import alone, rougher, smoother
from ackclock_papers.transient.measure import extreme
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Compared, Protocol, Reference


def _beside(effort: Effort, protocol: Protocol, queue: Mapping[str, Any] | None = None) -> Case:
    one, others = setting.flows(effort, protocol), setting.flows(effort, TCP, count=7)
    return setting.steady(effort, one, others, queue=queue)


def _cases_beside(effort: Effort) -> dict[Protocol, Case]:
    return {one: _beside(effort, one) for one in Protocol}


FIGURE_12 = STEADY.figure(
    12,
    "rate",
    "sending rates, one flow and seven TCP flows",
    about="Eight flows on the 2.5 Mbit/s link; the rate of the first.",
    cases=_cases_beside,
    claims=(smoother(TFRC, TEAR),),
)


def _change(after: tuple[Key, Key], before: tuple[Key, Key]) -> Callable[[Numbers], Estimate]:
    def change(numbers: Numbers) -> Estimate:
        changes = np.subtract(numbers.each(*after), numbers.each(*before))
        return metrics.over_runs(changes, least=-1.0, most=1.0)

    return change


def _cases_13(effort: Effort) -> Mapping[Protocol | Compared, Case]:
    return _cases_beside(effort) | {
        Compared(one, Reference.BESIDE_TCP_RED): _beside(effort, one, setting.RED) for one in Protocol
    }


FIGURE_13 = STEADY.figure(
    13,
    "fairness",
    "fairness, one flow and seven TCP flows",
    about="Jain's index of the eight rates in every round trip.",
    cases=_cases_13,
    headline=True,
    claims=(
        *(
            near(
                slug("f-fluctuates-around-0.7-with", one),
                f"F fluctuates around 0.7 with {one}",
                mean(one, "fairness"),
                0.7,
                within=0.1,
                absolute=True,
                why="the study's prediction from a CoV of 0.58; 'around'",
            )
            for one in Protocol
        ),
        *(
            near(
                slug("f-with", one, "similar-on-red-link"),
                f"F with {one} is similar on a RED link",
                _change((Compared(one, Reference.BESIDE_TCP_RED), "fairness"), (one, "fairness")),
                0,
                within=0.1,
                absolute=True,
                why="as near as F is to 0.7",
                paper="similar",
            )
            for one in Protocol
        ),
    ),
)

ONE_TCP = Compared(TCP, Reference.ALONE)


def _cases_14(effort: Effort) -> Mapping[Protocol | Compared, Case]:
    return {one: _beside(effort, one) for one in Protocol} | {ONE_TCP: alone(effort, TCP)}


FIGURE_14 = STEADY.figure(
    14,
    "queue",
    "queue, one flow and seven TCP flows",
    about="The runs of figure 12, and the lone TCP of figure 11.",
    cases=_cases_14,
    claims=tuple(
        ordered(
            slug(one, "shorter-cycles-than-lone-tcp"),
            f"{one}: shorter cycles than a lone TCP's",
            [(str(key), mean(key, "queue_period")) for key in (ONE_TCP, one)],
            unit="round trips",
            paper="shorter cycles",
        )
        for one in Protocol
    ),
)


def _alike(effort: Effort, protocol: Protocol) -> Case:
    return setting.steady(effort, setting.flows(effort, protocol, count=8))


def _cases_alike(effort: Effort) -> Mapping[Protocol, Case]:
    return {one: _alike(effort, one) for one in Protocol}


def _cases_15(effort: Effort) -> Mapping[Protocol | Compared, Case]:
    return {one: _alike(effort, one) for one in Protocol} | {
        Compared(one, Reference.BESIDE_TCP): _beside(effort, one) for one in Protocol
    }


FIGURE_15 = STEADY.figure(
    15,
    "rate",
    "sending rates, eight flows of one protocol",
    about="Eight flows on the 2.5 Mbit/s link; the rate of the first.",
    cases=_cases_15,
    claims=tuple(
        rougher(
            slug(one, "smoother-than-beside-tcp"),
            f"{one} is smoother than beside TCP",
            ("beside TCP", Compared(one, Reference.BESIDE_TCP)),
            ("alike", one),
            "improves",
        )
        for one in (GAIMD, TFRC, TEAR)
    ),
)

FIGURE_16 = STEADY.figure(
    16,
    "fairness",
    "fairness, eight flows of one protocol",
    about="Jain's index of the eight rates in every round trip.",
    cases=_cases_alike,
    headline=True,
    claims=(
        *(
            between(
                slug("f", one, "close-to-1"),
                f"F of {one} is close to 1",
                mean(one, "fairness"),
                0.9,
                1,
                why="the study predicts 0.96",
                paper="close to 1",
            )
            for one in (TFRC, TEAR)
        ),
        *(
            ordered(
                slug("f", one, "not-vary-much"),
                f"F of {one} does not vary much",
                [(each, mean(each, "fairness_std")) for each in (TCP, one)],
                unit="(standard deviation)",
                paper="no large variations",
            )
            for one in (TFRC, TEAR)
        ),
        ordered(
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


def _cases_17(effort: Effort) -> Mapping[Protocol | Compared, Case]:
    return {one: _alike(effort, one) for one in Protocol} | {
        Compared(TCP, Reference.BESIDE_TCP): _beside(effort, TCP)
    }


FIGURE_17 = STEADY.figure(
    17,
    "queue",
    "queue, eight flows of one protocol",
    about="The runs of figure 16.",
    cases=_cases_17,
    claims=(
        *(
            ordered(
                slug(one, "higher-queue-than-tcp"),
                f"{one}: a higher queue than TCP's",
                [(each, mean(each, "queue")) for each in (one, TCP)],
                unit="packets",
                paper="high",
            )
            for one in (GAIMD, TFRC, TEAR)
        ),
        *(
            ordered(
                slug(one, "steadier-queue-than-tcp"),
                f"{one}: a steadier queue than TCP's",
                [(each, mean(each, "queue_std")) for each in (TCP, one)],
                unit="packets",
                paper="stable",
            )
            for one in (GAIMD, TFRC, TEAR)
        ),
    ),
)
