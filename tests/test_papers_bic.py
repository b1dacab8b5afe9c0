"""What is measured for the figures and tables of BIC, on runs made by hand."""

import math

import numpy as np
import polars as pl
import pytest

from ackclock import engine
from ackclock.engine import Run
from ackclock.reproduction.claims.numbers import FULL, QUICK, Numbers
from ackclock.reproduction.trials.settings import declared
from ackclock_papers import PAPERS
from ackclock_papers.bic import (
    conditions,
    figure_1,
    figure_9,
    figures_2_and_3,
    figures_4_to_8,
    figures_10_and_11,
    section_vi,
    section_vii,
    tables_1_to_3,
)
from ackclock_papers.bic.setting import (
    GROUPS,
    BackgroundGroup,
    background,
    background_flows,
    background_mbps,
    case,
)

PAPER = PAPERS["bic"]
SETTING = declared(PAPER.items)


def test_readings_reach_the_scenarios():
    chosen = {
        "repairs": "none: exactly as printed",
        "search": "per round trip",
        "red_thresholds": "a quarter and three quarters of the buffer",
        "red_weight": 0.002,
        "red_gentle": False,
        "red_mean_packet": "500 B",
        "reverse_queue": "50 packets",
    }
    effort = QUICK.at(SETTING | chosen)
    scenario = case(effort, [{"controller": "bic"}, {"controller": "hstcp"}], 100, red=True).scenario
    printed = {
        "least_increase": False,
        "kept_maximum": False,
        "loss_ends_probing": False,
        "new_target": False,
    }
    assert scenario["flow"][0]["params"] == printed | {"search": "per_rtt"}
    assert "params" not in scenario["flow"][1]
    # Section VI-A has a path of its own.
    alone = PAPERS["bic"]["section-vi-a"].cases(effort)
    flows = [needed.scenario["flow"][0] for key, needed in alone.items() if key.controller == "bic"]
    assert [flow["params"] for flow in flows] == [printed | {"search": "per_rtt"}] * 2
    queue = scenario["dumbbell"]["queue"]
    # 100 Mbit/s times 20 ms in packets of 1040 bytes: 240.
    assert (queue["min_threshold"], queue["max_threshold"]) == (60, 180)
    assert (queue["weight"], queue["gentle"], queue["mean_packet"]) == (0.002, False, "500 B")
    assert scenario["dumbbell"]["reverse"]["queue"] == {"kind": "droptail", "limit": "50 packets"}
    plain = case(QUICK.at(SETTING), [{"controller": "bic"}], 100, red=True).scenario
    assert "params" not in plain["flow"][0]
    assert plain["dumbbell"]["reverse"]["queue"] == plain["dumbbell"]["queue"]
    assert set(plain["dumbbell"]["queue"]) == {"kind", "limit", "least_max_p"}


def run_of(flows=(), link=None, start_s=0.0, end_s=0.0, jain=None, **tables):
    summary = {
        "flows": list(flows),
        "links": [link or {}],
        "measured_from_s": start_s,
        "duration_s": end_s,
        "jain": jain,
    }
    return Run(summary, "", tables)


def delivering(flows, mbps, start_s=10.0, end_s=20.0):
    """Tables of flows that deliver at constant rates every second; twice that before `start_s`."""
    time = np.arange(1.0, end_s + 1)
    factor = np.where(time > start_s, 1.0, 2.0)
    windows = pl.DataFrame(
        {
            "time_s": np.tile(time, len(flows)),
            "flow": np.repeat(np.arange(len(flows)), time.size),
            "arrived_bytes": np.concatenate([rate / 8e-6 * factor for rate in mbps]),
        }
    )
    numbered = [{**flow, "id": index} for index, flow in enumerate(flows)]
    return {"flows": numbered, "windows": windows, "start_s": start_s, "end_s": end_s}


