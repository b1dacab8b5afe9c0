"""The figures of the Illinois paper: simulation against theory, and verdicts that can fail."""

import json
from dataclasses import replace

import pytest

from ackclock import api, reproduction, sweep
from ackclock.papers.illinois import PAPER, figure_8, figure_9, figure_10, measure
from ackclock.papers.illinois.setting import flow, scenario
from ackclock.sweep import Case


def simulate(cases):
    return dict(zip(cases, sweep.run_all(list(cases.values())), strict=True))


@pytest.fixture(scope="module")
def figure_8_runs():
    return simulate(figure_8.CASES)


@pytest.fixture(scope="module")
def figure_8_numbers(figure_8_runs):
    rows = figure_8.numbers(figure_8_runs).iter_rows(named=True)
    return {row["case"]: row for row in rows}


# Worked out from the formulas of the paper: W from (1 - beta) 1350 to 1350, BDP 1250. They take
# packets to be evenly spread, which matters where the link is not full and alpha follows the delay:
# Illinois with beta 1/2 is paced for them.
@pytest.mark.parametrize(
    ("case", "round_trips", "used_share"),
    [
        ("Reno", 675, 0.805),
        ("Illinois, β = 0.5, paced", 556, 0.977),
        ("Illinois, β = 0.125", 503, 0.9996),
    ],
)
def test_cycles_of_one_flow(figure_8_numbers, case, round_trips, used_share):
    row = figure_8_numbers[case]
    assert row["epochs"] >= 10
    assert row["epoch_round_trips"] == pytest.approx(round_trips, rel=0.03)
    assert row["used_share"] == pytest.approx(used_share, rel=0.03)


def test_cycle_with_packets_in_trains(figure_8_numbers):
    # Below full utilisation alpha is sqrt(0.2 * 100) = 4.47 and not 10: the 575 packets from 675 to
    # 1250 take 128.6 round trips and not 57.5, so 556 become 627.
    row = figure_8_numbers["Illinois, β = 0.5"]
    assert row["epoch_round_trips"] == pytest.approx(627, rel=0.03)


# At B = 10 and 30 the trains (alpha = 1.4 and 2.4 instead of 10) lengthen the cycle by more.
@pytest.mark.parametrize(("buffer", "round_trips"), [(20, 101), (40, 200), (50, 246)])
def test_cycles_for_buffers(buffer, round_trips):
    case = figure_10.FIGURE.cases[f"B = {buffer}"]
    ((run,),) = sweep.run_all([case])
    row = measure.one_flow(run, bandwidth_delay_product=75.0, rtt_s=0.06)
    assert row["epoch_round_trips"] == pytest.approx(round_trips, rel=0.03)


def test_wrong_control_turns_the_verdicts(figure_8_runs):
    # Reno in place of Illinois: 675 round trips for 556 and 503, and 0.805 for 0.977 and 0.9996.
    wrong = dict(figure_8_runs)
    for name in ("Illinois, β = 0.125", "Illinois, β = 0.5", "Illinois, β = 0.5, paced"):
        wrong[name] = figure_8_runs["Reno"]
    verdicts = {one.claim: one.reproduced for one in figure_8.judge(figure_8.numbers(wrong))}
    turned = [claim for claim in verdicts if claim.startswith("Illinois") and "cycle" in claim]
    assert len(turned) == 6
    assert not any(verdicts[claim] for claim in turned)


def test_wrong_control_is_not_concave(figure_8_runs):
    # Reno in place of Illinois is straight, BIC and C-TCP have a convex part.
    for other in ("Reno", "BIC", "C-TCP"):
        wrong = dict(figure_8_runs)
        wrong["Illinois, β = 0.5"] = figure_8_runs[other]
        verdicts = {one.claim: one.reproduced for one in figure_8.judge(figure_8.numbers(wrong))}
        assert not verdicts["Illinois, β = 0.5: concave throughout an epoch"]


