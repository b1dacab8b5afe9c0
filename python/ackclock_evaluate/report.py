"""What an evaluation leaves behind: verdicts as JSON, numbers as Parquet, scenarios as TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ackclock import engine
from ackclock.decision.paired import Limit
from ackclock.engine import controls, storage
from ackclock_evaluate import earlier
from ackclock_evaluate.results import CANDIDATE, CellResult, CriterionResult, Evaluation, Judged
from ackclock_evaluate.runs import as_json as as_finite
from ackclock_evaluate.schema import SCHEMA
from ackclock_evaluate.setting import BASELINES
from ackclock_evaluate.tables import cells, numbers, runs, scenario_name, scenarios


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
        "cell_id": f"{criterion}/{cell.cell.id}",
        "metric": metric,
        "unit": unit,
        "value": _finite(mine.value),
        "low": _finite(mine.low),
        "high": _finite(mine.high),
        "runs": mine.samples,
        "baseline": theirs,
        "margin": margin_words(found),
        "scenario": scenario_name(criterion, cell.cell.id),
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
        "undecided": sum(cell.verdict == "undecided" for cell in result.cells if cell.cell.decisive),
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
            "files": [file.name for file in controls.files([asked.candidate.name])],
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
    for name, table in (("cells", cells), ("numbers", numbers), ("runs", runs)):
        storage.write_table(table(evaluation), directory, name)
    found = verdicts(evaluation, wall_s, commands, adversaries, searches)
    storage.write(directory / "verdicts.json", (json.dumps(found, indent=1) + "\n").encode())
    return found
