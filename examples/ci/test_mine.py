"""The control must not get worse than the version whose evaluation is kept in ``baseline``."""

import ackclock


def test_the_control_is_not_worse_than_the_kept_version() -> None:
    """Evaluate it by two criteria, and compare each with the kept version."""
    evaluation = ackclock.evaluate("mine:Gentle", only=["wired", "loss"], baseline="baseline")
    worse = [result.criterion.id for result in evaluation.versions if result.verdict == "worse"]
    assert not worse, f"worse in {worse}: see results/evaluation=mine-gentle/index.html"
