"""The results of a sweep as a page that can be mailed: metrics against a parameter."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.draw import charts, plots
from ackclock.draw.charts import Axis, Chart, Group, Series
from ackclock.draw.page import html
from ackclock.sweep.picture import draw, estimates, is_log, label

METRICS = (
    "goodput_mbps", "utilisation", "jain", "mean_rtt_ms", "rtt_p95_ms", "queue_delay_p95_ms",
    "mean_queue_packets", "mean_window", "queue_drops", "loss_events", "timeouts",
)  # fmt: skip
"""What is drawn beside the metric that was asked for."""


def page(
    table: pl.LazyFrame, x: str, y: str, hue: str | None, averaged: Sequence[str], command: str
) -> str:
    """Write the page.

    Parameters
    ----------
    table : polars.LazyFrame
        Results.
    x, y, hue : str
        As for `draw`; the other metrics follow y.
    averaged : sequence of str
        Parameters that the page does not tell apart.
    command : str
        What makes it again.

    Returns
    -------
    str
        HTML that needs no other file and no network.
    """
    schema = table.collect_schema()
    shown = [y, *(name for name in METRICS if name != y and name in schema)]
    found = {name: estimates(table, x, name, hue) for name in shown}
    # Of what has no number anywhere there is nothing to draw, except that it was asked for.
    found = {name: one for name, one in found.items() if name == y or one.height}
    with plots.in_style():
        picture = charts.picture(draw(table, x, y, hue))
    asked = found[y]
    return html(
        "sweep.html",
        charts={"sweep": Group([_chart(one, x, name, hue) for name, one in found.items()])},
        x=label(x),
        y=label(y),
        hue=None if hue is None else label(hue),
        averaged=averaged,
        picture=picture,
        rows=[
            [str(row[name]) for name in ([x] if hue is None else [x, hue])]
            + [_digits(row[name]) for name in ("value", "low", "high")]
            + [str(row["runs"])]
            for row in asked.iter_rows(named=True)
        ],
        command=command,
    )


def _digits(value: float | None) -> str:
    return "-" if value is None or value != value else f"{value:.4g}"


def _axis(name: str, values: pl.Series) -> Axis:
    words, _, unit = label(name).removesuffix(")").rpartition(" (")
    return Axis(words or unit, unit if words else "", log=is_log(values))


def _chart(found: pl.DataFrame, x: str, y: str, hue: str | None) -> Chart:
    across = _axis(x, found[x]) if found[x].dtype.is_numeric() else None
    if across is None:
        names = found[x].unique(maintain_order=True).to_list()
        across = Axis(label(x), names=[str(name) for name in names])
        place = {name: index for index, name in enumerate(names)}
    groups = [("mean", found)] if hue is None else [
        (str(value), part) for (value,), part in found.group_by(hue, maintain_order=True)
    ]  # fmt: skip
    series = [
        Series(
            name, index,
            [place[value] for value in part[x]] if across.names else part[x].cast(pl.Float64),
            part["value"], low=part["low"], high=part["high"],
        )
        for index, (name, part) in enumerate(groups)
    ]  # fmt: skip
    return Chart(y, label(y), across, _axis(y, found["value"]), series)
