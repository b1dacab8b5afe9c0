"""The results of a sweep as a page in one file: metrics against a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ackclock import engine
from ackclock.draw.figure import Axis, Chart, Group, Series
from ackclock.draw.page import html
from ackclock.engine import storage
from ackclock.runs.live import InterimResults
from ackclock.sweeps.picture import averaged_over, estimates, is_log, label, profiles_of
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
"""Metrics that are drawn in addition to the requested one."""
MOST_ERRORS = 5
"""Number of errors in the live view."""
MOST_CURVES = 12
"""A parameter with more values gets no curves of its own, unless it is requested."""


def usual(plan: Plan) -> tuple[str, str, str | None]:
    """Choose the columns of the page of a sweep: x, y, and the column with a curve for each value, if any.

    x is the first parameter that is a number. y is the metric that decides on the number of runs, goodput by
    default. The curves belong to another parameter, preferably one that is not a number.
    """
    if not plan.parameters:
        return "point", plan.replication.metric, None
    varied = [parameter for parameter in plan.parameters if len(set(parameter.values)) > 1]
    varied = varied or list(plan.parameters)
    numbers = [parameter for parameter in varied if parameter.kind in (int, float)]
    x = (numbers or varied)[0]
    hues = [
        parameter for parameter in varied if parameter is not x and len(set(parameter.values)) <= MOST_CURVES
    ]
    hues.sort(key=lambda parameter: parameter.kind in (int, float))
    return x.name, plan.replication.metric, hues[0].name if hues else None


def so_far(plan: Plan, table: pl.LazyFrame) -> InterimResults:
    """Return the default chart of the results so far, for the live view."""
    x, y, hue = usual(plan)
    caption = "Means over the runs so far, with their 95 % intervals"
    averaged = averaged_over(table, [x, hue] if hue else [x])
    if averaged:
        caption += f", averaged over {', '.join(averaged)}"
    failed = table.filter(pl.col("error").is_not_null())
    errors = failed.select(pl.col("error").unique(maintain_order=True)).head(MOST_ERRORS)
    chart = _chart(estimates(table, x, y, hue), x, y, hue)
    return InterimResults(
        {f"{label(y)} against {label(x)}": Group([chart])},
        ("errors",),
        errors.collect().rows(),
        f"{caption}.",
    )


def write(
    target: Path, table: pl.LazyFrame, x: str, y: str, hue: str | None, command: str, follows: str = ""
) -> None:
    """Write the page atomically; the metrics of `METRICS` follow y.

    Its curves belong to the values of `hue`; a reader can choose another parameter for them, or none.
    `command` is the command that makes the page again; `follows` comes from `controls.follows`.
    """
    others = [
        name for name in averaged_over(table, [x]) if name != hue and _count(table, name) <= MOST_CURVES
    ]
    choices = [_choice(table, x, y, curves) for curves in dict.fromkeys([hue, *others, None])]
    text = html(
        "sweep.html",
        profile=profiles_of(table),
        follows=follows,
        charts={f"sweep-{index}": choice.charts for index, choice in enumerate(choices)},
        x=label(x),
        y=label(y),
        choices=choices,
        command=command,
    )
    storage.write_sealed(target, text)


@dataclass(frozen=True)
class _Choice:
    """The content of the page with the curves of one parameter, or of none."""

    hue: str | None
    charts: Group
    averaged: list[str]
    constant: list[str]
    buffer: str
    has_buffers: bool
    rows: list[list[str]]


def _choice(table: pl.LazyFrame, x: str, y: str, hue: str | None) -> _Choice:
    schema = table.collect_schema()
    shown = [y, *(name for name in METRICS if name != y and name in schema)]
    charted = {name: estimates(table, x, name, hue) for name in shown}
    # A metric without any number is left out, unless it was requested, and a constant has no chart.
    charted = {name: means for name, means in charted.items() if name == y or means.height}
    constant = {
        name: means["value"][0]
        for name, means in charted.items()
        if name != y and means.height > 1 and means["value"].n_unique() == 1
    }
    keys = [x] if hue is None else [x, hue]
    buffers = _buffers(table, keys)
    alike = len(set(buffers.values())) == 1
    return _Choice(
        None if hue is None else label(hue),
        Group([_chart(means, x, name, hue) for name, means in charted.items() if name not in constant]),
        averaged_over(table, [x, hue] if hue else [x]),
        [f"{label(name)} {_digits(value)}" for name, value in constant.items()],
        next(iter(buffers.values())) if alike else "",
        len(set(buffers.values())) > 1,
        [
            [str(row[name]) for name in keys]
            + ([buffers[tuple(row[name] for name in keys)]] if len(set(buffers.values())) > 1 else [])
            + [_digits(row[name]) for name in ("value", "low", "high")]
            + [str(row["runs"])]
            for row in charted[y].iter_rows(named=True)
        ],
    )


def _buffers(table: pl.LazyFrame, keys: Sequence[str]) -> dict[tuple[object, ...], str]:
    """Return the buffer of the first link, in packets or bytes, for the values of `keys`.

    It is empty for results of earlier versions, which have no such column.
    """
    if "queue_limit" not in table.collect_schema():
        return {}
    of_keys = table.group_by(keys).agg(pl.col("queue_limit").drop_nulls().unique(maintain_order=True))
    return {
        tuple(row[name] for name in keys): " to ".join(dict.fromkeys(_ends(row["queue_limit"]))) or "-"
        for row in of_keys.sort(keys).collect().iter_rows(named=True)
    }


def _ends(limits: Sequence[str]) -> list[str]:
    """Return the smallest and the largest of some limits of a queue, such as ``50 packets``."""
    return [choose(limits, key=engine.limit) for choose in (min, max) if limits]


def _count(table: pl.LazyFrame, name: str) -> int:
    return int(table.select(pl.col(name).n_unique()).collect().item())


def _digits(value: float | None) -> str:
    return "-" if value is None or value != value else f"{value:.4g}"


def _axis(name: str, values: pl.Series) -> Axis:
    quantity, _, unit = label(name).removesuffix(")").rpartition(" (")
    return Axis(quantity or unit, unit if quantity else "", log=is_log(values))


def _chart(means: pl.DataFrame, x: str, y: str, hue: str | None) -> Chart:
    across = _axis(x, means[x]) if means[x].dtype.is_numeric() else None
    if across is None:
        names = means[x].unique(maintain_order=True).to_list()
        across = Axis(label(x), names=[str(name) for name in names])
        position = {name: index for index, name in enumerate(names)}
    groups = (
        [("mean", means)]
        if hue is None
        else [(str(value), part) for (value,), part in means.group_by(hue, maintain_order=True)]
    )
    series = [
        Series(
            name,
            index,
            [position[value] for value in part[x]] if across.names else part[x].cast(pl.Float64),
            part["value"],
            low=part["low"],
            high=part["high"],
        )
        for index, (name, part) in enumerate(groups)
    ]
    return Chart(y, label(y), across, _axis(y, means["value"]), series)
