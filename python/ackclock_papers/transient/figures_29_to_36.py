"""Figures 29 to 36: responses to less congestion."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import polars as pl

from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.numbers import Row
from ackclock_papers.transient import measure, steps
from ackclock_papers.transient.curves import STEP
from ackclock_papers.transient.setting import CHANGE_S, Protocol

FIGURE_29 = steps.analytic(29, "rate increase, analytic, 4 % to 1 %", 0.04, 0.01, end=100)


def _rise(
    number: int, kind: str, before: float, after: float, *, headline: bool = False
) -> Simulated[Protocol]:
    return STEP.figure(
        number,
        "rate",
        f"{kind} loss from {before:.0%} to {after:.0%}",
        about=f"{steps.ALIKE} flows of each protocol that do not meet; the picture has the first.",
        cases=steps.loss_step(kind, before, after),
        headline=headline,
    )


FIGURE_30 = _rise(30, "periodic", 0.04, 0.01, headline=True)


FIGURE_31 = _rise(31, "periodic", 0.03, 0.02)


def _measure_endless(run: Run) -> Row:
    """Measure the rise in 50 round trips, because without loss there is no new steady rate."""
    counted = measure.rounds(run)
    total, change = counted.sent.mean(axis=1), counted.change
    before = float(total[change // 2 : change].mean())
    return {"rise": float(total[change + 45 : change + 55].mean()) - before, "before": before}


ENDLESS = replace(STEP, probe=Probe(("rise", "before"), _measure_endless))
FIGURE_32 = ENDLESS.figure(
    32,
    "rate",
    "Bernoulli loss from 10 % to 0 %",
    about=f"{steps.ALIKE} flows of each protocol that do not meet.",
    cases=steps.loss_step("bernoulli", 0.1, 0.0),
)

FIGURE_33 = _rise(33, "bernoulli", 0.04, 0.01)


EMPTY = 3
"""Packets in a queue that counts as empty."""


class Left(NamedTuple):
    """Numbers of a run in which eight of sixteen flows leave, in addition to the `Response` of the first."""

    # `Response.half_way` of the eight flows that stay.
    all_half_way: float
    # Jain's index of the sixteen flows, mean over round trips in the last half of the time before
    # the change.
    fairness_before: float
    # Jain's index of the eight, mean of 300 round trips from 20 after the change on.
    fairness_after: float
    # `fairness_after` less `fairness_before`.
    fairness_change: float
    # Shortest queue of the next 50 round trips, packets, and shortest mean queue of one of them.
    least_queue: float
    least_mean_queue: float
    # Seconds from the change until the mean queue of a round trip is 40 packets, counted from the
    # first of these 50 in which the queue is empty, if there is one; infinite if it never is.
    refill_s: float
    # Mean round trip of the run.
    round_trip_s: float


def _measure_leave(run: Run) -> Row:
    counted = measure.rounds(run)
    sent, change = counted.sent, counted.change
    # A sample belongs to the round trip in which it ends, whatever the last bit of its time says.
    since = run.queues_of(0).with_columns(
        round_trip=((pl.col("time_s") - CHANGE_S) / counted.width_s - 1e-9).ceil() - 1
    )
    soon = since.filter(pl.col("round_trip").is_between(0, 49))
    empty = soon.filter(pl.col("min_packets") <= EMPTY)["round_trip"]
    emptied = int(empty[0]) if len(empty) else 0
    later = counted.queue[change:]
    earlier, settled = slice(change // 2, change), slice(change + 20, change + 320)
    before = measure.mean_fairness(sent[earlier])
    after = measure.mean_fairness(sent[settled, :8])
    left = Left(
        all_half_way=measure.response_of(sent[:, :8], change).half_way,
        fairness_before=before,
        fairness_after=after,
        fairness_change=after - before,
        least_queue=float(soon["min_packets"].to_numpy().min()),
        least_mean_queue=float(later[:50].min()),
        refill_s=(emptied + measure.until(later[emptied:] >= 40)) * counted.width_s,
        round_trip_s=counted.width_s,
    )
    return measure.response_of(sent[:, :1], change)._asdict() | left._asdict()


LEAVES = replace(STEP, probe=Probe(measure.Response._fields + Left._fields, _measure_leave))


FIGURE_34 = LEAVES.figure(
    34,
    "rate",
    "rates, 1 flow + 15 TCP to 1 flow + 7 TCP",
    about="Eight TCP flows stop at round trip 1000; the rate of the flow under study.",
    cases=steps.eight_others(same=False, when="stop"),
)


FIGURE_35 = LEAVES.figure(
    35,
    "fairness",
    "fairness, 16 to 8 flows of one protocol",
    about="Jain's index of the flows that send.",
    cases=steps.eight_others(same=True, when="stop"),
)

FIGURE_36 = LEAVES.figure(
    36,
    "queue",
    "queue, 16 to 8 flows of one protocol",
    about="Eight flows stop at round trip 1000; round trips until the queue is at 40 packets.",
    cases=steps.eight_others(same=True, when="stop"),
    headline=True,
)
