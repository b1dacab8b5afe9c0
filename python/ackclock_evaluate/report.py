"""The files of an evaluation: verdicts as JSON, numbers as Parquet, scenarios as TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ackclock import engine
from ackclock.decision.comparisons import LimitResult
from ackclock.engine import controls, storage
from ackclock_evaluate import conclusion, exports, previous, versions
from ackclock_evaluate.results import CANDIDATE, CellResult, CriterionResult, Evaluation, MarginResult
from ackclock_evaluate.setting import BASELINES
from ackclock_evaluate.tables import cells, numbers, runs, scenario_name, scenarios
from ackclock_evaluate.written import margin_words

SCHEMA = 4
"""Version of ``verdicts.json``, which ``schema.json`` describes."""


def finite(value: float) -> float | None:
    """Return a number for JSON with six digits; None where there is none."""
    return float(f"{value:.6g}") if np.isfinite(value) else None


def _effect(judged: MarginResult | LimitResult) -> dict[str, float | None] | None:
    """Return the effect in margins; None for a limit."""
    if isinstance(judged, LimitResult):
        return None
    effect = judged.compared.effect
    return {"margins": finite(effect.value), "low": finite(effect.low), "high": finite(effect.high)}


def number(cell: CellResult, judged: MarginResult | LimitResult, criterion: str) -> dict[str, Any]:
    """Return the number behind a verdict, as ``worst`` in ``verdicts.json``; `criterion` is an id."""
    metric, unit = judged.bound.metric, judged.bound.unit
    mine = cell.measured[CANDIDATE].estimate(metric)
    theirs = {
        name: finite(cell.measured[name].estimate(metric).value)
        for name in cell.measured
        if name != CANDIDATE
    }
    return {
        "cell": cell.cell.name,
        "cell_id": f"{criterion}/{cell.cell.id}",
        "metric": metric,
        "unit": unit,
        "value": finite(mine.value),
        "low": finite(mine.low),
        "high": finite(mine.high),
        "runs": mine.samples,
        "baseline": theirs,
        "margin": margin_words(judged),
        "effect": _effect(judged),
        "scenario": scenario_name(criterion, cell.cell.id),
    }


def _criterion(result: CriterionResult, command: str) -> dict[str, Any]:
    return {
        "id": result.criterion.id,
        "section": result.criterion.section,
        "level": result.criterion.level.lower(),
        "verdict": result.verdict,
        "holm_p": None if result.holm_p is None else finite(result.holm_p),
        "worst": number(*result.worst, result.criterion.id) if result.worst else None,
        "cells": len(result.cells),
        "asked": len(result.decisive),
        "worse": result.worse,
        "undecided": sum(cell.verdict == "undecided" for cell in result.cells if cell.cell.decisive),
        "errors": result.errors,
        "suite": result.criterion.suite,
        "command": command,
    }


def _earlier(evaluation: Evaluation) -> dict[str, Any] | None:
    """Return the verdicts of the candidate against its earlier version; None without one."""
    earlier = evaluation.request.earlier
    if earlier is None:
        return None
    return {
        "name": earlier.name,
        "sentence": versions.sentence(evaluation.versions, earlier),
        "criteria": [
            {
                "id": result.criterion.id,
                "suite": result.criterion.suite,
                "verdict": result.verdict,
                "worst": number(*result.worst, result.criterion.id) if result.worst else None,
            }
            for result in evaluation.versions
        ],
    }


def suites(evaluation: Evaluation) -> dict[str, str]:
    """Return the digest of each suite of an evaluation."""
    return {result.criterion.suite: result.criterion.digest for result in evaluation.results}


def verdicts(evaluation: Evaluation, date: str, commands: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of ``verdicts.json``, which ``schema.json`` describes.

    `commands` has the command that evaluated each criterion, by key.
    """
    request = evaluation.request
    return {
        "schema": SCHEMA,
        "ackclock": engine.__version__,
        "date": date,
        "headline": conclusion.headline(evaluation),
        "control": {
            "name": request.candidate.name,
            "params": dict(request.candidate.params),
            "digest": previous.digest(request),
            "directory": previous.directory(request),
            "files": [file.name for file in controls.files([request.candidate.name])],
        },
        "baselines": list(BASELINES),
        "against": list(request.against),
        "build": previous.build(request),
        "rules": engine.RULES,
        "suites": suites(evaluation),
        "profile": conclusion.profile(evaluation),
        "mode": request.mode,
        "seed": request.seed,
        "criteria": [
            _criterion(result, commands[result.criterion.key])
            for result in evaluation.results
            if result.verdict != "not tested"
        ],
        "earlier": _earlier(evaluation),
        "others": {
            name: {result.criterion.id: result.verdict for result in results}
            for name, results in evaluation.others.items()
        },
        "not_tested": [
            {
                "id": result.criterion.id,
                "reason": result.criterion.not_tested,
                "suite": result.criterion.suite,
                "command": commands[result.criterion.key],
            }
            for result in evaluation.results
            if result.verdict == "not tested"
        ],
        "packets": evaluation.packets,
    }


def write(evaluation: Evaluation, directory: Path, date: str, commands: Mapping[str, str]) -> dict[str, Any]:
    """Write verdicts, numbers and scenarios to a directory, and return the verdicts."""
    (directory / "scenarios").mkdir()
    for result in evaluation.results:
        for cell in result.cells:
            for control, measured in cell.measured.items():
                for part, name in scenarios(result.criterion.id, cell, control).items():
                    file = directory / name
                    file.parent.mkdir(exist_ok=True)
                    storage.write(file, measured.scenarios[part].toml().encode())
    for name, table in (("cells", cells), ("numbers", numbers), ("runs", runs)):
        storage.write_table(table(evaluation), directory, name)
    for name, text in exports.files(evaluation, date).items():
        storage.write(directory / name, text.encode())
    record = verdicts(evaluation, date, commands)
    storage.write(directory / "verdicts.json", (json.dumps(record, indent=1) + "\n").encode())
    return record
