"""Claims and findings are named in data, scenarios by their digests: sentences and code can be rewritten."""

import hashlib
import inspect
import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

import sentences
from ackclock import engine
from ackclock.cli import completion
from ackclock.comparison import options, questions
from ackclock.names import NAME, slug
from ackclock.predictions import Simulation
from ackclock.predictions.subjects import SUBJECTS, function_of
from ackclock.reproduction import task
from ackclock.reproduction.claims import orders, records
from ackclock.reproduction.claims.artefact import Judged
from ackclock.reproduction.claims.judge import Judgement
from ackclock.reproduction.claims.usual import mean
from ackclock.reproduction.shown import strips
from ackclock_papers import PAPERS

UNTRIED = Path(__file__).with_name("untried.txt")
CHANGED = Path(__file__).with_name("changed.txt")
"""Claims whose check was changed after they had been run; it only shrinks."""
SCENARIOS = Path(__file__).with_name("scenarios.txt")
HEADER = """\
# Claims whose outcome at other settings is not known: `make inference` has not judged them. A new claim
# is added here; UPDATE_UNTRIED=1 .venv/bin/pytest tests/test_identity.py takes off what has been tried.
"""


class Key(NamedTuple):
    """A key of a case with a label of its own."""

    control: str
    beta: float | None = None

    def __str__(self) -> str:
        return "a label"


def test_a_name_is_made_of_data_and_not_of_labels():
    assert slug("HS-TCP", "at", 1e-5, "of Reno's") == "hs-tcp-at-1em05-of-reno-s"
    assert slug(Key("Illinois", 0.5), "nowhere convex") == "illinois-0.5-nowhere-convex"
    assert slug(Key("Reno"), 83000) == "reno-83000"
    assert all(map(NAME.fullmatch, ("a", "a-0.5", "a-1em05-b")))
    assert not any(map(NAME.fullmatch, ("", "A", "a b", "-a", "a-", "a--b", "a/b")))


def every_claim():
    for paper in PAPERS.values():
        for artefact in paper.artefacts:
            for claim in artefact.claims:
                yield paper, artefact, claim


def untried_of(paper, tried):
    """Return the claims of a paper for which no setting was tried, with their names."""
    return {
        name: claim
        for artefact in paper.artefacts
        for claim in artefact.claims
        if (name := f"{paper.name}/{artefact.name}/{claim.name}") not in tried
    }


def needs(untried, listed):
    """Return a line for each claim that is not known to be untried: what it needs besides its record."""
    make_them = "make inference; until then UPDATE_UNTRIED=1 .venv/bin/pytest tests/test_identity.py"
    return [f"{name} needs trials ({make_them})" for name in untried if name not in listed]


def all_tried():
    return {
        f"{paper.name}/{artefact}/{claim}"
        for paper in PAPERS.values()
        for trial in paper.trials
        for artefact, claim in trial.outcomes
    }


def test_claims_without_a_trial_become_fewer():
    tried = all_tried()
    untried = [name for paper in PAPERS.values() for name in untried_of(paper, tried)]
    if os.environ.get("UPDATE_UNTRIED"):
        UNTRIED.write_text(HEADER + "".join(f"{name}\n" for name in untried), encoding="utf-8")
    listed = UNTRIED.read_text(encoding="utf-8").splitlines()[2:]
    assert needs(untried, listed) == []
    assert [name for name in listed if name not in untried] == [], "take these off tests/untried.txt"


def test_a_new_claim_is_one_record_and_a_line_says_what_it_needs():
    record = {
        "sentence": "AIMD uses the link",
        "case": "100 Mbit/s, AIMD",
        "key": "utilisation",
        "at_least": 0.9,
        "why": "w",
    }
    (claim,) = records.read({"aimd-uses-it": record}, "figure-9", {}, {})
    bic, figure_9 = PAPERS["bic"], PAPERS["bic"]["figure-9"]
    more = replace(figure_9, claims=(*figure_9.claims, claim))
    with_it = replace(bic, artefacts=[more if each is figure_9 else each for each in bic.artefacts])
    listed = UNTRIED.read_text(encoding="utf-8").splitlines()
    (line,) = needs(untried_of(with_it, all_tried()), listed)
    assert line.startswith("bic/figure-9/aimd-uses-it needs trials (make inference; ")


