"""Comparisons of a flow or a group of flows with another one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def throughput_ratio(first: ArrayLike, second: ArrayLike) -> float:
    """Return the mean throughput of a group divided by that of another.

    Parameters
    ----------
    first, second : array_like
        Throughputs of the flows of each group, same unit.

    Returns
    -------
    float
        The ratio; infinite if the second group has no throughput.
    """
    other = float(np.mean(np.asarray(second, float)))
    return float(np.mean(np.asarray(first, float))) / other if other else float("inf")


def rtt_unfairness_exponent(throughput: ArrayLike, rtt: ArrayLike) -> float:
    """Fit the exponent of throughput ~ RTT^-e by least squares of the logarithms.

    Parameters
    ----------
    throughput, rtt : array_like
        Values of each flow, any units, shape (flows,); at least two different round-trip times.

    Returns
    -------
    float
        The exponent e: 0 if the round-trip time has no influence, 1 for equal windows, 2 for
        AIMD with synchronised losses.

    Examples
    --------
    >>> round(rtt_unfairness_exponent([9.0, 1.0], [40, 120]), 6)
    2.0
    """
    x = np.log(np.asarray(rtt, float))
    return float(-np.polyfit(x, np.log(np.asarray(throughput, float)), 1)[0])


def bandwidth_stolen_rate(alone: float, shared: float) -> float:
    """Return the share of its bandwidth that a group of Reno flows loses to a variant.

    Parameters
    ----------
    alone : float
        Throughput of the group next to as many Reno flows, T*.
    shared : float
        Throughput of the same group next to the variant, T'.

    Returns
    -------
    float
        (T* - T')/T*: 0 for a variant that takes what Reno would, negative for a variant that
        takes less (Wang, Wen, Zhang, Han, INFOCOM 2011, equation 22).
    """
    return (alone - shared) / alone


def throughput_degradation(alone: float, shared: float) -> float:
    """Return the share of its throughput that a flow loses when another one joins.

    Parameters
    ----------
    alone, shared : float
        Its throughput without and with the other flow.

    Returns
    -------
    float
        1 - shared/alone (Wang et al., INFOCOM 2011, figure 1, with its sign corrected).
    """
    return 1 - shared / alone
