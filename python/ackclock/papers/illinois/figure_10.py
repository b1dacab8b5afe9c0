"""Figure 10: window curves for different buffers."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock import metrics, plots
from ackclock.api import Run
from ackclock.models import fluid, illinois
from ackclock.papers.figure import Figure, Runs, Verdict, near, seen
from ackclock.papers.illinois import measure
from ackclock.papers.illinois.setting import MEASURED_FROM_S, flow, scenario
from ackclock.sweep import Case

if TYPE_CHECKING:
    import matplotlib.figure

CAPACITY = 1250.0
RTT_S = 0.06
BUFFERS = (10, 20, 30, 40, 50)
SHOWN_S = (200.0, 260.0)


def _case(buffer: int) -> Case:
    return Case(
        scenario([flow("illinois")], rate="10 Mbit/s", rtt_ms=60, buffer=buffer, duration_s=2000)
    )


def numbers(runs: Runs) -> pl.DataFrame:
    """Measure every curve.

    Parameters
    ----------
    runs : mapping
        Runs by case.

    Returns
    -------
    polars.DataFrame
        One row per buffer.
    """
    product = CAPACITY * RTT_S
    rows = []
    for buffer, of_case in zip(BUFFERS, runs.values(), strict=True):
        row = measure.one_flow(of_case[0], bandwidth_delay_product=product, rtt_s=RTT_S)
        rows.append({"buffer": buffer} | row | {"parabola": parabola(of_case[0], buffer)})
    return pl.DataFrame(rows, infer_schema_length=None)


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
    queue = windows["window"].to_numpy() - CAPACITY * rtt_s.min()
    trips = metrics.cumulative(time, 1 / rtt_s)
    events = run.events.filter(pl.col("kind").is_in(["loss", "timeout"]))["time_s"].to_numpy()
    slopes = []
    for epoch in metrics.epochs(events, measure.MERGE_RTTS * RTT_S, MEASURED_FROM_S):
        inside = (time > epoch.start_s + measure.RECOVERY_RTTS * RTT_S) & (time < epoch.end_s)
        inside &= (queue >= 0.3 * buffer) & (queue <= 0.9 * buffer)
        if inside.sum() >= 10:
            slopes.append(np.polyfit(trips[inside], queue[inside] ** 2, 1)[0])
    return float(np.mean(slopes)) if slopes else float("nan")


def draw(runs: Runs, numbers: pl.DataFrame) -> matplotlib.figure.Figure:  # noqa: ARG001
    """Draw the windows over time.

    Parameters
    ----------
    runs : mapping
        Runs by case.
    numbers : polars.DataFrame
        Not needed.

    Returns
    -------
    matplotlib.figure.Figure
        One panel per buffer.
    """
    picture, panels = plots.panels(len(BUFFERS), height=1.2)
    for panel, buffer, of_case in zip(panels, BUFFERS, runs.values(), strict=True):
        shown = of_case[0].windows.filter(pl.col("time_s").is_between(*SHOWN_S))
        panel.plot(
            shown["time_s"], shown["window"], **plots.style(0), label=f"B = {buffer} packets"
        )
        product = CAPACITY * RTT_S
        panel.axhline(
            product, color="#555555", linewidth=0.7, linestyle=":", label="full utilisation"
        )
        panel.set_xlim(*SHOWN_S)
        panel.set_ylim(0, 140)
        panel.set_ylabel("window\n(packets)")
        plots.legend(panel, 2)
    panels[-1].set_xlabel("time (s)")
    return picture


def judge(numbers: pl.DataFrame) -> list[Verdict]:
    """Compare with the paper and with the fluid cycle.

    Parameters
    ----------
    numbers : polars.DataFrame
        As `numbers` gives them.

    Returns
    -------
    list of Verdict
        One per claim.
    """
    rows = {row["buffer"]: row for row in numbers.iter_rows(named=True)}
    means = [rows[buffer]["mean_window"] for buffer in BUFFERS]
    full = [rows[buffer]["full_s"] for buffer in BUFFERS]
    verdicts = [
        _grows("the mean window grows with B", means, "packets"),
        _grows(
            "the time at full utilisation (window of BDP or more) per epoch grows with B", full, "s"
        ),
    ]
    for buffer in BUFFERS:
        cycle = fluid.cycle(illinois.alpha, 0.5, CAPACITY, buffer, RTT_S)
        verdicts.append(
            near(
                f"B = {buffer}: length of an epoch as in the fluid cycle",
                float(np.ceil(cycle.round_trips)),
                rows[buffer]["epoch_round_trips"],
                0.03,
                unit="round trips",
                why="the fluid has no recovery and no packets",
                reason=_trains(buffer),
            )
        )
    verdicts.append(
        near(
            "B = 50: near a parabola: the queue's square grows by 0.2 B per round trip",
            10.0,
            rows[50]["parabola"],
            0.03,
            unit="packets² per round trip",
            why="least squares for queues of 30 % to 90 % of B",
        )
    )
    return verdicts


def _trains(buffer: int) -> str:
    alpha = fluid.in_trains(illinois.alpha, CAPACITY)
    cycle = fluid.cycle(alpha, 0.5, CAPACITY, buffer, RTT_S)
    return (
        "Packets come in trains (see figure 8): below full utilisation alpha is near sqrt(0.2 B) "
        f"= {(0.2 * buffer) ** 0.5:.1f} instead of 10. The fluid cycle with trains has "
        f"{cycle.round_trips:.0f} round trips."
    )


def _grows(claim: str, values: list[float], unit: str) -> Verdict:
    return seen(
        claim,
        "each buffer above the one before",
        ", ".join(f"{value:.1f}" for value in values) + f" {unit}",
        all(less < more for less, more in pairwise(values)),
        why="nothing is random in a run with one flow: any difference counts",
    )


FIGURE = Figure(
    name="figure-10",
    title="Figure 10: window curves of Illinois for buffers of 10 to 50 packets",
    about=(
        "One Illinois flow on 10 Mbit/s, RTT 60 ms (bandwidth-delay product 75 packets). Epochs "
        "as in figure 8."
    ),
    cases={f"B = {buffer}": _case(buffer) for buffer in BUFFERS},
    measure=numbers,
    draw=draw,
    judge=judge,
)
