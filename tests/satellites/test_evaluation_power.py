"""The shipped operating characteristics: their words, and what they must show."""

from pathlib import Path

import pytest

from ackclock_evaluate import power
from ackclock_evaluate.suites import chosen

CURVES = power.read()


@pytest.mark.parametrize(
    ("caught", "words"),
    [
        ([0.0, 0.5, 0.8, 1.0], "2 is found in 80%"),
        # A fault found at size 1.5 but not at 2 is not found reliably from 1.5 on.
        ([0.0, 0.9, 0.7, 1.0], "4 is found in 100%"),
        ([0.0, 0.1, 0.2, 0.79], "not found reliably"),
    ],
)
def test_the_least_size_that_is_found_reliably(caught: list[float], words: str) -> None:
    assert power.Curve("quick", "mixed", "alpha", [1, 1.5, 2, 4], caught, [1.0] * 4).words == words


def test_every_curve_is_of_a_criterion_and_its_shares_are_shares() -> None:
    known = {criterion.id for criterion in chosen(["rfc9743"]) if criterion.cells}
    assert CURVES
    for curve in CURVES:
        assert curve.criterion in known
        assert len(curve.sizes) == len(curve.caught) == len(curve.passed) > 1
        for caught, passed in zip(curve.caught, curve.passed, strict=True):
            assert 0 <= caught <= caught + passed <= 1


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: f"{curve.mode}, {curve.criterion}, {curve.fault}")
def test_honest_controls_pass_and_the_largest_fault_is_found(curve: power.Curve) -> None:
    # An honest control is worse in at most one of twenty evaluations.
    assert curve.caught[0] <= 0.05
    assert curve.caught[-1] >= power.OFTEN


def test_only_the_suite_that_was_measured_has_curves() -> None:
    assert power.of("late", "rfc9743", "quick")
    assert not power.of("late", "mine.toml", "quick")


def test_strips_need_no_inline_style() -> None:
    """The policy of a page lets no style of an element apply, so a height that stands there is none."""
    page = Path(power.__file__).with_name("templates") / "evaluation.html"
    assert " style=" not in page.read_text(encoding="utf-8")
