"""Appendices B and D: numbers of the text, by the models."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.draw.figure import Table
from ackclock.models import smoothness, timeouts
from ackclock.names import slug
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.claims.usual import mean, near

TEXT = "text"
LOSS, TIMEOUT = 0.2, 4.0
EXPONENTS = {1.5: 2.2, 2.5: 6.4}
"""CoV before smoothing that the text gives, by the exponent of the rate at high loss."""
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
    claims=(
        *(
            near(
                slug("rate-p", exponent, "cov-before-smoothing"),
                f"rate as p^-{exponent:g}: CoV before smoothing",
                mean(TEXT, f"CoV[R'] for p^-{exponent:g}"),
                value,
                within=0.1,
                why="'about', of a rounded loss rate of 'about 20 %'",
            )
            for exponent, value in EXPONENTS.items()
        ),
        near(
            "with-slow-start-in-chain-timeouts-cov-similar",
            "with slow start in the chain of timeouts the CoV is similar",
            mean(TEXT, SLOW_START),
            1.7,
            within=0.25,
            why="as near as the study's own values under 20 % of loss are",
            paper="'the result is similar', 1.7",
        ),
    ),
)
