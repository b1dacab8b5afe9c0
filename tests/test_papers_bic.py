"""What is measured for the figures and tables of BIC, on runs made by hand."""

import numpy as np
import polars as pl
import pytest

from ackclock import engine
from ackclock.engine import Run
from ackclock.reproduction.numbers import FULL, QUICK, Numbers
from ackclock_papers.bic import analysis, shares, unfairness
from ackclock_papers.bic.setting import background_flows, case


def run_of(flows=(), link=None, start_s=0.0, end_s=0.0, jain=None, **tables):
    summary = {
        "flows": list(flows), "links": [link or {}], "measured_from_s": start_s,
        "duration_s": end_s, "jain": jain,
    }  # fmt: skip
    return Run(summary, "", tables)


def background_of(counts, mbps, mean_window=10.0):
    """Flows as the engine has them: web, small and long, forward and then in reverse."""
    return [
        {
            "name": "?", "goodput_mbps": mbps[direction][kind], "mean_window": mean_window,
            "settings": {"receive_window": 64 if kind == 1 else "unlimited"},
        }
        for direction in (0, 1)
        for kind in (0, 1, 2)
        for _ in range(counts[kind])
    ]  # fmt: skip


def test_background_flows_are_where_the_engine_has_them():
    flows = [{"controller": "bic", "rtt": "40 ms"}, {"controller": "aimd", "rtt": "40 ms"}]
    run = engine.simulate(case(QUICK, flows, 20.0, quick_s=31).scenario)
    groups = background_flows(run, 2, 20.0)
    assert len(groups) == 6
    for group, own in groups.items():
        assert own
        assert all(one["name"].startswith(f"{group.kind} {group.direction}-") for one in own)
    with pytest.raises(ValueError, match="expected 257"):
        background_flows(run, 3, 20.0)


def test_figure_1_counts_the_background():
    # A fifth of 100 Mbit/s in sessions of 40 kbit/s are 500: 400 at most. Forward 400 * 0.01,
    # 25 * 0.1 and 2 * 3 Mbit/s; in reverse 400 * 0.02 + 25 * 0.2 + 2 * 4 = 21 of 100.
    flows = background_of((400, 25, 2), ((0.01, 0.1, 3.0), (0.02, 0.2, 4.0)))
    flows[400]["settings"]["receive_window"] = "unlimited"
    flows[-3]["mean_window"] = 63.0
    flows[-1]["mean_window"] = 500.0
    row = analysis.FIGURE_1.measure(analysis.SETUP, run_of([{"goodput_mbps": 50.0}, *flows]))
    assert row == {
        "web": pytest.approx(4.0),
        "small": pytest.approx(2.5),
        "long": pytest.approx(6.0),
        # One of the 25 has another window than it should.
        "small_flows": 24.0,
        "backward_share": pytest.approx(0.21),
        # The last small flow in reverse; what is a long flow's does not count.
        "largest_small_window": 63.0,
    }


def test_figure_5_tells_additive_from_binary_growth():
    # Growth 32, 20, -20 (a cut), 19, 5, 2, -1 (less than 5 %, no cut): two of five reach 20.
    window = [100.0, 132.0, 152.0, 132.0, 151.0, 156.0, 158.0, 157.0]
    time = [10.0 + 0.04 * k for k in range(1, 9)]
    windows = pl.DataFrame(
        # Before the measured time and of the other flow: nothing of it counts.
        {"time_s": [9.0, *time, *time], "flow": [0] * 9 + [1] * 8,
         "window": [9000.0, *window, *range(8)]}
    )  # fmt: skip
    row = analysis.FIGURE_5.measure(
        analysis.TWO, run_of(start_s=10.0, end_s=20.0, jain=0.97, windows=windows)
    )
    assert row == {
        "additive": pytest.approx(0.4),
        "binary": pytest.approx(0.6),
        "cuts": 1.0,
        "jain": 0.97,
        # The 99th percentile of 2, 5, 19, 20, 32: 0.96 of the way from the fourth to the fifth.
        "largest_growth": pytest.approx(31.52),
    }


def test_curves_cross_where_they_do():
    # 1/p = 10/sqrt(p) at p = 0.01: 100 packets.
    assert analysis._cross(lambda p: 1 / p, lambda p: 10 / p**0.5, 1e-4, 1.0) == pytest.approx(100)


