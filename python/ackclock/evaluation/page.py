"""The page of an evaluation, and the folder that it stands in."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from ackclock import engine
from ackclock.draw import lab, plots
from ackclock.draw.charts import Group
from ackclock.draw.charts import picture as picture_of
from ackclock.draw.figures import of_figure
from ackclock.draw.page import html
from ackclock.engine import storage
from ackclock.evaluation import pictures, report
from ackclock.evaluation.cell import words
from ackclock.evaluation.results import CANDIDATE, CellResult, CriterionResult, Evaluation, Judged
from ackclock.evaluation.search import Adversary, Searched, as_json, picture
from ackclock.evaluation.search.run import summed_up
from ackclock.evaluation.verdicts import Limit
from ackclock.metrics import Estimate

MARKER = "verdicts.json"
EMBEDDED_DPI = 80
MOST_EMBEDDED = 500_000
"""Bytes of pictures within the page, for print; those beyond are loaded from beside it."""
NAMES = frozenset(
    {MARKER, "index.html", lab.NAME, "cells.parquet", "runs.parquet", "scenarios", "pictures"}
)


@dataclass(frozen=True)
class Search:
    """What came of the searches for one objective.

    Attributes
    ----------
    objective : str
        What was looked for.
    searched : list of Searched
        By what was varied.
    files : list of (Path, Adversary)
        Adversaries, and where they are.
    """

    objective: str
    searched: Sequence[Searched]
    files: Sequence[tuple[Path, Adversary]]


def findings(search: Search) -> list[str]:
    """Say what a search has found.

    Parameters
    ----------
    search : Search
        The searches for one objective.

    Returns
    -------
    list of str
        A line per genome, and one per file.
    """
    return [summed_up(one) for one in search.searched] + [str(file) for file, _ in search.files]


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
    return output / f"evaluation={report.slug(name)}"


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
        for limit, holds in cell.limits
        if limit.metric == "starved" and not holds
    ]
    parts = [
        f"worse than both CUBIC and Reno in {count('worse')} of {len(tested)} criteria",
        f"breaks a limit in {count('fails')}",
        f"starves others in {len(starved)} situations" if starved else "starves nobody",
        f"{count('unclear')} unclear",
    ]
    if count("failed"):
        parts.append(f"{count('failed')} in which a run failed")
    return ", ".join(parts)


def _words(value: float) -> str:
    if value != value:
        return "-"
    if value == 0:
        return "0"
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e5 else f"{value:.2e}"


def interval(found: Estimate) -> str:
    """Write an estimate with its interval.

    Parameters
    ----------
    found : Estimate
        A mean over runs.

    Returns
    -------
    str
        Such as ``"12.3 [12.1, 12.5]"``.
    """
    if found.low != found.low or found.low == found.high:
        return _words(found.value)
    return f"{_words(found.value)} [{_words(found.low)}, {_words(found.high)}]"


def _metric(found: Judged | Limit) -> tuple[str, str]:
    asked = found.margin if isinstance(found, Judged) else found
    return asked.metric, asked.unit


def _row(cell: CellResult, found: Judged | Limit, verdict: str) -> dict[str, Any]:
    metric, unit = _metric(found)
    return {
        "cell": cell.cell.name,
        "steady": cell.is_steady,
        "metric": words(metric),
        "unit": unit,
        "value": interval(cell.measured[CANDIDATE].estimate(metric)),
        "theirs": [
            interval(measured.estimate(metric))
            for who, measured in cell.measured.items()
            if who != CANDIDATE
        ],
        "runs": len(cell.measured[CANDIDATE].numbers),
        "margin": report.margin_words(found),
        "verdict": verdict,
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
        place = report.scenario_name(result.criterion.id, cell.cell.name)
        links = {"scenario": place, "lab": _address(cell)}
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
            "scenario": report.scenario_name(result.criterion.id, cell.cell.name)
        }
    return shown


def write(
    evaluation: Evaluation,
    output: Path,
    command: str,
    wall_s: float,
    searches: Sequence[Search] = (),
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

    Returns
    -------
    Path
        The folder; an earlier evaluation of the control there is replaced.

    Raises
    ------
    StorageError
        When it cannot be written, or the folder holds something else.
    """
    name = evaluation.asked.candidate.name
    place = folder(output, name)

    def is_result(directory: Path) -> bool:
        return storage.holds_only(directory, NAMES, MARKER)

    with storage.new_directory(place, force=True, is_result=is_result) as directory:
        adversaries = [one for search in searches for one in search.files]
        report.write(evaluation, directory, wall_s, as_json(adversaries))
        (directory / "pictures").mkdir()
        shown = []
        charts: dict[str, Group] = {}
        room = MOST_EMBEDDED
        for index, result in enumerate(evaluation.results):
            beside = [results[index] for results in evaluation.others.values()]
            one = _result(result, beside)
            one["pictures"], room = _pictures(result, name, directory, charts, room)
            shown.append(one)
        laboratory = lab.page()
        if laboratory is not None:
            storage.write(directory / lab.NAME, laboratory.encode())
        text = html(
            "evaluation.html",
            charts=charts,
            name=name,
            params=dict(evaluation.asked.candidate.params),
            sentence=sentence(evaluation),
            mode=evaluation.asked.mode,
            others=list(evaluation.others),
            tested=[one for one in shown if one["verdict"] != "not tested"],
            not_tested=[one for one in shown if one["verdict"] == "not tested"],
            searches=[_searched(search, directory) for search in searches],
            packets=evaluation.packets,
            has_lab=laboratory is not None,
            command=command,
            version=engine.__version__,
        )
        storage.write(directory / "index.html", text.encode())
    return place


def _searched(search: Search, directory: Path) -> dict[str, Any]:
    shown = []
    for file, adversary in search.files:
        with plots.in_style():
            plots.save(picture(adversary), directory / "pictures", file.stem)
        estimates = [interval(one) for one in adversary.estimates.values()]
        shown.append(
            {
                "name": file.stem,
                "file": f"../found/{file.name}",
                "metric": words(adversary.objective.margin.metric),
                "unit": adversary.objective.margin.unit,
                "estimates": estimates,
                "genome": adversary.genome,
            }
        )
    return {
        "objective": search.objective,
        "lines": [summed_up(one) for one in search.searched],
        "adversaries": shown,
    }


def _pictures(
    result: CriterionResult, name: str, directory: Path, charts: dict[str, Group], room: int
) -> tuple[list[tuple[str, str, str]], int]:
    """Write the pictures of a criterion, add their charts, and say how much room is left."""
    made = []
    for kind, figure in (
        ("", pictures.criterion(result, name)),
        ("-timelines", pictures.timelines(result, name)),
    ):
        if isinstance(figure, Figure):
            file = f"{result.criterion.id}{kind}"
            with plots.in_style():
                plots.save(figure, directory / "pictures", file)
            chart = of_figure(figure)
            if chart is not None:
                charts[file] = chart
            shown = f"pictures/{file}.png"
            with plots.in_style():
                within = picture_of(figure, EMBEDDED_DPI)
            if len(within) <= room:
                shown, room = within, room - len(within)
            about = "over time, the first run" if kind else "with 95 % intervals over runs"
            made.append((file, shown, about))
    return made, room
