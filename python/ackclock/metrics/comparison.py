"""Comparisons of a flow or a group of flows with another one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ackclock.decision.intervals import Estimate
from ackclock.decision.ratios import ratio_of_means
from ackclock.metrics.series import FloatArray


def _array(values: ArrayLike) -> FloatArray:
    return np.asarray(values, float)


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
    own, other = (
        float(np.mean(values)) if values.size else float("nan") for values in map(_array, (first, second))
    )
    return own / other if other else float("inf" if own > 0 else "nan")


def drops_over_packets(drops: ArrayLike, packets: ArrayLike) -> list[Estimate]:
    """Divide the share of drops of each group of flows at a link by its share of packets.

    It is 1 where every packet is as likely to be dropped as any other: the rate of loss of a group over that
    of all flows.

    Parameters
    ----------
    drops : array_like
        Packets of each group that the link dropped, shape (runs, groups) or, for a single run, (groups,).
    packets : array_like
        Packets of each group that arrived at the link, of the same shape.

    Returns
    -------
    list of Estimate
        By group, the ratio of the mean shares with its interval over runs; a run without a drop does not
        count. It is NaN where nothing is known.

    Examples
    --------
    10 of 100 drops, with 25 of 100 packets:

    >>> [ratio.value for ratio in drops_over_packets([10, 90], [25, 75])]
    [0.4, 1.2]
    """
    shares = []
    for counts in (drops, packets):
        table = np.atleast_2d(_array(counts))
        every = table.sum(axis=1, keepdims=True)
        shares.append(table / np.where(every > 0, every, np.nan))
    lost, arrived = shares
    return [ratio_of_means(*columns) for columns in zip(lost.T, arrived.T, strict=True)]


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
    rtts, rates = _array(rtt), _array(throughput)
    # A line needs two different points, and only positive numbers have a logarithm.
    if np.unique(rtts).size < 2 or not (np.all(rtts > 0) and np.all(rates > 0)):
        return float("nan")
    return float(-np.polyfit(np.log(rtts), np.log(rates), 1)[0])


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
    return (alone - shared) / alone if alone else float("nan")


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
    return 1 - shared / alone if alone else float("nan")
