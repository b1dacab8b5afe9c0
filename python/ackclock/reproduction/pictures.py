"""Pictures without axes: tables and diagrams of nodes; and the traces that figures show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from ackclock.draw import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.engine import Run


def grid(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> Figure:
    """Draw a table.

    Parameters
    ----------
    heads : sequence of str
        Headings of the columns.
    rows : sequence of sequences
        Cells by row.

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


def graph(nodes: Mapping[str, tuple[float, float]], arrows: Sequence[tuple[str, str, str]]) -> Figure:
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
            "",
            (x1, y1),
            (x0, y0),
            arrowprops={
                "arrowstyle": "->",
                "shrinkA": 14,
                "shrinkB": 14,
                "connectionstyle": bent,
                "color": "#555555",
            },
        )
        lift = 0.05 + (0.25 * (x0 - x1) if x1 < x0 else 0)
        panel.text((x0 + x1) / 2, (y0 + y1) / 2 + lift, label, ha="center", fontsize=7)
    for name, (x, y) in nodes.items():
        panel.text(
            x,
            y,
            name,
            ha="center",
            va="center",
            fontsize=8,
            bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "#0072B2"},
        )
    return figure


def windows(
    run: Run,
    every_s: float = 0.0,
    start_s: float = 0.0,
    end_s: float = 1e9,
    *,
    flows: Sequence[int] | None = None,
) -> pl.DataFrame:
    """Return the trace of a run's windows with the names of its flows.

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
