"""A figure, described once: `printed` draws it with Matplotlib, a page draws it with uPlot."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Look = Literal["line", "steps", "points", "bars"]
Ends = tuple[float | None, float | None]
Ticks = Sequence[tuple[float, str]]

PAPER = "paper"
"""Name of the grey marks at the values that a paper states."""
BAR_WIDTH = 0.6
HEADROOM = 0.06
"""Of a linear axis, as a share of what is shown."""
LOG_ROOM = 1.25
MOST = sys.float_info.max
MOST_TICKS = 6
LEAST_DECADES = 2
"""With so few powers of ten, or fewer, a logarithmic axis has 1, 2 and 5 times them, too."""
MOST_DECADES = 7
MINUS = "\N{MINUS SIGN}"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes
    ----------
    label, unit : str
        What it shows; the unit may be empty.
    log : bool
        Logarithmic; what is not above 0 is left out.
    names : sequence of str
        In place of the numbers 0, 1, 2 and so on.
    range : tuple, optional
        First and last value; an end that is None, or no range, follows from what is shown.
    ticks : sequence of (float, str)
        Places that are labelled; by default round numbers, or the names.
    is_loose : bool
        Whether the range is only that of what is shown: a page may change it when names are hidden.
    """

    label: str
    unit: str = ""
    log: bool = False
    names: Sequence[str] = ()
    range: Ends | None = None
    ticks: Ticks = ()
    is_loose: bool = False

    @property
    def titled(self) -> str:
        """The label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


SECONDS = Axis("time", "s")


@dataclass(frozen=True)
class Series:
    """Values with one name.

    Attributes
    ----------
    name : str
        In the legend; series of one name are shown and hidden together.
    colour : int
        Its number, from 0.
    x, y : array_like, shape (rows,)
        In the units of the axes; for a line x rises.
    low, high : array_like, shape (rows,), optional
        Ends of the intervals around y.
    left, right : array_like, shape (rows,), optional
        Ends of the intervals around x.
    dots : tuple of array_like, optional
        x and y of what the values are means of.
    look : str
        ``line`` joins the values, ``steps`` holds each until the next, ``points`` and ``bars``
        stand alone.
    base : array_like, shape (rows,), optional
        Where bars begin; by default at 0. `y` is where they end.
    is_paper : bool
        Values that a paper states, drawn as grey marks.
    keys : sequence of hashable
        what `reproduction.figures` finds the paper's values by; not drawn.
    """

    name: str
    colour: int
    x: ArrayLike
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    left: ArrayLike | None = None
    right: ArrayLike | None = None
    dots: tuple[ArrayLike, ArrayLike] | None = None
    look: Look = "line"
    base: ArrayLike | None = None
    is_paper: bool = False
    keys: Sequence[object] = ()


@dataclass(frozen=True)
class Chart:
    """One chart.

    Attributes
    ----------
    key : str
        Its name for tests and links.
    title : str
        Above it; may be empty in print, where the axis says the same.
    x, y : Axis
        Its axes.
    series : sequence of Series
        What it shows.
    kind : str
        ``curves`` are read by their place along the x axis; ``points``, bars among them, one by
        one.
    marks : sequence of float
        Places along the x axis with a vertical line.
    height : float
        Inches in print; a page has the same proportions.
    bar_width : float
        Of bars, in units of the x axis.
    has_numbers : bool
        Whether the value stands above each bar.
    heading : str, optional
        In place of the title in print, where a vertical axis has a label.
    """

    key: str
    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    kind: Literal["curves", "points"] = "curves"
    marks: Sequence[float] = ()
    height: float = 0.0
    bar_width: float = BAR_WIDTH
    has_numbers: bool = False
    heading: str = ""


@dataclass(frozen=True)
class Group:
    """Charts with one legend: a figure.

    Attributes
    ----------
    charts : sequence of Chart
        In their order.
    linked : bool
        Whether they are zoomed and read together.
    columns : int
        How many stand side by side.
    """

    charts: Sequence[Chart]
    linked: bool = True
    columns: int = 1


def numbered(names: Iterable[str]) -> dict[str, int]:
    """Assign a colour to each name.

    Parameters
    ----------
    names : iterable of str
        In the order of the legend.

    Returns
    -------
    dict
        Numbers of colours from 0, each name once.
    """
    return {name: index for index, name in enumerate(dict.fromkeys(names))}


def resolved(chart: Chart) -> Chart:
    """Fix what both drawings of a chart must have in common: ranges and ticks.

    Parameters
    ----------
    chart : Chart
        A chart.

    Returns
    -------
    Chart
        The same with a range and ticks on both axes.
    """
    x_range, y_range = limits(chart, "x"), limits(chart, "y")
    x = replace(chart.x, range=x_range, ticks=ticks(chart.x, x_range))
    return replace(chart, x=x, y=replace(chart.y, range=y_range, ticks=ticks(chart.y, y_range)))


def limits(chart: Chart, axis: Literal["x", "y"]) -> tuple[float, float]:
    """Choose the ends of an axis.

    Parameters
    ----------
    chart : Chart
        A chart.
    axis : str
        ``x`` or ``y``.

    Returns
    -------
    float, float
        The ends that the axis has, and others from the values and intervals that are shown. Bars
        stand on 0, and so does every axis on which that leaves half of the room to the values.
    """
    of = chart.x if axis == "x" else chart.y
    if of.names:
        return -0.5, len(of.names) - 0.5
    low, high = of.range or (None, None)
    if low is not None and high is not None:
        return low, high
    shown = np.concatenate([np.zeros(0), *_shown(chart, axis)])
    shown = shown[np.isfinite(shown) & ((shown > 0) if of.log else True)]
    if not shown.size:
        first, last = (1.0, 10.0) if of.log else (0.0, 1.0)
    else:
        first, last = float(shown.min()), float(shown.max())
        if of.log:
            first, last = first / LOG_ROOM, last * LOG_ROOM
        elif axis == "x" and chart.kind == "curves":
            has_ends = any(one.low is not None or one.look == "points" for one in chart.series)
            edge = 0.5 if first == last else 0.02 * (last - first) if has_ends else 0.0
            first, last = first - edge, last + edge
        elif axis == "x" and any(one.look == "bars" for one in chart.series):
            first, last = first - chart.bar_width, last + chart.bar_width
        else:
            room = HEADROOM * (last - first or abs(last) or 1.0)
            on_zero = 0 <= first <= last / 2
            top = 0.0 if last == 0 > first else last + room
            first, last = 0.0 if on_zero else first - room, top
    first, last = (max(-MOST, min(MOST, one)) for one in (first, last))
    return first if low is None else low, last if high is None else high


def _shown(chart: Chart, axis: Literal["x", "y"]) -> Iterator[NDArray[np.float64]]:
    x_low, x_high = chart.x.range or (None, None)
    for one in chart.series:
        across = np.asarray(one.x, float)
        inside = np.ones(len(across), bool)
        if axis == "y" and not chart.x.names:
            inside &= across >= (-math.inf if x_low is None else x_low)
            inside &= across <= (math.inf if x_high is None else x_high)
        ends = (one.left, one.right) if axis == "x" else (one.low, one.high)
        for values in (one.x if axis == "x" else one.y, *ends):
            if values is not None:
                yield np.asarray(values, float)[inside]
        if one.dots is not None:
            yield np.asarray(one.dots[0 if axis == "x" else 1], float)
        if axis == "y" and one.look == "bars":
            yield np.asarray([0.0] if one.base is None else one.base, float)


def ticks(axis: Axis, ends: tuple[float, float]) -> list[tuple[float, str]]:
    """Choose the labelled places of an axis.

    Parameters
    ----------
    axis : Axis
        An axis.
    ends : tuple of float
        Its ends.

    Returns
    -------
    list of (float, str)
        Its own, if it has any; names; powers of ten on a logarithmic axis, with 1, 2 and 5 times
        them where there are too few; else round numbers.
    """
    if axis.ticks:
        return list(axis.ticks)
    if axis.names:
        return [(float(place), name) for place, name in enumerate(axis.names)]
    low, high = min(ends), max(ends)
    if not axis.log:
        return _labelled(_round_numbers(low, high))
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first + 1 > LEAST_DECADES:
        step = -(-(last - first + 1) // MOST_DECADES)
        return [(10.0**power, power_of_ten(power)) for power in range(first, last + 1, step)]
    finer = [m * 10.0**power for power in range(first - 1, last + 1) for m in (1, 2, 5)]
    return _labelled([one for one in finer if low <= one <= high] or [low, high])


def _round_numbers(low: float, high: float) -> list[float]:
    """Return the multiples of 1, 2, 2.5 or 5 times a power of ten within a range."""
    apart = (high - low) / MOST_TICKS
    if not 0 < apart < math.inf:
        return [low, high]
    power = 10.0 ** math.floor(math.log10(apart))
    step = next((one * power for one in (1, 2, 2.5, 5) if one * power >= apart), 10 * power)
    if not 0 < step < math.inf:
        return [low, high]
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [count * step for count in range(first, last + 1)]


def _labelled(places: Sequence[float]) -> list[tuple[float, str]]:
    """Write numbers with as many digits as tell them apart."""
    for digits in (6, 9, 12, 17):
        words = [number(one, digits) for one in places]
        if len(set(words)) == len(words):
            break
    return list(dict(zip(places, words, strict=True)).items())


def power_of_ten(power: int) -> str:
    """Write a power of ten as the axes do."""
    return f"10{str(power).translate(SUPERSCRIPTS)}"


def number(value: float, digits: int = 6) -> str:
    """Write a number at a tick: without an exponent where that is short, with a real minus."""
    text = f"{0.0 if value == 0 else float(value):.{digits}g}"
    return text.replace("-", MINUS)
