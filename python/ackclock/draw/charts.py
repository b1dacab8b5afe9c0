"""Charts that one can read, zoom and toggle, inside a page that needs nothing but itself."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROWS = 2000
"""Rows of a curve; one that has more is thinned."""
LEAST_ROWS = 60
MOST_BYTES = 800_000
"""Size of all numbers of a page: with the code, texts and pictures it stays below 1.5 MB."""
PRINT_DPI = 130
"""Of pictures for print, within a page."""
REDUCED, REDUCED_COLOURS = 0.4, 32
"""Size and colours of a picture of which a page has many."""


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
    range : tuple of float, optional
        First and last value; by default what is shown.
    """

    label: str
    unit: str = ""
    log: bool = False
    names: Sequence[str] = ()
    range: tuple[float, float] | None = None


SECONDS = Axis("time", "s")


@dataclass(frozen=True)
class Series:
    """A curve, or points.

    Attributes
    ----------
    name : str
        In the legend; series of one name are shown and hidden together.
    colour : int
        Its number, from 0.
    x, y : array_like, shape (rows,)
        In the units of the axes; for a curve x rises.
    low, high : array_like, shape (rows,), optional
        Ends of the intervals around y.
    left, right : array_like, shape (rows,), optional
        Ends of the intervals around x.
    dots : tuple of array_like, optional
        x and y of what the points are means of.
    is_joined : bool
        Whether a line joins the values of a curve.
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
    is_joined: bool = True


@dataclass(frozen=True)
class Chart:
    """One chart.

    Attributes
    ----------
    key : str
        Its name for tests and links.
    title : str
        Above it.
    x, y : Axis
        Its axes.
    series : sequence of Series
        What it shows.
    kind : str
        ``curves`` are joined; ``points`` are read one by one.
    """

    key: str
    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    kind: Literal["curves", "points"] = "curves"


@dataclass(frozen=True)
class Group:
    """Charts with one legend.

    Attributes
    ----------
    charts : sequence of Chart
        In their order.
    linked : bool
        Whether they are zoomed and read together.
    """

    charts: Sequence[Chart]
    linked: bool = True


@dataclass
class _Columns:
    """Columns as JSON, each once."""

    most: int
    texts: dict[str, int] = field(default_factory=dict)
    thinned: bool = False

    def add(self, values: ArrayLike) -> int:
        found = np.asarray(values, float)
        text = ",".join(f"{one:.6g}" if np.isfinite(one) else "null" for one in found.tolist())
        return self.texts.setdefault(f"[{text}]", len(self.texts))


def data(groups: Mapping[str, Group]) -> tuple[str, str]:
    """Write the numbers of charts as JSON that may stand inside a script of a page.

    Parameters
    ----------
    groups : mapping
        Groups of charts by the name of their place.

    Returns
    -------
    str, str
        JSON, in which numbers have six digits and what is not finite is null; and a sentence about
        what was left out, empty when nothing was. A curve is thinned to the least and the greatest
        value of each of as many stretches as there is room for, so that no peak is lost.
    """
    most = MOST_ROWS
    while True:
        columns = _Columns(most)
        shown = {
            name: {"linked": group.linked, "charts": [_chart(one, columns) for one in group.charts]}
            for name, group in groups.items()
        }
        numbers = f"[{','.join(columns.texts)}]"
        text = f'{{"columns":{numbers},"groups":{json.dumps(shown, separators=(",", ":"))}}}'
        if len(text) <= MOST_BYTES or most // 2 < LEAST_ROWS:
            break
        most //= 2
    note = (
        f"Curves are thinned for this page: of each of {most // 2} stretches of a longer curve "
        "its least and its greatest value are shown."
    )
    # Nothing in a name can end the script that holds it.
    return text.replace("<", "\\u003c"), note if columns.thinned else ""


def dump(group: Group) -> str:
    """Write charts down, for a page that is made later.

    Parameters
    ----------
    group : Group
        Charts.

    Returns
    -------
    str
        JSON, as `data` gives it.
    """
    return data({"": group})[0]


def load(text: str) -> Group:
    """Read what `dump` wrote.

    Parameters
    ----------
    text : str
        JSON.

    Returns
    -------
    Group
        The charts, with as many digits and rows as were written.
    """
    found = json.loads(text)
    columns = [np.array(one, float) for one in found["columns"]]
    named = ("x", "y", "low", "high", "left", "right")

    def series(one: dict[str, Any]) -> Series:
        numbers = {name: columns[one[name]] for name in named if name in one}
        return Series(one["name"], one["colour"], **numbers, is_joined="points" not in one)

    group = found["groups"][""]
    charts = [
        Chart(
            one["key"], one["title"], Axis(**one["x"]), Axis(**one["y"]),
            [series(each) for each in one["series"]], one["kind"],
        )
        for one in group["charts"]
    ]  # fmt: skip
    return Group(charts, group["linked"])


def _chart(chart: Chart, columns: _Columns) -> dict[str, Any]:
    return {
        "key": chart.key,
        "title": chart.title,
        "kind": chart.kind,
        "x": _axis(chart.x),
        "y": _axis(chart.y),
        "series": [_series(one, chart.kind, columns) for one in chart.series],
    }


def _axis(axis: Axis) -> dict[str, Any]:
    found: dict[str, Any] = {"label": axis.label, "unit": axis.unit}
    if axis.log:
        found["log"] = True
    if axis.names:
        found["names"] = list(axis.names)
    if axis.range is not None:
        found["range"] = list(axis.range)
    return found


def _series(series: Series, kind: str, columns: _Columns) -> dict[str, Any]:
    x, y = np.asarray(series.x, float), np.asarray(series.y, float)
    ends = {
        name: values
        for name in ("low", "high", "left", "right")
        if (values := getattr(series, name)) is not None
    }
    if kind == "curves" and not ends and series.is_joined:
        rows = kept(y, columns.most)
        columns.thinned |= len(rows) < len(y)
        x, y = x[rows], y[rows]
    found: dict[str, Any] = {"name": series.name, "colour": series.colour}
    found |= {"x": columns.add(x), "y": columns.add(y)}
    found |= {name: columns.add(values) for name, values in ends.items()}
    if kind == "curves" and not series.is_joined:
        found["points"] = True
    if series.dots is not None:
        found["dots"] = [columns.add(values) for values in series.dots]
    return found


def kept(values: ArrayLike, most: int) -> NDArray[np.intp]:
    """Choose the rows of a curve that show its course.

    Parameters
    ----------
    values : array_like, shape (rows,)
        The curve; NaN where there is nothing.
    most : int
        How many rows, besides the first and the last.

    Returns
    -------
    ndarray of int
        All, if there are no more; else the first, the last, and of each of ``most / 2`` stretches
        of equal length the rows with the least and the greatest value, in order.
    """
    found = np.asarray(values, float)
    rows = len(found)
    if rows <= most:
        return np.arange(rows)
    size = -(-rows // (most // 2))
    stretches = -(-rows // size)
    padded = np.full(stretches * size, np.nan)
    padded[:rows] = found
    table = padded.reshape(stretches, size)
    least = np.where(np.isnan(table), np.inf, table).argmin(axis=1)
    greatest = np.where(np.isnan(table), -np.inf, table).argmax(axis=1)
    first = np.arange(stretches) * size
    return np.unique(np.concatenate([[0], first + least, first + greatest, [rows - 1]]))


@cache
def script() -> str:
    """Read what draws the charts in the page.

    Returns
    -------
    str
        JavaScript, built from ``lab/src/charts`` by ``make charts``.
    """
    return Path(__file__).with_name("charts.js").read_text("utf-8")


def picture(figure: Figure, dpi: int = PRINT_DPI) -> str:
    """Put a picture into an address, for print and for browsers that run no scripts.

    Parameters
    ----------
    figure : Figure
        The picture.
    dpi : int
        Dots per inch.

    Returns
    -------
    str
        A PNG as ``data:`` address.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return address(buffer.getvalue())


