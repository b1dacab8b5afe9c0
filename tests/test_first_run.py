"""What the first run prints, and what the README says of it."""

from pathlib import Path

import pytest

from ackclock.reproduction.shown import outcome
from ackclock_papers import PAPERS
from test_main_claims import stated_by

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
VERDICTS = dict(
    line.split(" | ")
    for line in (ROOT / "tests/verdicts.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)


def states(paper):
    """Return by quick artefact what the list of verdicts says of the claims that state its main claim.

    None where that claim is not checked in the quick reproduction.
    """
    quick = {artefact.name: artefact for artefact in paper.artefacts if artefact.headline}
    states = {}
    for name in quick:
        main = paper.main_claims[name]
        if main.kind not in ("simulation", "formula"):
            continue
        stated = stated_by(main, paper.artefacts, name) if main.ids else []
        if not stated or any(artefact.name not in quick for artefact, _ in stated):
            states[name] = None
        else:
            ids = [f"{paper.name}/{artefact.name}/{claim.name}" for artefact, claim in stated]
            states[name] = {VERDICTS[key].partition(" (")[0] for key in ids if key in VERDICTS}
    return states


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_the_readme_counts_the_main_claims_that_the_verdicts_have(paper):
    every = states(paper)
    holding = sum(state == set() for state in every.values())
    line = f"{outcome.short_name(paper)}: {outcome.sentence(holding, len(every))}"
    assert f"\n{line}\n" in README, line


MOST_UNDECIDED = 0.1
"""Share of the quick claims."""


def test_few_of_the_quick_claims_are_undecided():
    claims = sum(
        len(artefact.claims) for paper in PAPERS.values() for artefact in paper.artefacts if artefact.headline
    )
    undecided = sum(verdict.startswith("undecided") for verdict in VERDICTS.values())
    assert undecided <= MOST_UNDECIDED * claims, f"{undecided} of {claims}"


def claim(name, measured, verdict):
    return {
        "id": f"illinois/{name}",
        "claim": "a sentence that is longer than what a terminal has room for, and is still not over",
        "measured": measured,
        "tolerance": "a tenth: as round as the paper's number",
        "holds": verdict == "reproduced",
        "verdict": verdict,
    }


def record(name, *claims):
    return {"paper": "illinois", "name": name, "claims": claims, "error": ""}


def test_what_is_undecided_is_named_with_its_interval_and_its_limit():
    paper = PAPERS["illinois"]
    (first,) = paper.main_claims["figure-14"].ids
    limits = next(each.target for each in paper["figure-14"].claims if each.name == first)
    open_one = record("figure-14", claim(f"figure-14/{first}", "4.5 [3.5, 5.5]", "undecided"))
    lines = outcome.lines(paper, open_one, [open_one])
    assert lines[0] == "illinois/figure-14: open; its main claim is undecided: 4.5 [3.5, 5.5]"
    assert lines[1].startswith("  undecided: a sentence")
    assert lines[1].endswith(f": 4.5 [3.5, 5.5]; holds from {limits.low:.4g} to {limits.high:.4g}")
    screen = outcome.screen([open_one], PAPERS, Path("results"))
    assert screen[:2] == ["TCP-Illinois: 0 of 1 main claims hold.", "  open: figure-14"]
    assert screen[2].startswith("    undecided: a sentence")
    assert screen[2].endswith(lines[1].partition("…")[2])
    assert screen[3] == "All claims: 0 of 1 hold, 1 are undecided."
    assert screen[-1] == "Pictures, numbers and every claim: results/index.html"


def test_a_main_claim_that_others_state_waits_for_them():
    # Figure 4's slopes are claims of section VI.
    alone = {"paper": "bic", "name": "figure-4", "claims": [], "error": ""}
    assert outcome.lines(PAPERS["bic"], alone, [alone]) == [
        "bic/figure-4: open without section-vi; 0 of 0 claims hold"
    ]


def test_no_line_is_wider_than_a_terminal():
    paper = PAPERS["illinois"]
    (first,) = paper.main_claims["figure-14"].ids
    for measured in ("4.5 [3.5, 5.5]", "4.5 [3.5, 5.5] and so on, " * 9):
        for verdict in ("undecided", "reproduced", "not found"):
            only = record("figure-14", claim(f"figure-14/{first}", measured, verdict))
            others = [record(artefact.name) for artefact in paper.artefacts if artefact.name != only["name"]]
            lines = [
                *outcome.lines(paper, only, [only]),
                *outcome.screen([only, *others], PAPERS, Path("results")),
            ]
            assert max(map(len, lines)) <= outcome.WIDTH
