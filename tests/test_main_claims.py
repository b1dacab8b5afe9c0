"""The main claim of every artefact: what the paper says it shows, and the claims that state it."""

import pytest

from ackclock.reproduction.main_claims import MainClaim
from ackclock_papers import PAPERS

MAIN = {name: paper.main_claims for name, paper in PAPERS.items()}
NAMES = pytest.mark.parametrize("name", PAPERS)


@NAMES
def test_every_artefact_has_exactly_one_main_claim(name):
    # TOML refuses a table that is there twice, so equal sets mean one entry per artefact.
    assert MAIN[name].keys() == {artefact.name for artefact in PAPERS[name].artefacts}


@NAMES
def test_main_claims_name_claims_of_their_artefact(name):
    for artefact in PAPERS[name].artefacts:
        main = MAIN[name][artefact.name]
        stated = main.stated_by(artefact)
        assert bool(stated) == bool(main.ids)
        assert {claim.name for claim in stated} <= {claim.name for claim in artefact.claims}


@NAMES
def test_main_claims_are_sentences(name):
    for artefact, main in MAIN[name].items():
        for sentence in filter(None, (main.claim, main.missing)):
            assert sentence[0].isupper() and sentence.endswith("."), f"{artefact}: {sentence}"


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"kind": "guess"}, "'guess' is none of simulation, formula, setting, live"),
        ({"words": ""}, "needs the paper's words"),
        ({"place": ""}, "needs the paper's words and their place"),
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
        "place": "section 3",
        "kind": "simulation",
        "ids": ("curve-concave",),
    }
    MainClaim(**complete)
    with pytest.raises(ValueError, match=complaint):
        MainClaim(**complete | changed)


def test_an_id_that_names_no_claim_is_refused():
    artefact = PAPERS["illinois"]["figure-8"]
    main = MainClaim("a concave curve", "section 3", "simulation", "The curve is concave.", ("no-such-*",))
    with pytest.raises(LookupError, match="figure-8 has no claim no-such-"):
        main.stated_by(artefact)
