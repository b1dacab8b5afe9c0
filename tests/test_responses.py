"""Response functions against published numbers and against cycles counted step by step."""

import numpy as np
import pytest
from scipy.optimize import brentq

from ackclock.models import responses


def counted(increase, keep, p, growth=None):
    """Packets per round trip of the deterministic cycle, counted in steps of 1/64 of a round trip.

    It starts anywhere and runs until cycles repeat: 1/p packets, then a decrease.
    """
    step = 1 / 64
    window, sent, rounds, cycle = 50.0, 0.0, 0.0, []
    while len(cycle) < 60:
        window += step * (growth(window) if growth else increase)
        sent += step * window
        rounds += step
        if sent >= 1 / p:
            cycle.append((sent, rounds))
            window, sent, rounds = keep * window, 0.0, 0.0
    packets, rounds = np.sum(cycle[30:], axis=0)
    return packets / rounds


@pytest.mark.parametrize("p", [1e-3, 1e-4])
@pytest.mark.parametrize(("increase", "cut"), [(1, 0.5), (0.31, 0.125), (4, 0.125), (32, 0.125)])
def test_aimd_is_its_cycle(p, increase, cut):
    # The steps make W up to increase/64 too large, and the last step overshoots 1/p by W/64.
    assert counted(increase, 1 - cut, p) == pytest.approx(float(responses.aimd(p, increase, cut)), rel=0.02)


@pytest.mark.parametrize("p", [1e-3, 1e-4])
def test_scalable_is_its_cycle(p):
    # Per step the window grows by (1.01^(1/64) - 1) W, so that a round trip gives 1 %.
    rate = 64 * (1.01 ** (1 / 64) - 1)
    got = counted(0, 0.875, p, growth=lambda window: rate * window)
    assert got == pytest.approx(float(responses.scalable(p)), rel=0.01)


def test_known_values():
    assert float(responses.reno(1e-4)) == pytest.approx(122.47, abs=0.01)  # sqrt(1.5e4)
    # RFC 3649, section 5: 83000 packets at 1e-7 by design; its 0.12/p^0.835 gives 84000.
    assert float(responses.hstcp(1e-7)) == pytest.approx(83_000, rel=0.02)
    # Over N Renos: sqrt((4N - 1)/(3N)) = 1.08 at N = 2.
    assert float(responses.multcp(1e-3, 2) / responses.reno(1e-3) / 2) == pytest.approx(1.080, abs=5e-4)
    # Kelly: a cycle of 13.4 round trips.
    assert float(responses.scalable(1.0)) == pytest.approx(1 / 13.4, rel=3e-3)


def test_cubic_is_the_table_of_its_rfc():
    p = 10.0 ** -np.arange(2, 9)
    # RFC 9438, section 5.1, C = 0.4.
    tenth = [12, 38, 187, 1054, 5926, 33325, 187400]
    hundredth = [12, 38, 120, 379, 1200, 5926, 33325]
    np.testing.assert_allclose(responses.cubic(p, 0.1), tenth, rtol=0.03)
    # At 1e-6 the cubic alone gives 1054, Reno 1225; the table has 1200.
    np.testing.assert_allclose(responses.cubic(p, 0.01), hundredth, rtol=0.03)


def test_bic_has_its_anchors():
    p = np.array([1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 3.5e-8])
    anchors = [83.0, 655.7, 3646, 14118, 47581, 81393]
    np.testing.assert_allclose(responses.bic(p), anchors, rtol=1e-3)


def test_fit_over_its_leading_order():
    # Equation 15 over N sqrt(3/(2g)): 0.994 to 0.972 at 1e-3 for N = 1 to 5; 1.05 at 1e-2, N = 10.
    def ratio(g, n):
        return float(responses.fit(g, n) / (n * responses.reno(g)))

    assert ratio(1e-3, 1) == pytest.approx(0.994, abs=2e-3)
    assert ratio(1e-3, 5) == pytest.approx(0.972, abs=2e-3)
    assert ratio(1e-2, 10) == pytest.approx(1.05, abs=5e-3)


def crossing(first, second, low, high):
    """Give p where two response functions are equal, and the rate there."""
    p = brentq(lambda p: float(first(p)) - float(second(p)), low, high)
    return p, float(second(p))


def test_crossings_of_figure_8_of_bic():
    # Reno's sqrt(3/(2p)) crosses BI-TCP at 14.28 packets, p = 7.36e-3. HSTCP as 0.15/p^0.82 crosses
    # 1.2/sqrt(p), as RFC 3649 rounds it, at 31.
    def bic_window(p):
        return responses.bic(p, low=0)

    p, rate = crossing(bic_window, responses.reno, 1e-3, 5e-2)
    assert (p, rate) == (pytest.approx(7.36e-3, rel=0.01), pytest.approx(14.28, rel=0.01))
    hstcp = crossing(lambda p: responses.power(p, 0.15, 0.82), lambda p: 1.2 / p**0.5, 1e-4, 1e-1)
    assert hstcp[1] == pytest.approx(31, rel=0.01)


def test_bic_beside_the_others():
    # Under AIMD(32, 0.125) by 26 % at 1e-5, 9 % at 1e-6, 3 % at 1e-7; at 1e-8 1.5e5 against
    # HSTCP's 5.4e5 and Scalable's 8e6. 10 Gbit/s at 100 ms are 83333 packets of 1500 bytes: p about
    # 3.5e-8, HSTCP 1e-7.
    p = np.array([1e-5, 1e-6, 1e-7])
    less = 1 - responses.bic(p) / responses.aimd(p, 32, 0.125)
    np.testing.assert_allclose(less, [0.26, 0.09, 0.03], atol=0.005)
    assert float(responses.bic(1e-8)) == pytest.approx(1.5e5, rel=0.03)
    assert float(responses.power(1e-8, 0.15, 0.82)) == pytest.approx(5.4e5, rel=0.03)
    assert float(responses.scalable(1e-8)) == pytest.approx(8e6, rel=0.1)
    assert float(responses.bic(3.5e-8)) == pytest.approx(83_333, rel=0.03)
    assert float(responses.power(1e-7, 0.15, 0.82)) == pytest.approx(83_333, rel=0.05)


def test_compound_in_its_limits():
    # L(1, 1/2, 0) = sqrt(3/2) is Reno; L(1/8, 1/2, 3/4) = 0.2553.
    p = 1e-4
    assert float(responses.compound(p, 1, 0.5, 0)) == pytest.approx(float(responses.reno(p)))
    assert float(responses.compound(p)) * p**0.8 == pytest.approx(0.2553, abs=5e-5)


def test_westwood_and_vegas_by_their_equilibrium():
    # Westwood: of its packets 1 - p are acknowledged and add 1/w; p are lost, and the window falls
    # to what (1 - p) w/(D + q) packets/s fill in D: by w (q + p D)/(D + q).
    p, d, q = 0.01, 0.1, 0.03
    w = float(responses.westwood(p, d, q))
    assert (1 - p) / w == pytest.approx(p * w * (q + p * d) / (d + q))
    # Without queueing it hardly slows down: sqrt(1 - p)/p.
    assert float(responses.westwood(p, d, 0.0)) == pytest.approx(np.sqrt(1 - p) / p)
    # Vegas: w q/(D + q) packets wait.
    w = float(responses.vegas(20, d, q))
    assert w * q / (d + q) == pytest.approx(20)
