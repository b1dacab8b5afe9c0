"""The usual figures of artefacts, described: curves over time, bars, curves over a parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from ackclock.draw.figure import BAR_WIDTH, HEADROOM, PAPER, Axis, Chart, Ends, Group, Series, Table, numbered
from ackclock.reproduction.claims.artefact import Traces
from ackclock.reproduction.claims.numbers import Key, Numbers

CurvePoint = tuple[float, Key, Key]
"""A value of the horizontal axis, a case and the key of its number."""


def axis(label: str, *, log: bool = False, range: Ends | None = None) -> Axis:  # noqa: A002
    """Describe an axis by its label, which ends with the unit in brackets."""
    words, _, unit = label.partition(" (")
    is_unit = unit.endswith(")")
    return Axis(words if is_unit else label, unit[:-1] if is_unit else "", log, range=range)


def every_number(numbers: Numbers, _traces: Traces) -> Table:
    """Write every number of every case into a table, for artefacts that are only sentences in the paper."""
    rows = [
        [str(case), str(key), str(numbers.of(case, key))]
        for case, measured in numbers.rows.items()
        for key in measured[0]
    ]
    return Table(["case", "number", "measured"], rows)


def over_time(
    traces: Traces,
    panels: Mapping[str, Sequence[Key]],
    key: str,
    label: str,
    *,
    span: tuple[float, float] | None = None,
    x: str = "time_s",
    x_label: str = "time (s)",
    top: float | None = None,
    mark: float | None = None,
    height: float = 1.5,
    columns: int = 1,
    shared: bool = True,
) -> Group:
    """Describe a column of the traces over time, one panel above the other.

    A frame of `traces` with a column ``name`` has one curve per name. `panels` has the cases of each panel by
    its title, and `label`, with the unit, is that of the vertical axes, whose upper end is `top`. The
    horizontal axis is the column `x` within `span`, and `mark` is the position of a vertical line where
    something changes. `height` is that of a panel in inches, and `columns` panels are side by side. With
    `shared` they have one range of the vertical axis, so that they can be compared.
    """
    by_title: dict[str, list[tuple[str, pl.DataFrame]]] = {}
    for title, cases in panels.items():
        own = by_title.setdefault(title, [])
        for case in cases:
            frame = traces[case]
            if "name" not in frame.columns:
                own.append((str(case), frame))
                continue
            for name in frame["name"].unique(maintain_order=True):
                words = name if len(cases) == 1 else f"{case}: {name}"
                own.append((words, frame.filter(pl.col("name") == name)))
    colours = numbered(name for curves in by_title.values() for name, _ in curves)
    within = pl.lit(value=True) if span is None else pl.col(x).is_between(*span)
    cut = {
        title: [(name, frame.filter(within)) for name, frame in curves] for title, curves in by_title.items()
    }
    if shared and top is None and len(panels) > 1:
        values = [frame[key].to_numpy() for curves in cut.values() for _, frame in curves]
        top = (1 + HEADROOM) * float(np.fmax.reduce(np.concatenate([*values, [0.0]])) or 1.0)
    charts = []
    for number, (title, shown) in enumerate(cut.items()):
        # A panel of one curve needs no name besides the curve's.
        is_said = len(shown) == 1 and len(panels) == 1
        charts.append(
            Chart(
                f"panel-{number}",
                label if is_said else f"{title}: {label}",
                axis(x_label, range=span),
                axis(label, range=(0.0, top)),
                [Series(name, colours[name], frame[x], frame[key]) for name, frame in shown],
                marks=() if mark is None else (mark,),
                height=height,
                heading="" if is_said or title in ("all", "both") else title,
            )
        )
    return Group(charts, columns=columns)


def bar_chart(
    numbers: Numbers,
    words: Sequence[str],
    series: Mapping[str, Sequence[tuple[Key, Key]]],
    label: str,
    *,
    top: float | None = None,
    key: str = "bars",
    heading: str = "",
    stacked: bool = False,
    factors: Mapping[str, float] | None = None,
    colours: Mapping[str, int] | None = None,
) -> Chart:
    """Describe bars of several kinds, side by side or on top of each other.

    `words` stand under the bars, and `series` has case and number of each bar, by the name of its kind.
    `label` is that of the vertical axis, with the unit, and `top` its upper end; single bars have their
    values above them. `stacked` kinds stand on top of each other, each as long as its own number, without
    intervals. `factors` are what the numbers of a kind are multiplied by, and `colours` the numbers of the
    colours of kinds, by default in their order.
    """
    side = 1 if stacked else len(series)
    width = BAR_WIDTH if side == 1 else 0.8 / side
    shades = colours or numbered(series)
    described, base = [], np.zeros(len(words))
    for index, (name, keys) in enumerate(series.items()):
        factor = (factors or {}).get(name, 1.0)
        estimates = [numbers.of(case, key) for case, key in keys]
        x = np.arange(len(words)) + (0.0 if side == 1 else width * (index - (side - 1) / 2))
        y, low, high = (
            factor * np.array([getattr(estimate, end) for estimate in estimates], float)
            for end in ("value", "low", "high")
        )
        ends: dict[str, Any] = {} if stacked or np.isnan(high).all() else {"low": low, "high": high}
        described.append(
            Series(
                name,
                shades[name],
                x,
                base + y,
                **ends,
                look="bars",
                base=base.copy() if stacked else None,
                keys=() if stacked or factor != 1.0 else tuple(keys),
            )
        )
        if stacked:
            base = base + y
    return Chart(
        key,
        f"{heading}: {label}" if heading else label,
        Axis("", names=list(words)),
        axis(label, range=(0.0, top)),
        described,
        kind="points",
        height=2.6,
        bar_width=width,
        has_numbers=side == 1 and not stacked,
        heading=heading,
    )


def against(
    numbers: Numbers,
    curves: Mapping[str, Sequence[CurvePoint]],
    x_label: str,
    y_label: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    bottom: float | None = None,
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
) -> Group:
    """Describe numbers over a parameter, with intervals, in a group with one panel.

    `curves` has the points of each curve: parameter, case and number. The labels have units, `bottom` is the
    lower end of the vertical axis, and `lines` are curves of a formula.
    """
    x, y = axis(x_label, log=log_x), axis(y_label, log=log_y, range=(bottom, None))
    return Group([curve_chart(numbers, curves, x, y, lines=lines, height=3.6)])


def curve_chart(
    numbers: Numbers,
    curves: Mapping[str, Sequence[CurvePoint]],
    x: Axis,
    y: Axis,
    *,
    key: str = "curves",
    heading: str = "",
    height: float = 2.4,
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
) -> Chart:
    """Describe numbers over a parameter in one of several panels, as `against` does.

    `key` and `heading` are the name and the heading of the chart; `height` is in inches.
    """
    colours = numbered([*curves, *(lines or {})])
    series = []
    for name, points in curves.items():
        ordered = sorted(points, key=lambda point: point[0])
        estimates = [numbers.of(case, key) for _, case, key in ordered]
        ends: dict[str, Any] = {}
        if any(np.isfinite(estimate.high) for estimate in estimates):
            ends = {
                "low": [estimate.low for estimate in estimates],
                "high": [estimate.high for estimate in estimates],
            }
        series.append(
            Series(
                name,
                colours[name],
                [position for position, _, _ in ordered],
                [estimate.value for estimate in estimates],
                **ends,
                keys=[(case, key) for _, case, key in ordered],
            )
        )
    for name, (across, up) in (lines or {}).items():
        series.append(Series(name, colours[name], across, up))
    title = f"{heading}: {y.titled}" if heading else y.titled
    return Chart(key, title, x, y, series, height=height, heading=heading)


def _labels(key: Any) -> tuple[str, str]:
    """Return the labels of a case and a number, by which records name them."""
    return str(key[0]), str(key[1])


def with_paper(group: Group, printed: Mapping[tuple[str, str], float]) -> Group:
    """Add the values that the paper states, as grey marks at the places of ours.

    The series of the figure have keys, and `printed` is by labels of case and number (`Artefact.printed`).
    """

    def marked(chart: Chart) -> Chart:
        known = [
            (x, printed[_labels(key)])
            for series in chart.series
            for x, key in zip(np.asarray(series.x, float)[: len(series.keys)], series.keys, strict=True)
            if _labels(key) in printed
        ]
        if not known:
            return chart
        known.sort()
        x, y = zip(*known, strict=True)
        marks = Series(PAPER, len(chart.series), x, y, look="points", is_paper=True)
        return replace(chart, series=[*chart.series, marks])

    return replace(group, charts=[marked(chart) for chart in group.charts])
