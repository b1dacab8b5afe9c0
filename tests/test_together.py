"""Several items changed together before "not found", with planted papers: what is measured is a function."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from ackclock.draw.figure import Table
from ackclock.reproduction import task
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.judge import Judgement
from ackclock.reproduction.claims.numbers import Numbers
from ackclock.reproduction.claims.usual import mean, near
from ackclock.reproduction.inference import readings, together
from ackclock.reproduction.inference.search import Search
from ackclock.reproduction.main_claims import MainClaim
from ackclock.reproduction.paper import Chosen, Inference, Paper
from ackclock.reproduction.shown import page
from ackclock.reproduction.trials import cells as matrix
from ackclock.reproduction.trials import tried
from ackclock.reproduction.trials.cells import SEVERAL
from ackclock.reproduction.trials.settings import Item

NOISE = 0.1
"""Deviation of a number in one run; a claim holds within 1 of 0, and what is wrong has 5."""
WRONG = 5.0


@dataclass(frozen=True)
class _Case:
    """What takes the place of a scenario: the values of the items that an artefact depends on."""

    setting: tuple[tuple[str, object], ...]

    def jobs(self, _first_run):
        return []


def item(name, count=2, basis="open"):
    values = [{"value": value, "basis": basis, "evidence": "ours"} for value in range(count)]
    return Item.read({"name": name, "quantity": f"the {name}", "choice": "{} units", "values": values})


def figure(number, names):
    def cases(effort):
        return {"one": _Case(tuple((name, effort.setting[name]) for name in names))}

    return Simulated(
        name=f"figure-{number}",
        caption="what",
        about="About.",
        draw=lambda _numbers, _traces: Table(["a"], [["b"]]),
        probe=Probe(("x",), lambda _run: {}),
        cases=cases,
        claims=(
            near("small", f"x of {number} is 0", mean("one", "x"), 0, within=1, absolute=True, why="ours"),
        ),
    )


def paper_of(items, *figures):
    return Paper("planted", "Planted", items, figures, inference=Inference())


@pytest.fixture
def judged(monkeypatch):
    """Return a function that judges a paper's readings where laws say what each figure measures."""

    def readings_of(paper, laws, known=()):
        def judge(asked, *_):
            for index, request in enumerate(asked):
                setting = dict(request.artefact.cases(request.effort)["one"].setting)
                number = laws[request.artefact.name](setting)
                first = request.effort.first_run
                rows = [
                    {"x": number + np.random.default_rng([run, *setting.values()]).normal(0, NOISE)}
                    for run in range(first, first + request.effort.runs)
                ]
                numbers = Numbers({"one": rows}, bounds={"x": (-np.inf, np.inf)})
                claims = [(claim, claim.judge(numbers)) for claim in request.artefact.claims]
                yield index, Judgement(numbers, claims=claims)

        monkeypatch.setattr("ackclock.reproduction.inference.search.judge", judge)
        search = Search(paper, None, 1, lambda _: None)
        return search, readings.judged(search, paper.artefacts, known=known)

    return readings_of


def verdict(paper, cells, name="figure-1"):
    """Return the verdict on a claim that fails at the setting of a paper that has these readings."""
    known = replace(paper, matrix=lambda: cells)
    artefact = known[name]
    return task.verdict_of(
        known, artefact, artefact.claims[0], holds=False, undecided=False, contradicted=False
    )


def both_of_two(setting):
    """Return what holds if two items have other values, of which each alone changes nothing."""
    return 0.0 if setting["b"] == 1 and setting["d"] == 2 else WRONG


def test_what_two_items_give_only_together_is_found(judged):
    paper = paper_of([item(name, 3) for name in "abcd"], figure(1, "abcd"))
    _, cells = judged(paper, {"figure-1": both_of_two})
    alone = [cell for cell in cells if cell.item != SEVERAL and cell.claim]
    assert {cell.word for cell in alone} == {"no"}
    holding = [cell for cell in cells if cell.word == "yes" and cell.item == SEVERAL]
    assert {(cell.value["b"], cell.value["d"]) for cell in holding} == {(1, 2)}
    assert verdict(paper, cells).kind == "depends"
    # The readings without what was changed together: nothing is found, and so nothing is said of it.
    assert verdict(paper, alone).kind == "differs"
    text = "\n".join(readings.tables(paper, cells))
    assert "the b: 1 units; the d: 2 units" in text


