"""The pictures of an evaluation: one per criterion, and timelines of what happened."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ackclock.draw.figure import SECONDS, Axis, Chart, Group, Series
from ackclock_evaluate.cell import words
from ackclock_evaluate.results import CANDIDATE, CellResult, CriterionResult, MarginResult, Measured
from ackclock_evaluate.setting import CUBIC

MOST_PANELS = 4
MOST_TIMELINES = 2
QUANTILES = (50, 95, 99)
"""Percentiles that runs keep of delays and completion times."""
LEAST_STEPS = 3
"""Of a ladder."""
WIDE = 8
"""Parameters that differ by a larger factor stand on a logarithmic axis."""


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


def criterion(result: CriterionResult, name: str) -> Group | None:
    """Describe the figure of a criterion: its number along an axis, or by cell.

    Parameters
    ----------
    result : CriterionResult
        The result of the criterion.
    name : str
        Of the candidate.

    Returns
    -------
    Group or None
        None when there is nothing to draw.
    """
    metric, unit = metric_of(result)
    cells = [cell for cell in result.cells if cell.measured[CANDIDATE].values(metric)]
    cells = [cell for cell in cells if np.isfinite(_value(cell.measured[CANDIDATE], metric))]
    if not cells:
        return None
    label = Axis(words(metric), unit)
    axis = result.criterion.axis
    along = [cell for cell in cells if axis in cell.cell.parameters]
    if axis and len(along) > 1:
        return _along(along, axis, metric, label, name)
    return _by_cell(cells, metric, label, name)


def _value(measured: Measured, metric: str) -> float:
    return measured.estimate(metric).value


def _labels(cells: Sequence[CellResult], metric: str, name: str) -> list[tuple[str, str]]:
    """Return the controls that have the number, each with its name: the candidate first."""
    return [
        (who, name if who == CANDIDATE else who)
        for who in cells[0].measured
        if any(np.isfinite(_value(cell.measured[who], metric)) for cell in cells)
    ]


def _from_zero(chart: Chart) -> Chart:
    """Let the vertical axis begin at 0, unless there are values below."""
    lowest = [np.fmin.reduce(np.asarray(one.low, float), initial=0.0) for one in chart.series]
    return chart if min(lowest) < 0 else replace(chart, y=replace(chart.y, range=(0.0, None)))


def _along(cells: Sequence[CellResult], axis: str, metric: str, label: Axis, name: str) -> Group:
    groups: dict[str, list[CellResult]] = {}
    for cell in cells:
        others = [
            f"{key.replace('_', ' ')} {value}" for key, value in cell.cell.parameters.items() if key != axis
        ]
        groups.setdefault(", ".join(others), []).append(cell)
    shown = list(groups.items())[:MOST_PANELS]
    charts = []
    for number, (title, group) in enumerate(shown):
        ordered = sorted(group, key=lambda cell: float(cell.cell.parameters[axis]))
        x = [float(cell.cell.parameters[axis]) for cell in ordered]
        series = []
        for index, (who, control) in enumerate(_labels(cells, metric, name)):
            found = [cell.measured[who].estimate(metric) for cell in ordered]
            series.append(
                Series(
                    control,
                    index,
                    x,
                    [one.value for one in found],
                    low=[one.low for one in found],
                    high=[one.high for one in found],
                )
            )
        is_wide = max(x) > WIDE * max(min(x), 1e-9) and min(x) > 0
        ticks = [(one, f"{one:g}") for one in x] if is_wide else []
        across = Axis(axis.replace("_", " "), log=is_wide, ticks=ticks)
        about = f"{title}: {label.titled}" if title else label.titled
        charts.append(
            _from_zero(Chart(f"panel-{number}", about, across, label, series, height=2.4, heading=title))
        )
    return Group(charts, linked=False, columns=len(charts))


def _by_cell(cells: Sequence[CellResult], metric: str, label: Axis, name: str) -> Group:
    labels = _labels(cells, metric, name)
    series = []
    for index, (who, title) in enumerate(labels):
        places = np.arange(len(cells)) + 0.8 * (index / len(labels) - 0.4)
        found = [cell.measured[who].estimate(metric) for cell in cells]
        series.append(
            Series(
                title,
                index,
                [one.value for one in found],
                places,
                left=[one.low for one in found],
                right=[one.high for one in found],
                look="points",
            )
        )
    values = [abs(_value(cell.measured[who], metric)) for cell in cells for who, _ in labels]
    known = [one for one in values if np.isfinite(one) and one > 0]
    ends = np.concatenate([np.asarray(one.left, float) for one in series])
    is_wide = bool(known) and max(known) > 100 * min(known) and not np.any(ends < 0)
    y = Axis("situation", names=[cell.cell.name for cell in cells])
    height = 0.7 + 0.09 * len(cells) * (1 + len(labels))
    chart = Chart("cells", label.titled, replace(label, log=is_wide), y, series, kind="points", height=height)
    return Group([chart], linked=False)


def quantiles(result: CriterionResult, name: str) -> Group | None:
    """Describe the tail of a distribution whose percentile the criterion shows.

    The horizontal axis is -log10(1 - share), so that the last per cents have room: a cumulative
    distribution function on its side.

    Parameters
    ----------
    result : CriterionResult
        The result of the criterion.
    name : str
        Of the candidate.

    Returns
    -------
    Group or None
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
    places = [float(-np.log10(1 - percent / 100)) for percent in QUANTILES]
    ticks = [(x, f"p{percent}") for x, percent in zip(places, QUANTILES, strict=True)]
    y = Axis(words(metric).split(", p")[0], unit)
    charts = []
    for number, cell in enumerate(cells):
        series = []
        for index, (who, control) in enumerate(_labels([cell], metric, name)):
            if not has_all(cell.measured[who]):
                continue
            found = [cell.measured[who].estimate(one) for one in known]
            series.append(
                Series(
                    control,
                    index,
                    places,
                    [one.value for one in found],
                    low=[one.low for one in found],
                    high=[one.high for one in found],
                )
            )
        title = f"{cell.cell.name}: {y.titled}"
        across = Axis("percentile", ticks=ticks)
        charts.append(
            _from_zero(Chart(f"panel-{number}", title, across, y, series, height=2.0, heading=cell.cell.name))
        )
    return Group(charts, linked=False, columns=min(2, len(charts)))


