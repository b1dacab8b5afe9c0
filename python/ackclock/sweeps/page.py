"""The results of a sweep as a page that can be mailed: metrics against a parameter."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ackclock.draw import charts, plots
from ackclock.draw.figure import Axis, Chart, Group, Series
from ackclock.draw.page import html
from ackclock.engine import storage
from ackclock.runs.live import Shown
from ackclock.sweeps.picture import averaged_over, draw, estimates, is_log, label
from ackclock.sweeps.plan import Plan

METRICS = (
    "goodput_mbps",
    "utilisation",
    "jain",
    "mean_rtt_ms",
    "rtt_p95_ms",
    "queue_delay_p95_ms",
    "mean_queue_packets",
    "mean_window",
    "queue_drops",
    "loss_events",
    "timeouts",
)
"""What is drawn beside the metric that was asked for."""
MOST_ERRORS = 5
"""In the live view."""
MOST_CURVES = 12
"""More values of a parameter are not told apart, unless somebody asks for it."""


def usual(plan: Plan) -> tuple[str, str, str | None]:
    """Choose what the page of a sweep shows when nobody says it.

    Parameters
    ----------
    plan : Plan
        The sweep.

    Returns
    -------
    str, str, str or None
        Columns: along the horizontal axis the first parameter that is a number; upwards what
        decides on the number of runs, else goodput; a curve for each value of another parameter,
        rather of one that is not a number, if there is one.
    """
    if not plan.parameters:
        return "point", plan.replication.metric, None
    several = [one for one in plan.parameters if len(set(one.values)) > 1] or plan.parameters
    numbers = [one for one in several if one.kind in (int, float)]
    x = (numbers or several)[0]
    others = [one for one in several if one is not x and len(set(one.values)) <= MOST_CURVES]
    others.sort(key=lambda one: one.kind in (int, float))
    return x.name, plan.replication.metric, others[0].name if others else None


def so_far(plan: Plan, table: pl.LazyFrame) -> Shown:
    """Return the usual chart while the sweep goes on.

    Parameters
    ----------
    plan : Plan
        The sweep.
    table : polars.LazyFrame
        What there is of its results.

    Returns
    -------
    Shown
        The chart of one metric.
    """
    x, y, hue = usual(plan)
    words = "Means over the runs that there are, with their 95 % intervals"
    averaged = averaged_over(table, [x, hue] if hue else [x])
    if averaged:
        words += f", averaged over {', '.join(averaged)}"
    failed = table.filter(pl.col("error").is_not_null())
    errors = failed.select(pl.col("error").unique(maintain_order=True)).head(MOST_ERRORS)
    chart = _chart(estimates(table, x, y, hue), x, y, hue)
    return Shown(
        {f"{label(y)} against {label(x)}": Group([chart])}, ("errors",), errors.collect().rows(), f"{words}."
    )


def write(
    target: Path, table: pl.LazyFrame, x: str, y: str, hue: str | None, command: str, follows: str = ""
) -> None:
    """Write the page, whole or not at all.

    Parameters
    ----------
    target : Path
        The file.
    table : polars.LazyFrame
        Results.
    x, y, hue : str
        As for `draw`; the other metrics follow y.
    command : str
        What makes it again.
    follows : str
        As `controls.follows` gives it.

    Raises
    ------
    StorageError
        When it cannot be written.
    """
    schema = table.collect_schema()
    shown = [y, *(name for name in METRICS if name != y and name in schema)]
    found = {name: estimates(table, x, name, hue) for name in shown}
    # Of what has no number anywhere there is nothing to draw, except that it was asked for.
    found = {name: one for name, one in found.items() if name == y or one.height}
    with plots.in_style():
        picture = charts.picture(draw(table, x, y, hue))
    asked = found[y]
    text = html(
        "sweep.html",
        follows=follows,
        charts={"sweep": Group([_chart(one, x, name, hue) for name, one in found.items()])},
        x=label(x),
        y=label(y),
        hue=None if hue is None else label(hue),
        averaged=averaged_over(table, [x, hue] if hue else [x]),
        picture=picture,
        rows=[
            [str(row[name]) for name in ([x] if hue is None else [x, hue])]
            + [_digits(row[name]) for name in ("value", "low", "high")]
            + [str(row["runs"])]
            for row in asked.iter_rows(named=True)
        ],
        command=command,
    )
    with storage.new_file(target) as file:
        file.write_text(text, encoding="utf-8")


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
    groups = (
        [("mean", found)]
        if hue is None
        else [(str(value), part) for (value,), part in found.group_by(hue, maintain_order=True)]
    )
    series = [
        Series(
            name,
            index,
            [place[value] for value in part[x]] if across.names else part[x].cast(pl.Float64),
            part["value"],
            low=part["low"],
            high=part["high"],
        )
        for index, (name, part) in enumerate(groups)
    ]
    return Chart(y, label(y), across, _axis(y, found["value"]), series)
