"""Sections I, VI, VIII and IX: convergence, responsiveness and utilisation, by laws and models."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ackclock.draw.figure import Table
from ackclock.models import convergence, fluid, laws, unfairness
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row

TEXT = "text"
TOGETHER = 800.0
"""Sum of two windows that binary search alone regains, packets: beta W is below 2 S_max."""
APART = (2.0, 1.0)
EVENTS, FAST_EVENTS, SEEDS, FAIR = 1000, 50, 9, 0.1
FAST_LINK, FASTER_LINK = 83_333.0, 833_333.0
"""Windows of 10 and 100 Gbit/s with 100 ms, packets."""
RTTS_S = (0.04, 0.12)
SHORT_S, LONG_S = (0.25, 0.5, 1.0), (2.0, 4.0, 8.0)
"""Epochs below and above that of a window with beta W = 2 S_max."""
S_MAX, S_MIN = 32.0, 0.01


def _start(capacity: float) -> list[float]:
    return [capacity * share / sum(APART) for share in APART]


def _bic(fast_convergence: bool) -> convergence.Losses:
    """Follow two BI-TCP flows from 2 to 1 that lose together."""
    events = FAST_EVENTS if fast_convergence else EVENTS
    return convergence.losses(
        laws.bic(), _start(TOGETHER), TOGETHER, events, fast_convergence=fast_convergence
    )


HSTCP_TOGETHER, SPAN, FEWER = 2000.0, 10, 60


def _hstcp() -> Row:
    """Follow two HSTCP flows that lose together, and one at a time.

    An event in which only one of the two loses cuts half as much, so twice as many are averaged.
    """
    law = laws.hstcp()
    start = _start(HSTCP_TOGETHER)
    both = convergence.losses(law, start, HSTCP_TOGETHER, FEWER)
    alone = [
        convergence.losses(law, start, HSTCP_TOGETHER, 2 * FEWER, generator=np.random.default_rng(seed))
        for seed in range(SEEDS)
    ]
    until = [convergence.round_trips_until_fair(losses, FAIR, 2 * SPAN) for losses in alone]
    return {
        "HSTCP, together": convergence.round_trips_until_fair(both, FAIR, SPAN),
        "HSTCP, one by one": float(np.median(until)),
    }


def _to_fill(growth: Callable[[float], float]) -> float:
    """Return the round trips from a window of 10 Gbit/s to one of 100 Gbit/s."""
    window = np.geomspace(FAST_LINK, FASTER_LINK, 2001)
    slow = np.array([1 / growth(float(packets)) for packets in window])
    return float(((slow[1:] + slow[:-1]) / 2 * np.diff(window)).sum())


def _mean_share(law: laws.Law, top: float) -> float:
    cycle = laws.cycle(law, top)
    return cycle.packets / cycle.round_trips / top


FILLING: dict[str, Callable[[float], float]] = {
    "BI-TCP": lambda _window: S_MAX,
    "HSTCP": lambda window: float(laws.hstcp_increase(window)),
    "STCP": lambda window: window * float(np.log1p(0.01)),
}
USED = {"TCP": laws.aimd(1, 0.5), "STCP": laws.scalable(), "BI-TCP": laws.bic()}
PRINTED = {"TCP": 0.75, "STCP": 0.94, "BI-TCP": 0.94}
TOP = 10_000
"""Largest window of a cycle, packets."""


def _compute(_effort: Effort) -> tuple[Mapping[str, list[Row]], Traces]:
    buffered = fluid.cycle(fluid.reno_alpha, 0.5, FAST_LINK / 0.1, FAST_LINK, 0.1)
    plain, fast = (_bic(fast_convergence) for fast_convergence in (False, True))
    row: dict[str, float] = {
        "last ratio": float(plain.window[-1].max() / plain.window[-1].min()),
        "fair, plain": convergence.round_trips_until_fair(plain, FAIR),
        "fair, fast convergence": convergence.round_trips_until_fair(fast, FAIR),
        **_hstcp(),
        **{f"search, {t:g} s": float(unfairness.bic_search(RTTS_S, t)) for t in SHORT_S},
        **{f"additive, {t:g} s": float(unfairness.bic(RTTS_S, t, S_MAX, S_MIN)) for t in LONG_S},
        **{f"to fill, {name}": _to_fill(growth) for name, growth in FILLING.items()},
        **{f"used, {name}": _mean_share(law, TOP) for name, law in USED.items()},
        **{f"used by beta, {name}": 1 - law.cut(TOP) / 2 for name, law in USED.items()},
        "used with a buffer": buffered.used_share,
    }
    return {TEXT: [row]}, {}


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    rows = [[str(key), f"{value:.4g}"] for key, value in numbers.rows[TEXT][0].items()]
    return Table(["", "value"], rows)


SECTION_IX = Computed(
    name="section-ix", caption="convergence, responsiveness and utilisation",
    about=(
        "Statements of sections I, VI, VIII and IX, tested by the laws of the controls, loss event "
        "by loss event, and by the closed forms of section VI-B."
    ),
    compute=_compute,
    numbers={
        TEXT: (
            "last ratio", "fair, plain", "fair, fast convergence",
            "HSTCP, together", "HSTCP, one by one", *(f"search, {t:g} s" for t in SHORT_S),
            *(f"additive, {t:g} s" for t in LONG_S), *(f"to fill, {name}" for name in FILLING),
            *(f"used, {name}" for name in USED), *(f"used by beta, {name}" for name in USED),
            "used with a buffer",
        )
    },
    draw=_draw, headline=True,

)  # fmt: skip
