"""Runs until a comparison is decided: the same answer however it is reached, its reasons, and its errors."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock import comparison
from ackclock.comparison import conclusion, options, work
from ackclock.comparison.answers import StopReason
from ackclock.comparison.questions import BY_KEY, FIRST_SCREEN, LOOKED_AT
from ackclock.decision import LOOKS, Place, is_decided, is_hopeless, next_look, spent, with_the_best
from ackclock.decision.margins import GOODPUT
from ackclock.runs import Job, each
from conftest import Finished
from test_decided import at_most, decided

SMALL: dict[str, Any] = {"rate": "2mbit", "rtt": "20ms", "loss": "1%", "duration": "5s"}


def _small(**more: Any) -> comparison.Comparison:
    return ackclock.compare("reno", "constant", **SMALL | more)


def _runs(compared: comparison.Comparison) -> dict[str, int]:
    return {key: len(values["reno"]) for key, values in compared.values.items()}


@pytest.fixture(scope="module")
def whole() -> comparison.Comparison:
    return _small()


def test_all_looks_together_spend_the_error_once() -> None:
    looks = [look := 3]
    while (look := next_look(look) or 0) > 0:
        looks.append(look)
    assert looks == list(LOOKS)
    # Bonferroni: 5 % of the shares is what all looks may err; half of it by the fifth run.
    assert sum(spent(runs) for runs in looks) == pytest.approx(1)
    assert spent(3) + spent(5) == pytest.approx(0.5)


def test_a_question_is_hopeless_where_the_last_look_would_decide_in_less_than_a_quarter() -> None:
    # Were the mean just at the margin, no number of runs would decide; the last look is after 50. By
    # `chance_decided` the mean must move by 2 / sqrt(50) = 0.283 spreads. After five runs it moves by
    # sqrt(1/5 - 1/50) = 0.424, which is enough with a probability of 0.252; after nine by 0.302: 0.174.
    at_margin = [Place("best"), Place("undecided", 10**9)]
    assert not is_hopeless(at_margin, 5)
    assert is_hopeless(at_margin, 9)
    # One that ten runs would decide, next to it.
    assert not is_hopeless([*at_margin, Place("undecided", 10)], 9)
    assert is_hopeless([*at_margin, Place("undecided", 51)], 50)


def test_controls_that_are_close_end_a_question_from_five_runs_on() -> None:
    close = [Place("best"), Place("close", 14), Place("behind")]
    assert not is_decided(close, 3)
    assert not is_hopeless(close, 3)
    assert is_decided(close, 5)
    assert not is_decided([*close, Place("undecided", 6)], 5)


def test_only_the_scenarios_of_open_questions_get_further_runs(whole: comparison.Comparison) -> None:
    runs = _runs(whole)
    assert set(whole.stops) == set(FIRST_SCREEN)
    # Each number is one of the looks, and the questions of a scenario have the same.
    for key, question in BY_KEY.items():
        of_scenario = {runs[other] for other in BY_KEY if BY_KEY[other].scenario == question.scenario}
        assert of_scenario == {runs[key]} <= set(LOOKS)
        if question.scenario not in LOOKED_AT:
            assert runs[key] == 3
    assert runs["goodput"] > runs["stolen_reno"]


def test_its_runs_are_the_first_of_a_fixed_number(whole: comparison.Comparison) -> None:
    fixed = _small(runs=3)
    assert fixed.stops == {}
    for key, values in fixed.values.items():
        for control, numbers in values.items():
            assert whole.values[key][control][:3] == numbers
    assert set(fixed.table["stop"]) == {"given"}


def test_the_answer_does_not_depend_on_cores_or_on_what_is_kept(
    whole: comparison.Comparison, tmp_path: Path
) -> None:
    # An interruption leaves some runs, here those that a budget of nothing allows.
    first = _small(cache=tmp_path, budget=1, jobs=1)
    assert set(_runs(first).values()) == {3}
    kept = len(list(tmp_path.rglob("summary.json")))
    again = _small(cache=tmp_path, jobs=2)
    assert again.values == whole.values
    assert again.stops == whole.stops
    assert conclusion.sentences(again) == conclusion.sentences(whole)
    assert len(list(tmp_path.rglob("summary.json"))) > kept


def test_the_budget_ends_the_runs_and_says_so() -> None:
    # Three runs are more packets than the budget, and are made.
    ended = _small(budget=1, duration="2s")
    assert set(_runs(ended).values()) == {3}
    assert "budget" in ended.stops.values()
    assert "open at the end of the budget (--budget)" in conclusion.basis(ended)
    # Runs of 2 s are too short for recoveries.
    assert set(ended.table["stop"]) == {"budget", "decided", "hopeless", "first group"}


@pytest.mark.parametrize("budget", [8e4, 1.2e5, 2e5, 4e5])
def test_no_budget_is_exceeded_by_more_than_the_first_group(
    budget: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    packets: list[int] = []

    def counted(jobs: list[Job], function: Callable[..., None], **keys: Any) -> Any:
        def with_packets(job: Job, run: ackclock.Run) -> None:
            packets.append(run.summary["packets_simulated"])
            function(job, run)

        return each(jobs, with_packets, **keys)

    monkeypatch.setattr(work, "each", counted)
    ended = _small(budget=budget)
    # Packets of further runs are those of the runs so far, on average: they scatter by less than a tenth.
    assert sum(packets) <= 1.1 * max(budget, 3 * ended.packets)


@pytest.mark.parametrize(("needed", "reason"), [(8, "last look"), (10**9, "last look"), (None, "decided")])
def test_a_question_that_the_last_look_leaves_open_is_not_hopeless(
    whole: comparison.Comparison, monkeypatch: pytest.MonkeyPatch, needed: int | None, reason: str
) -> None:
    standing = "best" if needed is None else "undecided"
    ranked = SimpleNamespace(places=[Place("best"), Place(standing, needed)])
    monkeypatch.setattr(work, "rank", lambda *_: ranked)
    assert set(work._stops(whole, "alone", 50).values()) == {reason}
    ended = replace(whole, stops=dict.fromkeys(whole.stops, "last look"))
    assert "open after the last look" in conclusion.basis(ended)
    assert "hopeless" not in conclusion.basis(ended)


@pytest.mark.parametrize(("reason", "says_more"), [("hopeless", False), ("budget", True)])
def test_a_hopeless_question_promises_no_number_of_runs(
    whole: comparison.Comparison, monkeypatch: pytest.MonkeyPatch, reason: StopReason, says_more: bool
) -> None:
    ranked = SimpleNamespace(fewest=11)
    monkeypatch.setattr(conclusion, "rank", lambda *_: ranked)
    ended = replace(whole, stops=dict.fromkeys(whole.stops, reason))
    (words,) = conclusion._reasons(ended)
    assert ("11 more runs" in words) == says_more


def test_a_grid_and_a_single_control_have_five_runs() -> None:
    alone = ackclock.compare("reno", **SMALL)
    assert (set(_runs(alone).values()), alone.stops) == ({5}, {})
    cells = options.grid_of_options(["droptail", "codel"], [], None, None, "2s", rate="2mbit", rtt="20ms")
    grid = comparison.compare_grid(cells, ["reno", "constant"])
    assert {number for each in grid.cells.values() for number in _runs(each).values()} == {5}


def test_json_and_page_say_why_the_runs_ended(ackclock_here: Callable[..., Finished], tmp_path: Path) -> None:
    path = ["--rate", "2mbit", "--rtt", "20ms", "--loss", "1%", "--duration", "4s"]
    done = ackclock_here("compare", *path, "reno", "constant", "--json", "-o", "out")
    stops = {row["question"]: (row["runs"], row["stop"]) for row in json.loads(done.stdout)}
    assert stops["stolen_reno"] == (5, "decided")
    assert stops["itself"] == (3, "first group")
    assert (
        "what Reno loses are decided and recovery is hopeless"
        in (tmp_path / "out" / "index.html").read_text()
    )
    both = ackclock_here("compare", *path, "reno", "constant", "--runs", "3", "--budget", "1e6")
    assert (both.returncode, len(both.stderr.splitlines())) == (2, 1)
    dry = ackclock_here("compare", *path, "reno", "constant", "--dry-run", "--json", "-o", "other")
    # Six scenarios of two controls, of which two are Reno next to Reno, and CUBIC next to CUBIC: twelve.
    cost = json.loads(dry.stdout)
    assert cost["runs"] == 36
    assert cost["most_s"] >= cost["estimated_s"]


@pytest.mark.parametrize("name", list(decided.DRAWN))
def test_over_all_looks_nobody_is_behind_by_chance(name: str) -> None:
    # A fifth of 5 % for each question of the first screen. Tests of 5 % at each of the seven looks would err
    # more often; the scatter is as large as in `test_decided.py`, and smaller, where more looks are made.
    for controls, cov in ((2, 0.1), (6, 0.2)):
        wrong = decided.looks_at_equals(name, controls, cov, 60)
        assert wrong <= at_most(0.05 / len(FIRST_SCREEN), 60)


def test_over_all_looks_a_control_that_collapses_is_not_alike_by_chance() -> None:
    # It ends as close where five runs had no collapse, 0.8^5 = 0.33, and is alike only after fourteen.
    alike, close = decided.looks_at_collapsing(300)
    assert alike <= at_most(0.05, 300)
    assert close <= 0.8**5 + 0.09


def test_at_the_margin_no_look_errs_beyond_the_error_of_all() -> None:
    # A tenth below the other, so exactly at the margin: whatever a look says is by chance, even if the runs
    # went on after it. Behind has 2.5 % on its side, within 5 %; without shares of the error they are 12 and
    # 14 %.
    random = np.random.default_rng(83)
    behind = within = 0
    for _ in range(200):
        one, other = random.normal(10, 1, (2, max(LOOKS)))
        looks = [
            with_the_best({"a": one[:runs], "b": other[:runs] / 1.1}, GOODPUT, 1, spent(runs))["b"].standing
            for runs in LOOKS
        ]
        behind += "behind" in looks
        within += bool({"close", "alike"} & set(looks))
    assert behind / 200 <= at_most(0.025, 200)
    assert within / 200 <= at_most(0.05, 200)


def test_what_five_runs_left_open_is_decided() -> None:
    # 30 % less at a CoV of 0.1: five runs find it in 71 % of the cases.
    behind, _, runs = decided.looks_at_less(2, 0.3, 0.1, 100)
    assert behind >= 0.95
    assert runs < 10
    # 50 % less costs no more than five runs in the mean.
    behind, _, runs = decided.looks_at_less(2, 0.5, 0.1, 100)
    assert behind == 1
    assert runs <= 5
