"""The page of an evaluation, and the folder that it stands in."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable, Sequence
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
from ackclock.engine.summary import number
from ackclock.evaluation import earlier, pictures, report
from ackclock.evaluation.cell import words
from ackclock.evaluation.results import CANDIDATE, CellResult, CriterionResult, Evaluation, Judged
from ackclock.evaluation.search import Adversary, Searched, as_json, picture
from ackclock.evaluation.search.run import summed_up
from ackclock.evaluation.search.saved import FRESH_RUNS
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
        if cell.cell.decisive
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
    margin = report.margin_words(found)
    return _numbers(cell, *_metric(found)) | {"margin": margin, "verdict": verdict}


def _numbers(cell: CellResult, metric: str, unit: str) -> dict[str, Any]:
    return {
        "cell": cell.cell.name,
        "steady": cell.is_steady,
        "metric": words(metric),
        "unit": unit,
        "value": interval(cell.measured[CANDIDATE].estimate(metric)),
        "theirs": [
            (interval(measured.estimate(metric)), who)
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
        place = report.scenario_name(result.criterion.id, cell.cell.name)
        links = {
            "scenario": place,
            "lab": _address(cell),
            "files": _files(cell, result.criterion.id),
            "parts": list(report.scenarios(result.criterion.id, cell, CANDIDATE).items())[1:],
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
            "scenario": report.scenario_name(result.criterion.id, cell.cell.name),
            "files": _files(cell, result.criterion.id),
        }
    return shown


def _files(cell: CellResult, criterion: str) -> dict[str, str]:
    """Give the scenario of each control in the judged place."""
    return {who: report.scenario_name(criterion, cell.cell.name, who) for who in cell.measured}


def write(
    evaluation: Evaluation,
    output: Path,
    command: str,
    wall_s: float,
    searches: Sequence[Search] = (),
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
    made = [_record(one, command) for one in searches]
    objectives = [one["objective"] for one in (*kept, *made)]

    def is_result(directory: Path) -> bool:
        return storage.holds_only(directory, NAMES, MARKER)

    with storage.new_directory(place, force=True, is_result=is_result) as directory:
        files = [one for search in searches for one in search.files]
        adversaries = _kept_adversaries(place, kept) + as_json(files)
        report.write(evaluation, directory, wall_s, commands, adversaries, kept + made)
        (directory / "pictures").mkdir()
        _draw_adversaries(files, place, kept, directory)
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
            charts=charts,
            name=name,
            params=dict(evaluation.asked.candidate.params),
            sentence=sentence(evaluation),
            mode=evaluation.asked.mode,
            others=list(evaluation.others),
            tested=[one for one in shown if one["verdict"] != "not tested"],
            not_tested=[one for one in shown if one["verdict"] == "not tested"],
            searches=[_searched(one, adversaries) for one in kept + made],
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


def _record(search: Search, command: str) -> dict[str, Any]:
    return {
        "objective": search.objective,
        "command": command,
        "lines": [summed_up(one) for one in search.searched],
        "adversaries": [file.as_posix() for file, _ in search.files],
    }


def _kept_adversaries(place: Path, kept: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    record = earlier.read(place) if kept else None
    wanted = {file for one in kept for file in one["adversaries"]}
    return [one for one in record["adversaries"] if one["file"] in wanted] if record else []


def _draw_adversaries(
    files: Sequence[tuple[Path, Adversary]],
    place: Path,
    kept: Sequence[dict[str, Any]],
    directory: Path,
) -> None:
    """Draw what was found now, and take over the pictures of what was found before."""
    for file, adversary in files:
        with plots.in_style():
            plots.save(picture(adversary), directory / "pictures", file.stem)
    for name in (file for one in kept for file in one["adversaries"]):
        for ending in ("png", "pdf"):
            before = place / "pictures" / f"{Path(name).stem}.{ending}"
            if before.exists():
                shutil.copyfile(before, directory / "pictures" / before.name)


def _searched(record: dict[str, Any], adversaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    shown = []
    for one in adversaries:
        if one["file"] not in record["adversaries"]:
            continue
        ends = {CANDIDATE: (one["low"], one["high"]), **one["intervals"]}
        estimates = []
        for who, value in {CANDIDATE: one["value"], **one["baseline"]}.items():
            low, high = map(number, ends[who])
            estimates.append(interval(Estimate(number(value), low, high, FRESH_RUNS)))
        file = Path(one["file"])
        shown.append(
            {
                "name": file.stem,
                "file": f"../found/{file.name}",
                "metric": words(one["metric"]),
                "unit": one["unit"],
                "estimates": estimates,
                "genome": one["genome"],
            }
        )
    return {**record, "adversaries": shown}


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
