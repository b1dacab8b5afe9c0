"""The results of a sweep as rows: one per flow and run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ackclock.engine import Run, Summary, columns

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]

_FLOW = {name: kind for name, kind in columns("flows").items() if not name.startswith("whole_run_")}
_LINK = {
    name: columns("links")[name]
    for name in ("utilisation", "queue_drops", "random_losses", "mean_queue_packets", "queue_delay_p95_ms")
}
_RUN: dict[str, type] = {"jain": float, "digest": str}
COLUMNS: dict[str, type] = {
    "point": int,
    "run": int,
    "error": str,
    **{"flow" if name == "id" else name: kind for name, kind in _FLOW.items()},
    **_LINK,
    **_RUN,
    "experiment": str,
}
"""Columns of every result; those of the first link and of the run are the same for all flows."""
NUMBERS = tuple(name for name, kind in COLUMNS.items() if kind is float)
"""Columns whose interval can be asked for."""
_SHARES = frozenset({"utilisation", "jain"})


def possible(column: str) -> tuple[float, float]:
    """Give the smallest and largest number that a column can have.

    Parameters
    ----------
    column : str
        Of results; of another nothing is known.

    Returns
    -------
    tuple of two floats
        In the unit of the column.
    """
    if COLUMNS.get(column) not in (int, float):
        return -math.inf, math.inf
    return 0.0, 1.0 if column in _SHARES else math.inf


def of_run(run: Run) -> list[Row]:
    """Return the rows of a run, as `of_summary`: the measure of a sweep."""
    return of_summary(run.summary)


def of_summary(summary: Summary) -> list[Row]:
    """Give the rows of a run.

    Parameters
    ----------
    summary : Summary
        Summary of the run.

    Returns
    -------
    list of dict
        One per flow, without point and run.
    """
    link: Mapping[str, object] = summary["links"][0] if summary["links"] else {}
    shared: Row = {name: link.get(name) for name in _LINK}
    shared |= {"jain": summary["jain"], "digest": summary["digest"]}
    flows: list[Mapping[str, object]] = [*summary["flows"]]
    return [{"flow" if name == "id" else name: flow[name] for name in _FLOW} | shared for flow in flows]


def frame(rows: Iterable[Row], parameters: Mapping[str, type]) -> pl.DataFrame:
    """Put rows in a table whose types do not depend on them.

    Parameters
    ----------
    rows : iterable of dict
        Point, run, the values of the parameters, and what `of_summary` gives or an error.
    parameters : mapping
        Type by name of the columns after point, run and error: float, int, bool or str.

    Returns
    -------
    polars.DataFrame
        In the order of points, runs and flows.
    """
    import polars as pl

    kinds = {float: pl.Float64, int: pl.Int64, str: pl.String, bool: pl.Boolean}
    names = list(COLUMNS)[:-1]
    schema = {name: kinds[COLUMNS[name]] for name in names[:3]}
    schema |= {name: kinds[kind] for name, kind in parameters.items()}
    schema |= {name: kinds[COLUMNS[name]] for name in names[3:]}
    return pl.DataFrame(list(rows), schema=schema, strict=False).sort(
        "point", "run", "flow", maintain_order=True
    )