def test_illinois_in_place_of_others_turns_their_verdicts(figure_8_runs):
    wrong = dict(figure_8_runs)
    for name in ("BIC", "C-TCP", "HS-TCP on Reno", "HS-TCP on NewReno"):
        wrong[name] = figure_8_runs["Illinois, β = 0.5"]
    verdicts = {one.claim: one.reproduced for one in figure_8.judge(figure_8.numbers(wrong))}
    assert not verdicts["BIC: concave, then convex"]
    assert not verdicts["C-TCP: not concave"]
    assert not verdicts["HS-TCP on Reno: times out often"]
    assert not verdicts["HS-TCP on NewReno: times out often"]


def test_reno_in_place_of_illinois_is_not_highest(figure_8_runs):
    runs = {name: figure_8_runs[case] for name, case in figure_9.ONE_FLOW.items()}
    runs["Illinois, β = 0.125"] = runs["Illinois, β = 0.5"] = runs["Reno"]
    assert not any(one.reproduced for one in figure_9.judge_left(figure_9.goodputs(runs)))


def test_interval_of_student():
    # Values 1..5: standard deviation sqrt(2.5), t(4 degrees, 97.5 %) = 2.776 from tables, so
    # 2.776 * sqrt(2.5)/sqrt(5) = 1.963.
    assert figure_9.half_width([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx(1.963, abs=1e-3)


def test_square_of_the_queue_grows_as_in_the_paper():
    # alpha = 0.1 B/q packets per round trip, so q^2 grows by 0.2 B = 10 at B = 50.
    case = Case(
        scenario([flow("illinois")], rate="10 Mbit/s", rtt_ms=60, buffer=50, duration_s=600)
    )
    ((run,),) = sweep.run_all([case])
    assert figure_10.parabola(run, 50) == pytest.approx(10, rel=0.03)


def test_run_without_losses_has_no_verdict_in_its_favour():
    # 10 s are slow start and its losses at most: nothing is measured after 200 s.
    case = Case(scenario([flow("illinois")], duration_s=201))
    ((run,),) = sweep.run_all([case])
    row = measure.one_flow(run, bandwidth_delay_product=1250.0, rtt_s=0.1)
    assert row["epochs"] == 0
    assert not (row["convex"] <= 1.0)


def test_every_scenario_of_the_paper_is_accepted():
    for figure in PAPER.figures.values():
        for case in figure.cases.values():
            api.check(case.scenario)


def test_same_scenario_runs_once():
    case = Case(scenario([flow("reno")], duration_s=201))
    first, second = sweep.run_all([case, case])
    assert first[0] is second[0]


def test_page_and_files(tmp_path):
    # Short runs: the page must come whatever the verdicts.
    short = {
        name: Case({**case.scenario, "run": {**case.scenario["run"], "duration": "260 s"}})
        for name, case in figure_10.FIGURE.cases.items()
    }
    figure = replace(figure_10.FIGURE, cases=short)
    verdicts = reproduction.reproduce([(PAPER, figure)], tmp_path)
    place = tmp_path / "illinois" / "figure-10"
    names = {file.name for file in place.iterdir()}
    assert names == {
        "figure-10.pdf", "figure-10.png", "figure.json", "numbers.parquet",
        "windows.parquet", "events.parquet", "scenarios",
    }  # fmt: skip
    assert len(json.loads((place / "figure.json").read_text())["verdicts"]) == len(verdicts)
    page = (tmp_path / "index.html").read_text()
    assert "http://" not in page
    assert "https://" not in page
    for verdict in verdicts:
        assert verdict["reproduced"] in (True, False)
    for link in ("figure-10.pdf", "windows.parquet", "scenarios/b-10.toml"):
        assert f"illinois/figure-10/{link}" in page
        assert (place / link).exists()


def test_page_can_be_made_again_but_nothing_else_is_lost(tmp_path):
    place = tmp_path / "illinois" / "figure-10"
    place.mkdir(parents=True)
    (place / "notes.txt").write_text("mine")
    with pytest.raises(Exception, match="no result"):
        reproduction.reproduce(reproduction.select(["illinois/figure-10"]), tmp_path)
    assert (place / "notes.txt").read_text() == "mine"