def ladder(result: CriterionResult, name: str) -> Group | None:
    """Describe what a flow of either kind has while more and more of a crowd are the candidate's.

    Parameters
    ----------
    result : CriterionResult
        The result of a criterion.
    name : str
        Of the candidate.

    Returns
    -------
    Group or None
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
    charts = []
    y = Axis("goodput per flow", "Mbit/s")
    for number, ((victim, total), found) in enumerate(crowds.items()):
        x = sorted(found)
        kinds = (("goodput", name, 1.0, 0.0), ("victim_goodput", victim, -1.0, total))
        series = []
        for index, (metric, control, sign, of_all) in enumerate(kinds):
            flows = np.array([of_all + sign * mine for mine in x])
            each = [found[mine].estimate(metric) for mine in x]
            with np.errstate(divide="ignore", invalid="ignore"):
                value, low, high = (
                    np.array([getattr(one, end) for one in each], float) / flows
                    for end in ("value", "low", "high")
                )
            series.append(Series(control, index, x, value, low=low, high=high))
        across = Axis(f"flows of {name} among {total:g}", ticks=[(mine, f"{mine:g}") for mine in x])
        charts.append(
            _from_zero(Chart(f"panel-{number}", f"{victim}: {y.titled}", across, y, series, height=2.4))
        )
    return Group(charts, linked=False, columns=len(charts))


def timelines(result: CriterionResult, name: str) -> Group | None:
    """Describe what happened in the first run of the cells that are drawn over time.

    Parameters
    ----------
    result : CriterionResult
        The result of a criterion.
    name : str
        Of the candidate.

    Returns
    -------
    Group or None
        A row per cell, with the candidate next to CUBIC in its place, on the same scale; None when
        no cell is drawn.
    """
    drawn = [cell for cell in result.cells if cell.measured[CANDIDATE].curves]
    if result.worst and isinstance(result.worst[1], MarginResult):
        drawn.sort(key=lambda cell: cell is not result.worst[0])  # type: ignore[index]
    drawn = drawn[:MOST_TIMELINES]
    if not drawn:
        return None
    charts = []
    for row, cell in enumerate(drawn):
        pair = [(who, cell.measured[who].curves) for who in (CANDIDATE, CUBIC)]
        rates = [_rates(curves) for _, curves in pair]
        tops = [np.fmax.reduce(one.y, initial=0.0) for series in rates for one in series]
        y = Axis("rate", "Mbit/s", range=(0.0, 1.06 * max([float(top) for top in tops], default=1.0)))
        for (who, curves), series in zip(pair, rates, strict=True):
            heading = f"{cell.cell.name}: {name if who == CANDIDATE else CUBIC}"
            time = replace(SECONDS, range=(0.0, float(curves["time"][-1]) if curves else 1.0))
            charts.append(Chart(f"{row} {who}", heading, time, y, series, height=1.7, heading=heading))
    return Group(charts, columns=2)


MINE, OTHERS = "flows in its place", "others"


def _rates(curves: Mapping[str, Any]) -> list[Series]:
    rates = {key: values for key, values in curves.items() if key.startswith("rate ")}
    return [
        Series(MINE, 0, curves["time"], values)
        if key.startswith("rate c")
        else Series(OTHERS, 1, curves["time"], values)
        for key, values in rates.items()
    ]
