"""Sections II and V: numbers of the text, by the models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import SupportsFloat

import scipy

from ackclock.draw.figure import Table
from ackclock.models import fit, responses, unfairness
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock_papers.fit.tables_i_and_ii import BOUNDS, D_S, LOSS

TEXT = "text"
WINDOW = 10e9 * 0.1 / 12_000
"""Packets of 1500 bytes that fill a path of 10 Gbit/s and 100 ms."""
ALPHA, SHORT_S, SHORTER_S = 0.5, 1e-4, 1e-5
LONG_S, LONGER_S = 1e3, 1e4
"""Queueing delays that stand for the infinite one of an overflowing buffer: D is hardly a ten-thousandth."""
ONE_SESSION = {"alpha": 0.1, "queueing_s": 0.2}
"""Alpha and queueing delay for which E[N] is 1 at both delays: 0.1 (D + 0.2)/0.2 is at most 0.2."""


def _loss_that_fills(response: Callable[[float], SupportsFloat]) -> float:
    return float(scipy.optimize.brentq(lambda p: float(response(p)) - WINDOW, 1e-14, 1e-3))


def _fit(propagation_s: float, queueing_s: float, alpha: float = ALPHA) -> float:
    return float(fit.estimated_throughput(LOSS, propagation_s, queueing_s, alpha))


def _vegas(queueing_s: float) -> float:
    """Return the packets per second of Vegas, which keeps 20 packets in the queue."""
    rtt_s = D_S[0] + queueing_s
    return float(responses.vegas(20, D_S[0], queueing_s)) / rtt_s


def _compute(_effort: Effort) -> tuple[Mapping[str, list[Row]], Traces]:
    single_session = ONE_SESSION["queueing_s"], ONE_SESSION["alpha"]
    bounds = {name: bound for name, bound in BOUNDS.items() if name != "FIT"}
    row = {
        "p of Reno": _loss_that_fills(responses.reno),
        "p of HSTCP": _loss_that_fills(responses.hstcp),
        "FIT, shorter": _fit(D_S[0], SHORTER_S),
        "FIT, short": _fit(D_S[0], SHORT_S),
        "FIT, no queue": _fit(D_S[0], 0.0),
        "FIT, long": _fit(D_S[0], LONG_S),
        "FIT, longer": _fit(D_S[0], LONGER_S),
        "Vegas, shorter": _vegas(SHORTER_S),
        "Vegas, short": _vegas(SHORT_S),
        "largest bound": max(bounds.values()),
        "eta of FIT": _fit(D_S[0], *single_session) / _fit(D_S[1], *single_session),
        "eta of Reno": float(unfairness.reno(D_S, single_session[0])),
    }
    return {TEXT: [row]}, {}


def unbounded_without_queue(numbers: Numbers) -> tuple[str, bool]:
    """Return the throughput of FIT in state (a), and whether it is infinite."""
    throughput = numbers.each(TEXT, "FIT, no queue")[0]
    return f"{throughput:g} packets/s", math.isinf(throughput)


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    rows = [[str(key), f"{value:.3g}"] for key, value in numbers.rows[TEXT][0].items()]
    return Table(["", "value"], rows)


SECTION_5 = Computed(
    name="section-v", caption="statements of sections II and V on the models",
    about=(
        "Response functions on a path of 10 Gbit/s and 100 ms; equation 19 at D = 50 (and 200) ms "
        f"with a loss of {LOSS:.1%}, as in table II."
    ),
    compute=_compute,
    numbers={
        TEXT: (
            "p of Reno", "p of HSTCP", "FIT, shorter", "FIT, short", "FIT, no queue", "FIT, long",
            "FIT, longer", "Vegas, shorter", "Vegas, short", "largest bound", "eta of FIT", "eta of Reno",
        )
    },
    draw=_draw, headline=True,
)  # fmt: skip
