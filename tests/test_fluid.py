"""The fluid cycle against numbers that were worked out independently, and against itself."""

import math
from functools import partial

import pytest

from ackclock.models import fluid, illinois

# 100 Mbit/s, RTT 100 ms, 100 packets of 1000 bytes.
LINK = {"capacity": 12500.0, "buffer": 100.0, "rtt_s": 0.1}


@pytest.mark.parametrize(
    ("alpha", "beta", "round_trips", "used_share"),
    [
        (fluid.reno_alpha, 0.5, 675, 0.805),
        (illinois.alpha, 0.5, 556, 0.977),
        (illinois.alpha, 0.125, 503, 0.9996),
    ],
)
def test_anchors_of_figure_8(alpha, beta, round_trips, used_share):
    cycle = fluid.cycle(alpha, beta, **LINK)
    assert cycle.round_trips == pytest.approx(round_trips, rel=0.03)
    assert cycle.used_share == pytest.approx(used_share, rel=0.003)


@pytest.mark.parametrize(("buffer", "round_trips"), [(10, 26), (20, 101), (30, 143), (40, 200), (50, 246)])
def test_anchors_of_figure_10(buffer, round_trips):
    cycle = fluid.cycle(illinois.alpha, 0.5, 1250.0, buffer, 0.06)
    assert cycle.round_trips == pytest.approx(round_trips, rel=0.03)


def test_reno_by_hand():
    # W_max = 1250 + 100 = 1350: 675 round trips from 675 on. Below 1250 each takes 0.1 s (575 of
    # them); above, 0.1 s + q/12500 for q from 0 to 99: 100 * 0.1 + 4950/12500 = 10.396 s.
    cycle = fluid.cycle(fluid.reno_alpha, 0.5, **LINK)
    assert cycle.round_trips == 675
    assert cycle.length_s == pytest.approx(57.5 + 10.396)
    # W from 675 to 1250 fills (675 + 1250)/2/1250 = 0.77 for 57.5 s, the rest all.
    assert cycle.used_share == pytest.approx((0.77 * 57.5 + 10.396) / 67.896)


def test_illinois_alpha_is_the_test_vector_of_the_paper():
    # Standard parameters: k2 = 0, k1 = 0.1 dm, so alpha = 0.1 dm/da above d1 = 0.01 dm.
    dm = 0.04
    assert illinois.alpha(0.0, dm) == 10.0
    assert illinois.alpha(0.01 * dm, dm) == 10.0
    assert illinois.alpha(0.02 * dm, dm) == pytest.approx(5.0)
    assert illinois.alpha(0.5 * dm, dm) == pytest.approx(0.2)
    assert illinois.alpha(dm, dm) == pytest.approx(0.1)
    # eta1 = 0.2: k1 = 0.0808 dm, k2 = -0.1919 dm, so alpha(dm/2) = 0.0808/0.3081.
    half = illinois.alpha(0.5 * dm, dm, illinois.Parameters(eta1=0.2))
    assert half == pytest.approx(0.0808 / 0.3081, rel=1e-3)


def test_packets_in_trains():
    # No queue but the train's own: alpha = 0.1 B/(alpha/2), so alpha = sqrt(0.2 B); B = 100 gives
    # sqrt(20) = 4.47. With a queue of q: alpha = sqrt(q^2 + 20) - q; q = 40 gives 0.249.
    alpha = fluid.in_trains(illinois.alpha, 12500.0)
    assert alpha(0.0, 0.008) == pytest.approx(20**0.5)
    assert alpha(40 / 12500, 0.008) == pytest.approx(1620**0.5 - 40)
    # Reno's increase does not depend on the delay.
    assert fluid.in_trains(fluid.reno_alpha, 12500.0)(0.0, 0.008) == pytest.approx(1.0)


def test_near_parabola():
    # alpha = 0.1 B/q, so q^2 grows by 0.2 B + alpha^2 per round trip; from q0 = 10 to 50 at
    # B = 50 that are (2500 - 100)/10 = 240 round trips, less a little for alpha^2 <= 0.25.
    cycle = fluid.cycle(illinois.alpha, 0.5, 1250.0, 50.0, 0.06)
    queue = cycle.window - 75.0
    assert (queue >= 10).sum() == pytest.approx(240, abs=4)


def test_aimd_far_below_the_buffer_is_the_square_root_law():
    # No queue to speak of: from (1-b)W to W at alpha per round trip takes b W/alpha round trips.
    cycle = fluid.cycle(partial(lambda _delay, _largest: 2.0), 0.25, 1000.0, 0.001, 1.0)
    assert cycle.round_trips == pytest.approx(0.25 * 1000 / 2, rel=1e-3)
    assert math.isclose(cycle.used_share, 0.875, rel_tol=1e-3)
