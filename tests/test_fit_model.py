"""The throughput model of TCP-FIT: its closed forms against the equations that they solve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import fsolve

from ackclock.models import fit, responses


@given(st.floats(1e-5, 0.1), st.integers(1, 20))
def test_mean_window_and_rounds_solve_the_balance_of_a_period(g, n):
    # Equation 8 on average: W = (1 - beta) W + N X. Equation 9: the packets up to the loss and
    # those of the round after it, (1 - g)/g + W, are X ((1 - beta) W + N (X - 1)/2) + W/2.
    beta = 2 / (3 * n + 1)

    def balance(unknown):
        w, x = np.exp(unknown)
        return [
            beta * w / (n * x) - 1,
            (x * ((1 - beta) * w + n * (x - 1) / 2) + w / 2) / ((1 - g) / g + w) - 1,
        ]

    start = n * np.sqrt(1.5 / g)
    w, x = np.exp(fsolve(balance, np.log([start, beta * start / n + 0.1])))
    assert float(fit.mean_window(g, n)) == pytest.approx(w, rel=1e-6)
    assert float(fit.mean_rounds(g, n)) == pytest.approx(x, rel=1e-6)
    # Equations 13 to 15: a period takes one round more.
    assert float(fit.throughput(g, 0.1, n)) == pytest.approx(((1 - g) / g + w) / (x + 1) / 0.1)


def test_low_loss_limit_is_n_renos():
    for n in (1, 3, 10):
        ratio = fit.throughput(1e-9, 0.08, n) / (n * responses.reno(1e-9) / 0.08)
        assert float(ratio) == pytest.approx(1, abs=1e-3)
    # MulTCP's 1/(2N) in its place: sqrt((4N - 1)/(3N)), 1.155 in the limit of many sessions.
    multcp = fit.throughput(1e-10, 1.0, 100, cut_share=1 / 200)
    assert float(multcp / fit.throughput_at_low_loss(1e-10, 1.0, 100)) == pytest.approx(
        np.sqrt(399 / 300), rel=5e-3
    )


def test_sessions_rest_where_the_update_rule_does():
    # The rule compares Q = (D + q - D)/(D + q) w with alpha w/N: equal at N = alpha (D + q)/q.
    alpha, d, q = 0.4, 0.1, 0.01
    n = float(fit.mean_sessions(alpha, d, q))
    assert q / (d + q) == pytest.approx(alpha / n)
    assert float(fit.mean_sessions(alpha, d, 1.0)) == 1.0
    assert float(fit.mean_sessions(alpha, d, 0.0)) == np.inf


@given(st.floats(1e-4, 0.05), st.floats(0.01, 0.5), st.floats(100, 1e5), st.floats(0.05, 0.95))
def test_queueing_at_capacity_makes_equation_19_the_capacity(p, d, capacity, alpha):
    q = fit.queueing_at_capacity(p, d, capacity, alpha)
    if q == 0:
        # Reno alone fills the link without a queue.
        assert np.sqrt(1.5 / p) / d >= capacity
    elif float(fit.mean_sessions(alpha, d, q)) > 1:
        assert float(fit.estimated_throughput(p, d, q, alpha)) == pytest.approx(capacity)


def test_states_of_a_link():
    # 1000 packets/s for 0.1 s hold 100 packets, the buffer 50.
    states = [fit.link_state(packets, 1000, 0.1, 50) for packets in (99, 100, 150, 151)]
    assert states == ["a", "b", "b", "c"]


def test_theorem_1_fails_with_the_papers_own_alpha():
    # Without a queue rtt_max = rtt_min, so alpha is 0 and one session is all: the throughput stays
    # Reno's, however much capacity there is, and the link stays in state (a).
    alpha = float(fit.own_alpha(0.1, 0.0))
    assert alpha == 0.0
    assert float(fit.mean_sessions(alpha, 0.1, 1e-6)) == 1.0
    rate = float(fit.estimated_throughput(1e-3, 0.1, 1e-6, alpha))
    assert fit.link_state(rate * 0.1, 1e6, 0.1, 100) == "a"
    # With a fixed alpha the theorem holds: any queue short enough asks for more than the capacity.
    assert float(fit.estimated_throughput(1e-3, 0.1, 1e-9, 0.5)) > 1e6
