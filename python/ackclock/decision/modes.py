"""Samples with two modes, such as of a control that collapses in some runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

GAP = {3: 0.95, 4: 0.9}
"""With few runs, the gap between two modes takes at least this share of the range."""
WIDE = 0.8
"""The same share with more runs: Dixon's ratio of five normal numbers exceeds it in 1 of 100 samples at each
end (Annals of Mathematical Statistics 22, 1951), and of more numbers nearly never."""
APART = 0.1
"""Modes that differ by less than this share of the larger are one."""
LEAST_RUNS = 5
"""Fewer runs do not show two modes."""


@dataclass(frozen=True)
class Modes:
    """The two modes of a sample: their means, and in how many runs each is."""

    low: float
    high: float
    low_runs: int
    high_runs: int


def two_modes(values: Sequence[float] | NDArray[np.float64], least: int = LEAST_RUNS) -> Modes | None:
    """Return the two modes of a sample of at least `least` runs, or None where it has one.

    It has two when its largest gap takes most of its range.

    >>> two_modes([10.0, 10.1, 9.9, 1.0, 10.0])
    Modes(low=1.0, high=10.0, low_runs=1, high_runs=4)
    """
    numbers = np.sort(np.asarray(values, float))
    numbers = numbers[np.isfinite(numbers)]
    if numbers.size < max(3, least):
        return None
    gaps = np.diff(numbers)
    place = int(gaps.argmax())
    span = float(numbers[-1] - numbers[0])
    if gaps[place] < GAP.get(numbers.size, WIDE) * span or span <= APART * float(np.abs(numbers).max()):
        return None
    low, high = numbers[: place + 1], numbers[place + 1 :]
    return Modes(float(low.mean()), float(high.mean()), low.size, high.size)
