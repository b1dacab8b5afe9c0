"""The figures of an evaluation: figures of each criterion, and timelines of its cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ackclock.draw.figure import SECONDS, Axis, Chart, Group, Series
from ackclock_evaluate.cell import CellCurves, words
from ackclock_evaluate.results import CANDIDATE, CellResult, CriterionResult, MarginResult, Measured
from ackclock_evaluate.setting import CUBIC

MOST_PANELS = 4
MOST_TIMELINES = 2
QUANTILES = (50, 95, 99)
"""The percentiles of delays and completion times that a run keeps."""
LEAST_STEPS = 3
"""The shortest ladder that is drawn."""
WIDE = 8
"""Parameters that differ by a larger factor are drawn on a logarithmic axis."""


def metric_of(result: CriterionResult) -> tuple[str, str]:
    """Return the metric and the unit of a criterion's picture: its own, or the first that is judged."""
    margins = [judged.margin for cell in result.cells for judged in cell.judged]
    units = {margin.metric: margin.unit for margin in margins}
    limits = [limit.bound for cell in result.cells for limit in cell.limits]
    wanted = result.criterion.shown
    if not wanted:
        wanted = margins[0].metric if margins else limits[0].metric if limits else ""
    return wanted, units.get(wanted, next((limit.unit for limit in limits), "") if not margins else "")


