"""An answer in words."""

from __future__ import annotations

import numpy as np

from ackclock.comparison.questions import Question
from ackclock.metrics import Estimate

LOPSIDED = 0.05
"""Difference of the two sides of an interval, over half of it, from which both ends are written."""


def words(estimate: Estimate, question: Question | None = None) -> str:
    """Write an estimate for people.

    Parameters
    ----------
    estimate : Estimate
        An answer.
    question : Question, optional
        What was asked: an interval that says nothing about it is not written.

    Returns
    -------
    str
        Value and half of the interval, or both ends where they are not as far away; "never" with
        the number of runs when it is infinite; "too few runs to say" after a value whose interval
        is too wide.
    """
    if np.isinf(estimate.value):
        return f"never ({estimate.warning})"
    if np.isnan(estimate.value):
        return "-"
    if np.isnan(estimate.low):
        return f"{estimate.value:.3g}"
    if question is not None and not question.says(estimate):
        return f"{estimate.value:.3g} (too few runs to say)"
    up, down = estimate.high - estimate.value, estimate.value - estimate.low
    half = (up + down) / 2
    if half == 0:
        return f"{estimate.value:.4g} ± 0"
    # Two digits of the interval say how many of the value mean something; more than four are noise.
    largest = max(abs(estimate.value), half)
    places = min(1 - int(np.floor(np.log10(half))), 3 - int(np.floor(np.log10(largest))))
    places = max(0, places)
    if abs(up - down) > half * LOPSIDED:
        return f"{estimate.value:.{places}f} [{estimate.low:.{places}f}, {estimate.high:.{places}f}]"
    return f"{estimate.value:.{places}f} ± {half:.{places}f}"
