"""Drops over packets, with known answers, and the condition of papers that exclude phase effects."""

import json
from dataclasses import replace

import pytest

from ackclock.draw.figure import Table
from ackclock.engine import read, simulate
from ackclock.reproduction import make
from ackclock.reproduction.claims import losses
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.numbers import QUICK, Numbers
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.shown import outcome, words
from ackclock.runs import Case, run_all

SEEDS = 20
RENO = {"controller": "reno"}
GAIMD = {"controller": "gaimd", "params": {"alpha": 0.31, "beta": 0.875}}


def droptail(packets):
    return {"kind": "droptail", "limit": f"{packets} packets"}


def scenario(*flows, overhead="0 s", duration_s=200, **link):
    """Return flows on a link of 2.5 Mbit/s, whose packets of 1000 bytes take 3.2 ms each."""
    start = {"start": {"uniform": ["0 s", "5 s"]}, "rtt": "100 ms", "packet": "1 kB"}
    return {
        "run": {"duration": f"{duration_s} s", "warmup": "20 s"},
        "dumbbell": {"rate": "2.5 Mbit/s", "delay": "30 ms", "queue": droptail(50)} | link,
        "tcp": {"overhead": overhead},
        "flow": [start | flow for flow in flows],
    }


def ratios(description, seeds=SEEDS):
    runs = run_all([Case(description, seeds, record=False)])[0]
    return {each.kind: each for each in losses.over_runs([losses.counts(run) for run in runs])}


def test_random_loss_falls_on_packets_whoever_sends_them():
    # Each packet is lost with a probability of 2 %, so the two shares are equal but for random variation,
    # although one grows three times as fast. The link never fills.
    lossy = {"rate": "100 Mbit/s", "queue": droptail(1000), "loss": {"kind": "bernoulli", "rate": 0.02}}
    known = ratios(scenario(RENO, GAIMD, **lossy))
    assert set(known) == {"reno", "gaimd"}
    for each in known.values():
        assert each.ratio.low <= 1 <= each.ratio.high
        assert each.ratio.high - each.ratio.low < 0.3
        assert each.fewest_drops >= losses.LEAST_DROPS
        assert not each.is_impossible


def test_the_flow_that_grows_faster_loses_more_unless_sends_are_random():
    # Two flows that differ in alpha alone, on a full droptail queue fed by ACKs: the excess packet belongs to
    # the window that grows. The slow flow has 0.2 of a growth of 2.2 and half of the packets or more: at most
    # 0.18 if losses follow growth, 1 if they follow packets. Delays of ten packets' times mix arrivals.
    flows = [GAIMD | {"params": {"alpha": alpha, "beta": 0.875}} for alpha in (0.2, 2.0)]
    locked = ratios(scenario(*flows))
    assert set(locked) == {"gaimd alpha 0.2", "gaimd alpha 2.0"}
    assert locked["gaimd alpha 0.2"].ratio.high < losses.LEAST
    assert locked["gaimd alpha 0.2"].is_impossible
    mixed = ratios(scenario(*flows, overhead="32 ms"))
    assert mixed["gaimd alpha 0.2"].ratio.low > losses.LEAST
    assert not any(each.is_impossible for each in mixed.values())


def test_kinds_are_told_apart_by_control_and_by_few_round_trips():
    both = [
        RENO | {"rtt": "60 ms"},
        RENO | {"rtt": "120 ms"},
        RENO | {"rtt": "120 ms", "direction": "reverse"},
    ]
    run = simulate(read(scenario(*both, duration_s=30)), record=False)
    counts = losses.counts(run)
    assert set(counts) == {"reno 60 ms", "reno 120 ms"}
    flows = run.summary["flows"]
    assert counts["reno 60 ms"] == (flows[0]["dropped_packets"], flows[0]["sent_packets"], True)
    many = [RENO | {"rtt": f"{rtt} ms"} for rtt in range(60, 110, 10)]
    # Five round trips are background; a flow of datagrams is a kind, but under no window.
    datagrams = {"source": "poisson", "rate": "100 kbit/s"}
    run = simulate(read(scenario(*many, datagrams, duration_s=30)), record=False)
    assert {kind: own for kind, (_, _, own) in losses.counts(run).items()} == {
        "reno": True,
        "datagrams": False,
    }
    # Flows of one kind, and a single one next to datagrams, say nothing.
    alike = simulate(read(scenario(RENO, RENO, duration_s=30)), record=False)
    assert losses.counts(alike) == {}


