"""Response functions against published numbers and against cycles counted step by step."""

import numpy as np
import pytest

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
    assert counted(increase, 1 - cut, p) == pytest.approx(
        float(responses.aimd(p, increase, cut)), rel=0.02
    )


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
    assert float(responses.multcp(1e-3, 2) / responses.reno(1e-3) / 2) == pytest.approx(
        1.080, abs=5e-4
    )
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
