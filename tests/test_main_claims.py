"""The main claim of every artefact: what the paper says it shows, and the claims that state it."""

import hashlib
import json
import re
import tomllib

import pytest

from ackclock.reproduction import main_claims
from ackclock.reproduction.claims import records
from ackclock.reproduction.claims.artefact import matching
from ackclock.reproduction.main_claims import MainClaim
from ackclock_papers import PAPERS

MAIN = {name: paper.main_claims for name, paper in PAPERS.items()}
WRITTEN = {
    "illinois": "0c1c653bb58dc9ce",
    "fit": "ae418a83cd99d035",
    "transient": "daf2315b5c435bae",
    "bic": "fd41fe79565a3418",
    "africa": "730d5f2af67e051c",
}
"""By paper: of its main claims, their words, places and kinds, as they were before any was judged."""
NAMES = pytest.mark.parametrize("name", PAPERS)


def stated_by(main, every, artefact):
    """Return the claims that state a main claim together, each with its artefact; refuse other ids."""
    artefacts = {artefact.name: artefact for artefact in every}
    claims = {}
    for name in main.ids:
        other, _, pattern = name.rpartition("/")
        owner = artefacts.get(other or artefact)
        named = matching(owner, pattern) if owner else []
        if not named:
            raise LookupError(
                f"there is no claim {other or artefact}/{pattern}, which the main claim of {artefact} names"
            )
        claims |= {(owner.name, claim.name): (owner, claim) for claim in named}
    return list(claims.values())


@NAMES
def test_every_artefact_has_exactly_one_main_claim(name):
    # TOML refuses a table that is there twice, so equal sets mean one entry per artefact.
    assert MAIN[name].keys() == {artefact.name for artefact in PAPERS[name].artefacts}


@NAMES
def test_main_claims_name_claims_of_their_paper(name):
    for artefact, main in MAIN[name].items():
        stated = stated_by(main, PAPERS[name].artefacts, artefact)
        assert bool(stated) == bool(main.ids)
        assert all(claim in owner.claims for owner, claim in stated)


@NAMES
def test_what_was_written_before_judging_has_not_changed(name):
    # A claim that is reworded once its verdict is known proves nothing: whoever changes one of these
    # fingerprints says in the commit message why the paper says something else.
    written = [
        [artefact, main.claim, main.words, main.source, main.kind] for artefact, main in MAIN[name].items()
    ]
    assert hashlib.sha256(json.dumps(written).encode()).hexdigest()[:16] == WRITTEN[name]


@NAMES
def test_main_claims_are_sentences(name):
    for artefact, main in MAIN[name].items():
        for sentence in filter(None, (main.claim, main.missing)):
            assert sentence[0].isupper() and sentence.endswith("."), f"{artefact}: {sentence}"


FIELD = {
    "window": ("window",),
    "windows": ("window",),
    "queue": ("queue", "bottleneck fully"),
    "fairness": ("fair",),
    "jain": ("fair", "converge"),
    "cov": ("coefficient of variation", "smooth", "fluctuate", "unfairness"),
    "mbps": ("throughput", "goodput", "access link", "share of the link", "robust"),
    "goodput": ("throughput", "goodput"),
    "throughput": ("throughput", "goodput"),
    "rate": ("rate", "throughput"),
    "loss": ("loss", "lose", "congestion event"),
    "losses": ("loss", "lose"),
    "losing": ("back off", "backoff"),
    "drops": ("congestion", "packets per loss event"),
    "stolen": ("steal", "stolen", "cubic"),
    "convex": ("convex", "concave"),
    "concave": ("concave",),
    "correlation": ("correlated",),
}
"""Words of the field in the names of numbers, and those that the sentence then has."""


def without_the_word(words, number):
    """Return the words of the field in the name of a number that are not in the words of a sentence."""
    names = set(re.split(r"[ _,]+", number.lower()))
    return sorted(
        name for name in names & FIELD.keys() if not any(word in words.lower() for word in FIELD[name])
    )


@NAMES
def test_a_main_claim_measures_what_its_sentence_names(name):
    for artefact, main in MAIN[name].items():
        assert bool(main.measures) == bool(main.ids), artefact
        for words, numbers in main.measures.items():
            for number in numbers:
                assert not without_the_word(words, number), (artefact, words, number)


