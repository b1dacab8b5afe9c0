"""Sampled values: integrals, means and moving averages. Samples come at increasing times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def integral(time_s: ArrayLike, value: ArrayLike, start_s: float, end_s: float) -> float:
    """Integrate a sampled value, linear between its samples.

    Parameters
    ----------
    time_s, value : array_like
        Times and values of the samples.
    start_s, end_s : float
        Limits of the time, seconds.

    Returns
    -------
    float
        The integral, in units of the value times seconds.
    """
    time = np.asarray(time_s, dtype=float)
    if time.size == 0:
        return float("nan")
    inside = time[(time > start_s) & (time < end_s)]
    grid = np.concatenate(([start_s], inside, [end_s]))
    return float(np.trapezoid(np.interp(grid, time, np.asarray(value, dtype=float)), grid))


def time_mean(time_s: ArrayLike, value: ArrayLike, start_s: float, end_s: float) -> float:
    """Average a sampled value over time.

    Parameters
    ----------
    time_s, value, start_s, end_s
        Arguments as for `integral`.

    Returns
    -------
    float
        The mean, in units of the value.
    """
    return integral(time_s, value, start_s, end_s) / length_s(start_s, end_s)


def length_s(start_s: float, end_s: float) -> float:
    """Return the length of an interval, seconds; raise ValueError unless it ends after it begins."""
    if not end_s > start_s:
        raise ValueError(f"end_s: {end_s:g} must come after start_s, {start_s:g}")
    return end_s - start_s


def cumulative(time_s: ArrayLike, value: ArrayLike) -> FloatArray:
    """Integrate a sampled value from the first sample on, linear between samples.

    Parameters
    ----------
    time_s, value : array_like
        Times and values of the samples.

    Returns
    -------
    ndarray
        The integral up to each sample, in units of the value times seconds.
    """
    samples = np.asarray(value, dtype=float)
    steps = np.diff(np.asarray(time_s, dtype=float)) * (samples[1:] + samples[:-1]) / 2
    return np.concatenate(([0.0], np.cumsum(steps)))


def smooth(time_s: ArrayLike, value: ArrayLike, at_s: ArrayLike, span_s: float) -> FloatArray:
    """Average a sampled value over `span_s`, centred at given times.

    Parameters
    ----------
    time_s, value : array_like
        Times and values of the samples.
    at_s : array_like
        Centres of the averages, seconds.
    span_s : float
        Width of the average, seconds.

    Returns
    -------
    ndarray
        The averages, in units of the value.
    """
    time, samples = np.asarray(time_s, dtype=float), np.asarray(value, dtype=float)
    if time.size < 2:
        return np.full(np.shape(at_s), np.nan)
    total = cumulative(time, samples)
    centre = np.asarray(at_s, dtype=float)

    # The integral of a linear piece is a parabola: interpolate it from both of its ends.
    def area(at: FloatArray) -> FloatArray:
        index = np.clip(np.searchsorted(time, at, side="right") - 1, 0, len(time) - 2)
        past = at - time[index]
        slope = (samples[index + 1] - samples[index]) / (time[index + 1] - time[index])
        value: FloatArray = total[index] + past * (samples[index] + slope * past / 2)
        return value

    averaged: FloatArray = (area(centre + span_s / 2) - area(centre - span_s / 2)) / span_s
    return averaged
