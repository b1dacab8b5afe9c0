"""Figure 8: window curves of one flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from ackclock import plots
from ackclock.models import fluid, illinois
from ackclock.papers.figure import Figure, Runs, Verdict, near, seen
from ackclock.papers.illinois import measure
from ackclock.papers.illinois.setting import flow, scenario
from ackclock.sweep import Case

if TYPE_CHECKING:
    import matplotlib.figure

CAPACITY = 12500.0
RTT_S = 0.1
BUFFER = 100.0

CASES = {
    "Reno": Case(scenario([flow("reno")])),
    "Illinois, β = 0.125": Case(scenario([flow("illinois", beta=0.125)])),
    "Illinois, β = 0.5": Case(scenario([flow("illinois", beta=0.5)])),
    "Illinois, β = 0.5, paced": Case(scenario([flow("illinois", beta=0.5) | {"pacing": True}])),
    "HS-TCP on Reno": Case(scenario([flow("hstcp", recovery="reno")])),
    "HS-TCP on NewReno": Case(scenario([flow("hstcp", recovery="newreno")])),
    "HS-TCP on SACK": Case(scenario([flow("hstcp")])),
    "BIC": Case(scenario([flow("bic-linux")])),
    "C-TCP": Case(scenario([flow("compound-linux")])),
}

ANCHORED: dict[str, tuple[fluid.Alpha, float]] = {
    "Reno": (fluid.reno_alpha, 0.5),
    "Illinois, β = 0.5": (illinois.alpha, 0.5),
    "Illinois, β = 0.5, paced": (illinois.alpha, 0.5),
    "Illinois, β = 0.125": (illinois.alpha, 0.125),
}

PANELS = (
    (("Reno", "Illinois, β = 0.125", "Illinois, β = 0.5"), (200.0, 400.0)),
    (("HS-TCP on Reno", "HS-TCP on NewReno", "HS-TCP on SACK"), (200.0, 400.0)),
    (("BIC", "C-TCP"), (200.0, 260.0)),
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
        One row per case.
    """
    return pl.DataFrame(
        [
            {"case": name}
            | measure.one_flow(of_case[0], bandwidth_delay_product=CAPACITY * RTT_S, rtt_s=RTT_S)
            for name, of_case in runs.items()
        ],
        infer_schema_length=None,
    )


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
        Three panels.
    """
    picture, panels = plots.panels(len(PANELS))
    for panel, (names, (start, end)) in zip(panels, PANELS, strict=True):
        for index, name in enumerate(names):
            shown = runs[name][0].windows.filter(pl.col("time_s").is_between(start, end))
            panel.plot(shown["time_s"], shown["window"], label=name, **plots.style(index))
        panel.set_xlim(start, end)
        panel.set_ylim(0, 1500)
        panel.set_ylabel("window (packets)")
        plots.legend(panel, len(names))
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
    rows = {row["case"]: row for row in numbers.iter_rows(named=True)}
    verdicts = [_concave(rows, name) for name in ANCHORED if name.startswith("Illinois")]
    verdicts += [_times_out(rows, name) for name in ("HS-TCP on Reno", "HS-TCP on NewReno")]
    verdicts += [_works(rows), _concave_then_convex(rows), _not_concave(rows)]
    for name, (alpha, beta) in ANCHORED.items():
        cycle = fluid.cycle(alpha, beta, CAPACITY, BUFFER, RTT_S)
        verdicts.append(
            near(
                f"{name}: length of an epoch as in the fluid cycle",
                round(cycle.round_trips),
                rows[name]["epoch_round_trips"],
                0.03,
                unit="round trips",
                why="the fluid has no recovery and no packets",
                reason=trains(rows),
            )
        )
        verdicts.append(
            near(
                f"{name}: time average of min(W, BDP)/BDP as in the fluid cycle",
                round(cycle.used_share, 4),
                rows[name]["used_share"],
                0.03,
                unit="",
                why="as for the length",
                reason=trains(rows),
            )
        )
    return verdicts


def trains(rows: Mapping[str, measure.Row]) -> str:
    """Explain why Illinois with beta 1/2 needs longer than the fluid.

    Parameters
    ----------
    rows : mapping
        Numbers by case.

    Returns
    -------
    str
        The reason, with the numbers that show it.
    """
    alpha = fluid.in_trains(illinois.alpha, CAPACITY)
    cycle = fluid.cycle(alpha, 0.5, CAPACITY, BUFFER, RTT_S)
    paced = rows["Illinois, β = 0.5, paced"]["epoch_round_trips"]
    return (
        "The fluid's packets are evenly spread. An ACK clock sends the window as one train: while "
        "the link is not full, the alpha packets added per round trip queue behind it, alpha/2 on "
        "average, more than d1 (one packet). So alpha is sqrt(0.2 B) = 4.5 instead of 10, and the "
        f"way to full utilisation takes twice as long. The fluid cycle with trains has "
        f"{cycle.round_trips:.0f} round trips and {cycle.used_share:.4f}; with pacing the run has "
        f"{paced:.0f} round trips."
    )


def _bends(row: measure.Row) -> str:
    shares = [f"{name} {row[name]:.1%}" for name in ("concave", "straight", "convex")]
    return ", ".join(shares) + " of an epoch"


HOW = (
    f"moving average over {measure.SMOOTH_SHARE:.0%} of the epoch (at least one RTT), sign of "
    f"the second difference; a change of slope within {measure.TOLERANCE:.0%} or a second "
    f"difference within {measure.LEAST:g} packets is straight"
)


def _concave(rows: Mapping[str, measure.Row], name: str) -> Verdict:
    row = rows[name]
    return seen(
        f"{name}: concave throughout an epoch",
        "nowhere convex, concave for the most part",
        _bends(row),
        row["convex"] <= 0.01 and row["concave"] >= 0.5,
        why=f"{HOW}; convex up to 1 %, concave from 50 %; the first "
        f"{measure.RECOVERY_RTTS:g} round trips (recovery, first delay) are left out",
        reason="While the link is not full, packet trains make alpha jump between 2 and 7; the "
        "paced case, without trains, shows the curve of the algorithm itself.",
    )


def _times_out(rows: Mapping[str, measure.Row], name: str) -> Verdict:
    row = rows[name]
    return seen(
        f"{name}: times out often",
        "a timeout in at least every tenth congestion event",
        f"{row['timeouts']} timeouts in {row['epochs']} epochs",
        row["timeouts"] >= max(1, 0.1 * row["epochs"]),
        why="the paper gives no number; after the first 200 s, so that slow start does not count",
    )


def _works(rows: Mapping[str, measure.Row]) -> Verdict:
    row = rows["HS-TCP on SACK"]
    return seen(
        "HS-TCP on SACK works",
        "no timeouts",
        f"{row['timeouts']} timeouts in {row['epochs']} epochs",
        row["timeouts"] <= 0.01 * row["epochs"] and row["epochs"] >= 10,
        why="at most one in a hundred congestion events, after the first 200 s",
    )


def _concave_then_convex(rows: Mapping[str, measure.Row]) -> Verdict:
    row = rows["BIC"]
    return seen(
        "BIC: concave, then convex",
        "both parts, the concave one first",
        f"{_bends(row)}; centres at {row['concave_at']:.0%} and {row['convex_at']:.0%} of it",
        min(row["concave"], row["convex"]) >= 0.1 and row["concave_at"] < row["convex_at"],
        why=f"{HOW}; both parts at least 10 %",
    )


def _not_concave(rows: Mapping[str, measure.Row]) -> Verdict:
    row = rows["C-TCP"]
    return seen(
        "C-TCP: not concave",
        "a convex part",
        _bends(row),
        (row["convex"]) >= 0.1,
        why=f"{HOW}; convex from 10 %",
    )


FIGURE = Figure(
    name="figure-8",
    title="Figure 8: window curves of one flow",
    about=(
        "One flow on 100 Mbit/s, RTT 100 ms, buffer 100 packets. An epoch is the time between two "
        "congestion events (loss events and timeouts closer than 2 RTTs are one); slow start and "
        "the first 200 s are left out."
    ),
    cases=CASES,
    measure=numbers,
    draw=draw,
    judge=judge,
)
