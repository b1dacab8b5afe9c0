"""The pictures of an evaluation: one per criterion, and timelines of what happened."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ackclock.draw import plots
from ackclock.evaluation.cell import words
from ackclock.evaluation.results import CANDIDATE, CellResult, CriterionResult, Judged, Measured
from ackclock.evaluation.setting import CUBIC

MOST_PANELS = 4
MOST_TIMELINES = 2
QUANTILES = (50, 95, 99)
"""Percentiles that runs keep of delays and completion times."""
LEAST_STEPS = 3
"""Of a ladder."""


def metric_of(result: CriterionResult) -> tuple[str, str]:
    """Choose what the picture of a criterion shows.

    Parameters
    ----------
    result : CriterionResult
        What came of it.

    Returns
    -------
    str, str
        A metric and its unit: the criterion's own, or the first that is judged.
    """
    margins = [one.margin for cell in result.cells for one in cell.judged]
    units = {one.metric: one.unit for one in margins}
    limits = [limit for cell in result.cells for limit, _ in cell.limits]
    wanted = result.criterion.shown
    if not wanted:
        wanted = margins[0].metric if margins else limits[0].metric if limits else ""
    return wanted, units.get(wanted, next((one.unit for one in limits), "") if not margins else "")


def criterion(result: CriterionResult, name: str) -> Figure | None:
    """Draw a criterion: its number along an axis, or by cell.

    Parameters
    ----------
    result : CriterionResult
        What came of it.
    name : str
        Of the candidate.

    Returns
    -------
    Figure or None
        None when there is nothing to draw.
    """
    metric, unit = metric_of(result)
    cells = [cell for cell in result.cells if cell.measured[CANDIDATE].values(metric)]
    cells = [cell for cell in cells if np.isfinite(_value(cell.measured[CANDIDATE], metric))]
    if not cells:
        return None
    label = f"{words(metric)} ({unit})" if unit else words(metric)
    axis = result.criterion.axis
    along = [cell for cell in cells if axis in cell.cell.parameters]
    with plots.in_style():
        if axis and len(along) > 1:
            return _along(along, axis, metric, label, name)
        return _by_cell(cells, metric, label, name)


def _value(measured: Measured, metric: str) -> float:
    return measured.estimate(metric).value


def _labels(cells: Sequence[CellResult], metric: str, name: str) -> list[tuple[str, str]]:
    """Give the controls that have the number, each with its name: the candidate first."""
    return [
        (who, name if who == CANDIDATE else who)
        for who in cells[0].measured
        if any(np.isfinite(_value(cell.measured[who], metric)) for cell in cells)
    ]


def _along(cells: Sequence[CellResult], axis: str, metric: str, label: str, name: str) -> Figure:
    groups: dict[str, list[CellResult]] = {}
    for cell in cells:
        others = [
            f"{key.replace('_', ' ')} {value}"
            for key, value in cell.cell.parameters.items()
            if key != axis
        ]
        groups.setdefault(", ".join(others), []).append(cell)
    shown = list(groups.items())[:MOST_PANELS]
    figure, panels = plots.panels(1, columns=len(shown), height=2.4)
    for panel, (title, group) in zip(panels, shown, strict=True):
        ordered = sorted(group, key=lambda cell: float(cell.cell.parameters[axis]))
        x = [float(cell.cell.parameters[axis]) for cell in ordered]
        for index, (who, control) in enumerate(_labels(cells, metric, name)):
            found = [cell.measured[who].estimate(metric) for cell in ordered]
            plots.errors(
                panel, x, [one.value for one in found], [one.low for one in found],
                [one.high for one in found], index=index, label=control,
            )  # fmt: skip
        if max(x) > 8 * max(min(x), 1e-9):
            panel.set_xscale("log")
            panel.set_xticks(x, [f"{one:g}" for one in x])
            panel.minorticks_off()
        panel.set_title(title, loc="left")
        panel.set_xlabel(axis.replace("_", " "))
        _from_zero(panel)
    panels[0].set_ylabel(label)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=4)
    return figure


def _from_zero(panel: Axes) -> None:
    low, high = panel.get_ylim()
    if low > 0:
        panel.set_ylim(0, high)


def _by_cell(cells: Sequence[CellResult], metric: str, label: str, name: str) -> Figure:
    labels = _labels(cells, metric, name)
    figure, (panel,) = plots.panels(1, height=0.7 + 0.09 * len(cells) * (1 + len(labels)))
    for index, (who, title) in enumerate(labels):
        places = np.arange(len(cells)) + 0.8 * (index / len(labels) - 0.4)
        found = [cell.measured[who].estimate(metric) for cell in cells]
        plots.errors(
            panel, [one.value for one in found], places, [one.low for one in found],
            [one.high for one in found], index=index, label=title, joined=False, sideways=True,
        )  # fmt: skip
    panel.set_yticks(range(len(cells)), [cell.cell.name for cell in cells])
    panel.set_ylim(len(cells) - 0.5, -0.5)
    panel.grid(visible=False, axis="y")
    panel.set_xlabel(label)
    values = [abs(_value(cell.measured[who], metric)) for cell in cells for who, _ in labels]
    known = [one for one in values if np.isfinite(one) and one > 0]
    if known and max(known) > 100 * min(known) and panel.get_xlim()[0] >= 0:
        panel.set_xscale("log")
    plots.legend(panel, len(labels))
    return figure


def quantiles(result: CriterionResult, name: str) -> Figure | None:
    """Draw the tail of a distribution whose percentile the criterion shows.

    The horizontal axis is -log10(1 - share), so that the last per cents have room: a cumulative
    distribution function on its side.

    Parameters
    ----------
    result : CriterionResult
        What came of it.
    name : str
        Of the candidate.

    Returns
    -------
    Figure or None
        A panel per cell; None when the criterion's number is not a percentile, or the only one.
    """
    metric, unit = metric_of(result)
    known = [re.sub(r"_p\d+", f"_p{percent}", metric) for percent in QUANTILES]
    if len(set(known)) < len(QUANTILES):
        return None

    def has_all(measured: Measured) -> bool:
        return bool(np.isfinite([_value(measured, one) for one in known]).all())

    cells = [cell for cell in result.cells if has_all(cell.measured[CANDIDATE])][:MOST_PANELS]
    if not cells:
        return None
    x = [-np.log10(1 - percent / 100) for percent in QUANTILES]
    with plots.in_style():
        figure, panels = plots.panels(-(-len(cells) // 2), columns=min(2, len(cells)), height=2.0)
        for panel, cell in zip(panels, cells, strict=False):
            for index, (who, control) in enumerate(_labels([cell], metric, name)):
                if not has_all(cell.measured[who]):
                    continue
                found = [cell.measured[who].estimate(one) for one in known]
                plots.errors(
                    panel, x, [one.value for one in found], [one.low for one in found],
                    [one.high for one in found], index=index, label=control,
                )  # fmt: skip
            panel.set_xticks(x, [f"p{percent}" for percent in QUANTILES])
            panel.set_title(cell.cell.name, loc="left")
            panel.set_ylabel(f"{words(metric).split(', p')[0]} ({unit})")
            _from_zero(panel)
        for panel in panels[len(cells) :]:
            panel.set_axis_off()
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=4)
    return figure


def ladder(result: CriterionResult, name: str) -> Figure | None:
    """Draw what a flow of either kind has while more and more of a crowd are the candidate's.

    Parameters
    ----------
    result : CriterionResult
        What came of a criterion.
    name : str
        Of the candidate.

    Returns
    -------
    Figure or None
        A panel per victim; None when there are too few steps of one crowd.
    """
    steps: dict[tuple[str, float], dict[float, Measured]] = {}
    for cell in result.cells:
        of, measured = cell.cell.parameters, cell.measured[CANDIDATE]
        if "mine" in of and np.isfinite(_value(measured, "victim_goodput")):
            mine, others = float(of["mine"]), float(of["others"])
            steps.setdefault((str(of["victim"]), mine + others), {})[mine] = measured
    crowds = {key: found for key, found in steps.items() if len(found) >= LEAST_STEPS}
    if not crowds:
        return None
    with plots.in_style():
        figure, panels = plots.panels(1, columns=len(crowds), height=2.4)
        for panel, ((victim, total), found) in zip(panels, crowds.items(), strict=True):
            x = sorted(found)
            kinds = (("goodput", name, 1.0, 0.0), ("victim_goodput", victim, -1.0, total))
            for index, (metric, control, sign, of_all) in enumerate(kinds):
                flows = [of_all + sign * mine for mine in x]
                each = [found[mine].estimate(metric) for mine in x]
                plots.errors(
                    panel, x,
                    *([one / count for one, count in zip(ends, flows, strict=True)]
                      for ends in zip(*((one.value, one.low, one.high) for one in each),
                                      strict=True)),
                    index=index, label=control,
                )  # fmt: skip
            panel.set_xlabel(f"flows of {name} among {total:g}")
            panel.set_xticks(x, [f"{mine:g}" for mine in x])
            plots.legend(panel, 2)
            _from_zero(panel)
        panels[0].set_ylabel("goodput per flow (Mbit/s)")
    return figure


def timelines(result: CriterionResult, name: str) -> Figure | None:
    """Draw what happened in the first run of the cells that are drawn over time.

    Parameters
    ----------
    result : CriterionResult
        What came of a criterion.
    name : str
        Of the candidate.

    Returns
    -------
    Figure or None
        A row per cell, with the candidate beside CUBIC in its place; None when no cell is drawn.
    """
    drawn = [cell for cell in result.cells if cell.measured[CANDIDATE].curves]
    if result.worst and isinstance(result.worst[1], Judged):
        drawn.sort(key=lambda cell: cell is not result.worst[0])  # type: ignore[index]
    drawn = drawn[:MOST_TIMELINES]
    if not drawn:
        return None
    with plots.in_style():
        figure, panels = plots.panels(len(drawn), columns=2, height=1.7)
        for row, cell in enumerate(drawn):
            pair = panels[2 * row : 2 * row + 2]
            for panel, who, title in zip(pair, (CANDIDATE, CUBIC), (name, CUBIC), strict=True):
                _timeline(panel, cell.measured[who], f"{cell.cell.name}: {title}")
            highest = max(panel.get_ylim()[1] for panel in pair)
            for panel in pair:
                panel.set_ylim(0, highest)
            pair[0].set_ylabel("rate (Mbit/s)")
    return figure


def _timeline(panel: Axes, measured: Measured, title: str) -> None:
    curves = measured.curves
    panel.set_title(title, loc="left")
    panel.set_xlabel("time (s)")
    if not curves:
        return
    others = 0
    for key, values in curves.items():
        if key.startswith("rate "):
            mine = key.startswith("rate c")
            colour = plots.COLOURS[0] if mine else plots.COLOURS[1]
            panel.plot(curves["time"], values, color=colour, lw=0.9, ls="-" if mine else "--")
            others += not mine
    panel.set_xlim(0, curves["time"][-1])
