"""TCP-Illinois' formulas: continuity, the matrix chain's theorems, published values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.models import fluid, illinois, matrix


@given(st.floats(0.01, 1), st.floats(1, 30), st.floats(0, 0.5), st.floats(0, 1), st.floats(1e-4, 1))
def test_curves_meet_at_their_thresholds(low, high, eta1, position, dm):
    # k1 and k2 are made so that alpha(d1) = alpha_max and alpha(dm) = alpha_min.
    setting = illinois.Parameters(alpha_min=low, alpha_max=high, eta1=eta1, eta3=0.8)
    d1 = eta1 * dm
    just_above = d1 + 1e-9 * dm
    if low < high:
        # The curve falls by the factor high/low within dm - d1, so steeply at first.
        steep = (high / low - 1) * 1e-9 / (1 - eta1)
        assert float(illinois.alpha(just_above, dm, setting)) == pytest.approx(high, rel=2 * steep + 1e-9)
    assert float(illinois.alpha(dm, dm, setting)) == pytest.approx(low, rel=1e-6)
    inside = illinois.alpha(d1 + position * (dm - d1), dm, setting)
    assert low * (1 - 1e-9) <= float(inside) <= high * (1 + 1e-9)
    # k3 + k4 da joins beta_min at d2 and beta_max at d3.
    half = float(illinois.beta(0.45 * dm, dm))
    assert half == pytest.approx((0.125 + 0.5) / 2)
    assert float(illinois.beta(0.1 * dm, dm)) == 0.125
    assert float(illinois.beta(0.8 * dm, dm)) == pytest.approx(0.5)


def test_curves_at_their_edges():
    # dm = 0: alpha_max and beta_min. d2 = d3: a jump. alpha_min = alpha_max = 1: always 1.
    assert float(illinois.alpha(0.0, 0.0)) == 10.0
    assert float(illinois.beta(0.0, 0.0)) == 0.125
    jump = illinois.Parameters(eta2=0.5, eta3=0.5)
    assert illinois.beta([0.5, 0.500001], 1.0, jump).tolist() == [0.125, 0.5]
    flat = illinois.Parameters(alpha_min=1, alpha_max=1)
    assert illinois.alpha([0.0, 0.3, 1.0], 1.0, flat).tolist() == [1.0, 1.0, 1.0]


def test_constants_of_the_lossy_study():
    # eta1 = 0.2: k1 = 0.8 dm * 0.1 * 10/9.9 = 0.0808 dm, k2 = 0.8 dm * 0.1/9.9 - 0.2 dm.
    setting = illinois.Parameters(eta1=0.2)
    da = 0.5
    assert float(illinois.alpha(da, 1.0, setting)) == pytest.approx(0.0808 / (-0.1919 + da), rel=1e-3)


def test_share_beside_reno():
    # alpha* = 1.21 in figure 8's cycle: the window grows by 675 packets in 556 round trips.
    cycle = fluid.cycle(illinois.alpha, 0.5, 12_500.0, 100.0, 0.1)
    assert cycle.mean_increase == pytest.approx(1.21, abs=0.01)
    assert float(illinois.share_over_reno(cycle.mean_increase)) == pytest.approx(1.10, abs=0.01)
    # Reno against itself, and all together (lambda = 0): the plain ratio.
    assert float(illinois.share_over_reno(1.0)) == 1.0
    assert float(illinois.share_over_reno(4.0, 0.5, 0.0)) == 4.0


def test_gain_on_a_lossy_link_is_no_upper_bound():
    # sqrt(10/(2/8)) = 6.32 as printed; sqrt(10 * 1.875/(2/8))/sqrt(1.5/1) = sqrt(75/1.5) = 7.07.
    printed, exact = illinois.gain_on_lossy_link()
    assert printed == pytest.approx(np.sqrt(40))
    assert exact == pytest.approx(np.sqrt(75 / 1.5))


def test_vegas_in_noise():
    # Two flows that keep gamma packets each: 2 gamma/C = 3.2, 8, 16 ms on 1250 packets/s.
    thresholds = 1000 * illinois.vegas_threshold([2, 5, 10], 1250, 2)
    assert thresholds.tolist() == pytest.approx([3.2, 8.0, 16.0])
    # Without noise the window keeps gamma packets waiting: W - W Tp/(Tp + da) = gamma.
    window = float(illinois.vegas_window(5, 0.06, 0.008))
    assert window - window * 0.06 / 0.068 == pytest.approx(5)
    # Up to the threshold the link is full whatever the noise; above, both are slow. The longer
    # measured trip moves it by (Tp + n)/Tp, from 8.0 to 9.2 ms.
    for noise, full in ((0.0, True), (0.008, True), (0.010, False), (0.04, False)):
        rates = illinois.vegas_throughput(5, 1250, 0.06, (noise, noise))
        assert (float(rates.sum()) == pytest.approx(1250, rel=1e-6)) == full
        assert rates[0] == pytest.approx(rates[1])
    # Far above, each gets gamma/n without a queue, times (Tp + n)/Tp for the longer measured trip.
    assert float(illinois.vegas_throughput(5, 1250, 0.06, (0.04, 0.04))[0]) == pytest.approx(
        5 * (0.06 + 0.04) / 0.04 / 0.06, rel=1e-3
    )
    noisy, exact = illinois.vegas_throughput(5, 1250, 0.06, (0.02, 0.0))
    assert noisy < 0.35 * exact


def study(flows, most, seed=1, runs=50, events=1000, cut=0.5):
    """Run the paper's study: random round trips of 50 to 250 ms, random starts."""
    generator = np.random.default_rng(seed)
    rtt = generator.uniform(0.05, 0.25, (runs, flows))
    start = generator.dirichlet(np.ones(flows), runs)
    drops = generator.integers(1, most + 1, (runs, events + 500))
    return rtt, matrix.simulate(rtt, start, drops, generator, cut=cut)[:, 500:]


