"""The third verdict: where the 95 % interval contains both answers, nothing is decided."""

import pytest

from ackclock import metrics
from ackclock.metrics import Estimate
from ackclock.reproduction import claims, tried
from ackclock.reproduction.judge import single_runs
from ackclock.reproduction.numbers import Numbers


def said(claim):
    return claim.judge(None)


def number(value, half):
    return lambda _: Estimate(value, value - half, value + half, 5)


@pytest.mark.parametrize(
    ("value", "half", "holds", "undecided"),
    [
        # The target is 0.9 to 1.1.
        (1.0, 0.05, True, False),
        (1.08, 0.05, True, True),
        (1.13, 0.05, False, True),
        (1.3, 0.05, False, False),
        # Around all of the target: it may be inside or outside.
        (1.0, 0.5, True, True),
    ],
)
def test_a_number_beside_its_target(value, half, holds, undecided):
    claim = claims.near("a", "a", number(value, half), 1.0, within=0.1, why="round")
    judged = said(claim)
    assert (judged.holds, judged.undecided) == (holds, undecided)


def test_an_order():
    def order(*numbers):
        named = [(str(place), estimate) for place, estimate in enumerate(numbers)]
        judged = said(claims.ordered("falls", "falls", named))
        return judged.holds, judged.undecided

    # 3 +- 0.5 and 1 +- 0.5 differ by 2 +- 0.71; 2 and 1.5 by 0.5 +- 0.71.
    assert order(number(3, 0.5), number(1, 0.5)) == (True, False)
    assert order(number(2, 0.5), number(1.5, 0.5)) == (True, True)
    assert order(number(1.5, 0.5), number(2, 0.5)) == (False, True)
    # One neighbour that is certainly the wrong way round decides the whole.
    assert order(number(1, 0.5), number(3, 0.5), number(2.9, 0.5)) == (False, False)
    # The study's own case: 2.4 [-0.7, 5.5] above 0.63 [-1.6, 2.9].
    assert order(number(2.4, 3.1), number(0.63, 2.23)) == (True, True)


def test_numbers_without_an_interval_are_decided():
    nan = float("nan")
    claim = claims.near("a", "a", lambda _: Estimate(1.0, nan, nan, 1), 1.0, within=0.1, why="round")
    assert (said(claim).holds, said(claim).undecided) == (True, False)


def test_the_verdict_comes_before_the_others():
    key = ("figure", "claim")
    assert tried.judge(key, True, [], [], undecided=True).kind == "undecided"
    assert tried.judge(key, False, [], [], contradicted=True, undecided=True).kind == "undecided"
    assert tried.judge(key, True, [], []).kind == "reproduced"


def test_signs():
    assert metrics.sign(Estimate(1, 0.5, 1.5, 5)) == 1
    assert metrics.sign(Estimate(-1, -1.5, -0.5, 5)) == -1
    assert metrics.sign(Estimate(0, 0, 0, 5)) == 0
    assert metrics.sign(Estimate(0.2, -0.1, 0.5, 5)) is None


def test_a_claim_is_counted_in_as_many_runs_as_every_case_has():
    # 3, 5, 3 and 9 over 4, 4 and 4: above in the second of the three runs that both cases have.
    numbers = Numbers({"a": [{"x": x} for x in (3.0, 5.0, 3.0, 9.0)], "b": [{"x": 4.0}] * 3})
    above = claims.ordered("above", "above", [(case, claims.mean(case, "x")) for case in "ab"])
    count = single_runs(numbers, [above])["above"]
    assert (count.value, count.samples) == (pytest.approx(1 / 3), 3)
    assert single_runs(Numbers({"a": [{"x": 1.0}], "b": [{"x": 2.0}] * 3}), [above]) == {}