def background_of(counts, mbps, mean_window=10.0):
    """Flows as the engine has them, web, small and long, forward and in reverse; their rates."""
    flows, rates = [], []
    for group, count in zip(GROUPS, 2 * counts, strict=True):
        kind = GROUPS.index(group) % 3
        flows += [
            {
                "name": f"{group} {index}",
                "mean_window": mean_window,
                "settings": {"receive_window": 64 if kind == 1 else "unlimited"},
            }
            for index in range(count)
        ]
        rates += [mbps[GROUPS.index(group) // 3][kind]] * count
    return flows, rates


def test_background_flows_are_where_the_engine_has_them():
    flows = [{"controller": "bic", "rtt": "40 ms"}, {"controller": "aimd", "rtt": "40 ms"}]
    run = engine.simulate(case(QUICK.at(SETTING), flows, 20.0, quick_s=31).scenario)
    groups = background_flows(run)
    # A fifth of 20 Mbit/s in sessions of 34 kbit/s: 117.6, so 118 of them.
    sizes = {"web": 118, "small": 25, "long": 2}
    assert {group: len(own) for group, own in groups.items()} == {
        group: sizes[group.kind] for group in GROUPS
    }
    # Both directions, and the two flows themselves.
    assert len(run.summary["flows"]) == 2 * 145 + 2
    # What is delivered is less than the link has, however short the small flows live.
    assert 1 < sum(background_mbps(run).values()) < 40


def test_background_has_different_rtts_and_ends():
    setting = {**SETTING, "background_rtts_ms": [100, 300], "small_starts_percent": 50}
    entries = background(setting, 100.0, 60.0)
    own = {group: [flow for flow in entries if flow["name"].startswith(f"{group} ")] for group in GROUPS}
    # Two in the middles of the halves of 100 to 300 ms.
    assert [flow["rtt"] for flow in own[BackgroundGroup("long", "forward")]] == ["150 ms", "250 ms"]
    # 588 sessions in 25 groups: 13 of 24 and 12 of 23.
    counts = [flow["count"] for flow in own[BackgroundGroup("web", "reverse")]]
    assert (counts.count(24), counts.count(23)) == (13, 12)
    # They begin in the first half and end after that, as the engine draws it in each run.
    for flow in own[BackgroundGroup("small", "forward")]:
        assert flow["start"] == {"uniform": ["0 s", "30 s"]}
        assert flow["stop"] == {"uniform": ["0 s", "60 s"]}
    # At 2.5 Gbit/s no more than 400 sessions each way.
    fast = background(setting, 2500.0, 60.0, kinds=("web",))
    assert sum(flow["count"] for flow in fast) == 800


def test_the_setting_is_in_the_scenario():
    setting = {**SETTING, "buffer_ms": 20, "packet_bytes": 1000, "min_rto": "200 ms"}
    scenario = case(QUICK.at(setting), [], 100.0, red=True).scenario
    # 100 Mbit/s for 20 ms: 2 Mbit, 250 packets of 8000 bits; both ways.
    assert scenario["dumbbell"]["queue"]["limit"] == "250 packets"
    assert scenario["dumbbell"]["reverse"]["queue"] == scenario["dumbbell"]["queue"]
    assert (scenario["tcp"]["packet"], scenario["tcp"]["min_rto"]) == ("1000 B", "200 ms")


@pytest.mark.parametrize(
    ("limited", "fast", "others"),
    [("no flow", "unlimited", "unlimited"), ("high-speed flows", 100, "unlimited"), ("all flows", 100, 100)],
)
def test_whose_first_slow_start_is_limited(limited, fast, others):
    flows = [{"controller": "bic", "rtt": "40 ms"}]
    scenario = case(QUICK.at({**SETTING, "limited_slow_start": limited}), flows, 100.0).scenario
    assert scenario["flow"][0]["initial_ssthresh"] == fast
    assert scenario["tcp"]["initial_ssthresh"] == others
    assert "initial_ssthresh" not in scenario["flow"][1]


@pytest.mark.parametrize(
    "item", [item for item in PAPERS["bic"].items if item.is_open], ids=lambda item: item.name
)
def test_every_value_can_be_run(item):
    flows = [{"controller": "bic", "rtt": "40 ms"}]
    for value in item.values:
        effort = QUICK.at({**SETTING, item.name: value.value})
        for red in (False, True):
            engine.read(case(effort, flows, 100.0, red=red).scenario)


def test_figure_1_counts_the_background():
    # Forward 400 * 0.01, 25 * 0.1 and 2 * 3 Mbit/s; in reverse 400 * 0.02 + 25 * 0.2 + 2 * 4 = 21
    # of 100.
    flows, mbps = background_of((400, 25, 2), ((0.01, 0.1, 3.0), (0.02, 0.2, 4.0)))
    flows[400]["settings"]["receive_window"] = "unlimited"
    flows[-3]["mean_window"] = 63.0
    flows[-1]["mean_window"] = 500.0
    run = run_of(**delivering([{"name": "bic"}, *flows], [50.0, *mbps]))
    row = figure_1.FIGURE_1.measure(figure_1.SETUP, run)
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


def test_conditions_are_measured():
    flows, mbps = background_of((500, 25, 2), ((0.05, 0.0, 0.0), (0.06, 0.0, 0.0)))
    row = conditions.CONDITIONS.measure(conditions.ALONE, run_of(**delivering(flows, mbps)))
    # 500 * 0.05 and 500 * 0.06 of 100 Mbit/s.
    assert row == {"forward": pytest.approx(0.25), "reverse": pytest.approx(0.3)}
    flows, mbps = background_of((500, 25, 2), ((0.05, 0.0, 0.0), (0.02, 0.2, 10.0)))
    fast = [{"name": "bic-0", "mean_rtt_ms": 55.0}, {"name": "bic-1", "mean_rtt_ms": 250.0}]
    row = conditions.CONDITIONS.measure(
        conditions.TABLE_3, run_of(**delivering([*fast, *flows], [50.0, 2.0, *mbps]))
    )
    # 500 * 0.02 + 25 * 0.2 + 2 * 10 in reverse.
    assert row == {"reverse": pytest.approx(0.35), "rtt_ms": 55.0}


def test_the_old_setting_was_impossible():
    # A reverse link that is full behind 1000 packets: 40 ms became 94.
    (claim,) = (claim for claim in PAPER.conditions.claims if "RTT of flow 1" in claim.sentence)
    rows = {conditions.ALONE: [{}], conditions.TABLE_3: [{"reverse": 0.9, "rtt_ms": 94.0}]}
    assert not claim.judge(Numbers(rows)).holds


def test_section_vii_measures_windows_and_losses():
    flows = [
        {"mean_window": 300.0, "dropped_packets": 5, "sent_packets": 700, "goodput_mbps": 60.0},
        {"mean_window": 100.0, "dropped_packets": 1, "sent_packets": 300, "goodput_mbps": 10.0},
    ]
    # 6 of 1000 packets.
    assert section_vii.SECTION_VII.measure(section_vii.SLOW, run_of(flows)) == {
        "window": 200.0,
        "loss": pytest.approx(0.006),
        "windows": pytest.approx(3.0),
        "ratio": 6.0,
    }


def test_section_vii_has_the_paper_s_own_tables():
    # All that the text says of tables 2 and 3 holds for the numbers that they print.
    row = dict.fromkeys(section_vii.NUMBERS, 1.0)
    rows = {key: [row] for key in section_vii.SECTION_VII.cases(QUICK.at(SETTING))}
    for key in section_vii.OF_TABLES:
        printed = PAPER["table-2" if key.rate_mbps > 1000 else "table-3"].printed
        rows[key] = [row | {"ratio": printed[str(key.flows), "ratio"]}]
    of_tables = [
        claim.judge(Numbers(rows)).holds
        for claim in PAPER["section-vii"].claims
        if "(ratio" in claim.sentence and "RED" not in claim.sentence
    ]
    assert of_tables == [True] * 7


def test_bic_runs_in_parallel_with_tcp():
    # Equation 1.4: large windows go as the root of the loss rate, small ones faster.
    rows, _ = figures_4_to_8.FIGURE_8.compute(FULL)
    for power, holds in ((0.5, True), (0.82, False)):
        rows["BI-TCP"] = [{at: at.p**-power for at in figures_4_to_8.AT}]
        assert figures_4_to_8.slope(Numbers(rows)).value == pytest.approx(power)
        (claim,) = (claim for claim in PAPER["figure-8"].claims if "in parallel" in claim.sentence)
        assert claim.judge(Numbers(rows)).holds is holds


def test_figure_5_tells_additive_from_binary_growth():
    # Growth 32, 20, -20 (a cut), 19, 5, 2, -1 (less than 5 %, no cut): two of five reach 20.
    window = [100.0, 132.0, 152.0, 132.0, 151.0, 156.0, 158.0, 157.0]
    time = [10.0 + 0.04 * k for k in range(1, 9)]
    windows = pl.DataFrame(
        # Before the measured time and of the other flow: nothing of it counts.
        {"time_s": [9.0, *time, *time], "flow": [0] * 9 + [1] * 8, "window": [9000.0, *window, *range(8)]}
    )
    row = figures_4_to_8.FIGURE_5.measure(
        figures_4_to_8.TWO, run_of(start_s=10.0, end_s=20.0, jain=0.97, windows=windows)
    )
    assert row == {
        "additive": pytest.approx(0.4),
        "binary": pytest.approx(0.6),
        "cuts": 1.0,
        "jain": 0.97,
        # The 99th percentile of 2, 5, 19, 20, 32: 0.96 of the way from the fourth to the fifth.
        "largest_growth": pytest.approx(31.52),
    }


def test_figure_5_follows_climbs_after_large_reductions():
    # From 800 to 700 at 10 s, recovered at 10.1 s; then 32 packets in 0.05 s, a round trip, and from 11.05 s
    # on 1.1 in 0.95 s. The losses at 12 and 13 s are of less than 2 S_max, and of a smaller window.
    at = {0.0: 800, 10.0: 800, 10.001: 700, 10.1: 700, 10.15: 732, 11.0: 780, 11.05: 799.9, 12.0: 801}
    at |= {12.001: 760, 13.0: 790, 13.001: 690, 14.0: 700}
    time = np.round(np.arange(1, 1401) * 0.01, 2)
    window = np.interp(time, list(at), list(at.values()))
    windows = pl.DataFrame({"time_s": time, "flow": [0] * 1400, "window": window, "rtt_ms": [50.0] * 1400})
    events = pl.DataFrame(
        [(5.0, "loss", 700.0, 600.0), (10.0, "loss", 800.0, 700.0), (10.1, "recovered", 700.0, 700.0)]
        + [(12.0, "loss", 801.0, 760.0), (12.1, "recovered", 760.0, 760.0)]
        + [(13.0, "loss", 790.0, 690.0), (13.1, "recovered", 690.0, 690.0)],
        schema=["time_s", "kind", "window_before", "window_after"],
        orient="row",
    ).with_columns(flow=pl.lit(0))
    run = run_of(start_s=9.0, end_s=14.0, windows=windows, events=events)
    row = figures_4_to_8.FIGURE_5.measure(figures_4_to_8.ALONE, run)
    # The last sample below 800 is at 11.13 s.
    assert row["first growth"] == pytest.approx(32)
    assert row["last growth"] == pytest.approx(1.1 * 0.05 / 0.95, rel=1e-6)


@pytest.mark.parametrize(
    ("search", "shrinks"), [("per ACK", math.exp(-0.5)), ("per round trip", 0.5)], ids=["ack", "round-trip"]
)
def test_figure_5_climbs_as_section_vi_says(search, shrinks):
    # 100 Mbit/s in packets of 1040 bytes are 12 019 per second: 481 in 40 ms and 240 in the buffer, so a
    # window of 721 packets overflows. It is seen a round trip later, when probing has added S_max: W = 753.
    # W beta = 94 packets, of which the midpoint is 47 away, more than S_max: the first 30 packets, until the
    # gap is 2 S_max, are added in a straight line, in 0.94 of a round trip, and the search begins. In the
    # analysis the target is the midpoint once per round trip, so that the whole first one adds S_max; in the
    # pseudo-code it is with each ACK, and the gap of 64 shrinks to 64 exp(-0.03) = 62. Either way the first
    # round trip adds 32 packets, less one or two: 54.7 ms, the last RTT measured before it, are 657 ACKs of a
    # window of 674 on average.
    setting = SETTING | {"search": search}
    case_of_one = figures_4_to_8.FIGURE_5.cases(QUICK.at(setting))[figures_4_to_8.ALONE]
    run = engine.simulate(case_of_one.scenario)
    row = figures_4_to_8.FIGURE_5.measure(figures_4_to_8.ALONE, run)
    losses = run.events.filter((pl.col("flow") == 0) & (pl.col("kind") == "loss"))
    assert losses["window_before"][-10:].max() == pytest.approx(753, abs=2)
    assert row["first growth"] == pytest.approx(32, abs=2)
    # The next overflow, at 721, is 32 below the old window and is seen a round trip later, after the gap has
    # shrunk once more. A search up to the old window would end with S_min: here the buffer is full before.
    assert row["last growth"] == pytest.approx(32 * (1 - shrinks), abs=1)
    # Samples of 40 ms end up to 0.7 of a round trip earlier, when more was added.
    assert row["last growth"] < row["last growth of samples"] < row["last growth"] / shrinks


def test_curves_cross_where_they_do():
    # 1/p = 10/sqrt(p) at p = 0.01: 100 packets.
    assert figures_4_to_8._cross(lambda p: 1 / p, lambda p: 10 / p**0.5, 1e-4, 1.0) == pytest.approx(100)


def test_another_beta_turns_the_verdicts_of_figure_8(monkeypatch):
    # beta 0.5 in place of 0.125: R at 1e-6 falls by sqrt(1.5 * 0.125/(1.875 * 0.5)) and more.
    wrong = {
        name: (lambda p: figures_4_to_8.responses.bic(p, cut=0.5)) if name == "BI-TCP" else curve
        for name, curve in figures_4_to_8.WITH_BIC.items()
    }
    monkeypatch.setattr(figures_4_to_8, "WITH_BIC", wrong)
    rows, _ = figures_4_to_8.FIGURE_8.compute(FULL)
    holds = {claim.sentence: claim.judge(Numbers(rows)).holds for claim in PAPER["figure-8"].claims}
    assert not holds["BI-TCP over AIMD at 1e-6"]
    assert not holds["R at 1e-05"]
    rows_of_figure_4, _ = figures_4_to_8.FIGURE_4.compute(FULL)
    assert "BI-TCP" not in rows_of_figure_4


def losses(losing, first_s, kind="loss"):
    """Loss events by which the given number of flows lose in each second from `first_s` on."""
    pairs = [(first_s + k + 0.5, flow) for k, count in enumerate(losing) for flow in range(count)]
    return [{"time_s": time, "flow": flow, "kind": kind} for time, flow in pairs]


def test_figure_2_counts_flows_that_lose_together():
    # 20 epochs with a loss, and one without: in 14 of them 11 of the 20 flows lose, in one 10, in
    # two 6, in one 5, in two one. At least half: 15/20; more than a quarter: 17/20.
    losing = [11] * 7 + [6, 1] + [11] * 7 + [0] + [10, 6, 5] + [1]
    not_counted = [
        *losses([20] * 10, 0.0),  # before the measured time
        *losses([20] * 21, 10.0, kind="timeout"),
        *({"time_s": 10.5 + k, "flow": 20 + k, "kind": "loss"} for k in range(21)),  # background
        {"time_s": 10.6, "flow": 0, "kind": "loss"},  # twice in an epoch
    ]
    events = pl.DataFrame([*losses(losing, 10.0), *not_counted])
    flows, mbps = background_of((2, 1, 1), ((25.0, 50.0, 75.0), (100.0, 50.0, 500.0)))
    fast = [{"name": f"hstcp-{index}"} for index in range(20)]
    tables = delivering([*fast, *flows], [100.0] * 20 + mbps, end_s=31.0)
    run = run_of(**tables, events=events)
    row = figures_2_and_3.FIGURE_2.measure(figures_2_and_3.DROPTAIL, run)
    assert row["half"].value == pytest.approx(0.75)
    assert row["more than half"].value == pytest.approx(0.7)
    assert row["quarter"].value == pytest.approx(0.85)
    assert row["epochs"] == 20.0
    # 2 * 25 + 50 + 75 and 2 * 100 + 50 + 500 of 2500 Mbit/s.
    assert row["forward"] == pytest.approx(0.07)
    assert row["reverse"] == pytest.approx(0.3)
    share = figures_2_and_3.FIGURE_2.trace(figures_2_and_3.DROPTAIL, run)["share"].to_list()
    assert [share[k - 1] for k in (1, 2, 6, 7, 11, 12)] == pytest.approx([1.0, 0.9, 0.85, 0.75, 0.7, 0.0])


def test_more_than_half_and_at_least_half_are_claims_of_their_own():
    claims = {claim.name: claim for claim in PAPER["figure-2"].claims}
    # 0.9 is 0.2 from 0.7, and 0.8 is 0.1.
    numbers = Numbers({figures_2_and_3.DROPTAIL: [{"half": 0.9, "more than half": 0.8}] * 2})
    for share, holds in (("more-than-half", True), ("at-least-half", False)):
        assert claims[f"droptail-{share}-flows-in-about-70-percent"].judge(numbers).holds == holds


def test_figure_3_compares_the_last_quarter_with_the_first():
    # From 10 to 50 s, quarters of 10 s. First: four of 10 and four of 30, Jain 160^2/(8 * 4000) =
    # 0.8. Last: all of 20, long ones of 1 and 3: a tenth of the short ones.
    time = np.arange(1.0, 51.0)
    first = [10.0] * 4 + [30.0] * 4 + [50.0, 50.0]
    last = [20.0] * 8 + [1.0, 3.0]
    between = [7.0, 99.0] * 5
    sizes = [
        np.select([time <= 10, time <= 20, time <= 40], [1000.0, a, b], c)
        for a, b, c in zip(first, between, last, strict=True)
    ]
    windows = pl.DataFrame(
        {
            "time_s": np.tile(time, 10),
            "flow": np.repeat(np.arange(10), time.size),
            "arrived_bytes": np.concatenate(sizes),
        }
    )
    row = figures_2_and_3.FIGURE_3.measure(figures_2_and_3.DROPTAIL, run_of(end_s=50.0, windows=windows))
    assert row == {
        "long_share": pytest.approx(0.1),
        "jain_first": pytest.approx(0.8),
        "jain_last": pytest.approx(1.0),
        # (7 + 20) and (99 + 20) by turns: (4 * 146)^2/(8 * 4 (27^2 + 119^2)).
        "jain_second_half": pytest.approx(341056 / 476480),
    }


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        # Mean 1.3, standard error 0.0577, times Student's 4.303 for three runs: 1.05 to 1.55.
        ((1.2, 1.3, 1.4), True),
        # Mean 1.4: 1.15 to 1.65, beyond the paper's 1.13.
        ((1.3, 1.4, 1.5), False),
        # The interval contains 1, but the mean, 5.1, is far beyond twice that.
        ((0.1, 0.2, 15.0), False),
    ],
)
def test_equal_rtts_share_equally_within_the_interval(ratios, expected):
    claims = {claim.name: claim for claim in PAPER["table-3"].claims}
    claim = claims["aimd-equal-rtts-share-equally"]
    rows = {tables_1_to_3.RttPair("AIMD", 1): [{"ratio": ratio} for ratio in ratios]}
    assert claim.judge(Numbers(rows)).holds is expected


