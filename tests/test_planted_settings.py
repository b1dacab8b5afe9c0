"""The search finds planted settings: eight items of two values, of which three act or none, and a table's.

No packet is simulated: what an artefact measures is a function of the setting and of seeded noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ackclock.draw.figure import Table
from ackclock.engine import integrity
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.judge import Judgement
from ackclock.reproduction.claims.losses import SEEDS, Condition
from ackclock.reproduction.claims.numbers import Numbers
from ackclock.reproduction.claims.records import CONDITIONS
from ackclock.reproduction.claims.usual import mean, near
from ackclock.reproduction.inference import infer
from ackclock.reproduction.library import chosen_of
from ackclock.reproduction.paper import Chosen, Inference, Paper
from ackclock.reproduction.shown import words
from ackclock.reproduction.trials import tried
from ackclock.reproduction.trials.settings import Item

ITEMS = "abcdefgh"
LOSSES = Condition("We avoid phase effects.", "section 2")
ARTEFACTS = 12
NOISE = 0.5
"""Deviation of a number in one run, in units of the tolerance of its claim."""
ACTING = {"b": 1, "d": 1, "g": 1}
"""Items that act, and the value at which the artefacts have the numbers of their paper. Declared is 0."""
SHIFT = 1.5
"""How far a wrong value of an acting item moves a number, in tolerances."""


@dataclass(frozen=True)
class _Case:
    """What takes the place of a scenario."""

    setting: tuple[tuple[str, object], ...]

    def jobs(self, _first_run):
        return []


def _artefact(number):
    # Every artefact asks for two acting items and three others, as most of a paper's do.
    names = [list(ACTING)[(number + step) % 3] for step in (0, 1)] + [
        [name for name in ITEMS if name not in ACTING][(number + step) % 5] for step in (0, 2, 3)
    ]
    return Simulated(
        name=f"figure-{number}",
        caption="what",
        about="About.",
        draw=lambda _numbers, _traces: Table(["a"], [["b"]]),
        probe=Probe(("x",), lambda _run: {}),
        cases=lambda effort: {"one": _Case(tuple((name, effort.setting[name]) for name in names))},
        claims=(near("x", "x is 0", mean("one", "x"), 0, within=1, why="ours"),),
    )


def _conditions():
    return Simulated(
        name=CONDITIONS,
        caption="what",
        about="About.",
        draw=lambda _numbers, _traces: Table(["a"], [["b"]]),
        probe=Probe((), lambda _run: {}),
        cases=lambda effort: {"one": _Case((("a", effort.setting["a"]),))},
        claims=(LOSSES.claim(["one"]),),
    )


def _paper():
    values = [{"value": value, "basis": "open", "evidence": "ours"} for value in (0, 1)]
    items = [Item.read({"name": name, "quantity": name, "choice": "{}", "values": values}) for name in ITEMS]
    artefacts = [_artefact(number) for number in range(1, ARTEFACTS + 1)]
    return Paper("planted", "Planted", items, artefacts, inference=Inference())


def _judge(seed, acting, drops):
    """Return a replacement for the judge of runs.

    `drops` are those of the slower of two flows, of 100 in each run, by the value of the item a.
    """

    def judged(asked, *_):
        for index, request in enumerate(asked):
            setting = dict(request.artefact.cases(request.effort)["one"].setting)
            if request.artefact.name == CONDITIONS:
                # Half of the packets are its own, and the drops of two runs in turn differ by one.
                own = [drops[setting["a"]] + run % 2 for run in range(SEEDS)]
                runs = [{"slow": (some, 500, True), "fast": (100 - some, 500, True)} for some in own]
                numbers = Numbers({"one": [{}] * SEEDS}, losses={"one": runs})
                (claim,) = request.artefact.claims
                yield index, Judgement(numbers, claims=[(claim, claim.judge(numbers))])
                continue
            wrong = sum(name in setting and setting[name] != value for name, value in acting.items())
            number = int(request.artefact.name.removeprefix("figure-"))
            rows = []
            for run in range(request.effort.first_run, request.effort.first_run + request.effort.runs):
                # The noise of a scenario with a seed: other settings are other draws.
                key = [seed, number, run, *setting.values()]
                rows.append({"x": SHIFT * wrong + np.random.default_rng(key).normal(0, NOISE)})
            numbers = Numbers({"one": rows})
            claims = [(claim, claim.judge(numbers)) for claim in request.artefact.claims]
            yield index, Judgement(numbers, claims=claims)

    return judged


def _inferred(monkeypatch, seed, acting, drops=()):
    monkeypatch.setattr("ackclock.reproduction.inference.search.judge", _judge(seed, acting, drops))
    return infer.infer(replace(_paper(), conditions=_conditions()) if drops else _paper())


def _said(result):
    """Return the sentences of the page about losses."""
    inferred = Chosen(result.setting, result.accepted, {}, lambda: result.trials, result.alternative)
    return words.losses(replace(_paper(), losses=LOSSES, inferred=inferred))


def test_three_acting_items_of_eight_are_recovered(monkeypatch):
    recovered = 0
    for seed in range(10):
        result = _inferred(monkeypatch, seed, ACTING)
        recovered += result.accepted and all(result.setting[name] == ACTING[name] for name in ACTING)
    assert recovered >= 9


def test_where_nothing_acts_the_declared_setting_stays(monkeypatch):
    accepted = [seed for seed in range(100, 120) if _inferred(monkeypatch, seed, {}).accepted]
    assert len(accepted) <= 1


ROWS = 12
"""Rows of the table: a number and a claim each."""


def _with_table():
    """Return the paper with a table of its own, which alone depends on the ninth item."""
    values = [{"value": value, "basis": "open", "evidence": "ours"} for value in (0, 1, 2)]
    own = Item.read({"name": "i", "quantity": "the i", "choice": "{} units", "values": values})
    rows = [f"row-{number}" for number in range(ROWS)]
    table = replace(
        _artefact(0),
        name="table-1",
        probe=Probe(rows, lambda _run: {}),
        cases=lambda effort: {"one": _Case((("i", effort.setting["i"]),))},
        claims=tuple(
            near(row, f"{row} is 0", mean("one", row), 0, within=1, absolute=True, why="ours") for row in rows
        ),
    )
    paper = _paper()
    return replace(paper, items=[*paper.items, own], artefacts=[*paper.artefacts, table])


def _judge_table(seed, right):
    """Return a judge by whom the table's rows are right at one value of its item, or at none better."""
    of_figures = _judge(seed, {}, ())

    def judged(asked, *rest):
        for index, request in enumerate(asked):
            if request.artefact.name != "table-1":
                ((_, judgement),) = of_figures([request], *rest)
                yield index, judgement
                continue
            ((_, value),) = request.artefact.cases(request.effort)["one"].setting
            off = SHIFT * (right is not None and value != right)
            first = request.effort.first_run
            rows = [
                {
                    claim.name: off + np.random.default_rng([seed, row, run, value]).normal(0, NOISE)
                    for row, claim in enumerate(request.artefact.claims)
                }
                for run in range(first, first + request.effort.runs)
            ]
            numbers = Numbers({"one": rows})
            yield index, Judgement(numbers, claims=[(c, c.judge(numbers)) for c in request.artefact.claims])

    return judged


