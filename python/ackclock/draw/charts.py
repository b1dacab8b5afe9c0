"""Interactive charts inside a page that loads nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ackclock.draw.figure import Axis, Chart, Diagram, Drawing, Group, Series, Table, resolved

MOST_ROWS = 2000
"""Largest number of rows of a curve; longer curves are thinned."""
LEAST_ROWS = 60
MOST_BYTES = 800_000
"""Size of all numbers of a page: with the code, texts and pictures it stays below 1.5 MB."""


@dataclass
class _Columns:
    """Columns as JSON, each written once."""

    most: int
    texts: dict[str, int] = field(default_factory=dict)
    thinned: bool = False

    def add(self, values: ArrayLike) -> int:
        column = np.asarray(values, float)
        text = ",".join(f"{value:.6g}" if np.isfinite(value) else "null" for value in column.tolist())
        return self.texts.setdefault(f"[{text}]", len(self.texts))


def data(groups: Mapping[str, Group], most: int = MOST_ROWS) -> tuple[str, str]:
    """Return the numbers of charts as JSON for a script of a page, and a note about what was left out.

    Numbers have six digits, and infinite or missing numbers are null. A long curve is divided into stretches
    and thinned to the smallest and the greatest value of each, so that no peak is lost; without thinning the
    note is empty. `most` is the largest number of rows of a curve.
    """
    while True:
        columns = _Columns(most)
        shown = {
            name: {
                "linked": group.linked,
                "columns": group.columns,
                "charts": [_chart(chart, columns) for chart in group.charts],
            }
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
    # A name must not be able to end the script that contains it.
    return text.replace("<", "\\u003c"), note if columns.thinned else ""


def dump(drawing: Drawing, most: int = MOST_ROWS) -> str:
    """Return a figure as JSON, for a page or a picture that is made later; charts are as in `data`."""
    if isinstance(drawing, Table):
        rows = [[str(cell) for cell in row] for row in drawing.rows]
        return json.dumps({"table": {"heads": list(drawing.heads), "rows": rows}}, ensure_ascii=False)
    if isinstance(drawing, Diagram):
        return json.dumps({"diagram": asdict(drawing)}, ensure_ascii=False)
    return data({"": drawing}, most)[0]


def load(text: str) -> Drawing:
    """Return the figure that `dump` wrote, with as many digits and rows as were written."""
    document = json.loads(text)
    if "table" in document:
        return Table(**document["table"])
    return Diagram(**document["diagram"]) if "diagram" in document else _group(document)


def _group(document: dict[str, Any]) -> Group:
    columns = [np.array(column, float) for column in document["columns"]]

    def series(record: dict[str, Any]) -> Series:
        numbers = {name: columns[record[name]] for name in COLUMNS if name in record}
        x, y = record.get("dots", (None, None))
        dots = None if x is None else (columns[x], columns[y])
        return Series(
            record["name"],
            record["colour"],
            **numbers,
            dots=dots,
            look=record.get("look", "line"),
            is_paper=record.get("paper", False),
        )

    def axis(record: dict[str, Any]) -> Axis:
        words = {name: record[name] for name in ("label", "unit", "log", "names") if name in record}
        ticks = [(position, word) for position, word in record["ticks"]]
        is_loose = "fixed" not in record
        return Axis(**words, range=tuple(record["range"]), ticks=ticks, is_loose=is_loose)

    group = document["groups"][""]
    charts = [
        Chart(
            **{name: chart[name] for name in OF_CHARTS if name in chart},
            x=axis(chart["x"]),
            y=axis(chart["y"]),
            series=[series(series_record) for series_record in chart["series"]],
        )
        for chart in group["charts"]
    ]
    return Group(charts, group["linked"], group["columns"])


COLUMNS = ("x", "y", "low", "high", "left", "right", "base")
"""Attributes of a series that are written as columns."""
OF_CHARTS = ("key", "title", "kind", "marks", "height", "bar_width", "has_numbers", "heading")
"""Attributes of a chart that are written unchanged."""


def _chart(chart: Chart, columns: _Columns) -> dict[str, object]:
    shown = resolved(chart)
    plain = {name: getattr(chart, name) for name in OF_CHARTS}
    return {name: value for name, value in plain.items() if value or name == "title"} | {
        "x": _axis(shown.x, chart.x),
        "y": _axis(shown.y, chart.y),
        "series": [_series(series, chart.kind, columns) for series in chart.series],
    }


def _axis(axis: Axis, original: Axis) -> dict[str, object]:
    record: dict[str, object] = {"label": axis.label, "unit": axis.unit}
    if axis.log:
        record["log"] = True
    if axis.names:
        record["names"] = list(axis.names)
    # Ends that were not requested may follow the visible values when names are hidden.
    if original.range is not None and None not in original.range and not original.is_loose:
        record["fixed"] = True
    assert axis.range is not None  # noqa: S101
    ends, positions = (
        [float(f"{value:.12g}") for value in values if value is not None]
        for values in (axis.range, (position for position, _ in axis.ticks))
    )
    words = [word for _, word in axis.ticks]
    return record | {"range": ends, "ticks": [list(tick) for tick in zip(positions, words, strict=True)]}


def _series(series: Series, kind: str, columns: _Columns) -> dict[str, object]:
    x, y = np.asarray(series.x, float), np.asarray(series.y, float)
    ends = {name: values for name in COLUMNS[2:] if (values := getattr(series, name)) is not None}
    if kind == "curves" and not ends and series.look in ("line", "steps"):
        rows = kept(y, columns.most)
        columns.thinned |= len(rows) < len(y)
        x, y = x[rows], y[rows]
    record: dict[str, object] = {"name": series.name, "colour": series.colour}
    record |= {"x": columns.add(x), "y": columns.add(y)}
    record |= {name: columns.add(values) for name, values in ends.items()}
    if series.look != "line":
        record["look"] = series.look
    if series.is_paper:
        record["paper"] = True
    if series.dots is not None:
        record["dots"] = [columns.add(values) for values in series.dots]
    return record


def kept(values: ArrayLike, most: int) -> NDArray[np.intp]:
    """Return the rows of a curve that show its course, in order; NaN marks missing values.

    These are all rows if there are at most `most`; else the first, the last, and the rows with the
    smallest and the greatest value of each of ``most / 2`` stretches of equal length.
    """
    curve = np.asarray(values, float)
    rows = len(curve)
    if rows <= most:
        return np.arange(rows)
    size = -(-rows // (most // 2))
    stretches = -(-rows // size)
    padded = np.full(stretches * size, np.nan)
    padded[:rows] = curve
    table = padded.reshape(stretches, size)
    least = np.where(np.isnan(table), np.inf, table).argmin(axis=1)
    greatest = np.where(np.isnan(table), -np.inf, table).argmax(axis=1)
    first = np.arange(stretches) * size
    return np.unique(np.concatenate([[0], first + least, first + greatest, [rows - 1]]))


@cache
def script() -> str:
    """Return the JavaScript that draws the charts, built from ``lab/src/charts`` by ``make charts``."""
    return Path(__file__).with_name("charts.js").read_text("utf-8")