def test_what_no_two_items_give_is_not_found(judged):
    paper = paper_of([item(name, 3) for name in "abcd"], figure(1, "abcd"))
    _, cells = judged(paper, {"figure-1": lambda _: WRONG})
    assert verdict(paper, cells).kind == "not found"
    assert {cell.word for cell in cells if cell.claim} == {"no"}


def test_three_items_of_which_one_moves_the_number_are_found(judged):
    """One item brings it nearer, and only then two others together bring it home: 9, 5 and 0."""

    def law(setting):
        near_it = setting["e"] == 1
        return 0.0 if near_it and setting["b"] == setting["d"] == 1 else WRONG if near_it else 9.0

    paper = paper_of([item(name) for name in "abcde"], figure(1, "abcde"))
    _, cells = judged(paper, {"figure-1": law})
    holding = [cell.value for cell in cells if cell.word == "yes" and cell.item == SEVERAL]
    assert holding == [{"b": 1, "d": 1, "e": 1}]


def test_the_item_that_moves_a_number_most_is_not_in_every_pair(judged):
    """The a moves it far, b and d a little, and the others not at all: b and d together bring it home."""

    def law(setting):
        little = 0.2 * (setting["b"] + setting["d"])
        return 0.0 if setting["b"] == setting["d"] == 3 else 9.0 - 2 * setting["a"] + little

    paper = paper_of([item(name, 4) for name in "cefabd"], figure(1, "abcdef"))
    _, cells = judged(paper, {"figure-1": law})
    holding = [cell.value for cell in cells if cell.word == "yes" and cell.item == SEVERAL]
    assert {(value["b"], value["d"]) for value in holding} == {(3, 3)}


def test_a_trial_of_an_earlier_search_is_where_it_begins(judged):
    """Four items must be right; an earlier trial has two of them, and is nearer than the chosen setting."""

    def law(setting):
        right = sum(setting[name] for name in "abcd")
        return 0.0 if right == 4 else WRONG - (right == 2 and setting["a"] == setting["b"] == 1)

    paper = paper_of([item(name) for name in "abcd"], figure(1, "abcd"))
    earlier = {"a": 1, "b": 1, "c": 0, "d": 0}
    outcomes = {("figure-1", "small"): tried.Outcome(False, 4.0)}
    known = [tried.Trial(earlier, tried.DESIGN, 1, 0, outcomes=outcomes)]
    _, cells = judged(paper, {"figure-1": law}, known)
    assert {cell.word for cell in cells if cell.value == dict.fromkeys("abcd", 1)} == {"yes"}


def test_what_a_claim_does_not_need_is_taken_back(judged):
    """The earlier trial from which it begins has the e changed, too, which does nothing."""
    paper = paper_of([item(name, 3) for name in "abcde"], figure(1, "abcde"))
    earlier = {"a": 0, "b": 1, "c": 0, "d": 0, "e": 2}
    outcomes = {("figure-1", "small"): tried.Outcome(False, 4.0)}
    known = [tried.Trial(earlier, tried.DESIGN, 1, 0, outcomes=outcomes)]
    _, cells = judged(paper, {"figure-1": both_of_two}, known)
    assert {"b": 1, "d": 2} in [cell.value for cell in cells if cell.word == "yes"]


def test_few_settings_are_tried_together(judged):
    """Eight items of four values have 24 settings that differ in one and 252 that differ in two."""
    paper = paper_of([item(name, 4) for name in "abcdefgh"], figure(1, "abcdefgh"))
    search, _ = judged(paper, {"figure-1": lambda _: WRONG})
    tries = [trial for trial in search.trials if trial.stage == tried.SEARCHED]
    # The best trial, one value of each item, and one or two others of the items that move the number most.
    assert len(tries) == 1 + 8 + together.PAIRED <= together.ALONE + together.PAIRED == 46


