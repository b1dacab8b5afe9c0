"""Figure 1: how often flows induce losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ackclock.draw.figure import Axis, Chart, Group, Series
from ackclock.metrics import Estimate, over_runs
from ackclock.models import periods
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock_papers.africa.setting import AFRICA, HSTCP, RENO, SCALABLE, TcpVariant


class TwoMode(NamedTuple):
    """Africa as the paper approximates it, slow from a share G of the largest window on."""

    threshold: float
    """G, from 0 to 1."""

    def __str__(self) -> str:
        return f"{AFRICA}, approximated (G = {self.threshold:.2f})"


class PeriodAt(NamedTuple):
    """The period between induced losses, in round trips, at a largest window without loss, in packets."""

    window: int

    def __str__(self) -> str:
        return f"at_{self.window}"


WINDOWS = np.geomspace(100, 83_000, 60)
EARLY, LATE = TwoMode(0.90), TwoMode(0.95)
LARGE, SMALL = PeriodAt(83_000), PeriodAt(1000)
CURVES: dict[TcpVariant | TwoMode, Callable[[Any], Any]] = {
    RENO: periods.aimd,
    HSTCP: periods.hstcp,
    SCALABLE: lambda window: np.full(np.shape(window), periods.mimd()),
    EARLY: lambda window: periods.two_mode(window, EARLY.threshold),
    LATE: lambda window: periods.two_mode(window, LATE.threshold),
}


def _periods(_effort: Effort) -> tuple[Mapping[TcpVariant | TwoMode, Sequence[Row]], Traces]:
    rows = {
        name: [{at: float(curve(float(at.window))) for at in (LARGE, SMALL)}]
        for name, curve in CURVES.items()
    }
    frames = {
        name: pl.DataFrame({"window": WINDOWS, "period": curve(WINDOWS)}) for name, curve in CURVES.items()
    }
    return rows, frames


def _draw_1(_numbers: Numbers, traces: Traces) -> Group:
    x = Axis("largest window without loss", "packets", log=True)
    y = Axis("round trips between induced losses", log=True)
    series = [
        Series(str(name), index, frame["window"], frame["period"])
        for index, (name, frame) in enumerate(traces.items())
    ]
    return Group([Chart("periods", y.titled, x, y, series, height=3.4)])


def power(numbers: Numbers, curve: str) -> Estimate:
    """Return the power of the largest window that the period of a curve follows from `SMALL` to `LARGE`."""
    large, small = (np.array(numbers.each(curve, at)) for at in (LARGE, SMALL))
    return over_runs(np.log(large / small) / np.log(LARGE.window / SMALL.window))


FIGURE_1 = Computed(
    name="figure-1",
    caption="induced congestion period",
    about="Equations 1 to 4, and HSTCP by quadrature of its own functions.",
    compute=_periods,
    numbers=dict.fromkeys(CURVES, (LARGE, SMALL)),
    draw=_draw_1,
    headline=True,
)
