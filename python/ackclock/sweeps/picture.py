"""The default picture of a sweep: a metric against a parameter, with a curve per value of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock.draw import plots
from ackclock.engine import parquet
from ackclock.metrics import over_runs, within
from ackclock.names import hint
from ackclock.runs import progress, rows
from ackclock.runs.store import BusyError
from ackclock.sweeps import exports

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DECADES_FOR_LOG = 1.5
"""A numeric axis over more decades is logarithmic."""


def scan(results: Path | str) -> pl.LazyFrame:
    """Open a dataset, one experiment of it, or a Parquet file: one row per flow and run.

    Raises ValueError when it holds no results.
    """
    path = Path(results)
    if path.is_file():
        return pl.scan_parquet(path, glob=False)
    files = sorted(path.glob("**/part-*.parquet"))
    if not files:
        raise ValueError(f"{path} holds no results of a sweep; run ackclock sweep first")
    # Experiments may have different parameters; a column that an experiment lacks is null.
    return pl.concat(
        [
            pl.scan_parquet(file, glob=False).with_columns(
                pl.lit(file.parent.name.removeprefix("experiment=")).alias("experiment")
            )
            for file in files
        ],
        how="diagonal",
    )


def refuse_damaged(results: Path | str) -> None:
    """Raise ValueError when a file is not Parquet, is missing, or has changed since its sweep wrote it."""
    path = Path(results)
    files = [path] if path.is_file() else sorted(path.glob("**/part-*.parquet"))
    if path.is_file() and (problem := parquet.problem_of(path)):
        if not problem.endswith(parquet.UNSEALED):
            raise ValueError(f"{path.parent}/{problem}; run the sweep again")
        progress.say(f"{path.parent}/{problem}")
    homes = {path} if path.is_dir() else set()
    homes |= {file.parent for file in files if file != path}
    for home in sorted(homes):
        try:
            problems = exports.problems_of(home.resolve())
        except BusyError:
            progress.say(f"{home}: its sweep is in progress, so its parts cannot be checked")
            continue
        for problem in problems:
            if not problem.endswith(parquet.UNSEALED):
                raise ValueError(f"{problem}; run the sweep again")
            # Another program may have written it.
            progress.say(problem)
    for file in files:
        try:
            pl.read_parquet_schema(file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise ValueError(f"{file} is not a Parquet file: {str(error).splitlines()[0]}") from error


def selected(
    results: Path | str, x: str, y: str, hue: str | None, where: Mapping[str, object]
) -> tuple[pl.LazyFrame, str, str, str | None]:
    """Return the rows of results with certain values, and the full names of the columns to draw.

    Raises ValueError when the results are damaged, or lack a column or value.
    """
    refuse_damaged(results)
    table = scan(results)
    across, up = column(table, x), column(table, y)
    kept = None if hue is None else column(table, hue)
    if not table.collect_schema()[up].is_numeric():
        raise ValueError(f"not a column of numbers: {up}; choose another y")
    return chosen(table, {name: str(value) for name, value in where.items()}), across, up, kept


def column(table: pl.LazyFrame, name: str) -> str:
    """Return the full name of a column from its beginning, such as ``goodput`` for ``goodput_mbps``.

    Raises ValueError when no column or several columns begin with it.
    """
    names = table.collect_schema().names()
    if name in names:
        return name
    matches = [full for full in names if full.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    problem = f"may be {', '.join(matches)}" if matches else hint(name, names)
    raise ValueError(f"no column is named {name}: {problem}")


def estimates(table: pl.LazyFrame, x: str, y: str, hue: str | None) -> pl.DataFrame:
    """Return the mean of a metric with its 95 % interval over runs, by x and hue.

    A run with several flows counts with their mean. The columns are x, hue (if given), value, low, high and
    runs; an interval holds only possible values.
    """
    keys = list(dict.fromkeys([x] if hue is None else [x, hue]))
    # A run contributes one number to each group, however many flows it has.
    of_runs = (
        table.drop_nulls(y)
        .group_by([*keys, *_run_keys(table)])
        .agg(pl.col(y).mean())
        .group_by(keys)
        .agg(pl.col(y))
        .sort(keys)
        .collect()
    )
    bounds = rows.possible(y)
    means = [within(over_runs(values), *bounds) for values in of_runs[y].to_list()]
    return of_runs.select(keys).with_columns(
        pl.Series("value", [mean.value for mean in means], pl.Float64),
        pl.Series("low", [mean.low for mean in means], pl.Float64),
        pl.Series("high", [mean.high for mean in means], pl.Float64),
        pl.Series("runs", [mean.samples for mean in means], pl.Int64),
    )


def _run_keys(table: pl.LazyFrame) -> list[str]:
    names = table.collect_schema().names()
    return [name for name in ("experiment", "point", "run") if name in names]


def profiles_of(table: pl.LazyFrame) -> str:
    """Return the profiles of the senders of results in words; empty for results of earlier versions."""
    if "profile" not in table.collect_schema():
        return ""
    return " and ".join(table.select(pl.col("profile").drop_nulls().unique().sort()).collect()["profile"])


def averaged_over(table: pl.LazyFrame, shown: Sequence[str]) -> list[str]:
    """Return the parameters with several values that are not among the shown columns."""
    names = [
        name for name in table.collect_schema().names() if name not in rows.COLUMNS and name not in shown
    ]
    counts = table.select(pl.col(names).n_unique()).collect() if names else pl.DataFrame()
    return [name for name in names if counts[name].item() > 1]


def chosen(table: pl.LazyFrame, where: Mapping[str, str]) -> pl.LazyFrame:
    """Return the rows that have certain values, given as text by column.

    Raises ValueError with the existing values when no row is left.
    """
    for given, text in where.items():
        name = column(table, given)
        existing = table.select(pl.col(name).unique().sort()).collect()[name].to_list()
        wanted = [value for value in existing if value is not None and _same(value, text)]
        if not wanted:
            raise ValueError(f"{name} has no value {text}; it has {', '.join(map(str, existing))}")
        table = table.filter(pl.col(name).is_in(wanted))
    return table


def _same(value: object, text: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).lower() == text.lower()
    try:
        return float(text) == value
    except ValueError:
        return False


WORDS = {
    "jain": "Jain's index",
    "mean_rtt_ms": "mean RTT (ms)",
    "rtt_p95_ms": "RTT, 95th percentile (ms)",
    "queue_delay_p95_ms": "queueing delay, 95th percentile (ms)",
    "mean_queue_packets": "mean queue (packets)",
    "mean_window": "mean window (packets)",
    "max_window": "largest window (packets)",
    "queue_drops": "packets dropped by the queue",
}
"""Names of columns that say too little."""
UNITS = {"mbps": "Mbit/s", "ms": "ms", "s": "s", "packets": "packets"}


def label(name: str) -> str:
    """Return a column's name for people: ``goodput_mbps`` is goodput (Mbit/s)."""
    if name in WORDS:
        return WORDS[name]
    quantity, _, unit = name.rpartition("_")
    if quantity and unit in UNITS:
        return f"{quantity.replace('_', ' ')} ({UNITS[unit]})"
    return name.replace("_", " ")