def test_nothing_is_tried_together_where_all_holds_or_the_paper_states_the_rest(judged):
    paper = paper_of([item("a"), item("b")], figure(1, "ab"))
    search, _ = judged(paper, {"figure-1": lambda _: 0.0})
    assert all(trial.stage != tried.SEARCHED for trial in search.trials)
    # It holds with one other value.
    search, cells = judged(paper, {"figure-1": lambda setting: WRONG * setting["a"]})
    assert all(trial.stage != tried.SEARCHED for trial in search.trials)
    stated = paper_of([item("a"), item("b", basis="stated")], figure(1, "ab"))
    search, cells = judged(stated, {"figure-1": lambda _: WRONG})
    assert all(trial.stage != tried.SEARCHED for trial in search.trials)
    assert verdict(stated, cells).kind == "not found"


def test_what_gives_one_figure_and_breaks_another_is_said(judged):
    """Figure 1 needs both items and figure 2 has one of them as it was chosen: no reading gives both."""
    paper = paper_of([item("b", 3), item("d", 3), item("e")], figure(1, "bd"), figure(2, "b"), figure(3, "d"))
    laws = {
        "figure-1": both_of_two,
        "figure-2": lambda setting: WRONG * setting["b"],
        "figure-3": lambda _: 0.0,
    }
    _, cells = judged(paper, laws)
    ((given, broken),) = matrix.apart(cells)
    assert (given.artefact, broken.artefact) == ("figure-1", "figure-2")
    assert given.value == broken.value == {"b": 1, "d": 2}
    (sentence,) = [line for line in readings.tables(paper, cells) if line.startswith("- ")]
    assert sentence == (
        "- No reading gives Figure 1's *x of 1 is 0* and Figure 2's *x of 2 is 0* together: "
        "with the b: 1 units; the d: 2 units only the first holds."
    )
    pairs = page.never_together(replace(paper, matrix=lambda: cells))
    assert pairs == [(("figure-1", "small"), ("figure-2", "small"))]
    # Where the other figure does not mind there is nothing to say.
    _, cells = judged(paper, laws | {"figure-2": lambda _: 0.0})
    assert matrix.apart(cells) == []


def test_the_main_claim_is_pursued_where_it_is_among_those_that_fail():
    own = figure(1, "bd")
    claims = [replace(own.claims[0], name=name) for name in ("large", "small-1", "small-2")]
    main = MainClaim("words", "abstract", "simulation", "It is small.", ("small-*", "figure-2/large"))
    paper = replace(
        paper_of([item("b"), item("d")], replace(own, claims=claims)), main_claims={"figure-1": main}
    )
    pursued = together._main_claims(paper, paper["figure-1"])
    assert [claim.name for claim in pursued] == ["small-1", "small-2"]


def test_what_was_changed_together_is_kept(judged, tmp_path):
    paper = paper_of([item(name, 3) for name in "abcd"], figure(1, "abcd"))
    _, cells = judged(paper, {"figure-1": both_of_two})
    file = tmp_path / tried.READINGS
    matrix.write(file, cells)
    assert [cell[:8] for cell in matrix.read(file)] == [cell[:8] for cell in matrix.merge([], cells)]
    trials = matrix.trials({}, matrix.read(file))
    searched = [trial for trial in trials if trial.stage == tried.SEARCHED]
    assert {dict(trial.setting)["d"] for trial in searched} == {0, 1, 2}
    # What a search keeps of them does not say what is undecided, and does not count twice.
    kept = tried.Trial(dict.fromkeys("abcd", 1), tried.SEARCHED, 3, 0)
    chosen = Chosen(dict.fromkeys("abcd", 0), False, {}, lambda: [kept])
    assert kept not in replace(paper, inferred=chosen, matrix=lambda: cells).trials


def test_the_documentation_says_how_many_settings_a_search_tries():
    text = (Path(__file__).parents[1] / "docs" / "inference.md").read_text("utf-8")
    assert f"at {together.ALONE + together.PAIRED} settings at most" in text
