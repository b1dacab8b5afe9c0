"""The heat map of a question in a grid."""

from __future__ import annotations

import math

import numpy as np

from ackclock.comparison.answers import Comparison
from ackclock.comparison.grid import Cell, Grid, rank_cells
from ackclock.comparison.questions import Question
from ackclock.comparison.ranking import LEADING
from ackclock.comparison.words import parts
from ackclock.draw.figure import HeatCell, HeatMap


def heat_map(grid: Grid, question: Question) -> HeatMap:
    """Return the map of a question: a row per control and queue, a column per buffer.

    Shades are spread over the values of all controls, on the scale of the question's margin, and values that
    differ by less than the margin have nearly the same shade.
    """
    values = {
        (control, cell): comparison.estimates[question.key][control].value
        for cell, comparison in grid.cells.items()
        for control in grid.controls
    }
    shades = _shades(question, values)
    best = {
        (control, cell)
        for control in grid.controls
        if question.margin is not None
        for cell, standing in rank_cells(grid, question, control).items()
        if standing in LEADING
    }
    if len(best) == len(values):
        best = set()
    cells = []
    rows = []
    for control in grid.controls:
        for queue in grid.queues:
            rows.append(
                " ".join([control] * (len(grid.controls) > 1) + [queue] * (len(grid.queues) > 1)) or control
            )
            row = []
            for buffer in grid.buffers:
                key = control, (queue, buffer)
                text, detail = _parts(grid.cells[queue, buffer], question, control)
                row.append(HeatCell(text, detail, shades.get(key), key in best))
            cells.append(row)
    about = question.about if question.margin else f"{question.about}; a stronger colour means a larger value"
    return HeatMap(question.key, question.title, about, grid.buffers, rows, cells)


def _parts(comparison: Comparison, question: Question, control: str) -> tuple[str, str]:
    return parts(comparison.estimates[question.key][control], comparison.values[question.key][control])


def _shades(question: Question, values: dict[tuple[str, Cell], float]) -> dict[tuple[str, Cell], float]:
    """Return the shades of values: 0 for the worst or the smallest, 1 for the best or the largest."""
    margin = question.margin
    known = {key: value for key, value in values.items() if math.isfinite(value)}
    if not known:
        return {}
    scaled, step = known, 0.0
    if margin is not None and margin.ratio is not None:
        least = margin.least if margin.difference is None else margin.difference
        scaled = {key: math.log(max(value, least)) for key, value in known.items()}
        step = math.log(margin.ratio)
    elif margin is not None and margin.difference is not None:
        step = margin.difference
    low, high = min(scaled.values()), max(scaled.values())
    # Differences up to the margin do not matter, so they must not be a contrast.
    span = max(high - low, 4 * step) or 1.0
    is_lower_better = margin is not None and not margin.higher_is_better
    shades = {
        key: 1 - (value - low) / span if is_lower_better else 1 - (high - value) / span
        for key, value in scaled.items()
    }
    never = {key: 0.0 for key, value in values.items() if np.isinf(value)}
    return shades | never