def test_claims_that_were_changed_after_a_run_become_fewer():
    # Whether a claim had another check is history, which no function that makes claims may invent.
    changed = [
        f"{paper.name}/{artefact.name}/{claim.name}"
        for paper, artefact, claim in every_claim()
        if claim.former
    ]
    if os.environ.get("UPDATE_CHANGED"):
        CHANGED.write_text("".join(f"{name}\n" for name in changed), encoding="utf-8")
    listed = CHANGED.read_text(encoding="utf-8").splitlines()
    assert [name for name in changed if name not in listed] == [], "these had no other check"
    assert [name for name in listed if name not in changed] == [], "take these off tests/changed.txt"
    order = orders.ordered(
        "a", "a", [("more", mean("a", "x")), ("less", mean("b", "x"))], margin=0.01, why="any"
    )
    assert order.former is None


def reworded(artefact):
    claims = [replace(claim, sentence=f"said otherwise, {n}") for n, claim in enumerate(artefact.claims)]
    return replace(artefact, claims=tuple(claims))


@pytest.mark.parametrize("name", PAPERS)
def test_a_reworded_claim_keeps_its_trials_its_finding_and_its_verdict(name):
    paper = PAPERS[name]
    other = replace(paper, artefacts=[reworded(artefact) for artefact in paper.artefacts])
    tried = findings = 0
    for artefact, changed in zip(paper.artefacts, other.artefacts, strict=True):
        for claim, twin in zip(artefact.claims, changed.claims, strict=True):
            known = Judgement(findings={claim.finding.name: "known"} if claim.finding else {})
            for judged in (Judged("1", True), Judged("1", False), Judged("1", False, undecided=True)):
                record = task.of_claim(paper, artefact, claim, judged, known)
                assert task.of_claim(other, changed, twin, judged, known) == record | {"claim": twin.sentence}
                tried += record["tried_settings"] > 0
                findings += bool(record["finding_id"])
        assert [claim.name for claim in strips.shown(changed, other)] == [
            claim.name for claim in strips.shown(artefact, paper)
        ]
    assert tried
    assert bool(findings) == (name != "africa"), "the paper of Africa has no finding"
    assert sentences.unknown(other, sentences.load(f"ackclock_papers.{name}")) == []


def numbers(part):
    if isinstance(part, dict):
        part = part.values()
    if isinstance(part, float):
        yield part
    elif not isinstance(part, str | int):
        for each in part:
            yield from numbers(each)


class Recorder(Simulation):
    """Takes the digests of scenarios in place of simulating them, and ends the prediction."""

    def each(self, scenarios, _measure):
        built = [each for each in scenarios if each is not None]
        # NumPy's logarithm differs in the last digits between processors with AVX-512 and others.
        assert all(float(f"{number:.12g}") == number for number in numbers(built))
        raise InterruptedError([engine.read(each).digest for each in built])

    once = each


def built_by_predict():
    for name in SUBJECTS:
        if "simulation" in inspect.signature(function_of(name)).parameters:
            with pytest.raises(InterruptedError) as built:
                function_of(name)(simulation=Recorder(runs=2))
            yield f"predict {name}", built.value.args[0]


def built_by_compare():
    given = dict.fromkeys(("rate", "rtt", "buffer", "loss", "queue", "profile"))
    own = {"rate": "7mbit", "rtt": "35ms", "buffer": "0.3bdp", "loss": "1%", "profile": "ns2"}
    settings = {
        "by default": options.of_numbers(),
        "own numbers": options.of_numbers(**own, duration_s=17.5, flows=3, queue="codel"),
    }
    for name in completion.paths():
        settings[name] = options.of_name(name, **given)
        settings[f"{name}, own queue"] = options.of_name(
            name, **given | {"rtt": "50ms", "buffer": "100ms", "queue": "fq_codel"}
        )
    for file in sorted((Path(__file__).parents[1] / "scenarios").glob("*.toml")):
        if file.stem != "mixed-traffic":
            settings[file.name] = options.of_file(file, **given)
            settings[f"{file.name}, own loss"] = options.of_file(file, **given | {"loss": "2%"})
    for name, setting in settings.items():
        built = questions.scenarios(setting, "illinois").values()
        yield f"compare {name}", [scenario.digest for scenario in built]


def test_compare_and_predict_build_the_same_scenarios_as_ever():
    # UPDATE_SCENARIOS=1 adds those of new subjects and paths.
    digests = {
        name: hashlib.sha256(" ".join(built).encode()).hexdigest()[:16]
        for name, built in (*built_by_compare(), *built_by_predict())
    }
    known = dict(reversed(line.split(" ", 1)) for line in SCENARIOS.read_text("utf-8").splitlines())
    if os.environ.get("UPDATE_SCENARIOS"):
        known = digests | known
        SCENARIOS.write_text("".join(f"{digest} {name}\n" for name, digest in known.items()), "utf-8")
    assert digests == known
