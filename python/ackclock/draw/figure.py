"""A figure, described once: `printed` draws it with Matplotlib for a file, a page draws it in the browser."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Look = Literal["line", "steps", "points", "bars"]
Ends = tuple[float | None, float | None]
Ticks = Sequence[tuple[float, str]]

PAPER = "paper"
"""Name of the grey marks at values stated by a paper."""
BAR_WIDTH = 0.6
HEADROOM = 0.06
"""Margin of a linear axis, as a share of the range of the values."""
LOG_ROOM = 1.25
MOST = sys.float_info.max
MOST_TICKS = 6
LEAST_DECADES = 2
"""With at most so many powers of ten a logarithmic axis also has 1, 2 and 5 times them."""
MOST_DECADES = 7
MINUS = "\N{MINUS SIGN}"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """An axis of a chart."""

    label: str
    unit: str = ""
    log: bool = False
    """Values that are not above 0 are left out of a logarithmic axis."""
    names: Sequence[str] = ()
    """Labels in place of the numbers 0, 1, 2 and so on."""
    range: Ends | None = None
    """An end that is None, or a missing range, follows from the values shown."""
    ticks: Ticks = ()
    """Positions with labels; by default round numbers, or the names."""
    is_loose: bool = False
    """Whether a page may change the range when names are hidden."""

    @property
    def titled(self) -> str:
        """The label with its unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label


SECONDS = Axis("time", "s")


@dataclass(frozen=True)
class Series:
    """The values of one name."""

    name: str
    """Series of the same name are shown and hidden together."""
    colour: int
    x: ArrayLike
    """Increasing for a line; this and the other arrays have the shape (rows,)."""
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    """Ends of the intervals around y, as ``left`` and ``right`` are around x."""
    left: ArrayLike | None = None
    right: ArrayLike | None = None
    dots: tuple[ArrayLike, ArrayLike] | None = None
    """The x and y of the single values behind the means."""
    look: Look = "line"
    """``line`` joins the values, ``steps`` holds each until the next; others stand alone."""
    base: ArrayLike | None = None
    """Lower ends of bars, by default 0; their upper ends are `y`."""
    is_paper: bool = False
    """Whether these are values that a paper states, drawn in grey: as marks, or as a line."""
    keys: Sequence[object] = ()
    """Keys of the paper's values in `reproduction.figures`; not drawn."""


@dataclass(frozen=True)
class Chart:
    """One chart of a figure."""

    key: str
    """Name for tests and links."""
    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    kind: Literal["curves", "points"] = "curves"
    """Curves are read at a position of the x axis; points, including bars, one at a time."""
    marks: Sequence[float] = ()
    """Positions of vertical lines."""
    height: float = 0.0
    """Inches in print; a page has the same proportions."""
    bar_width: float = BAR_WIDTH
    """In units of the x axis."""
    has_numbers: bool = False
    """Whether the value of each bar is written above it."""
    heading: str = ""
    """Replaces the title in print, where a vertical axis has a label."""


@dataclass(frozen=True)
class Group:
    """A figure: charts with one legend."""

    charts: Sequence[Chart]
    linked: bool = True
    """Whether the charts are zoomed and read together."""
    columns: int = 1
    """Number of charts side by side."""


@dataclass(frozen=True)
class Table:
    """A figure that is a table of text."""

    heads: Sequence[str]
    rows: Sequence[Sequence[object]]
    """Cells by row, shown as their texts."""


@dataclass(frozen=True)
class Diagram:
    """A figure that is a drawing of nodes and labelled arrows."""

    nodes: Mapping[str, tuple[float, float]]
    """The place of each node: both coordinates are between 0 and 1, and the second increases upwards."""
    arrows: Sequence[tuple[str, str, str]]
    """From, to, label."""


@dataclass(frozen=True)
class HeatCell:
    """A number of a heat map."""

    text: str
    detail: str = ""
    """Small print below the number, such as its interval."""
    shade: float | None = None
    """From 0 for the lightest to 1 for the darkest; None without a number."""
    is_best: bool = False
    """Whether the number is bold."""


@dataclass(frozen=True)
class HeatMap:
    """A table of numbers on shades, for a number that depends on two things."""

    key: str
    """Name for tests and links."""
    title: str
    about: str
    """The quantity, and the meaning of the shades."""
    columns: Sequence[str]
    rows: Sequence[str]
    cells: Sequence[Sequence[HeatCell]]
    """Cells by row."""


Drawing = Group | Table | Diagram


