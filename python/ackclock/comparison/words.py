"""An answer in words."""

from __future__ import annotations

import numpy as np

from ackclock.metrics import Estimate


def words(estimate: Estimate) -> str:
    """Write an estimate for people.

    Parameters
    ----------
    estimate : Estimate
        An answer.

    Returns
    -------
    str
        Value and half of the interval; "never" with the number of runs when it is infinite.
    """
    if np.isinf(estimate.value):
        return f"never ({estimate.warning})"
    if np.isnan(estimate.value):
        return "-"
    if np.isnan(estimate.low):
        return f"{estimate.value:.3g}"
    half = (estimate.high - estimate.low) / 2
    if half == 0:
        return f"{estimate.value:.4g} ± 0"
    # Two digits of the interval say how many of the value mean something; more than four are noise.
    largest = max(abs(estimate.value), half)
    places = min(1 - int(np.floor(np.log10(half))), 3 - int(np.floor(np.log10(largest))))
    places = max(0, places)
    return f"{estimate.value:.{places}f} ± {half:.{places}f}"
