"""Figures 7 to 11: smoothness and queue of one flow on the droptail link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ackclock import metrics
from ackclock.engine import Run
from ackclock.metrics import Estimate
from ackclock.names import slug
from ackclock.reproduction.claims.artefact import Claim, Probe
from ackclock.reproduction.claims.least import MUCH, MUCH_MORE, PLAIN
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.claims.orders import ordered, was_plain
from ackclock.reproduction.claims.usual import between, changed, mean, near, ratio
from ackclock.runs import Case
from ackclock_papers.transient import measure, setting
from ackclock_papers.transient.curves import STEADY
from ackclock_papers.transient.figures_3_to_6 import alone
from ackclock_papers.transient.measure import per_100_ms, recounted
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, LossyFlow, Protocol


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


def _bernoulli(numbers: Numbers, protocol: Protocol) -> metrics.FloatArray:
    """Interpolate between the runs under Bernoulli loss, run by run; outside them, use the nearest."""
    cases = [LossyFlow(protocol, loss) for loss in LOSSES]
    lost, cov = ([numbers.of(case, key).value for case in cases] for key in ("loss", "cov"))
    return np.interp(numbers.each(protocol, "loss"), lost, cov)


def _slightly(protocol: Protocol) -> Claim:
    def times_bernoulli(numbers: Numbers) -> Estimate:
        on_off = np.array(numbers.each(protocol, "cov"))
        return metrics.over_runs(on_off / _bernoulli(numbers, protocol), least=0.0)

    return between(
        slug(protocol, "slightly-less-smooth-than-under-bernoulli"),
        f"{protocol} is slightly, but not much, less smooth than under Bernoulli loss",
        times_bernoulli,
        1 + PLAIN,
        1 + MUCH,
        why="its CoV over the mean CoV under Bernoulli loss at its loss rate: at least a hundredth more, and "
        "at most the least that 'much' means",
        paper="slightly worse",
    )


def _at_the_same_loss(protocol: Protocol) -> Claim:
    def bernoulli(numbers: Numbers) -> Estimate:
        return metrics.over_runs(_bernoulli(numbers, protocol), least=0.0)

    on_off = ("ON/OFF", mean(protocol, "cov"))
    return changed(
        was_plain(
            slug(protocol, "little-less-smooth-than-under-bernoulli"),
            f"{protocol} is a little less smooth than under Bernoulli loss",
            [on_off, ("Bernoulli", bernoulli)],
            why="Bernoulli loss at the loss rate that the flow has with the ON/OFF sources",
            unit="(CoV)",
            paper="slightly worse",
        ),
        per_100_ms(
            was_plain(
                "",
                "",
                [on_off, ("Bernoulli, 1 %", mean(LossyFlow(protocol, 0.01), "cov"))],
                why="Bernoulli loss of 1 %",
                unit="(CoV)",
            )
        ),
    )


FIGURE_7 = replace(STEADY, probe=Probe((*measure.STEADINESS.keys, "loss"), _measure_7)).figure(
    7,
    "rate",
    "sending rates, one flow and five ON/OFF sources",
    about="Droptail, 2.5 Mbit/s; ON/OFF sources of 500 kbit/s, Pareto times of shape 1.5.",
    cases=_cases_7,
    claims=tuple(claim(protocol) for claim in (_at_the_same_loss, _slightly) for protocol in Protocol),
)

FIGURE_8 = STEADY.figure(
    8,
    "queue",
    "queue, one flow and five ON/OFF sources",
    about="The runs of figure 7.",
    cases=_cases_on_off,
    claims=tuple(
        between(
            slug(protocol, "large-fluctuations-queue"),
            f"{protocol}: the queue fluctuates much",
            mean(protocol, "queue_std"),
            8,
            np.inf,
            why="standard deviation of at least a sixth of the buffer",
            unit="packets",
            paper="large fluctuations",
        )
        for protocol in Protocol
    ),
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
    claims=recounted(
        *(
            between(
                slug(protocol, "sends-at-link-speed-most-time"),
                f"{protocol} sends at link speed most of the time",
                mean(protocol, "steady"),
                0.6,
                1,
                why="share of round trips with at least 0.9 of the link's rate",
                paper="stable until the window drops below 30 packets",
            )
            for protocol in (TCP, GAIMD)
        )
    ),
)

FIGURE_10 = STEADY.figure(
    10,
    "window",
    "windows, one flow",
    about="The runs of figure 9; the windows of TCP and GAIMD (TFRC and TEAR have none).",
    cases=lambda effort: {protocol: alone(effort, protocol) for protocol in (TCP, GAIMD)},
    claims=tuple(
        near(
            slug(protocol, "at-most-about-80-packets-outstanding"),
            f"{protocol}: at most about 80 packets outstanding",
            mean(protocol, "largest_window"),
            80,
            within=0.1,
            why="31 on the path and 50 in the buffer; one round trip of growth above",
            unit="packets",
        )
        for protocol in (TCP, GAIMD)
    ),
)

EMPTY_LOW = 3
"""Packets in the fifth percentile of a queue that is emptied."""

CYCLES = [(protocol, mean(protocol, "queue_period")) for protocol in (TFRC, GAIMD)]
"""Cycles of the queue, the longer first."""

FIGURE_11 = STEADY.figure(
    11, "queue", "queue, one flow", about="The runs of figure 9.",
    cases=_cases_alone,
    claims=(
        ordered(
            "gaimd-queue-swings-much-less-than-tcp",
            "GAIMD's queue swings much less than TCP's",
            [(protocol, mean(protocol, "queue_std")) for protocol in (TCP, GAIMD)],
            unit="packets", paper="much smaller", margin=MUCH, why=MUCH_MORE,
        ),
        was_plain(
            "tfrc-queue-swings-less-than-tcp",
            "TFRC's queue swings less than TCP's",
            [(protocol, mean(protocol, "queue_std")) for protocol in (TCP, TFRC)],
            unit="packets", paper="its queue length fluctuations are smaller",
        ),
        between(
            "tcp-empties-queue",
            "TCP empties the queue", mean(TCP, "queue_low"), 0, EMPTY_LOW,
            why="fifth percentile of the queue", unit="packets", paper="empty",
        ),
        between(
            "tcp-queue-varies-much",
            "TCP's queue varies much", mean(TCP, "queue_std"), 8, np.inf,
            why="standard deviation of at least a sixth of the buffer", unit="packets",
            paper="large variations",
        ),
        *(
            between(
                slug(protocol, "not-empty-queue"),
                f"{protocol} does not empty the queue", mean(protocol, "queue_low"), 5, np.inf,
                why="fifth percentile of the queue, at least a tenth of the buffer", unit="packets",
                paper=quotation,
            )
            for protocol, quotation in ((TFRC, "does not drain"), (GAIMD, "does not: TFRC is 'similar'"))
        ),
        between(
            "tear-queue-almost-empty-half-cycle",
            "TEAR's queue is almost empty half of the cycle", mean(TEAR, "queue_empty"), 0.3, 0.7,
            why="share of round trips with at most 2 packets, half plus or minus 0.2",
            paper="half of the cycle",
        ),
        near(
            "tear-cycle-about-twice-tcp",
            "TEAR's cycle is about twice TCP's",
            ratio((TEAR, "queue_period"), (TCP, "queue_period")), 2, within=0.4,
            why="'about two times', read off a plot", paper="about two times",
        ),
        changed(
            ordered(
                "tfrc-cycle-much-longer-than-tcp-and-gaimd",
                "TFRC's cycle is much longer than TCP's and GAIMD's",
                CYCLES, unit="round trips", paper="much longer", margin=MUCH, why=MUCH_MORE,
            ),
            ordered("", "", CYCLES, unit="round trips", margin=0.0, why="the order of the means"),
        ),
    ),
)  # fmt: skip
