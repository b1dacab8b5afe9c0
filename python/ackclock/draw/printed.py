"""A described figure for print, drawn with Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from ackclock.draw import plots
from ackclock.draw.figure import (
    PAPER,
    Axis,
    Chart,
    Diagram,
    Drawing,
    Group,
    HeatMap,
    Series,
    Table,
    number,
    resolved,
)

HEIGHT = {"curves": 1.7, "points": 2.6}
"""Default heights of charts, inches."""
HEIGHT_OF_NAME = 0.24
PAPER_COLOUR = "#777777"
MARK_COLOUR = "#555555"
MOST_NAMES = 5
"""Largest number of names in a row of a legend."""
INCHES_PER_LETTER = 0.065
INCHES_OF_KEY = 0.55
"""Width of the key before each name of a legend."""
INCHES_OF_LABELS = 0.5
"""Width of the labels left of a panel."""
MOST_ROWS = 2
"""Rows of names above a panel narrower than the figure; more names are put above the figure."""
POINTS_OF_ROW, POINTS_OF_EDGE = 12.0, 8.0
"""Height of a row of names, and of the margin around them."""
STEEP = 45
HEIGHT_OF_CELL = 0.38
DARKEST = 0.55
"""Opacity of the darkest cell of a heat map, on which black text is still readable."""


def rendered(drawing: Drawing | HeatMap, name: str) -> dict[str, bytes]:
    """Return the files `name`.pdf and `name`.png of a figure, drawn in the common style."""
    with plots.in_style():
        picture = _heat_map(drawing) if isinstance(drawing, HeatMap) else draw(drawing)
        return plots.rendered(picture, name)


def draw(drawing: Drawing) -> plots.Picture:
    """Return a picture of a figure, in the style that is set."""
    if isinstance(drawing, Table):
        return _table(drawing)
    return _diagram(drawing) if isinstance(drawing, Diagram) else _charts(drawing)


def _charts(group: Group) -> plots.Picture:
    """Return a picture with a panel per chart, and the names, ranges, ticks and values of the page."""
    rows = -(-len(group.charts) // group.columns)
    height = max(map(_height, group.charts))
    figure, panels = plots.panels(rows, height=height, columns=group.columns)
    above = group.columns > 1 and any(_rows(chart, group.columns) > MOST_ROWS for chart in group.charts)
    legend: list[str] = []
    for position, (chart, panel) in enumerate(zip(group.charts, panels, strict=False)):
        shown = resolved(chart)
        names = _names(shown)
        # A legend that another panel already has is not repeated.
        has_legend = len(names) > 1 and not set(names) <= set(legend) and not above
        if has_legend:
            legend = names
        _panel(panel, shown, has_legend=has_legend, columns=group.columns)
        below = position + group.columns
        if group.linked and below < len(group.charts) and chart.x == group.charts[below].x:
            panel.set_xlabel("")
    for panel in panels[len(group.charts) :]:
        panel.set_axis_off()
    if above:
        _above(figure, panels)
    return figure


def _names(chart: Chart) -> list[str]:
    return list(dict.fromkeys(series.name for series in chart.series))


def _inches(names: Sequence[str]) -> float:
    """Return the width of a column of a legend, inches."""
    return INCHES_OF_KEY + INCHES_PER_LETTER * max(map(len, names), default=0)


def _side_by_side(names: Sequence[str], columns: int) -> int:
    """Return how many names fit in a row above a panel."""
    width = plots.WIDTH / columns - INCHES_OF_LABELS
    return min(len(names), MOST_NAMES, max(1, int(width / _inches(names))))


def _rows(chart: Chart, columns: int) -> int:
    names = _names(chart)
    return -(-len(names) // _side_by_side(names, columns)) if len(names) > 1 else 0


def _above(figure: plots.Picture, panels: Sequence[Axes]) -> None:
    """Put the names of all panels above the figure, each once."""
    handles: dict[str, Artist] = {}
    for panel in panels:
        for handle, name in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    count = _side_by_side(list(handles), 1)
    rows = -(-len(handles) // count)
    figure.set_figheight(figure.get_figheight() + (rows * POINTS_OF_ROW + POINTS_OF_EDGE) / 72)
    figure.legend(handles.values(), handles.keys(), loc="outside upper left", ncols=count, handlelength=3)


def _height(chart: Chart) -> float:
    if chart.height:
        return chart.height
    return 0.7 + HEIGHT_OF_NAME * len(chart.y.names) if chart.y.names else HEIGHT[chart.kind]


def _panel(panel: Axes, chart: Chart, *, has_legend: bool, columns: int) -> None:
    named: set[str] = set()
    for series in chart.series:
        # Matplotlib omits names that begin with an underscore from a legend.
        label = "_" if series.name in named else series.name
        named.add(series.name)
        _series(panel, chart, series, label)
    for mark in chart.marks:
        panel.axvline(mark, color=MARK_COLOUR, linewidth=0.7)
    _axis(panel, "x", chart.x, plots.WIDTH / columns)
    _axis(panel, "y", chart.y, 0.0)
    if chart.has_numbers:
        _numbers(panel, chart)
    names = _names(chart)
    if has_legend:
        plots.legend(panel, _side_by_side(names, columns))
    if not chart.heading:
        return
    if not has_legend:
        panel.set_title(chart.heading, loc="left")
        return
    width = plots.WIDTH / columns - INCHES_OF_LABELS
    taken = _side_by_side(names, columns) * _inches(names)
    if taken + INCHES_PER_LETTER * len(chart.heading) < width:
        panel.set_title(chart.heading, loc="right")
    else:
        # There is no room next to the names, so the title is put above them.
        pad = _rows(chart, columns) * POINTS_OF_ROW + POINTS_OF_EDGE
        panel.set_title(chart.heading, loc="left", pad=pad)


def _axis(panel: Axes, which: str, axis: Axis, width: float) -> None:
    drawn = panel.xaxis if which == "x" else panel.yaxis
    if axis.log:
        panel.set(**{f"{which}scale": "log"})
    drawn.set_ticks([position for position, _ in axis.ticks], [word for _, word in axis.ticks])
    drawn.set_ticks([], minor=True)
    assert axis.range is not None  # noqa: S101
    # Names are listed below each other, the first at the top.
    ends = axis.range[::-1] if which == "y" and axis.names else axis.range
    panel.set(**{f"{which}lim": ends, f"{which}label": axis.titled})
    if axis.names:
        panel.grid(visible=False, axis=which)  # type: ignore[arg-type]
        letters = sum(len(name) + 2 for name in axis.names)
        if which == "x" and letters * INCHES_PER_LETTER > width:
            panel.tick_params(axis="x", labelrotation=STEEP)
            for label in panel.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")


def _series(panel: Axes, chart: Chart, series: Series, label: str) -> None:
    x, y = np.asarray(series.x, float), np.asarray(series.y, float)
    if series.is_paper:
        half = chart.bar_width / 2 if _has_bars(chart) else None
        look: dict[str, Any] = {"color": PAPER_COLOUR, "zorder": 4}
        if series.look == "line":
            panel.plot(x, y, "--", linewidth=1.2, label=label, **look)
        elif half is None:
            panel.plot(x, y, "D", markersize=5, fillstyle="none", label=label, **look)
        else:
            # Its edges distinguish it from the bar.
            panel.hlines(y, x - half, x + half, linewidth=3.2, color="white", zorder=4)
            panel.hlines(y, x - half, x + half, linewidth=1.6, label=label, **look)
        return
    style = plots.style(series.colour)
    if series.look == "bars":
        base = np.zeros(len(x)) if series.base is None else np.asarray(series.base, float)
        # Stacked bars have their own colours.
        panel.bar(x, y - base, chart.bar_width, bottom=base, color=style["color"], label=label, zorder=2)
    elif series.look == "points":
        panel.plot(x, y, plots.marker(series.colour), color=style["color"], markersize=3.5, label=label)
    else:
        steps = "steps-post" if series.look == "steps" else "default"
        has_ends = series.low is not None or series.left is not None
        few: dict[str, Any] = {"marker": plots.marker(series.colour), "markersize": 3.5} if has_ends else {}
        panel.plot(x, y, drawstyle=steps, label=label, **style, **few)
    _intervals(panel, series, x, y)
    if series.dots is not None:
        panel.plot(*series.dots, ".", color=style["color"], alpha=0.4, markersize=4)


def _intervals(panel: Axes, series: Series, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    colour = "black" if series.look == "bars" else plots.style(series.colour)["color"]
    for low, high, value, key in (
        (series.low, series.high, y, "yerr"),
        (series.left, series.right, x, "xerr"),
    ):
        if low is None or high is None:
            continue
        ends = [value - np.asarray(low, float), np.asarray(high, float) - value]
        half = np.maximum(np.nan_to_num(np.asarray(ends)), 0)
        panel.errorbar(x, y, **{key: half}, fmt="none", ecolor=colour, elinewidth=0.9, capsize=2, zorder=3)


def _has_bars(chart: Chart) -> bool:
    return any(series.look == "bars" for series in chart.series)


def _numbers(panel: Axes, chart: Chart) -> None:
    """Write the value of each bar above the bar and its interval."""
    for series in chart.series:
        if series.look != "bars" or series.name == PAPER:
            continue
        tops = np.fmax(
            np.asarray(series.y, float), np.nan if series.high is None else np.asarray(series.high, float)
        )
        for x, y, top in zip(np.asarray(series.x, float), np.asarray(series.y, float), tops, strict=True):
            if np.isfinite(y):
                panel.annotate(
                    number(float(f"{y:.3g}")),
                    (x, top),
                    xytext=(0, 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                )


def _table(table: Table) -> plots.Picture:
    figure, (panel,) = plots.panels(1, height=0.35 + HEIGHT_OF_NAME * (len(table.rows) + 1))
    panel.axis("off")
    drawn = panel.table(
        cellText=[[str(cell) for cell in row] for row in table.rows],
        colLabels=list(table.heads),
        loc="center",
        cellLoc="left",
    )
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(8)
    drawn.auto_set_column_width(list(range(len(table.heads))))
    drawn.scale(1, 1.2)
    for cell in drawn.get_celld().values():
        cell.set_linewidth(0.4)
    return figure


def _heat_map(heat: HeatMap) -> plots.Picture:
    figure, (panel,) = plots.panels(1, height=0.6 + HEIGHT_OF_CELL * (len(heat.rows) + 1))
    shades = [[np.nan if cell.shade is None else cell.shade for cell in row] for row in heat.cells]
    panel.pcolormesh(
        np.asarray(shades, float), cmap="Blues", vmin=0, vmax=1, alpha=DARKEST, edgecolor="white"
    )
    for down, row in enumerate(heat.cells):
        for across, cell in enumerate(row):
            # The font has no bold letters, so the best cells have a frame.
            if cell.is_best:
                panel.add_patch(
                    Rectangle((across + 0.03, down + 0.06), 0.94, 0.88, fill=False, linewidth=0.8)
                )
            panel.text(across + 0.5, down + 0.38, cell.text, ha="center", va="center")
            panel.text(across + 0.5, down + 0.75, cell.detail, ha="center", va="center", fontsize=6)
    panel.set_xticks([position + 0.5 for position in range(len(heat.columns))], list(heat.columns))
    panel.set_yticks([position + 0.5 for position in range(len(heat.rows))], list(heat.rows))
    panel.tick_params(length=0, labeltop=True, labelbottom=False)
    panel.invert_yaxis()
    panel.grid(visible=False)
    panel.set_title(heat.title, loc="left")
    return figure


def _diagram(diagram: Diagram) -> plots.Picture:
    figure, (panel,) = plots.panels(1, height=2.4)
    panel.axis("off")
    panel.set(xlim=(-0.08, 1.08), ylim=(-0.15, 1.15))
    for start, end, label in diagram.arrows:
        (x0, y0), (x1, y1) = diagram.nodes[start], diagram.nodes[end]
        # A backward arrow is bent, so that it does not cover the forward arrow.
        is_back = x1 < x0
        arrow = {
            "arrowstyle": "->",
            "shrinkA": 14,
            "shrinkB": 14,
            "connectionstyle": "arc3,rad=0.25" if is_back else "arc3",
            "color": MARK_COLOUR,
        }
        panel.annotate("", (x1, y1), (x0, y0), arrowprops=arrow)
        lift = 0.05 + (0.25 * (x0 - x1) if is_back else 0)
        panel.text((x0 + x1) / 2, (y0 + y1) / 2 + lift, label, ha="center", fontsize=7)
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": plots.COLOURS[0]}
    for name, (x, y) in diagram.nodes.items():
        panel.text(x, y, name, ha="center", va="center", fontsize=8, bbox=box)
    return figure
