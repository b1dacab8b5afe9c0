"""Sections I to III: statements on aggressiveness, by the laws of the controls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import scipy

from ackclock.draw.figure import Table
from ackclock.models import laws, responses
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMULAS = "formulas"
WINDOWS = (1000, 10_000, 83_000)
"""Largest windows without loss, packets: the text's example, and the range of high speed."""
LAWS = {"STCP": laws.scalable(), "HSTCP": laws.hstcp(), "BIC-TCP": laws.bic()}
THRESHOLD = 0.90
"""G, the share of the largest window at which the hypothetical protocol becomes slow."""


def two_mode(threshold: float) -> laws.Law:
    """Return the law of section II-C's hypothetical protocol.

    It is Scalable TCP's up to `threshold`, the share G of the largest window, and one packet per round
    trip from there.
    """
    fast = laws.scalable()

    def increase(window: NDArray[np.float64], top: float) -> NDArray[np.float64]:
        return np.where(window < threshold * top, fast.increase(window, top), 1.0)

    return laws.Law(increase, fast.cut, lambda top: (threshold * top,))


def _mean_growth(law: laws.Law, top: float) -> float:
    """Return the packets that a window regains in an epoch, per round trip."""
    return top * law.cut(top) / laws.cycle(law, top).round_trips


def _end_over_begin(law: laws.Law, top: float) -> float:
    """Return the growth per round trip at the end of an epoch over that at its start."""
    ends = (top * (1 - 1e-9), top * (1 - law.cut(top)) * (1 + 1e-9))
    last, first = (float(law.increase(np.asarray(window), top)) for window in ends)
    return last / first


def _compute(_effort: Effort) -> tuple[Mapping[str, list[Row]], Traces]:
    row: dict[str, float] = {
        "p of Reno": scipy.optimize.brentq(lambda p: float(responses.reno(p)) - WINDOWS[-1], 1e-13, 1e-3)
    }
    for window in WINDOWS:
        for name, law in LAWS.items():
            row[f"growth of {name} at {window}"] = _mean_growth(law, window)
        row[f"rounds to G at {window}"] = (
            laws.cycle(two_mode(THRESHOLD), window).round_trips - (1 - THRESHOLD) * window
        )
    for name in ("STCP", "HSTCP"):
        row[f"end over begin, {name}"] = _end_over_begin(LAWS[name], WINDOWS[0])
    row["constant time"] = row["rounds to G at 83000"] / row["rounds to G at 1000"]
    return {FORMULAS: [row]}, {}


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    rows = [[str(key), f"{value:.4g}"] for key, value in numbers.rows[FORMULAS][0].items()]
    return Table(["", "value"], rows)


SECTION_2_C = Computed(
    name="section-ii-c",
    caption="aggressiveness of loss-based controls",
    about="Statements of sections I to III-A on loss-based controls, by their laws and by quadrature.",
    compute=_compute,
    numbers={
        FORMULAS: (
            "p of Reno",
            "constant time",
            *(f"growth of {name} at {window}" for name in LAWS for window in WINDOWS),
            *(f"rounds to G at {window}" for window in WINDOWS),
            *(f"end over begin, {name}" for name in ("STCP", "HSTCP")),
        )
    },
    draw=_draw,
    headline=True,
)
