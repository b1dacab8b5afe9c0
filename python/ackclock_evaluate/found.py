"""What searches have found, as the page and the record of an evaluation have it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.draw import plots
from ackclock.metrics import Estimate
from ackclock.summary import number
from ackclock_evaluate import earlier
from ackclock_evaluate.cell import words
from ackclock_evaluate.results import CANDIDATE
from ackclock_evaluate.search import Adversary, Searched, picture
from ackclock_evaluate.search.run import summed_up
from ackclock_evaluate.search.saved import FRESH_RUNS


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


def record(search: Search, command: str) -> dict[str, Any]:
    """Give a search as ``verdicts.json`` has it.

    Parameters
    ----------
    search : Search
        The search.
    command : str
        That asked for it.

    Returns
    -------
    dict
        Objective, command, lines for people, and files of adversaries.
    """
    return {
        "objective": search.objective,
        "command": command,
        "lines": [summed_up(one) for one in search.searched],
        "adversaries": [file.as_posix() for file, _ in search.files],
    }


def kept(place: Path, searches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give what earlier searches found.

    Parameters
    ----------
    place : Path
        Folder of the earlier evaluation.
    searches : sequence of dict
        Those that still hold.

    Returns
    -------
    list of dict
        Adversaries, as ``verdicts.json`` has them.
    """
    record = earlier.read(place) if searches else None
    wanted = {file for one in searches for file in one["adversaries"]}
    return [one for one in record["adversaries"] if one["file"] in wanted] if record else []


def draw(
    files: Sequence[tuple[Path, Adversary]], place: Path, searches: Sequence[dict[str, Any]], directory: Path
) -> None:
    """Draw what was found now, and take over the pictures of what was found before.

    Parameters
    ----------
    files : sequence of (Path, Adversary)
        Found now.
    place : Path
        Folder of the earlier evaluation.
    searches : sequence of dict
        Earlier ones that still hold.
    directory : Path
        Folder of this one.
    """
    for file, adversary in files:
        with plots.in_style():
            plots.save(picture(adversary), directory / "pictures", file.stem)
    for name in (file for one in searches for file in one["adversaries"]):
        for ending in ("png", "pdf"):
            before = place / "pictures" / f"{Path(name).stem}.{ending}"
            if before.exists():
                shutil.copyfile(before, directory / "pictures" / before.name)


def shown(search: dict[str, Any], adversaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Give a search as the page shows it.

    Parameters
    ----------
    search : dict
        As ``verdicts.json`` has it.
    adversaries : sequence of dict
        Of all searches.

    Returns
    -------
    dict
        With its adversaries in words.
    """
    found = []
    for one in adversaries:
        if one["file"] not in search["adversaries"]:
            continue
        ends = {CANDIDATE: (one["low"], one["high"]), **one["intervals"]}
        estimates = []
        for who, value in {CANDIDATE: one["value"], **one["baseline"]}.items():
            low, high = map(number, ends[who])
            estimates.append(interval(Estimate(number(value), low, high, FRESH_RUNS)))
        file = Path(one["file"])
        found.append(
            {
                "name": file.stem,
                "file": f"../found/{file.name}",
                "metric": words(one["metric"]),
                "unit": one["unit"],
                "estimates": estimates,
                "genome": one["genome"],
            }
        )
    return {**search, "adversaries": found}
