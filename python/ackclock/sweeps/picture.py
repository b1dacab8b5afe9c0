"""The usual picture of a sweep: a metric against a parameter, a curve per value of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock.draw import plots
from ackclock.metrics import over_runs, within
from ackclock.runs import progress, rows
from ackclock.runs.store import BusyError
from ackclock.sweeps import exports

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DECADES_FOR_LOG = 1.5
"""A numeric axis that spans more is logarithmic."""


def scan(results: Path | str) -> pl.LazyFrame:
    """Open the results of sweeps.

    Parameters
    ----------
    results : Path or str
        A dataset, one experiment of it, or a Parquet file.

    Returns
    -------
    polars.LazyFrame
        One row per flow and run.

    Raises
    ------
    ValueError
        When there are none.
    """
    place = Path(results)
    if place.is_file():
        return pl.scan_parquet(place, glob=False)
    files = sorted(place.glob("**/part-*.parquet"))
    if not files:
        raise ValueError(f"{place} holds no results of a sweep; run ackclock sweep first")
    # Experiments may have other parameters; what one lacks is null there.
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
    """Make sure that results are as they were written, as far as their sweeps noted it.

    Parameters
    ----------
    results : Path or str
        As for `scan`.

    Raises
    ------
    ValueError
        When a file is missing or was changed, or is not Parquet.
    """
    place = Path(results)
    files = [place] if place.is_file() else sorted(place.glob("**/part-*.parquet"))
    homes = {file.parent for file in files} | ({place} if place.is_dir() else set())
    for home in sorted(homes):
        try:
            problem = next(iter(exports.problems_of(home.resolve())), None)
        except BusyError:
            progress.say(f"{home}: its sweep is at work, so its parts cannot be checked")
            continue
        if problem is not None:
            raise ValueError(f"{problem}; run the sweep again")
    for file in files:
        try:
            pl.read_parquet_schema(file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise ValueError(f"{file} is no Parquet file: {str(error).splitlines()[0]}") from error


def column(table: pl.LazyFrame, name: str) -> str:
    """Find a column by its name or the beginning of it.

    Parameters
    ----------
    table : polars.LazyFrame
        Results.
    name : str
        Such as ``goodput`` for ``goodput_mbps``.

    Returns
    -------
    str
        Its full name.

    Raises
    ------
    ValueError
        When there is none, or several begin so.
    """
    names = table.collect_schema().names()
    if name in names:
        return name
    found = [one for one in names if one.startswith(name)]
    if len(found) == 1:
        return found[0]
    problem = f"may be {', '.join(found)}" if found else f"there are {', '.join(names)}"
    raise ValueError(f"no column is named {name}: {problem}")


def estimates(table: pl.LazyFrame, x: str, y: str, hue: str | None) -> pl.DataFrame:
    """Return the mean of a metric with its 95 % interval over runs.

    Parameters
    ----------
    table : polars.LazyFrame
        Results.
    x, y : str
        Columns; of y the mean over the flows of a run counts.
    hue : str, optional
        A column whose values are kept apart.

    Returns
    -------
    polars.DataFrame
        Columns x, hue (if given), value, low, high, runs. An interval holds nothing impossible.
    """
    keys = list(dict.fromkeys([x] if hue is None else [x, hue]))
    # A run has one number in each group, whatever its flows.
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
    found = [within(over_runs(values), *bounds) for values in of_runs[y].to_list()]
    return of_runs.select(keys).with_columns(
        pl.Series("value", [one.value for one in found], pl.Float64),
        pl.Series("low", [one.low for one in found], pl.Float64),
        pl.Series("high", [one.high for one in found], pl.Float64),
        pl.Series("runs", [one.samples for one in found], pl.Int64),
    )


def _run_keys(table: pl.LazyFrame) -> list[str]:
    names = table.collect_schema().names()
    return [name for name in ("experiment", "point", "run") if name in names]


def averaged_over(table: pl.LazyFrame, shown: Sequence[str]) -> list[str]:
    """Name the parameters that a picture does not tell apart.

    Parameters
    ----------
    table : polars.LazyFrame
        Results.
    shown : sequence of str
        Columns that it does.

    Returns
    -------
    list of str
        Those with several values.
    """
    names = [
        name for name in table.collect_schema().names() if name not in rows.COLUMNS and name not in shown
    ]
    counts = table.select(pl.col(names).n_unique()).collect() if names else pl.DataFrame()
    return [name for name in names if counts[name].item() > 1]


def chosen(table: pl.LazyFrame, where: Mapping[str, str]) -> pl.LazyFrame:
    """Keep rows that have certain values.

    Parameters
    ----------
    table : polars.LazyFrame
        Results.
    where : mapping
        Value by column, as text.

    Returns
    -------
    polars.LazyFrame
        Those rows.

    Raises
    ------
    ValueError
        When no row is left; the message has the values that there are.
    """
    for given, text in where.items():
        name = column(table, given)
        there = table.select(pl.col(name).unique().sort()).collect()[name].to_list()
        wanted = [value for value in there if value is not None and _same(value, text)]
        if not wanted:
            raise ValueError(f"{name} has no value {text}; it has {', '.join(map(str, there))}")
        table = table.filter(pl.col(name).is_in(wanted))
    return table


def _same(value: object, text: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).lower() == text.lower()
    try:
        return float(text) == value
    except ValueError:
        return False


UNITS = {"mbps": "Mbit/s", "ms": "ms", "s": "s", "packets": "packets"}


def label(name: str) -> str:
    """Write the name of a column for people: ``goodput_mbps`` is goodput (Mbit/s).

    Parameters
    ----------
    name : str
        Column.

    Returns
    -------
    str
        Words, with the unit if its name ends with one.
    """
    words, _, unit = name.rpartition("_")
    if words and unit in UNITS:
        return f"{words.replace('_', ' ')} ({UNITS[unit]})"
    return name.replace("_", " ")


HEADROOM = 1.05
"""Upper end of an axis over what is drawn."""
BESIDE = 0.1
"""Distance of the values of one category, in distances of categories."""


def draw(table: pl.LazyFrame, x: str, y: str, hue: str | None = None) -> plots.Picture:
    """Draw a metric against a parameter with 95 % intervals.

    Parameters
    ----------
    table : polars.LazyFrame
        Results.
    x, y : str
        Columns.
    hue : str, optional
        A column whose values are curves of their own.

    Returns
    -------
    Figure
        The picture; an axis over many decades is logarithmic, and values of categories are not
        joined by lines. Above it stands which parameters it does not tell apart.
    """
    found = estimates(table, x, y, hue)
    groups = [(None, found)] if hue is None else list(found.group_by(hue, maintain_order=True))
    numeric = found[x].dtype.is_numeric()
    ticks = {value: place for place, value in enumerate(found[x].unique(maintain_order=True))}
    with plots.in_style():
        figure, (panel,) = plots.panels(1, height=3.2)
        for index, (name, part) in enumerate(groups):
            # Categories have no order that a line could follow; beside each other all are seen.
            aside = BESIDE * (index - (len(groups) - 1) / 2)
            places = part[x].to_numpy() if numeric else [ticks[value] + aside for value in part[x]]
            plots.errors(
                panel,
                places,
                part["value"],
                part["low"],
                part["high"],
                index=index,
                label=None if name is None else str(name[0]),
                joined=numeric,
            )
        panel.set(xlabel=label(x), ylabel=label(y))
        if numeric:
            _maybe_log(panel, "x", found[x])
        else:
            panel.set_xticks(list(ticks.values()), [str(value) for value in ticks])
        _maybe_log(panel, "y", found["value"])
        if panel.get_yscale() == "linear":
            drawn = found.select(pl.col("value", "low", "high").cast(pl.Float64)).to_numpy()
            drawn = drawn[np.isfinite(drawn)]
            # From 0, unless that would squeeze the curves into the upper half.
            if drawn.size and 0 <= drawn.min() <= drawn.max() / 2:
                panel.set_ylim(0, HEADROOM * drawn.max())
        averaged = averaged_over(table, [x] if hue is None else [x, hue])
        if averaged:
            # Whoever sees the picture alone is to know that its intervals hold different paths.
            panel.set_title(f"averaged over {', '.join(map(label, averaged))}", loc="left")
        if hue is not None:
            plots.legend(panel, 5)
    return figure


def is_log(values: pl.Series) -> bool:
    """Whether an axis of these values is logarithmic.

    Parameters
    ----------
    values : polars.Series
        What is drawn along it.

    Returns
    -------
    bool
        All are above 0 and span more than `DECADES_FOR_LOG`.
    """
    if not values.dtype.is_numeric():
        return False
    known = values.drop_nulls().cast(pl.Float64).drop_nans().to_numpy()
    return bool(known.size and known.min() > 0 and np.log10(known.max() / known.min()) > DECADES_FOR_LOG)


def _maybe_log(panel: Axes, axis: str, values: pl.Series) -> None:
    if is_log(values):
        panel.set(**{f"{axis}scale": "log"})
