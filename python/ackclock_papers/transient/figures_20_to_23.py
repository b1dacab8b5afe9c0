"""Figures 20 to 23: responses to more congestion, one flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ackclock import metrics
from ackclock.decision import difference
from ackclock.metrics import Estimate
from ackclock.names import slug
from ackclock.reproduction.claims.least import ALMOST, MUCH, MUCH_MORE
from ackclock.reproduction.claims.numbers import Effort, Numbers
from ackclock.reproduction.claims.orders import ordered, was_plain
from ackclock.reproduction.claims.usual import between, changed, mean, near
from ackclock.runs import Case
from ackclock_papers.transient import measure, setting, steps
from ackclock_papers.transient.curves import STEP
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Protocol, Without

ALL_BUT_TCP = (GAIMD, TFRC, TEAR)


def _spread_at_10(numbers: Numbers) -> Estimate:
    shares = [numbers.of(protocol, "after_10").value for protocol in ALL_BUT_TCP]
    return metrics.over_runs([max(shares) - min(shares)])


FIGURE_20 = steps.analytic(
    20,
    "rate decrease, analytic, 1 % to 4 %",
    0.01,
    0.04,
    end=50,
    claims=(
        was_plain(
            "tcp-fastest-one",
            "TCP is the fastest",
            [
                (TCP, mean(TCP, "after_10")),
                ("the fastest of the others", measure.extreme(max, ALL_BUT_TCP, "after_10")),
            ],
            why="share of the change that is covered after 10 round trips",
            paper="the fastest one",
            absolute=True,
        ),
        between(
            "other-three-look-similar-up-to-10-round-trips",
            "the other three look similar up to 10 round trips",
            _spread_at_10,
            0,
            0.15,
            why="the largest difference of their shares of the change, in a plot from 0 to 1",
            paper="look similar",
        ),
        was_plain(
            "gaimd-becomes-slower-after-10-round-trips",
            "GAIMD becomes slower after 10 round trips",
            [
                ("the slower of TFRC and TEAR", measure.extreme(min, (TFRC, TEAR), "after_20")),
                (GAIMD, mean(GAIMD, "after_20")),
            ],
            why="share of the change that is covered after 20 round trips",
            paper="becomes slower",
            absolute=True,
        ),
    ),
)

FIGURE_21 = STEP.figure(
    21,
    "rate",
    "periodic loss from 1 % to 4 %",
    about=f"{steps.ALIKE} flows of each protocol that do not meet; the picture has the first.",
    cases=steps.loss_step("periodic", 0.01, 0.04),
    claims=(
        steps.fastest(),
        steps.faster(
            "tcp-fastest-gaimd-follows", "TCP is the fastest, GAIMD follows", (TCP, GAIMD), "fastest"
        ),
        steps.faster(
            "gaimd-faster-than-tfrc", "GAIMD is faster than TFRC", (GAIMD, TFRC), "slower than GAIMD"
        ),
        steps.faster(
            "gaimd-faster-than-tear", "GAIMD is faster than TEAR", (GAIMD, TEAR), "slower than GAIMD"
        ),
        steps.similar("tfrc-and-tear-respond-about-fast", "TFRC and TEAR respond about equally fast"),
        changed(
            between(
                "tcp-drops-to-almost-0-at-first",
                "TCP drops to almost 0 at first",
                mean(TCP, "lowest_share"),
                0,
                ALMOST,
                why="lowest rate of each flow in the next 40 round trips over its new rate; a tenth is "
                "visible in the picture",
                paper="almost 0",
            ),
            between("", "", mean(TCP, "lowest_share"), 0, 0.35, why="of its new rate"),
        ),
    ),
)

WITHOUT_TIMEOUT = Without(TEAR, "timeout")


def _cases_22(effort: Effort) -> Mapping[Protocol | Without, Case]:
    def case(protocol: Protocol, **settings: Any) -> Case:
        flows = setting.flows(effort, protocol, count=steps.ALIKE, **settings)
        return steps.one_loss_step(effort, "bernoulli", 0.005, 1.0, flows)

    params = {WITHOUT_TIMEOUT.mechanism: False}
    return {protocol: case(protocol) for protocol in Protocol} | {WITHOUT_TIMEOUT: case(TEAR, params=params)}


FIGURE_22 = STEP.figure(
    22,
    "rate",
    "Bernoulli loss from 0.5 % to 100 %",
    about=f"{steps.ALIKE} flows of each protocol; TEAR also without its timeout.",
    cases=_cases_22,
    claims=(
        steps.faster(
            "tcp-fastest-gaimd-second",
            "TCP is the fastest, GAIMD the second",
            (TCP, GAIMD),
            "the highest speed",
        ),
        steps.faster("tfrc-third", "TFRC is the third", (GAIMD, TFRC), "the third"),
        steps.faster("tear-slowest", "TEAR is the slowest", (TFRC, TEAR), "very slow"),
        ordered(
            "tear-far-slower-than-others",
            "TEAR is far slower than the other three",
            [
                (TEAR, mean(TEAR, "half_way")),
                ("the slowest of the others", measure.extreme(max, (TCP, GAIMD, TFRC), "half_way")),
            ],
            margin=MUCH,
            why=f"round trips to half of the change; {MUCH_MORE}",
            unit="RTTs",
            paper="very slow",
        ),
        *(
            between(
                slug(protocol, "reduces-rate-to-almost-0"),
                f"{protocol} reduces its rate to almost 0",
                mean(protocol, "end_share"),
                0,
                0.05,
                why="mean of the last half after the change, over that before",
                paper="almost 0",
            )
            for protocol in (TCP, GAIMD)
        ),
        between(
            "tear-without-timeout-not-slow-down",
            "TEAR without its timeout does not slow down",
            mean(WITHOUT_TIMEOUT, "end_share"),
            0.8,
            np.inf,
            why="mean of the last half after the change, over that before",
            paper="not at all",
        ),
    ),
)

LOWEST_OF_OTHERS = measure.extreme(min, ALL_BUT_TCP, "lowest_share")


def _falls_further(numbers: Numbers) -> Estimate:
    return difference(LOWEST_OF_OTHERS(numbers), numbers.of(TCP, "lowest_share"))


FIGURE_23 = STEP.figure(
    23,
    "rate",
    "Bernoulli loss from 1 % to 4 %",
    about=f"{steps.ALIKE} flows of each protocol; the picture has the first.",
    cases=steps.loss_step("bernoulli", 0.01, 0.04),
    headline=True,
    claims=(
        steps.fastest(),
        steps.faster(
            "tcp-fastest-gaimd-follows", "TCP is the fastest, GAIMD follows", (TCP, GAIMD), "fastest"
        ),
        *(
            steps.faster(
                slug("gaimd-faster-than", protocol),
                f"GAIMD is faster than {protocol}",
                (GAIMD, protocol),
                "follows",
            )
            for protocol in (TFRC, TEAR)
        ),
        *(
            steps.faster(
                slug(protocol, "slower-than-tcp"), f"{protocol} is slower than TCP", (TCP, protocol), "slower"
            )
            for protocol in (TFRC, TEAR)
        ),
        *(
            near(
                slug(protocol, "halves-rate"),
                f"{protocol} halves its rate",
                mean(protocol, "end_share"),
                0.5,
                within=0.2,
                absolute=True,
                why="sqrt(1 %/4 %); timeouts lower it further",
                paper="half",
            )
            for protocol in Protocol
        ),
        changed(
            between(
                "tcp-falls-below-new-rate-more-than-others",
                "TCP falls below its new rate more than the others",
                _falls_further,
                ALMOST,
                np.inf,
                why="lowest rate of each flow within 40 round trips over its new mean: the least of the "
                "others less TCP's; a tenth is visible in the picture",
                paper="only TCP over-reacts",
            ),
            ordered(
                "",
                "",
                [("the lowest of the others", LOWEST_OF_OTHERS), (TCP, mean(TCP, "lowest_share"))],
                margin=0.0,
                why="any difference of the means",
            ),
        ),
    ),
)
