"""Figures 8 and 10: window curves of one flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.draw.figure import Group
from ackclock.engine import Run, build
from ackclock.metrics import Estimate
from ackclock.names import slug
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Claim, Probe, Simulated, Traces
from ackclock.reproduction.claims.least import PLAIN, PLAINLY
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.reproduction.claims.orders import was_plain
from ackclock.reproduction.claims.usual import between, changed, mean, near, ratio
from ackclock.reproduction.traces import window_trace
from ackclock.reproduction.trials.settings import Setting
from ackclock.runs import Case
from ackclock_papers.illinois import measure
from ackclock_papers.illinois.setting import (
    MEASURED_FROM_S,
    capacity,
    flow,
    packet_bytes,
    scenario,
    seeds_alone,
)

RATE_MBPS = 100
RTT_S = 0.1

AGENTS = {"reno": "Reno", "newreno": "NewReno", "sack": "SACK"}
"""Loss recoveries that HS-TCP is run with, and their names in figure 8."""


class SingleFlow(NamedTuple):
    """A flow that has the link to itself."""

    control: str
    """Congestion control, by the paper's name."""
    beta: float | None = None
    """Both beta_min and beta_max of Illinois."""
    recovery: str | None = None
    """Loss recovery where several are compared."""

    def __str__(self) -> str:
        beta = "" if self.beta is None else f", β = {self.beta:g}"
        agent = "" if self.recovery is None else f" on {AGENTS[self.recovery]}"
        return f"{self.control}{agent}{beta}"

    def flow(self, setting: Setting) -> build.Table:
        """Make the entry of ``[[flow]]``."""
        return flow(self.control, setting, recovery=self.recovery, beta=self.beta)


RENO = SingleFlow("Reno")
MILD, HALF = SingleFlow("Illinois", beta=0.125), SingleFlow("Illinois", beta=0.5)
ON_RENO, ON_NEWRENO, ON_SACK = (SingleFlow("HS-TCP", recovery=agent) for agent in AGENTS)
BIC, CTCP = SingleFlow("BIC"), SingleFlow("C-TCP")
FLOWS = (RENO, MILD, HALF, ON_RENO, ON_NEWRENO, ON_SACK, BIC, CTCP)

PANELS = {
    "Reno and Illinois": (RENO, MILD, HALF),
    "HS-TCP": (ON_RENO, ON_NEWRENO, ON_SACK),
    "BIC and C-TCP": (BIC, CTCP),
}


def cases(effort: Effort) -> Mapping[SingleFlow, Case]:
    """Declare the runs of figure 8, one case for each curve; a quick run is half as long."""
    end_s = effort.pick(1200.0, 600.0)
    return {
        case: Case(
            scenario([case.flow(effort.setting)], effort.setting, duration_s=end_s), runs=seeds_alone(effort)
        )
        for case in FLOWS
    }


def measure_flow(run: Run) -> Row:
    """Measure a run of figure 8 with `measure.one_flow`, whichever flow it has."""
    product = capacity(RATE_MBPS, packet_bytes(run)) * RTT_S
    return measure.one_flow(run, bandwidth_delay_product=product, rtt_s=RTT_S)


PROBE = Probe(measure.NUMBERS, measure_flow)


HOW = (
    f"share of the epochs; moving average over {measure.SMOOTH_SHARE:.0%} of the epoch (at least "
    "one RTT), sign of the second difference; a change of slope within "
    f"{measure.TOLERANCE:.0%} or a second difference within {measure.LEAST:g} packets is straight; "
    f"the first {measure.RECOVERY_RTTS:g} round trips (recovery, first delay) are left out"
)


def concave(case: Key, name: str) -> tuple[Claim, Claim]:
    """Claim that the window curve of a case is concave; `name` begins the names of the two claims."""
    return (
        between(
            slug(name, "concave-for-most-part"),
            f"{case}: concave for the most part",
            mean(case, "concave"),
            0.5,
            np.inf,
            why=HOW,
            paper="concave",
        ),
        between(
            slug(name, "nowhere-convex-in-epoch"),
            f"{case}: nowhere convex in an epoch",
            mean(case, "convex"),
            0,
            0.05,
            why="half of the share that counts as visible in the other curves; whole packets and "
            "random delays bend straight parts a little",
            paper="throughout",
        ),
    )


def _concave(case: SingleFlow) -> tuple[Claim, Claim]:
    most, nowhere = concave(case, slug(case))
    former = between("", "", mean(case, "convex"), 0, 0.01, why="a hundredth at most")
    return most, changed(nowhere, former)


def _convex(case: SingleFlow, paper: str) -> Claim:
    return between(
        slug(case, "part-convex"),
        f"{case}: a part is convex",
        mean(case, "convex"),
        0.1,
        np.inf,
        why="a tenth of the epochs is visible in a picture",
        paper=paper,
    )


NO_SACK = "'the SACK support is not needed'"


