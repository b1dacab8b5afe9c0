"""Rates: goodput, losses, smoothness and fairness at any time scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ackclock.metrics.series import FloatArray, length_s


def goodput(time_s: ArrayLike, arrived_bytes: ArrayLike, start_s: float, end_s: float) -> float:
    """Return the rate of the data that arrived for the first time.

    Parameters
    ----------
    time_s : array_like
        Ends of the sampling intervals, seconds.
    arrived_bytes : array_like
        Bytes that arrived in each interval, each counted once.
    start_s, end_s : float
        Intervals that end in (start, end] count.

    Returns
    -------
    float
        The rate in Mbit/s.
    """
    time = np.asarray(time_s, dtype=float)
    inside = (time > start_s) & (time <= end_s)
    return float(np.asarray(arrived_bytes, dtype=float)[inside].sum() * 8e-6 / length_s(start_s, end_s))


def utilisation(time_s: ArrayLike, share: ArrayLike, start_s: float, end_s: float) -> float:
    """Return the share of time in which a link sends.

    Parameters
    ----------
    time_s : array_like
        Ends of equally long sampling intervals, seconds.
    share : array_like
        Share of each interval in which the link sent.
    start_s, end_s : float
        Intervals that end in (start, end] count.

    Returns
    -------
    float
        A share between 0 and 1; NaN without a sample.
    """
    time = np.asarray(time_s, float)
    inside = np.asarray(share, float)[(time > start_s) & (time <= end_s)]
    return float(inside.mean()) if inside.size else float("nan")


def loss_rate(lost: float, sent: float) -> float:
    """Return the share of packets that are lost or, given loss events, the loss event rate.

    Parameters
    ----------
    lost : float
        Number of lost packets, or of loss events.
    sent : float
        Packets sent, retransmissions included.

    Returns
    -------
    float
        Losses per packet sent; NaN if nothing was sent.
    """
    return lost / sent if sent else float("nan")


def over_intervals(
    time_s: ArrayLike, amount: ArrayLike, scale_s: float, start_s: float, end_s: float
) -> tuple[FloatArray, FloatArray]:
    """Turn amounts per sampling interval into rates over longer intervals.

    Parameters
    ----------
    time_s : array_like
        Ends of the sampling intervals, seconds.
    amount : array_like
        Amounts of each sampling interval, such as bytes, shape (samples,) or (samples, flows).
    scale_s : float
        Length of the longer intervals, a multiple of the sampling interval.
    start_s, end_s : float
        Limits of the time, seconds; an interval that is not complete is left out.

    Returns
    -------
    tuple of ndarray
        Ends of the intervals, shape (intervals,), and amounts per second, shape (intervals,) or
        (intervals, flows).

    Examples
    --------
    >>> ends, rates = over_intervals([1, 2, 3, 4], [1, 3, 5, 7], 2.0, 0.0, 4.0)
    >>> ends.tolist(), rates.tolist()
    ([2.0, 4.0], [2.0, 6.0])
    """
    time, values = np.asarray(time_s, float), np.asarray(amount, float)
    # A sample at the end of an interval belongs to it, even after rounding.
    count = int(np.floor((end_s - start_s) / scale_s + 1e-9))
    index = np.ceil((time - start_s) / scale_s - 1e-9).astype(int) - 1
    inside = (index >= 0) & (index < count)
    rates = np.zeros((count, *values.shape[1:]))
    np.add.at(rates, index[inside], values[inside])
    ends = np.asarray(start_s + scale_s * np.arange(1, count + 1), float)
    return ends, np.asarray(rates / scale_s, float)


def cov(values: ArrayLike, axis: int | None = None) -> FloatArray:
    """Return the coefficient of variation.

    Parameters
    ----------
    values : array_like
        Rates of a flow over time for its smoothness, CoV_time; of flows at one time for their
        short-term fairness, CoV_sf; or their long means for the long-term fairness, CoV_lf.
    axis : int, optional
        Axis of the values; by default all values count.

    Returns
    -------
    ndarray
        Standard deviation over mean; NaN if the mean is 0, or without values.

    Examples
    --------
    >>> float(cov([1.0, 3.0]))
    0.5
    """
    given = np.asarray(values, float)
    if given.size == 0:
        return np.asarray(np.full_like(given.sum(axis=axis), np.nan))
    # Squares of tiny or huge rates would exceed the range of a float; a power of 2 changes no digit.
    scaled = np.ldexp(given, -np.frexp(np.abs(given).max(initial=0.0))[1])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(scaled.std(axis=axis) / scaled.mean(axis=axis), float)


def jain(values: ArrayLike, axis: int | None = None) -> FloatArray:
    """Return Jain's fairness index.

    Parameters
    ----------
    values : array_like
        Rates of flows, any unit.
    axis : int, optional
        Axis of the flows; by default all values count.

    Returns
    -------
    ndarray
        (sum x)^2/(K sum x^2) = 1/(1 + CoV^2), from 1/K to 1; NaN if all rates are 0, or without rates.

    Examples
    --------
    >>> float(jain([1.0, 0.0]))
    0.5
    """
    return np.asarray(1 / (1 + cov(values, axis=axis) ** 2), float)


def worst_mean(values: ArrayLike, share: float) -> float:
    """Return the mean of the smallest values.

    Parameters
    ----------
    values : array_like
        Values such as Jain's index in each interval.
    share : float
        Share of the values that counts, above 0; at least one value does.

    Returns
    -------
    float
        The mean, with a share of 0.2 for droptail and 0.01 for RED in Xu, Harfoush, Rhee,
        INFOCOM 2004, figures 10 and 11.
    """
    ordered = np.sort(np.asarray(values, float).ravel())
    # NaN is sorted to the end.
    if ordered.size == 0 or np.isnan(ordered[-1]):
        return float("nan")
    return float(ordered[: max(1, round(share * ordered.size))].mean())


def delta_fair_time(time_s: ArrayLike, rates: ArrayLike, delta: float, from_s: float = 0.0) -> float:
    """Return the time until rates are delta-fair.

    Parameters
    ----------
    time_s : array_like
        Ends of intervals, seconds, shape (intervals,).
    rates : array_like
        Mean rate of each flow in each interval, shape (intervals, flows).
    delta : float
        Tolerance between 0 and 1.
    from_s : float
        Start of the clock: the time when the last flow begins.

    Returns
    -------
    float
        Seconds until every flow first has at least (1 - delta)/n of the sum; for two flows the
        shares (1 + delta)/2 and (1 - delta)/2 (Bansal, Balakrishnan, Floyd, Shenker, SIGCOMM
        2001). Infinite if they never do.
    """
    time, values = np.asarray(time_s, float), np.asarray(rates, float)
    total = values.sum(axis=1)
    least = (1 - delta) / values.shape[1]
    fair = (time > from_s) & (total > 0) & (values.min(axis=1) >= least * total * (1 - 1e-12))
    return float(time[np.argmax(fair)] - from_s) if fair.any() else float("inf")


def delay_percentiles_ms(
    rtt_ms: ArrayLike, propagation_ms: float, percent: ArrayLike = (50, 95, 99)
) -> FloatArray:
    """Return percentiles of the queueing delay.

    Parameters
    ----------
    rtt_ms : array_like
        Samples of the round-trip time; NaN does not count.
    propagation_ms : float
        Round trip without queueing and transmission, milliseconds.
    percent : array_like
        Percentiles to compute, in percent.

    Returns
    -------
    ndarray
        Milliseconds, of the shape of `percent`; NaN without a sample.
    """
    delays = np.asarray(rtt_ms, float)
    delays = delays[~np.isnan(delays)] - propagation_ms
    if delays.size == 0:
        return np.full(np.shape(percent), np.nan)
    return np.asarray(np.percentile(delays, np.asarray(percent, float)), np.float64)
