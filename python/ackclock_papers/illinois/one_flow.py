"""Figures 8 and 10: window curves of one flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.engine import Run
from ackclock.models import fluid, illinois
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Artefact, Claim, Traces
from ackclock.reproduction.claims import between, holds, mean, near, ordered
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.illinois import measure
from ackclock_papers.illinois.setting import MEASURED_FROM_S, flow, scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPACITY = 12500.0
RTT_S = 0.1
BUFFER = 100.0

FLOWS: dict[str, dict[str, Any]] = {
    "Reno": flow("reno"),
    "Illinois, β = 0.125": flow("illinois", beta=0.125),
    "Illinois, β = 0.5": flow("illinois", beta=0.5),
    "Illinois, β = 0.5, paced": flow("illinois", beta=0.5) | {"pacing": True},
    "HS-TCP on Reno": flow("hstcp", recovery="reno"),
    "HS-TCP on NewReno": flow("hstcp", recovery="newreno"),
    "HS-TCP on SACK": flow("hstcp"),
    "BIC": flow("bic-linux"),
    "C-TCP": flow("compound-linux"),
}
ANCHORED: dict[str, tuple[fluid.Alpha, float]] = {
    "Reno": (fluid.reno_alpha, 0.5),
    "Illinois, β = 0.5": (illinois.alpha, 0.5),
    "Illinois, β = 0.5, paced": (illinois.alpha, 0.5),
    "Illinois, β = 0.125": (illinois.alpha, 0.125),
}
PANELS = {
    "Reno and Illinois": ("Reno", "Illinois, β = 0.125", "Illinois, β = 0.5"),
    "HS-TCP": ("HS-TCP on Reno", "HS-TCP on NewReno", "HS-TCP on SACK"),
    "BIC and C-TCP": ("BIC", "C-TCP"),
}


def cases(effort: Effort) -> Mapping[str, Case]:
    """Give the runs of figure 8; nothing is random in them.

    Parameters
    ----------
    effort : Effort
        A quick run is half as long.

    Returns
    -------
    mapping
        By the name of the curve.
    """
    end_s = effort.pick(1200.0, 600.0)
    return {name: Case(scenario([one], duration_s=end_s)) for name, one in FLOWS.items()}


def numbers_of(_case: str, run: Run) -> Row:
    """Measure a run of figure 8.

    Parameters
    ----------
    _case : str
        Its case.
    run : Run
        The run.

    Returns
    -------
    mapping
        As `measure.one_flow`.
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


def _bends(numbers: Numbers, case: str) -> str:
    shares = [f"{name} {numbers.each(case, name)[0]:.1%}" for name in measure.BENDS[:3]]
    return ", ".join(shares) + " of an epoch"


def _concave(case: str) -> Claim:
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


def _times_out(case: str) -> Claim:
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


def _anchored(case: str) -> tuple[Claim, Claim]:
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


FIGURE_8 = Artefact(
    name="figure-8",
    title="Figure 8: window curves of one flow",
    about=(
        "One flow on 100 Mbit/s, RTT 100 ms, buffer 100 packets. An epoch is the time between two "
        "congestion events (loss events and timeouts closer than 2 RTTs are one); slow start and "
        "the first 200 s are left out. Nothing is random: one run."
    ),
    cases=cases,
    measure=numbers_of,
    trace=lambda case, run: (
        None if "paced" in case else pictures.windows(run, 0.1, 200, 400).drop("name")
    ),
    draw=_draw_8,
    headline=True,
    claims=(
        *(_concave(case) for case in ANCHORED if case.startswith("Illinois")),
        _times_out("HS-TCP on Reno"),
        _times_out("HS-TCP on NewReno"),
        between(
            "HS-TCP on SACK works: no timeouts",
            mean("HS-TCP on SACK", "timeouts"), 0, 0, why="after the first 200 s",
        ),
        holds(
            "BIC: concave, then convex",
            "both parts, the concave one first",
            lambda n: (
                f"{_bends(n, 'BIC')}; centres at {n.each('BIC', 'concave_at')[0]:.0%} and "
                f"{n.each('BIC', 'convex_at')[0]:.0%} of it",
                min(n.each("BIC", "concave")[0], n.each("BIC", "convex")[0]) >= 0.1
                and n.each("BIC", "concave_at")[0] < n.each("BIC", "convex_at")[0],
            ),
            why=f"{HOW}; both parts at least 10 %",
        ),
        holds(
            "C-TCP: not concave",
            "a convex part",
            lambda n: (_bends(n, "C-TCP"), n.each("C-TCP", "convex")[0] >= 0.1),
            why=f"{HOW}; convex from 10 %",
        ),
        *(claim for case in ANCHORED for claim in _anchored(case)),
    ),
)  # fmt: skip

