"""The scenario with which the laboratory opens an artefact."""

from __future__ import annotations

from collections.abc import Iterable

from ackclock import engine
from ackclock.engine import Scenario
from ackclock.reproduction.claims.artefact import Artefact, Simulated
from ackclock.reproduction.claims.numbers import FULL
from ackclock.reproduction.paper import Paper


def first(paper: str, scenarios: Iterable[tuple[str, Scenario]]) -> tuple[str, Scenario] | None:
    """Return the first scenario with the control that a paper is named after, and its label.

    Where there is none, it is the first of all; None without scenarios.
    """
    usual = None
    for label, scenario in scenarios:
        if any(control.startswith(paper) for control in scenario.controls):
            return label, scenario
        usual = usual or (label, scenario)
    return usual


def scenario(paper: Paper, artefact: Artefact) -> Scenario | None:
    """Return that scenario at the setting of the paper; None where nothing is simulated."""
    if not isinstance(artefact, Simulated):
        return None
    cases = artefact.cases(FULL.at(paper.setting)).items()
    opened = first(paper.name, ((str(key), engine.read(case.scenario)) for key, case in cases))
    return None if opened is None else opened[1]
