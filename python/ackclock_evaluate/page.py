"""The page of an evaluation, and the folder that it stands in."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.decision.paired import Limit
from ackclock.draw import lab, plots, printed
from ackclock.draw.charts import picture as picture_of
from ackclock.draw.figure import Group
from ackclock.draw.page import html
from ackclock.engine import controls, storage
from ackclock.engine.names import slug
from ackclock_evaluate import earlier, pictures, report, tables
from ackclock_evaluate import found as of_search
from ackclock_evaluate.cell import words
from ackclock_evaluate.results import CANDIDATE, CellResult, CriterionResult, Evaluation, Judged
from ackclock_evaluate.search import as_json
from ackclock_evaluate.setting import BASELINES

MARKER = "verdicts.json"
EMBEDDED_DPI = 80
MOST_EMBEDDED = 500_000
"""Bytes of pictures within the page, for print; those beyond are loaded from beside it."""
NAMES = frozenset(
    {
        MARKER,
        "index.html",
        lab.NAME,
        "cells.parquet",
        "numbers.parquet",
        "runs.parquet",
        "scenarios",
        "pictures",
    }
)


def folder(output: Path, name: str) -> Path:
    """Say where the evaluation of a control goes.

    Parameters
    ----------
    output : Path
        Directory of all results.
    name : str
        Of the control.

    Returns
    -------
    Path
        ``evaluation=NAME`` in it.
    """
    return output / f"evaluation={slug(name)}"


def sentence(evaluation: Evaluation) -> str:
    """Sum an evaluation up.

    Parameters
    ----------
    evaluation : Evaluation
        What was found.

    Returns
    -------
    str
        A sentence.
    """
    tested = [one for one in evaluation.results if one.verdict != "not tested"]

    def count(*wanted: str) -> int:
        return sum(one.verdict in wanted for one in tested)

    starved = [
        cell.cell.name
        for one in tested
        for cell in one.cells
        if cell.cell.decisive
        for limit, holds in cell.limits
        if limit.metric == "starved" and not holds
    ]
    parts = [
        f"worse than both {' and '.join(BASELINES)} in {count('worse')} of {len(tested)} criteria",
        f"breaks a limit in {count('fails')}",
        f"starves others in {len(starved)} situations" if starved else "starves nobody",
        f"{count('undecided')} undecided",
    ]
    if count("failed"):
        parts.append(f"{count('failed')} in which a run failed")
    return ", ".join(parts)


def _metric(found: Judged | Limit) -> tuple[str, str]:
    asked = found.margin if isinstance(found, Judged) else found
    return asked.metric, asked.unit


def _row(cell: CellResult, found: Judged | Limit, verdict: str) -> dict[str, Any]:
    margin = report.margin_words(found)
    return _numbers(cell, *_metric(found)) | {"margin": margin, "verdict": verdict}


def _numbers(cell: CellResult, metric: str, unit: str) -> dict[str, Any]:
    return {
        "cell": cell.cell.name,
        "steady": cell.is_steady,
        "metric": words(metric),
        "unit": unit,
        "value": of_search.interval(cell.measured[CANDIDATE].estimate(metric)),
        "theirs": [
            (of_search.interval(measured.estimate(metric)), who)
            for who, measured in cell.measured.items()
            if who != CANDIDATE
        ],
        "runs": len(cell.measured[CANDIDATE].numbers),
        "decisive": cell.cell.decisive,
    }


def _address(cell: CellResult) -> str:
    """Give where the laboratory opens a cell; empty for controls that it does not have."""
    scenario = cell.measured[CANDIDATE].scenario
    if scenario is None or any(":" in name for name in scenario.controls):
        return ""
    return lab.NAME + lab.fragment(tomllib.loads(scenario.toml()))


def _cells(result: CriterionResult) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for cell in result.cells:
        place = tables.scenario_name(result.criterion.id, cell.cell.id)
        links = {
            "scenario": place,
            "lab": _address(cell),
            "files": _files(cell, result.criterion.id),
            "parts": list(tables.scenarios(result.criterion.id, cell, CANDIDATE).items())[1:],
        }
        candidate = cell.measured[CANDIDATE]
        if candidate.refusal or candidate.errors:
            reason = candidate.refusal or candidate.errors[0]
            rows.append({"cell": cell.cell.name, "reason": reason, "verdict": cell.verdict})
            continue
        for one in cell.judged:
            rows.append(_row(cell, one, one.compared.verdict) | links)
            if one.compared.identical:
                rows[-1]["note"] = "the runs do not differ"
            elif one.compared.runs_needed:
                rows[-1]["note"] = f"about {one.compared.runs_needed} runs would tell"
        for limit, holds in cell.limits:
            rows.append(_row(cell, limit, "holds" if holds else "fails") | links)
        for metric, unit in cell.cell.shown:
            rows.append(_numbers(cell, metric, unit) | {"margin": "", "verdict": ""} | links)
    return rows


def _result(result: CriterionResult, others: Sequence[CriterionResult]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "criterion": result.criterion,
        "verdict": result.verdict,
        "others": [one.verdict for one in others],
        "holm_p": result.holm_p,
        "rows": _cells(result),
        "worst": None,
        "errors": result.errors,
    }
    if result.worst:
        cell, found = result.worst
        shown["worst"] = _row(cell, found, result.verdict) | {
            "scenario": tables.scenario_name(result.criterion.id, cell.cell.id),
            "files": _files(cell, result.criterion.id),
        }
    return shown


def _files(cell: CellResult, criterion: str) -> dict[str, str]:
    """Give the scenario of each control in the judged place."""
    return {who: tables.scenario_name(criterion, cell.cell.id, who) for who in cell.measured}


def write(
    evaluation: Evaluation,
    output: Path,
    command: str,
    wall_s: float,
    searches: Sequence[of_search.Search] = (),
    tell: Callable[[str], Any] | None = None,
) -> Path:
    """Write the folder of an evaluation, whole or not at all.

    Parameters
    ----------
    evaluation : Evaluation
        What was found.
    output : Path
        Directory of all results.
    command : str
        What makes it again.
    wall_s : float
        How long it took, seconds.
    searches : sequence of Search
        What was looked for besides.
    tell : callable, optional
        Called with a line when what was there is kept under another name.

    Returns
    -------
    Path
        The folder. An earlier evaluation of the control there is replaced when this one has all
        that it has; otherwise it gets another name.

    Raises
    ------
    StorageError
        When it cannot be written, or the folder holds something else.
    """
    name = evaluation.asked.candidate.name
    place = folder(output, name)
    asked = evaluation.asked
    commands = earlier.commands(asked, place, command)
    kept = earlier.searches(asked, place, [one.objective for one in searches])
    made = [of_search.record(one, command) for one in searches]
    objectives = [one["objective"] for one in (*kept, *made)]

    def is_result(directory: Path) -> bool:
        return storage.holds_only(directory, NAMES, MARKER)

    with storage.new_directory(place, force=True, is_result=is_result) as directory:
        files = [one for search in searches for one in search.files]
        adversaries = of_search.kept(place, kept) + as_json(files)
        report.write(evaluation, directory, wall_s, commands, adversaries, kept + made)
        (directory / "pictures").mkdir()
        of_search.draw(files, place, kept, directory)
        shown = []
        charts: dict[str, Group] = {}
        room = MOST_EMBEDDED
        for index, result in enumerate(evaluation.results):
            beside = [results[index] for results in evaluation.others.values()]
            one = _result(result, beside)
            one["pictures"], room = _pictures(result, name, directory, charts, room)
            one["command"] = commands[result.criterion.key]
            shown.append(one)
        laboratory = lab.page()
        if laboratory is not None:
            storage.write(directory / lab.NAME, laboratory.encode())
        text = html(
            "evaluation.html",
            package="ackclock_evaluate",
            charts=charts,
            name=name,
            follows=controls.follows([one.name for one in evaluation.asked.subjects]),
            params=dict(evaluation.asked.candidate.params),
            sentence=sentence(evaluation),
            mode=evaluation.asked.mode,
            others=list(evaluation.others),
            tested=[one for one in shown if one["verdict"] != "not tested"],
            not_tested=[one for one in shown if one["verdict"] == "not tested"],
            searches=[of_search.shown(one, adversaries) for one in kept + made],
            packets=evaluation.packets,
            has_lab=laboratory is not None,
            command=command,
            version=engine.__version__,
        )
        storage.write(directory / "index.html", text.encode())
        aside = earlier.set_aside(asked, place, objectives)
        if aside is not None and tell is not None:
            tell(f"the page that was there has more, or other settings, and is kept: {aside}")
    return place


def _pictures(
    result: CriterionResult, name: str, directory: Path, charts: dict[str, Group], room: int
) -> tuple[list[tuple[str, str, str]], int]:
    """Write the pictures of a criterion, add their charts, and say how much room is left."""
    made = []
    for kind, figure, about in (
        ("", pictures.criterion(result, name), "with 95 % intervals over runs"),
        ("-quantiles", pictures.quantiles(result, name), "the tail, with 95 % intervals over runs"),
        ("-ladder", pictures.ladder(result, name), "per flow, with 95 % intervals over runs"),
        ("-timelines", pictures.timelines(result, name), "over time, the first run"),
    ):
        if figure is not None:
            file = f"{result.criterion.id}{kind}"
            charts[file] = figure
            shown = f"pictures/{file}.png"
            with plots.in_style():
                drawn = printed.draw(figure)
                plots.save(drawn, directory / "pictures", file)
                within = picture_of(drawn, EMBEDDED_DPI)
            if len(within) <= room:
                shown, room = within, room - len(within)
            made.append((file, shown, about))
    return made, room