def two_flows(first, second):
    """Two flows sampled every second until 80 s, measured from 40 s on; Mbit/s of each."""
    time = np.arange(1.0, 81.0)
    return pl.DataFrame(
        {
            "time_s": np.tile(time, 2),
            "flow": np.repeat([0, 1], 80),
            # Samples from before the measured time would reverse the ratio.
            "arrived_bytes": np.concatenate(
                [np.where(time > 40, rate, 77.0) / 8e-6 for rate in (first(time), second(time))]
            ),
        }
    )


def test_rtt_ratio_has_the_error_of_both():
    # 2 and 1 Mbit/s. The first alternates by 0.2 between batches of two samples: the standard
    # error of its 20 batches is 0.2 sqrt(20/19)/sqrt(20), times Student's 2.093 it is 4.8 % of 2,
    # and as much of its logarithm.
    # The second does not vary: the ratio's error is that of the first.
    windows = two_flows(lambda t: 2.0 + 0.2 * (-1.0) ** np.ceil(t / 2), lambda t: np.full(t.size, 1.0))
    run = run_of(link={"utilisation": 0.9}, start_s=40.0, end_s=80.0, windows=windows)
    row = tables_1_to_3.TABLE_3.measure(tables_1_to_3.RttPair("AIMD", 6), run)
    assert row["utilisation"] == 0.9
    assert row["ratio"].value == pytest.approx(2.0)
    assert row["ratio"].low == pytest.approx(2.0 * np.exp(-0.0480), abs=1e-3)
    assert row["ratio"].high == pytest.approx(2.0 * np.exp(0.0480), abs=1e-3)


