"""Pure functions of a trace, against arithmetic by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock import metrics
from ackclock.metrics import Epoch


def test_epochs_merge_close_events_and_leave_out_slow_start():
    # 3.0, 3.1 and 3.2 are one congestion event, as each follows within 0.2. What is before 3.0 is
    # slow start; the epochs are 3.2-10 and 10-25.
    found = metrics.epochs([3.0, 3.1, 3.2, 10.0, 25.0], merge_within_s=0.2)
    assert found == [Epoch(3.2, 10.0), Epoch(10.0, 25.0)]
    assert [epoch.length_s for epoch in found] == pytest.approx([6.8, 15.0])


def test_epochs_start_where_measuring_starts():
    assert metrics.epochs([1.0, 5.0, 9.0], 0.2, from_s=2.0) == [Epoch(5.0, 9.0)]


@pytest.mark.parametrize("times", [[], [4.0]])
def test_fewer_than_two_events_have_no_epoch(times):
    assert metrics.epochs(times, 0.2) == []


def test_integral_of_a_line_between_samples():
    # value = 2t from 0 to 4: the integral from 1 to 3 is 9 - 1 = 8, the mean 8/2 = 4.
    time = [0.0, 2.5, 4.0]
    value = [0.0, 5.0, 8.0]
    assert metrics.integral(time, value, 1.0, 3.0) == pytest.approx(8.0)
    assert metrics.time_mean(time, value, 1.0, 3.0) == pytest.approx(4.0)


def test_cumulative():
    # Trapezoids: 0, then 2*(0+4)/2 = 4, then 4 + 1*(4+6)/2 = 9.
    assert metrics.cumulative([0, 2, 3], [0, 4, 6]).tolist() == [0.0, 4.0, 9.0]


def test_round_trips_are_the_integral_of_their_rate():
    # RTT 0.1 s for 2 s are 20 round trips.
    time = np.arange(0, 5, 0.5)
    assert metrics.round_trips(time, np.full(10, 0.1), Epoch(1.0, 3.0)) == pytest.approx(20.0)


def test_used_share_counts_no_more_than_the_product():
    # BDP 100: 50 for 1 s, 100 for 1 s, 150 for 1 s, steps 1 ms wide: (0.5 + 1 + 1)/3.
    time = [0, 1, 1.001, 2, 2.001, 3]
    window = [50, 50, 100, 100, 150, 150]
    assert metrics.used_share(time, window, 100.0, 0, 3) == pytest.approx(2.5 / 3, abs=1e-3)


def test_goodput_counts_intervals_that_end_inside():
    # (2 + 3) MB in 2 s are 5e6 * 8 / 2 = 20 Mbit/s; the interval that ends at 1 s is outside.
    assert metrics.goodput([1, 2, 3], [1e6, 2e6, 3e6], 1.0, 3.0) == pytest.approx(20.0)


def test_smoothing_keeps_a_line_and_lifts_a_parabola():
    # The mean of t^2 over [c - h, c + h] is c^2 + h^2/3.
    time = np.linspace(0, 10, 10001)
    at = np.array([3.0, 5.0])
    assert metrics.smooth(time, 7 * time, at, 1.0) == pytest.approx(7 * at)
    assert metrics.smooth(time, time**2, at, 1.0) == pytest.approx(at**2 + 0.25 / 3, rel=1e-6)


TIME = np.linspace(0, 100, 5001)


def bend(window, tolerance=0.01):
    """Judge a curve from 0 to 100 s without leaving out anything."""
    return metrics.curvature(
        TIME, window, Epoch(0.0, 100.0), skip_s=0.0, span_s=4.0, tolerance=tolerance
    )


def test_curves_of_known_sign():
    assert bend(100 * np.sqrt(TIME + 1)).concave == 1.0
    assert bend(TIME**2 + 100 * TIME).convex == 1.0
    assert bend(3 * TIME + 5).straight == 1.0


def test_cubic_is_concave_then_convex_by_halves():
    # The second derivative of (t - 50)^3 changes its sign at 50, the middle; around it, where the
    # slope is 3(t-50)^2, one span of 4 s is too coarse for a share exact to more than 0.05.
    found = bend((TIME - 50) ** 3)
    assert found.concave == pytest.approx(0.5, abs=0.05)
    assert found.convex == pytest.approx(0.5, abs=0.05)
    assert found.concave_at < 0.3 < 0.7 < found.convex_at


def test_small_bend_is_straight_only_within_the_tolerance():
    # Slope 1 before 50 s and 0.95 after: a change of 5 %.
    kink = np.minimum(TIME, 50 + 0.95 * (TIME - 50))
    assert bend(kink, tolerance=0.06).straight == 1.0
    assert bend(kink, tolerance=0.01).concave > 0.0
    assert bend(-kink, tolerance=0.01).convex > 0.0


def test_start_of_the_epoch_can_be_left_out():
    # Flat for 10 s, then rising: a convex corner at 10 s, gone when 15 s are left out.
    corner = np.maximum(TIME, 10.0)
    with_corner = metrics.curvature(
        TIME, corner, Epoch(0, 100), skip_s=0.0, span_s=4.0, tolerance=0.01
    )
    without = metrics.curvature(
        TIME, corner, Epoch(0, 100), skip_s=15.0, span_s=4.0, tolerance=0.01
    )
    assert with_corner.convex > 0
    assert (without.straight, without.convex) == (1.0, 0.0)


def test_steps_of_whole_packets_are_no_bends():
    # A line of 1 packet/s in whole packets differs from it by at most half a packet, and its mean
    # over 4 s by nothing that `least` = 0.25 packets would not cover.
    found = metrics.curvature(
        TIME, np.floor(TIME), Epoch(0, 100), skip_s=0, span_s=4.0, tolerance=0.0, least=0.25
    )
    assert found.straight == 1.0


def test_short_epoch_has_no_curvature():
    found = metrics.curvature(TIME, TIME, Epoch(0, 10), skip_s=0, span_s=4.0, tolerance=0.01)
    assert math.isnan(found.concave)


@given(
    st.floats(0.1, 1000), st.floats(-100, 100), st.floats(0.2, 3).filter(lambda p: abs(p - 1) > 0.1)
)
def test_shares_add_up_and_mirror(scale, offset, power):
    curve = offset + scale * (TIME + 1) ** power
    found, mirrored = bend(curve), bend(-curve)
    assert found.concave + found.straight + found.convex == pytest.approx(1.0)
    assert found.concave == pytest.approx(mirrored.convex, abs=0.02)
    assert (found.concave > found.convex) == (power < 1)
