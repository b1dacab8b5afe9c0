"""What differs, tried with other settings, to see whether a verdict depends on a choice."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.reproduction.artefact import Artefact, Simulated
from ackclock.reproduction.judge import Asked, judge
from ackclock.reproduction.numbers import QUICK
from ackclock.reproduction.paper import Paper

Scenario = dict[str, Any]

NO_CHANGE = "-"
"""Shown where a setting does not occur, or the scenario would be refused."""


def _buffer(factor: float) -> Callable[[Scenario], None]:
    def change(scenario: Scenario) -> None:
        queue = scenario["dumbbell"]["queue"]
        number, unit = engine.limit(queue["limit"])
        queue["limit"] = f"{max(1, round(number * factor))} {unit}"
        for key in ("min_threshold", "max_threshold"):
            if key in queue:
                queue[key] *= factor

    return change


def _recovery(style: str) -> Callable[[Scenario], None]:
    def change(scenario: Scenario) -> None:
        scenario.setdefault("tcp", {})["recovery"] = style
        for flow in scenario["flow"]:
            flow.pop("recovery", None)

    return change


def _min_rto(text: str) -> Callable[[Scenario], None]:
    def change(scenario: Scenario) -> None:
        scenario.setdefault("tcp", {})["min_rto"] = text

    return change


def _overhead(factor: float) -> Callable[[Scenario], None]:
    def change(scenario: Scenario) -> None:
        for table in (scenario.get("tcp", {}), *scenario["flow"]):
            if "overhead" in table:
                overhead_s = engine.quantity(table["overhead"], "time_s")
                table["overhead"] = f"{overhead_s * factor * 1e3:g} ms"

    return change


def _seed(scenario: Scenario) -> None:
    scenario["run"]["seed"] = 7


VARIATIONS: dict[str, Callable[[Scenario], None]] = {
    "half the buffer": _buffer(0.5),
    "twice the buffer": _buffer(2.0),
    "NewReno": _recovery("newreno"),
    "SACK": _recovery("sack"),
    "TCP-Linux": _recovery("linux-2.6"),
    "min. RTO 1 s": _min_rto("1 s"),
    "overhead x 10": _overhead(10.0),
    "other seeds": _seed,
}


def vary(scenario: Mapping[str, Any], name: str) -> Scenario:
    """Change one setting of a scenario.

    Parameters
    ----------
    scenario : mapping
        As in a scenario file, with a dumbbell.
    name : str
        A key of `VARIATIONS`.

    Returns
    -------
    dict
        Another scenario; equal to the first where the setting does not occur.
    """
    changed = copy.deepcopy(dict(scenario))
    VARIATIONS[name](changed)
    return changed


def _with(declared: Asked, name: str) -> Asked | None:
    """Ask for an artefact with one setting changed, or for nothing if that changes no run."""
    artefact = declared.artefact
    assert isinstance(artefact, Simulated)  # noqa: S101
    cases = {}
    for key, case in artefact.cases(QUICK).items():
        assert isinstance(case.scenario, Mapping)  # noqa: S101
        cases[key] = replace(case, scenario=vary(case.scenario, name))
    asked = Asked.of(replace(artefact, cases=lambda _effort: cases), QUICK)
    return None if asked.error or asked.tasks == declared.tasks else asked


def try_all(
    chosen: Sequence[tuple[Paper, Artefact]],
    cache: Path | None = None,
    jobs: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Judge artefacts again with every setting changed in turn, shorter and with two seeds.

    Parameters
    ----------
    chosen : sequence of (Paper, Artefact)
        Those that differ; what needs no run is left out.
    cache : Path, optional
        Directory of earlier runs, to which these are added.
    jobs : int, optional
        Runs at once; by default one per core.
    tell : callable
        Called with a line about each finished artefact.

    Returns
    -------
    list of dict
        One row per claim: paper, artefact, claim, and by setting what was measured and whether it
        holds.
    """
    rows = []
    for paper, artefact in chosen:
        if not isinstance(artefact, Simulated):
            continue
        declared = Asked.of(artefact, QUICK)
        found = {"as declared": declared} | {
            name: changed for name in VARIATIONS if (changed := _with(declared, name)) is not None
        }
        judged = dict(judge(list(found.values()), cache, jobs))
        of_claim: dict[str, dict[str, tuple[str, bool]]] = {}
        for index, name in enumerate(found):
            for claim, said in judged[index].claims:
                of_claim.setdefault(claim.sentence, {})[name] = (said.measured, said.holds)
        rows += [
            {"paper": paper.name, "artefact": artefact.name, "claim": claim, "settings": settings}
            for claim, settings in of_claim.items()
        ]
        tell(f"{paper.name}/{artefact.name}")
    return rows


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Give what was tried as a table of Markdown.

    Parameters
    ----------
    rows : sequence of mapping
        As `try_all` gives them.

    Returns
    -------
    str
        One row per claim that does not hold with some setting; a check mark where it holds.
    """
    names = ["as declared", *VARIATIONS]
    lines = ["| claim | " + " | ".join(names) + " |", "|" + " --- |" * (len(names) + 1)]
    for row in rows:
        settings = row["settings"]
        if all(holds for _, holds in settings.values()):
            continue
        cells = []
        for name in names:
            if name not in settings:
                cells.append(NO_CHANGE)
                continue
            measured, holds = settings[name]
            number = re.match(r"[-0-9.e+]+", measured)
            short = number[0] if number and len(measured) < 60 else ""
            cells.append(f"{'✓' if holds else '✗'} {short}".strip())
        label = f"{row['paper']}/{row['artefact']}: {row['claim']}"
        lines.append(f"| {label.replace('|', '/')} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