def test_rtt_ratio_to_a_flow_that_gets_nothing():
    windows = two_flows(lambda t: np.full(t.size, 1.0), lambda t: np.zeros(t.size))
    run = run_of(link={"utilisation": 0.9}, start_s=40.0, end_s=80.0, windows=windows)
    row = tables_1_to_3.TABLE_3.measure(tables_1_to_3.RttPair("STCP", 6), run)
    assert row["ratio"].value == np.inf


def test_shares_of_figure_9():
    # 20 Mbit/s: background 100 * 0.01 + 25 * 0.04 = 2, long 2 * 2 = 4, fast 5 + 3 = 8 Mbit/s; what
    # goes in reverse has no share.
    flows, mbps = background_of((100, 25, 2), ((0.01, 0.04, 2.0), (0.5, 0.5, 0.5)))
    tables = delivering([{"name": "aimd-0"}, {"name": "aimd-1"}, *flows], [5.0, 3.0, *mbps])
    run = run_of(**tables, link={"utilisation": 0.75})
    row = figure_9.FIGURE_9.measure(figure_9.Link("AIMD", 20.0), run)
    assert row == {
        "background": pytest.approx(0.1),
        "long": pytest.approx(0.2),
        "fast": pytest.approx(0.4),
        "unused": pytest.approx(0.25),
        "utilisation": 0.75,
    }


