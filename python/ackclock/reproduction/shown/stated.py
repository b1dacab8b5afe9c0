"""The numbers that a paper's text and tables state for a figure, drawn as grey marks.

``stated`` in the table of an artefact in `claims.toml` of a paper has entries:

- ``points``: pairs of positions, where a word is a name on the axis; or
- ``level``: a value for the whole width of the chart; or
- ``at``: a position on the horizontal axis;
- ``source``: the section or table in which the paper says so;
- ``charts``: keys of charts; without them the marks are in every chart of the figure.

No mark is read off a plot. None needs a run: they are added whenever a figure is read, and so are in older
results, too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.draw.figure import PAPER, Axis, Chart, Drawing, Ends, Group, Series, limits
from ackclock.reproduction.claims import records


@dataclass(frozen=True)
class Stated:
    """Numbers that a paper states for `charts`, or for every chart where it names none.

    `source` is the section or table. They are `points`, or a `level`, or a position `at` which something
    happens. Raises ValueError without a source, or unless exactly one of the three is given.
    """

    source: str
    charts: Sequence[str] = ()
    points: Sequence[tuple[float | str, float | str]] = ()
    level: float | None = None
    at: float | None = None

    def __post_init__(self) -> None:
        if not self.source:
            raise ValueError("a stated number needs its source in the paper")
        if [bool(self.points), self.level is not None, self.at is not None].count(True) != 1:
            raise ValueError(f"{self.source!r} needs either points, a level or a position")


def load(home: Path | None) -> dict[str, list[Stated]]:
    """Read the stated numbers of a paper by artefact; none if its directory or its file does not exist.

    Raises TypeError, ValueError or TOMLDecodeError when the file is wrong.
    """
    file = home / records.FILE if home else None
    tables = tomllib.loads(file.read_text(encoding="utf-8")) if file and file.is_file() else {}
    return {
        name: [Stated(**entry) for entry in table["stated"]]
        for name, table in tables.items()
        if "stated" in table
    }


def marked(drawing: Drawing | None, stated: Sequence[Stated]) -> Drawing | None:
    """Return a figure with the numbers that the paper states for it; only charts have marks.

    Raises LookupError when the figure lacks a chart or an axis lacks a name.
    """
    if not isinstance(drawing, Group):
        return drawing
    keys = {chart.key for chart in drawing.charts}
    missing = {key for number in stated for key in number.charts} - keys
    if missing:
        raise LookupError(f"there is no chart {min(missing)}; there are {', '.join(sorted(keys))}")
    charts = [
        _marked(chart, [number for number in stated if not number.charts or chart.key in number.charts])
        for chart in drawing.charts
    ]
    return replace(drawing, charts=charts)


def sources(stated: Iterable[Stated]) -> str:
    """Return where the paper states numbers, each place once."""
    return "; ".join(dict.fromkeys(number.source for number in stated))


def _marked(chart: Chart, stated: Sequence[Stated]) -> Chart:
    marks = list(_marks(chart, stated))
    if not marks:
        return chart
    x = _grown(chart.x, limits(chart, "x"), np.concatenate([np.asarray(mark.x, float) for mark in marks]))
    y = _grown(chart.y, limits(chart, "y"), np.concatenate([np.asarray(mark.y, float) for mark in marks]))
    return replace(chart, x=x, y=y, series=[*chart.series, *marks])


def _marks(chart: Chart, stated: Sequence[Stated]) -> Iterator[Series]:
    """Yield a series for all points of a chart, and one for each of its lines."""
    colour = len(chart.series)
    points = [(_position(chart.x, x), _position(chart.y, y)) for number in stated for x, y in number.points]
    if points:
        x, y = zip(*sorted(points), strict=True)
        yield Series(PAPER, colour, x, y, look="points", is_paper=True)
    for number in stated:
        if number.level is not None:
            yield Series(PAPER, colour, _ends(chart, "x"), (number.level, number.level), is_paper=True)
        if number.at is not None:
            yield Series(PAPER, colour, (number.at, number.at), _ends(chart, "y"), is_paper=True)


def _position(axis: Axis, value: float | str) -> float:
    if not isinstance(value, str):
        return value
    if value not in axis.names:
        raise LookupError(f"there is no {value!r} on the axis; there are {', '.join(axis.names)}")
    return float(list(axis.names).index(value))


def _ends(chart: Chart, of: Literal["x", "y"]) -> tuple[float, float]:
    """Return the ends of a line: the range of the shown points, or the ends of an axis of names."""
    shown = np.concatenate([np.asarray(getattr(series, of), float) for series in chart.series])
    shown = shown[np.isfinite(shown)]
    is_free = shown.size and not getattr(chart, of).names
    return (float(shown.min()), float(shown.max())) if is_free else limits(chart, of)


def _grown(axis: Axis, ends: tuple[float, float], positions: NDArray[np.float64]) -> Axis:
    """Return an axis that has room for marks: one with ends that a figure was read with keeps the others."""
    if not axis.is_loose:
        return axis
    low, high = ends
    grown: Ends = (None if positions.min() < low else low, None if positions.max() > high else high)
    return replace(axis, range=grown, ticks=()) if None in grown else axis
