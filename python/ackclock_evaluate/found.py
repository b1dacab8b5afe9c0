"""The results of searches on the page and in the record of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.draw import charts as drawn
from ackclock.draw.figure import Group
from ackclock.metrics import Estimate
from ackclock.summary import number
from ackclock_evaluate import previous
from ackclock_evaluate.cell import words
from ackclock_evaluate.results import CANDIDATE
from ackclock_evaluate.search import Adversary, Searched, figure
from ackclock_evaluate.search.run import summed_up
from ackclock_evaluate.search.saved import FRESH_RUNS
from ackclock_evaluate.written import interval

CURVES = "curves"
"""The folder with the charts of adversaries, a file each."""


@dataclass(frozen=True)
class SearchReport:
    """The searches for one objective, one per genome, and the files of their adversaries."""

    objective: str
    searched: Sequence[Searched]
    files: Sequence[tuple[Path, Adversary]]


def findings(search: SearchReport) -> list[str]:
    """Return a line per genome and a line per file."""
    return [summed_up(searched) for searched in search.searched] + [str(file) for file, _ in search.files]


def record(search: SearchReport, command: str) -> dict[str, Any]:
    """Return a search as ``verdicts.json`` has it, with the command that asked for it."""
    return {
        "objective": search.objective,
        "command": command,
        "lines": [summed_up(searched) for searched in search.searched],
        "adversaries": [file.as_posix() for file, _ in search.files],
    }


def kept(place: Path, searches: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the adversaries of earlier searches that still hold, from the folder of their evaluation."""
    record = previous.read(place) if searches else None
    if record is None:
        return []
    wanted = {file for search in searches for file in search["adversaries"]}
    return [adversary for adversary in record["adversaries"] if adversary["file"] in wanted]


def charts(
    files: Sequence[tuple[Path, Adversary]], place: Path, searches: Sequence[dict[str, Any]], directory: Path
) -> dict[str, Group]:
    """Return the charts of adversaries by their names, and keep their curves in `directory`.

    Those of earlier searches are read from `place`, the previous folder of the evaluation.
    """
    texts = {}
    for name in (file for search in searches for file in search["adversaries"]):
        curves = place / CURVES / f"{Path(name).stem}.json"
        if curves.exists():
            texts[curves.stem] = curves.read_text("utf-8")
    texts |= {file.stem: drawn.dump(figure(adversary)) for file, adversary in files}
    if texts:
        (directory / CURVES).mkdir()
    for name, text in texts.items():
        (directory / CURVES / f"{name}.json").write_text(text, "utf-8")
    shown = {name: drawn.load(text) for name, text in texts.items()}
    return {name: group for name, group in shown.items() if isinstance(group, Group)}


def shown(search: dict[str, Any], adversaries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a search of ``verdicts.json`` with its adversaries in words, for the page."""
    described = []
    for adversary in adversaries:
        if adversary["file"] not in search["adversaries"]:
            continue
        ends = {CANDIDATE: (adversary["low"], adversary["high"]), **adversary["intervals"]}
        estimates = []
        for control, value in {CANDIDATE: adversary["value"], **adversary["baseline"]}.items():
            low, high = map(number, ends[control])
            estimates.append(interval(Estimate(number(value), low, high, FRESH_RUNS)))
        file = Path(adversary["file"])
        described.append(
            {
                "name": file.stem,
                "file": f"../found/{file.name}",
                "metric": words(adversary["metric"]),
                "unit": adversary["unit"],
                "estimates": estimates,
                "genome": adversary["genome"],
            }
        )
    return {**search, "adversaries": described}
