"""What an evaluation wants of its runs: numbers, and where they are drawn or listed also curves and flows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ackclock import engine
from ackclock.runs import rows, sources
from ackclock_evaluate import timelines
from ackclock_evaluate.cell import Measure

MEASURING = tuple(
    f"ackclock_evaluate.{name}"
    for name in ("runs", "criteria", "suites", "search.objectives", "search.genomes")
)
"""The modules whose code, with everything that they import, makes the numbers."""


@dataclass(frozen=True)
class Wanted:
    """The measure of a run.

    Attributes
    ----------
    measure : callable
        Returns the numbers by name.
    drawn : bool
        Whether curves over time are wanted.
    by_flow : bool
        Whether the summary of every flow is wanted.
    """

    measure: Measure
    drawn: bool = False
    by_flow: bool = False

    def __call__(self, run: engine.Run) -> dict[str, Any]:
        """Measure a run.

        Parameters
        ----------
        run : Run
            It has tables over time if the measure or curves need them.

        Returns
        -------
        dict
            ``numbers``; ``curves``, empty unless wanted; and ``flows``, by column of a sweep a value per flow
            or the one of all, without columns that do not apply.
        """
        return {
            "numbers": {name: float(value) for name, value in self.measure(run).items()},
            "curves": timelines.curves(run) if self.drawn else {},
            "flows": _columns(rows.of_summary(run.summary)) if self.by_flow else {},
        }


def code() -> str:
    """Return a digest of the code that makes numbers of runs."""
    return sources.of_modules(MEASURING)


def _columns(table: Sequence[rows.Row]) -> dict[str, Any]:
    """Turn rows into columns, of which a thousand flows do not repeat what they have in common."""
    columns: dict[str, Any] = {}
    for name in table[0] if table else ():
        values = [row[name] for row in table]
        if all(value == values[0] for value in values):
            if values[0] is not None:
                columns[name] = values[0]
        else:
            columns[name] = values
    return columns | {"flow": [row["flow"] for row in table]}


def as_json(value: Any) -> Any:
    """Return a value as JSON has it: null for what is not finite.

    Parameters
    ----------
    value : object
        Dictionaries, lists, numbers, texts.

    Returns
    -------
    object
        The same.
    """
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, float) and not (-1e308 < value < 1e308):
        return None
    return value
