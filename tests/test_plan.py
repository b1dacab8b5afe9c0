"""The number of runs, planned from a pilot."""

import numpy as np
import pytest

from ackclock.decision import Estimate, chance_wrong, difference
from ackclock.draw.figure import Group
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.judge import Assignment, Judgement
from ackclock.reproduction.claims.numbers import FULL, Numbers
from ackclock.reproduction.claims.usual import between, holds, mean
from ackclock.reproduction.claims.values import FunctionValue
from ackclock.reproduction.inference import plan
from ackclock.runs import Case

FIVE = np.array([-2, -1, 0, 1, 2]) / 2.5**0.5
"""Five numbers with a mean of 0 and a standard deviation of 1."""
SCENARIO = {
    "run": {"duration": "1 s"},
    "dumbbell": {"rate": "1 Mbit/s", "delay": "10 ms", "queue": {"kind": "droptail", "limit": "10 packets"}},
    "flow": [{"controller": "reno", "rtt": "20 ms"}],
}
CASES = ("one deviation", "half of it", "both", "not read", "alone")


def above(case, limit):
    return between(f"{case}-{limit:g}".replace(" ", "-"), "s", mean(case, "x"), limit, np.inf, why="w")


CLAIMS = (
    above("one deviation", 2.0),
    above("half of it", 2.5),
    above("both", 2.0),
    above("both", 2.5),
    above("alone", 2.5),
    holds(
        "h",
        "s",
        "p",
        FunctionValue(lambda numbers: ("", bool(numbers.of("not read", "x"))), ["not read"]),
        why="w",
    ),
)


def artefact(claims=CLAIMS):
    return Simulated(
        name="figure-1",
        caption="c",
        about="a",
        cases=lambda effort: {case: Case(SCENARIO, effort.runs) for case in CASES},
        probe=Probe(("x",), lambda _: {"x": 1.0}),
        draw=lambda *_: Group(()),
        claims=claims,
    )


def planned(claims=CLAIMS, packets=2.5e7, make=plan.planned):
    rows = {case: [{"x": 3.0 + x} for x in FIVE] for case in CASES}
    rows["alone"] = rows["alone"][:1]
    numbers = Numbers(rows)
    judged = [(claim, claim.judge(numbers)) for claim in claims]
    rows = make(
        artefact(claims),
        Judgement(
            numbers=numbers,
            claims=judged,
            packets=packets if isinstance(packets, dict) else dict.fromkeys(CASES, packets),
        ),
    )
    return {row.case: row[2:] for row in rows}


def test_a_case_gets_the_runs_of_the_claim_that_needs_most():
    # The mean is 3. Ten runs decide a distance of one deviation, 34 one of half a deviation: the tables of
    # `tests/test_decision.py`. Each half of the runs has as many. A claim without a number needs five, and
    # one run is enough where there is one.
    assert planned() == {
        "one deviation": (20, "one-deviation-2", ""),
        "half of it": (68, "half-of-it-2.5", ""),
        "both": (68, "both-2.5", ""),
        "not read": (5, "", ""),
        "alone": (1, "", ""),
    }


def test_a_difference_is_planned_as_a_mean_is():
    # Two means with an error of the root of 1/5 each: their difference, 0, has the root of 2/5, so the root
    # of 1/2 is half of a deviation of a run away, the root of 2, and needs 34 runs for each half as above.
    # An estimate that has only an interval was taken for one that does not scatter, and got no runs.
    def gap(numbers):
        return difference(numbers.of("one deviation", "x"), numbers.of("half of it", "x"))

    claim = between(
        "gap", "s", FunctionValue(gap, ["one deviation", "half of it"]), -(0.5**0.5), np.inf, why="w"
    )
    assert planned((claim,))["half of it"] == (68, "gap", "")


def test_a_difference_may_be_decided_wrongly():
    # Student's 2.5 % point with 4 degrees of freedom is 2.776, so the interval ends one limit away.
    just = Estimate(1.0, 0.0, 2.0, 5)
    assert chance_wrong(just, 0.0, np.inf) == pytest.approx(0.025)


def test_what_chance_decides_gets_the_most():
    # 3 is the limit: no number of runs tells.
    assert planned((above("both", 3.0),))["both"] == (plan.MOST, "both-3", "most")