def _inferred_table(monkeypatch, seed, right):
    monkeypatch.setattr("ackclock.reproduction.inference.search.judge", _judge_table(seed, right))
    return infer.infer(_with_table(), settings=4)


def test_an_item_that_only_a_table_has_is_chosen_by_leaving_out_rows(monkeypatch):
    """Whole artefacts cannot choose it, whose only witness would be left out; twelve rows can."""
    for seed in range(3):
        result = _inferred_table(monkeypatch, seed, 2)
        assert result.setting["i"] == 2
        assert list(result.own) == ["i"]
        assert {fold.name for fold in result.own["i"].folds} != {"table-1"}
        assert len(result.own["i"].folds) == 10 * 3
        assert result.alternative is None or result.alternative["i"] == 2
    chosen = Chosen(
        result.setting, result.accepted, {}, lambda: result.trials, None, result.validation, result.own
    )
    said = words.gain(replace(_with_table(), inferred=chosen))
    assert "Of the i, which one artefact has, 2 units is chosen: cross-validated over its claims" in said


def test_rows_that_do_not_decide_choose_nothing(monkeypatch):
    moved = [seed for seed in range(20) if _inferred_table(monkeypatch, seed, None).setting["i"] != 0]
    assert len(moved) <= 1


def test_what_chose_an_item_of_a_table_is_kept(monkeypatch, tmp_path):
    result = _inferred_table(monkeypatch, 0, 2)
    infer.keep(result, tmp_path)
    integrity.seal_directory(tmp_path)
    kept = chosen_of(tmp_path, _with_table().items)
    assert kept is not None
    assert kept.own == result.own
    assert kept.setting["i"] == 2


def test_where_losses_follow_growth_the_declared_setting_is_impossible(monkeypatch):
    # 10 or 11 of 100 drops with half of the packets: 0.21. With 40 or 41 it is 0.81.
    result = _inferred(monkeypatch, 1, {}, drops=(10, 40))
    assert result.setting == dict.fromkeys(ITEMS, 0) | {"a": 1}
    assert not result.accepted
    assert {trial.setting["a"] for trial in result.trials if not trial.possible} == {0}
    assert all(setting["a"] == 1 for setting in result.validation.finalists)
    said = _said(result)
    assert "“We avoid phase effects.” (section 2)" in said
    assert said.endswith("The declared setting is among them; another, which is possible, stands in for it.")


def test_the_least_violating_setting_is_kept_where_all_are_impossible(monkeypatch, tmp_path):
    # 10.5 and 15.5 of 100 drops for half of the packets: 50 over these is 4.762 and 3.226.
    result = _inferred(monkeypatch, 2, ACTING, drops=(10, 15))
    assert not any(trial.possible for trial in result.trials)
    assert (ACTING | {"a": 1}).items() <= result.setting.items()
    assert result.accepted
    # The tables have it, too.
    tried.write(tmp_path, result.trials)
    integrity.seal_directory(tmp_path)
    departures = {
        (trial.setting["a"], trial.scores[tried.LOSSES], trial.possible) for trial in tried.read(tmp_path)
    }
    assert departures == {(0, 4.762, False), (1, 3.226, False)}
    assert _said(result).endswith(
        "Every declared value is among them, so the least violating one is kept, at which the shares differ "
        "by a factor of 3.23."
    )


def test_nothing_is_said_of_losses_before_they_are_measured(monkeypatch):
    result = _inferred(monkeypatch, 3, {})
    assert result.setting == dict.fromkeys(ITEMS, 0)
    assert _said(result) == ""