def address(png: bytes) -> str:
    """Put the bytes of a PNG into an address, as `picture` does.

    Parameters
    ----------
    png : bytes
        A file that was written before.

    Returns
    -------
    str
        A ``data:`` address.
    """
    return "data:image/png;base64," + base64.b64encode(png).decode()


def reduced(png: bytes) -> str:
    """Put a picture into an address as small as it stays readable, for a page of many.

    Parameters
    ----------
    png : bytes
        A file as `plots.save` writes it, 200 dots per inch.

    Returns
    -------
    str
        A ``data:`` address of a PNG with 80 dots per inch and a palette.
    """
    from PIL import Image

    with Image.open(io.BytesIO(png)) as found:
        whole = found.convert("RGB")
    size = (max(1, round(whole.width * REDUCED)), max(1, round(whole.height * REDUCED)))
    small = whole.resize(size, Image.Resampling.LANCZOS).quantize(REDUCED_COLOURS)
    buffer = io.BytesIO()
    small.save(buffer, "png", optimize=True)
    return address(buffer.getvalue())


def numbered(names: Iterable[str]) -> dict[str, int]:
    """Give each name the number of its colour.

    Parameters
    ----------
    names : iterable of str
        In the order of the legend.

    Returns
    -------
    dict
        From 0, each name once.
    """
    return {name: index for index, name in enumerate(dict.fromkeys(names))}