def _times_out(case: SingleFlow) -> Claim:
    return between(
        slug(case, "times-out-often"),
        f"{case}: times out often",
        ratio((case, "timeouts"), (case, "epochs")),
        0.1,
        np.inf,
        why="a timeout in every tenth congestion event, slow start left out: no number is given",
        paper="frequently",
    )


def _seldom_times_out(case: SingleFlow, paper: str) -> Claim:
    return between(
        slug(case, "times-out-seldom-if-ever"),
        f"{case}: times out seldom, if ever",
        ratio((case, "timeouts"), (case, "epochs")),
        0,
        0.01,
        why="a timeout in every hundredth congestion event",
        paper=paper,
    )


def _draw_8(_numbers: Numbers, traces: Traces) -> Group:
    return figures.over_time(
        traces, PANELS, "window", "window (packets)", span=(200, 400), top=1500, height=1.8
    )


FIGURE_8 = Simulated(
    name="figure-8", caption="window curves of one flow",
    about=(
        "One flow on 100 Mbit/s, RTT 100 ms, buffer 100 packets. An epoch is the time between two "
        "congestion events (loss events and timeouts closer than 2 RTTs are one); slow start and "
        "the first 200 s are left out."
    ),
    cases=cases,
    probe=PROBE,
    trace=lambda _case, run: window_trace(run, 0.1, 200, 400).drop("name"),
    draw=_draw_8,
    headline=True,
    claims=(
        *(claim for case in (HALF, MILD) for claim in _concave(case)),
        *(
            was_plain(
                slug(case, "larger-mean-window-than-reno"),
                f"{case}: a larger mean window than Reno's",
                [(curve.control, mean(curve, "mean_window")) for curve in (case, RENO)],
                unit="packets", paper="larger",
            )
            for case in (HALF, MILD)
        ),
        between(
            slug(HALF, "epoch-long-reno-or-shorter"),
            f"{HALF}: an epoch is as long as Reno's, or shorter",
            ratio((HALF, "epoch_s"), (RENO, "epoch_s")), -np.inf, 1.2,
            why="a fifth more is similar", paper="similar or smaller",
        ),
        _times_out(ON_RENO),
        _times_out(ON_NEWRENO),
        changed(
            _seldom_times_out(ON_SACK, "works well"),
            between("", "", ratio((ON_SACK, "timeouts"), (ON_SACK, "epochs")), 0, 0, why="never"),
        ),
        *(_seldom_times_out(case, NO_SACK) for case in (HALF, MILD)),
        *(
            between(
                slug(case, "increases-to-near-full-utilisation-quickly"),
                f"{case}: increases to near full utilisation quickly and stays there",
                mean(case, "used_share"), 0.95, np.inf,
                why="time mean of the smaller of window and bandwidth-delay product, as a share of "
                "the latter",
                paper="'increases to near full utilization very quickly and stays'",
            )
            for case in (HALF, MILD)
        ),
        *(
            was_plain(
                slug(case, "stays-at-full-utilisation-for-longer"),
                f"{case}: stays at full utilisation for longer than Reno",
                [(curve.control, mean(curve, "full_share")) for curve in (case, RENO)],
                unit="of the time", paper="'stays around full utilization longer'", absolute=True,
            )
            for case in (HALF, MILD)
        ),
        between(
            slug(ON_SACK, "not-concave"),
            f"{ON_SACK}: not concave", mean(ON_SACK, "concave"), -np.inf, 0.5,
            why="less than Illinois must have", paper="Illinois alone is concave throughout",
        ),
        between(
            "bic-part-concave",
            "BIC: a part is concave", mean(BIC, "concave"), 0.1, np.inf,
            why=HOW, paper="concave-convex",
        ),
        _convex(BIC, "concave-convex"),
        was_plain(
            "bic-concave-part-comes-first",
            "BIC: the concave part comes first",
            [("convex at", mean(BIC, "convex_at")), ("concave at", mean(BIC, "concave_at"))],
            unit="of an epoch", why="centres of the parts", paper="concave-convex", absolute=True,
        ),
        _convex(CTCP, "not concave"),
    ),
)  # fmt: skip


class Buffer(NamedTuple):
    """A buffer of figure 10, in packets, and the control of the flow that fills it."""

    packets: int
    control: str = "Illinois"

    def __str__(self) -> str:
        suffix = "" if self.control == "Illinois" else f", {self.control}"
        return f"B = {self.packets}{suffix}"


BUFFERS = tuple(map(Buffer, (10, 20, 30, 40, 50)))
LARGEST = BUFFERS[-1]
RENO_BUFFERS = tuple(case._replace(control="Reno") for case in BUFFERS)
SLOW_RATE_MBPS = 10
SLOW_RTT_S = 0.06


