"""Sections 2, 4.5 and 5: statements on window curves and on other numbers of flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ackclock.draw.figure import Table
from ackclock.models import illinois, laws
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock_papers.illinois.figures_1_to_7 import LEVELS, one_study

if TYPE_CHECKING:
    from numpy.typing import NDArray

CURVES, CHAIN = "window curves", "N from 5 to 9"
TOP = 1350
"""Largest window of figure 8, packets: 100 Mbit/s times 100 ms, and a buffer of 100."""
HALF = 0.5
COUNTS = (5, 6, 7, 8, 9)
"""Numbers of flows that footnote 6 leaves out."""
STEPS = 5000
"""Steps of the queue in the curve of section 5."""


def _halving(law: laws.Law) -> float:
    """Return the mean window over the largest one when a loss event halves it."""
    cycle = laws.cycle(laws.Law(law.increase, lambda _window: HALF, law.bends), TOP)
    return cycle.packets / cycle.round_trips / TOP


def curve(buffer: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Follow the queue of one Illinois flow until it fills a buffer, in packets.

    Return round trips, and the growth in packets per round trip, without the round trip after which the
    delay is first measured.
    """
    queue = np.linspace(0, buffer, STEPS, endpoint=False)
    growth = illinois.alpha(queue, buffer)
    return np.cumsum(buffer / STEPS / growth), growth


def _changes() -> Row:
    """Return the share by which the growth changes in each part of the curve for B = 50."""
    trips, growth = curve(50)
    constant = growth == growth[0]
    early, late = trips <= 0.1 * trips[-1], trips >= 0.9 * trips[-1]
    first, middle, last = growth[constant], growth[~constant & early], growth[late]
    return {
        name: float(1 - part[-1] / part[0])
        for name, part in (("first", first), ("middle", middle), ("last", last))
    }


def _compute(_effort: Effort) -> tuple[Mapping[str, list[Row]], Traces]:
    curves: Row = {
        "linear": _halving(laws.aimd(1, HALF)),
        "HS-TCP": _halving(laws.hstcp()),
        "Scalable TCP": _halving(laws.scalable()),
        **_changes(),
    }
    studies = {(count, level): one_study(count, level, 1)[0] for count in COUNTS for level in LEVELS}
    rows = list(studies.values())
    chain: Row = {
        "least mu": min(row["mu"] for row in rows),
        "largest mu": max(row["mu"] for row in rows),
        "least linearity": min(row["linearity"] for row in rows),
        "largest std over mean": max(row["largest_std_over_mean"] for row in rows),
        "widest light range": max(studies[count, "light"]["range"] for count in COUNTS),
        **{f"least growth of {key}": _least_growth(studies, key) for key in ("mu", "range")},
    }
    return {CURVES: [curves], CHAIN: [chain]}, {}


def _least_growth(studies: Mapping[tuple[int, str], Row], key: str) -> float:
    """Return the least difference of a number from one level of congestion to the next."""
    return float(min(np.diff([studies[count, level][key] for level in LEVELS]).min() for count in COUNTS))


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    rows = [
        [f"{case}: {key}", f"{value:.3g}"]
        for case, rows_of_case in numbers.rows.items()
        for key, value in rows_of_case[0].items()
    ]
    return Table(["", "value"], rows)


SECTION_4 = Computed(
    name="section-4", caption="window curves by their laws, and the matrix model for N of 5 to 9",
    about=(
        "Mean windows by quadrature of the laws, the curve of section 5 by equation 2, and the "
        "study of figures 2 to 7 for the numbers of flows between them, worst over N."
    ),
    compute=_compute,
    numbers={
        CURVES: ("linear", "HS-TCP", "Scalable TCP", "first", "middle", "last"),
        CHAIN: (
            "least mu", "largest mu", "least linearity", "largest std over mean",
            "widest light range", "least growth of mu", "least growth of range",
        ),
    },
    draw=_draw, headline=True,
)  # fmt: skip
