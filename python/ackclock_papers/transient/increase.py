"""Figures 29 to 36: responses to less congestion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ackclock.engine import Run
from ackclock.reproduction.artefact import Claim, Simulated
from ackclock.reproduction.claims import between, holds, mean, near, ordered
from ackclock.reproduction.numbers import Key, Numbers, Row
from ackclock_papers.transient import measure, steps
from ackclock_papers.transient.curves import STEP
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Protocol

FIGURE_29 = steps.analytic(
    29, "rate increase, analytic, 4 % to 1 %", 0.04, 0.01, end=100,
    claims=(
        *steps.settles({TCP: 19.2, GAIMD: 85.7, TFRC: 78.3, TEAR: 65.2}),
        ordered(
            "TEAR is the slowest", [(one, mean(one, "settling")) for one in (TEAR, TFRC)],
            unit="RTTs", paper="figure 30 'conforms to our analytical result': TEAR slowest",
            reason="With the weights newest first, as the text of section 4.1 has them, TEAR's "
            "recursion settles before TFRC's and GAIMD's. Tried: oldest first, as the printed "
            "index has it, gives 83 RTTs: after TFRC, still before GAIMD.",
        ),
    ),
)  # fmt: skip


def _rise(
    number: int,
    kind: str,
    before: float,
    after: float,
    claims: Sequence[Claim],
    *,
    headline: bool = False,
) -> Simulated[Protocol]:
    return STEP.figure(
        number, "rate", f"{kind} loss from {before:.0%} to {after:.0%}",
        about=f"{steps.ALIKE} flows of each protocol that do not meet; the picture has the first.",
        cases=steps.loss_step(kind, before, after), claims=claims, headline=headline,
    )  # fmt: skip


FIGURE_30 = _rise(
    30, "periodic", 0.04, 0.01,
    (
        steps.faster("TCP is the fastest", (TCP, GAIMD), "fastest"),
        steps.faster("GAIMD is slightly faster than TFRC", (GAIMD, TFRC), "slightly faster"),
        steps.faster("TEAR is the slowest", (TFRC, TEAR), "slowest"),
    ),
    headline=True,
)  # fmt: skip


def _similar(numbers: Numbers) -> tuple[str, bool]:
    tfrc, tear = (numbers.of(one, "half_way") for one in (TFRC, TEAR))
    return f"TFRC {tfrc}, TEAR {tear} RTTs", 0.5 < tfrc.value / tear.value < 2


FIGURE_31 = _rise(
    31, "periodic", 0.03, 0.02,
    (
        holds(
            "TEAR and TFRC are similar", "similar", _similar,
            why="round trips to half of the change within a factor of two",
        ),
        steps.faster("TCP is the fastest", (TCP, TFRC), "fastest"),
    ),
)  # fmt: skip


def _measure_endless(_case: Key, run: Run) -> Row:
    """Measure the rise in 50 round trips: without loss there is no new steady rate."""
    counted = measure.rounds(run)
    total, change = counted.sent.mean(axis=1), counted.change
    before = float(total[change // 2 : change].mean())
    return {"rise": float(total[change + 45 : change + 55].mean()) - before, "before": before}


ENDLESS = replace(STEP, measure=_measure_endless, numbers=("rise", "before"))
FIGURE_32 = ENDLESS.figure(
    32, "rate", "Bernoulli loss from 10 % to 0 %",
    about=f"{steps.ALIKE} flows of each protocol that do not meet.",
    cases=steps.loss_step("bernoulli", 0.1, 0.0),
    claims=(
        ordered(
            "TCP is the fastest, then GAIMD, TFRC, TEAR",
            [(one, mean(one, "rise")) for one in Protocol],
            why="packets per round trip gained in 50 round trips", paper="in this order",
        ),
    ),
)  # fmt: skip

FIGURE_33 = _rise(
    33, "bernoulli", 0.04, 0.01,
    (
        steps.faster("TCP is the fastest", (TCP, GAIMD), "fastest"),
        steps.faster("TFRC follows TCP", (TCP, TFRC), "follow"),
        steps.faster("TEAR is the slowest", (TFRC, TEAR), "GAIMD, TFRC, and TEAR follow"),
    ),
)  # fmt: skip


class Left(NamedTuple):
    """Numbers of a run in which eight of sixteen flows leave, besides `Response` of the first.

    Attributes
    ----------
    all_half_way : float
        `Response.half_way` of the eight flows that stay.
    fairness_before : float
        Jain's index of the sixteen flows in the last half of the time before the change, mean
        over round trips.
    fairness_after : float
        Jain's index of the eight, mean of the 300 round trips that begin 20 after the change.
    emptied : float
        1 if the queue has at most 3 packets in one of the next 50 round trips, else 0.
    refill : float
        Round trips from the change until the queue has 40 packets (again, if it empties first);
        infinite if it never has.
    """

    all_half_way: float
    fairness_before: float
    fairness_after: float
    emptied: float
    refill: float


def _measure_leave(_case: Key, run: Run) -> Row:
    counted = measure.rounds(run)
    sent, change = counted.sent, counted.change
    later = counted.queue[change:]
    emptied = int(np.argmax(later <= 3)) if (later <= 3).any() else 0
    earlier, settled = slice(change // 2, change), slice(change + 20, change + 320)
    left = Left(
        all_half_way=measure.response_of(sent[:, :8], change).half_way,
        fairness_before=measure.mean_fairness(sent[earlier]),
        fairness_after=measure.mean_fairness(sent[settled, :8]),
        emptied=float((later[:50] <= 3).any()),
        refill=emptied + measure.until(later[emptied:] >= 40),
    )
    return measure.response_of(sent[:, :1], change)._asdict() | left._asdict()


LEAVES = replace(STEP, measure=_measure_leave, numbers=measure.Response._fields + Left._fields)


FIGURE_34 = LEAVES.figure(
    34, "rate", "rates, 1 flow + 15 TCP to 1 flow + 7 TCP",
    about="Eight TCP flows stop at round trip 1000; the rate of the flow under study.",
    cases=steps.eight_others(same=False, when="stop"),
    claims=tuple(
        ordered(
            f"{slow} takes much longer than {fast}",
            [(one, mean(one, "half_way")) for one in (slow, fast)],
            why=f"round trips to half of the change ({steps.SCHEDULED})", unit="RTTs",
            paper="almost instantaneously against much longer",
        )
        for slow in (TFRC, TEAR)
        for fast in (TCP, GAIMD)
    ),
)  # fmt: skip


def _unchanged(protocol: Protocol) -> Claim:
    def judge(numbers: Numbers) -> tuple[str, bool]:
        before = numbers.of(protocol, "fairness_before")
        after = numbers.of(protocol, "fairness_after")
        return f"{before} before, {after} after", abs(after.value - before.value) < 0.05

    return holds(f"F of {protocol} does not change", "no change", judge, why="within 0.05")


FIGURE_35 = LEAVES.figure(
    35, "fairness", "fairness, 16 to 8 flows of one protocol",
    about="Jain's index of the flows that send.",
    cases=steps.eight_others(same=True, when="stop"),
    claims=(
        *(_unchanged(one) for one in (TFRC, TEAR)),
        *(
            ordered(
                f"F of {one} goes up",
                [("8", mean(one, "fairness_after")), ("16", mean(one, "fairness_before"))],
                paper="increases almost at once",
            )
            for one in (TCP, GAIMD)
        ),
    ),
)  # fmt: skip

REFILL = {TCP: 20, GAIMD: 42, TFRC: 45}
FIGURE_36 = LEAVES.figure(
    36, "queue", "queue, 16 to 8 flows of one protocol",
    about="Eight flows stop at round trip 1000; round trips until the queue is at 40 packets.",
    cases=steps.eight_others(same=True, when="stop"), headline=True,
    claims=(
        *(
            between(
                f"{one}: the queue drops to 0", mean(one, "emptied"), 1, 1,
                why="at most 3 packets within 50 round trips, in every run", paper="0",
            )
            for one in Protocol
        ),
        *(
            near(
                f"{one} fills the queue again", mean(one, "refill"), value, within=0.5,
                why="one run of the study, read off a plot", unit="RTTs",
            )
            for one, value in REFILL.items()
        ),
        between(
            "TEAR takes more than 200 round trips", mean(TEAR, "refill"), 200, np.inf,
            why="as printed", unit="RTTs", paper="more than 200",
        ),
    ),
)  # fmt: skip
