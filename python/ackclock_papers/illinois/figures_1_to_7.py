"""Figures 1 to 7: the curves of the algorithm and the stochastic matrix model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import polars as pl

from ackclock.draw.figure import Axis, Chart, Group, Series
from ackclock.models import illinois, matrix
from ackclock.predictions.matrix import study
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row

SEEDS = 5
POSITIONS = np.linspace(0, 1, 1001)
STANDARD = "standard"
"""The only case of figure 1: the standard parameters."""


def _curves(_effort: Effort) -> tuple[Mapping[str, Sequence[Row]], Traces]:
    alpha, beta = illinois.alpha(POSITIONS, 1.0), illinois.beta(POSITIONS, 1.0)
    steps = np.abs(np.diff(1 / alpha)), np.abs(np.diff(beta))
    row = {
        "alpha_start": alpha[0],
        "alpha_end": alpha[-1],
        "beta_start": beta[0],
        "beta_end": beta[-1],
        "alpha_falls": bool(np.all(np.diff(alpha) <= 0)),
        "beta_rises": bool(np.all(np.diff(beta) >= 0)),
        "largest_step": float(max(steps[0].max() / 10, steps[1].max())),
    }
    frame = pl.DataFrame({"position": POSITIONS, "alpha": alpha, "beta": beta})
    return {STANDARD: [row]}, {STANDARD: frame}


def _draw_curves(_numbers: Numbers, traces: Traces) -> Group:
    frame = traces[STANDARD]
    axes = (Axis("alpha", "packets per round trip"), Axis("beta", range=(0, 0.6)))
    charts = [
        Chart(
            y.label,
            y.titled,
            Axis("da/dm"),
            y,
            [Series(y.label, index, frame["position"], frame[y.label])],
            height=2.4,
        )
        for index, y in enumerate(axes)
    ]
    return Group(charts, columns=2)


def curves_without_jump(numbers: Numbers) -> tuple[str, bool]:
    """Return the largest step of the curves, and whether alpha falls and beta rises without a jump."""
    keys = ("alpha_falls", "beta_rises", "largest_step")
    falls, rises, step = (numbers.each(STANDARD, key)[0] for key in keys)
    return f"largest step in dm/1000: {step:.2g}", bool(falls and rises and step < 0.02)


FIGURE_1 = Computed(
    name="figure-1",
    caption="alpha and beta of the queueing delay",
    about="Equations 2 to 4 with the standard parameters, over the delay's share of its maximum.",
    compute=_curves,
    numbers={
        STANDARD: (
            "alpha_start",
            "alpha_end",
            "beta_start",
            "beta_end",
            "alpha_falls",
            "beta_rises",
            "largest_step",
        )
    },
    draw=_draw_curves,
    headline=True,
)

LEVELS = ("light", "medium", "heavy")
STUDIED = ("mu", "lowest_ratio", "highest_ratio", "range", "largest_std_over_mean", "linearity")


def _linearity(share: np.ndarray, rtt: np.ndarray) -> float:
    """Return the share of the variance of log x within runs that a line in log T explains."""
    x = np.log(share) - np.log(share).mean(axis=1, keepdims=True)
    t = np.log(rtt) - np.log(rtt).mean(axis=1, keepdims=True)
    slope = (x * t).sum() / (t * t).sum()
    return float(1 - ((x - slope * t) ** 2).sum() / (x * x).sum())


@cache
def one_study(flows: int, level: str, seed: int) -> tuple[Row, pl.DataFrame]:
    """Follow the chain for N `flows` in 50 runs; figures with the same N share it.

    Return numbers by the keys of `STUDIED`, and the frame that is drawn. `level` is one of `LEVELS`;
    `seed` is that of round trips, starts and drops.
    """
    rtt, shares = study(flows, level, seed)
    average, deviation = shares.mean(axis=1), shares.std(axis=1)
    ratio = average / matrix.equal_window_shares(rtt)
    row = {
        "mu": matrix.mu(average, rtt),
        "lowest_ratio": float(ratio.min()),
        "highest_ratio": float(ratio.max()),
        "range": float(ratio.max() - ratio.min()),
        "largest_std_over_mean": float((deviation / average).max()),
        "linearity": _linearity(average, rtt),
    }
    columns = {
        "ratio": ratio,
        "std_over_mean": deviation / average,
        "log_rtt": np.log(rtt),
        "log_share": np.log(average),
    }
    return row, pl.DataFrame({name: values.ravel() for name, values in columns.items()})


def _study(flows: int, level: str) -> tuple[Mapping[str, Sequence[Row]], Traces]:
    rows = {name: [one_study(flows, name, seed)[0] for seed in range(1, SEEDS + 1)] for name in LEVELS}
    return rows, {level: one_study(flows, level, 1)[1]}


def _draw_study(_numbers: Numbers, traces: Traces) -> Group:
    (frame,) = traces.values()
    numbers = np.arange(frame.height)
    plots = (
        (Axis("flow and run"), Axis("mean x over x*", range=(0.5, 1.6)), numbers, "ratio"),
        (Axis("flow and run"), Axis("Std(x) over mean x", range=(0, 1)), numbers, "std_over_mean"),
        (Axis("log T"), Axis("log x/C"), frame["log_rtt"].to_numpy(), "log_share"),
    )
    charts = [
        Chart(
            column,
            y.titled,
            x,
            y,
            [Series("flows", 0, points, frame[column], look="points")],
            kind="points",
            height=2.4,
        )
        for x, y, points, column in plots
    ]
    return Group(charts, linked=False, columns=3)


def _figure(number: int, flows: int, level: str) -> Computed:
    return Computed(
        name=f"figure-{number}",
        caption=f"the matrix model, N = {flows}, {level} congestion",
        about=(
            "50 runs of the chain with random round trips of 50 to 250 ms and random starts, 1000 "
            f"events each after 500, b = 1/2, T_tilde = T_hat; {SEEDS} such sets for the intervals."
        ),
        compute=lambda _effort: _study(flows, level),
        numbers=dict.fromkeys(LEVELS, STUDIED),
        draw=_draw_study,
        headline=number in (2, 4),
    )


FIGURES_2_TO_7 = tuple(
    _figure(2 + index, flows, level)
    for index, (flows, level) in enumerate((n, name) for n in (4, 10) for name in LEVELS)
)
