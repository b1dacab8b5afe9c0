"""The scenario with which the laboratory opens an artefact."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.engine.build import Table
from ackclock.reproduction.artefact import Artefact, Simulated
from ackclock.reproduction.numbers import FULL
from ackclock.reproduction.paper import Paper


def first(paper: str, scenarios: Mapping[str, Table]) -> str | None:
    """Return the label of the first scenario with the control that a paper is named after.

    Where there is none, it is the first of all; None without scenarios.
    """
    for label, scenario in scenarios.items():
        if any(str(flow.get("controller", "")).startswith(paper) for flow in scenario.get("flow", ())):
            return label
    return next(iter(scenarios), None)


def scenario(paper: Paper, artefact: Artefact) -> Table | None:
    """Return that scenario at the setting of the paper; None where nothing is simulated."""
    if not isinstance(artefact, Simulated):
        return None
    cases = {
        str(key): dict(case.scenario)
        for key, case in artefact.cases(FULL.at(paper.setting)).items()
        if isinstance(case.scenario, Mapping)
    }
    label = first(paper.name, cases)
    return None if label is None else cases[label]