def test_an_artefact_costs_no_more_than_it_may():
    # 20, 68, 68, 5 and one run, each of 9e7 packets, would cost 14.6e9. With 37 at most it is
    # (20 + 37 + 37 + 5 + 1) * 9e7 = 9e9.
    runs = {case: row[0] for case, row in planned(packets=9e7).items()}
    assert runs == {"one deviation": 20, "half of it": 37, "both": 37, "not read": 5, "alone": 1}
    assert planned(packets=9e7)["both"] == (37, "both-2.5", "cost")
    assert planned(packets=9e7)["one deviation"][2] == ""
    # Cheap cases are not cut: three runs of the costly case leave 3.6e9 for the others, which need less.
    dear = dict.fromkeys(CASES, 1e6) | {"both": 1.8e9}
    assert {case: row[0] for case, row in planned(packets=dear).items()} == {
        "one deviation": 25,
        "half of it": 68,
        "both": 4,
        "not read": 25,
        "alone": 1,
    }
    # Five runs of four cases at 1.8e9 cost more than 9e9: three must do.
    assert set(planned(packets=1.8e9).values()) >= {(3, "", ""), (3, "both-2.5", "cost")}


def test_cheap_cases_get_more_runs():
    # Of 4e6 packets five more cost 2e7, and of 1e5 more than 25 do not.
    assert planned(packets=4e6)["not read"] == (10, "", "")
    assert planned(packets=1e5)["not read"] == (30, "", "")
    assert planned(packets=1e5)["alone"] == (1, "", "")


def test_a_quick_reproduction_gets_what_is_cheap():
    def quick(packets, claims=CLAIMS):
        return planned(claims, packets, plan.planned_quick)

    # Three runs of each case, and up to 1e7 packets more for a claim. At 1.4e6 packets a run, ten runs add
    # 7 * 1.4e6 = 9.8e6, and 34 runs 31 * 1.4e6 = 43.4e6. After ten of "both", 34 would still add 33.6e6.
    assert quick(1.4e6) == {
        "one deviation": (10, "one-deviation-2", ""),
        "half of it": (3, "", "cost"),
        "both": (10, "both-2", "cost"),
        "not read": (3, "", ""),
        "alone": (1, "", ""),
    }
    # At 1.5e6, ten would add 1.05e7.
    assert quick(1.5e6)["one deviation"] == (3, "", "cost")
    # A claim that only chance decides gets no more runs.
    assert quick(1.4e6, (above("both", 3.0),))["both"] == (3, "", "most")
    # Twelve runs add 9 * 3e4 = 2.7e5 packets, less than 3e5; at 1e5 only three more are as cheap.
    assert quick(3e4)["not read"] == (12, "", "")
    assert quick(1e5)["not read"] == (6, "", "")
    # 5/3 of ten runs are 17. Beyond the four that are cheap at 3e5 they add 13 * 3e5 = 3.9e6, less than 5e6;
    # beyond three at 4e5 they add 14 * 4e5 = 5.6e6.
    assert quick(3e5)["one deviation"] == (17, "one-deviation-2", "")
    assert quick(4e5)["one deviation"] == (10, "one-deviation-2", "")


def test_a_plan_is_kept_and_taken(tmp_path):
    rows = [plan.Planned("figure-2", "a", 7, "claim, of two", "most"), plan.Planned("figure-1", "both", 12)]
    file = tmp_path / "runs.csv"
    plan.write(file, rows)
    assert plan.read(file) == rows
    assert plan.read(tmp_path / "none.csv") == []
    now = [plan.Planned("figure-2", "b", 5)]
    assert plan.merge(rows, now) == [rows[1], now[0]]
    jobs = Assignment.of(artefact(), FULL, {"both": 12}).jobs
    assert {case: len(of_case) for case, of_case in jobs.items()} == dict.fromkeys(CASES, 5) | {"both": 12}


def test_the_pilot_has_runs_that_no_verdict_uses():
    pilots = (plan.PILOT, plan.QUICK_PILOT)
    pilot = {
        job.run
        for effort in pilots
        for jobs in Assignment.of(artefact(), effort).jobs.values()
        for job in jobs
    }
    every = Assignment.of(artefact(), FULL, dict.fromkeys(CASES, plan.MOST)).jobs
    judged = {job.run for jobs in every.values() for job in jobs}
    assert len(pilot) == 5
    assert not pilot & judged
