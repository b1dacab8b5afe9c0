"""The class of an artefact follows from its main claim alone, and is computed."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace

import pytest

from ackclock.reproduction.main_claims import MainClaim
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import state
from ackclock.reproduction.shown import classes, outcome, words
from ackclock.reproduction.shown.classes import CLASSES, classify, counts
from ackclock_papers import PAPERS

MAIN = MainClaim("words", "abstract", "simulation", "Reno is slow.", ("slow*",))


def claim(name="slow", verdict="reproduced", holds=None, hold=0, ns2=None, controls=("reno",), other=None):
    return {
        "id": f"tiny/figure-1/{name}",
        "verdict": verdict,
        "holds": verdict == "reproduced" if holds is None else holds,
        "single_runs": {"hold": hold, "runs": 20, "low": 0.0, "high": 1.0},
        "ns2": ns2,
        "controls": list(controls),
        "alternative": other,
    }


def in_ns2(holds=False, near=True, approximate=(), missing=()):
    return {
        "measured": "1", "holds": holds, "near": near,
        "approximate": list(approximate), "missing": list(missing),
    }  # fmt: skip


def record(*claims, name="figure-1", error=""):
    return {"paper": "tiny", "name": name, "claims": list(claims), "error": error}


def class_of(*claims, main=MAIN, error="", unknown=()):
    paper = Paper("tiny", "Tiny", (), (), main_claims={"figure-1": main}, unknown_code=unknown)
    return classify(paper, [record(*claims, error=error)])["figure-1"]


@pytest.mark.parametrize(
    ("of_claim", "name", "holds"),
    [
        ({}, "reproduced", True),
        ({"verdict": "undecided"}, "undecided", None),
        ({"verdict": "contradicted"}, "the paper contradicts itself", False),
        ({"verdict": "depends"}, "depends on a setting", False),
        # The claim holds at another plausible setting, and ns-2 has no result there.
        ({"verdict": "depends", "ns2": in_ns2()}, "depends on a setting", False),
        ({"verdict": "not found", "ns2": in_ns2()}, "fails in ns-2, too", False),
        ({"verdict": "differs", "ns2": in_ns2()}, "fails in ns-2, too", False),
        ({"verdict": "not found", "ns2": in_ns2(holds=True)}, "two simulators differ", False),
        ({"verdict": "reproduced", "ns2": in_ns2()}, "reproduced", True),
        # A record of an earlier version has no comparison.
        ({"verdict": "not found", "ns2": {"measured": "1", "holds": False}}, "not found", False),
        # 1 of 20 single runs is 5 %.
        ({"verdict": "not found", "hold": 1}, "possible as one run", False),
        ({"verdict": "not found", "hold": 0}, "not found", False),
        ({"verdict": "differs"}, "differs", False),
        ({"verdict": "differs", "controls": ("reno", "tear")}, "unknown code", False),
    ],
)
def test_a_main_claim_has_a_class(of_claim, name, holds):
    classified = class_of(claim(**of_claim), unknown=("tear",))
    assert (classified.name, classified.holds) == (name, holds)


ANSWERS = {"no": False, "yes": True, "open": None}
DISTANCES = {"near": True, "far": False, "unknown": None}
AGENTS = {"exact": [], "approximate": ["TFRC (of 2.35, not of 2000)"]}
ASKED = {"both": [], "one": ["min_rto 400 ms"]}
OTHER = {
    "same": None,
    "fails": {"measured": "1", "holds": False, "undecided": False, "verdict": "not found"},
    "open": {"measured": "1", "holds": True, "undecided": True, "verdict": "undecided"},
    "holds": {"measured": "1", "holds": True, "undecided": False, "verdict": "reproduced"},
}
PROOFS = {("exact", "both", "no", "near", "same"), ("exact", "both", "no", "near", "fails")}
"""All that proves that a claim which fails here fails in ns-2, too."""
DIFFERENCES = {("no", "far"), ("open", "far"), ("yes", "near"), ("yes", "far"), ("yes", "unknown")}
"""Answers and distances with which the simulators differ."""


def test_a_claim_fails_in_ns2_too_only_where_everything_proves_it():
    """2 agents, 1 or 2 settings, 3 answers, 3 distances and 4 states at the other setting are 144 records.

    A quarter holds at the other setting. Of the 108 others the simulators differ in 5 of 9 pairs of answer
    and distance, which are 60; 2 are proofs, and the other 46 prove nothing.
    """
    known = Counter()
    for at in itertools.product(AGENTS, ASKED, ANSWERS, DISTANCES, OTHER):
        agent, settings, answer, distance, other = at
        given = in_ns2(ANSWERS[answer], DISTANCES[distance], AGENTS[agent], ASKED[settings])
        name = class_of(claim(verdict="not found", ns2=given, other=OTHER[other])).name
        if other == "holds":
            expected = "depends on a setting"
        elif (answer, distance) in DIFFERENCES:
            expected = "two simulators differ"
        else:
            expected = "fails in ns-2, too" if at in PROOFS else "not found"
        assert name == expected, at
        known[name] += 1
    assert known == {
        "depends on a setting": 36,
        "two simulators differ": 60,
        "fails in ns-2, too": 2,
        "not found": 46,
    }


def test_it_is_said_what_a_proof_lacks():
    given = in_ns2(None, None, AGENTS["approximate"], ASKED["one"])
    assert classes.lacking(claim(verdict="not found", ns2=given, other=OTHER["open"])) == [
        "ns-2 has another control, TFRC (of 2.35, not of 2000)",
        "ns-2 was not asked with min_rto 400 ms",
        "ns-2 leaves it undecided",
        "ns-2's number is not shown to be near ours",
        "it is undecided at the other setting",
    ]
    assert classes.lacking(claim(verdict="not found", ns2=in_ns2(True, False))) == [
        "it holds in ns-2",
        "ns-2's number is not ours",
    ]
    assert classes.lacking(claim(verdict="not found", ns2=in_ns2())) == []
    assert classes.lacking(claim(verdict="not found")) == ["ns-2 was not asked"]
    reasons = ["ns-2 was not asked with min_rto 1 s"]
    asked = in_ns2(missing=["min_rto 1 s"])
    assert classes.unproven(class_of(claim(verdict="not found", ns2=asked))) == reasons
    assert classes.unproven(class_of(claim(verdict="depends", ns2=asked))) == []
    assert classes.unproven(class_of(claim(verdict="not found"))) == []
    said = words.in_ns2(claim(verdict="not found", ns2=in_ns2(missing=[""])))
    assert said == "1: ns-2 was not asked at the paper's setting"
    assert words.in_ns2(claim(ns2=in_ns2(missing=[""]))) == "1"


def test_other_claims_of_an_artefact_do_not_count():
    assert class_of(claim(), claim("other", "not found")).name == "reproduced"


def test_of_several_claims_the_worst_counts():
    assert class_of(claim("slow-1"), claim("slow-2", "undecided")).name == "undecided"
    assert class_of(claim("slow-1", "undecided"), claim("slow-2", "not found")).name == "not found"


def test_the_number_that_is_shown_is_of_a_claim_that_has_the_class():
    # The first claim is undecided, so the class comes from the second.
    stated = [
        {**claim(name, verdict), "claim": name, "measured": measured}
        for name, verdict, measured in (("slow-1", "undecided", "0.936"), ("slow-2", "depends", "0.911"))
    ]
    classified = class_of(*stated)
    result = outcome.found(Paper("tiny", "Tiny", (), ()), classified)
    assert classified.name == "depends on a setting"
    assert result is not None and result.find == "0 of 2 parts hold, 1 undecided; slow-2: 0.911"


def test_parts_that_fail_say_by_how_many_tolerances():
    outcomes = [
        ("reproduced", 0.0),
        ("depends", 2.5),
        ("depends", 0.9),
        ("depends", None),
        ("undecided", 0.2),
    ]
    stated = [
        {**claim(f"slow-{number}", verdict), "claim": "a part", "measured": "3", "tolerances_missed": missed}
        for number, (verdict, missed) in enumerate(outcomes)
    ]
    result = outcome.found(Paper("tiny", "Tiny", (), ()), class_of(*stated))
    assert result is not None
    assert result.find == "1 of 5 parts hold, 1 undecided, 2 off by 0.9 to 2.5 tolerances; a part: 3"
    pair = outcome.found(Paper("tiny", "Tiny", (), ()), class_of(*stated[:2]))
    assert pair is not None and pair.find == "1 of 2 parts hold, 1 off by 2.5 tolerances; a part: 3"


def test_formulas_settings_and_measurements_are_apart():
    assert class_of(claim(), main=replace(MAIN, kind="formula")).name == "verified"
    assert class_of(claim(), main=replace(MAIN, kind="setting", claim="", ids=())).name == "setting"
    # A measurement of 2010 that is simulated here never counts as reproduced, whatever its claims say.
    assert class_of(claim(), main=replace(MAIN, kind="live")).name == "analogue"


def test_what_failed_or_was_not_run_is_said():
    assert class_of(claim(), error="KeyError").name == "failed"
    assert class_of(claim("fast")).name == "not checked"
    main = replace(MAIN, ids=("figure-2/slow",))
    paper = Paper("tiny", "Tiny", (), (), main_claims={"figure-1": main})
    other = {**claim(), "id": "tiny/figure-2/slow"}
    assert classify(paper, [record()])["figure-1"].name == "not checked"
    assert classify(paper, [record(), record(other, name="figure-2")])["figure-1"].name == "reproduced"


def test_counts_are_by_group_in_their_order():
    every = [
        class_of(claim(verdict=verdict)) for verdict in ("differs", "undecided", "reproduced", "depends")
    ]
    assert list(counts(every).items()) == [
        ("holds", 1),
        ("depends on a setting that the paper does not state", 1),
        ("open", 2),
    ]


def test_every_class_has_one_group_or_no_main_claim():
    grouped = [name for names in classes.GROUPS.values() for name in names]
    assert sorted([*grouped, "failed", "setting", "analogue"]) == sorted(CLASSES)
    # In ns-2, too: the second group; as a formula: the first.
    assert class_of(claim(verdict="not found", ns2=in_ns2())).group == "fails in a second simulator, too"
    assert class_of(claim(), main=replace(MAIN, kind="formula")).group == "holds"
    assert class_of(claim(), main=replace(MAIN, kind="live")).group == "no main claim"
    assert class_of(claim(verdict="not found", ns2=in_ns2(holds=True))).group == "open"
    # A result that is not there leaves nothing open and counts by itself.
    assert class_of(claim(), error="KeyError").group == "failed"


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("reproduced", "holds"),
        ("undecided", "undecided"),
        ("depends", "does not hold"),
        ("differs", "does not hold"),
    ],
)
def test_a_claim_holds_does_not_hold_or_is_undecided(verdict, expected):
    assert state(claim(verdict=verdict)) == expected


def test_every_class_is_explained_in_a_sentence_and_no_artefact_lacks_a_kind():
    assert all(len(meaning.split()) > 2 for meaning in CLASSES.values())
    assert {
        artefact.name
        for paper in PAPERS.values()
        for artefact in paper.artefacts
        if artefact.name not in paper.main_claims
    } == set()
    assert classes.POSSIBLE == 1 / 20
