"""The distributions of the extension, next to those of SciPy."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import special

from ackclock.decision import distributions

DEGREES = (1.0, 1.5, 2.0, 2.7, 3.0, 4.0, 7.3, 9.0, 19.0, 33.0, 58.0, 100.0, 499.0)
LEVELS = (1e-4, 0.0025, 0.005, 0.025, 0.05, 0.2, 0.4, 0.6, 0.95, 0.975, 0.995, 0.9975, 0.9999)
NUMBERS = (-50.0, -8.0, -3.0, -1.0, -0.1, 0.0, 0.5, 2.0, 10.0)
SHARES = np.linspace(0.01, 0.99, 40)
# Numbers are printed with four digits; nine are enough for every decision.
SAME = 1e-9


@pytest.mark.parametrize("degrees", DEGREES)
def test_students_distribution(degrees: float) -> None:
    for level in LEVELS:
        quantile = distributions.student_quantile(degrees, level)
        assert quantile == pytest.approx(special.stdtrit(degrees, level), rel=SAME)
    for number in NUMBERS:
        assert distributions.student_below(degrees, number) == pytest.approx(
            special.stdtr(degrees, number), rel=SAME
        )


@pytest.mark.parametrize("degrees", DEGREES)
def test_gamma_and_chi_squared_distributions(degrees: float) -> None:
    quantiles = distributions.gamma_quantiles(degrees / 2, SHARES)
    # The root of a quantile is what counts, the scatter of a sample.
    assert np.sqrt(quantiles) == pytest.approx(np.sqrt(special.gammaincinv(degrees / 2, SHARES)), rel=1e-8)
    for number in (1e-8, 0.1, 1.0, 5.0, 30.0, 200.0):
        assert distributions.chi_squared_above(degrees, number) == pytest.approx(
            special.chdtrc(degrees, number), rel=SAME
        )


def test_normal_distribution() -> None:
    numbers = np.linspace(-30, 9, 400).reshape(20, 20)
    assert distributions.normal_below(numbers) == pytest.approx(special.ndtr(numbers), rel=1e-12)
    # A view whose rows are not next to each other.
    assert (distributions.normal_below(numbers.T[::2]) == distributions.normal_below(numbers)[:, ::2].T).all()


@pytest.mark.parametrize("runs", [1, 5, 30, 1000])
def test_beta_distribution(runs: int) -> None:
    for successes in {1, runs // 2 + 1, runs}:
        for level in LEVELS:
            quantile = distributions.beta_quantile(successes, runs - successes + 1, level)
            assert quantile == pytest.approx(
                special.betaincinv(successes, runs - successes + 1, level), rel=SAME
            )


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (distributions.student_quantile, (4.0, 1.5)),
        (distributions.student_quantile, (4.0, math.nan)),
        (distributions.student_quantile, (-1.0, 0.5)),
        (distributions.student_below, (math.nan, 1.0)),
        (distributions.chi_squared_above, (0.0, 1.0)),
        (distributions.beta_quantile, (0.0, 1.0, 0.5)),
    ],
)
def test_what_does_not_exist_is_not_a_number(function: Callable[..., float], arguments: tuple[float]) -> None:
    assert math.isnan(function(*arguments))


def test_the_ends_of_students_distribution() -> None:
    assert distributions.student_quantile(4.0, 1.0) == math.inf
    assert distributions.student_quantile(4.0, 0.0) == -math.inf
    assert distributions.student_below(4.0, -math.inf) == 0