@pytest.mark.parametrize(
    ("flows", "most", "mu"),
    [(4, 2, 0.08), (4, 4, 0.18), (4, 8, 0.32), (10, 5, 0.11), (10, 10, 0.20), (10, 20, 0.34)],
)
def test_figures_2_to_7(flows, most, mu):
    rtt, shares = study(flows, most)
    mean, deviation = shares.mean(axis=1), shares.std(axis=1)
    # Over seeds mu varies by 0.01; the anchors have two digits.
    assert matrix.mu(mean, rtt) == pytest.approx(mu, abs=0.03)
    assert (deviation / mean).max() < 0.5
    ratio = mean / matrix.equal_window_shares(rtt)
    if (flows, most) == (4, 2):
        assert 0.84 < ratio.min() < ratio.max() < 1.12  # 0.88 to 1.07 in the anchor's runs
    if (flows, most) == (10, 20):
        assert ratio.min() < 0.8
        assert ratio.max() > 1.25  # 0.72 to 1.43


def test_the_chain_conserves_the_capacity():
    _, shares = study(10, 20, runs=5)
    np.testing.assert_allclose(shares.sum(axis=-1), 1, rtol=1e-12)
    assert shares.min() > 0


def test_theorems_4_1_and_4_2():
    # Equal round trips: equal means, from any start. 20 runs of 4000 events from two corners.
    generator = np.random.default_rng(3)
    rtt = np.full((20, 4), 0.1)
    means = []
    for start in ([0.97, 0.01, 0.01, 0.01], [0.01, 0.01, 0.01, 0.97]):
        drops = generator.integers(1, 5, (20, 4100))
        path = matrix.simulate(rtt, start, drops, generator)[:, 100:]
        means.append(path.mean(axis=1))
    for shares in means:
        error = shares.std(axis=0, ddof=1) / np.sqrt(20)
        # Four standard errors: one false alarm in 16000 numbers.
        assert np.all(np.abs(shares.mean(axis=0) - 0.25) < 4 * error)