def criterion(result: CriterionResult, name: str) -> Group | None:
    """Return the figure of a criterion, its metric along an axis or by cell; None without values.

    `name` is the label of the candidate.
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
    """Return the controls that have the metric, each with its label: the candidate first."""
    return [
        (control, name if control == CANDIDATE else control)
        for control in cells[0].measured
        if any(np.isfinite(_value(cell.measured[control], metric)) for cell in cells)
    ]


def _from_zero(chart: Chart) -> Chart:
    """Let the vertical axis begin at 0, unless values are negative."""
    lowest = [np.fmin.reduce(np.asarray(series.low, float), initial=0.0) for series in chart.series]
    return chart if min(lowest) < 0 else replace(chart, y=replace(chart.y, range=(0.0, None)))


def _along(cells: Sequence[CellResult], axis: str, metric: str, label: Axis, name: str) -> Group:
    groups: dict[str, list[CellResult]] = {}
    for cell in cells:
        fixed = [
            f"{key.replace('_', ' ')} {value}" for key, value in cell.cell.parameters.items() if key != axis
        ]
        groups.setdefault(", ".join(fixed), []).append(cell)
    shown = list(groups.items())[:MOST_PANELS]
    charts = []
    for number, (title, group) in enumerate(shown):
        ordered = sorted(group, key=lambda cell: float(cell.cell.parameters[axis]))
        x = [float(cell.cell.parameters[axis]) for cell in ordered]
        series = []
        for index, (control, legend) in enumerate(_labels(cells, metric, name)):
            estimates = [cell.measured[control].estimate(metric) for cell in ordered]
            series.append(
                Series(
                    legend,
                    index,
                    x,
                    [estimate.value for estimate in estimates],
                    low=[estimate.low for estimate in estimates],
                    high=[estimate.high for estimate in estimates],
                )
            )
        is_wide = max(x) > WIDE * max(min(x), 1e-9) and min(x) > 0
        ticks = [(value, f"{value:g}") for value in x] if is_wide else []
        across = Axis(axis.replace("_", " "), log=is_wide, ticks=ticks)
        about = f"{title}: {label.titled}" if title else label.titled
        charts.append(
            _from_zero(Chart(f"panel-{number}", about, across, label, series, height=2.4, heading=title))
        )
    return Group(charts, linked=False, columns=len(charts))


def _by_cell(cells: Sequence[CellResult], metric: str, label: Axis, name: str) -> Group:
    labels = _labels(cells, metric, name)
    series = []
    for index, (control, legend) in enumerate(labels):
        positions = np.arange(len(cells)) + 0.8 * (index / len(labels) - 0.4)
        estimates = [cell.measured[control].estimate(metric) for cell in cells]
        series.append(
            Series(
                legend,
                index,
                [estimate.value for estimate in estimates],
                positions,
                left=[estimate.low for estimate in estimates],
                right=[estimate.high for estimate in estimates],
                look="points",
            )
        )
    values = [abs(_value(cell.measured[control], metric)) for cell in cells for control, _ in labels]
    known = [value for value in values if np.isfinite(value) and value > 0]
    ends = np.concatenate([np.asarray(points.left, float) for points in series])
    is_wide = bool(known) and max(known) > 100 * min(known) and not np.any(ends < 0)
    y = Axis("cell", names=[cell.cell.name for cell in cells])
    height = 0.7 + 0.09 * len(cells) * (1 + len(labels))
    chart = Chart("cells", label.titled, replace(label, log=is_wide), y, series, kind="points", height=height)
    return Group([chart], linked=False)


def quantiles(result: CriterionResult, name: str) -> Group | None:
    """Return the tail of the distribution behind the criterion's percentile, a panel per cell.

    It is a cumulative distribution function on its side: the horizontal axis is -log10(1 - share), so
    that the last per cents have room. None when the metric is not a percentile, or when a cell lacks
    the others.
    """
    metric, unit = metric_of(result)
    known = [re.sub(r"_p\d+", f"_p{percent}", metric) for percent in QUANTILES]
    if len(set(known)) < len(QUANTILES):
        return None

    def has_all(measured: Measured) -> bool:
        return bool(np.isfinite([_value(measured, percentile) for percentile in known]).all())

    cells = [cell for cell in result.cells if has_all(cell.measured[CANDIDATE])][:MOST_PANELS]
    if not cells:
        return None
    positions = [float(-np.log10(1 - percent / 100)) for percent in QUANTILES]
    ticks = [(x, f"p{percent}") for x, percent in zip(positions, QUANTILES, strict=True)]
    y = Axis(words(metric).split(", p")[0], unit)
    charts = []
    for number, cell in enumerate(cells):
        series = []
        for index, (control, legend) in enumerate(_labels([cell], metric, name)):
            if not has_all(cell.measured[control]):
                continue
            estimates = [cell.measured[control].estimate(percentile) for percentile in known]
            series.append(
                Series(
                    legend,
                    index,
                    positions,
                    [estimate.value for estimate in estimates],
                    low=[estimate.low for estimate in estimates],
                    high=[estimate.high for estimate in estimates],
                )
            )
        title = f"{cell.cell.name}: {y.titled}"
        across = Axis("percentile", ticks=ticks)
        charts.append(
            _from_zero(Chart(f"panel-{number}", title, across, y, series, height=2.0, heading=cell.cell.name))
        )
    return Group(charts, linked=False, columns=min(2, len(charts)))


def ladder(result: CriterionResult, name: str) -> Group | None:
    """Return the goodput per flow of two controls as more flows of a fixed number are the candidate's.

    A panel per victim; None when no crowd has enough steps.
    """
    steps: dict[tuple[str, float], dict[float, Measured]] = {}
    for cell in result.cells:
        parameters, measured = cell.cell.parameters, cell.measured[CANDIDATE]
        if {"mine", "victim"} <= parameters.keys() and np.isfinite(_value(measured, "victim_goodput")):
            mine, theirs = float(parameters["mine"]), float(parameters["others"])
            steps.setdefault((str(parameters["victim"]), mine + theirs), {})[mine] = measured
    crowds = {key: by_count for key, by_count in steps.items() if len(by_count) >= LEAST_STEPS}
    if not crowds:
        return None
    charts = []
    y = Axis("goodput per flow", "Mbit/s")
    for number, ((victim, total), by_count) in enumerate(crowds.items()):
        x = sorted(by_count)
        kinds = (("goodput", name, 1.0, 0.0), ("victim_goodput", victim, -1.0, total))
        series = []
        for index, (metric, control, sign, offset) in enumerate(kinds):
            flows = np.array([offset + sign * mine for mine in x])
            estimates = [by_count[mine].estimate(metric) for mine in x]
            with np.errstate(divide="ignore", invalid="ignore"):
                value, low, high = (
                    np.array([getattr(estimate, end) for estimate in estimates], float) / flows
                    for end in ("value", "low", "high")
                )
            series.append(Series(control, index, x, value, low=low, high=high))
        across = Axis(f"flows of {name} among {total:g}", ticks=[(mine, f"{mine:g}") for mine in x])
        charts.append(
            _from_zero(Chart(f"panel-{number}", f"{victim}: {y.titled}", across, y, series, height=2.4))
        )
    return Group(charts, linked=False, columns=len(charts))


def timelines(result: CriterionResult, name: str) -> Group | None:
    """Return the first runs of the cells that are drawn over time, a row per cell.

    The candidate is next to CUBIC in its place, on the same scale. None when no cell is drawn.
    """
    drawn = [cell for cell in result.cells if cell.measured[CANDIDATE].curves]
    if result.worst and isinstance(result.worst[1], MarginResult):
        drawn.sort(key=lambda cell: cell is not result.worst[0])  # type: ignore[index]
    drawn = drawn[:MOST_TIMELINES]
    if not drawn:
        return None
    charts = []
    for row, cell in enumerate(drawn):
        pair = [(control, cell.measured[control].curves) for control in (CANDIDATE, CUBIC)]
        rates = [_rates(curves) for _, curves in pair]
        tops = [np.fmax.reduce(curve.y, initial=0.0) for series in rates for curve in series]
        y = Axis("rate", "Mbit/s", range=(0.0, 1.06 * max([float(top) for top in tops], default=1.0)))
        for (control, curves), series in zip(pair, rates, strict=True):
            heading = f"{cell.cell.name}: {name if control == CANDIDATE else CUBIC}"
            time = replace(SECONDS, range=(0.0, float(curves["time"][-1]) if curves else 1.0))
            charts.append(Chart(f"{row} {control}", heading, time, y, series, height=1.7, heading=heading))
    return Group(charts, columns=2)


MINE, OTHERS = "flows under test", "other flows"


def _rates(curves: CellCurves) -> list[Series]:
    rates = {key: values for key, values in curves.items() if key.startswith("rate ")}
    return [
        Series(MINE, 0, curves["time"], values)
        if key.startswith("rate c")
        else Series(OTHERS, 1, curves["time"], values)
        for key, values in rates.items()
    ]
