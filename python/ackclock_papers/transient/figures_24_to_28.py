"""Figures 24 to 28: eight flows join eight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ackclock import metrics
from ackclock.decision import difference
from ackclock.engine import Run
from ackclock.metrics import Estimate
from ackclock.names import slug
from ackclock.reproduction.claims.artefact import Probe
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.claims.orders import was_plain
from ackclock.reproduction.claims.usual import between, changed, mean, near, times
from ackclock.runs import Case
from ackclock_papers.transient import measure, steps
from ackclock_papers.transient.curves import STEP
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Protocol, Reference, ReferenceCase


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


def _from_figure_26(protocol: Protocol) -> Callable[[Numbers], Estimate]:
    """Name the difference of the first flow's response from the one in figure 26."""
    own = ReferenceCase(protocol, Reference.JOINED_BY_ITS_OWN)
    return lambda numbers: difference(numbers.of(protocol, "soon_share"), numbers.of(own, "soon_share"))


FIGURE_24 = JOINS.figure(
    24,
    "rate",
    "rates, 1 flow + 7 TCP to 1 flow + 15 TCP",
    about="Eight TCP flows join at round trip 1000; the rate of the flow under study.",
    cases=_cases_24,
    claims=(
        *(
            near(
                slug(protocol, "old-flows-go-down"),
                f"{protocol}: the first flows fall to about half",
                mean(protocol, "end_share"),
                0.5,
                within=0.15,
                absolute=True,
                why="sixteen flows in place of eight",
                paper="as figure 26",
            )
            for protocol in Protocol
        ),
        *(
            near(
                slug(protocol, "responds-as-in-figure-26"),
                f"{protocol} responds as in figure 26",
                _from_figure_26(protocol),
                0,
                within=0.15,
                absolute=True,
                why="share of its rate that the flow has in the next 40 round trips, in which figure 26 is "
                "judged, too, less that in figure 26; as near as rates are asked to be to a half",
                paper="'we do not see substantial differences'",
            )
            for protocol in Protocol
        ),
    ),
)


def _third_dip(numbers: Numbers) -> Estimate:
    dips = [numbers.of(protocol, "queue_dip") for protocol in Protocol]
    return sorted(dips, key=lambda dip: dip.value)[2]


def _dips_at(numbers: Numbers) -> Estimate:
    times = [measure.each_in_round_trips(numbers, protocol, "dip_s") for protocol in Protocol]
    return metrics.over_runs(np.median(times, axis=0), least=0.0)


def _shallowest(key: str) -> Callable[[Numbers], Estimate]:
    def dip(numbers: Numbers) -> Estimate:
        return max((numbers.of(protocol, key) for protocol in Protocol), key=lambda dip: dip.value)

    return dip


FIGURE_25 = JOINS.figure(
    25,
    "queue",
    "queue, 1 flow + 7 TCP to 1 flow + 15 TCP",
    about="The runs of figure 24.",
    cases=steps.eight_others(same=False, when="start"),
    claims=(
        changed(
            between(
                "queue-dips-lower-than-usually-with-three-protocols",
                "the queue dips lower than usual with at least three protocols",
                _third_dip,
                0,
                1,
                why="the third lowest of the four dips: the lowest queue in the 25 round trips after the "
                "change, over the usual lowest in 25 before it",
                paper="'for all four protocols exhibit large dips', in a run each",
            ),
            between(
                "",
                "",
                measure.extreme(max, tuple(Protocol), "queue_low_share"),
                0,
                0.35,
                why="lowest queue in the next 100 round trips over the mean before, of each protocol",
            ),
        ),
        between(
            "queue-dips-deeply-with-all-protocols",
            "the queue dips deeply with all four protocols",
            _shallowest("queue_dip"),
            0,
            0.5,
            why="the shallowest of the four dips: the lowest queue in the 25 round trips after the change, "
            "over the usual lowest in 25 before it; large is half, as of TEAR's in figure 27",
            paper="'the queue lengths for all four protocols exhibit large dips'",
        ),
        between(
            "queue-dips-deeply-near-round-trip-1025",
            "near round trip 1025 the queue dips deeply with all four protocols",
            _shallowest("queue_dip_50"),
            0,
            0.5,
            why="the shallowest of the four dips: the lowest queue in the 50 round trips after the change, "
            "with 1025 in the middle, over the usual lowest in 50 before it; large is half of that (figure "
            "27 compares with the mean, which is less strict)",
            paper="'at about round-trip time 1025 ... large dips'",
        ),
        times(
            "dips-near-round-trip-1025",
            "the dips are near round trip 1025",
            _dips_at,
            25,
            factor=2,
            unit="RTTs",
            why="the median of the four protocols; 'about'",
            paper="about 1025",
        ),
    ),
)

