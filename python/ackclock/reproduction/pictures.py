"""The usual pictures of artefacts: curves over time, bars, curves over a parameter, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ackclock.draw import plots
from ackclock.reproduction.artefact import Traces
from ackclock.reproduction.numbers import Key, Numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.engine import Run


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
) -> Figure:
    """Draw a column of the traces over time.

    Parameters
    ----------
    traces : mapping
        By case; a frame with a column ``name`` has one curve per name.
    panels : mapping
        Cases of each panel, by its title.
    key : str
        The column.
    label : str
        Label of the vertical axes, with the unit.
    span : tuple of float, optional
        What is shown of the horizontal axis.
    x, x_label : str
        Column and label of the horizontal axis.
    top : float, optional
        Upper end of the vertical axes.
    mark : float, optional
        Where a vertical line marks a change.
    height : float
        Height of a panel, inches.

    Returns
    -------
    Figure
        One panel above the other.
    """
    figure, axes = plots.panels(len(panels), height=height)
    for panel, (title, cases) in zip(axes, panels.items(), strict=True):
        count = 0
        for case in cases:
            frame = traces[case]
            names = frame["name"].unique(maintain_order=True) if "name" in frame.columns else [None]
            for name in names:
                own = frame if name is None else frame.filter(pl.col("name") == name)
                if span is not None:
                    own = own.filter(pl.col(x).is_between(*span))
                shown = (
                    str(case) if name is None else name if len(cases) == 1 else f"{case}: {name}"
                )
                panel.plot(own[x], own[key], label=shown, **plots.style(count))
                count += 1
        if mark is not None:
            panel.axvline(mark, color="#555555", linewidth=0.7)
        if span is not None:
            panel.set_xlim(*span)
        panel.set_ylim(0, top)
        panel.set_ylabel(label)
        if count > 1:
            plots.legend(panel, min(count, 6))
        elif title not in map(str, cases) or len(panels) > 1:
            panel.set_title(title, loc="left")
    axes[-1].set_xlabel(x_label)
    return figure


def bars(
    numbers: Numbers, items: Sequence[tuple[str, Key, Key]], label: str, *, top: float | None = None
) -> Figure:
    """Draw one bar per number, with its interval.

    Parameters
    ----------
    numbers : Numbers
        What was measured.
    items : sequence of (str, hashable, hashable)
        Word under the bar, case and number.
    label : str
        Label of the vertical axis, with the unit.
    top : float, optional
        Upper end of the axis.

    Returns
    -------
    Figure
        One panel.
    """
    figure, (panel,) = plots.panels(1, height=2.6)
    found = [numbers.of(case, key) for _, case, key in items]
    plots.bars(
        panel,
        [word for word, _, _ in items],
        [one.value for one in found],
        [0.0 if np.isnan(one.high) else one.high - one.value for one in found],
        label,
    )
    panel.set_ylim(0, top)
    if len(items) > 8:
        panel.tick_params(axis="x", labelrotation=60)
    return figure


def against(
    numbers: Numbers,
    curves: Mapping[str, Sequence[tuple[float, Key, Key]]],
    x_label: str,
    y_label: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    bottom: float | None = None,
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
) -> Figure:
    """Draw numbers over a parameter, with intervals.

    Parameters
    ----------
    numbers : Numbers
        What was measured.
    curves : mapping
        Points of each curve: parameter, case and number.
    x_label, y_label : str
        Labels of the axes, with units.
    log_x, log_y : bool
        Logarithmic axes.
    bottom : float, optional
        Lower end of the vertical axis.
    lines : mapping, optional
        Curves of a formula, dotted.

    Returns
    -------
    Figure
        One panel.
    """
    figure, (panel,) = plots.panels(1, height=3.6)
    for index, (name, points) in enumerate(curves.items()):
        found = [numbers.of(case, key) for _, case, key in points]
        plots.errors(
            panel,
            [x for x, _, _ in points],
            [one.value for one in found],
            [one.low for one in found],
            [one.high for one in found],
            index=index,
            label=name,
        )
    for name, (x, y) in (lines or {}).items():
        panel.plot(x, y, color="#555555", linestyle=":", label=name)
    panel.set(xlabel=x_label, ylabel=y_label)
    if log_x:
        panel.set_xscale("log")
    if log_y:
        panel.set_yscale("log")
    if bottom is not None:
        panel.set_ylim(bottom, None)
    plots.legend(panel, min(5, len(curves) + len(lines or {})))
    return figure


def grid(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> Figure:
    """Draw a table.

    Parameters
    ----------
    heads : sequence of str
        Headings of the columns.
    rows : sequence of sequences
        Cells.

    Returns
    -------
    Figure
        One panel without axes.
    """
    figure, (panel,) = plots.panels(1, height=0.35 + 0.24 * (len(rows) + 1))
    panel.axis("off")
    table = panel.table(
        cellText=[[str(cell) for cell in row] for row in rows],
        colLabels=list(heads),
        loc="center",
        cellLoc="left",
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    table.auto_set_column_width(list(range(len(heads))))
    table.scale(1, 1.2)
    for cell in table.get_celld().values():
        cell.set_linewidth(0.4)
    return figure


def graph(
    nodes: Mapping[str, tuple[float, float]], arrows: Sequence[tuple[str, str, str]]
) -> Figure:
    """Draw a diagram of nodes and labelled arrows.

    Parameters
    ----------
    nodes : mapping
        Place of each node, both coordinates between 0 and 1.
    arrows : sequence of (str, str, str)
        From, to, label.

    Returns
    -------
    Figure
        One panel without axes.
    """
    figure, (panel,) = plots.panels(1, height=2.4)
    panel.axis("off")
    panel.set(xlim=(-0.08, 1.08), ylim=(-0.15, 1.15))
    for start, end, label in arrows:
        (x0, y0), (x1, y1) = nodes[start], nodes[end]
        bent = "arc3,rad=0.25" if x1 < x0 else "arc3"
        panel.annotate(
            "", (x1, y1), (x0, y0),
            arrowprops={
                "arrowstyle": "->", "shrinkA": 14, "shrinkB": 14, "connectionstyle": bent,
                "color": "#555555",
            },
        )  # fmt: skip
        lift = 0.05 + (0.25 * (x0 - x1) if x1 < x0 else 0)
        panel.text((x0 + x1) / 2, (y0 + y1) / 2 + lift, label, ha="center", fontsize=7)
    for name, (x, y) in nodes.items():
        panel.text(
            x, y, name, ha="center", va="center", fontsize=8,
            bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "#0072B2"},
        )  # fmt: skip
    return figure


def windows(
    run: Run,
    every_s: float = 0.0,
    start_s: float = 0.0,
    end_s: float = 1e9,
    *,
    flows: Sequence[int] | None = None,
) -> pl.DataFrame:
    """Give the trace of a run's windows with the names of its flows.

    Parameters
    ----------
    run : Run
        A recorded run.
    every_s : float
        Samples closer than this are left out.
    start_s, end_s : float
        What is kept.
    flows : sequence of int, optional
        Indices of the flows that are kept; by default all.

    Returns
    -------
    polars.DataFrame
        Columns time_s, name, window, rtt_ms, sent_bytes.
    """
    names = {flow["id"]: flow["name"] for flow in run.summary["flows"]}
    frame = run.windows.filter(pl.col("time_s").is_between(start_s, end_s))
    if flows is not None:
        frame = frame.filter(pl.col("flow").is_in(flows))
    if every_s > 0:
        frame = frame.filter((pl.col("time_s") / every_s).round(6) % 1 == 0)
    return frame.select(
        "time_s",
        pl.col("flow").replace_strict(names, return_dtype=pl.String).alias("name"),
        "window",
        "rtt_ms",
        "sent_bytes",
    )
