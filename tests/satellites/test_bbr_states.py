"""The states of BBR, as a control reports them, compared with visits that are written by hand."""

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

from ackclock import engine
from ackclock.decision.comparisons import Limit
from ackclock_evaluate import figures, states
from ackclock_evaluate.evaluate import evaluate
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import Subject
from ackclock_evaluate.states import PATH, STATES, ReportedStates, reported_states
from ackclock_evaluate.suites import SUITES

(STATES_OF_BBR,) = [criterion for criterion in SUITES["bbr-draft"] if criterion.id == "bbr-states"]


def visits(*given: tuple[str, float, float, float]) -> ReportedStates:
    """Return visits of these states, lengths (s), and smallest and largest windows (packets)."""
    log, from_s = [], 0.0
    for state, length_s, least, largest in given:
        log.append(states.StateVisit(state, from_s, from_s + length_s, least, largest))
        from_s += length_s
    times = np.arange(0, from_s, states.SAMPLE_S)
    # 20 Mbit/s of 1500 bytes are 1666.7 packets/s; with 100 ms that is 167 packets.
    table = pl.DataFrame({"time_s": times, "max_bw_packets_per_s": 20e6 / 12_000, "min_rtt_ms": 100.0})
    return ReportedStates(log, table)


def check(case: int):
    (cell,) = [cell for cell in STATES_OF_BBR.cells("quick") if cell.name.startswith(f"{case}:")]
    given = dict(cell.parts(Subject("bbr3"))["run"].measure.keywords)
    return partial(states.CHECKS[given.pop("check")], **given)


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
def test_states_follow_each_other_as_in_the_draft(case, given, holds) -> None:
    assert check(case)(visits(*given)) is holds


def test_startup_does_not_end_with_a_bandwidth_wrong_by_three_percent() -> None:
    usual = visits(*USUAL)
    wrong = usual.table.with_columns(pl.col("max_bw_packets_per_s") * 1.03)
    assert not check(1)(ReportedStates(usual.visits, wrong))


def test_states_are_read_from_a_run() -> None:
    # Rounds of 100 ms double ten packets to 167 in 4.1 rounds; after Startup there is a queue, for
    # which there is Drain.
    scenario = PATH.scenario(Subject("bbr3").flow("c", PATH.rtt_ms, start="0 s"), duration_s=4, sample_s=0.01)
    run = engine.simulate(engine.read(scenario), record=True)
    told = reported_states(run)
    assert told is not None
    assert [visit.state for visit in told.visits[:2]] == ["Startup", "Drain"]
    assert told.visits[0].to_s > 0.5
    assert {visit.state for visit in told.visits} <= set(STATES)
    reno = engine.read(PATH.scenario(Subject("reno").flow("c", PATH.rtt_ms), duration_s=2))
    assert reported_states(engine.simulate(reno, record=True)) is None


def test_a_control_that_reports_no_states_is_not_judged_by_them(tmp_path) -> None:
    assert STATES_OF_BBR.cells is not None
    few = [cell for cell in STATES_OF_BBR.cells("quick") if cell.name.startswith("3:")]
    request = partial(Request, criteria=(replace(STATES_OF_BBR, cells=lambda _: few),))
    verdicts = [
        evaluate(request(Subject(name)), tmp_path, shown=False).results[0].verdict
        for name in ("bbr3", "bbr", "vegas")
    ]
    assert verdicts == ["holds", "not applicable", "not applicable"]


def test_a_limit_on_a_metric_that_only_some_controls_have() -> None:
    nan = float("nan")
    limit = Limit("passes", at_least=1.0, if_told=True)
    assert limit.judge([1.0] * 5, [[nan] * 30, [nan] * 30]).verdict == "holds"
    assert limit.judge([0.8] * 5, [[nan] * 30, [nan] * 30]).verdict == "fails"
    # A limit that a baseline with this metric does not keep either is not held against a control.
    assert limit.judge([0.8] * 5, [[0.6] * 30, [nan] * 30]).verdict == "holds"


def test_the_picture_leaves_out_controls_that_report_no_states(tmp_path) -> None:
    assert STATES_OF_BBR.cells is not None
    few = [cell for cell in STATES_OF_BBR.cells("quick") if cell.name.startswith("3:")]
    request = Request(Subject("bbr3"), (replace(STATES_OF_BBR, cells=lambda _: few),))
    result = evaluate(request, tmp_path, shown=False).results[0]
    figure = figures.criterion(result, "bbr3")
    assert figure is not None
    assert [series.name for series in figure.charts[0].series] == ["bbr3"]
