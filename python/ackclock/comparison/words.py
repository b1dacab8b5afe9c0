"""An answer in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ackclock.decision import two_modes
from ackclock.metrics import Estimate

LOPSIDED = 0.05
"""Difference of the two sides of an interval, over its half-width, above which both ends are written."""


def words(estimate: Estimate, values: Sequence[float] = ()) -> str:
    """Return an estimate for people: its value with half of the interval, or with both ends.

    Both ends appear where they are not equally far from the value. An infinite estimate is "never" with the
    number of runs. Where the `values` of the runs have two modes, these are named instead.
    """
    value, interval = parts(estimate, values)
    return f"{value} {interval}".rstrip()


def rounded(value: float, digits: int = 3) -> str:
    """Return a number with at least `digits` digits and no power of ten where it is large.

    >>> rounded(2499.6), rounded(999.7), rounded(0.30149)
    ('2500', '1000', '0.301')
    """
    return f"{value:.0f}" if abs(value) >= 10**digits - 0.5 else f"{value:.{digits}g}"


def parts(estimate: Estimate, values: Sequence[float] = ()) -> tuple[str, str]:
    """Return the value of an estimate for people, and its interval, or an empty text without one.

    If the `values` have two modes, return the mode with more runs and the other mode, each with its runs.
    """
    modes = two_modes(values)
    if modes is not None:
        both = [(modes.high_runs, modes.high), (modes.low_runs, modes.low)]
        (most, usual), (few, other) = sorted(both, key=lambda mode: mode[0], reverse=True)
        return f"{rounded(usual)} in {most} runs,", f"{rounded(other)} in {few}"
    if np.isinf(estimate.value):
        return "never", f"({estimate.warning})"
    if np.isnan(estimate.value):
        return "-", ""
    if np.isnan(estimate.low):
        return rounded(estimate.value), ""
    up, down = estimate.high - estimate.value, estimate.value - estimate.low
    half = (up + down) / 2
    if half == 0:
        return rounded(estimate.value, 4), "± 0"
    # Two digits of the interval decide how many digits the value has; more than four are noise.
    largest = max(abs(estimate.value), half)
    decimals = min(1 - int(np.floor(np.log10(half))), 3 - int(np.floor(np.log10(largest))))
    decimals = max(0, decimals)
    if abs(up - down) > half * LOPSIDED:
        ends = f"[{estimate.low:.{decimals}f}, {estimate.high:.{decimals}f}]"
        return f"{estimate.value:.{decimals}f}", ends
    return f"{estimate.value:.{decimals}f}", f"± {half:.{decimals}f}"