def judged_9(part, **changed):
    """Judge a claim of figure 9: all cases alike but for those given by control and rate."""
    same = {"background": 0.1, "long": 0.2, "fast": 0.6, "unused": 0.1, "utilisation": 0.9}
    rows = {key: [dict(same), dict(same)] for key in figure_9.KEYS_9}
    for name, (rate, values) in changed.items():
        control = name.rstrip("_").replace("BI", "BI-TCP")
        for row in rows[figure_9.Link(control, rate)]:
            row |= values
    (claim,) = (claim for claim in PAPER["figure-9"].claims if part in claim.sentence)
    return claim.judge(Numbers(rows))


def test_claims_of_figure_9():
    # Unused 0.18 and 0.2 against 0.1: 1.9 times.
    judged = judged_9("almost twice", HSTCP=(20, {"unused": 0.18}), STCP=(20, {"unused": 0.2}))
    assert (judged.holds, judged.value) == (True, pytest.approx(1.9))
    assert not judged_9("almost twice").holds
    # BI-TCP has 0.1 more than the others and leaves 0.08 less.
    gain = (20, {"fast": 0.7, "unused": 0.02})
    judged = judged_9("mostly bandwidth that was unused", BI=gain)
    # 0.8 of its gain was unused, which is 0.3 more than half of it.
    assert (judged.holds, judged.value) == (True, pytest.approx(0.3))
    assert judged_9("on par", STCP=(100, {"utilisation": 0.88})).holds
    assert not judged_9("on par", STCP=(100, {"utilisation": 0.86})).holds
    # TCP keeps 0.3 next to BI-TCP, 0.25 next to HSTCP and 0.2 next to STCP.
    kept = {"HSTCP": (2500, {"long": 0.15}), "STCP": (2500, {"long": 0.1})}
    assert judged_9("most aggressive", **kept).holds
    assert not judged_9("most aggressive", HSTCP=kept["STCP"], STCP=kept["HSTCP"]).holds
    # 0.63 is 1.05 times 0.6, 0.72 is 1.2 times.
    assert judged_9("500 Mbit/s: STCP", AIMD=(500, {"fast": 0.63})).holds
    assert not judged_9("500 Mbit/s: STCP", AIMD=(500, {"fast": 0.72})).holds


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
            "arrived_bytes": np.concatenate(delivered),
        }
    )
    return run_of(start_s=start_s, end_s=end_s, windows=windows)


