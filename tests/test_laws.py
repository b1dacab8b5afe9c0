"""Window laws by quadrature against counted rounds, closed forms and published numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.models import laws, periods, responses, unfairness


def counted_rounds(window, increase, cut):
    """Whole round trips from just after a cut until the window is there again."""
    w, rounds = window * (1 - cut), 0
    while w < window:
        w, rounds = w + increase(w), rounds + 1
    return rounds


@pytest.mark.parametrize(("window", "rounds"), [(38, 19), (100, 31), (1000, 49), (10_000, 77), (83_000, 119)])
def test_hstcp_has_its_published_periods(window, rounds):
    # RFC 3649 gives 117 to 119 at 83000. Whole rounds are up to one more than a continuous time,
    # and a window that grows in steps lags behind one that grows all the time.
    counted = counted_rounds(window, lambda w: float(laws.hstcp_increase(w)), float(laws.hstcp_cut(window)))
    assert counted == rounds
    assert rounds - 2 < float(periods.hstcp(window)) <= rounds


def test_periods_of_the_other_controls():
    # Equation 2: W/2 for Reno. Equation 4: -ln 0.875/ln 1.01 = 13.42. Two modes at 83000:
    # ln(0.90/0.875)/ln 1.01 + 0.1 W = 2.83 + 8300; ln(0.95/0.875)/ln 1.01 + 0.05 W = 8.26 + 4150.
    assert float(periods.aimd(83_000)) == 41_500
    assert periods.mimd() == pytest.approx(13.42, abs=5e-3)
    assert float(periods.two_mode(83_000, 0.90)) == pytest.approx(8303, abs=1)
    assert float(periods.two_mode(83_000, 0.95)) == pytest.approx(4158, abs=1)
    # Equation 5 is equation 1 read backwards.
    assert float(periods.reachable_window(periods.aimd(700, 4, 0.3), 4, 0.3)) == pytest.approx(700)
    # By quadrature: Scalable's window grows as 1.01^n.
    assert laws.cycle(laws.scalable(), 500).round_trips == pytest.approx(periods.mimd(), rel=1e-6)


def bic_cycle(window, s_max, s_min, cut):
    """Round trips and packets of BI-TCP's cycle, counted round by round as its analysis has it."""
    w, rounds, packets = window * (1 - cut), 0, 0.0
    while window - w > s_min / 2:
        packets += w
        w += min(max((window - w) / 2, s_min), s_max)
        rounds += 1
    return rounds, packets


@pytest.mark.parametrize(("window", "within"), [(40, 0.15), (200, 0.08), (2000, 0.02), (50_000, 0.005)])
def test_bic_by_quadrature_is_its_counted_cycle(window, within):
    # The continuous law takes 1/ln 2 = 1.4 rounds where the counted one takes 1 or 2 at each end.
    rounds, packets = bic_cycle(window, 32, 0.01, 0.125)
    cycle = laws.cycle(laws.bic(), window)
    assert cycle.round_trips == pytest.approx(rounds, rel=within, abs=1.5)
    assert cycle.packets / cycle.round_trips == pytest.approx(packets / rounds, rel=0.01)


@pytest.mark.parametrize("p", [1e-3, 1e-5, 1e-7])
def test_closed_response_functions_solve_their_laws(p):
    for closed, law, within in (
        (responses.aimd(p, 32, 0.125), laws.aimd(32, 0.125), 1e-9),
        (responses.scalable(p), laws.scalable(), 1e-6),
        # Compound is Reno where that is more; at 1e-3 it is not.
        (responses.compound(p), laws.compound(), 1e-6),
        # 0.12/p^0.835 is the RFC's rounded form of its own a(w) and b(w).
        (responses.hstcp(p), laws.hstcp(), 0.05),
        # Whole rounds at the ends of its search, as above: 9 % where a cycle has 13 of them.
        (responses.bic(p), laws.bic(), 0.1),
    ):
        assert laws.response(law, p) == pytest.approx(float(closed), rel=within)


@given(st.floats(0.1, 50), st.floats(0.05, 0.9), st.floats(1.1, 8), st.floats(1e3, 1e6))
def test_synchronised_aimd_shares_as_the_square_of_the_round_trips(increase, cut, ratio, capacity):
    # W = a t/(b RTT), and the rate is (1 - b/2) W/RTT: both follow from equal times t.
    try:
        shares = laws.synchronised(laws.aimd(increase, cut), [0.05, 0.05 * ratio], capacity)
    except ValueError:
        # Windows are not followed below a packet: the long flow's, C RTT/(1 + ratio^2) at most.
        assert capacity * 0.05 * ratio / (1 + ratio**2) <= 1.01
    else:
        assert shares.rate[0] / shares.rate[1] == pytest.approx(ratio**2, rel=1e-6)
        assert shares.window[0] / shares.window[1] == pytest.approx(ratio, rel=1e-6)
        assert float((shares.window / [0.05, 0.05 * ratio]).sum()) == pytest.approx(capacity)
        assert shares.rate[0] == pytest.approx((1 - cut / 2) * shares.window[0] / 0.05, rel=1e-6)


