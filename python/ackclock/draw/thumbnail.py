"""A figure as a small drawing without words, for a map of many figures."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ackclock.draw.charts import kept
from ackclock.draw.figure import Axis, Chart, Diagram, Drawing, Series, Table, resolved

WIDTH, HEIGHT = 120.0, 72.0
EDGE = 4.0
MOST_PLACES = 90
"""Largest number of places of a curve."""
MOST_MARKS = 120
"""Largest number of points or bars of a name."""
MOST_NAMES = 12
COLOURS = 8
"""Number of classes of colours, `k0` and so on, which the style of the page defines."""
MOST_ROWS, MOST_COLUMNS = 7, 5


def svg(drawing: Drawing | None) -> str:
    """Return an SVG element that is hidden from screen readers: the text around it describes it."""
    root = ElementTree.Element(
        "svg", {"class": "thumbnail", "viewBox": f"0 0 {WIDTH:g} {HEIGHT:g}", "aria-hidden": "true"}
    )
    if isinstance(drawing, Table):
        _table(root, drawing)
    elif isinstance(drawing, Diagram):
        _diagram(root, drawing)
    elif drawing is not None and drawing.charts:
        _chart(root, resolved(drawing.charts[0]))
    return ElementTree.tostring(root, encoding="unicode")


def _add(root: ElementTree.Element, tag: str, kind: str, **numbers: float) -> None:
    ElementTree.SubElement(root, tag, {"class": kind} | {key: f"{at:.1f}" for key, at in numbers.items()})


def _table(root: ElementTree.Element, table: Table) -> None:
    rows, columns = min(MOST_ROWS, len(table.rows) + 1), min(MOST_COLUMNS, len(table.heads))
    high, wide = (HEIGHT - 2 * EDGE) / MOST_ROWS, (WIDTH - 2 * EDGE) / max(1, columns)
    for row in range(rows):
        for column in range(columns):
            kind = "frame" if row else "head"
            _add(
                root, "rect", kind, x=EDGE + column * wide, y=EDGE + row * high, width=0.75 * wide, height=4.0
            )


def _diagram(root: ElementTree.Element, diagram: Diagram) -> None:
    positions = {
        name: (EDGE + x * (WIDTH - 2 * EDGE), EDGE + (1 - y) * (HEIGHT - 2 * EDGE))
        for name, (x, y) in diagram.nodes.items()
    }
    for start, end, _ in diagram.arrows:
        (x1, y1), (x2, y2) = positions[start], positions[end]
        _add(root, "line", "frame", x1=x1, y1=y1, x2=x2, y2=y2)
    for x, y in positions.values():
        _add(root, "circle", "k0", cx=x, cy=y, r=4.0)


def _chart(root: ElementTree.Element, chart: Chart) -> None:
    _add(root, "line", "frame", x1=EDGE, y1=HEIGHT - EDGE, x2=WIDTH - EDGE, y2=HEIGHT - EDGE)
    _add(root, "line", "frame", x1=EDGE, y1=EDGE, x2=EDGE, y2=HEIGHT - EDGE)
    for series in chart.series[:MOST_NAMES]:
        _series(root, chart, series)


def _series(root: ElementTree.Element, chart: Chart, series: Series) -> None:
    if series.look in ("line", "steps"):
        rows = kept(series.y, MOST_PLACES)
    else:
        rows = np.arange(min(MOST_MARKS, np.size(series.x)))
    x, y = (
        _positions(np.asarray(values, float)[rows], axis, low, high)
        for values, axis, low, high in (
            (series.x, chart.x, EDGE, WIDTH - EDGE),
            (series.y, chart.y, HEIGHT - EDGE, EDGE),
        )
    )
    shown = np.isfinite(x) & np.isfinite(y)
    kind = "paper" if series.is_paper else f"k{series.colour % COLOURS}"
    if series.look == "bars":
        base = np.broadcast_to(
            np.asarray(0.0 if series.base is None else series.base, float), np.shape(series.y)
        )
        foot = _positions(base[rows], chart.y, HEIGHT - EDGE, EDGE)
        _bars(root, chart, kind, x[shown], y[shown], foot[shown])
    elif series.look == "points" or shown.sum() == 1:
        for across, up in zip(x[shown].tolist(), y[shown].tolist(), strict=True):
            _add(root, "circle", kind, cx=across, cy=up, r=1.8)
    elif shown.any():
        points = " ".join(f"{across:.1f},{up:.1f}" for across, up in zip(x[shown], y[shown], strict=True))
        ElementTree.SubElement(root, "polyline", {"class": kind, "points": points})


def _bars(
    root: ElementTree.Element,
    chart: Chart,
    kind: str,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    base: NDArray[np.float64],
) -> None:
    first, last = _ends(chart.x)
    wide = max(1.0, chart.bar_width * (WIDTH - 2 * EDGE) / ((last - first) or 1.0))
    for across, up, foot in zip(x.tolist(), y.tolist(), np.nan_to_num(base, nan=HEIGHT - EDGE), strict=True):
        _add(root, "rect", kind, x=across - wide / 2, y=min(up, foot), width=wide, height=abs(foot - up))


def _ends(axis: Axis) -> tuple[float, float]:
    """Return the ends of an axis that `resolved` has fixed."""
    low, high = axis.range or (0.0, 1.0)
    return (0.0 if low is None else low), (1.0 if high is None else high)


def _positions(values: ArrayLike, axis: Axis, first: float, last: float) -> NDArray[np.float64]:
    """Return the positions of values between two coordinates; values outside of the axis are on its edge."""
    numbers, (low, high) = np.asarray(values, float), _ends(axis)
    if axis.log:
        with np.errstate(divide="ignore", invalid="ignore"):
            numbers = np.where(numbers > 0, np.log10(numbers), np.nan)
        low, high = np.log10(low), np.log10(high)
    share = np.clip((numbers - low) / ((high - low) or 1.0), 0.0, 1.0)
    return first + share * (last - first)