def test_another_beta_turns_the_verdicts_of_figure_8(monkeypatch):
    # beta 0.5 in place of 0.125: R at 1e-6 falls by sqrt(1.5 * 0.125/(1.875 * 0.5)) and more.
    wrong = {
        name: (lambda p: analysis.responses.bic(p, cut=0.5)) if name == "BI-TCP" else curve
        for name, curve in analysis.WITH_BIC.items()
    }
    monkeypatch.setattr(analysis, "WITH_BIC", wrong)
    rows, _ = analysis.FIGURE_8.compute(FULL)
    found = {one.sentence: one.judge(Numbers(rows)).holds for one in analysis.FIGURE_8.claims}
    assert not found["BI-TCP over AIMD at 1e-6"]
    assert not found["R at 1e-05"]
    others, _ = analysis.FIGURE_4.compute(FULL)
    assert "BI-TCP" not in others


def losses(losing, first_s, kind="loss"):
    """Loss events by which the given number of flows lose in each second from `first_s` on."""
    pairs = [(first_s + k + 0.5, flow) for k, count in enumerate(losing) for flow in range(count)]
    return [{"time_s": time, "flow": flow, "kind": kind} for time, flow in pairs]


def test_figure_2_counts_flows_that_lose_together():
    # 20 epochs with a loss, and one without: in 14 of them 11 of the 20 flows lose, in one 10, in
    # two 6, in one 5, in two one. More than half: 14/20; more than a quarter: 17/20.
    losing = [11] * 7 + [6, 1] + [11] * 7 + [0] + [10, 6, 5] + [1]
    others = [
        *losses([20] * 10, 0.0),  # before the measured time
        *losses([20] * 21, 10.0, kind="timeout"),
        *({"time_s": 10.5 + k, "flow": 20 + k, "kind": "loss"} for k in range(21)),  # background
        {"time_s": 10.6, "flow": 0, "kind": "loss"},  # twice in an epoch
    ]
    events = pl.DataFrame([*losses(losing, 10.0), *others])
    run = run_of(start_s=10.0, end_s=31.0, events=events)
    row = unfairness.FIGURE_2.measure(unfairness.DROPTAIL, run)
    assert row["half"].value == pytest.approx(0.7)
    assert row["quarter"].value == pytest.approx(0.85)
    assert row["epochs"] == 20.0
    share = unfairness.FIGURE_2.trace(unfairness.DROPTAIL, run)["share"].to_list()
    assert [share[k - 1] for k in (1, 2, 6, 7, 11, 12)] == pytest.approx(
        [1.0, 0.9, 0.85, 0.75, 0.7, 0.0]
    )


def test_figure_3_compares_long_with_short():
    # Short: four of 10 and four of 30 Mbit/s, mean 20, Jain 160^2/(8 * 4000) = 0.8. Long: 1 and 3.
    mbps = [10.0] * 4 + [30.0] * 4 + [1.0, 3.0, 900.0]
    row = unfairness.FIGURE_3.measure(
        unfairness.DROPTAIL, run_of([{"goodput_mbps": one} for one in mbps])
    )
    assert row == {"long_share": pytest.approx(0.1), "jain_short": pytest.approx(0.8)}


def two_flows(first, second):
    """Two flows sampled every second until 80 s, measured from 40 s on; Mbit/s of each."""
    time = np.arange(1.0, 81.0)
    return pl.DataFrame(
        {
            "time_s": np.tile(time, 2),
            "flow": np.repeat([0, 1], 80),
            # What was before the measured time would turn the ratio.
            "delivered_bytes": np.concatenate(
                [np.where(time > 40, rate, 77.0) / 8e-6 for rate in (first(time), second(time))]
            ),
        }
    )


def test_rtt_ratio_has_the_error_of_both():
    # 2 and 1 Mbit/s. The first alternates by 0.2 between batches of two samples: the standard
    # error of its 20 batches is 0.2 sqrt(20/19)/sqrt(20), times Student's 2.093 it is 4.8 % of 2.
    # The second does not vary: the ratio's error is that of the first.
    windows = two_flows(
        lambda t: 2.0 + 0.2 * (-1.0) ** np.ceil(t / 2), lambda t: np.full(t.size, 1.0)
    )
    run = run_of(link={"utilisation": 0.9}, start_s=40.0, end_s=80.0, windows=windows)
    row = unfairness.TABLE_3.measure(unfairness.RttPair("AIMD", 6), run)
    assert row["utilisation"] == 0.9
    assert row["ratio"].value == pytest.approx(2.0)
    assert row["ratio"].low == pytest.approx(2.0 * (1 - 0.0480), abs=1e-3)
    assert row["ratio"].high == pytest.approx(2.0 * (1 + 0.0480), abs=1e-3)


