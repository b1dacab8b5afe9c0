"""Tables I and II: the notation of a loss-free period, and the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ackclock.draw.figure import Table
from ackclock.metrics import Estimate, over_runs
from ackclock.models import fit, responses, unfairness
from ackclock.reproduction.claims.artefact import Computed, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock_papers.fit.figures_1_to_3 import THREE, cases_of_period, probe_of_period


def round_trips_over_equations(numbers: Numbers) -> Estimate:
    """Compare the round trips of a period with equations 10 and 13; beta is 2/(3N + 1) = 0.2."""
    windows, rounds = numbers.each(THREE, "W"), numbers.each(THREE, "X")
    return over_runs([x / (0.2 * w / THREE.n + 1) for w, x in zip(windows, rounds, strict=True)], least=0.0)


TABLE_1 = Simulated(
    name="table-i",
    caption="notation of a loss-free period",
    about="Each letter with its mean in the run of figure 2.",
    cases=cases_of_period,
    probe=probe_of_period,
    draw=lambda n, _t: Table(
        ["letter", "meaning", "mean here"],
        [
            ["W_i", "window at the end of a period, packets", n.of(THREE, "W")],
            ["N_i", "virtual sessions", THREE.n],
            ["X_i", "round trips until the loss", n.of(THREE, "X")],
            ["beta_i", "decrease factor", n.of(THREE, "beta")],
        ],
    ),
)


D_S, Q_S, LOSS = (0.05, 0.2), 0.02, 0.005
BOUNDS = {
    "FIT": float("inf"),
    "Reno": float(responses.reno(LOSS)) / D_S[0],
    "CTCP": float(responses.compound(LOSS)) / D_S[0],
    "Veno": float(responses.veno(LOSS)) / D_S[0],
    "Westwood": float(np.sqrt(1 - LOSS) / LOSS) / D_S[0],
}


VARIANTS_2 = ("FIT", "Reno", "CTCP", "Veno", "Westwood", "Vegas/FAST")
CHECKS = "checks"
NUMBERS_2: dict[str, Sequence[str]] = {
    **dict.fromkeys(VARIANTS_2, ("rate", "bound", "eta")),
    CHECKS: ("fit_over_reno", "sessions"),
}


def _compute_2(_effort: Effort) -> tuple[Mapping[str, Sequence[Row]], Traces]:
    rtt = D_S[0] + Q_S
    alpha = 0.5
    rates = {
        "FIT": float(fit.estimated_throughput(LOSS, D_S[0], Q_S, alpha)),
        "Reno": float(responses.reno(LOSS)) / rtt,
        "CTCP": float(responses.compound(LOSS)) / rtt,
        "Veno": float(responses.veno(LOSS)) / rtt,
        "Westwood": float(responses.westwood(LOSS, D_S[0], Q_S)) / rtt,
        "Vegas/FAST": float(responses.vegas(20, D_S[0], Q_S)) / rtt,
    }
    etas = {
        "FIT": rates["FIT"] / float(fit.estimated_throughput(LOSS, D_S[1], Q_S, alpha)),
        "Reno": float(unfairness.reno(D_S, Q_S)),
        "CTCP": float(unfairness.compound(D_S, Q_S)),
        "Veno": float(unfairness.veno(D_S, Q_S)),
        "Westwood": float(unfairness.westwood(D_S, Q_S, LOSS)),
        "Vegas/FAST": 1.0,
    }
    rows = {
        name: [{"rate": rate, "bound": BOUNDS.get(name, float("inf")), "eta": etas[name]}]
        for name, rate in rates.items()
    }
    rows[CHECKS] = [
        {
            "fit_over_reno": rates["FIT"] / rates["Reno"],
            "sessions": float(fit.mean_sessions(alpha, D_S[0], Q_S)),
        }
    ]
    return rows, {}


def _draw_2(numbers: Numbers, _traces: Traces) -> Table:
    rows = []
    for name in VARIANTS_2:
        bound = numbers.of(name, "bound").value
        rows.append(
            [
                name,
                f"{numbers.of(name, 'rate').value:.0f}",
                "none" if np.isinf(bound) else f"{bound:.0f}",
                f"{numbers.of(name, 'eta').value:.2f}",
            ]
        )
    heads = ["variant", "T (packets/s)", "bound without queue", "RTT unfairness"]
    return Table(heads, rows)


TABLE_2 = Computed(
    name="table-ii",
    caption="models, upper bounds, RTT fairness",
    about=f"At D = 50 (and 200) ms, q = 20 ms, loss {LOSS:.1%}, alpha = 0.5, 20 packets for FAST.",
    compute=_compute_2,
    numbers=NUMBERS_2,
    draw=_draw_2,
)
