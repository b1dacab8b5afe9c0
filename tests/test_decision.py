"""The rules of decision, against arithmetic and against how often they are wrong."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.decision import (
    Compared,
    Estimate,
    apart,
    chance_decided,
    chance_wrong,
    exact_share,
    expected_wrong,
    is_narrow,
    lies_in,
    over_runs,
    quotient,
    ratio_of_means,
    runs_to_decide,
    wants_more,
    within,
)

POSITIVE = st.lists(
    st.tuples(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3)),
    min_size=2,
    max_size=9,
    unique_by=lambda pair: pair[0],
)


@given(POSITIVE)
def test_a_ratio_is_positive_and_its_inverse_is_the_ratio_the_other_way_round(pairs):
    above, below = zip(*pairs, strict=True)
    forward, back = ratio_of_means(above, below), ratio_of_means(below, above)
    assert 0 <= forward.low <= forward.value <= forward.high
    # Logarithms have no direction: 1/x lies where x lies.
    assert forward.value == pytest.approx(1 / back.value)
    assert forward.low == pytest.approx(1 / back.high, rel=1e-9)


def test_what_two_numbers_of_a_run_have_in_common_cancels():
    # In every run one is three times the other, however much the runs differ.
    ratio = ratio_of_means([3.0, 30.0, 6.0], [1.0, 10.0, 2.0])
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((3, 3, 3))


def test_one_run_near_zero_does_not_decide_a_ratio():
    # 5, 5 and 5 over 1, 1 and 0.01: the mean of the ratios is 170, the ratio of the means 5 / 0.67.
    assert ratio_of_means([5, 5, 5], [1, 1, 0.01]).value == pytest.approx(15 / 2.01)


@pytest.mark.parametrize(
    ("above", "below", "value"),
    [
        ([1, 1], [0, 0], math.inf),
        ([0, 0], [1, 2], 0.0),
        ([0], [0], math.nan),
        ([math.inf, 1], [1, 1], math.inf),
    ],
)
def test_ratios_at_their_ends(above, below, value):
    ratio = ratio_of_means(above, below)
    assert ratio.value == pytest.approx(value, nan_ok=True)
    assert math.isnan(ratio.low) or ratio.low == ratio.high == 0


def test_a_ratio_of_negative_numbers_is_refused():
    with pytest.raises(ValueError, match="cannot be negative"):
        ratio_of_means([1, -1], [1, 1])


def test_a_quotient_covers_as_often_as_it_says():
    # Two independent means of 8 runs, 5 and 2 with a spread of 30 % each: 2.5. Of 2000 intervals at
    # 95 % about 100 miss, give or take 10; a straight sum of widths is a little wider than that.
    random = np.random.default_rng(5)
    hits = 0
    for _ in range(2000):
        above, below = random.normal(5, 1.5, 8), random.normal(2, 0.6, 8)
        estimate = quotient(over_runs(above), over_runs(below))
        hits += estimate.low <= 2.5 <= estimate.high
    assert 1870 <= hits <= 1985


def test_a_quotient_of_a_negative_number_has_no_interval():
    # Its logarithm has none. It was "0 [0, 0]", as sure as can be.
    estimate = quotient(Estimate(-1.0, -3.0, 1.0, 3), Estimate(2.0, 1.0, 3.0, 3))
    assert (estimate.value, estimate.samples) == (-0.5, 3)
    assert np.isnan([estimate.low, estimate.high]).all()


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # The exact interval's end p of 0 of n solves (1 - p)^n = 0.025.
        (0, 10, 0.0, 1 - 0.025**0.1),
        (10, 10, 0.025**0.1, 1.0),
        # Of 1 of 2: 1 - (1 - p)^2 = 0.025 below, and its mirror image above.
        (1, 2, 1 - 0.975**0.5, 0.975**0.5),
    ],
)
def test_exact_shares(successes, trials, low, high):
    share = exact_share(successes, trials)
    assert (share.low, share.high) == pytest.approx((low, high))


def test_an_exact_share_covers_at_least_as_often_as_it_says():
    random = np.random.default_rng(6)
    for probability in (0.05, 0.3, 0.5):
        counts = random.binomial(12, probability, 2000)
        shares = {count: exact_share(count, 12) for count in range(13)}
        hits = sum(shares[count].low <= probability <= shares[count].high for count in counts)
        # At least 95 %, less three standard errors of 2000 draws: 3 * sqrt(0.05 * 0.95 / 2000) = 0.0146.
        assert hits / 2000 >= 0.95 - 0.0146


def test_an_end_at_a_bound_is_no_end():
    # A share of 0.0007, whose interval would reach below 0: it cannot be below the range 0 to 0.35.
    share = within(Estimate(0.0007, -0.0007, 0.0021, 20, error=0.0007), 0.0, 1.0)
    assert lies_in(share, 0.0, 0.35) is True
    assert chance_wrong(share, 0.0, 0.35) < 1e-12
    # A difference of the same size may be below 0.
    assert lies_in(Estimate(0.0007, -0.0007, 0.0021, 20, error=0.0007), 0.0, 0.35) is None


def test_answers_are_wrong_as_often_as_they_say():
    # The true number is 0, just outside of the range above 0: every decided claim there is wrong, in 2.5 % of
    # the draws on that side. The stated chance of an error is at most that.
    random = np.random.default_rng(7)
    stated, decided = [], 0
    for _ in range(4000):
        estimate = over_runs(random.normal(0, 1, 6))
        answer = lies_in(estimate, 0.0, math.inf)
        if answer:
            decided += 1
            stated.append(chance_wrong(estimate, 0.0, math.inf))
    # 100 of 4000 give or take three standard errors, 3 * sqrt(4000 * 0.025 * 0.975) = 30.
    assert 70 <= decided <= 130
    assert max(stated) <= 0.025
    assert expected_wrong([*stated, math.nan]) == pytest.approx(sum(stated))


def test_runs_go_to_what_they_can_decide():
    effect = Estimate(1.0, 0.5, 1.5, 5)
    near = Compared("undecided", 0.1, 8, identical=False, effect=effect)
    far = Compared("undecided", 0.9, 10_000, identical=False, effect=effect)
    assert wants_more(near, 5, 30, settled=False)
    assert not wants_more(far, 5, 30, settled=False)
    assert not wants_more(near, 30, 30, settled=False)
    # A worse verdict is confirmed by more runs, unless another comparison has settled the criterion.
    worse = Compared("worse", 0.01, None, identical=False, effect=effect)
    assert wants_more(worse, 5, 30, settled=False)
    assert not wants_more(worse, 5, 30, settled=True)
    assert not wants_more(Compared("undecided", 1.0, 8, identical=True, effect=effect), 5, 30, settled=False)


def test_a_mean_is_narrow_enough():
    # 9, 10 and 11: 4.303 / sqrt(3) = 2.48 to either side, a quarter of 10.
    assert is_narrow([9.0, 10.0, 11.0], 0.25)
    assert not is_narrow([9.0, 10.0, 11.0], 0.24)
    assert is_narrow([9.0], 0.01)


@pytest.mark.parametrize(("runs", "needed"), [(5, 20), (10, 60), (20, 40)])
def test_the_chance_of_a_decision_as_often_as_it_comes(runs: int, needed: int) -> None:
    # The true mean is normal around the mean of the present runs, and further runs are drawn around it.
    rng = np.random.default_rng(1986)
    trials, most = 40_000, 30
    true = rng.normal(2 / needed**0.5, runs**-0.5, trials)
    others = rng.normal(true, (most - runs) ** -0.5)
    after = (runs * 2 / needed**0.5 + (most - runs) * others) / most
    decided = float(np.mean(after > 2 / most**0.5))
    # Four standard errors of a share of 40 000.
    assert chance_decided(runs, needed, most) == pytest.approx(decided, abs=4 * 0.5 / trials**0.5)


def test_the_chance_of_a_decision_by_hand() -> None:
    # As many runs needed as there may be: the mean comes to lie on either side as likely.
    assert chance_decided(10, 30, 30) == pytest.approx(0.5)
    # Just at the margin 2/sqrt(30) = 0.365 spreads are to go. From the fifth to the thirtieth run
    # the mean moves by sqrt(1/5 - 1/30) = 0.408, from the 25th by 0.0816 spreads.
    few, many = (NormalDist().cdf(-0.36515 / moved) for moved in (0.40825, 0.08165))
    assert chance_decided(5, 10**12, 30) == pytest.approx(few, rel=1e-3)
    assert chance_decided(25, 10**12, 30) == pytest.approx(many, rel=1e-3)


@pytest.mark.parametrize(("effect", "needed"), [(1.0, 10), (0.8, 15), (0.5, 34)])
def test_runs_that_decide_as_in_the_tables(effect: float, needed: int) -> None:
    # Cohen, Statistical Power Analysis, 1988, for one sample: 0.05 on two sides, power 0.8. The distance
    # of a pilot of five runs is in standard errors, of which a spread of a run has the root of five.
    assert runs_to_decide(effect * 5**0.5, 5, 100) == needed


def test_runs_that_decide_where_nothing_is_random_or_none_suffice() -> None:
    assert runs_to_decide(math.inf, 5, 100) == 2
    assert runs_to_decide(0.0, 5, 100) is None
    # 34 would.
    assert runs_to_decide(0.5 * 5**0.5, 5, 33) is None


def test_planned_runs_decide_as_often_as_planned() -> None:
    # Ten runs of a number one deviation from its limit decide in four of five draws.
    random = np.random.default_rng(8)
    draws = [lies_in(over_runs(random.normal(1, 1, 10)), 0.0, math.inf) for _ in range(3000)]
    # The power of 10 runs is 0.803; three standard errors of 3000 draws are 0.022.
    assert np.mean([draw is True for draw in draws]) == pytest.approx(0.803, abs=0.022)


def test_how_far_a_number_is_from_an_end() -> None:
    number = Estimate(2.5, 0.24, 4.76, 10, error=0.5)
    assert apart(number, 0.0, 4.0) == 3.0
    # Nothing can be beyond a bound of the number.
    assert apart(within(number, least=0.0), 0.0, math.inf) == math.inf
