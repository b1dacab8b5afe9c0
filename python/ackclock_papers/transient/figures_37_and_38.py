"""Figures 37 and 38: the chains of timeouts and of TFRC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ackclock.draw.figure import Diagram
from ackclock.models import smoothness, timeouts
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row

CHAIN = "chain"
CHAIN_P, CHAIN_T = 0.2, 4
"""Loss probability of a packet, and the timer's first value in round trips."""
FACTORS = [2**k for k in range(7)]


def _solved() -> Sequence[float]:
    """Return the steady state of the chain as it is drawn, by its matrix: state k is the factor 2^k."""
    matrix = np.zeros((7, 7))
    matrix[:, 0] = 1 - CHAIN_P
    matrix[range(7), [*range(1, 7), 6]] += CHAIN_P
    # Each column but the last says that a state is left as often as it is entered.
    equations = np.column_stack([(matrix - np.eye(7))[:, :6], np.ones(7)])
    return [float(share) for share in np.linalg.solve(equations.T, [0.0] * 6 + [1.0])]


def _chain_timeouts(_effort: Effort) -> tuple[Mapping[str, Sequence[Row]], Traces]:
    p, t = CHAIN_P, CHAIN_T
    solved = {f"p of {factor}": share for factor, share in zip(FACTORS, _solved(), strict=True)}
    rows: list[Row] = []
    for seed in range(5):
        sent = timeouts.simulate_sending(p, t, 100_000, np.random.default_rng(seed))
        rows.append(
            {
                "simulated": float(sent.std() / sent.mean()),
                "printed": timeouts.printed_cov(p, t),
                "chain": timeouts.cov(p, t),
                "sum": float(timeouts.state_probabilities(p).sum()),
                **solved,
            }
        )
    return {CHAIN: rows}, {}


def _draw_37(_numbers: Numbers, _traces: Traces) -> Diagram:
    states = [str(2**k) for k in range(7)]
    nodes = {state: (k / 6, 0.5) for k, state in enumerate(states)}
    arrows = [(states[k], states[k + 1], "p") for k in range(6)]
    arrows += [(states[k], "1", "1 - p" if k == 6 else "") for k in range(1, 7)]
    return Diagram(nodes, arrows)


FIGURE_37 = Computed(
    name="figure-37",
    caption="timeout state transition diagram",
    about="The states are the backoff factors of the timer; solved and simulated at p = 0.2, t = 4.",
    compute=_chain_timeouts,
    numbers={CHAIN: ("simulated", "printed", "chain", "sum", *(f"p of {factor}" for factor in FACTORS))},
    draw=_draw_37,
)


def _chain_tfrc(_effort: Effort) -> tuple[Mapping[str, Sequence[Row]], Traces]:
    p = np.array([0.005, 0.01, 0.02, 0.05, 0.09])
    single, smoothed = smoothness.tfrc(p)
    row = {
        "low_single": float(smoothness.tfrc(0.005, most=600)[0]),
        "high_single": float(single[-1]),
        "low_smoothed": float(smoothed[0]),
        "high_smoothed": float(smoothed[-1]),
        "three_halves": float(smoothness.tfrc(0.2, 1.5)[1]),
        "five_halves": float(smoothness.tfrc(0.2, 2.5)[1]),
    }
    return {CHAIN: [row]}, {}


def _draw_38(_numbers: Numbers, _traces: Traces) -> Diagram:
    nodes = {"1": (0.0, 0.5), "2": (0.33, 0.5), "i": (0.66, 0.5), "j": (1.0, 0.5)}
    arrows = [
        ("1", "2", "p q"),
        ("2", "i", "p q^(i-1)"),
        ("i", "j", "sqrt(i) p q^(j-1)"),
        ("j", "i", "sqrt(j) p q^(i-1)"),
    ]
    return Diagram(nodes, arrows)


FIGURE_38 = Computed(
    name="figure-38",
    caption="TFRC low-loss state model",
    about="A state is the last loss interval, left at a rate proportional to its root; solved.",
    compute=_chain_tfrc,
    numbers={
        CHAIN: ("low_single", "high_single", "low_smoothed", "high_smoothed", "three_halves", "five_halves")
    },
    draw=_draw_38,
)
