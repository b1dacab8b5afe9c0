"""Pictures for print as charts to read and zoom, with the numbers of the picture itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis as Drawn
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

from ackclock.draw.charts import Axis, Chart, Group, Series

Found = tuple[str, str, dict[str, Any]]
"""Label, colour, and what a series has besides."""


def of_figure(figure: Figure) -> Group | None:
    """Take what a picture shows.

    Parameters
    ----------
    figure : Figure
        Curves, points with intervals, and bars; one panel or several.

    Returns
    -------
    Group or None
        A chart per panel, linked if their horizontal axes are alike; None when a panel shows
        anything else, because a part of a picture would mislead.
    """
    panels = [panel for panel in figure.axes if panel.axison]
    found = [list(_series(panel)) for panel in panels if _is_known(panel)]
    if not panels or len(found) < len(panels) or not all(found):
        return None
    # A legend is in one panel, as a rule: in the others a colour has the same name.
    names: dict[str, str] = {}
    for label, colour, _ in (one for series in found for one in series):
        if not label.startswith("_"):
            names.setdefault(colour, label)
    colours: dict[str, int] = {}
    charts = []
    for number, (panel, series) in enumerate(zip(panels, found, strict=True)):
        title = next(filter(None, (panel.get_title(loc="left"), panel.get_title())), "")
        x, y = _axis(panel.xaxis, panel.get_xlim()), _axis(panel.yaxis, None)
        made = []
        for label, colour, columns in series:
            name = names.get(colour, "all") if label.startswith("_") else label
            made.append(Series(name, colours.setdefault(name, len(colours)), **columns))
        rises = all(np.all(np.diff(np.asarray(one.x, float)) > 0) for one in made)
        joined = any(one.is_joined for one in made)
        if joined and not rises:
            return None
        about = ": ".join(filter(None, (title, _words(y)))) or _words(x)
        kind: Literal["curves", "points"] = "curves" if joined else "points"
        charts.append(Chart(f"panel-{number}", about, x, y, made, kind))
    alike = len({(one.x.label, one.x.unit, one.kind) for one in charts}) == 1
    return Group(charts, linked=alike and charts[0].kind == "curves")


def _words(axis: Axis) -> str:
    return f"{axis.label} ({axis.unit})" if axis.unit else axis.label


def _is_known(panel: Axes) -> bool:
    """Whether a panel has nothing but lines, intervals and bars."""
    bars = {
        id(patch)
        for container in panel.containers
        if isinstance(container, BarContainer)
        for patch in container.patches
    }
    known = sum(
        len(container.lines[2])
        for container in panel.containers
        if isinstance(container, ErrorbarContainer)
    )
    return (
        len(panel.collections) == known
        and all(id(patch) in bars for patch in panel.patches)
        and not panel.images
    )


def _axis(axis: Drawn, limits: tuple[float, float] | None) -> Axis:
    words, _, unit = axis.get_label_text().partition(" (")
    label = words if unit.endswith(")") else axis.get_label_text()
    names = _names(axis)
    log = axis.get_scale() == "log"
    known = None if names or log or limits is None else (min(limits), max(limits))
    return Axis(label, unit.removesuffix(")") if label == words else "", log, names, known)


def _names(axis: Drawn) -> list[str]:
    places = list(axis.get_majorticklocs())
    named = isinstance(axis.get_major_locator(), FixedLocator) and places == [*range(len(places))]
    return [one.get_text() for one in axis.get_ticklabels()] if named else []


def _series(panel: Axes) -> Iterator[Found]:
    taken: set[int] = set()
    for container in panel.containers:
        if isinstance(container, ErrorbarContainer):
            line, caps, bars = container.lines
            if line is None:
                continue
            taken |= {id(line), *map(id, caps)}
            columns = _of_line(line)
            across = [("left", "right", 0)] if container.has_xerr else []
            up = [("low", "high", 1)] if container.has_yerr else []
            for (low, high, place), drawn in zip(across + up, bars, strict=True):
                ends = drawn.get_segments()
                if len(ends) == len(columns["x"]):
                    columns[low] = [one[0][place] for one in ends]
                    columns[high] = [one[1][place] for one in ends]
            yield str(container.get_label()), to_hex(line.get_color()), columns
        elif isinstance(container, BarContainer):
            patches = container.patches
            columns = {
                "x": [one.get_x() + one.get_width() / 2 for one in patches],
                "y": [one.get_y() + one.get_height() for one in patches],
                "is_joined": False,
            }
            yield str(container.get_label()), to_hex(patches[0].get_facecolor()), columns
    for line in panel.lines:
        if id(line) in taken:
            continue
        columns = _of_line(line)
        by_data = line.get_transform().contains_branch_seperately(panel.transData)
        # A line across the panel has no place of its own along it.
        if by_data == (False, True):
            columns["x"] = list(panel.get_xlim())
        elif by_data != (True, True):
            continue
        yield str(line.get_label()), to_hex(line.get_color()), columns


def _of_line(line: Line2D) -> dict[str, Any]:
    return {
        "x": np.asarray(line.get_xdata(orig=False), float),
        "y": np.asarray(line.get_ydata(orig=False), float),
        "is_joined": line.get_linestyle() not in ("None", "none", " ", ""),
    }
