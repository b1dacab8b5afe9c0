"""Appendices B and D: numbers of the text, by the models."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.draw.figure import Table
from ackclock.models import smoothness, timeouts
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row

TEXT = "text"
LOSS, TIMEOUT = 0.2, 4.0
EXPONENTS = (1.5, 2.5)
"""Exponents of the rate at high loss for which the text gives the CoV before smoothing."""
SLOW_START = "CoV with slow start"


def _compute(_effort: Effort) -> tuple[Mapping[str, list[Row]], Traces]:
    row: dict[str, float] = {
        f"CoV[R'] for p^-{exponent:g}": float(smoothness.tfrc(LOSS, exponent)[0]) for exponent in EXPONENTS
    }
    row[SLOW_START] = timeouts.cov_with_slow_start(LOSS, TIMEOUT)
    return {TEXT: [row]}, {}


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    rows = [[key, f"{value:.3g}"] for key, value in numbers.rows[TEXT][0].items()]
    return Table(["", "value"], rows)


APPENDIX = Computed(
    name="section-b",
    caption="numbers of appendices B and D at a loss rate of 20 %",
    about="The chain of timeouts with slow start, and TFRC's rate before it is smoothed.",
    compute=_compute,
    numbers={TEXT: (*(f"CoV[R'] for p^-{exponent:g}" for exponent in EXPONENTS), SLOW_START)},
    draw=_draw,
    headline=True,
)