def test_theorem_4_3_and_bounds_on_the_chain():
    # T_hat T_tilde E[x q(x)] is the same for all flows, and (26) holds.
    rtt = np.array([[0.05, 0.1, 0.2]] * 40)
    tilde = 0.8 * rtt
    generator = np.random.default_rng(4)
    drops = generator.integers(1, 4, (40, 5200))
    path = matrix.simulate(rtt, np.ones(3), drops, generator, mean_rtt=tilde)[:, 200:]
    pmf = matrix.uniform_drops(3)
    constant = (rtt * tilde * (path * matrix.backoff_probability(path, pmf)).mean(axis=1)).T
    error = constant.std(axis=1, ddof=1) / np.sqrt(40)
    spread = constant.mean(axis=1)
    for i in range(3):
        for j in range(i):
            assert abs(spread[i] - spread[j]) < 4 * np.hypot(error[i], error[j])
            squares = ((path * rtt[:, None, :]) ** 2).mean(axis=(0, 1))
            low, high = matrix.square_window_bounds((rtt[0, i], rtt[0, j]), (tilde[0, i], tilde[0, j]), 2.0)
            assert low <= squares[i] / squares[j] <= high


@given(st.floats(0, 1), st.integers(1, 12))
def test_backoff_probability_and_its_bounds(share, most):
    pmf = matrix.uniform_drops(most)
    f = float(matrix.backoff_probability(share, pmf))
    # (25), and by listing: one minus the probability that all m packets belong to others.
    assert share * (1 - 1e-12) <= f + 1e-15
    assert f <= (1 + most) / 2 * share + 1e-12
    assert f == pytest.approx(np.mean([1 - (1 - share) ** m for m in range(1, most + 1)]), abs=1e-12)


def test_mean_field_is_the_chain_for_light_congestion():
    rtt, shares = study(4, 2, runs=20, events=4000)
    for rtt_of_run, path in zip(rtt, shares, strict=True):
        expected = matrix.mean_shares(rtt_of_run, matrix.uniform_drops(2))
        # The variance that the mean field leaves out: Std/mean up to 0.4 gives up to 6 %.
        np.testing.assert_allclose(path.mean(axis=0), expected, rtol=0.06)
        scaled = rtt_of_run**2 * expected * matrix.backoff_probability(expected, matrix.uniform_drops(2))
        np.testing.assert_allclose(scaled / scaled[0], 1, rtol=1e-6)


def test_exponents():
    # f ~ x (lambda = 1): T^2 x^2 is the same, x ~ 1/T, mu = 0. f = 1 (lambda = 0): x ~ 1/T^2, so
    # mu = 1.
    assert matrix.mu_of_exponent([1.0, 0.0]).tolist() == [0.0, 1.0]
    rtt = np.array([0.05, 0.1, 0.2])
    one_drop = matrix.mean_shares(rtt, matrix.uniform_drops(1))
    assert matrix.mu(one_drop, rtt) == pytest.approx(0, abs=1e-9)
    many = matrix.mean_shares(rtt, np.concatenate((np.zeros(2000), [1.0])))
    assert matrix.mu(many, rtt) == pytest.approx(1, abs=1e-6)
    assert matrix.largest_drop([0.1] * 4) == 1.0
    assert matrix.largest_drop([1.0] * 4) == 4.0


def test_illinois_beside_reno_in_the_chain():
    # Section 4.6 with one drop per event: W ~ sqrt(alpha/beta). alpha* = 1.21 gives 1.10, less
    # what the variance takes; by equation 30 E[W^2] beta/alpha is the same for all, exactly.
    generator = np.random.default_rng(5)
    increase, rtt = np.array([1.21, 1.21, 1.0, 1.0]), np.full((40, 4), 0.1)
    drops = np.ones((40, 4200), int)
    path = matrix.simulate(rtt, np.ones(4), drops, generator, increase=increase)[:, 200:]
    squares = (path**2).mean(axis=1)
    ratio = squares[:, :2].mean(axis=1) / squares[:, 2:].mean(axis=1)
    error = ratio.std(ddof=1) / np.sqrt(40)
    assert abs(ratio.mean() - 1.21) < 4 * error + 2e-3