def counted(first, second, drops=100, runs=20):
    """Return runs of two kinds with half of the packets each: the drops of one take turns in the runs."""
    return [
        {"slow": (own, 500, True), "fast": (drops - own, 500, True)}
        for own in (first if run % 2 else second for run in range(runs))
    ]


# The ratio is twice the share of drops.
@pytest.mark.parametrize(
    ("runs", "holds", "undecided"),
    [
        (counted(20, 21), False, False),
        # 0.44 to 0.56.
        (counted(22, 28), True, True),
        (counted(26, 27), True, False),
        (counted(50, 50), True, False),
        # 0.43 times, but of 49 drops in each run: too few decide nothing.
        (counted(10, 11, drops=49), True, True),
        (counted(10, 11, drops=50), False, False),
        # A run without a drop has fewer than enough, whatever the others have.
        ([*counted(20, 21), {"slow": (0, 500, True), "fast": (0, 500, True)}], True, True),
        # One run has no interval.
        (counted(20, 21, runs=1), True, True),
        ([], True, True),
    ],
)
def test_only_what_decidedly_leaves_the_range_is_impossible(runs, holds, undecided):
    claim = losses.Condition("words", "section 1").claim(["one"])
    judged = claim.judge(Numbers({"one": [{}] * len(runs)}, losses={"one": runs}))
    assert (judged.holds, judged.undecided) == (holds, undecided)


def test_the_condition_is_judged_with_seeds_of_its_own_next_to_what_else_is_stated():
    figure = Simulated(
        name="figure-1",
        caption="what",
        about="About.",
        cases=lambda effort: {"two": Case(scenario(RENO, GAIMD, duration_s=30 if effort.quick else 300))},
        probe=Probe((), lambda _run: {}),
        draw=lambda *_: Table([], []),
    )
    stated = replace(figure, name="conditions", cases=lambda _effort: {"own": Case(scenario(RENO))})
    condition = losses.Condition("words", "section 1", {"figure-1": ["two"]}, quick=False)
    joined = condition.joined(stated, [figure], "conditions")
    own, shared = joined.cases(QUICK).items()
    assert own[0] == "own"
    assert str(shared[0]) == "figure-1: two"
    assert shared[1] == replace(figure.cases(replace(QUICK, quick=False))["two"], runs=20, record=False)
    assert [claim.name for claim in joined.claims] == [losses.NAME]
    joined.check({})
    alone = condition.joined(None, [figure], "conditions")
    assert (alone.name, list(map(str, alone.cases(QUICK)))) == ("conditions", ["figure-1: two"])
    for wrong in ({"figure-2": ["two"]}, {"figure-1": ["three"]}):
        with pytest.raises(LookupError, match="figure-"):
            replace(condition, cases=wrong).joined(None, [figure], "conditions").cases(QUICK)


def test_an_artefact_shows_drops_over_packets_on_its_page_and_screen_and_in_its_data(tmp_path):
    lossy = {"rate": "20 Mbit/s", "queue": droptail(100), "loss": {"kind": "bernoulli", "rate": 0.02}}
    cases = {
        "both": Case(scenario(RENO, GAIMD, duration_s=60, **lossy), 3),
        "alone": Case(scenario(RENO, duration_s=30), 1),
    }
    figure = Simulated(
        name="figure-1",
        caption="what",
        about="About.",
        cases=lambda _effort: cases,
        probe=Probe(("goodput",), lambda run: {"goodput": run.summary["flows"][0]["goodput_mbps"]}),
        draw=lambda *_: Table(["a"], [["b"]]),
    )
    paper = Paper("made", "A paper of ours", [], [figure])
    (record,) = make.reproduce([(paper, figure)], tmp_path, QUICK, 2)
    first, second = record["losses"]
    assert (first["case"], first["kind"], first["runs"]) == ("both", "reno", 3)
    assert second["kind"] == "gaimd"
    assert first["low"] < first["drops_over_packets"] < first["high"]
    written = json.loads((tmp_path / "made" / "figure-1" / "artefact.json").read_text())
    assert written["losses"] == record["losses"]
    assert any(
        line.startswith("  drops over packets, farthest from 1: ") and line.endswith(" in both")
        for line in outcome.lines(paper, record, [record])
    )
    page = (tmp_path / "made" / "index.html").read_text()
    assert "<summary>Drops over packets</summary>" in page
    assert f"<td>{words.losses_words(first)}</td>" in page
    # Earlier published results have no drops over packets.
    older = {key: value for key, value in record.items() if key != "losses"}
    assert words.losses_table(older) is None
    assert not any("drops" in line for line in outcome.lines(paper, older, [older]))
