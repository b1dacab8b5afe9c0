"""The page of an evaluation, and its folder."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.decision.comparisons import LimitResult
from ackclock.draw.figure import Group
from ackclock.draw.page import html
from ackclock.engine import controls, lab, storage
from ackclock.names import slug
from ackclock_evaluate import conclusion, exports, figures, power, previous, report, tables, versions, written
from ackclock_evaluate.cell import words
from ackclock_evaluate.results import CANDIDATE, CellResult, CriterionResult, Evaluation, MarginResult
from ackclock_evaluate.setting import Mode

MARKER = "verdicts.json"
NAMES = frozenset(
    {
        MARKER,
        "index.html",
        lab.NAME,
        "cells.parquet",
        "numbers.parquet",
        "runs.parquet",
        *exports.NAMES,
        "scenarios",
        "pictures",
    }
)


def folder(output: Path, name: str) -> Path:
    """Return the folder of the evaluation of a control, ``evaluation=NAME`` in the directory of results."""
    return output / f"evaluation={slug(name)}"


def _row(cell: CellResult, judged: MarginResult | LimitResult, verdict: str) -> dict[str, Any]:
    return _numbers(cell, judged.bound.metric, judged.bound.unit) | {
        "margin": written.margin_words(judged),
        "effect": written.evidence(judged),
        "verdict": verdict,
    }


def _numbers(cell: CellResult, metric: str, unit: str) -> dict[str, Any]:
    value, shown_unit = written.shown(metric, unit, cell.measured[CANDIDATE].estimate(metric))
    return {
        "cell": cell.cell.name,
        "steady": cell.is_steady,
        "metric": words(metric),
        "unit": shown_unit,
        "value": value,
        "theirs": [
            (written.shown(metric, unit, measured.estimate(metric))[0], control)
            for control, measured in cell.measured.items()
            if control != CANDIDATE
        ],
        "runs": len(cell.measured[CANDIDATE].numbers),
        "decisive": cell.cell.decisive,
    }


def _address(cell: CellResult) -> str:
    """Return the address of a cell in the laboratory; empty for controls that it does not have."""
    scenario = cell.measured[CANDIDATE].scenario
    if scenario is None or any(":" in name for name in scenario.controls):
        return ""
    return lab.NAME + lab.fragment(scenario)


def _cells(result: CriterionResult) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for cell in result.cells:
        links = {
            "scenario": tables.scenario_name(result.criterion.id, cell.cell.id),
            "lab": _address(cell),
            "files": _files(cell, result.criterion.id),
            "parts": list(tables.scenarios(result.criterion.id, cell, CANDIDATE).items())[1:],
        }
        candidate = cell.measured[CANDIDATE]
        if candidate.problem:
            rows.append({"cell": cell.cell.name, "reason": candidate.problem, "verdict": cell.verdict})
            continue
        twin = written.twin(cell)
        for judged in cell.judged:
            compared = judged.compared
            rows.append(_row(cell, judged, judged.verdict or compared.verdict) | links)
            if twin:
                rows[-1]["note"] = twin
            elif compared.identical:
                rows[-1]["note"] = "the runs do not differ"
            elif compared.runs_needed:
                rows[-1]["note"] = f"about {compared.runs_needed} runs would decide"
        for limit in cell.limits:
            rows.append(_row(cell, limit, limit.verdict) | links)
        for metric, unit in cell.cell.shown:
            rows.append(_numbers(cell, metric, unit) | {"margin": "", "effect": "", "verdict": ""} | links)
    return rows


def _result(result: CriterionResult, mode: Mode, others: Sequence[CriterionResult]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "criterion": result.criterion,
        "verdict": result.verdict,
        "others": [other.verdict for other in others],
        "holm_p": result.holm_p,
        "rows": _cells(result),
        "worst": None,
        "errors": result.errors,
        "strip": [(cell.cell.name, cell.verdict) for cell in result.cells if cell.cell.decisive],
        "asked": len(result.decisive),
        "worse": result.worse,
        "mode": mode,
        "power": power.of(result.criterion.id, result.criterion.suite, mode),
    }
    if result.worst:
        cell, decisive = result.worst
        shown["worst"] = _row(cell, decisive, result.verdict) | {
            "scenario": tables.scenario_name(result.criterion.id, cell.cell.id),
            "files": _files(cell, result.criterion.id),
        }
        shown["worst"]["effect"] = exports.effect(cell, decisive)
    return shown


def _files(cell: CellResult, criterion: str) -> dict[str, str]:
    """Return the file of the scenario with each control in the judged place."""
    return {control: tables.scenario_name(criterion, cell.cell.id, control) for control in cell.measured}


def write(
    evaluation: Evaluation,
    output: Path,
    command: str,
    tell: Callable[[str], object] | None = None,
    *,
    pictures: bool = False,
) -> Path:
    """Write the folder of an evaluation, completely or not at all, and return it.

    With `pictures` the charts of the page are also drawn as PDF and PNG.
    An earlier evaluation of the control is replaced when this one has everything that it has;
    otherwise it gets another name, which `tell` reports. A folder with other content raises a
    StorageError.
    """
    request = evaluation.request
    name = request.candidate.name
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    destination = folder(output, name)
    commands = previous.commands(request, destination, command)

    def is_result(directory: Path) -> bool:
        return storage.holds_only(directory, NAMES, MARKER)

    with storage.new_directory(destination, force=True, is_result=is_result) as directory:
        report.write(evaluation, directory, date, commands)
        shown = []
        charts: dict[str, Group] = {}
        for index, result in enumerate(evaluation.results):
            others = [results[index] for results in evaluation.others.values()]
            section = _result(result, evaluation.request.mode, others)
            section["figures"] = _figures(result, name, charts)
            section["command"] = commands[result.criterion.key]
            shown.append(section)
        if pictures:
            # Matplotlib takes longer to import than the page takes to write.
            from ackclock.draw import printed

            (directory / "pictures").mkdir()
            for file, figure in charts.items():
                storage.write_files(directory / "pictures", printed.rendered(figure, file))
        laboratory = lab.page()
        if laboratory is not None:
            storage.write(directory / lab.NAME, laboratory.encode())
        text = html(
            "evaluation.html",
            package="ackclock_evaluate",
            charts=charts,
            name=name,
            follows=controls.follows([subject.name for subject in request.subjects]),
            params=dict(request.candidate.params),
            date=date,
            headline=conclusion.headline(evaluation),
            since=_since(evaluation),
            paragraph=conclusion.paragraph(evaluation, date),
            not_asked=conclusion.not_asked(request),
            exports=list(exports.files(evaluation, date)),
            mode=request.mode,
            suites=report.suites(evaluation),
            others=list(evaluation.others),
            tested=[section for section in shown if section["verdict"] != "not tested"],
            not_tested=[section for section in shown if section["verdict"] == "not tested"],
            packets=evaluation.packets,
            has_lab=laboratory is not None,
            has_pictures=pictures,
            command=command,
            version=engine.__version__,
        )
        storage.write(directory / "index.html", text.encode())
        changed = previous.replaced(request, destination)
        aside = previous.set_aside(request, destination)
        if aside is not None and tell is not None:
            tell(f"the earlier page has more, other settings or another control, and is now {aside}")
        elif changed and tell is not None:
            tell(changed)
    return destination


def _since(evaluation: Evaluation) -> dict[str, Any] | None:
    """Return the page's comparison of the candidate with its earlier version; None without one."""
    earlier = evaluation.request.earlier
    if earlier is None:
        return None
    rows = []
    for result in evaluation.versions:
        rows.append({"criterion": result.criterion, "verdict": result.verdict, "worst": None})
        if result.worst:
            cell, decisive = result.worst
            rows[-1]["worst"] = _row(cell, decisive, result.verdict) | {
                "scenario": tables.scenario_name(result.criterion.id, cell.cell.id)
            }
    return {"name": earlier.name, "sentence": versions.sentence(evaluation.versions, earlier), "rows": rows}


def _figures(result: CriterionResult, name: str, charts: dict[str, Group]) -> list[tuple[str, str]]:
    """Add the figures of a criterion to the charts of the page; return their names and captions."""
    added = []
    for kind, figure, about in (
        ("", figures.criterion(result, name), "with 95 % intervals over runs"),
        ("-quantiles", figures.quantiles(result, name), "the tail, with 95 % intervals over runs"),
        ("-ladder", figures.ladder(result, name), "per flow, with 95 % intervals over runs"),
        ("-timelines", figures.timelines(result, name), "over time, the first run"),
    ):
        if figure is not None:
            charts[f"{result.criterion.id}{kind}"] = figure
            added.append((f"{result.criterion.id}{kind}", about))
    return added
