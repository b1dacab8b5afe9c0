"""The states of BBR, as a control tells them, against stays that are written by hand."""

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

from ackclock import engine
from ackclock.decision.paired import Limit
from ackclock_evaluate import pictures
from ackclock_evaluate.evaluate import evaluate
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import Subject
from ackclock_evaluate.suites import SUITES, bbr_states
from ackclock_evaluate.suites.bbr_states import PATH, STATES, Told, cells, told

(STATES_OF_BBR,) = [one for one in SUITES["bbr-draft"] if one.id == "bbr-states"]


def stays(*given: tuple[str, float, float, float]) -> Told:
    """Give what a control tells that is so long (s) in states, with these windows (packets)."""
    made, from_s = [], 0.0
    for state, length_s, least, largest in given:
        made.append(bbr_states.Stay(state, from_s, from_s + length_s, least, largest))
        from_s += length_s
    times = np.arange(0, from_s, bbr_states.SAMPLE_S)
    # 20 Mbit/s of 1500 bytes are 1666.7 packets/s; with 100 ms that is 167 packets.
    table = pl.DataFrame({"time_s": times, "max_bw_packets_per_s": 20e6 / 12_000, "min_rtt_ms": 100.0})
    return Told(made, table)


def check(case: int):
    (cell,) = [one for one in cells("quick") if one.name.startswith(f"{case}:")]
    return cell.parts(Subject("bbr3"))["run"].measure.keywords["check"]


USUAL = [("Startup", 1.4, 10, 344), ("Drain", 0.2, 340, 350), ("Cruise", 2.0, 340, 340)]


@pytest.mark.parametrize(
    ("case", "given", "holds"),
    [
        (1, USUAL, True),
        (1, [USUAL[0], USUAL[2], USUAL[2]], False),
        (3, USUAL, True),
        # Four round trips of at most three times the propagation delay: 1.2 s.
        (4, [USUAL[0], ("Drain", 1.3, 340, 350), USUAL[2]], False),
        (5, [*USUAL, ("Up", 0.37, 340, 380), ("Down", 1, 340, 340)], True),
        (5, [*USUAL, ("Up", 0.15, 340, 380), ("Down", 1, 340, 340)], False),
        (5, [*USUAL, ("Up", 0.37, 340, 380), ("Cruise", 1, 340, 340)], False),
        (7, [("Startup", 5, 10, 400), ("ProbeRTT", 0.3, 80, 80), ("Startup", 5, 10, 400)], True),
        (7, USUAL, False),
        (8, [("Refill", 1, 1, 1), ("Up", 1, 1, 1), ("Down", 1, 1, 1), ("Cruise", 1, 1, 1)], True),
        (8, [("Refill", 1, 1, 1), ("Up", 1, 1, 1), ("Down", 1, 1, 1), ("Up", 1, 1, 1)], False),
        # Half of 166.7 packets are 83.3; 5.3 s apart, 0.25 s long.
        (10, [("Cruise", 5.05, 340, 340), ("ProbeRTT", 0.25, 83, 340)] * 11 + USUAL[2:], True),
        (10, [("Cruise", 5.05, 340, 340), ("ProbeRTT", 0.25, 90, 340)] * 11 + USUAL[2:], False),
        (10, [("Cruise", 7.05, 340, 340), ("ProbeRTT", 0.25, 83, 340)] * 11 + USUAL[2:], False),
        (10, [("Cruise", 5.2, 340, 340), ("ProbeRTT", 0.1, 83, 340)] * 11 + USUAL[2:], False),
        (11, USUAL, True),
        (11, [*USUAL, ("ProbeRTT", 0.3, 80, 80), USUAL[2]], False),
        # Two bandwidth-delay products are 333 packets.
        (12, [("Startup", 1, 10, 380), USUAL[2]], True),
        (12, [("Startup", 1, 10, 330), USUAL[2]], False),
        (20, [("Startup", 5, 10, 20), ("ProbeRTT", 0.3, 4, 4), ("Startup", 5, 10, 20)], True),
        (20, [("Startup", 5, 10, 20), ("ProbeRTT", 0.3, 4, 4), ("Cruise", 5, 10, 20)], False),
    ],
)
def test_what_the_draft_says_of_states(case, given, holds) -> None:
    assert check(case)(stays(*given)) is holds


def test_a_bandwidth_that_is_wrong_by_three_percent_ends_no_startup() -> None:
    found = stays(*USUAL)
    wrong = found.table.with_columns(pl.col("max_bw_packets_per_s") * 1.03)
    assert not check(1)(Told(found.stays, wrong))


def test_states_are_read_from_a_run() -> None:
    # Rounds of 100 ms double ten packets to 167 in 4.1 rounds; after Startup there is a queue, for
    # which there is Drain.
    scenario = PATH.scenario(Subject("bbr3").flow("c", PATH.rtt_ms, start="0 s"), duration_s=4, sample_s=0.01)
    run = engine.simulate(engine.read(scenario), record=True)
    found = told(run)
    assert found is not None
    assert [one.state for one in found.stays[:2]] == ["Startup", "Drain"]
    assert found.stays[0].to_s > 0.5
    assert {one.state for one in found.stays} <= set(STATES)
    reno = engine.read(PATH.scenario(Subject("reno").flow("c", PATH.rtt_ms), duration_s=2))
    assert told(engine.simulate(reno, record=True)) is None


def test_who_tells_no_states_is_not_asked_for_them(tmp_path) -> None:
    assert STATES_OF_BBR.cells is not None
    few = [one for one in STATES_OF_BBR.cells("quick") if one.name.startswith("3:")]
    request = partial(Request, criteria=(replace(STATES_OF_BBR, cells=lambda _: few),))
    verdicts = [
        evaluate(request(Subject(name)), tmp_path, shown=False).results[0].verdict
        for name in ("bbr3", "bbr", "vegas")
    ]
    assert verdicts == ["holds", "not applicable", "not applicable"]


def test_a_limit_that_only_some_can_keep() -> None:
    nan = float("nan")
    limit = Limit("passes", at_least=1.0, if_told=True)
    assert limit.holds(1.0, [nan, nan])
    assert not limit.holds(0.8, [nan, nan])
    # What another control that tells it does not keep either is not held against it.
    assert limit.holds(0.8, [0.6, nan])


def test_the_picture_leaves_out_who_tells_no_states(tmp_path) -> None:
    assert STATES_OF_BBR.cells is not None
    few = [one for one in STATES_OF_BBR.cells("quick") if one.name.startswith("3:")]
    request = Request(Subject("bbr3"), (replace(STATES_OF_BBR, cells=lambda _: few),))
    found = evaluate(request, tmp_path, shown=False).results[0]
    figure = pictures.criterion(found, "bbr3")
    assert figure is not None
    assert [one.name for one in figure.charts[0].series] == ["bbr3"]
