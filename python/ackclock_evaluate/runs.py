"""The measure of a run: its metrics, and curves and flows where they are drawn or listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ackclock import engine
from ackclock.runs import rows, sources
from ackclock_evaluate import timelines
from ackclock_evaluate.cell import CellMeasure

MEASURING = tuple(f"ackclock_evaluate.{name}" for name in ("runs", "suites"))
"""The modules that determine the numbers, together with everything that they import."""


@dataclass(frozen=True)
class RunMeasurement:
    """The measure of a run, with its curves if `drawn` and the columns of its flows if `by_flow`."""

    measure: CellMeasure
    drawn: bool = False
    by_flow: bool = False

    def __call__(self, run: engine.Run) -> dict[str, Any]:
        """Return ``numbers``, ``curves`` and ``flows`` of a run.

        ``flows`` has for each column of a sweep a value per flow, or a single value if all flows
        share it; columns that do not apply are left out.
        """
        return {
            "numbers": {name: float(value) for name, value in self.measure(run).items()},
            "curves": timelines.curves(run) if self.drawn else {},
            "flows": _columns(rows.of_summary(run.summary)) if self.by_flow else {},
        }


def code() -> str:
    """Return a digest of the code that makes numbers of runs."""
    return sources.of_modules(MEASURING)


def _columns(table: Sequence[rows.FlowRow]) -> dict[str, Any]:
    """Turn rows into columns; a value that all flows share is kept once."""
    columns: dict[str, Any] = {}
    for name in table[0] if table else ():
        values = [row[name] for row in table]
        if all(value == values[0] for value in values):
            if values[0] is not None:
                columns[name] = values[0]
        else:
            columns[name] = values
    return columns | {"flow": [row["flow"] for row in table]}