FIGURE_26 = JOINS.figure(
    26,
    "rate",
    "rates, 8 to 16 flows of one protocol",
    about="Eight flows join eight of the same protocol at round trip 1000.",
    cases=steps.eight_others(same=True, when="start"),
    headline=True,
    claims=(
        *(
            steps.faster(
                slug(fast, "responds-faster-than", slow),
                f"{fast} responds faster than {slow}",
                (fast, slow),
                "slower",
            )
            for slow in (TFRC, TEAR)
            for fast in (TCP, GAIMD)
        ),
        *(
            between(
                slug(protocol, "overshoots-to-0"),
                f"{protocol} overshoots to 0",
                mean(protocol, "zero_share"),
                0.3,
                1,
                why="share of flows with a round trip of at most one packet among the next 40",
                paper="overshoot to 0",
            )
            for protocol in (TCP, GAIMD)
        ),
        *(
            between(
                slug(protocol, "goes-down-gradually"),
                f"{protocol} decreases gradually",
                mean(protocol, "zero_share"),
                0,
                0.2,
                why="share of flows with a round trip of at most one packet among the next 40",
                paper="gradually",
            )
            for protocol in (TFRC, TEAR)
        ),
    ),
)

FIGURE_27 = JOINS.figure(
    27,
    "queue",
    "queue, 8 to 16 flows of one protocol",
    about="The runs of figure 26.",
    cases=steps.eight_others(same=True, when="start"),
    claims=(
        between(
            "tear-large-dip-queue",
            "TEAR: a large dip of the queue",
            mean(TEAR, "queue_low_share"),
            0,
            0.5,
            why="lowest queue in the next 100 round trips over the mean before the change",
            paper="large dip",
        ),
        times(
            "tear-dip-comes-late",
            "TEAR's dip comes late",
            measure.in_round_trips(TEAR, "dip_s"),
            50,
            factor=2,
            why="round trips after the change; 'around'",
            unit="RTTs",
            paper="around round-trip time 1050",
        ),
    ),
)

FIGURE_28 = JOINS.figure(
    28, "fairness", "fairness, 8 to 16 flows of one protocol",
    about="Jain's index of the sixteen rates, and of the eight before the change.",
    cases=steps.eight_others(same=True, when="start"),
    claims=(
        *(
            near(
                slug("f", protocol, "drops-to-about-0.5"),
                f"F of {protocol} drops to about 0.5", mean(protocol, "fairness_at_once"), 0.5,
                within=0.15, absolute=True, why="eight of sixteen flows send", paper="0.5",
            )
            for protocol in (TFRC, TEAR)
        ),
        *(
            between(
                slug("f", protocol, "comes-back-close-to-1"),
                f"F of {protocol} returns to nearly 1", mean(protocol, "fairness_after"), 0.9, 1,
                why="mean of the last 300 round trips", paper="close to 1",
            )
            for protocol in (TFRC, TEAR)
        ),
        between(
            "f-tear-comes-back-slowly",
            "F of TEAR recovers slowly", measure.in_round_trips(TEAR, "fair_again_s"), 50, np.inf,
            why="time until the mean of F over ten round trips is 0.85; in figure 27, which also "
            "shows it, TEAR's dip comes after 50", unit="RTTs", paper="slow increase of TEAR's index",
        ),
        *(
            was_plain(
                slug("f", protocol, "lower-with-sixteen-flows"),
                f"F of {protocol} is lower with sixteen flows",
                [("8", mean(protocol, "fairness_before")), ("16", mean(protocol, "fairness_after"))],
                paper="reduces",
            )
            for protocol in (TCP, GAIMD)
        ),
    ),
)  # fmt: skip
