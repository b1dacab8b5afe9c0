"""What an evaluation leaves behind: verdicts as JSON, numbers as Parquet, scenarios as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ackclock import engine
from ackclock.engine import controls, storage
from ackclock.evaluation import earlier
from ackclock.evaluation.results import (
    CANDIDATE,
    CellResult,
    CriterionResult,
    Evaluation,
    Judged,
)
from ackclock.evaluation.runs import as_json as as_finite
from ackclock.evaluation.schema import SCHEMA
from ackclock.evaluation.setting import BASELINES
from ackclock.evaluation.verdicts import Limit


def slug(text: str) -> str:
    """Turn words into the name of a file.

    Parameters
    ----------
    text : str
        Such as ``"6 flows, buffer 1 BDP"``.

    Returns
    -------
    str
        Letters, digits, points and hyphens.
    """
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.").lower()


def scenario_name(criterion: str, cell: str, who: str = CANDIDATE, part: str = "") -> str:
    """Name the file of a cell's scenario.

    Parameters
    ----------
    criterion : str
        Its id.
    cell : str
        The cell's name.
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
    return f"scenarios/{folder}{slug(f'{criterion} {cell} {part}')}.toml"


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
        part: scenario_name(criterion, cell.cell.name, who, part if index else "")
        for index, part in enumerate(cell.measured[who].scenarios)
    }


def margin_words(found: Judged | Limit) -> str:
    """Say what matters.

    Parameters
    ----------
    found : Judged or Limit
        A comparison, or what holds by itself.

    Returns
    -------
    str
        Such as ``"10 % and 1 ms"``.
    """
    if isinstance(found, Limit):
        bound = found.at_most if found.at_most is not None else found.at_least
        sense = "at most" if found.at_most is not None else "at least"
        times = " times the baseline" if found.of_baseline else ""
        return f"{sense} {bound:g}{times}"
    margin = found.margin
    parts = []
    if margin.ratio is not None:
        parts.append(f"{100 * (margin.ratio - 1):.0f} %")
    if margin.difference is not None:
        parts.append(f"{margin.difference:g} {margin.unit}".strip())
    return " and ".join(parts)


def _metric(found: Judged | Limit) -> tuple[str, str]:
    asked = found.margin if isinstance(found, Judged) else found
    return asked.metric, asked.unit


def _finite(value: float) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None


def number(cell: CellResult, found: Judged | Limit, criterion: str) -> dict[str, Any]:
    """Give what a verdict rests on.

    Parameters
    ----------
    cell : CellResult
        Where.
    found : Judged or Limit
        The comparison or limit.
    criterion : str
        Its id.

    Returns
    -------
    dict
        As ``worst`` in ``verdicts.json``.
    """
    metric, unit = _metric(found)
    mine = cell.measured[CANDIDATE].estimate(metric)
    theirs = {
        name: _finite(cell.measured[name].estimate(metric).value)
        for name in cell.measured
        if name != CANDIDATE
    }
    return {
        "cell": cell.cell.name,
        "metric": metric,
        "unit": unit,
        "value": _finite(mine.value),
        "low": _finite(mine.low),
        "high": _finite(mine.high),
        "runs": mine.samples,
        "baseline": theirs,
        "margin": margin_words(found),
        "scenario": scenario_name(criterion, cell.cell.name),
    }


def _criterion(result: CriterionResult, command: str) -> dict[str, Any]:
    return {
        "id": result.criterion.id,
        "section": result.criterion.section,
        "level": result.criterion.level.lower(),
        "verdict": result.verdict,
        "holm_p": None if result.holm_p is None else _finite(result.holm_p),
        "worst": number(*result.worst, result.criterion.id) if result.worst else None,
        "cells": len(result.cells),
        "unclear": sum(cell.verdict == "unclear" for cell in result.cells if cell.cell.decisive),
        "errors": result.errors,
        "suite": result.criterion.suite,
        "command": command,
    }


def verdicts(
    evaluation: Evaluation,
    wall_s: float,
    commands: Mapping[str, str],
    adversaries: Sequence[dict[str, Any]] = (),
    searches: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Give the verdicts as ``verdicts.json`` has them.

    Parameters
    ----------
    evaluation : Evaluation
        What was found.
    wall_s : float
        How long it took, seconds.
    commands : mapping
        What asked each criterion, by its key.
    adversaries : sequence of dict
        What searches have found, as `search.as_json` gives it.
    searches : sequence of dict
        The searches.

    Returns
    -------
    dict
        See `schema`.
    """
    asked = evaluation.asked
    own = controls.fingerprint([asked.candidate.name]).partition("=")[2].strip()
    return {
        "schema": SCHEMA,
        "ackclock": engine.__version__,
        "control": {
            "name": asked.candidate.name,
            "params": dict(asked.candidate.params),
            "digest": own or engine.ENGINE[:16],
        },
        "baselines": list(BASELINES),
        "against": list(asked.against),
        "build": earlier.build(asked),
        "mode": asked.mode,
        "seed": asked.seed,
        "criteria": [
            _criterion(one, commands[one.criterion.key])
            for one in evaluation.results
            if one.verdict != "not tested"
        ],
        "others": {
            name: {one.criterion.id: one.verdict for one in results}
            for name, results in evaluation.others.items()
        },
        "adversaries": [as_finite(one) for one in adversaries],
        "not_tested": [
            {
                "id": one.criterion.id,
                "reason": one.criterion.not_tested,
                "suite": one.criterion.suite,
                "command": commands[one.criterion.key],
            }
            for one in evaluation.results
            if one.verdict == "not tested"
        ],
        "searches": list(searches),
        "packets": evaluation.packets,
        "wall_s": round(wall_s, 1),
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
    names = sorted(
        {key for one in evaluation.results for cell in one.cells for key in cell.cell.parameters}
    )
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
                            "control": evaluation.asked.candidate.name if mine else who,
                            "role": role_of(who),
                            "metric": metric,
                            "unit": units.get(metric, ""),
                            "value": found.value,
                            "low": found.low,
                            "high": found.high,
                            "runs": found.samples,
                            "verdict": judged.get(metric) if mine else None,
                            "scenario": scenario_name(result.criterion.id, cell.cell.name, who),
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


def runs(evaluation: Evaluation) -> pl.DataFrame:
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
            "control": evaluation.asked.candidate.name if who == CANDIDATE else who,
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


def write(
    evaluation: Evaluation,
    directory: Path,
    wall_s: float,
    commands: Mapping[str, str],
    adversaries: Sequence[dict[str, Any]] = (),
    searches: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Write verdicts, numbers and scenarios.

    Parameters
    ----------
    evaluation : Evaluation
        What was found.
    directory : Path
        Where to.
    wall_s : float
        How long it took, seconds.
    commands, adversaries, searches
        As for `verdicts`.

    Returns
    -------
    dict
        As ``verdicts.json`` has it.

    Raises
    ------
    OSError
        When something cannot be written.
    """
    (directory / "scenarios").mkdir()
    for result in evaluation.results:
        for cell in result.cells:
            for who, measured in cell.measured.items():
                for part, name in scenarios(result.criterion.id, cell, who).items():
                    place = directory / name
                    place.parent.mkdir(exist_ok=True)
                    storage.write(place, measured.scenarios[part].toml().encode())
    storage.write_table(cells(evaluation), directory, "cells")
    storage.write_table(runs(evaluation), directory, "runs")
    found = verdicts(evaluation, wall_s, commands, adversaries, searches)
    storage.write(directory / "verdicts.json", (json.dumps(found, indent=1) + "\n").encode())
    return found
