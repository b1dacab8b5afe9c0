"""The page's data on papers, paths and formulas, written to `lab/src/data` for `make lab`."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from ackclock.predictions import response
from ackclock.reproduction.claims.artefact import Artefact, Simulated
from ackclock.reproduction.claims.numbers import QUICK
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.shown import page, published
from ackclock_papers import PAPERS

LAB = Path(__file__).parent
ROOT = LAB.parent
CASES, FACTS = 6, 6
"""Cases of an artefact, and claims, that the page shows; the reproduction has all."""
LOSS = np.logspace(-7, -0.5, 53)
"""Loss-event rates of the tables of formulas; between them the page interpolates logarithms."""


def verdicts() -> dict[tuple[str, str], str]:
    """Return the published classes of artefacts, by title of the paper and name of the artefact."""
    rows = published.overview(PAPERS.values(), published.folders(PAPERS.values()))
    known = {}
    for row in rows:
        paper, _, name = row["artefact"].partition("/")
        if row["group"] != page.NOT_RUN:
            shares = f", {row['holds']} of {row['claims']} claims hold" if row["claims"] else ""
            known[PAPERS[paper].title, name] = row["group"] + shares
    return known


def of_artefact(paper: Paper, artefact: Simulated[Any], verdict: str | None) -> dict[str, Any]:
    """Describe an artefact: the paper's claims, our verdict, and some of its scenarios."""
    cases = list(artefact.cases(QUICK.at(paper.setting)).items())
    step = max(1.0, len(cases) / CASES)
    some = [cases[int(index * step)] for index in range(min(CASES, len(cases)))]
    facts = [
        f"{claim.sentence} ({claim.paper})" if claim.paper else claim.sentence for claim in artefact.claims
    ]
    more = [f"and {len(facts) - FACTS} more claims"] if len(facts) > FACTS else []
    left = f" {len(some)} of its {len(cases)} scenarios are here." if len(cases) > len(some) else ""
    return {
        "name": artefact.title,
        "about": f"{artefact.about}{left}",
        "facts": facts[:FACTS] + more,
        **({"verdict": verdict} if verdict else {}),
        "cases": {str(key): case.scenario for key, case in some},
    }


def papers() -> dict[str, list[dict[str, Any]]]:
    """Describe every artefact that has scenarios, by paper."""
    known = verdicts()

    def of(paper: Paper) -> list[dict[str, Any]]:
        simulated: list[Artefact] = [
            artefact for artefact in paper.artefacts if isinstance(artefact, Simulated)
        ]
        return [
            of_artefact(paper, artefact, known.get((paper.title, artefact.name))) for artefact in simulated
        ]

    return {paper.title: of(paper) for paper in PAPERS.values()}


def paths() -> list[dict[str, Any]]:
    """Read the paths that people know."""
    paths = tomllib.loads((LAB / "paths.toml").read_text("utf-8"))["path"]
    for path in paths:
        path["cases"] = {"": path.pop("scenario")}
        if trace := path.pop("trace", None):
            path["files"] = {trace: (ROOT / "scenarios" / trace).read_text("utf-8")}
    return list(paths)


def predictions() -> dict[str, Any]:
    """Tabulate the response functions of controls at their own parameters."""
    plain = {
        one.controller: one.formula
        for name, one in response.CONTROLS.items()
        if one.controller and not one.params and name not in {"cubic"}
    }
    curves = {name: [float(f"{float(formula(p, 0.1)):.5g}") for p in LOSS] for name, formula in plain.items()}
    return {"loss": [float(f"{p:.6g}") for p in LOSS], "packets": curves}


def text(content: Any) -> str:
    """Return the text of a file with a line per artefact, so that differences can be read."""
    return (
        json.dumps(content, ensure_ascii=False, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n"
    )


def main() -> None:
    """Write the files."""
    for name, content in (("papers", papers()), ("paths", paths()), ("predictions", predictions())):
        (LAB / "src/data" / f"{name}.json").write_text(text(content), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