def test_fairness_at_several_time_scales():
    # Two flows at a time for 30 s of 150 s: Jain is 1/2 in a fifth of the intervals of 1 and of
    # 5 s. In 25 s the pairs have 3 and 2 turns: 10^2/(4 * 26) in the only interval that counts, a
    # fifth of six. In 75 s the first half-minute gives each 15 s and the rest 45 s: all the same.
    run = fairness_run(150.0, 300.0, 30.0)
    row = figures_10_and_11.FIGURE_10.measure("AIMD", run)
    assert row == {
        figures_10_and_11.Scale(1): pytest.approx(0.5),
        figures_10_and_11.Scale(5): pytest.approx(0.5),
        figures_10_and_11.Scale(25): pytest.approx(100 / 104),
        figures_10_and_11.Scale(75): pytest.approx(1.0),
        figures_10_and_11.Scale(150): pytest.approx(1.0),
    }


def test_fairness_with_red_counts_the_worst_hundredth():
    # 5 s of 100 s are unfair: five intervals of 1 s, of which a hundredth, one, counts. In 25 s the
    # first pair has 25 s and the second 20 s: 90^2/(4 * 2 * (625 + 400)).
    row = figures_10_and_11.FIGURE_11.measure("AIMD", fairness_run(100.0, 200.0, 5.0))
    assert row == {
        figures_10_and_11.Scale(1): pytest.approx(0.5),
        figures_10_and_11.Scale(5): pytest.approx(0.5),
        figures_10_and_11.Scale(25): pytest.approx(8100 / 8200),
    }


