"""What ns-2 gives for claims: every row names a claim, and no claim that fails lacks its row."""

import csv
from pathlib import Path

import pytest

from ackclock.reproduction import ns2
from ackclock.reproduction.artefact import Computed
from ackclock_papers import PAPERS

TESTS = Path(__file__).parent
USED_NS2 = ("africa", "bic", "illinois", "transient")
"""Papers whose authors ran ns-2; TCP-FIT was measured on real and emulated paths."""


def rows(paper):
    file = TESTS.parent / "python" / "ackclock_papers" / paper / ns2.NAME
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


def failing():
    """Return the claims of these papers that the quick reproduction fails: paper, artefact, claim."""
    lines = (TESTS / "verdicts.txt").read_text(encoding="utf-8").splitlines()
    named = [line.split(" | ") for line in lines if not line.startswith("#")]
    failed = [tuple(claim.split("/")) for claim, said in named if "does not hold" in said]
    return [claim for claim in failed if claim[0] in USED_NS2]


def test_every_claim_that_fails_has_a_number_of_ns2_or_the_reason_why_not():
    known = {(paper, row["artefact"], row["claim"]) for paper in USED_NS2 for row in rows(paper)}
    assert len(failing()) > 30
    assert sorted(set(failing()) - known) == []


@pytest.mark.parametrize("paper", USED_NS2)
def test_every_row_names_a_claim_and_says_what_was_run(paper):
    claims = {
        (artefact.name, claim.name): artefact
        for artefact in PAPERS[paper].artefacts
        for claim in artefact.claims
    }
    own = [(row["artefact"], row["claim"], row["change"]) for row in rows(paper)]
    assert len(set(own)) == len(own)
    for row in rows(paper):
        artefact = claims[row["artefact"], row["claim"]]
        # Either a reason, or everything that says what the number is.
        made = [bool(row[key]) for key in ("measured", "holds", "seeds", "by_seed", "seconds", "ran", "ns2")]
        assert made == [not row["why"]] * len(made), row
        assert not isinstance(artefact, Computed) or row["why"] == "a formula, without runs"
        # Nothing of the papers' that ns-2 lacks has a number.
        assert not row["measured"] or not {"tear", "africa"} & set(row["ran"].lower().split())
        if row["measured"]:
            assert len(row["by_seed"].split("; ")) == int(row["seeds"])


def test_a_number_is_read_with_what_differs_from_the_setting(tmp_path):
    """0.27 at the setting, and 0.11 without an overhead: both are shown, the second with its change."""
    assert ns2.read(tmp_path) == {}
    head = ",".join(ns2.COLUMNS)
    values = [
        "figure-11,share,,0.27,no,1,0.27,600,Reno,2.35,",
        "figure-11,share,overhead 0 s,0.11,no,1,0.11,600,Reno,2.35,",
        "figure-11,other,,,,,,,,,a formula",
    ]
    (tmp_path / ns2.NAME).write_text("\n".join([head, *values]), encoding="utf-8")
    assert ns2.read(tmp_path) == {("figure-11", "share"): "0.27; 0.11 (overhead 0 s)"}
