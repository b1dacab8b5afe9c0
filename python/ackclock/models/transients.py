"""Responsiveness and aggressiveness: the response of a rate to a change of the loss rate.

The study of TCP, GAIMD, TFRC and TEAR, section 4 and its figures 20 and 29. Times are in round
trips, rates in packets per round trip. ``keep`` is the fraction of the window that a loss keeps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ackclock.models.laws import Array
from ackclock.models.smoothness import TEAR_WEIGHTS, TFRC_WEIGHTS

MOST_LOSSES = 10_000


@dataclass(frozen=True)
class StepResponse:
    """A rate after the loss rate has changed, one value per loss event."""

    time: Array
    """Round trips since the change; the first is 0."""
    rate: Array
    """Packets per round trip; the first is the old steady rate."""
    final: float
    """The new steady rate."""

    @property
    def progress(self) -> Array:
        """|T_n - T_0|/|T_inf - T_0|: 0 at the change, 1 in the end."""
        return np.asarray(np.abs(self.rate - self.rate[0]) / np.abs(self.final - self.rate[0]))

    def settling_round_trips(self, within: float = 0.05) -> float:
        """Return the round trips R after which the rate stays close to its new value (equation 10).

        `within` is the largest distance, as a share of the whole change. R is infinite when the computed
        rates do not settle.
        """
        far = np.abs(self.rate - self.final) > within * np.abs(self.rate[0] - self.final)
        if far[-1]:
            return float("inf")
        return float(self.time[int(np.flatnonzero(far)[-1]) + 1]) if far.any() else 0.0


def aimd_step(before: float, after: float, increase: float, keep: float, losses: int = 50) -> StepResponse:
    """Return the windows of AIMD just before each loss after a step of the loss-event rate.

    >>> round(aimd_step(0.01, 0.04, 1, 0.5).settling_round_trips(), 1)
    10.0
    """

    def steady(p: float) -> float:
        return float(np.sqrt(2 * increase / (p * (1 - keep**2))))

    rate, time = [steady(before)], [0.0]
    for _ in range(losses):
        last = rate[-1]
        rate.append(float(np.sqrt(2 * increase / after + (keep * last) ** 2)))
        time.append(time[-1] + (rate[-1] - keep * last) / increase)
    return StepResponse(np.array(time), np.array(rate), steady(after))


def tfrc_step(before: float, after: float, losses: int = 50) -> StepResponse:
    """Return TFRC's rates after each loss after a step of the loss-event rate.

    They are sqrt(3 s/2) of the weighted mean loss interval s, without history discounting.
    """
    old = np.maximum(1 - np.concatenate(([0.0], np.cumsum(TFRC_WEIGHTS))), 0.0)
    old = np.concatenate((old, np.zeros(max(losses - 8, 0))))[: losses + 1]
    rate = np.sqrt(1.5 * (old / before + (1 - old) / after))
    time = np.concatenate(([0.0], np.cumsum(1 / (after * rate[:-1]))))
    return StepResponse(time, rate, float(np.sqrt(1.5 / after)))


def _tear_rates(windows: Array) -> Array:
    """Return the rates after each loss, from windows at losses; the first eight precede the change."""
    means = windows[1:] / 2 + windows[:-1] / 4
    return np.convolve(means, TEAR_WEIGHTS, mode="valid")


def tear_step(before: float, after: float, losses: int = 50) -> StepResponse:
    """Return TEAR's rates after each loss after a step of the loss-event rate.

    The emulated window has the fixed point 2/sqrt(p), where the exact sawtooth has 1.633/sqrt(p): the study
    divides by W/2 instead of the mean window.
    """
    windows = [2 / np.sqrt(before)] * 9
    for _ in range(losses):
        windows.append(windows[-1] / 2 + 2 / (after * windows[-1]))
    rate = _tear_rates(np.array(windows))
    time = np.concatenate(([0.0], np.cumsum(1 / (after * rate[:-1]))))
    return StepResponse(time, rate, 1.5 / float(np.sqrt(after)))


def aimd_halving(keep: float) -> int:
    """Return AIMD's D: the round trips that it needs to halve its rate with one loss per round trip.

    They are whole; without rounding it is log 0.5/log keep, 5.2 for GAIMD.
    """
    # 0.5 is exactly one halving in spite of rounding.
    return int(np.ceil(np.log(0.5) / np.log(keep) - 1e-9))


def tfrc_halving() -> int:
    """Return TFRC's D, for loss intervals that were long.

    These are the round trips with one loss each until the rate, the root of the mean interval, has halved.
    """
    left = 1 - np.cumsum(TFRC_WEIGHTS)
    return int(np.argmax(np.sqrt(np.maximum(left, 0)) <= 0.5)) + 1


def tear_fractions(losses: int) -> Array:
    """Return TEAR's rate after 0, 1, ... losses in consecutive round trips, as a share of that before them.

    >>> tear_fractions(5).round(3).tolist()[4:]
    [0.542, 0.393]
    """
    windows = np.concatenate((np.ones(9), 0.5 ** np.arange(1, losses + 1)))
    return np.asarray(_tear_rates(windows) / 0.75)


def tear_halving() -> int:
    """Return TEAR's D, the round trips with one loss each until the rate has halved."""
    return int(np.argmax(tear_fractions(8) <= 0.5))


def tfrc_increase(discount: float = 1.0) -> float:
    """Return TFRC's I: the growth of its rate per round trip without loss, in packets per round trip.

    It is 0.75 times the weight of the open interval. `discount` is the factor on the weights of older
    intervals: 1 without history discounting; ns-2's code has a floor of 0.5, reached when the open interval
    is twice the mean of the others.

    >>> round(tfrc_increase(), 3), round(tfrc_increase(0.5), 2)
    (0.125, 0.21)
    """
    newest = TFRC_WEIGHTS[0]
    return float(0.75 * newest / (newest + discount * (1 - newest)))


def tear_increase() -> float:
    """Return TEAR's largest I: half the weight of the newest epoch, 1/12 packets per round trip."""
    return float(TEAR_WEIGHTS[0] / 2)