def _cases_10(effort: Effort) -> Mapping[Buffer, Case]:
    end_s = effort.pick(2000.0, 800.0)
    return {
        case: Case(
            scenario(
                [flow(case.control, effort.setting)], effort.setting, rate_mbps=SLOW_RATE_MBPS,
                rtt_ms=60, buffer=case.packets, duration_s=end_s,
            ),
            runs=seeds_alone(effort),
        )
        for case in (*BUFFERS, *RENO_BUFFERS)
    }  # fmt: skip


def parabola(run: Run, buffer: int) -> float:
    """Return the growth of the squared queue, packets² per round trip, at 30 % to 90 % of `buffer` packets.

    It is a least-squares slope, the mean over the epochs, and NaN when no epoch has ten samples in that
    range. The run has one flow.
    """
    windows = run.windows.filter(pl.col("rtt_ms").is_not_null())
    time = windows["time_s"].to_numpy()
    rtt_s = windows["rtt_ms"].to_numpy() / 1000
    # The smallest RTT includes the packet's own transmission, which is not a queue.
    product = capacity(SLOW_RATE_MBPS, packet_bytes(run)) * rtt_s.min()
    queue = windows["window"].to_numpy() - product
    trips = metrics.cumulative(time, 1 / rtt_s)
    events = run.events.filter(pl.col("kind").is_in(["loss", "timeout"]))["time_s"].to_numpy()
    slopes = []
    for epoch in metrics.epochs(events, measure.MERGE_RTTS * SLOW_RTT_S, MEASURED_FROM_S):
        inside = (time > epoch.start_s + measure.RECOVERY_RTTS * SLOW_RTT_S) & (time < epoch.end_s)
        inside &= (queue >= 0.3 * buffer) & (queue <= 0.9 * buffer)
        if inside.sum() >= 10:
            slopes.append(np.polyfit(trips[inside], queue[inside] ** 2, 1)[0])
    return float(np.mean(slopes)) if slopes else float("nan")


def _probe_10(case: Buffer, _effort: Effort) -> Probe:
    def of_run(run: Run) -> Row:
        product = capacity(SLOW_RATE_MBPS, packet_bytes(run)) * SLOW_RTT_S
        row = measure.one_flow(run, bandwidth_delay_product=product, rtt_s=SLOW_RTT_S)
        return row | {"parabola": parabola(run, case.packets)}

    return Probe((*measure.NUMBERS, "parabola"), of_run)


def _draw_10(_numbers: Numbers, traces: Traces) -> Group:
    panels = {str(case): (case,) for case in traces}
    return figures.over_time(
        traces, panels, "window", "window (packets)", span=(200, 260), top=140, height=1.2
    )


def _growing(name: str, sentence: str, key: str, unit: str, why: str = "") -> Claim:
    numbers = [(str(case), mean(case, key)) for case in reversed(BUFFERS)]
    return was_plain(name, sentence, numbers, unit=unit, why=why)


def _least_gain(numbers: Numbers) -> Estimate:
    """Return the goodput of Illinois over Reno's at the buffer where it is least."""
    gains = (
        numbers.ratio((ours, "goodput_mbps"), (reno, "goodput_mbps"))
        for ours, reno in zip(BUFFERS, RENO_BUFFERS, strict=True)
    )
    return min(gains, key=lambda gain: gain.value)


FIGURE_10 = Simulated(
    name="figure-10", caption="window curves of Illinois for buffers of 10 to 50 packets",
    about=(
        "One Illinois flow on 10 Mbit/s, RTT 60 ms (bandwidth-delay product 75 packets), and one "
        "Reno flow for comparison. Epochs as in figure 8."
    ),
    cases=_cases_10,
    probe=_probe_10,
    trace=lambda case, run: (
        window_trace(run, 0.1, 200, 260).drop("name") if case in BUFFERS else None
    ),
    draw=_draw_10,
    claims=(
        _growing("mean-window-grows-with-b", "the mean window grows with B", "mean_window", "packets"),
        _growing(
            "time-at-full-utilisation-per-epoch-grows-with-b",
            "the time at full utilisation per epoch grows with B", "full_s", "s",
            why="a window of the bandwidth-delay product or more",
        ),
        _growing("throughput-grows-with-b", "the throughput grows with B", "goodput_mbps", "Mbit/s"),
        changed(
            between(
                "better-throughput-than-reno-at-any-b",
                "a better throughput than Reno's at any B", _least_gain, 1 + PLAIN, np.inf,
                why=f"the least ratio of the five; {PLAINLY}", paper="better",
            ),
            between("", "", _least_gain, 1, np.inf, why="the least ratio of the five"),
        ),
        near(
            slug(LARGEST, "near-parabola-queue-square-grows-0.2"),
            f"{LARGEST}: near a parabola: the queue's square grows by 0.2 B per round trip",
            mean(LARGEST, "parabola"), 0.2 * LARGEST.packets, within=0.03,
            unit="packets² per round trip",
            why="equation 2 with the standard parameters; least squares for queues of 30 % to 90 % "
            "of B",
            paper="close to a parabola",
        ),
    ),
)  # fmt: skip
