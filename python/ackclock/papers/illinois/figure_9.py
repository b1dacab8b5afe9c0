"""Figure 9: goodput of one flow (left) and of four (right)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock import plots
from ackclock.models import fluid, illinois
from ackclock.papers.figure import Figure, Runs, Verdict, seen
from ackclock.papers.illinois import figure_8
from ackclock.papers.illinois.setting import OVERHEAD, flow, scenario
from ackclock.sweep import Case

if TYPE_CHECKING:
    import matplotlib.figure

ONE_FLOW = {
    "Reno": "Reno",
    "HS-TCP": "HS-TCP on SACK",
    "Illinois, β = 0.5": "Illinois, β = 0.5",
    "Illinois, β = 0.5, paced": "Illinois, β = 0.5, paced",
    "Illinois, β = 0.125": "Illinois, β = 0.125",
    "BIC": "BIC",
    "C-TCP": "C-TCP",
}

FOUR_FLOWS = {
    "Reno": "reno",
    "HS-TCP": "hstcp",
    "Illinois": "illinois",
    "BIC": "bic-linux",
    "C-TCP": "compound-linux",
}
OVERHEADS = ("10 us", OVERHEAD, "500 us")
RUNS = 5


def _four(controller: str, overhead: str) -> Case:
    each = flow(controller) | {
        "count": 4,
        "overhead": overhead,
        "start": {"uniform": ["0 s", "10 s"]},
    }
    made = scenario([each], duration_s=400, warmup_s=100, sample_s=0.1)
    return Case(made, runs=RUNS, record=False)


def goodputs(runs: Runs) -> pl.DataFrame:
    """Sum the goodput of the flows of each run.

    Parameters
    ----------
    runs : mapping
        Runs by case.

    Returns
    -------
    polars.DataFrame
        One row per case: goodput of each run, mean and half-width of the 95 % interval, Mbit/s.
    """
    rows = []
    for name, of_case in runs.items():
        totals = [sum(f["goodput_mbps"] for f in run.summary["flows"]) for run in of_case]
        half = half_width(totals) if len(totals) > 1 else None
        timeouts = sum(f["timeouts"] for run in of_case for f in run.summary["flows"])
        rows.append(
            {"case": name, "goodput_mbps": float(np.mean(totals)), "half_width_mbps": half}
            | {"timeouts": timeouts}
            | {f"run_{number}_mbps": total for number, total in enumerate(totals)}
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def half_width(values: list[float]) -> float:
    """Half the width of the 95 % interval of a mean, after Student.

    Parameters
    ----------
    values : list of float
        At least two independent values.

    Returns
    -------
    float
        In their unit.
    """
    from scipy.special import stdtrit

    degrees = len(values) - 1
    return float(stdtrit(degrees, 0.975) * np.std(values, ddof=1) / np.sqrt(len(values)))


def _draw_left(runs: Runs, numbers: pl.DataFrame) -> matplotlib.figure.Figure:  # noqa: ARG001
    picture, (panel,) = plots.panels(1, height=2.6)
    names = [name.replace(", ", ",\n") for name in numbers["case"]]
    plots.bars(panel, names, numbers["goodput_mbps"].to_list(), None, "goodput (Mbit/s)")
    panel.set_ylim(0, 110)
    return picture


def _draw_right(runs: Runs, numbers: pl.DataFrame) -> matplotlib.figure.Figure:  # noqa: ARG001
    picture, (panel,) = plots.panels(1, height=2.6)
    shown = [_row(numbers, name, OVERHEAD) for name in FOUR_FLOWS]
    plots.bars(
        panel,
        list(FOUR_FLOWS),
        [row["goodput_mbps"] for row in shown],
        [row["half_width_mbps"] for row in shown],
        "goodput of four flows (Mbit/s)",
    )
    panel.set_ylim(0, 110)
    return picture


def _row(numbers: pl.DataFrame, name: str, overhead: str) -> dict[str, float]:
    return numbers.row(by_predicate=pl.col("case") == f"{name}, {overhead}", named=True)


def judge_left(numbers: pl.DataFrame) -> list[Verdict]:
    """Judge whether Illinois is highest with one flow.

    Parameters
    ----------
    numbers : polars.DataFrame
        As `goodputs` gives them.

    Returns
    -------
    list of Verdict
        One per choice of beta.
    """
    rate = dict(zip(numbers["case"], numbers["goodput_mbps"], strict=True))
    others = {name: value for name, value in rate.items() if not name.startswith("Illinois")}
    cycle = fluid.cycle(illinois.alpha, 0.5, figure_8.CAPACITY, figure_8.BUFFER, figure_8.RTT_S)
    best = max(others, key=lambda name: others[name])
    return [
        seen(
            f"{name}: higher goodput than Reno, HS-TCP, BIC and C-TCP",
            f"above {best}, {others[best]:.2f} Mbit/s",
            f"{rate[name]:.2f} Mbit/s",
            rate[name] > others[best],
            why="nothing is random in a run with one flow: any difference counts",
            reason="With beta 1/2 the window falls to half of the link, and packet trains double "
            "the time until it is full again (see figure 8). With pacing the goodput is "
            f"{rate['Illinois, β = 0.5, paced']:.2f} Mbit/s; the fluid cycle, without trains, "
            f"fills {cycle.used_share:.2%} of the link.",
        )
        for name in ("Illinois, β = 0.125", "Illinois, β = 0.5")
    ]


def judge_right(numbers: pl.DataFrame) -> list[Verdict]:
    """Judge whether Illinois is highest with four flows, for each overhead.

    Parameters
    ----------
    numbers : polars.DataFrame
        As `goodputs` gives them.

    Returns
    -------
    list of Verdict
        One per overhead.
    """
    verdicts = []
    for overhead in OVERHEADS:
        ours = _row(numbers, "Illinois", overhead)
        gains = {}
        for name in FOUR_FLOWS:
            if name == "Illinois":
                continue
            other = _row(numbers, name, overhead)
            pairs = [ours[f"run_{n}_mbps"] - other[f"run_{n}_mbps"] for n in range(RUNS)]
            gains[name] = (float(np.mean(pairs)), half_width(pairs))
        least = min(gains, key=lambda name: gains[name][0])
        mean, half = gains[least]
        verdicts.append(
            seen(
                f"Illinois has the highest goodput, overhead {overhead}",
                "above every other",
                f"{ours['goodput_mbps']:.2f} Mbit/s, {mean:+.2f} ± {half:.2f} against {least}",
                all(gain - width > 0 for gain, width in gains.values()),
                why=f"95 % interval (Student) of the difference over {RUNS} runs lies above 0",
            )
        )
    return verdicts


LEFT = Figure(
    name="figure-9-left",
    title="Figure 9, left: goodput of one flow",
    about="The runs of figure 8: goodput from 200 s to 1200 s.",
    cases={name: figure_8.CASES[case] for name, case in ONE_FLOW.items()},
    measure=goodputs,
    draw=_draw_left,
    judge=judge_left,
)
RIGHT = Figure(
    name="figure-9-right",
    title="Figure 9, right: goodput of four flows",
    about=(
        f"Four flows of one algorithm on 100 Mbit/s, RTT 100 ms, buffer 100 packets; sum of the "
        f"goodputs from 100 s to 400 s, mean of {RUNS} runs with 95 % intervals (Student). "
        f"The picture has overhead {OVERHEAD}; others are in the numbers."
    ),
    cases={
        f"{name}, {overhead}": _four(controller, overhead)
        for overhead in OVERHEADS
        for name, controller in FOUR_FLOWS.items()
    },
    measure=goodputs,
    draw=_draw_right,
    judge=judge_right,
)
