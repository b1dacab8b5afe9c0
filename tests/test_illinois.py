"""The figures of the Illinois paper: simulation against theory, and verdicts that can fail."""

import pytest

from ackclock.reproduction.claims.numbers import FULL, Numbers
from ackclock.reproduction.trials.settings import declared
from ackclock.runs import Case, run_all
from ackclock_papers import PAPERS
from ackclock_papers.illinois import figures_8_and_10, figures_14_and_15, measure
from ackclock_papers.illinois.figures_8_and_10 import (
    BIC,
    CTCP,
    HALF,
    MILD,
    ON_NEWRENO,
    ON_RENO,
    ON_SACK,
    RENO,
)
from ackclock_papers.illinois.setting import flow, scenario

SETTING = declared(PAPERS["illinois"].items)
"""What is stated, or the default of ns-2: no delay is random, as in the fluid."""
PACED = "Illinois, β = 0.5, paced"


def measured(cases):
    rows = {}
    for key, case in cases.items():
        ((run,),) = run_all([case])
        rows[key] = [figures_8_and_10.measure_flow(run)]
    return rows


@pytest.fixture(scope="module")
def figure_8():
    return measured(figures_8_and_10.cases(FULL.at(SETTING)))


@pytest.fixture(scope="module")
def paced():
    return measured({PACED: Case(scenario([HALF.flow(SETTING) | {"pacing": True}], SETTING))})


def verdicts(artefact, rows):
    numbers = Numbers(rows)
    return {claim.sentence: claim.judge(numbers).holds for claim in PAPERS["illinois"][artefact].claims}


# Worked out from the formulas of the paper: W from (1 - beta) 1350 to 1350, BDP 1250. They take
# packets to be evenly spread, which matters where the link is not full and alpha follows the delay:
# Illinois with beta 1/2 is paced for them.
@pytest.mark.parametrize(
    ("case", "round_trips", "used_share"),
    [(RENO, 675, 0.805), (PACED, 556, 0.977), (MILD, 503, 0.9996)],
    ids=str,
)
def test_cycles_of_one_flow(figure_8, paced, case, round_trips, used_share):
    (row,) = (figure_8 | paced)[case]
    assert row["epochs"] >= 10
    assert row["epoch_round_trips"] == pytest.approx(round_trips, rel=0.03)
    assert row["used_share"] == pytest.approx(used_share, rel=0.03)


def test_cycle_with_packets_in_trains(figure_8):
    # Below full utilisation alpha is sqrt(0.2 * 100) = 4.47 and not 10: the 575 packets from 675 to
    # 1250 take 128.6 round trips and not 57.5, so 556 become 627.
    (row,) = figure_8[HALF]
    assert row["epoch_round_trips"] == pytest.approx(627, rel=0.03)


def buffer_case(buffer, duration_s=800):
    link = {"rate_mbps": 10, "rtt_ms": 60, "buffer": buffer, "duration_s": duration_s}
    return Case(scenario([flow("Illinois", SETTING)], SETTING, **link))


# At B = 10 and 30 the trains (alpha = 1.4 and 2.4 instead of 10) lengthen the cycle by more.
@pytest.mark.parametrize(("buffer", "round_trips"), [(20, 101), (40, 200), (50, 246)])
def test_cycles_for_buffers(buffer, round_trips):
    ((run,),) = run_all([buffer_case(buffer, 2000)])
    row = measure.one_flow(run, bandwidth_delay_product=75.0, rtt_s=0.06)
    assert row["epoch_round_trips"] == pytest.approx(round_trips, rel=0.03)


def test_wrong_control_turns_the_verdicts(figure_8):
    # Reno in place of Illinois is straight, and has no larger window than itself.
    wrong = figure_8 | dict.fromkeys((MILD, HALF), figure_8[RENO])
    holds = verdicts("figure-8", wrong)
    turned = [claim for claim in holds if "for the most part" in claim or "mean window" in claim]
    assert len(turned) == 4
    assert not any(holds[claim] for claim in turned)
    # Epochs have 0.95 of the length of Reno's; 30 % longer they have 1.23, more than a fifth above.
    longer = {key: 1.3 * value for key, value in figure_8[HALF][0].items()}
    holds = verdicts("figure-8", figure_8 | {HALF: [longer]})
    assert not holds["Illinois, β = 0.5: an epoch is as long as Reno's, or shorter"]


def test_wrong_control_is_not_concave(figure_8):
    for control in (BIC, CTCP):
        holds = verdicts("figure-8", figure_8 | {HALF: figure_8[control]})
        assert not holds["Illinois, β = 0.5: concave for the most part"]
        assert not holds["Illinois, β = 0.5: nowhere convex in an epoch"]


def test_illinois_in_place_of_others_turns_their_verdicts(figure_8):
    wrong = dict(figure_8)
    for case in (BIC, CTCP, ON_RENO, ON_NEWRENO, ON_SACK):
        wrong[case] = figure_8[HALF]
    holds = verdicts("figure-8", wrong)
    assert not holds["BIC: a part is convex"]
    assert not holds["BIC: the concave part comes first"]
    assert not holds["C-TCP: a part is convex"]
    assert not holds["HS-TCP on SACK: not concave"]
    assert not holds["HS-TCP on Reno: times out often"]
    assert not holds["HS-TCP on NewReno: times out often"]


@pytest.mark.parametrize(("f1_power", "f2_power"), [(0.5, 2.0), (1.0, 1.0), (3.0, 0.5)])
def test_every_member_of_the_class_has_a_concave_window(f1_power, f2_power):
    # Section 3: 'Any combination of' falling f1 and rising f2 'functions results in a concave window curve'.
    # As in figure 8, at most 5 % of an epoch may be convex; where the queue is empty it is straight.
    case = figures_8_and_10.FIGURE_8.cases(FULL.at(SETTING))[figures_8_and_10.HALF]
    members = {"f1": "power", "f1_power": f1_power, "f2_power": f2_power}
    flow = {**case.scenario["flow"][0], "params": members}
    ((run,),) = run_all([Case({**case.scenario, "flow": [flow]}, 1)])
    row = figures_8_and_10.measure_flow(run)
    assert row["epochs"] >= 5
    assert row["convex"] <= 0.05
    assert row["concave"] > 2 * row["convex"]


def test_square_of_the_queue_grows_as_in_the_paper():
    # alpha = 0.1 B/q packets per round trip, so q^2 grows by 0.2 B = 10 at B = 50.
    ((run,),) = run_all([buffer_case(50, 600)])
    assert figures_8_and_10.parabola(run, 50) == pytest.approx(10, rel=0.03)


def test_run_without_losses_has_no_verdict_in_its_favour():
    # 10 s are slow start and its losses at most: nothing is measured after 200 s.
    case = Case(scenario([flow("Illinois", SETTING)], SETTING, duration_s=201))
    ((run,),) = run_all([case])
    row = measure.one_flow(run, bandwidth_delay_product=1250.0, rtt_s=0.1)
    assert row["epochs"] == 0
    assert not (row["convex"] <= 1.0)


def test_reno_in_place_of_illinois_turns_figure_14():
    rows = {
        case: [{"window": 10.0 / case.loss**0.5, "goodput_mbps": 1.0, "timeout_share": 0.0, "queue_drops": 1}]
        * 2
        for case in figures_14_and_15.FIGURE_14.cases(FULL.at(SETTING))
    }
    # Both are Reno: the ratio is 1 everywhere; and the queue drops in every case, not in none.
    holds = verdicts("figure-14", rows)
    assert len(holds) == 5
    assert not any(holds.values())
