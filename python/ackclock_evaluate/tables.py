"""The numbers of an evaluation as tables, and the names of the scenarios that give them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from ackclock.engine.names import slug
from ackclock.runs import rows
from ackclock_evaluate.results import CANDIDATE, CellResult, CriterionResult, Evaluation
from ackclock_evaluate.setting import BASELINES

_LAST = ("point", "run", "error", "experiment")
"""Columns of a sweep that an evaluation has otherwise."""


def scenario_name(criterion: str, cell: str, who: str = CANDIDATE, part: str = "") -> str:
    """Name the file of a cell's scenario.

    Parameters
    ----------
    criterion : str
        Its id.
    cell : str
        The cell's id.
    who : str
        In the judged place, as `CellResult.measured` names it.
    part : str
        Of the cell; empty for its first.

    Returns
    -------
    str
        Relative to the page.
    """
    folder = "" if who == CANDIDATE else f"{slug(who)}/"
    return f"scenarios/{folder}{slug(criterion, cell, part)}.toml"


def scenarios(criterion: str, cell: CellResult, who: str) -> dict[str, str]:
    """Name the files of all scenarios of a cell.

    Parameters
    ----------
    criterion : str
        Its id.
    cell : CellResult
        The cell.
    who : str
        In the judged place.

    Returns
    -------
    dict
        Files by part.
    """
    return {
        part: scenario_name(criterion, cell.cell.id, who, part if index else "")
        for index, part in enumerate(cell.measured[who].scenarios)
    }


def cells(evaluation: Evaluation) -> pl.DataFrame:
    """Give a row per cell, control and number.

    Parameters
    ----------
    evaluation : Evaluation
        What was found.

    Returns
    -------
    polars.DataFrame
        Columns criterion, cell, control, role, metric, unit, value, low, high, runs, verdict (of
        the candidate's judged numbers), scenario, and a column per parameter of cells.
    """
    rows = []
    names = sorted({key for one in evaluation.results for cell in one.cells for key in cell.cell.parameters})
    for result in evaluation.results:
        for cell in result.cells:
            judged = {one.margin.metric: one.compared.verdict for one in cell.judged}
            judged |= {limit.metric: "holds" if ok else "fails" for limit, ok in cell.limits}  # type: ignore[misc]
            units = dict(cell.cell.shown)
            units |= {one.margin.metric: one.margin.unit for one in cell.judged}
            for who, measured in cell.measured.items():
                mine = who == CANDIDATE
                metrics = dict.fromkeys(key for run in measured.numbers for key in run)
                for metric in metrics:
                    found = measured.estimate(metric)
                    rows.append(
                        {
                            "criterion": result.criterion.id,
                            "cell": cell.cell.name,
                            "control": evaluation.request.candidate.name if mine else who,
                            "role": role_of(who),
                            "metric": metric,
                            "unit": units.get(metric, ""),
                            "value": found.value,
                            "low": found.low,
                            "high": found.high,
                            "runs": found.samples,
                            "verdict": judged.get(metric) if mine else None,
                            "scenario": scenario_name(result.criterion.id, cell.cell.id, who),
                            **{
                                name: str(cell.cell.parameters[name])
                                if name in cell.cell.parameters
                                else None
                                for name in names
                            },
                        }
                    )
    return pl.DataFrame(rows, infer_schema_length=None).fill_nan(None)


def role_of(who: str) -> str:
    """Say what a control is in an evaluation.

    Parameters
    ----------
    who : str
        As `CellResult.measured` names it.

    Returns
    -------
    str
        ``candidate``, ``baseline`` or ``shown``.
    """
    if who == CANDIDATE:
        return who
    return "baseline" if who in BASELINES else "shown"


def numbers(evaluation: Evaluation) -> pl.DataFrame:
    """Give a row per run, control and number.

    Parameters
    ----------
    evaluation : Evaluation
        What was found.

    Returns
    -------
    polars.DataFrame
        Columns criterion, cell, control, role, run, metric, value.
    """
    rows = [
        {
            "criterion": result.criterion.id,
            "cell": cell.cell.name,
            "control": evaluation.request.candidate.name if who == CANDIDATE else who,
            "role": role_of(who),
            "run": index,
            "metric": metric,
            "value": value,
        }
        for result in evaluation.results
        for cell in result.cells
        for who, measured in cell.measured.items()
        for index, run in enumerate(measured.numbers)
        for metric, value in run.items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None).fill_nan(None)


def runs(evaluation: Evaluation) -> pl.DataFrame:
    """Give a row per run and flow, as a sweep does.

    Parameters
    ----------
    evaluation : Evaluation
        What was found.

    Returns
    -------
    polars.DataFrame
        Columns criterion, cell, control and role (in the judged place), part (of the cell), run,
        and those of a sweep.
    """
    kinds = {float: pl.Float64, int: pl.Int64, str: pl.String}
    named = ("criterion", "cell", "control", "role", "part")
    sweep = {name: kind for name, kind in rows.COLUMNS.items() if name not in _LAST}
    schema: dict[str, Any] = dict.fromkeys(named, pl.String) | {"run": pl.Int64}
    schema |= {name: kinds[kind] for name, kind in sweep.items()}
    columns: dict[str, list[Any]] = {name: [] for name in schema}
    for result, cell, who in _places(evaluation):
        about = (result.criterion.id, cell.cell.name, _name(evaluation, who), role_of(who))
        for run, part, flows in cell.measured[who].flows:
            count = len(flows.get("flow", ()))
            shared: dict[str, Any] = dict(zip(named, (*about, part), strict=True)) | {"run": run}
            for name, column in columns.items():
                value = shared[name] if name in shared else flows.get(name)
                column += value if isinstance(value, list) else [value] * count
    return pl.DataFrame(columns, schema=schema, strict=False)


def _places(evaluation: Evaluation) -> Iterator[tuple[CriterionResult, CellResult, str]]:
    for result in evaluation.results:
        for cell in result.cells:
            for who in cell.measured:
                yield result, cell, who


def _name(evaluation: Evaluation, who: str) -> str:
    return evaluation.request.candidate.name if who == CANDIDATE else who
