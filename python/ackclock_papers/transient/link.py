"""Figures 7 to 17: smoothness, fairness and queue on the droptail link."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ackclock.reproduction.claims import between, mean, near, ordered, ratio
from ackclock.reproduction.numbers import Effort
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.curves import STEADY
from ackclock_papers.transient.lossy import alone, rougher, smoother
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Compared, Protocol, Reference

ON_OFF = {
    "source": "onoff", "rate": "500 kbit/s", "on": "1 s", "off": "2 s", "shape": 1.5, "count": 5,
    "rtt": "100 ms",
}  # fmt: skip


def _cases_on_off(effort: Effort) -> Mapping[Protocol | Compared, Case]:
    loss = setting.bernoulli(0.01)
    return {one: setting.steady(effort, setting.flows(one), ON_OFF) for one in Protocol} | {
        Compared(one, Reference.BERNOULLI): alone(effort, one, loss) for one in Protocol
    }


FIGURE_7 = STEADY.figure(
    7, "rate", "sending rates, one flow and five ON/OFF sources",
    about="Droptail, 2.5 Mbit/s; ON/OFF sources of 500 kbit/s, Pareto times of shape 1.5.",
    cases=_cases_on_off,
    claims=tuple(
        rougher(
            f"{one} is a little less smooth than under Bernoulli loss",
            ("ON/OFF", one), ("Bernoulli 1 %", Compared(one, Reference.BERNOULLI)),
            "slightly worse",
        )
        for one in Protocol
    ),
)  # fmt: skip

FIGURE_8 = STEADY.figure(
    8, "queue", "queue, one flow and five ON/OFF sources", about="The runs of figure 7.",
    cases=_cases_on_off,
    claims=tuple(
        between(
            f"{one}: large fluctuations of the queue", mean(one, "queue_std"), 8, np.inf,
            why="standard deviation of at least a sixth of the buffer", unit="packets",
            paper="large fluctuations",
        )
        for one in Protocol
    ),
)  # fmt: skip


def _cases_one(effort: Effort) -> Mapping[Protocol, Case]:
    return {one: alone(effort, one) for one in Protocol}


FIGURE_9 = STEADY.figure(
    9, "rate", "sending rates, one flow", about="Each protocol alone on the 2.5 Mbit/s link.",
    cases=_cases_one, headline=True,
    claims=tuple(
        between(
            f"{one} sends at link speed most of the time", mean(one, "steady"), 0.6, 1,
            why="share of round trips with at least 0.9 of the link's rate",
            paper="stable until the window drops below 30 packets",
        )
        for one in (TCP, GAIMD)
    ),
)  # fmt: skip

FIGURE_10 = STEADY.figure(
    10, "window", "windows, one flow",
    about="The runs of figure 9; the windows of TCP and GAIMD (TFRC and TEAR have none).",
    cases=lambda effort: {one: alone(effort, one) for one in (TCP, GAIMD)},
    claims=tuple(
        near(
            f"{one}: at most about 80 packets outstanding", mean(one, "largest_window"), 80,
            within=0.1, why="31 on the path and 50 in the buffer; one round trip of growth above",
            unit="packets",
        )
        for one in (TCP, GAIMD)
    ),
)  # fmt: skip

FIGURE_11 = STEADY.figure(
    11, "queue", "queue, one flow", about="The runs of figure 9.",
    cases=_cases_one,
    claims=(
        ordered(
            "GAIMD's queue swings much less than TCP's",
            [(one, mean(one, "queue_std")) for one in (TCP, GAIMD)],
            unit="packets", paper="much smaller", margin=0.3,
        ),
        between(
            "TCP empties the queue", mean(TCP, "queue_low"), 0, 3,
            why="its lowest twentieth", unit="packets", paper="empty",
        ),
        between(
            "TFRC does not empty the queue", mean(TFRC, "queue_low"), 5, np.inf,
            why="its lowest twentieth, a tenth of the buffer and more", unit="packets",
            paper="does not drain",
        ),
        between(
            "TEAR's queue is almost empty half of the cycle", mean(TEAR, "queue_empty"), 0.3, 0.7,
            why="share of round trips with at most 2 packets, half give or take 0.2",
            paper="half of the cycle",
        ),
        near(
            "TEAR's cycle is about twice TCP's",
            ratio((TEAR, "queue_period"), (TCP, "queue_period")), 2, within=0.4,
            why="'about two times', from a plot", paper="about two times",
        ),
        ordered(
            "TFRC's cycle is much longer than TCP's and GAIMD's",
            [(one, mean(one, "queue_period")) for one in (TFRC, GAIMD)],
            unit="round trips", paper="much longer",
        ),
    ),
)  # fmt: skip


def _beside(effort: Effort, protocol: Protocol) -> Case:
    return setting.steady(effort, setting.flows(protocol), setting.flows(TCP, count=7))


def _cases_beside(effort: Effort) -> Mapping[Protocol, Case]:
    return {one: _beside(effort, one) for one in Protocol}


FIGURE_12 = STEADY.figure(
    12, "rate", "sending rates, one flow and seven TCP flows",
    about="Eight flows on the 2.5 Mbit/s link; the rate of the first.",
    cases=_cases_beside,
    claims=(smoother(TFRC, TEAR),),
)  # fmt: skip

FIGURE_13 = STEADY.figure(
    13, "fairness", "fairness, one flow and seven TCP flows",
    about="Jain's index of the eight rates in every round trip.",
    cases=_cases_beside, headline=True,
    claims=tuple(
        near(
            f"F fluctuates around 0.7 with {one}", mean(one, "fairness"), 0.7, within=0.1,
            absolute=True, why="the study's prediction from a CoV of 0.58; 'around'",
        )
        for one in Protocol
    ),
)  # fmt: skip

ONE_TCP = Compared(TCP, Reference.ALONE)


def _cases_14(effort: Effort) -> Mapping[Protocol | Compared, Case]:
    return {one: _beside(effort, one) for one in Protocol} | {ONE_TCP: alone(effort, TCP)}


FIGURE_14 = STEADY.figure(
    14, "queue", "queue, one flow and seven TCP flows",
    about="The runs of figure 12, and the lone TCP of figure 11.",
    cases=_cases_14,
    claims=tuple(
        ordered(
            f"{one}: shorter cycles than a lone TCP's",
            [(str(key), mean(key, "queue_period")) for key in (ONE_TCP, one)],
            unit="round trips", paper="shorter cycles",
        )
        for one in Protocol
    ),
)  # fmt: skip


def _alike(effort: Effort, protocol: Protocol) -> Case:
    return setting.steady(effort, setting.flows(protocol, count=8))


def _cases_alike(effort: Effort) -> Mapping[Protocol, Case]:
    return {one: _alike(effort, one) for one in Protocol}


def _cases_15(effort: Effort) -> Mapping[Protocol | Compared, Case]:
    return {one: _alike(effort, one) for one in Protocol} | {
        Compared(one, Reference.BESIDE_TCP): _beside(effort, one) for one in Protocol
    }


FIGURE_15 = STEADY.figure(
    15, "rate", "sending rates, eight flows of one protocol",
    about="Eight flows on the 2.5 Mbit/s link; the rate of the first.",
    cases=_cases_15,
    claims=tuple(
        rougher(
            f"{one} is smoother than beside TCP",
            ("beside TCP", Compared(one, Reference.BESIDE_TCP)), ("alike", one), "improves",
        )
        for one in (GAIMD, TFRC, TEAR)
    ),
)  # fmt: skip

FIGURE_16 = STEADY.figure(
    16, "fairness", "fairness, eight flows of one protocol",
    about="Jain's index of the eight rates in every round trip.",
    cases=_cases_alike, headline=True,
    claims=(
        *(
            between(
                f"F of {one} is close to 1", mean(one, "fairness"), 0.9, 1,
                why="the study predicts 0.96", paper="close to 1",
            )
            for one in (TFRC, TEAR)
        ),
        *(
            ordered(
                f"F of {one} does not vary much",
                [(each, mean(each, "fairness_std")) for each in (TCP, one)],
                unit="(standard deviation)", paper="no large variations",
            )
            for one in (TFRC, TEAR)
        ),
        near(
            "F of GAIMD is slightly below 0.93", mean(GAIMD, "fairness"), 0.9, within=0.05,
            absolute=True, why="'slightly lower' than the prediction", paper="about 0.9",
        ),
    ),
)  # fmt: skip


def _cases_17(effort: Effort) -> Mapping[Protocol | Compared, Case]:
    return {one: _alike(effort, one) for one in Protocol} | {
        Compared(TCP, Reference.BESIDE_TCP): _beside(effort, TCP)
    }


FIGURE_17 = STEADY.figure(
    17, "queue", "queue, eight flows of one protocol", about="The runs of figure 16.",
    cases=_cases_17,
    claims=(
        *(
            ordered(
                f"{one}: a higher queue than TCP's",
                [(each, mean(each, "queue")) for each in (one, TCP)],
                unit="packets", paper="high",
            )
            for one in (GAIMD, TFRC, TEAR)
        ),
        *(
            ordered(
                f"{one}: a steadier queue than TCP's",
                [(each, mean(each, "queue_std")) for each in (TCP, one)],
                unit="packets", paper="stable",
            )
            for one in (GAIMD, TFRC, TEAR)
        ),
    ),
)  # fmt: skip