def test_fairness_is_measured_after_the_last_start():
    # A minute after the 70 s within which the last flows begin; in full the second half of 600 s.
    quick = figures_10_and_11.FIGURE_10.cases(QUICK.at(SETTING))["STCP"].scenario["run"]
    assert (quick["duration"], quick["warmup"]) == ("160 s", "130 s")
    full = figures_10_and_11.FIGURE_10.cases(FULL.at(SETTING))["STCP"].scenario["run"]
    assert (full["duration"], full["warmup"]) == ("600 s", "300 s")
    # What is measured in a quick run of 30 s.
    row = figures_10_and_11.FIGURE_10.measure("AIMD", fairness_run(130.0, 160.0, 30.0))
    assert set(row) == set(figures_10_and_11.FIGURE_10.probe_of("AIMD", QUICK).keys)
    assert tuple(figures_10_and_11.FIGURE_10.probe_of("AIMD", FULL).keys) == figures_10_and_11.DROPTAIL.scales
    # 300 s count in full, whatever the shorter scales have.
    (claim,) = (claim for claim in PAPER["figure-10"].claims if "STCP stays" in claim.sentence)
    rows = {
        "STCP": [dict.fromkeys(figures_10_and_11.DROPTAIL.scales, 0.5) | {figures_10_and_11.Scale(300): 0.9}]
    }
    assert not claim.judge(Numbers(rows)).holds


