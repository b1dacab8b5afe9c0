"""Figures 7 to 17: smoothness, fairness and queue on the droptail link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ackclock import metrics
from ackclock.engine import Run
from ackclock.engine.names import slug
from ackclock.metrics import Estimate
from ackclock.reproduction.artefact import Claim
from ackclock.reproduction.claims import between, mean, near, ordered, ratio
from ackclock.reproduction.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import measure, setting
from ackclock_papers.transient.curves import STEADY
from ackclock_papers.transient.lossy import alone, rougher, smoother
from ackclock_papers.transient.measure import extreme
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Compared, Lossy, Protocol, Reference


def _cases_on_off(effort: Effort) -> dict[Protocol, Case]:
    def one(protocol: Protocol) -> Case:
        flow = setting.flows(effort, protocol)
        return setting.steady(effort, flow, setting.datagrams(effort))

    return {protocol: one(protocol) for protocol in Protocol}


LOSSES = (0.0025, 0.005, 0.01, 0.02)
"""Bernoulli loss rates that figure 7 is compared with."""


def _cases_7(effort: Effort) -> Mapping[Protocol | Lossy, Case]:
    return _cases_on_off(effort) | {
        Lossy(one, loss): alone(effort, one, setting.bernoulli(loss)) for one in Protocol for loss in LOSSES
    }


def _measure_7(case: Key, run: Run) -> Row:
    """Measure the steadiness, and what share of the first flow's packets is lost."""
    own = run.summary["flows"][0]
    lost = {"loss": own["dropped_packets"] / own["sent_packets"]}
    return {**measure.steadiness(case, run), **lost}


def _at_the_same_loss(protocol: Protocol) -> Claim:
    def bernoulli(numbers: Numbers) -> Estimate:
        """Interpolate between the runs under Bernoulli loss, whose ends count beyond them."""
        cases = [Lossy(protocol, loss) for loss in LOSSES]
        lost, cov = ([numbers.of(case, key).value for case in cases] for key in ("loss", "cov"))
        own = numbers.each(protocol, "loss")
        return metrics.over_runs(np.interp(own, lost, cov))

    return ordered(
        slug(protocol, "little-less-smooth-than-under-bernoulli"),
        f"{protocol} is a little less smooth than under Bernoulli loss",
        [("ON/OFF", mean(protocol, "cov")), ("Bernoulli", bernoulli)],
        why="Bernoulli loss at the rate that the flow has beside the ON/OFF sources",
        unit="(CoV)",
        paper="slightly worse",
    )


FIGURE_7 = replace(STEADY, measure=_measure_7, numbers=(*STEADY.numbers, "loss")).figure(
    7,
    "rate",
    "sending rates, one flow and five ON/OFF sources",
    about="Droptail, 2.5 Mbit/s; ON/OFF sources of 500 kbit/s, Pareto times of shape 1.5.",
    cases=_cases_7,
    claims=tuple(_at_the_same_loss(one) for one in Protocol),
)

FIGURE_8 = STEADY.figure(
    8,
    "queue",
    "queue, one flow and five ON/OFF sources",
    about="The runs of figure 7.",
    cases=_cases_on_off,
    claims=tuple(
        between(
            slug(one, "large-fluctuations-queue"),
            f"{one}: large fluctuations of the queue",
            mean(one, "queue_std"),
            8,
            np.inf,
            why="standard deviation of at least a sixth of the buffer",
            unit="packets",
            paper="large fluctuations",
        )
        for one in Protocol
    ),
)


def _cases_one(effort: Effort) -> Mapping[Protocol, Case]:
    return {one: alone(effort, one) for one in Protocol}


FIGURE_9 = STEADY.figure(
    9,
    "rate",
    "sending rates, one flow",
    about="Each protocol alone on the 2.5 Mbit/s link.",
    cases=_cases_one,
    headline=True,
    claims=tuple(
        between(
            slug(one, "sends-at-link-speed-most-time"),
            f"{one} sends at link speed most of the time",
            mean(one, "steady"),
            0.6,
            1,
            why="share of round trips with at least 0.9 of the link's rate",
            paper="stable until the window drops below 30 packets",
        )
        for one in (TCP, GAIMD)
    ),
)

FIGURE_10 = STEADY.figure(
    10,
    "window",
    "windows, one flow",
    about="The runs of figure 9; the windows of TCP and GAIMD (TFRC and TEAR have none).",
    cases=lambda effort: {one: alone(effort, one) for one in (TCP, GAIMD)},
    claims=tuple(
        near(
            slug(one, "at-most-about-80-packets-outstanding"),
            f"{one}: at most about 80 packets outstanding",
            mean(one, "largest_window"),
            80,
            within=0.1,
            why="31 on the path and 50 in the buffer; one round trip of growth above",
            unit="packets",
        )
        for one in (TCP, GAIMD)
    ),
)

FIGURE_11 = STEADY.figure(
    11, "queue", "queue, one flow", about="The runs of figure 9.",
    cases=_cases_one,
    claims=(
        ordered(
            "gaimd-queue-swings-much-less-than-tcp",
            "GAIMD's queue swings much less than TCP's",
            [(one, mean(one, "queue_std")) for one in (TCP, GAIMD)],
            unit="packets", paper="much smaller", margin=0.3,
        ),
        ordered(
            "tfrc-queue-swings-less-than-tcp",
            "TFRC's queue swings less than TCP's",
            [(one, mean(one, "queue_std")) for one in (TCP, TFRC)],
            unit="packets", paper="its queue length fluctuations are smaller",
        ),
        between(
            "tcp-empties-queue",
            "TCP empties the queue", mean(TCP, "queue_low"), 0, 3,
            why="its lowest twentieth", unit="packets", paper="empty",
        ),
        between(
            "tcp-queue-varies-much",
            "TCP's queue varies much", mean(TCP, "queue_std"), 8, np.inf,
            why="standard deviation of at least a sixth of the buffer", unit="packets",
            paper="large variations",
        ),
        *(
            between(
                slug(one, "not-empty-queue"),
                f"{one} does not empty the queue", mean(one, "queue_low"), 5, np.inf,
                why="its lowest twentieth, a tenth of the buffer and more", unit="packets",
                paper=words,
            )
            for one, words in ((TFRC, "does not drain"), (GAIMD, "does not: TFRC is 'similar'"))
        ),
        between(
            "tear-queue-almost-empty-half-cycle",
            "TEAR's queue is almost empty half of the cycle", mean(TEAR, "queue_empty"), 0.3, 0.7,
            why="share of round trips with at most 2 packets, half give or take 0.2",
            paper="half of the cycle",
        ),
        near(
            "tear-cycle-about-twice-tcp",
            "TEAR's cycle is about twice TCP's",
            ratio((TEAR, "queue_period"), (TCP, "queue_period")), 2, within=0.4,
            why="'about two times', from a plot", paper="about two times",
        ),
        ordered(
            "tfrc-cycle-much-longer-than-tcp-and-gaimd",
            "TFRC's cycle is much longer than TCP's and GAIMD's",
            [(one, mean(one, "queue_period")) for one in (TFRC, GAIMD)],
            unit="round trips", paper="much longer",
        ),
    ),
)  # fmt: skip


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
        return metrics.over_runs(np.subtract(numbers.each(*after), numbers.each(*before)))

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