def test_synchronised_bic_is_its_closed_form():
    rtt = (0.04, 0.12)
    shares = laws.synchronised(laws.bic(), rtt, 5e5)
    closed = float(unfairness.bic(rtt, shares.epoch_s, 32, 0.01))
    # The closed form has log2(2 S_max/S_min) = 12.6 rounds of search where the continuous law has
    # 11.6; the long flow's epoch has 40 rounds, 27.9 or 28.9 of them additive.
    assert shares.window[0] / shares.window[1] == pytest.approx(closed, rel=0.05)
    # It falls towards RTT2/RTT1 = 3 as the epoch grows.
    assert 3.0 < float(unfairness.bic(rtt, 1e4, 32, 0.01)) < 3.01


def test_synchronised_bic_with_small_windows():
    # Below 2 S_max/beta = 512 packets a gap halves per round trip: w grows as 2^(t/RTT).
    rtt = (0.04, 0.08)
    shares = laws.synchronised(laws.bic(s_max=1e6, low=1e-9), rtt, 5e3)
    closed = float(unfairness.bic_search(rtt, shares.epoch_s))
    assert shares.window[0] / shares.window[1] == pytest.approx(closed, rel=1e-3)


def test_synchronised_hstcp_between_its_asymptotes():
    # With p(w) = 0.078/w^1.2 a cycle takes w^0.2 (2 - b)/(2 * 0.078) round trips at the increase
    # of its end, so w ~ (t/RTT)^5; a b that falls with the window takes from the exponent.
    rtt = (0.04, 0.12)
    shares = laws.synchronised(laws.hstcp(), rtt, 1e7)
    ratio = shares.window[0] / shares.window[1]
    assert 3**4 < ratio < 3**5
    assert float(unfairness.of_exponent(3, 0.82)) == pytest.approx(3**5.56, rel=0.01)


def test_a_capacity_that_no_window_fits_is_refused():
    with pytest.raises(ValueError, match="windows of 1 to 1e9"):
        laws.synchronised(laws.aimd(1, 0.5), [0.04, 0.12], 1.0)


def test_scalable_does_not_converge():
    with pytest.raises(ValueError, match="do not converge"):
        laws.synchronised(laws.scalable(), [0.04, 0.12], 1e5)
    with pytest.raises(ValueError, match="d < 1"):
        unfairness.of_exponent(3, 1.0)


def test_table_2_of_fit_is_the_ratio_of_its_throughputs():
    # The column eta against the column T, each throughput per second at the same loss rate.
    delays, q, p = (0.05, 0.3), 0.02, 0.01

    def ratio(per_trip):
        return per_trip(delays[0]) / (delays[0] + q) / (per_trip(delays[1]) / (delays[1] + q))

    assert float(unfairness.reno(delays, q)) == pytest.approx(ratio(lambda _: responses.reno(p)))
    assert float(unfairness.veno(delays, q)) == pytest.approx(ratio(lambda _: responses.veno(p, 0.8)))
    assert float(unfairness.veno(delays, q, (0.8, 0.5))) == pytest.approx(
        responses.veno(p, 0.8) / (delays[0] + q) / (responses.veno(p, 0.5) / (delays[1] + q))
    )
    assert float(unfairness.westwood(delays, q, p)) == pytest.approx(
        float(ratio(lambda d: responses.westwood(p, d, q)))
    )
    assert float(ratio(lambda d: responses.vegas(20, d, q))) == pytest.approx(1.0)
    assert float(unfairness.compound(delays, q)) == pytest.approx((0.32 / 0.07) ** 2)
    # FIT: 1 with a fixed alpha. With the paper's own, q_m = 339 ms gives table III's 1.9 at 400
    # against 50 ms, and 1.13, 1.39 at 100 and 200 ms where the table has 1.17, 1.55.
    assert float(unfairness.fit((0.05, 0.4), 0.1)) == 1.0
    ratios = [float(unfairness.fit((0.05, d), 0.1, 0.339)) for d in (0.1, 0.2, 0.4)]
    assert ratios == pytest.approx([1.13, 1.39, 1.90], abs=5e-3)


def test_the_lowest_window_of_a_cycle_is_after_its_cut():
    assert np.isclose(laws.cycle(laws.aimd(2, 0.25), 80).round_trips, 10)
    assert np.isclose(laws.cycle(laws.aimd(2, 0.25), 80).packets, 10 * 70)
