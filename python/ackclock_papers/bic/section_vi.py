"""Sections I and IV to VI: statements of the text about the shapes of response functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from ackclock.draw.figure import Table
from ackclock.metrics import Estimate
from ackclock.models import laws, responses
from ackclock.names import slug
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.claims.orders import was_plain
from ackclock.reproduction.claims.usual import between, mean, near, times
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


def _of(key: str) -> Callable[[Numbers], Estimate]:
    return mean(SHAPES, key)


D = {"Reno": 0.5, AIMD: 0.5, "HSTCP": 0.82, "Scalable": 1.0}
"""The exponents of section IV."""

SECTION_VI = Computed(
    name="section-vi", caption="shapes of response functions and of growth",
    about=(
        "Statements of sections I and IV to VI about the curves of figures 4 and 6 to 8, tested by "
        "the closed forms, and about the growth in an epoch, tested by the underlying laws."
    ),
    compute=_compute, numbers={SHAPES: NUMBERS}, draw=_draw,
    claims=(
        times("10-gbit-s-take-at-most-one-loss-event",
              "full use of 10 Gbit/s allows at most one loss event per 5e9 packets", _of("packets per loss"),
              5e9, factor=1.1, why="one digit; Reno's response at a window of 83 333 packets"),
        *(near(slug("d", name), f"d of {name}", _of(f"d of {name}"), d, within=0.005, absolute=True,
               why="slope between 1e-7 and 1e-5 in the log-log plot") for name, d in D.items()),
        between("aimd-32-0.125-not-tcp-friendly",
                "AIMD(32, 0.125) is not TCP-friendly", _of("AIMD over TCP at 1e-2"), 2, np.inf,
                why="rate over TCP's at 1e-2; more than twice", paper="not TCP-friendly"),
        between("bi-tcp-tcp-fairness-bounded-at-all-windows",
                "BI-TCP's TCP fairness is bounded at all windows", _of("most over TCP"), 1, 13,
                why="its largest rate over TCP's: by (1.4) it tends to "
                "sqrt(S_max/2 (2 - beta)/beta)/sqrt(3/2), 12.65", paper="bounded"),
        was_plain("slope-bi-tcp-curve-falls-window-grows",
                "the slope of BI-TCP's curve falls as the window grows",
                [(key, _of(key)) for key in AT], paper="'d' from 1 to 1/2"),
        near("slope-begins-near-1",
             "the slope of BI-TCP's curve begins near 1", _of("slope at 1e-03"), 1, within=0.15,
             absolute=True, why="between 1e-4 and 1e-3; 1 is the limit of a search alone"),
        near("slope-ends-at-1-2",
             "the slope of BI-TCP's curve ends at 1/2", _of("slope at 1e-07"), 0.5, within=0.02,
             absolute=True, why="between 1e-8 and 1e-7"),
        was_plain("larger-s-max-makes-area-with-slope-above-tcp",
                "a larger S_max makes the area with a slope above TCP's larger",
                [(f"S_max {limit:g}", _of(f"leaves, S_max {limit:g}")) for limit in LIMITS["S_max"]],
                why="the loss rate below which the slope is less than 0.55", paper="as drawn"),
        was_plain("smaller-s-min-moves-crossing-with-tcp-to-lower",
                "a smaller S_min moves the crossing with TCP to lower loss",
                [(f"S_min {limit:g}", _of(f"meets TCP, S_min {limit:g}")) for limit in LIMITS["S_min"]],
                why="BI-TCP's own curve and TCP's; with S_min 1 they do not meet",
                paper="as drawn"),
        was_plain("smaller-s-min-makes-slope-before-linear-part-steeper",
                "a smaller S_min makes the slope before the linear part steeper",
                [(f"S_min {limit:g}", _of(f"steepest, S_min {limit:g}"))
                 for limit in reversed(LIMITS["S_min"])],
                why="the largest slope of the curve", paper="as drawn"),
        was_plain("smaller-beta-gives-more",
                "a smaller beta gives a higher rate", [(key, _of(key)) for key in ("beta 0.125",
                                                                          "beta 0.25")],
                why="rates at 1e-7", unit="packets per RTT", paper="'increases the sending rate'"),
        between("beta-matters-much-less-for-rate-than-s-max",
                "beta matters much less for the rate than S_max does",
                _of("gain of beta"), 0, 1.2,
                why="gain of half of beta at 1e-7, where twice S_max gains 1.39",
                paper="'much less impact'"),
        was_plain("small-window-nearly-pure-binary-search", "a small window is nearly pure binary search",
                [(f"{window} packets", _of(f"binary at {window}")) for window in WINDOWS[1:]],
                why="share of an epoch's round trips that grow by less than S_max, falling",
                paper="'almost pure binary search'", absolute=True),
        near("at-100-packets-all-growth-binary-search",
             "at 100 packets all growth is binary search", _of("binary at 100"), 1, within=0,
             why="beta W is below 2 S_max", paper="'almost pure binary search'"),
        between("hstcp-grows-most-at-saturation-point",
                "HSTCP grows most at the saturation point", _of("growth, HSTCP"), 1.01, np.inf,
                why="growth per round trip at the end of an epoch over that at its beginning, at a "
                "window of 1000 packets", paper="largest at saturation"),
        between("stcp-grows-most-at-saturation-point",
                "STCP grows most at the saturation point", _of("growth, STCP"), 1.01, np.inf,
                why="growth per round trip at the end of an epoch over that at its beginning, at a "
                "window of 1000 packets", paper="largest at saturation"),
        between("bi-tcp-grows-least-at-saturation-point",
                "BI-TCP grows least at the saturation point", _of("growth, BI-TCP"), 0, 0.01,
                why="growth per round trip at the end of an epoch over that at its beginning: S_min "
                "over S_max", paper="logarithmic"),
    ),
)  # fmt: skip
