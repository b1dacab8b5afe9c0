"""The numbers of an evaluation as tables, and the names of its scenario files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from ackclock.names import slug
from ackclock.runs import rows
from ackclock_evaluate.results import CANDIDATE, CellResult, CriterionResult, Evaluation
from ackclock_evaluate.setting import BASELINES

_LAST = ("point", "run", "error", "experiment")
"""Columns of a sweep that an evaluation replaces."""


def scenario_name(criterion: str, cell: str, control: str = CANDIDATE, part: str = "") -> str:
    """Return the file of a cell's scenario, relative to the page; the first part has an empty name.

    `criterion` and `cell` are ids; `control` is a key of `CellResult.measured`.
    """
    folder = "" if control == CANDIDATE else f"{slug(control)}/"
    return f"scenarios/{folder}{slug(criterion, cell, part)}.toml"


def scenarios(criterion: str, cell: CellResult, control: str) -> dict[str, str]:
    """Return the files of all scenarios of a cell by part."""
    return {
        part: scenario_name(criterion, cell.cell.id, control, part if index else "")
        for index, part in enumerate(cell.measured[control].scenarios)
    }


def cells(evaluation: Evaluation) -> pl.DataFrame:
    """Return a row per cell, control and metric.

    The columns are criterion, cell, control, role, metric, unit, value, low, high, runs, verdict (of
    the candidate's judged metrics), scenario, and each parameter of a cell.
    """
    rows = []
    names = sorted(
        {key for result in evaluation.results for cell in result.cells for key in cell.cell.parameters}
    )
    for result in evaluation.results:
        for cell in result.cells:
            judged = {result.bound.metric: result.verdict for result in cell.judged}
            judged |= {limit.bound.metric: limit.verdict for limit in cell.limits}
            units = dict(cell.cell.shown)
            units |= {metric.margin.metric: metric.margin.unit for metric in cell.judged}
            for control, measured in cell.measured.items():
                mine = control == CANDIDATE
                metrics = dict.fromkeys(key for run in measured.numbers for key in run)
                for metric in metrics:
                    estimate = measured.estimate(metric)
                    rows.append(
                        {
                            "criterion": result.criterion.id,
                            "cell": cell.cell.name,
                            "control": evaluation.request.candidate.name if mine else control,
                            "role": role_of(control),
                            "metric": metric,
                            "unit": units.get(metric, ""),
                            "value": estimate.value,
                            "low": estimate.low,
                            "high": estimate.high,
                            "runs": estimate.samples,
                            "verdict": judged.get(metric) if mine else None,
                            "scenario": scenario_name(result.criterion.id, cell.cell.id, control),
                            **{
                                name: str(cell.cell.parameters[name])
                                if name in cell.cell.parameters
                                else None
                                for name in names
                            },
                        }
                    )
    return pl.DataFrame(rows, infer_schema_length=None).fill_nan(None)


def role_of(control: str) -> str:
    """Return ``candidate``, ``baseline`` or ``shown`` for a key of `CellResult.measured`."""
    if control == CANDIDATE:
        return control
    return "baseline" if control in BASELINES else "shown"


def numbers(evaluation: Evaluation) -> pl.DataFrame:
    """Return a row per run, control and metric.

    The columns are criterion, cell, control, role, run, metric, value.
    """
    rows = [
        {
            "criterion": result.criterion.id,
            "cell": cell.cell.name,
            "control": evaluation.request.candidate.name if control == CANDIDATE else control,
            "role": role_of(control),
            "run": index,
            "metric": metric,
            "value": value,
        }
        for result in evaluation.results
        for cell in result.cells
        for control, measured in cell.measured.items()
        for index, run in enumerate(measured.numbers)
        for metric, value in run.items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None).fill_nan(None)


def runs(evaluation: Evaluation) -> pl.DataFrame:
    """Return a row per run and flow, as a sweep does.

    The columns are criterion, cell, control and role (of the control under test), part (of the cell),
    run, and those of a sweep.
    """
    kinds = {float: pl.Float64, int: pl.Int64, str: pl.String}
    named = ("criterion", "cell", "control", "role", "part")
    sweep = {name: kind for name, kind in rows.COLUMNS.items() if name not in _LAST}
    schema: dict[str, Any] = dict.fromkeys(named, pl.String) | {"run": pl.Int64}
    schema |= {name: kinds[kind] for name, kind in sweep.items()}
    columns: dict[str, list[Any]] = {name: [] for name in schema}
    for result, cell, control in _controls(evaluation):
        about = (result.criterion.id, cell.cell.name, _name(evaluation, control), role_of(control))
        for run, part, flows in cell.measured[control].flows:
            count = len(flows.get("flow", ()))
            shared: dict[str, Any] = dict(zip(named, (*about, part), strict=True)) | {"run": run}
            for name, column in columns.items():
                value = shared[name] if name in shared else flows.get(name)
                column += value if isinstance(value, list) else [value] * count
    return pl.DataFrame(columns, schema=schema, strict=False)


def _controls(evaluation: Evaluation) -> Iterator[tuple[CriterionResult, CellResult, str]]:
    for result in evaluation.results:
        for cell in result.cells:
            for control in cell.measured:
                yield result, cell, control


def _name(evaluation: Evaluation, control: str) -> str:
    return evaluation.request.candidate.name if control == CANDIDATE else control