HEADROOM = 1.05
"""Upper end of an axis over the largest drawn value."""
DODGE = 0.1
"""Distance between the values of one category, over the distance between categories."""


def draw(table: pl.LazyFrame, x: str, y: str, hue: str | None = None) -> plots.Picture:
    """Draw a metric against a parameter with 95 % intervals, one curve per value of `hue`.

    An axis over many decades is logarithmic, and values of categories are not joined by lines. The title
    names the parameters that are averaged over.
    """
    means = estimates(table, x, y, hue)
    groups = [(None, means)] if hue is None else list(means.group_by(hue, maintain_order=True))
    numeric = means[x].dtype.is_numeric()
    ticks = {value: position for position, value in enumerate(means[x].unique(maintain_order=True))}
    with plots.in_style():
        figure, (panel,) = plots.panels(1, height=3.2)
        for index, (name, part) in enumerate(groups):
            # Categories have no order for a line to follow; side by side all values are visible.
            aside = DODGE * (index - (len(groups) - 1) / 2)
            positions = part[x].to_numpy() if numeric else [ticks[value] + aside for value in part[x]]
            plots.errors(
                panel,
                positions,
                part["value"],
                part["low"],
                part["high"],
                index=index,
                label=None if name is None else str(name[0]),
                joined=numeric,
            )
        panel.set(xlabel=label(x), ylabel=label(y))
        if numeric:
            _maybe_log(panel, "x", means[x])
        else:
            panel.set_xticks(list(ticks.values()), [str(value) for value in ticks])
        _maybe_log(panel, "y", means["value"])
        if panel.get_yscale() == "linear":
            drawn = means.select(pl.col("value", "low", "high").cast(pl.Float64)).to_numpy()
            drawn = drawn[np.isfinite(drawn)]
            # From 0, unless that would squeeze the curves into the upper half.
            if drawn.size and 0 <= drawn.min() <= drawn.max() / 2:
                panel.set_ylim(0, HEADROOM * drawn.max())
        plots.name_profile(panel, profiles_of(table))
        averaged = averaged_over(table, [x] if hue is None else [x, hue])
        if averaged:
            # A picture without its caption must still say that its intervals cover different paths.
            panel.set_title(f"averaged over {', '.join(map(label, averaged))}", loc="left")
        if hue is not None:
            plots.legend(panel, 5)
    return figure


def is_log(values: pl.Series) -> bool:
    """Return whether an axis is logarithmic: all values are positive and span more than `DECADES_FOR_LOG`."""
    if not values.dtype.is_numeric():
        return False
    known = values.drop_nulls().cast(pl.Float64).drop_nans().to_numpy()
    return bool(known.size and known.min() > 0 and np.log10(known.max() / known.min()) > DECADES_FOR_LOG)


def _maybe_log(panel: Axes, axis: str, values: pl.Series) -> None:
    if is_log(values):
        panel.set(**{f"{axis}scale": "log"})