def test_shapes_by_hand():
    (row,) = section_vi.SECTION_VI.compute(QUICK)[0][section_vi.SHAPES]
    # 5000 packets: the cut leaves 625 to the maximum, so 625/32 - 2 = 17.5 round trips of S_max
    # and log2(64/0.01) = 12.6 of the search.
    assert row["binary at 5000"] == pytest.approx(12.64 / (17.53 + 12.64), abs=1e-3)
    # Of 10 Gbit/s: 83 333 packets per RTT need 1.5/83 333^2 loss events per packet.
    assert row["packets per loss"] == pytest.approx(83_333**2 / 1.5, rel=1e-3)
    # sqrt(32/2 * 15)/sqrt(1.5), BI-TCP's and Reno's responses at very large windows.
    assert row["most over TCP"] == pytest.approx(math.sqrt(16 * 15 / 1.5), rel=1e-3)
    # At the end of an epoch BI-TCP grows by S_min, at its begin by S_max.
    assert row["growth, BI-TCP"] == pytest.approx(0.01 / 32)
    assert row["growth, STCP"] == pytest.approx(1 / 0.875)


def test_figure_11_compares_deviations_and_not_indices():
    # 0.025 and 0.03 below 1 are 1.25 and 1.5 times 0.02; 0.025 is an index that is lower by half a hundredth.
    scales = figures_10_and_11.RED.scales
    claim = next(claim for claim in PAPER["figure-11"].claims if claim.name == "stcp-below-bi-tcp-at-1-s")
    for index, holds in ((0.975, False), (0.97, True)):
        rows = {"BI-TCP": [dict.fromkeys(scales, 0.98)], "STCP": [dict.fromkeys(scales, index)]}
        assert claim.judge(Numbers(rows)).holds == holds
        assert claim.former.judge(Numbers(rows)).holds
    far = next(claim for claim in PAPER["figure-11"].claims if claim.name == "stcp-far-below-1-at-1-s")
    # 1.3 times 0.76 is 0.988, which is below 1; 1.3 times 0.78 is 1.014.
    for index, holds in ((0.76, True), (0.78, False)):
        assert far.judge(Numbers({"STCP": [dict.fromkeys(scales, index)]})).holds == holds
    rows = {"STCP": [dict.fromkeys(scales, 0.98)], "STCP, droptail": [dict.fromkeys(scales, 0.975)]}
    better = next(
        claim
        for claim in PAPER["figure-11"].claims
        if claim.name == "stcp-converges-better-than-with-droptail"
    )
    assert not better.judge(Numbers(rows)).holds
    assert better.former.judge(Numbers(rows)).holds
