"""Where two settings cannot be distinguished, claims are judged at both."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ackclock.draw.figure import Table
from ackclock.reproduction import make, task
from ackclock.reproduction.claims import judge
from ackclock.reproduction.claims.artefact import Evidence, Finding, Probe, Simulated
from ackclock.reproduction.claims.numbers import FULL, QUICK
from ackclock.reproduction.claims.usual import between, mean
from ackclock.reproduction.main_claims import MainClaim
from ackclock.reproduction.paper import Chosen, Inference, Paper
from ackclock.reproduction.shown import classes, page
from ackclock.reproduction.trials.crossvalidation import Validation, validate
from ackclock.reproduction.trials.settings import Item
from ackclock.reproduction.trials.tried import Outcome, Trial
from ackclock.runs import Case

DECLARED = {"buffer": 5, "loss": 0.0001}
OTHER = {"buffer": 40, "loss": 0.0001}
VALIDATION = Validation([DECLARED, OTHER], [-0.5, -0.2], [], gain=0.3, error=0.2)


def item(name, *values):
    table = [{"value": value, "basis": "open", "evidence": "ours"} for value in values]
    return Item.read({"name": name, "quantity": name, "choice": "{} units", "values": table})


def artefact(name, of_buffer):
    def cases(effort):
        limit = effort.setting["buffer"] if of_buffer else 10
        scenario = {
            "run": {"duration": "10 s", "warmup": "2 s"},
            "dumbbell": {
                "rate": "3 Mbit/s",
                "delay": "10 ms",
                "queue": {"kind": "droptail", "limit": f"{limit} packets"},
                "loss": {"kind": "bernoulli", "rate": effort.setting["loss"]},
            },
            "flow": [{"controller": "reno", "overhead": "1 ms", "rtt": "20 ms"}],
        }
        return {"one": Case(scenario, effort.runs)}

    return Simulated(
        name=name,
        caption="what",
        about="About.",
        draw=lambda _numbers, _traces: Table(["a"], [["b"]]),
        probe=Probe(("queue",), lambda run: {"queue": run.summary["links"][0]["mean_queue_packets"]}),
        cases=cases,
        claims=(between("short", "the queue is short", mean("one", "queue"), 0, 12, why="w"),),
    )


@pytest.fixture(scope="module")
def paper():
    """Return a paper whose figure 1 depends on the buffer and whose figure 2 does not."""
    chosen = Chosen(DECLARED, False, {}, lambda: [], VALIDATION.alternative, VALIDATION)
    main = MainClaim("words", "abstract", "simulation", "The queue is short.", ("short",))
    return Paper(
        "made",
        "A paper of ours",
        [item("buffer", 5, 40), item("loss", 0.0001, 0.2)],
        [artefact("figure-1", of_buffer=True), artefact("figure-2", of_buffer=False)],
        inference=Inference(),
        inferred=chosen,
        main_claims={"figure-1": main, "figure-2": main},
    )


@pytest.fixture(scope="module")
def reproduced(paper, tmp_path_factory):
    output = tmp_path_factory.mktemp("results")
    chosen = [(paper, artefact) for artefact in paper.artefacts]
    return output, make.reproduce(chosen, output, replace(FULL, runs=2), 1, papers=[paper])


def test_a_claim_is_what_the_judge_says_at_the_other_setting(paper, reproduced):
    first, second = reproduced[1]
    assignment = judge.Assignment.of(paper["figure-1"], replace(FULL, runs=2).at(OTHER))
    ((_, judgement),) = judge.judge([assignment])
    ((_, said),) = judgement.claims
    (claim,) = first["claims"]
    # Reno fills a droptail buffer: 5 packets are fewer than 12, and nearly 40 are more.
    assert (claim["holds"], said.holds) == (True, False)
    assert claim["alternative"]["measured"] == said.measured
    assert (claim["alternative"]["holds"], claim["alternative"]["undecided"]) == (False, False)
    assert second["claims"][0]["alternative"] is None


def test_a_main_claim_that_holds_at_one_of_two_settings_depends_on_it(paper, reproduced):
    of = classes.classify(paper, reproduced[1])
    assert {name: of[name].name for name in of} == {
        "figure-1": "depends on a setting",
        "figure-2": "reproduced",
    }


def test_the_page_shows_both(paper, reproduced):
    output, records = reproduced
    text = (output / paper.name / "index.html").read_text()
    assert "<th>at the other setting</th>" in text
    assert page.at_other_setting(records[0]["claims"][0]) in text
    rows = page.setting_rows(paper)
    assert [row[1] for row in rows] == ["5 units (at the other setting: 40 units)", "0.0001 units"]
    words = page.gain(paper)
    assert "the gain is 0.30 with a standard error of 0.20" in words
    assert "The two cannot be distinguished" in words


def test_what_is_unchanged_is_not_judged_again_but_what_lost_its_other_setting_is(paper, reproduced):
    output, records = reproduced
    effort = replace(FULL, runs=2)
    chosen = [(paper, paper["figure-1"])]
    assert make.reproduce(chosen, output, effort, 1, papers=[paper])[0] == records[0]
    changed = replace(paper, inferred=None)
    (again,) = make.reproduce([(changed, changed["figure-1"])], output, effort, 1, papers=[changed])
    assert again["claims"][0]["alternative"] is None
    assert classes.classify(changed, [again])["figure-1"].name == "reproduced"


def test_a_quick_reproduction_is_at_the_papers_setting(paper, tmp_path):
    (record,) = make.reproduce(
        [(paper, paper["figure-1"])], tmp_path, replace(QUICK, runs=2), 1, papers=[paper]
    )
    (claim,) = record["claims"]
    assert (claim["holds"], claim["alternative"]) == (True, None)
    text = (tmp_path / paper.name / "index.html").read_text()
    assert "<th>at the other setting</th>" not in text
    assert "fewer seeds and shorter runs, all at the paper" in text


def trial(scores, possible=True):
    by_artefact = {f"figure-{number}": list(runs) for number, runs in enumerate(scores, 1)}
    return Trial({"buffer": len(by_artefact)}, "test", 2, 200, possible, {}, {}, by_artefact)


def test_a_gain_is_held_out_and_its_error_is_that_over_folds_and_seeds():
    declared = trial([(-1.0, -1.0), (-1.0, -1.0), (-1.0, -1.0), (-1.0, -1.0)])
    # Better by 0.2, 0.4, 0.4 and 0.6: mean 0.4, deviation sqrt(0.08/3), error of the mean of four 0.0816.
    better = trial([(-0.8, -0.8), (-0.6, -0.6), (-0.6, -0.6), (-0.4, -0.4)])
    names = list(declared.by_artefact)
    result = validate([declared, better], names)
    assert [fold.chosen for fold in result.folds] == [1] * 8
    assert result.gain == pytest.approx(0.4)
    assert result.error == pytest.approx((0.08 / 3 / 4) ** 0.5)
    assert (result.accepted, result.alternative) == (True, None)
    assert Validation.read(result.words()) == result
    # The seeds 0.2 and 0.6 apart from 0.4: deviation sqrt(0.08), error of the mean of two 0.2, half of 0.4.
    noisy = trial([(-0.8, -0.4)] * 4)
    result = validate([declared, noisy], names)
    assert result.error == pytest.approx(0.2)
    assert not result.accepted
    assert result.alternative == noisy.setting


def test_what_only_one_artefact_wants_is_chosen_by_no_other():
    declared = trial([(-1.0, -1.0)] * 3)
    # Figure 1 gains 0.9 and the others lose 0.1: they choose the declared setting for figure 1, and figure 1
    # with one of the others chooses this one for the third, which loses.
    wanted = trial([(-0.1, -0.1), (-1.1, -1.1), (-1.1, -1.1)])
    result = validate([declared, wanted], list(declared.by_artefact))
    assert [fold.chosen for fold in result.folds] == [0, 0, 1, 1, 1, 1]
    assert result.gain == pytest.approx(-0.2 / 3)
    assert result.alternative == wanted.setting


def test_a_setting_against_a_condition_is_not_a_finalist():
    declared = trial([(-1.0, -1.0)] * 3)
    result = validate([declared, trial([(0.0, 0.0)] * 3, possible=False)], list(declared.by_artefact))
    assert result.finalists == [declared.setting]
    assert (result.gain, result.best) == (0.0, 0)


@pytest.mark.parametrize(
    ("most", "begins"),
    # Reno fills a droptail buffer: the queue has fewer than 6 packets here, and nearly 40 there.
    [(12, task.AT_THIS_SETTING), (100, "The queue has fewer than 100 packets")],
)
def test_a_finding_that_the_other_setting_does_not_bear_out_says_so(paper, most, begins):
    finding = Finding(
        "bounded",
        "The queue has fewer than {most} packets.",
        lambda numbers: Evidence(numbers.of("one", "queue").value < most, {"most": most}),
    )
    long = replace(
        between("long", "the queue is long", mean("one", "queue"), 50, 100, why="w"), finding=finding
    )
    explained = replace(paper["figure-1"], claims=(long,))
    settings = [replace(FULL, runs=2).at(setting) for setting in (DECLARED, OTHER)]
    here, there = (
        judgement for _, judgement in judge.judge([judge.Assignment.of(explained, each) for each in settings])
    )
    record = task.of_claim(paper, explained, long, here.claims[0][1], here, there)
    assert record["finding"].startswith(begins)
    # A claim that holds at a setting that was tried is not explained for all of them.
    key = "figure-1", "long"
    held = {key: Outcome(True, 1.0)}
    trials = [Trial(OTHER, "design", 3, first, True, {}, held) for first in (0, 3)]
    open_paper = replace(paper, inferred=Chosen(DECLARED, False, {}, lambda: trials))
    elsewhere = task.of_claim(open_paper, explained, long, here.claims[0][1], here)
    assert elsewhere["verdict"] == "depends"
    assert elsewhere["finding"].startswith(task.AT_THIS_SETTING)
