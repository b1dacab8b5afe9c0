"""The distributions of intervals and tests, from the extension.

SciPy has them, too, but takes longer to load than a comparison of kept runs takes; tests compare the two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ackclock import _native
from ackclock._native import beta_quantile as beta_quantile
from ackclock._native import chi_squared_above as chi_squared_above
from ackclock._native import student_below as student_below
from ackclock._native import student_quantile as student_quantile

Reals = NDArray[np.float64]


def normal_below(numbers: Reals) -> Reals:
    """Return the probability that a normal variable is below each number.

    >>> normal_below(np.array([0.0, 1.96])).round(3)
    array([0.5  , 0.975])
    """
    return _native.normal_below(np.ascontiguousarray(numbers, float).tobytes()).reshape(numbers.shape)


def gamma_quantiles(shape: float, probabilities: Reals) -> Reals:
    """Return the quantiles of the gamma distribution with scale 1 at these probabilities.

    With shape 1 it is the exponential distribution, and its median is the logarithm of 2:

    >>> gamma_quantiles(1.0, np.array([0.5])).round(4)
    array([0.6931])
    """
    return _native.gamma_quantiles(shape, probabilities.tolist())
