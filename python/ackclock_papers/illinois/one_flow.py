"""Figures 8 and 10: window curves of one flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.engine import Run
from ackclock.models import fluid, illinois
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Claim, Simulated, Traces
from ackclock.reproduction.claims import between, holds, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.illinois import measure
from ackclock_papers.illinois.setting import MEASURED_FROM_S, capacity, flow, scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPACITY = capacity(100)
RTT_S = 0.1
BUFFER = 100.0

AGENTS = {"reno": "Reno", "newreno": "NewReno", "sack": "SACK"}
"""Loss recoveries that HS-TCP is tried with, as figure 8 names them."""


class Alone(NamedTuple):
    """A flow that has the link to itself.

    Attributes
    ----------
    control : str
        Its congestion control, by the paper's name.
    beta : float, optional
        Both beta_min and beta_max of Illinois.
    recovery : str, optional
        Loss recovery where several are compared.
    paced : bool
        Whether its packets are spread over the round trip.
    """

    control: str
    beta: float | None = None
    recovery: str | None = None
    paced: bool = False

    def __str__(self) -> str:
        """Label of the curve."""
        beta = "" if self.beta is None else f", β = {self.beta:g}"
        agent = "" if self.recovery is None else f" on {AGENTS[self.recovery]}"
        return f"{self.control}{agent}{beta}{', paced' if self.paced else ''}"

    @property
    def flow(self) -> dict[str, Any]:
        """Entry of ``[[flow]]``."""
        made = flow(self.control, recovery=self.recovery, beta=self.beta)
        return made | ({"pacing": True} if self.paced else {})


RENO = Alone("Reno")
MILD, HALF = Alone("Illinois", beta=0.125), Alone("Illinois", beta=0.5)
PACED = Alone("Illinois", beta=0.5, paced=True)
ON_RENO, ON_NEWRENO, ON_SACK = (Alone("HS-TCP", recovery=agent) for agent in AGENTS)
BIC, CTCP = Alone("BIC"), Alone("C-TCP")
FLOWS = (RENO, MILD, HALF, PACED, ON_RENO, ON_NEWRENO, ON_SACK, BIC, CTCP)

ANCHORED: dict[Alone, tuple[fluid.Alpha, float]] = {
    RENO: (fluid.reno_alpha, 0.5),
    HALF: (illinois.alpha, 0.5),
    PACED: (illinois.alpha, 0.5),
    MILD: (illinois.alpha, 0.125),
}
PANELS = {
    "Reno and Illinois": (RENO, MILD, HALF),
    "HS-TCP": (ON_RENO, ON_NEWRENO, ON_SACK),
    "BIC and C-TCP": (BIC, CTCP),
}


def cases(effort: Effort) -> Mapping[Alone, Case]:
    """Declare the runs of figure 8; nothing is random in them.

    Parameters
    ----------
    effort : Effort
        A quick run is half as long.

    Returns
    -------
    mapping
        One case for each curve.
    """
    end_s = effort.pick(1200.0, 600.0)
    return {one: Case(scenario([one.flow], duration_s=end_s)) for one in FLOWS}


def numbers_of(_case: Alone, run: Run) -> Row:
    """Measure a run of figure 8.

    Parameters
    ----------
    _case : Alone
        Its flow; every flow is measured alike.
    run : Run
        The run.

    Returns
    -------
    mapping
        What `measure.one_flow` gives.
    """
    return measure.one_flow(run, bandwidth_delay_product=CAPACITY * RTT_S, rtt_s=RTT_S)


TRAINS = (
    "The fluid's packets are evenly spread. An ACK clock sends the window as one train: while the "
    "link is not full, the alpha packets added per round trip queue behind it, alpha/2 on average, "
    "more than d1 (one packet). So alpha is sqrt(0.2 B) = 4.5 instead of 10, and the way to full "
    "utilisation takes twice as long. Tried: the fluid cycle with trains gives 627 round trips and "
    "0.968; with pacing the run has 562; overhead, SACK and the theta rule change nothing."
)
HOW = (
    f"moving average over {measure.SMOOTH_SHARE:.0%} of the epoch (at least one RTT), sign of "
    f"the second difference; a change of slope within {measure.TOLERANCE:.0%} or a second "
    f"difference within {measure.LEAST:g} packets is straight"
)


def _bends(numbers: Numbers, case: Alone) -> str:
    shares = [f"{name} {numbers.each(case, name)[0]:.1%}" for name in measure.BENDS[:3]]
    return ", ".join(shares) + " of an epoch"


def _concave(case: Alone) -> Claim:
    return holds(
        f"{case}: concave throughout an epoch",
        "nowhere convex, concave for the most part",
        lambda n: (
            _bends(n, case),
            n.each(case, "convex")[0] <= 0.01 and n.each(case, "concave")[0] >= 0.5,
        ),
        why=f"{HOW}; convex up to 1 %, concave from 50 %; the first {measure.RECOVERY_RTTS:g} "
        "round trips (recovery, first delay) are left out",
        reason="While the link is not full, packet trains make alpha jump between 2 and 7. Tried: "
        "the paced case, without trains, shows the curve of the algorithm itself.",
    )


def _times_out(case: Alone) -> Claim:
    return holds(
        f"{case}: times out often",
        "frequently",
        lambda n: (
            f"{n.each(case, 'timeouts')[0]:g} timeouts in {n.each(case, 'epochs')[0]:g} epochs",
            n.each(case, "timeouts")[0] >= max(1, 0.1 * n.each(case, "epochs")[0]),
        ),
        why="a timeout in at least every tenth congestion event, slow start left out: the paper "
        "gives no number",
    )


def _anchored(case: Alone) -> tuple[Claim, Claim]:
    cycle = fluid.cycle(*ANCHORED[case], CAPACITY, BUFFER, RTT_S)
    why = "the fluid has no recovery and no packets"
    return (
        near(
            f"{case}: length of an epoch as in the fluid cycle",
            mean(case, "epoch_round_trips"), round(cycle.round_trips), within=0.03, why=why,
            unit="round trips", reason=TRAINS,
        ),
        near(
            f"{case}: time average of min(W, BDP)/BDP as in the fluid cycle",
            mean(case, "used_share"), round(cycle.used_share, 4), within=0.03, why=why,
            reason=TRAINS,
        ),
    )  # fmt: skip


def _draw_8(_numbers: Numbers, traces: Traces) -> Figure:
    return pictures.over_time(
        traces, PANELS, "window", "window (packets)", span=(200, 400), top=1500, height=1.8
    )


FIGURE_8 = Simulated(
    name="figure-8", caption="window curves of one flow",
    about=(
        "One flow on 100 Mbit/s, RTT 100 ms, buffer 100 packets. An epoch is the time between two "
        "congestion events (loss events and timeouts closer than 2 RTTs are one); slow start and "
        "the first 200 s are left out. Nothing is random: one run."
    ),
    cases=cases,
    measure=numbers_of,
    numbers=measure.NUMBERS,
    trace=lambda case, run: (
        None if case.paced else pictures.windows(run, 0.1, 200, 400).drop("name")
    ),
    draw=_draw_8,
    headline=True,
    claims=(
        *(_concave(case) for case in ANCHORED if case.control == "Illinois"),
        _times_out(ON_RENO),
        _times_out(ON_NEWRENO),
        between(
            f"{ON_SACK} works: no timeouts",
            mean(ON_SACK, "timeouts"), 0, 0, why="after the first 200 s",
        ),
        holds(
            "BIC: concave, then convex",
            "both parts, the concave one first",
            lambda n: (
                f"{_bends(n, BIC)}; centres at {n.each(BIC, 'concave_at')[0]:.0%} and "
                f"{n.each(BIC, 'convex_at')[0]:.0%} of it",
                min(n.each(BIC, "concave")[0], n.each(BIC, "convex")[0]) >= 0.1
                and n.each(BIC, "concave_at")[0] < n.each(BIC, "convex_at")[0],
            ),
            why=f"{HOW}; both parts at least 10 %",
        ),
        holds(
            "C-TCP: not concave",
            "a convex part",
            lambda n: (_bends(n, CTCP), n.each(CTCP, "convex")[0] >= 0.1),
            why=f"{HOW}; convex from 10 %",
        ),
        *(claim for case in ANCHORED for claim in _anchored(case)),
    ),
)  # fmt: skip


class Buffer(NamedTuple):
    """A buffer of figure 10.

    Attributes
    ----------
    packets : int
        Its size, packets.
    """

    packets: int

    def __str__(self) -> str:
        """Label of the case."""
        return f"B = {self.packets}"


BUFFERS = tuple(Buffer(packets) for packets in (10, 20, 30, 40, 50))
LARGEST = BUFFERS[-1]
SLOW_RATE_MBPS = 10
SLOW_CAPACITY = capacity(SLOW_RATE_MBPS)
SLOW_RTT_S = 0.06


def _cases_10(effort: Effort) -> Mapping[Buffer, Case]:
    end_s = effort.pick(2000.0, 800.0)
    return {
        case: Case(
            scenario(
                [flow("Illinois")], rate_mbps=SLOW_RATE_MBPS, rtt_ms=60, buffer=case.packets,
                duration_s=end_s,
            )
        )
        for case in BUFFERS
    }  # fmt: skip


def parabola(run: Run, buffer: int) -> float:
    """How fast the square of the queue grows while it is between 30 % and 90 % of the buffer.

    Parameters
    ----------
    run : Run
        A recorded run with one flow.
    buffer : int
        Size of the buffer, packets.

    Returns
    -------
    float
        Packets squared per round trip, by least squares, mean over the epochs; NaN when no epoch
        has ten samples in that range.
    """
    windows = run.windows.filter(pl.col("rtt_ms").is_not_null())
    time = windows["time_s"].to_numpy()
    rtt_s = windows["rtt_ms"].to_numpy() / 1000
    # The smallest RTT includes the packet's own transmission, which is not a queue.
    queue = windows["window"].to_numpy() - SLOW_CAPACITY * rtt_s.min()
    trips = metrics.cumulative(time, 1 / rtt_s)
    events = run.events.filter(pl.col("kind").is_in(["loss", "timeout"]))["time_s"].to_numpy()
    slopes = []
    for epoch in metrics.epochs(events, measure.MERGE_RTTS * SLOW_RTT_S, MEASURED_FROM_S):
        inside = (time > epoch.start_s + measure.RECOVERY_RTTS * SLOW_RTT_S) & (time < epoch.end_s)
        inside &= (queue >= 0.3 * buffer) & (queue <= 0.9 * buffer)
        if inside.sum() >= 10:
            slopes.append(np.polyfit(trips[inside], queue[inside] ** 2, 1)[0])
    return float(np.mean(slopes)) if slopes else float("nan")


def _measure_10(case: Buffer, run: Run) -> Row:
    row = measure.one_flow(
        run, bandwidth_delay_product=SLOW_CAPACITY * SLOW_RTT_S, rtt_s=SLOW_RTT_S
    )
    return row | {"parabola": parabola(run, case.packets)}


def _draw_10(_numbers: Numbers, traces: Traces) -> Figure:
    panels = {str(case): (case,) for case in traces}
    return pictures.over_time(
        traces, panels, "window", "window\n(packets)", span=(200, 260), top=140, height=1.2
    )


def _epoch_of(case: Buffer) -> Claim:
    link = (0.5, SLOW_CAPACITY, case.packets, SLOW_RTT_S)
    cycle = fluid.cycle(illinois.alpha, *link)
    trains = fluid.cycle(fluid.in_trains(illinois.alpha, SLOW_CAPACITY), *link)
    return near(
        f"{case}: length of an epoch as in the fluid cycle",
        mean(case, "epoch_round_trips"),
        float(np.ceil(cycle.round_trips)),
        within=0.03,
        why="the fluid has no recovery and no packets",
        unit="round trips",
        reason="Packets come in trains (see figure 8): below full utilisation alpha is near "
        f"sqrt(0.2 B) = {(0.2 * case.packets) ** 0.5:.1f} instead of 10. Tried: the fluid cycle "
        f"with trains has {trains.round_trips:.0f} round trips.",
    )


FIGURE_10 = Simulated(
    name="figure-10", caption="window curves of Illinois for buffers of 10 to 50 packets",
    about=(
        "One Illinois flow on 10 Mbit/s, RTT 60 ms (bandwidth-delay product 75 packets). Epochs "
        "as in figure 8. Nothing is random: one run."
    ),
    cases=_cases_10,
    measure=_measure_10,
    numbers=(*measure.NUMBERS, "parabola"),
    trace=lambda _case, run: pictures.windows(run, 0.1, 200, 260).drop("name"),
    draw=_draw_10,
    claims=(
        ordered(
            "the mean window grows with B",
            [(str(case), mean(case, "mean_window")) for case in BUFFERS[::-1]],
            why="nothing is random in a run with one flow: any difference counts",
            unit="packets",
        ),
        ordered(
            "the time at full utilisation per epoch grows with B",
            [(str(case), mean(case, "full_s")) for case in BUFFERS[::-1]],
            why="a window of BDP or more; any difference counts",
            unit="s",
        ),
        *(_epoch_of(case) for case in BUFFERS),
        near(
            f"{LARGEST}: near a parabola: the queue's square grows by 0.2 B per round trip",
            mean(LARGEST, "parabola"), 0.2 * LARGEST.packets, within=0.03,
            unit="packets² per round trip",
            why="least squares for queues of 30 % to 90 % of B",
        ),
    ),
)  # fmt: skip
