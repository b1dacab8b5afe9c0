"""Pure functions of a trace, against arithmetic by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ackclock
from ackclock import metrics
from ackclock.decision import intervals
from ackclock.metrics import Epoch, congestion
from ackclock_papers.illinois import measure


def test_epochs_merge_close_events_and_leave_out_slow_start():
    # 3.0, 3.1 and 3.2 are one congestion event, as each follows within 0.2. What is before 3.0 is
    # slow start; the epochs are 3.2-10 and 10-25.
    epochs = metrics.epochs([3.0, 3.1, 3.2, 10.0, 25.0], merge_within_s=0.2)
    assert epochs == [Epoch(3.2, 10.0), Epoch(10.0, 25.0)]
    assert [epoch.length_s for epoch in epochs] == pytest.approx([6.8, 15.0])


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


def bend(window, tolerance=0.01, time=TIME, rtt_s=None, **options):
    """Judge a curve from 0 to the end of the time, part by part, with round trips of 1 s by default."""
    settings = {
        "skip_round_trips": 0.0,
        "span_round_trips": 4.0,
        "whole_tolerance": math.inf,
        "opposite": 0.0,
    }
    rtts = np.ones(len(time)) if rtt_s is None else rtt_s
    epoch = Epoch(0.0, float(time[-1]))
    return metrics.curvature(time, window, rtts, epoch, tolerance=tolerance, **settings | options)


def test_curves_of_known_sign():
    assert bend(100 * np.sqrt(TIME + 1)).concave == 1.0
    assert bend(TIME**2 + 100 * TIME).convex == 1.0
    assert bend(3 * TIME + 5).straight == 1.0


def test_cubic_is_concave_then_convex_by_halves():
    # The second derivative of (t - 50)^3 changes its sign at 50, the middle; around it, where the
    # slope is 3(t-50)^2, one span of 4 s is too coarse for a share exact to more than 0.05.
    shape = bend((TIME - 50) ** 3)
    assert shape.concave == pytest.approx(0.5, abs=0.05)
    assert shape.convex == pytest.approx(0.5, abs=0.05)
    assert shape.concave_at < 0.3 < 0.7 < shape.convex_at


def test_small_bend_is_straight_only_within_the_tolerance():
    # Slope 1 before 50 s and 0.95 after: a change of 5 %.
    kink = np.minimum(TIME, 50 + 0.95 * (TIME - 50))
    assert bend(kink, tolerance=0.06).straight == 1.0
    assert bend(kink, tolerance=0.01).concave > 0.0
    assert bend(-kink, tolerance=0.01).convex > 0.0


def test_start_of_the_epoch_can_be_left_out():
    # Flat for 10 s, then rising: a convex corner at 10 s, gone when 15 s are left out.
    corner = np.maximum(TIME, 10.0)
    with_corner, without = (bend(corner, skip_round_trips=skip) for skip in (0.0, 15.0))
    assert with_corner.convex > 0
    assert (without.straight, without.convex) == (1.0, 0.0)


def test_steps_of_whole_packets_are_no_bends():
    # A line of 1 packet/s in whole packets differs from it by at most half a packet, and its mean
    # over 4 s by nothing that `least` = 0.25 packets would not cover.
    assert bend(np.floor(TIME), tolerance=0.0, least=0.25).straight == 1.0


def test_short_epoch_has_no_curvature():
    shape = bend(np.linspace(0, 10, 501), time=np.linspace(0, 10, 501))
    assert math.isnan(shape.concave)


def grown(increase, start, top):
    """Return round trips and windows that grow by `increase(window)` per round trip from `start` to `top`."""
    step, windows = 0.02, [float(start)]
    while windows[-1] < top:
        half = windows[-1] + step / 2 * increase(windows[-1])
        windows.append(windows[-1] + step * increase(half))
    return step * np.arange(len(windows)), np.array(windows)


def judged(curve):
    """Judge a curve as figure 8 of TCP-Illinois is judged; its time is in round trips."""
    time, window = curve
    return bend(
        window,
        measure.TOLERANCE,
        time,
        skip_round_trips=measure.RECOVERY_RTTS,
        span_round_trips=max(1, measure.SMOOTH_SHARE * time[-1]),
        whole_tolerance=measure.WHOLE_TOLERANCE,
        opposite=measure.OPPOSITE,
        least=measure.LEAST,
    )


W, B = 1350, 100
"""Largest window of figure 8: 1250 packets on the path, 100 in the buffer."""
RFC_3649 = ([851, 1058, 1284, 1529], [7, 8, 9, 10])
"""Windows w and increases a(w) of RFC 3649, appendix B."""
CUT_1350 = 0.317
"""b(1350) there: 0.32 at 1284, 0.31 at 1529."""


def exponential(bend):
    """Return an exponential over 100 round trips.

    Three are left out, and a moving average over 4 takes 2 at each end. Between the centres of the outer
    thirds of the other 93 its slope is multiplied by 1/(1 - bend).
    """
    growth = -np.log(1 - bend) / (93 * 2 / 3)
    return TIME, 1000 * np.exp(growth * TIME) / growth


def upside_down(curve):
    """Turn a growing curve, so that it grows and its slope falls."""
    time, window = curve
    return time, -window[::-1]


def increase_of_a_straight_f1(window):
    """Return alpha, which falls from 10 to 0.1 in a straight line while the queue grows."""
    return 10 - 9.9 * max(window - (W - B), 0) / B


def with_noise(window):
    """Add a fraction of a packet that the samples do not show."""
    return window + np.random.default_rng(1).uniform(-0.5, 0.5, len(window))


@pytest.mark.parametrize(
    ("curve", "shape", "slope_change"),
    [
        # The window is multiplied by 1.01 per round trip, so that its slope is, too. From 0.875 W to W there
        # are ln(8/7)/ln(1.01) = 13.42 round trips, less 3 and a span of 1; the centres of the outer thirds
        # are 6.28 apart.
        (grown(lambda w: w * math.log(1.01), 0.875 * W, W), "convex", 1 - 1.01**-6.28),
        # From 922 to 1350 a(w) rises by 0.0045 per packet, from 7.34 to 9.27: in ln(9.27/7.34)/0.0045 = 52
        # round trips, less 3 and a span of 2; the centres of the outer thirds are 31.3 apart.
        (
            grown(lambda w: np.interp(w, *RFC_3649), W * (1 - CUT_1350), W),
            "convex",
            1 - math.exp(-0.0045 * 31.3),
        ),
        # The slope grows from 1 at 5 to 2 at 98: 7/6 and 11/6 in the centres of the outer thirds.
        ((TIME, TIME + (TIME - 5) ** 2 / 186), "convex", 4 / 11),
        # The slope grows tenfold.
        (exponential(1 - 10 ** (-2 / 3)), "convex", 1 - 10 ** (-2 / 3)),
        # Both sides of the limit: a slope that grows by less than 3 % and by more.
        (exponential(0.025), "straight", 0.025),
        (exponential(0.035), "convex", 0.035),
        (upside_down(exponential(0.025)), "straight", -0.025),
        (upside_down(exponential(0.035)), "concave", -0.035),
        # Reno's line: exact, in whole packets, and with noise.
        ((TIME, 675 + 6.75 * TIME), "straight", 0.0),
        ((TIME, np.floor(675 + 6.75 * TIME)), "straight", 0.0),
        ((TIME, with_noise(675 + 6.75 * TIME)), "straight", 0.0),
        # C-AIMD: straight for 57.5 round trips, until the path is full, and concave for 10 ln(100) = 46.
        (grown(increase_of_a_straight_f1, W / 2, W), "concave", None),
        # TCP-Illinois: as straight, and then alpha is 10/q: q^2 grows by 20 for 500 round trips.
        (grown(lambda w: min(10.0, 10 / max(w - (W - B), 1.0)), W / 2, W), "concave", None),
    ],
)
def test_shape_of_a_whole_epoch(curve, shape, slope_change):
    curvature = judged(curve)
    shares = {"concave": 0.0, "straight": 0.0, "convex": 0.0} | {shape: 1.0}
    assert {name: getattr(curvature, name) for name in shares} == shares
    if slope_change is not None:
        # The grid of quarter spans moves the limits of the thirds by 1 % of the epoch.
        assert curvature.bend == pytest.approx(slope_change, rel=0.05, abs=0.002)


def test_an_s_is_neither_concave_nor_convex():
    # CUBIC: the second derivative of (n - 50)^3 changes its sign at 50; the outer thirds are alike.
    cubic = judged((TIME, 1000 + 0.01 * (TIME - 50) ** 3))
    assert cubic.concave == pytest.approx(0.5, abs=0.06)
    assert cubic.convex == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize(("opposite", "straight"), [(0.05, 0.0), (0.01, 0.55)])
def test_a_small_part_may_bend_the_other_way(opposite, straight):
    # Convex for 3 of 100 round trips with a slope of 4 to 10, straight to 60, and then the slope falls to 0.
    slope = np.interp(TIME, [0, 3, 60, 100], [4.0, 10.0, 10.0, 0.0])
    window = np.concatenate(([0.0], np.cumsum((slope[1:] + slope[:-1]) / 2 * np.diff(TIME))))
    curvature = bend(window, span_round_trips=1.0, whole_tolerance=0.05, opposite=opposite)
    assert curvature.convex == pytest.approx(0.03, abs=0.015)
    assert curvature.straight == pytest.approx(straight, abs=0.03)
    assert curvature.concave == pytest.approx(1 - curvature.convex - curvature.straight)


def test_a_queue_bends_no_curve():
    # A packet per round trip on a path of 75 packets and a second: from there a round trip takes W/75 s, so
    # that in seconds the window grows as a square root. Its second difference is 0 per round trip.
    windows = np.linspace(62.5, 125, 5001)
    rtt_s = np.maximum(windows / 75, 1.0)
    time = np.concatenate(([0.0], np.cumsum((rtt_s[1:] + rtt_s[:-1]) / 2 * np.diff(windows))))
    options = {"span_round_trips": 2.5, "whole_tolerance": 0.05, "opposite": 0.05}
    assert bend(windows, time=time, rtt_s=rtt_s, **options).straight == 1.0
    assert bend(windows, time=time, rtt_s=np.ones(5001), **options).concave == 1.0


@given(st.floats(0.1, 1000), st.floats(-100, 100), st.floats(0.2, 3).filter(lambda p: abs(p - 1) > 0.1))
def test_shares_add_up_and_mirror(scale, offset, power):
    curve = offset + scale * (TIME + 1) ** power
    shape, mirrored = bend(curve), bend(-curve)
    assert shape.concave + shape.straight + shape.convex == pytest.approx(1.0)
    assert shape.concave == pytest.approx(mirrored.convex, abs=0.02)
    assert (shape.concave > shape.convex) == (power < 1)


def test_congestion_events_gather_what_is_close_to_their_beginning():
    # 1.0 to 1.15 began within 0.2 s of 1.0; 1.25 did not, so it begins another.
    events = metrics.congestion_events([1.0, 1.1, 1.15, 1.25], [0, 1, 1, 2], 0.2)
    assert events == [(1.0, frozenset({0, 1})), (1.25, frozenset({2}))]
    assert metrics.congestion_events([], [], 0.2) == []


def test_losing_flows_per_epoch():
    # Epochs of 1 s from 10 to 13 s: flows 0 and 1 (twice) in the first, none, flow 2; what is
    # outside does not count.
    time = [9.9, 10.0, 10.2, 10.9, 12.5, 13.0]
    losing = metrics.losing_flows(time, [0, 0, 1, 1, 2, 2], 1.0, 10.0, 13.0)
    assert losing.tolist() == [2, 1]
    assert metrics.synchronisation(losing, [1, 2, 3]).tolist() == [1.0, 0.5, 0.0]
    assert np.isnan(metrics.synchronisation([], [1])).all()


def test_utilisation_and_loss_rate():
    assert metrics.utilisation([1, 2, 3], [0.1, 0.5, 0.7], 1.0, 3.0) == pytest.approx(0.6)
    assert math.isnan(metrics.utilisation([1.0], [0.5], 5.0, 6.0))
    assert metrics.loss_rate(3, 1000) == 0.003
    assert math.isnan(metrics.loss_rate(0, 0))


def test_over_intervals_keeps_every_byte():
    # 50 samples of 20 ms are five intervals of 200 ms, 10 samples each; sample k has k bytes:
    # 1 + ... + 10 = 55, then 155, 255, 355, 455, per 0.2 s. Decimal fractions must not move one.
    time = 0.02 * np.arange(1, 51)
    ends, rates = metrics.over_intervals(time, np.arange(1, 51), 0.2, 0.0, 1.0)
    assert ends == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert rates == pytest.approx([275, 775, 1275, 1775, 2275])
    # Two flows, and an interval that is not complete.
    _, two = metrics.over_intervals([1, 2, 3], [[1, 0], [2, 4], [9, 9]], 2.0, 0.0, 3.0)
    assert two.tolist() == [[1.5, 2.0]]


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=30).filter(any))
def test_jain_is_its_definition(rates):
    x = np.array(rates) / max(rates)
    assert float(metrics.jain(rates)) == pytest.approx(x.sum() ** 2 / (len(x) * (x**2).sum()))
    assert 1 / len(x) - 1e-9 <= float(metrics.jain(rates)) <= 1 + 1e-9


def test_cov_and_jain_along_an_axis():
    # Two flows over three times: (1, 1): 0; (1, 3): 1/2; (0, 4): 1. Jain 1, 0.8, 0.5.
    rates = [[1, 1], [1, 3], [0, 4]]
    assert metrics.cov(rates, axis=1).tolist() == pytest.approx([0, 0.5, 1])
    assert metrics.jain(rates, axis=1).tolist() == pytest.approx([1, 0.8, 0.5])
    assert math.isnan(float(metrics.jain([0.0, 0.0])))
    # The worst third of three is the smallest.
    assert metrics.worst_mean(metrics.jain(rates, axis=1), 1 / 3) == pytest.approx(0.5)


def test_delta_fair_time():
    # Shares 0.1, 0.3, 0.45 of the second flow at 1, 2, 3 s: (1 - 0.5)/2 = 0.25 is reached at 2 s,
    # (1 - 0.1)/2 = 0.45 at 3 s, (1 - 0.01)/2 never. Counted from 0.5 s.
    rates = [[9, 1], [7, 3], [5.5, 4.5]]
    for delta, time in ((0.5, 1.5), (0.1, 2.5), (0.01, math.inf)):
        assert metrics.delta_fair_time([1, 2, 3], rates, delta, 0.5) == time


def test_delay_percentiles():
    # Delays 0, 1, ..., 100 ms above 50: the p-th percentile is p ms.
    rtt = np.append(50.0 + np.arange(101), np.nan)
    assert metrics.delay_percentiles_ms(rtt, 50.0).tolist() == pytest.approx([50, 95, 99])
    assert np.isnan(metrics.delay_percentiles_ms([np.nan], 50.0)).all()


def test_comparisons():
    assert metrics.throughput_ratio([4, 8], [2, 4]) == 2.0
    assert metrics.throughput_ratio([4], [0]) == math.inf
    # Throughput 64/RTT^1.5 at 1, 4, 16.
    assert metrics.rtt_unfairness_exponent([64, 8, 1], [1, 4, 16]) == pytest.approx(1.5)
    # Ten Renos have 20 Mbit/s next to ten others, 15 next to the variant.
    assert metrics.bandwidth_stolen_rate(20, 15) == 0.25
    assert metrics.throughput_degradation(2.0, 0.5) == 0.75


def test_drops_over_packets():
    # 10 of 100 drops with 25 of 100 packets: 0.1/0.25; the others 0.9/0.75. Five of ten for a tenth: 5.
    assert [each.value for each in metrics.drops_over_packets([10, 90], [25, 75])] == [0.4, 1.2]
    # Over two runs the ratio of the mean shares: (0.1 + 0.5)/(0.25 + 0.1), whatever the numbers of packets.
    first, second = metrics.drops_over_packets([[10, 90], [5, 5]], [[25, 75], [100, 900]])
    assert first.value == pytest.approx(0.6 / 0.35)
    assert second.value == pytest.approx(1.4 / 1.65)
    assert first.low < first.value < first.high
    # A run without a drop says nothing.
    alone, _ = metrics.drops_over_packets([[10, 90], [0, 0]], [[25, 75], [1, 1]])
    assert (alone.value, alone.samples) == (0.4, 1)


def test_responsiveness():
    # 100 until 10 s, then 100 * 2^-(t - 10): halved after 1 s, 10 round trips of 0.1 s. Towards 0
    # it is within 5 % of the change when 2^-x <= 0.05, x = 4.32 s: the sample at 14.4 s.
    time = np.arange(0, 20, 0.1)
    rate = 100 * 2 ** -np.maximum(time - 10, 0)
    assert metrics.halving_round_trips(time, rate, 10.0, 0.1, 100) == pytest.approx(10)
    settled = metrics.settling_round_trips(time, rate, 10.0, 0.1, before=100, after=0)
    assert settled == pytest.approx(44)
    # Never halved; never settled; settled at once.
    assert metrics.halving_round_trips(time, rate, 10.0, 0.1, 1e-9) == math.inf
    away = metrics.settling_round_trips(time, rate, 10.0, 0.1, before=100, after=50)
    assert away == math.inf
    assert metrics.settling_round_trips(time, rate, 19.0, 0.1, before=100, after=0) == 0
    # 0.31 packets per round trip of 0.1 s.
    line = 5 + 3.1 * time
    assert metrics.increase_per_round_trip(time, line, 2, 12, 0.1) == pytest.approx(0.31)


def test_interval_over_runs():
    # 9, 10, 11: mean 10, standard error 1/sqrt(3); Student's t at 97.5 % with 2 degrees is 4.303.
    estimate = metrics.over_runs([9, 10, 11])
    assert (estimate.low, estimate.high) == (
        pytest.approx(10 - 4.303 / 3**0.5, abs=1e-3),
        pytest.approx(10 + 4.303 / 3**0.5, abs=1e-3),
    )
    assert (estimate.samples, estimate.warning) == (3, "")


def test_intervals_that_cannot_be_trusted_say_so():
    same = metrics.over_runs([7.0, 7.0, 7.0])
    assert (same.value, same.low, same.high) == (7, 7, 7)
    assert "nothing in the scenario is random" in same.warning
    assert "one run" in metrics.over_runs([7.0]).warning
    assert math.isnan(metrics.over_runs([math.nan]).value)
    # An event that never happens in one run takes for ever on average: no interval, no warning of NumPy.
    never = metrics.over_runs([3.0, math.inf, 4.0])
    assert (never.value, math.isnan(never.low), math.isnan(never.high)) == (math.inf, True, True)
    assert "never happened" in never.warning
    assert "batches" in metrics.over_batches([1.0, 2.0]).warning
    # A trend: neighbours are alike.
    assert "correlated" in metrics.over_batches(np.arange(1000.0)).warning
    assert "nothing in the scenario" in metrics.bootstrap([2.0, 2.0]).warning


def covering(estimate, truth):
    return estimate.low <= truth <= estimate.high


def test_intervals_cover_the_truth_as_often_as_they_say():
    # 400 samples each, true mean 1: 95 % are 380, give or take 3 * sqrt(400 * 0.95 * 0.05) = 13.
    # Exponential values skew Student's interval of ten a little: it covers 90 % and more.
    generator = np.random.default_rng(1)
    normal = [metrics.over_runs(generator.normal(1, 1, 10)) for _ in range(400)]
    assert 367 <= sum(covering(values, 1) for values in normal) <= 393
    batches = [metrics.over_batches(generator.exponential(1, 1000)) for _ in range(400)]
    assert 367 <= sum(covering(values, 1) for values in batches) <= 393
    booted = [metrics.bootstrap(generator.exponential(1, 40)) for _ in range(60)]
    assert sum(covering(values, 1) for values in booted) >= 50


def test_batches_that_are_correlated_are_named():
    # Of 1000 series of 20 independent normal batches von Neumann's ratio calls 50 correlated, give or take
    # 3 * sqrt(1000 * 0.05 * 0.95) = 21. Batches of a series whose correlation is 0.99 at a lag of one (a time
    # of 100 samples, as long as a batch) cover the truth in three of four cases; most must be named.
    generator = np.random.default_rng(3)
    plain = [metrics.of_batches(generator.normal(0, 1, 20)).warning for _ in range(1000)]
    assert 29 <= sum(map(bool, plain)) <= 71
    named = 0
    for _ in range(200):
        noise = generator.normal(0, 1, 2000)
        series = np.zeros(2000)
        series[0] = noise[0] / (1 - 0.99**2) ** 0.5
        for index in range(1, 2000):
            series[index] = 0.99 * series[index - 1] + noise[index]
        named += "correlated" in metrics.over_batches(series).warning
    assert named >= 100


def run(**settings):
    scenario = {
        "run": {"duration": "30 s", "warmup": "10 s"},
        "dumbbell": {
            "rate": "10 Mbit/s",
            "delay": "10 ms",
            "queue": {"kind": "droptail", "limit": "25 packets"},
        },
        "flow": [{"controller": "reno", "rtt": "40 ms", "count": 2, **settings}],
    }
    return [ackclock.simulate(scenario, run=number) for number in range(3)]


def by_name(table, subject):
    return {row["metric"]: row for row in table.filter(subject=subject).iter_rows(named=True)}


def test_overview_is_the_summary_with_intervals():
    runs = run(overhead="1 ms")
    table = metrics.overview(runs)
    flow = by_name(table, "reno-0")
    goodputs = [run.summary["flows"][0]["goodput_mbps"] for run in runs]
    assert flow["goodput"]["value"] == pytest.approx(np.mean(goodputs))
    assert flow["goodput"]["low"] < np.mean(goodputs) < flow["goodput"]["high"]
    everyone = by_name(table, "all flows")
    jains = [run.summary["jain"] for run in runs]
    assert everyone["Jain's index of the means"]["value"] == pytest.approx(np.mean(jains))
    link = by_name(table, "bottleneck")
    used = [run.summary["links"][0]["utilisation"] for run in runs]
    assert link["utilisation"]["value"] == pytest.approx(np.mean(used), abs=1e-6)
    assert table["warning"].unique().to_list() == [""]
    # 25 packets of 0.8 ms are at most 20 ms of queue.
    assert 0 < flow["queueing delay p50"]["value"] < flow["queueing delay p99"]["value"] < 21


def test_overview_of_one_run_has_batches():
    table = metrics.overview(run(overhead="1 ms")[:1])
    goodput = by_name(table, "reno-0")["goodput"]
    assert goodput["samples"] == 20
    assert goodput["low"] < goodput["value"] < goodput["high"]
    loss = by_name(table, "reno-0")["loss rate"]
    assert (loss["low"], loss["warning"]) == (None, "one run gives no interval: use several")


def test_overview_warns_when_nothing_is_random():
    table = metrics.overview(run())
    warnings = set(table["warning"])
    assert len(warnings) == 1
    assert "nothing in the scenario is random" in warnings.pop()


@given(
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=9),
    st.sampled_from([(0.0, 1.0), (0.0, 100.0), (-3.0, 7.5)]),
)
def test_an_interval_between_bounds_stays_there_and_holds_its_mean(shares, bounds):
    least, most = bounds
    values = [min(most, least + share * (most - least)) for share in shares]
    estimate = metrics.within(metrics.over_runs(values), least, most)
    assert least <= estimate.low <= estimate.value <= estimate.high <= most
    assert estimate.value == pytest.approx(sum(values) / len(values))


@pytest.mark.parametrize("level", [0.02, 0.4, 0.5, 0.97])
def test_an_interval_between_bounds_shrinks_as_the_root_of_the_runs(level):
    # Runs that are 1 % of their mean above it and below it in turns: the standard error of n of them is 0.01
    # level / sqrt(n - 1), and for many runs Student's factor is 1.96. An interval so narrow has the same
    # width on every scale.
    widths = {}
    for runs in (1_000, 100_000):
        values = level * (1 + 0.01 * (-1.0) ** np.arange(runs))
        estimate = metrics.within(metrics.over_runs(values), 0.0, 1.0)
        widths[runs] = estimate.high - estimate.low
        expected = 2 * 1.96 * 0.01 * level / math.sqrt(runs - 1)
        assert widths[runs] == pytest.approx(expected, rel=3e-3)
    assert widths[1_000] / widths[100_000] == pytest.approx(10.0, rel=3e-3)


def test_an_interval_near_a_bound_is_lopsided_and_at_it_is_cut():
    # 3 %, 1 %, 2 %: a mean of 2 % and an error of 1 % / sqrt(3), 4.30 times that is 2.48 %. The
    # angle is asin(sqrt(0.02)) = 0.1419 and rises by 0.28 per radian: 0.0887 to either side, and
    # the sines of 0.0532 and 0.2306 squared are 0.0028 and 0.0522. Cut, it was 0 to 4.48 %.
    estimate = metrics.within(metrics.over_runs([0.03, 0.01, 0.02]), 0.0, 1.0)
    assert (estimate.low, estimate.high) == pytest.approx((0.00283, 0.05224), abs=2e-5)
    # No packet lost in any run; a link that is full; a value that rounding put above its bound.
    for value, low, high in ((0.0, 0.0, 0.0), (1.0, 0.9, 1.1), (1.0 + 1e-12, 0.9, 1.1)):
        cut = metrics.within(metrics.Estimate(value, low, high, 3), 0.0, 1.0)
        assert (cut.value, cut.low, cut.high) == (min(value, 1.0), low, min(high, 1.0))
    # Below one bound only the impossible is cut off.
    cut = metrics.within(metrics.Estimate(2.0, -1.0, 5.0, 3), 0.0)
    assert (cut.value, cut.low, cut.high) == (2.0, 0.0, 5.0)


def test_the_edges_of_merging_and_of_batches() -> None:
    # An event exactly as far as the bound still belongs to the congestion event before.
    assert [epoch.start_s for epoch in congestion.epochs([0.0, 0.25, 1.0], 0.25)] == [0.25]
    assert congestion.congestion_events([0.0, 0.25, 1.0], [0, 1, 0], 0.25) == [
        (0.0, frozenset({0, 1})),
        (1.0, frozenset({0})),
    ]
    # Two batches are enough: mean 2, and 12.71 times their deviation over sqrt 2 (Student, one
    # degree of freedom): 12.7062 * sqrt(2)/sqrt(2) = 12.7062.
    estimate = intervals.of_batches([1.0, 3.0])
    assert (estimate.value, estimate.samples) == (2.0, 2)
    assert estimate.high - 2.0 == pytest.approx(12.7062, rel=1e-5)
