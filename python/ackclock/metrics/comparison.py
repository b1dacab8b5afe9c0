"""One flow or group of flows beside another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def throughput_ratio(first: ArrayLike, second: ArrayLike) -> float:
    """Give the mean throughput of one group over that of another.

    Parameters
    ----------
    first, second : array_like
        Throughputs of the flows of each group, same unit.

    Returns
    -------
    float
        Infinite when the second group got nothing.
    """
    other = float(np.mean(np.asarray(second, float)))
    return float(np.mean(np.asarray(first, float))) / other if other else float("inf")


def rtt_unfairness_exponent(throughput: ArrayLike, rtt: ArrayLike) -> float:
    """Fit the exponent of throughput ~ RTT^-e by least squares of the logarithms.

    Parameters
    ----------
    throughput, rtt : array_like
        Of each flow, any units, shape (flows,); at least two different round-trip times.

    Returns
    -------
    float
        e: 0 when the round-trip time does not matter, 1 for equal windows, 2 for AIMD whose
        losses are synchronised.

    Examples
    --------
    >>> round(rtt_unfairness_exponent([9.0, 1.0], [40, 120]), 6)
    2.0
    """
    x = np.log(np.asarray(rtt, float))
    return float(-np.polyfit(x, np.log(np.asarray(throughput, float)), 1)[0])


def bandwidth_stolen_rate(alone: float, beside: float) -> float:
    """Give the share of its bandwidth that a group of Reno flows loses to a variant.

    Parameters
    ----------
    alone : float
        Throughput of the group beside as many Reno flows, T*.
    beside : float
        Throughput of the same group beside the variant, T'.

    Returns
    -------
    float
        (T* - T')/T*: 0 for a variant that takes what Reno would, negative for one that takes less
        (Wang, Wen, Zhang, Han, INFOCOM 2011, equation 22).
    """
    return (alone - beside) / alone


def throughput_degradation(alone: float, shared: float) -> float:
    """Give the share of its throughput that a flow loses when another one comes.

    Parameters
    ----------
    alone, shared : float
        Its throughput without and with the other.

    Returns
    -------
    float
        1 - shared/alone (Wang et al., INFOCOM 2011, figure 1, with its sense made right).
    """
    return 1 - shared / alone
