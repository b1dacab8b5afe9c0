"""Windows from loss event to loss event: arithmetic, and laws that know a cycle by quadrature."""

import numpy as np
import pytest

from ackclock.models import convergence, laws


def test_aimd_halves_the_distance():
    # Both grow by as much and keep half, so the distance halves; the sum is 100 at every event and
    # 50 after it, so that 25 round trips of 2 packets pass.
    history = convergence.losses(laws.aimd(1, 0.5), [90, 10], 100, 6)
    assert np.diff(history.window, axis=1)[:, 0] == pytest.approx(-80 * 0.5 ** np.arange(6))
    assert history.window.sum(axis=1) == pytest.approx(100)
    assert history.round_trips == pytest.approx(25 * np.arange(6))
    # 80, 40, 20, 10, 5: within a tenth of the mean, 5, at the fifth.
    assert convergence.round_trips_until_fair(history, 0.1) == pytest.approx(100)
    # Means of two: 60, 30, 15, 7.5, 3.75; the last mean ends with the sixth event.
    assert convergence.round_trips_until_fair(history, 0.1, 2) == pytest.approx(125)
    assert convergence.round_trips_until_fair(history, 0.001) == np.inf


def test_scalable_keeps_its_ratio():
    history = convergence.losses(laws.scalable(), [60, 20], 80, 50)
    assert history.window[:, 0] / history.window[:, 1] == pytest.approx(3)


@pytest.mark.parametrize("law", [laws.hstcp(), laws.scalable()])
def test_equal_flows_have_the_cycle_of_one(law):
    history = convergence.losses(law, [500, 500], 1000, 20)
    assert history.window == pytest.approx(np.full((20, 2), 500))
    # Steps of a round trip instead of quadrature.
    expected = laws.cycle(law, 500).round_trips
    assert np.diff(history.round_trips) == pytest.approx(expected, rel=0.02)


def test_one_by_one_one_flow_is_cut():
    generator = np.random.default_rng(1)
    history = convergence.losses(laws.aimd(1, 0.5), [50, 50], 100, 200, generator=generator)
    assert history.window.sum(axis=1) == pytest.approx(100)
    # The loser of an event keeps w/2 and then regains half of its loss, w/4: it has 3/4 w after the event,
    # and the other flow has gained w/4.
    before, after = history.window[:-1], history.window[1:]
    lower = np.minimum(after / before, 1).min(axis=1)
    assert lower == pytest.approx(0.75)


def test_fast_convergence_takes_from_the_one_that_shrinks():
    # A flow that has less than before takes the middle of what it has and what is left for its
    # maximum, and so yields to the other.
    def share(fast_convergence):
        history = convergence.losses(laws.bic(), [533, 267], 800, 20, fast_convergence=fast_convergence)
        return history.window[-1][0] / 800

    assert 0.5 < share(True) < share(False) < 2 / 3