def numbered(names: Iterable[str]) -> dict[str, int]:
    """Return the number of the colour of each name, from 0 in the order of the names."""
    return {name: index for index, name in enumerate(dict.fromkeys(names))}


def resolved(chart: Chart) -> Chart:
    """Return a chart with fixed ranges and ticks, which both drawings of it share."""
    x_range, y_range = limits(chart, "x"), limits(chart, "y")
    x = replace(chart.x, range=x_range, ticks=ticks(chart.x, x_range))
    return replace(chart, x=x, y=replace(chart.y, range=y_range, ticks=ticks(chart.y, y_range)))


def limits(chart: Chart, axis: Literal["x", "y"]) -> tuple[float, float]:
    """Return the ends of an axis: its own, or the range of the shown values and intervals.

    Bars begin at 0, and so does every axis if the values then still take half of its length.
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
            has_ends = any(series.low is not None or series.look == "points" for series in chart.series)
            edge = 0.5 if first == last else 0.02 * (last - first) if has_ends else 0.0
            first, last = first - edge, last + edge
        elif axis == "x" and any(series.look == "bars" for series in chart.series):
            first, last = first - chart.bar_width, last + chart.bar_width
        else:
            room = HEADROOM * (last - first or abs(last) or 1.0)
            on_zero = 0 <= first <= last / 2
            top = 0.0 if last == 0 > first else last + room
            first, last = 0.0 if on_zero else first - room, top
    first, last = (max(-MOST, min(MOST, end)) for end in (first, last))
    return first if low is None else low, last if high is None else high


def _shown(chart: Chart, axis: Literal["x", "y"]) -> Iterator[NDArray[np.float64]]:
    x_low, x_high = chart.x.range or (None, None)
    for series in chart.series:
        across = np.asarray(series.x, float)
        inside = np.ones(len(across), bool)
        if axis == "y" and not chart.x.names:
            inside &= across >= (-math.inf if x_low is None else x_low)
            inside &= across <= (math.inf if x_high is None else x_high)
        ends = (series.left, series.right) if axis == "x" else (series.low, series.high)
        for values in (series.x if axis == "x" else series.y, *ends):
            if values is not None:
                yield np.asarray(values, float)[inside]
        if series.dots is not None:
            yield np.asarray(series.dots[0 if axis == "x" else 1], float)
        if axis == "y" and series.look == "bars":
            yield np.asarray([0.0] if series.base is None else series.base, float)


def ticks(axis: Axis, ends: tuple[float, float]) -> list[tuple[float, str]]:
    """Return the labelled positions of an axis: its own ticks, names, or round numbers.

    A logarithmic axis has powers of ten, with 1, 2 and 5 times them where there are too few.
    """
    if axis.ticks:
        return list(axis.ticks)
    if axis.names:
        return [(float(position), name) for position, name in enumerate(axis.names)]
    low, high = min(ends), max(ends)
    if not axis.log:
        return _labelled(_round_numbers(low, high))
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first + 1 > LEAST_DECADES:
        step = -(-(last - first + 1) // MOST_DECADES)
        return [(10.0**power, power_of_ten(power)) for power in range(first, last + 1, step)]
    finer = [m * 10.0**power for power in range(first - 1, last + 1) for m in (1, 2, 5)]
    return _labelled([position for position in finer if low <= position <= high] or [low, high])


def _round_numbers(low: float, high: float) -> list[float]:
    """Return the multiples of 1, 2, 2.5 or 5 times a power of ten within a range."""
    apart = (high - low) / MOST_TICKS
    if not 0 < apart < math.inf:
        return [low, high]
    power = 10.0 ** math.floor(math.log10(apart))
    step = next((factor * power for factor in (1, 2, 2.5, 5) if factor * power >= apart), 10 * power)
    if not 0 < step < math.inf:
        return [low, high]
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [count * step for count in range(first, last + 1)]


def _labelled(positions: Sequence[float]) -> list[tuple[float, str]]:
    """Return numbers with texts of as many digits as distinguish them."""
    for digits in (6, 9, 12, 17):
        words = [number(position, digits) for position in positions]
        if len(set(words)) == len(words):
            break
    return list(dict(zip(positions, words, strict=True)).items())


def power_of_ten(power: int) -> str:
    """Return a power of ten as a label."""
    return f"10{str(power).translate(SUPERSCRIPTS)}"


def number(value: float, digits: int = 6) -> str:
    """Return the text of a tick: without an exponent where that is short, with a true minus sign."""
    text = f"{0.0 if value == 0 else float(value):.{digits}g}"
    return text.replace("-", MINUS)
