"""The results of a sweep as rows: one per flow and run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ackclock.engine import Run, Summary, columns
from ackclock.summary import flow_row

if TYPE_CHECKING:
    import polars as pl

FlowRow = dict[str, Any]

_FLOW = {name: kind for name, kind in columns("flows").items() if not name.startswith("whole_run_")}
_LINK = {
    name: columns("links")[name]
    for name in (
        "queue_limit",
        "utilisation",
        "queue_drops",
        "random_losses",
        "mean_queue_packets",
        "queue_delay_p95_ms",
    )
}
_RUN: dict[str, type] = {"jain": float, "digest": str}
COLUMNS: dict[str, type] = {
    "point": int,
    "run": int,
    "error": str,
    **{"flow" if name == "id" else name: kind for name, kind in _FLOW.items()},
    "profile": str,
    **_LINK,
    **_RUN,
    "experiment": str,
}
"""Columns of every result; columns of the first link and of the run are equal for all flows."""
NUMBERS = tuple(name for name, kind in COLUMNS.items() if kind is float)
"""Columns for which intervals can be computed."""
_SHARES = frozenset({"utilisation", "jain"})


def possible(column: str) -> tuple[float, float]:
    """Return the smallest and largest possible number of a column of results, in its unit."""
    if COLUMNS.get(column) not in (int, float):
        return -math.inf, math.inf
    return 0.0, 1.0 if column in _SHARES else math.inf


def of_run(run: Run) -> list[FlowRow]:
    """Return the rows of a run, as `of_summary`: the measure of a sweep."""
    return of_summary(run.summary)


def of_summary(summary: Summary) -> list[FlowRow]:
    """Return the rows of a run, one per flow, without point and run."""
    link: Mapping[str, object] = summary["links"][0] if summary["links"] else {}
    shared: FlowRow = {name: link.get(name) for name in _LINK}
    shared |= {"jain": summary["jain"], "digest": summary["digest"]}
    flows = [(flow_row(flow), flow["settings"]) for flow in summary["flows"]]
    return [
        {"flow" if name == "id" else name: row[name] for name in _FLOW}
        | {"profile": _profile(settings)}
        | shared
        for row, settings in flows
    ]


def _profile(settings: Any) -> str | None:
    """Return the profile of a flow's sender; None for a source without TCP."""
    return None if settings is None else settings.get("profile")


def frame(rows: Iterable[FlowRow], parameters: Mapping[str, type]) -> pl.DataFrame:
    """Return a table of rows, sorted by point, run and flow; its column types do not depend on the rows.

    Each row has a point, a run, the values of the parameters, and a result of `of_summary` or an error;
    `parameters` has the types of the columns after these (float, int, bool or str).
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
