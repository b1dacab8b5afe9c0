"""The results of a sweep as rows: one per flow and run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]

_FLOW: dict[str, type] = {
    "id": int, "name": str, "controller": str, "rtt_ms": float, "goodput_mbps": float,
    "mean_window": float, "mean_rtt_ms": float, "rtt_p50_ms": float, "rtt_p95_ms": float,
    "rtt_p99_ms": float, "sent_packets": int, "retransmitted_packets": int,
    "dropped_packets": int, "loss_events": int, "timeouts": int, "completion_s": float,
}  # fmt: skip
_LINK: dict[str, type] = {
    "utilisation": float, "queue_drops": int, "random_losses": int, "mean_queue_packets": float,
    "queue_delay_p95_ms": float,
}  # fmt: skip
_RUN: dict[str, type] = {"jain": float, "digest": str}
COLUMNS: dict[str, type] = {
    "point": int, "run": int, "error": str,
    **{"flow" if name == "id" else name: kind for name, kind in _FLOW.items()},
    **_LINK, **_RUN,
    "experiment": str,
}  # fmt: skip
"""Columns of every result; those of the first link and of the run are the same for all flows."""
NUMBERS = tuple(name for name, kind in COLUMNS.items() if kind is float)
"""Columns whose interval can be asked for."""


def of_summary(summary: Mapping[str, Any]) -> list[Row]:
    """Give the rows of a run.

    Parameters
    ----------
    summary : mapping
        As `Run.summary`.

    Returns
    -------
    list of dict
        One per flow, without point and run.
    """
    link = summary["links"][0] if summary["links"] else {}
    shared = {name: link.get(name) for name in _LINK} | {name: summary[name] for name in _RUN}
    return [
        {"flow" if name == "id" else name: flow[name] for name in _FLOW} | shared
        for flow in summary["flows"]
    ]


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