def test_rtt_ratio_to_a_flow_that_gets_nothing():
    windows = two_flows(lambda t: np.full(t.size, 1.0), lambda t: np.zeros(t.size))
    run = run_of(link={"utilisation": 0.9}, start_s=40.0, end_s=80.0, windows=windows)
    row = unfairness.TABLE_3.measure(unfairness.RttPair("STCP", 6), run)
    assert row["ratio"].value == np.inf


def test_shares_of_figure_9():
    # 20 Mbit/s: 100 sessions each way. Background 100 * 0.01 + 25 * 0.04 = 2, long 2 * 2 = 4, fast
    # 5 + 3 = 8 Mbit/s; what goes in reverse has no share.
    flows = background_of((100, 25, 2), ((0.01, 0.04, 2.0), (0.5, 0.5, 0.5)))
    fast = [{"goodput_mbps": 5.0}, {"goodput_mbps": 3.0}]
    run = run_of([*fast, *flows], {"utilisation": 0.75})
    row = shares.FIGURE_9.measure(shares.Link("AIMD", 20.0), run)
    assert row == {
        "background": pytest.approx(0.1),
        "long": pytest.approx(0.2),
        "fast": pytest.approx(0.4),
        "unused": pytest.approx(0.25),
        "utilisation": 0.75,
    }


def fairness_run(start_s, end_s, unfair_s):
    """Flows 0 and 1 take turns of 5 s with 2 and 3 for a while; then all get the same."""
    time = np.arange(1.0, end_s + 1)
    since = time - start_s
    first = (np.ceil(since / 5) % 2 == 1) | (since > unfair_s)
    second = (np.ceil(since / 5) % 2 == 0) | (since > unfair_s)
    delivered = [1e6 * (first if flow < 2 else second) for flow in range(4)]
    windows = pl.DataFrame(
        {
            "time_s": np.tile(time, 4),
            "flow": np.repeat(np.arange(4), time.size),
            "delivered_bytes": np.concatenate(delivered),
        }
    )
    return run_of(start_s=start_s, end_s=end_s, windows=windows)


def test_fairness_at_several_time_scales():
    # Two flows at a time for 30 s of 150 s: Jain is 1/2 in a fifth of the intervals of 1 and of
    # 5 s. In 25 s the pairs have 3 and 2 turns: 10^2/(4 * 26) in the only interval that counts, a
    # fifth of six. In 75 s the first half-minute gives each 15 s and the rest 45 s: all the same.
    run = fairness_run(150.0, 300.0, 30.0)
    row = shares.FIGURE_10.measure("AIMD", run)
    assert row == {
        shares.Scale(1): pytest.approx(0.5),
        shares.Scale(5): pytest.approx(0.5),
        shares.Scale(25): pytest.approx(100 / 104),
        shares.Scale(75): pytest.approx(1.0),
        shares.Scale(150): pytest.approx(1.0),
    }
    # These are the scales that a quick run declares; a full one has 300 s as well.
    assert set(row) == shares.FIGURE_10.keys("AIMD", QUICK)
    assert shares.FIGURE_10.keys("AIMD", FULL) - set(row) == {shares.Scale(300)}


def test_fairness_with_red_counts_the_worst_hundredth():
    # 5 s of 100 s are unfair: five intervals of 1 s, of which a hundredth, one, counts. In 25 s the
    # first pair has 25 s and the second 20 s: 90^2/(4 * 2 * (625 + 400)).
    row = shares.FIGURE_11.measure("AIMD", fairness_run(100.0, 200.0, 5.0))
    assert row == {
        shares.Scale(1): pytest.approx(0.5),
        shares.Scale(5): pytest.approx(0.5),
        shares.Scale(25): pytest.approx(8100 / 8200),
    }
    assert set(row) == shares.FIGURE_11.keys("AIMD", QUICK)


def test_a_quick_run_is_as_long_as_its_claims_ask():
    # The claim about STCP at 150 s: the second half of 300 s.
    quick = shares.FIGURE_10.cases(QUICK)["STCP"].scenario["run"]
    assert (quick["duration"], quick["warmup"]) == ("300 s", "150 s")
