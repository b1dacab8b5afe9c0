"""Sections I and IV to VI: statements of the text about the shapes of response functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from ackclock.draw.figure import Table
from ackclock.models import laws, responses
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock_papers.bic.figures_4_to_8 import AIMD, PROTOCOLS

ResponseFunction = Callable[[float], float]
P = np.geomspace(1e-8, 1e-2, 601)
"""Loss event rates over which slopes are taken, a hundredth of a decade apart."""
PARALLEL = 0.55
"""A slope below this counts as TCP's: 0.5 and a tenth of it."""
WINDOWS = (100, 500, 5000)
"""Windows before a loss, packets, whose epochs are examined."""
S_MAX, S_MIN, BETA = 32.0, 0.01, 0.125


def _plain(curve: Callable[..., NDArray[np.float64]], **settings: float) -> ResponseFunction:
    return lambda p: float(curve(p, **settings))


def _slopes(curve: ResponseFunction, p: NDArray[np.float64] = P) -> NDArray[np.float64]:
    """Return the slopes between neighbouring loss rates, in powers of 1/p."""
    return -np.diff(np.log10([curve(float(rate)) for rate in p])) / np.diff(np.log10(p))


def _slope(curve: ResponseFunction, low: float, high: float) -> float:
    return float(_slopes(curve, np.array([low, high]))[0])


def _leaves(curve: ResponseFunction) -> float:
    """Return the lowest loss rate at which a curve is still steeper than TCP's."""
    return float(P[:-1][_slopes(curve) > PARALLEL][0])


def _meets_reno(curve: ResponseFunction, low: float, high: float) -> float:
    return float(scipy.optimize.brentq(lambda p: curve(p) - float(responses.reno(p)), low, high))


def _binary(window: float) -> float:
    """Return the share of an epoch's round trips that grow by less than S_max.

    The cut leaves a gap of beta W to the maximum; above a gap of 2 S_max the window grows by S_max
    per round trip, below it the gap halves until it is S_min (section V).
    """
    gap = BETA * window
    additive = max(gap / S_MAX - 2, 0.0)
    binary = float(np.log2(min(gap, 2 * S_MAX) / S_MIN))
    return binary / (additive + binary)


def _end_over_begin(law: laws.Law, top: float) -> float:
    """Return the growth per round trip at the end of an epoch over that at its beginning."""
    low = np.asarray(top * (1 - law.cut(top)))
    ends = (np.asarray(top * (1 - 1e-9)), low * (1 + 1e-9))
    last, first = (float(law.increase(window, top)) for window in ends)
    return last / first


SHAPES = "shapes"
BIC = _plain(responses.bic)
"""BI-TCP with Reno's response below a window of 14."""
SEARCH = partial(_plain, responses.bic, low=0)
"""BI-TCP's own response function at any window."""
AT = {f"slope at {p:.0e}": p for p in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)}
LIMITS = {"S_max": (8.0, 16.0, 32.0, 64.0), "S_min": (0.1, 0.01, 0.001)}


def _compute(_effort: Effort) -> tuple[Mapping[str, list[Row]], Traces]:
    reno = _plain(responses.reno)
    row: dict[str, float] = {
        **{f"d of {name}": _slope(_plain(curve), 1e-7, 1e-5) for name, curve in PROTOCOLS.items()},
        **{key: _slope(BIC, p / 10, p) for key, p in AT.items()},
        **{f"leaves, S_max {limit:g}": _leaves(SEARCH(s_max=limit)) for limit in LIMITS["S_max"]},
        **{
            f"meets TCP, S_min {limit:g}": _meets_reno(SEARCH(s_min=limit), 1e-6, 0.3)
            for limit in LIMITS["S_min"]
        },
        **{
            f"steepest, S_min {limit:g}": float(_slopes(SEARCH(s_min=limit)).max())
            for limit in LIMITS["S_min"]
        },
        **{f"binary at {window}": _binary(window) for window in WINDOWS},
        "packets per loss": 1 / scipy.optimize.brentq(lambda p: reno(p) - 83_333, 1e-12, 1e-4),
        "AIMD over TCP at 1e-2": _plain(PROTOCOLS[AIMD])(1e-2) / reno(1e-2),
        "most over TCP": max(BIC(float(p)) / reno(float(p)) for p in np.geomspace(1e-14, 0.1, 500)),
        "beta 0.25": _plain(responses.bic, cut=0.25)(1e-7),
        "beta 0.125": BIC(1e-7),
        "S_max 64": _plain(responses.bic, s_max=64)(1e-7),
        "growth, HSTCP": _end_over_begin(laws.hstcp(), 1000),
        "growth, STCP": _end_over_begin(laws.scalable(), 1000),
        "growth, BI-TCP": _end_over_begin(laws.bic(), 1000),
    }
    row["gain of beta"] = row["beta 0.125"] / row["beta 0.25"]
    return {SHAPES: [row]}, {}


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    rows = [[str(key), f"{value:.3g}"] for key, value in numbers.rows[SHAPES][0].items()]
    return Table(["", "value"], rows)


NUMBERS = (
    *(f"d of {name}" for name in PROTOCOLS),
    *AT,
    *(f"leaves, S_max {limit:g}" for limit in LIMITS["S_max"]),
    *(f"{quantity}, S_min {limit:g}" for quantity in ("meets TCP", "steepest") for limit in LIMITS["S_min"]),
    *(f"binary at {window}" for window in WINDOWS),
    "packets per loss",
    "AIMD over TCP at 1e-2",
    "most over TCP",
    "beta 0.25",
    "beta 0.125",
    "S_max 64",
    "growth, HSTCP",
    "growth, STCP",
    "growth, BI-TCP",
    "gain of beta",
)


SECTION_VI = Computed(
    name="section-vi", caption="shapes of response functions and of growth",
    about=(
        "Statements of sections I and IV to VI about the curves of figures 4 and 6 to 8, tested by "
        "the closed forms, and about the growth in an epoch, tested by the underlying laws."
    ),
    compute=_compute, numbers={SHAPES: NUMBERS}, draw=_draw,

)  # fmt: skip
