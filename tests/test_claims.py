"""What the papers say, sentence by sentence, and the claims that check it: a page of the site."""

import re
import runpy
from pathlib import Path

import pytest

import sentences
from ackclock.reproduction.claims.artefact import Computed, matching
from ackclock.reproduction.claims.usual import between, mean
from ackclock.reproduction.paper import Paper
from ackclock_papers import PAPERS
from sentences import Sentence

ROOT = Path(__file__).resolve().parents[1]
SAID = {name: sentences.load(f"ackclock_papers.{name}") for name in PAPERS}
PAGE = runpy.run_path(str(ROOT / "docs" / "site" / "artefacts.py"))["claims"]()
NAMES = pytest.mark.parametrize("name", PAPERS)


@NAMES
def test_artefacts_and_claims_that_are_named_exist(name):
    assert sentences.unknown(PAPERS[name], SAID[name]) == []


@NAMES
def test_every_claim_is_stated_or_listed_as_ours(name):
    own = PAGE.split(f"## {PAPERS[name].title}\n")[1].split("\n## ")[0]
    listed = re.findall(r"^- \[(.+?)\]\(.+?\): (.+)$", own, re.MULTILINE)
    stated = {
        (artefact, claim.sentence)
        for statement in SAID[name]
        for artefact, patterns in statement.claims.items()
        for pattern in patterns
        for claim in matching(PAPERS[name][artefact], pattern)
    }
    every = {
        (artefact.name, claim.sentence) for artefact in PAPERS[name].artefacts for claim in artefact.claims
    }
    assert stated | set(listed) == every
    assert not stated & set(listed)


def test_a_claim_says_in_which_section_its_paper_does():
    # Section III of BIC's paper has the 70 % of figure 2; no sentence names a claim that is ours.
    claims = {claim.name: claim for claim in PAPERS["bic"]["figure-2"].claims}
    assert claims["droptail-more-than-half-flows-in-about-70-percent"].source == "section III"
    every = [claim for artefact in PAPERS["transient"].artefacts for claim in artefact.claims]
    assert 0 < sum(not claim.source for claim in every) < 10


@NAMES
def test_no_sentence_is_said_twice(name):
    said = [(statement.section, statement.says) for statement in SAID[name]]
    assert len(set(said)) == len(said)


@NAMES
def test_files_that_check_elsewhere_exist(name):
    named = {
        file
        for statement in SAID[name]
        for file in re.findall(r"`([\w./-]+\.(?:py|rs|md))`", statement.not_tested)
    }
    assert named
    assert [file for file in named if not (ROOT / file).exists()] == []


def tiny(*claimed):
    artefact = Computed(
        name="figure-1",
        caption="one",
        about="",
        draw=None,
        compute=lambda _effort: ({}, {}),
        numbers={"one": ("x",)},
        claims=tuple(between(name, f"sentence {name}", mean("one", "x"), 0, 1, why="w") for name in claimed),
    )
    return Paper("tiny", "Tiny (A. N. Author, 2001)", (), (artefact,))


def test_a_star_stands_for_any_text_and_nothing_else_does():
    paper = tiny("a-at-1", "b-at-1", "b-at-1.5", "b-c")

    def names(*patterns):
        said = [Sentence("1", "so", {"figure-1": patterns})]
        ours = [claim.name for _, claim in sentences.unstated(paper, said)]
        return sentences.unknown(paper, said), ours

    assert names("*") == ([], [])
    assert names("*-at-1") == ([], ["b-at-1.5", "b-c"])
    assert names("b-c") == ([], ["a-at-1", "b-at-1", "b-at-1.5"])
    # A dot is a dot, and a part is not the whole.
    for wrong in ("b-at-1x5", "b-at", ""):
        assert len(names(wrong)[0]) == 1
    said = [Sentence("1", "so", {"figure-2": ["*"]})]
    assert sentences.unknown(paper, said) == ["figure-2: * (section 1: so)"]


def test_a_page_counts_and_names():
    paper = tiny("a", "b", "c")
    said = [
        Sentence("1", "one", {"figure-1": ["a"]}),
        Sentence("2", "two", {"figure-1": ["*"]}),
        Sentence("3", "three", not_tested="elsewhere: there"),
        Sentence("4", "four", not_tested="not yet: somehow"),
        Sentence("5", "five", not_tested="definition"),
        Sentence("6", "six", not_tested="setting"),
    ]
    link = "[figure-1](reproduction.md#tiny-a-n-author-2001)"
    lines = sentences.markdown([(paper, said)]).splitlines()
    # Six sentences: two with claims, one elsewhere, one not yet, two with nothing to run.
    assert lines[2] == "| Tiny | 6 | 2 | 1 | 1 | 2 | 3 | 0 |"
    assert f"| 1 | one | {link}: sentence a |" in lines
    assert f"| 2 | two | {link}: all 3 |" in lines
    assert "| 3 | three | elsewhere: there |" in lines
    assert "| 4 | four | gap: somehow |" in lines
    without = sentences.markdown([(paper, said[:1])]).splitlines()
    assert without[-2:] == [f"- {link}: sentence b", f"- {link}: sentence c"]


@pytest.mark.parametrize("more", [{}, {"claims": {"figure-1": ["*"]}, "not_tested": "why"}])
def test_a_sentence_has_claims_or_a_reason(more):
    with pytest.raises(ValueError, match="either"):
        Sentence("1", "so", **more)