def test_windows_are_not_a_throughput_ratio():
    assert without_the_word("throughput ratio", "windows") == ["windows"]
    assert not without_the_word("throughput ratio", "goodput_mbps")
    assert not without_the_word("mean window", "window")


UNITS = {"mbps": "Mbit/s", "s": "s", "ms": "ms"}
"""Units by the end of the name of a number."""


@NAMES
def test_numbers_with_a_unit_in_their_names_are_shown_with_it(name):
    tables = tomllib.loads((PAPERS[name].home / records.FILE).read_text(encoding="utf-8"))
    for artefact, table in tables.items():
        for claim, record in table.items():
            if records.is_claim(record) and "case" in record and "_" in str(record.get("key")):
                unit = UNITS.get(record["key"].rpartition("_")[2])
                if unit:
                    assert record.get("unit", "").startswith(unit), f"{name}/{artefact}/{claim}"


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"measures": {"throughput": ["windows"]}}, "does not have the words 'throughput'"),
        ({"kind": "guess"}, "'guess' is none of simulation, formula, setting, live"),
        ({"words": ""}, "needs the paper's words"),
        ({"source": ""}, "needs the paper's words and their source"),
        ({"claim": ""}, "needs a claim"),
        ({"ids": ()}, "either ids or what is missing"),
        ({"missing": "The slope."}, "either ids or what is missing"),
        ({"kind": "setting"}, "has no main claim"),
    ],
)
def test_incomplete_main_claims_are_refused(changed, complaint):
    complete = {
        "claim": "The curve is concave.",
        "words": "a concave curve",
        "source": "section 3",
        "kind": "simulation",
        "ids": ("curve-concave",),
    }
    MainClaim(**complete)
    with pytest.raises(ValueError, match=complaint):
        MainClaim(**complete | changed)


RATIO = """
[table-1]
claim = "The throughput ratio is 3."
words = "is 3"
from = "section 7"
kind = "simulation"
measures = { "throughput ratio" = "ratio" }
equal = { sentence = "s", case = "a", key = "ratio", near = 3, main = true }
"""


@pytest.mark.parametrize(
    ("claim", "measured"),
    [
        ('case = "a", key = "windows"', ["ratio", "windows"]),
        ('ratio = [["a", "windows"], ["b", "ratio"]]', ["ratio", "windows"]),
        ('order = ["a", ["b", "windows"]], key = "ratio"', ["ratio", "windows"]),
        ('order = [{ least = ["a", "b"], key = "windows" }, "c"], key = "ratio"', ["ratio", "windows"]),
        ('function = "split", reads = ["*"]', ["ratio", "split"]),
        ('order = [{ estimate = "split" }, "c"], key = "ratio"', ["ratio", "split"]),
    ],
)
def test_a_main_claim_that_measures_another_number_is_refused(tmp_path, claim, measured):
    def load(text):
        (tmp_path / records.FILE).write_text(text, encoding="utf-8")
        return main_claims.load(tmp_path)

    assert load(RATIO)["table-1"].measures == {"throughput ratio": ["ratio"]}
    with pytest.raises(ValueError, match=re.escape(f"main claims read {measured}")):
        load(f'{RATIO}other = {{ sentence = "s", main = true, {claim} }}')


@pytest.mark.parametrize("name", ["no-such-*", "figure-9/no-such-*", "figure-99/illinois-*"])
def test_an_id_that_names_no_claim_is_refused(name):
    main = MainClaim("a concave curve", "section 3", "simulation", "The curve is concave.", (name,))
    missing = name if "/" in name else f"figure-8/{name}"
    with pytest.raises(LookupError, match=f"there is no claim {re.escape(missing)}, which .* figure-8 names"):
        stated_by(main, PAPERS["illinois"].artefacts, "figure-8")


def test_another_artefact_may_state_a_main_claim():
    ids = ("hs-tcp-sack-not-concave", "section-5/hs-tcp-convex-between-losses")
    main = MainClaim("convex", "section 2", "simulation", "HS-TCP's curve is convex.", ids)
    stated = stated_by(main, PAPERS["illinois"].artefacts, "figure-8")
    assert [(owner.name, claim.name) for owner, claim in stated] == [
        ("figure-8", "hs-tcp-sack-not-concave"),
        ("section-5", "hs-tcp-convex-between-losses"),
    ]
