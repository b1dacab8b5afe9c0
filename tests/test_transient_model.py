"""Smoothness, timeouts, D, R and I: against Monte Carlo, other derivations, published numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.models import responses, smoothness, timeouts, transients


def path_moments(intervals, increase, keep, steps=200):
    """Average the sawtooth over time on a grid, after a start at the mean."""
    w = increase * np.mean(intervals) * keep / (1 - keep)
    time, first, second = 0.0, 0.0, 0.0
    for count, x in enumerate(intervals):
        if count >= 100:
            grid = w + increase * x * (np.arange(steps) + 0.5) / steps
            time += x
            first += x * grid.mean()
            second += x * (grid**2).mean()
        w = keep * (w + increase * x)
    return first / time, second / time


@pytest.mark.parametrize(("increase", "keep"), [(1, 0.5), (0.31, 0.875)])
@pytest.mark.parametrize("kind", ["constant", "pareto", "alternating"])
def test_palm_is_the_average_of_the_path(increase, keep, kind):
    generator = np.random.default_rng(1)
    intervals = {
        "constant": np.full(600, 80.0),
        "pareto": 10 * (1 + generator.pareto(3.5, 2000)),
        # Correlated: long follows long.
        "alternating": np.repeat([20.0, 20.0, 20.0, 200.0, 200.0], 300),
    }[kind]
    mean, square = path_moments(intervals, increase, keep)
    estimate = smoothness.aimd_with_intervals(intervals, increase, keep)
    # Both leave out a start, of different length, of a sample of a few hundred.
    within = 0.02 if kind != "constant" else 1e-4
    assert estimate.mean == pytest.approx(mean, rel=within)
    assert estimate.square == pytest.approx(square, rel=2 * within)


@given(st.floats(0.001, 10), st.floats(0.1, 5), st.floats(0.05, 0.95))
def test_poisson_is_the_case_of_exponential_moments(rate, increase, keep):
    # The moments of the exponential distribution are n!/lambda^n.
    moments = (1 / rate, 2 / rate**2, 6 / rate**3)
    of_moments = smoothness.aimd_with_moments(moments, increase, keep)
    poisson = smoothness.aimd_poisson(rate, increase, keep)
    assert of_moments.mean == pytest.approx(poisson.mean)
    assert of_moments.square == pytest.approx(poisson.square)
    assert poisson.cov == pytest.approx(np.sqrt((1 - keep) / (1 + keep)))


def test_constant_intervals_are_the_sawtooth():
    # Between 100 and 200 uniformly: mean 150, variance 100^2/12.
    estimate = smoothness.aimd_with_moments((100.0, 1e4, 1e6), 1, 0.5)
    assert estimate.mean == pytest.approx(150)
    assert estimate.square - 150**2 == pytest.approx(100**2 / 12)


@pytest.mark.parametrize(
    ("increase", "keep", "cov", "scaled"), [(1, 0.5, 0.405, 1.31), (0.31, 0.875, 0.18, None)]
)
def test_bernoulli_losses(increase, keep, cov, scaled):
    # Monte Carlo of the same limit: between losses an exponential number of packets S, in which
    # W^2 grows by 2 a S. Time averages of W and W^2 are those of (W^2/2a)' and (W^3/3a)'.
    p = 1e-4
    generator = np.random.default_rng(2)
    w, time, first, second = np.sqrt(1 / p), [], [], []
    for packets in generator.exponential(1 / p, 60_000):
        top = np.sqrt(w**2 + 2 * increase * packets)
        time.append((top - w) / increase)
        first.append(packets)
        second.append((top**3 - w**3) / (3 * increase))
        w = keep * top
    estimate = smoothness.aimd_bernoulli(p, increase, keep)
    # 60000 correlated cycles: half a per cent is more than four standard errors.
    assert estimate.mean == pytest.approx(np.sum(first) / np.sum(time), rel=0.005)
    assert estimate.square == pytest.approx(np.sum(second) / np.sum(time), rel=0.01)
    assert estimate.cov == pytest.approx(cov, abs=0.005)
    if scaled:
        assert estimate.mean * np.sqrt(p) == pytest.approx(scaled, abs=0.005)


def test_tear_factor_by_monte_carlo():
    # The windows at losses of AIMD(1, 1/2) with exponential intervals; epochs' means, weighted.
    generator = np.random.default_rng(3)
    windows = [2.0]
    for interval in generator.exponential(1, 200_000):
        windows.append(windows[-1] / 2 + interval)
    windows = np.array(windows[100:])

    def factor(w):
        means = w[1:] / 2 + w[:-1] / 4
        rates = np.convolve(means, smoothness.TEAR_WEIGHTS, mode="valid")
        return rates.std() / rates.mean() / (w.std() / w.mean())

    independent, correlated = smoothness.tear_factor(), smoothness.tear_factor(0.5)
    assert correlated == pytest.approx(factor(windows), rel=0.02)
    # Shuffled, they are independent.
    assert independent == pytest.approx(factor(generator.permutation(windows)), rel=0.02)
    # Published: 0.07708 of the variance, 0.370 of the CoV; 0.21 of Poisson's 0.58, in truth 0.34.
    assert independent == pytest.approx(0.370, abs=5e-4)
    assert (independent * 0.75) ** 2 == pytest.approx(0.07708, abs=5e-5)
    assert independent * np.sqrt(1 / 3) == pytest.approx(0.21, abs=0.005)
    assert correlated * np.sqrt(1 / 3) == pytest.approx(0.34, abs=0.005)


@pytest.mark.parametrize(("p", "exponent"), [(0.01, 0.5), (0.2, 1.5)])
def test_tfrc_by_monte_carlo(p, exponent):
    # Loss intervals are geometric; the rate after one of i packets lasts for the next interval's
    # packets at i^e, a time of 1/(p i^e) on average.
    i = np.random.default_rng(4).geometric(p, 1_000_000).astype(float)
    rate, weight = i**exponent, i**-exponent
    mean = (rate * weight).sum() / weight.sum()
    square = (rate**2 * weight).sum() / weight.sum()
    assert float(smoothness.tfrc(p, exponent)[0]) == pytest.approx(np.sqrt(square / mean**2 - 1), rel=0.02)


def test_tfrc_has_its_published_values():
    # Full sum 0.698 at 0.5 %, the study's 0.66 when it stops at 600; 0.54 at 9 %. Smoothed by the
    # root of the sum of squared weights, 0.38: 0.27 to 0.20. High loss: 0.71 and 2.33.
    single, smoothed = smoothness.tfrc(np.array([0.005, 0.09]))
    assert single.tolist() == pytest.approx([0.698, 0.536], abs=5e-4)
    assert smoothed.tolist() == pytest.approx([0.265, 0.204], abs=5e-4)
    assert float(smoothness.tfrc(0.005, most=600)[0]) == pytest.approx(0.66, abs=0.005)
    assert float(smoothness.tfrc(0.2, 1.5)[1]) == pytest.approx(0.71, abs=0.005)
    assert float(smoothness.tfrc(0.2, 2.5)[1]) == pytest.approx(2.33, abs=0.005)


def test_averages_over_epochs_and_jain():
    assert float(smoothness.over_flows_and_epochs(0.58, 4)) == pytest.approx(0.29)
    # Reno 0.75, GAIMD 0.94, TFRC and TEAR 0.96.
    assert smoothness.jain_of_cov([0.58, 0.26, 0.21]).tolist() == pytest.approx([0.75, 0.94, 0.96], abs=0.005)


def sends(p, t, packets, seed):
    """Follow the timer packet by packet: one packet at the end of each wait."""
    generator = np.random.default_rng(seed)
    backoff, rounds = 1, 0
    for _ in range(packets):
        rounds += backoff * t
        backoff = min(2 * backoff, 64) if generator.random() < p else 1
    return packets / rounds


def test_equation_41_is_not_its_chain():
    # p = 0.2, t = 4: 1.87 as printed, 1.7 in the study's text, 2.08 the chain.
    assert timeouts.printed_cov(0.2, 4) == pytest.approx(1.87, abs=0.005)
    assert timeouts.cov(0.2, 4) == pytest.approx(2.08, abs=0.005)
    share = sends(0.2, 4, 200_000, 5)
    assert np.sqrt((1 - share) / share) == pytest.approx(timeouts.cov(0.2, 4), rel=0.01)
    # The polynomial of the print, term by term.
    p, t = 0.3, 5
    tail = 32 * p + 16 * p**2 + 8 * p**3 + 4 * p**4 + 2 * p**5 + p**6
    assert timeouts.printed_cov(p, t) == pytest.approx(np.sqrt((64 * (t - 1) + tail) / (64 - tail)), rel=1e-9)


def test_the_chain_vectorised_is_the_chain():
    sent = timeouts.simulate_sending(0.3, 3, 200_000, np.random.default_rng(6))
    assert set(np.unique(sent)) == {0.0, 1.0}
    assert sent.sum() == 200_000
    assert sent.std() / sent.mean() == pytest.approx(timeouts.cov(0.3, 3), rel=0.02)
    assert timeouts.state_probabilities(0.3).sum() == pytest.approx(1)


def settled(times, rates, old, new):
    """Return when the last rate comes that is a twentieth of the step away from the new one."""
    far = [time for time, rate in zip(times, rates, strict=True) if abs(rate - new) > 0.05 * abs(old - new)]
    return max(far, default=0.0)


def played_aimd(before, after, increase, keep):
    """Let a window grow in small steps, and cut it whenever 1/p packets are sent."""
    step = 1e-3
    window, sent = 1.0, 0.0
    time, times, peaks, loss_rate = 0.0, [], [], before
    while len(peaks) < 60:
        window += increase * step
        sent += window * step
        time += step
        if sent >= 1 / loss_rate:
            peaks.append(window)
            times.append(time)
            window, sent = keep * window, 0.0
            if len(peaks) == 30:
                loss_rate, old, began = after, peaks[-1], time
    after_change = slice(30, None)
    times = [time - began for time in times[after_change]]
    return settled(times, peaks[after_change], old, peaks[-1]), times


def played_tfrc(before, after):
    """Send at the rate that the last eight loss intervals give (RFC 5348, section 5.4)."""
    weights = [1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]
    intervals, time, times, rates = [1 / before] * 8, 0.0, [], []
    for _ in range(40):
        mean = sum(map(np.prod, zip(weights, intervals, strict=True))) / sum(weights)
        rates.append(np.sqrt(3 * mean / 2))
        times.append(time)
        time += 1 / after / rates[-1]
        intervals = [1 / after, *intervals[:7]]
    return settled(times, rates, rates[0], np.sqrt(1.5 / after)), times


@pytest.mark.parametrize(("before", "after"), [(0.01, 0.04), (0.04, 0.01)])
def test_settling_times_are_those_of_a_sender_that_is_played(before, after):
    for increase, keep in ((1, 0.5), (0.31, 0.875)):
        last_far, times = played_aimd(before, after, increase, keep)
        # The time of the next loss, up to the steps that it is played in.
        expected = next(time for time in times if time > last_far)
        step = transients.aimd_step(before, after, increase, keep)
        assert step.settling_round_trips() == pytest.approx(expected, rel=0.01)
    last_far, times = played_tfrc(before, after)
    expected = next(time for time in times if time > last_far)
    assert transients.tfrc_step(before, after).settling_round_trips() == pytest.approx(expected)
    for step in (transients.tfrc_step(before, after), transients.tear_step(before, after)):
        assert step.progress[0] == 0
        assert step.progress[-1] == pytest.approx(1, abs=1e-3)


def test_tear_follows_a_step_as_by_hand():
    # p from 1/4 to 1: the window is 2/sqrt(1/4) = 4 until then, and falls to 4/2 + 2/4 = 2.5 and to
    # 2.5/2 + 2/2.5 = 2.05. An epoch's mean is half its end and a quarter of the end before: 3, then
    # 2.5/2 + 4/4 = 2.25 and 2.05/2 + 2.5/4 = 1.65. Weights are 1 for four epochs and fall by
    # fifths, 6 in all: the newest has a sixth.
    step = transients.tear_step(0.25, 1.0, losses=2)
    assert step.rate.tolist() == pytest.approx([3, 3 - 0.75 / 6, 3 - 0.75 / 6 - 1.35 / 6])
    # A loss per packet: as many round trips as a packet takes at the rate.
    assert step.time.tolist() == pytest.approx([0, 1 / 3, 1 / 3 + 1 / 2.875])


def test_steps_end_at_the_steady_rate():
    # A window that falls from W to W/2 and has 1/p packets per cycle: 3/8 W^2 = 1/p, 1.633/sqrt(p).
    step = transients.aimd_step(0.01, 0.04, 1, 0.5)
    assert step.final == pytest.approx(1.633 / np.sqrt(0.04), rel=1e-3)
    assert transients.tfrc_step(0.01, 0.04).final == pytest.approx(float(responses.reno(0.04)))
    # TEAR's fixed point of W/2 + 2/(pW) is 2/sqrt(p), its mean 3/4 of that.
    assert transients.tear_step(0.01, 0.04).final == pytest.approx(1.5 / 0.2)
    # A step that never settles within what was followed.
    assert transients.tear_step(0.04, 0.01, losses=2).settling_round_trips() == np.inf
    assert transients.aimd_step(0.01, 0.01 * (1 + 1e-12), 1, 0.5).rate[0] == pytest.approx(16.33, abs=0.01)


def test_halving_and_increase():
    # Table 1: D = 1, 5 (5.2: six whole round trips), 5, 5; I = 1, 0.31, 0.12 (0.22), 0.08.
    assert [transients.aimd_halving(keep) for keep in (0.5, 0.875)] == [1, 6]
    assert np.log(0.5) / np.log(0.875) == pytest.approx(5.2, abs=0.01)
    assert transients.tfrc_halving() == 5
    assert transients.tear_halving() == 5
    assert transients.tear_fractions(5)[4:].tolist() == pytest.approx([0.542, 0.393], abs=5e-4)
    assert transients.tfrc_increase() == pytest.approx(0.125)
    assert transients.tfrc_increase(0.5) == pytest.approx(0.75 * 0.286, abs=5e-4)
    assert transients.tear_increase() == pytest.approx(1 / 12)


def test_pftk_by_monte_carlo():
    """Play its rounds: a lost packet loses the rest of its round; timeouts double."""
    p, t0 = 0.02, 4.0
    generator = np.random.default_rng(7)
    window, packets, rounds = 10.0, 0, 0.0
    for _ in range(60_000):
        # Rounds of whole windows until the first loss, then the round after it.
        until = generator.geometric(p)
        sent, rounds_here = 0, 0
        while True:
            size = max(1, round(window))
            rounds_here += 1
            if sent + size >= until:
                survivors = until - sent - 1
                sent += size
                break
            sent += size
            window += 1
        # The next round has as many packets as were acknowledged; losses there end it, too.
        again = generator.geometric(p, 1)[0]
        acknowledged = min(survivors, again - 1)
        packets += sent + survivors
        rounds += rounds_here + 1
        if acknowledged < 3:
            wait = 1
            while True:
                packets += 1
                rounds += wait * t0
                if generator.random() >= p:
                    break
                wait = min(2 * wait, 64)
            # The model starts the next cycle at W/2 after a timeout as after a fast retransmit.
        window = max(window / 2, 1.0)
    # The model takes the mean of W/2 and of 1/W for those of their distribution.
    assert float(responses.pftk(p, t0)) == pytest.approx(packets / rounds, rel=0.08)


def test_pftk_limits():
    # At low loss there are no timeouts: sqrt(3/(2p)). A window that the receiver limits is filled.
    assert float(responses.pftk(1e-6)) == pytest.approx(float(responses.reno(1e-6)), rel=0.01)
    assert float(responses.pftk(1e-6, most=20)) == pytest.approx(20, rel=0.01)
    # TFRC's equation is its approximation, good at low loss; at 10 % it has a sixth less.
    p = np.array([0.001, 0.01, 0.03])
    np.testing.assert_allclose(responses.tfrc(p), responses.pftk(p), rtol=0.02)
    assert 0.8 < float(responses.tfrc(0.1) / responses.pftk(0.1)) < 0.9


def test_gaimd_is_friendly_and_veno_above_reno():
    # sqrt(0.31 * 1.875/(2 * 0.125)) = 1.525 against sqrt(1.5) = 1.225 would be 1.245; its
    # friendliness holds with timeouts. Veno: sqrt(1.8/(2 * 0.2)) = 2.12.
    assert float(responses.gaimd(1.0)) == pytest.approx(1.525, abs=1e-3)
    assert float(responses.veno(1.0)) == pytest.approx(2.121, abs=1e-3)
    assert float(responses.power(1e-2, 0.15, 0.82)) == pytest.approx(0.15 * 100**0.82)


def test_tear_under_bernoulli_losses():
    # Monte Carlo: W^2 before a loss is (W/2)^2 + 2 E/p. Its CoV is 0.38 instead of Poisson's 0.58,
    # and TEAR's rate follows; W itself is correlated a little more than its square, 1/4: 5 %.
    generator = np.random.default_rng(8)
    windows = [1.5]
    for packets in generator.exponential(1, 200_000):
        windows.append(np.sqrt(windows[-1] ** 2 / 4 + 2 * packets))
    windows = np.array(windows[100:])
    assert smoothness.cov_at_bernoulli_losses(0.5) == pytest.approx(windows.std() / windows.mean(), rel=0.01)
    rates = np.convolve(windows[1:] / 2 + windows[:-1] / 4, smoothness.TEAR_WEIGHTS, mode="valid")
    predicted = smoothness.tear_factor(0.25) * smoothness.cov_at_bernoulli_losses(0.5)
    assert predicted == pytest.approx(rates.std() / rates.mean(), rel=0.05)
