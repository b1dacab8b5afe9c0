"""Figures 24 to 28: eight flows join eight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ackclock import metrics
from ackclock.decision import difference
from ackclock.engine import Run
from ackclock.metrics import Estimate
from ackclock.reproduction.claims.artefact import Probe
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import measure, steps
from ackclock_papers.transient.curves import STEP
from ackclock_papers.transient.setting import Protocol, Reference, ReferenceCase


class Joined(NamedTuple):
    """Numbers of a run in which eight flows join eight, in addition to the `Response` of the first eight."""

    # Queue, packets: mean in the last half of the time before the change, and lowest of the next
    # 100 round trips.
    queue_before: float
    queue_low: float
    # Time of the lowest queue, seconds after the change.
    dip_s: float
    # Mean round trip of the run.
    round_trip_s: float
    # `queue_low` over `queue_before`, or over one packet if that is more.
    queue_low_share: float
    # Lowest queue of the next 25 round trips, over the mean of the lowest queues in spans of 25 in
    # the last half of the time before the change, or over one packet if that is more.
    queue_dip: float
    # The same for 50 round trips.
    queue_dip_50: float
    # Jain's index of the eight flows in that half, mean over round trips.
    fairness_before: float
    # Jain's index of the sixteen flows: lowest mean over 5 of the next 60 round trips, and mean of
    # the last 300.
    fairness_at_once: float
    fairness_after: float
    # Seconds until the mean index over ten round trips is at least 0.85; infinite if it never is.
    fair_again_s: float
    # Mean rate of the first flow in the next 40 round trips over its `before`.
    soon_share: float


def _dip(before: metrics.FloatArray, after: metrics.FloatArray, span: int) -> float:
    """Return the lowest queue of the first `span` round trips of `after` over the usual lowest of `before`.

    The usual lowest queue is the mean over complete spans, of which there must be at least one.
    """
    usual = float(before[: len(before) // span * span].reshape(-1, span).min(axis=1).mean())
    return float(after[:span].min() / max(usual, 1))


def _measure_join(run: Run) -> Row:
    counted = measure.rounds(run)
    sent, change = counted.sent, counted.change
    earlier, next_100 = slice(change // 2, change), slice(change, change + 100)
    fairness = metrics.jain(sent, axis=1)
    queue_before, dip = float(counted.queue[earlier].mean()), counted.queue[next_100]
    smooth = np.convolve(fairness[change:], np.ones(10) / 10, "valid")
    at_once = np.convolve(fairness[change : change + 60], np.ones(5) / 5, "valid")
    joined = Joined(
        queue_before=queue_before,
        queue_low=float(dip.min()),
        dip_s=float(dip.argmin()) * counted.width_s,
        round_trip_s=counted.width_s,
        queue_low_share=float(dip.min() / max(queue_before, 1)),
        queue_dip=_dip(counted.queue[earlier], dip, 25),
        queue_dip_50=_dip(counted.queue[earlier], dip, 50),
        fairness_before=measure.mean_fairness(sent[earlier, :8]),
        fairness_at_once=float(np.nanmin(at_once)),
        fairness_after=measure.mean_fairness(sent[-300:]),
        fair_again_s=measure.until(smooth >= 0.85) * counted.width_s,
        soon_share=float(sent[change : change + 40, 0].mean() / sent[earlier, 0].mean()),
    )
    return measure.response_of(sent[:, :8], change)._asdict() | joined._asdict()


JOINS = replace(STEP, probe=Probe(measure.Response._fields + Joined._fields, _measure_join))


def _cases_24(effort: Effort) -> Mapping[Protocol | ReferenceCase, Case]:
    """Return the runs of figures 24 and 26, which are compared."""
    own = steps.eight_others(same=True, when="start")(effort)
    return {**steps.eight_others(same=False, when="start")(effort)} | {
        ReferenceCase(protocol, Reference.JOINED_BY_ITS_OWN): case for protocol, case in own.items()
    }


def more_than_in_figure_26(numbers: Numbers, protocol: str) -> Estimate:
    """Estimate how much more of its rate the first flow keeps than in figure 26."""
    own = ReferenceCase(Protocol(protocol), Reference.JOINED_BY_ITS_OWN)
    return difference(numbers.of(protocol, "soon_share"), numbers.of(own, "soon_share"))


FIGURE_24 = JOINS.figure(
    24,
    "rate",
    "rates, 1 flow + 7 TCP to 1 flow + 15 TCP",
    about="Eight TCP flows join at round trip 1000; the rate of the flow under study.",
    cases=_cases_24,
)


def third_lowest_dip(numbers: Numbers) -> Estimate:
    """Return the third lowest of the four protocols' dips."""
    dips = [numbers.of(protocol, "queue_dip") for protocol in Protocol]
    return sorted(dips, key=lambda dip: dip.value)[2]


def median_time_of_dips(numbers: Numbers) -> Estimate:
    """Estimate the median of the four protocols' times of the lowest queue, in round trips."""
    times = [measure.each_in_round_trips(numbers, protocol, "dip_s") for protocol in Protocol]
    return metrics.over_runs(np.median(times, axis=0), least=0.0)


FIGURE_25 = JOINS.figure(
    25,
    "queue",
    "queue, 1 flow + 7 TCP to 1 flow + 15 TCP",
    about="The runs of figure 24.",
    cases=steps.eight_others(same=False, when="start"),
)

FIGURE_26 = JOINS.figure(
    26,
    "rate",
    "rates, 8 to 16 flows of one protocol",
    about="Eight flows join eight of the same protocol at round trip 1000.",
    cases=steps.eight_others(same=True, when="start"),
    headline=True,
)

FIGURE_27 = JOINS.figure(
    27,
    "queue",
    "queue, 8 to 16 flows of one protocol",
    about="The runs of figure 26.",
    cases=steps.eight_others(same=True, when="start"),
)

FIGURE_28 = JOINS.figure(
    28,
    "fairness",
    "fairness, 8 to 16 flows of one protocol",
    about="Jain's index of the sixteen rates, and of the eight before the change.",
    cases=steps.eight_others(same=True, when="start"),
)