BUFFERS = (10, 20, 30, 40, 50)
SLOW_CAPACITY = 1250.0
SLOW_RTT_S = 0.06


def _cases_10(effort: Effort) -> Mapping[str, Case]:
    end_s = effort.pick(2000.0, 800.0)
    link: dict[str, Any] = {"rate": "10 Mbit/s", "rtt_ms": 60, "duration_s": end_s}
    return {
        f"B = {buffer}": Case(scenario([flow("illinois")], buffer=buffer, **link))
        for buffer in BUFFERS
    }


def parabola(run: Run, buffer: int) -> float:
    """How fast the square of the queue grows while it is between 30 % and 90 % of the buffer.

    Parameters
    ----------
    run : Run
        A recorded run with one flow.
    buffer : int
        Packets.

    Returns
    -------
    float
        Packets squared per round trip, least squares, mean over the epochs; NaN without any.
    """
    windows = run.windows.filter(pl.col("rtt_ms").is_not_null())
    time = windows["time_s"].to_numpy()
    rtt_s = windows["rtt_ms"].to_numpy() / 1000
    # The smallest RTT holds the packet's own transmission, too, which is no queue.
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


def _measure_10(case: str, run: Run) -> Row:
    row = measure.one_flow(
        run, bandwidth_delay_product=SLOW_CAPACITY * SLOW_RTT_S, rtt_s=SLOW_RTT_S
    )
    return row | {"parabola": parabola(run, int(case.removeprefix("B = ")))}


def _draw_10(_numbers: Numbers, traces: Traces) -> Figure:
    panels = {case: (case,) for case in traces}
    return pictures.over_time(
        traces, panels, "window", "window\n(packets)", span=(200, 260), top=140, height=1.2
    )


def _epoch_of(buffer: int) -> Claim:
    cycle = fluid.cycle(illinois.alpha, 0.5, SLOW_CAPACITY, buffer, SLOW_RTT_S)
    trains = fluid.cycle(
        fluid.in_trains(illinois.alpha, SLOW_CAPACITY), 0.5, SLOW_CAPACITY, buffer, SLOW_RTT_S
    )
    return near(
        f"B = {buffer}: length of an epoch as in the fluid cycle",
        mean(f"B = {buffer}", "epoch_round_trips"),
        float(np.ceil(cycle.round_trips)),
        within=0.03,
        why="the fluid has no recovery and no packets",
        unit="round trips",
        reason="Packets come in trains (see figure 8): below full utilisation alpha is near "
        f"sqrt(0.2 B) = {(0.2 * buffer) ** 0.5:.1f} instead of 10. Tried: the fluid cycle with "
        f"trains has {trains.round_trips:.0f} round trips.",
    )


FIGURE_10 = Artefact(
    name="figure-10",
    title="Figure 10: window curves of Illinois for buffers of 10 to 50 packets",
    about=(
        "One Illinois flow on 10 Mbit/s, RTT 60 ms (bandwidth-delay product 75 packets). Epochs "
        "as in figure 8. Nothing is random: one run."
    ),
    cases=_cases_10,
    measure=_measure_10,
    trace=lambda _case, run: pictures.windows(run, 0.1, 200, 260).drop("name"),
    draw=_draw_10,
    claims=(
        ordered(
            "the mean window grows with B",
            [(f"B = {b}", mean(f"B = {b}", "mean_window")) for b in BUFFERS[::-1]],
            why="nothing is random in a run with one flow: any difference counts",
            unit="packets",
        ),
        ordered(
            "the time at full utilisation per epoch grows with B",
            [(f"B = {b}", mean(f"B = {b}", "full_s")) for b in BUFFERS[::-1]],
            why="a window of BDP or more; any difference counts",
            unit="s",
        ),
        *(_epoch_of(buffer) for buffer in BUFFERS),
        near(
            "B = 50: near a parabola: the queue's square grows by 0.2 B per round trip",
            mean("B = 50", "parabola"), 10, within=0.03, unit="packets² per round trip",
            why="least squares for queues of 30 % to 90 % of B",
        ),
    ),
)  # fmt: skip
