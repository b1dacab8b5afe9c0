"""What the study of transient behaviours measures: runs written down, numbers by arithmetic."""

import numpy as np
import pytest

from ackclock.engine import check
from ackclock.reproduction.claims import numbers as efforts
from ackclock.reproduction.claims.numbers import Numbers
from ackclock.runs import Case, run_all
from ackclock_papers import PAPERS
from ackclock_papers.transient import (
    conditions,
    curves,
    figures_1_and_2,
    figures_3_to_6,
    figures_7_to_11,
    figures_12_to_17,
    figures_18_and_19,
    figures_20_to_23,
    figures_24_to_28,
    figures_29_to_36,
    figures_37_and_38,
    measure,
    section_3,
    table_1,
)
from ackclock_papers.transient.setting import (
    GAIMD,
    TCP,
    TEAR,
    TFRC,
    LossyFlow,
    Protocol,
    Reference,
    ReferenceCase,
    Without,
)
from hand_made import made

DECLARED = PAPERS["transient"].setting
FULL, QUICK = efforts.FULL.at(DECLARED), efforts.QUICK.at(DECLARED)


def steps(*parts):
    """Rows of samples: each part is (samples, what every flow sends)."""
    return np.concatenate([np.tile(np.asarray(row, float), (count, 1)) for count, row in parts])


def measured(artefact, numbers, **setting):
    """Verdicts by claim, of cases with one run each."""
    measured_numbers = Numbers({case: [row] for case, row in numbers.items()}, DECLARED | setting)
    return {claim.sentence: claim.judge(measured_numbers).holds for claim in artefact.claims}


def claim_of(artefact, name):
    """Return the claim of this name."""
    return next(claim for claim in PAPERS["transient"][artefact].claims if claim.name == name)


def test_the_setting_reaches_the_scenarios():
    chosen = {
        "overhead": "5 ms",
        "tfrc": "RFC 5348, overhead 1 ms",
        "recovery": "newreno",
        "rtt_sampling": "every_ack",
        "min_rto": "500 ms",
        "limited_transmit": True,
        "whole_windows": False,
        "datagram": "210 B",
    }
    effort = QUICK.at(DECLARED | chosen)
    scenario = figures_7_to_11.FIGURE_7.cases(effort)[TFRC].scenario
    assert [flow.get("overhead") for flow in scenario["flow"]] == ["1 ms", None]
    assert scenario["flow"][1]["packet"] == "210 B"
    tcp = scenario["tcp"]
    assert (tcp["recovery"], tcp["min_rto"], tcp["limited_transmit"]) == ("newreno", "500 ms", True)
    assert tcp["rtt_sampling"] == "every_ack"
    next_to_tcp = figures_12_to_17.FIGURE_13.cases(effort)
    assert [flow["overhead"] for flow in next_to_tcp[GAIMD].scenario["flow"]] == ["5 ms", "5 ms"]
    red = next_to_tcp[ReferenceCase(TFRC, Reference.NEXT_TO_TCP_RED)].scenario
    assert (red["dumbbell"]["queue"]["kind"], red["flow"][0]["overhead"]) == ("red", "1 ms")
    # Unless it is stated otherwise TFRC has what TCP has; TEAR has none, and figure 18 has SACK.
    alike = figures_12_to_17.FIGURE_13.cases(effort.at(effort.setting | {"tfrc": "as ns-2 had it in 2000"}))
    flow = alike[TFRC].scenario["flow"][0]
    assert (flow["controller"], flow["overhead"]) == ("tfrc-2000", "5 ms")
    assert alike[GAIMD].scenario["flow"][0]["params"] == {"whole_windows": False}
    assert "overhead" not in alike[TEAR].scenario["flow"][0]
    long = figures_18_and_19.FIGURE_18.cases(effort)[figures_18_and_19.LongTerm(TCP, 0.01, 15)].scenario
    assert long["tcp"]["recovery"] == "sack"


def test_every_plausible_value_makes_scenarios():
    for item in PAPERS["transient"].items:
        for value in item.values if item.name else ():
            effort = QUICK.at(DECLARED | {item.name: value.value})
            for case in figures_7_to_11.FIGURE_7.cases(effort).values():
                assert check(case.scenario)


def test_damping_makes_tfrc_of_2000_that_of_ns_2():
    # ns-2.35, one flow on 2.5 Mbit/s with 50 packets of buffer and no overhead, two seeds: a cycle of the
    # queue of 105.5 round trips with ca_ 1, its default, and of 31.3 and 33.7 with ca_ 0; deviations of 2.76
    # and 15.5 packets, fifth percentiles of 39.7 and 0.
    for damping, period, deviation, low in ((True, 105.5, 2.76, 39.7), (False, 32.5, 15.5, 0.0)):
        setting = DECLARED | {"tfrc_damping": damping}
        scenario = figures_7_to_11.FIGURE_11.cases(efforts.FULL.at(setting))[TFRC].scenario
        flow = {key: value for key, value in scenario["flow"][0].items() if key != "overhead"}
        ((run,),) = run_all([Case({**scenario, "flow": [flow]}, 1)])
        row = measure.steadiness(run)
        assert row["queue_period"] == pytest.approx(period, rel=0.05)
        assert row["queue_std"] == pytest.approx(deviation, rel=0.1)
        assert row["queue_low"] == pytest.approx(low, abs=1)


# Where ns2_reno matters: 20 ms between a flow's packets spread the losses of a buffer over round trips.
SPREAD_LOSSES = {"overhead": "20 ms", "datagram": "210 B", "axis": "100 ms"}


@pytest.mark.parametrize(
    ("quantity", "change", "value", "allowed"),
    [
        # One flow's mean window at loss events is 83.01 and 83.02 packets (seeds 1 and 2) with bugFix_, its
        # default, and 71.5 and 73.5 without; at 1 % of random loss the CoV is 0.628 with it.
        ("alone", SPREAD_LOSSES | {"ns2_reno": True}, 83.015, 0.03),
        ("alone", SPREAD_LOSSES | {"ns2_reno": False}, 72.5, 4.2),
        ("lossy", SPREAD_LOSSES | {"ns2_reno": True}, 0.628, 0.028),
        # At the paper's setting five seeds have a CoV of 0.550 on average (ns2.csv), and deviate by 0.013.
        ("lossy", {}, 0.550, 0.033),
    ],
)
def test_the_reno_of_ns_2(quantity, change, value, allowed):
    # ns-2.35. Seeds deviate by 0.01, 1.4 and 0.011 with the losses spread. Three times sqrt(1/2 + 1/2) or
    # sqrt(1/2 + 1/5) of that is allowed.
    under, key = {"alone": (section_3.ALONE, "window_at_loss"), "lossy": ("Bernoulli loss of 1.0%", "cov")}[
        quantity
    ]
    case = section_3.Under(TCP, under)
    effort = efforts.FULL.at(PAPERS["transient"].setting | change)
    (runs,) = run_all([Case(section_3.SECTION_3.cases(effort)[case].scenario, 2)])
    probe = section_3.SECTION_3.probe_of(case, effort)
    assert np.mean([probe.measure(run)[key] for run in runs]) == pytest.approx(value, abs=allowed)


def test_readings_reach_the_scenarios():
    chosen = {
        "ns2_reno": True,
        "tfrc_damping": True,
        "tear_silence": "2 RTTs, at least 200 ms",
        "tear_feedback": 8,
        "tear_running_epoch": "not at all",
        "initial_window": 2,
        "delayed_ack": 2,
    }
    cases = figures_7_to_11.FIGURE_11.cases(QUICK.at(DECLARED | chosen))
    assert cases[TFRC].scenario["flow"][0]["params"] == {"damping": True}
    tear = {"silence_rtts": 2.0, "feedback_rtts": 8.0, "running_epoch": "left_out"}
    assert cases[TEAR].scenario["flow"][0]["params"] == tear
    tcp = cases[TCP].scenario["tcp"]
    assert (tcp["initial_window"], tcp["recovery"], tcp["delayed_ack"]) == (2, "reno-ns2", 2)
    # NewReno and SACK are not Reno.
    newreno = figures_7_to_11.FIGURE_11.cases(QUICK.at(DECLARED | chosen | {"recovery": "newreno"}))
    assert newreno[TCP].scenario["tcp"]["recovery"] == "newreno"
    long_term = figures_18_and_19.LongTerm(TCP, 0.01, 15)
    long = figures_18_and_19.FIGURE_18.cases(QUICK.at(DECLARED | chosen))[long_term].scenario
    assert long["tcp"]["recovery"] == "sack"
    # What a figure sets itself stays set.
    without = figures_20_to_23.FIGURE_22.cases(QUICK.at(DECLARED | chosen))[Without(TEAR, "timeout")]
    assert without.scenario["flow"][0]["params"] == tear | {"timeout": False}
    assert "params" not in figures_7_to_11.FIGURE_11.cases(QUICK)[TEAR].scenario["flow"][0]


def test_round_trips_on_the_axis():
    # 4.5 s are 45 round trips of 100 ms, and 18 of the run's 250 ms.
    rows = {TFRC: [{"refill_s": 4.5, "round_trip_s": 0.25}] * 2}
    for axis, count in (("100 ms", 45), ("the mean of the run", 18)):
        numbers = Numbers(rows, {"axis": axis})
        assert measure.in_round_trips(numbers, "TFRC", "refill_s").value == pytest.approx(count)


def test_dips_of_three_protocols_at_least():
    def verdicts(dips, at_s, axis):
        # Within 50 round trips the queue dips to half of that.
        rows = {
            protocol: {"queue_dip": dip, "queue_dip_50": dip / 2, "dip_s": time_s, "round_trip_s": 0.25}
            for protocol, dip, time_s in zip(Protocol, dips, at_s, strict=True)
        }
        return list(measured(PAPERS["transient"]["figure-25"], rows, axis=axis).values())

    # The third of 0.3, 0.5, 0.9, 1.2 is below 1; the median of 1, 2, 3 and 20 s is 2.5 s.
    # Deep with all four would be at most 0.5; within 50 round trips 1.2 becomes 0.6, and 0.9 becomes 0.45.
    assert verdicts([0.5, 1.2, 0.3, 0.9], [2, 20, 1, 3], "100 ms") == [True, False, False, True]
    assert verdicts([0.5, 0.8, 0.3, 0.9], [2, 20, 1, 3], "100 ms") == [True, False, True, True]
    assert verdicts([0.5, 0.4, 0.3, 0.5], [2, 20, 1, 3], "100 ms") == [True, True, True, True]
    # 2.5 s are 10 round trips of 250 ms, less than half of 25.
    assert verdicts([0.5, 1.2, 0.3, 1.1], [2, 20, 1, 3], "the mean of the run") == [False] * 4


def test_speeds_are_compared_with_the_fastest_and_the_slowest_of_the_others():
    def verdicts(name, tear):
        times = {TCP: 10, GAIMD: 20, TFRC: 15, TEAR: tear}
        numbers = Numbers({protocol: [{"half_way": time}] * 2 for protocol, time in times.items()}, DECLARED)
        compared = {"tcp-fastest-of-four", "tear-far-slower-than-others"}
        return {
            claim.name: claim.judge(numbers).holds
            for claim in PAPERS["transient"][name].claims
            if claim.name in compared
        }

    # 1.01 times 10 is 10.1.
    for artefact in ("figure-21", "figure-33"):
        for tear, holds in ((10.2, True), (10.05, False), (9, False)):
            assert verdicts(artefact, tear) == {"tcp-fastest-of-four": holds}
    # The slowest of the others needs 20, and 1.3 times that is 26.
    for tear, holds in ((27, True), (25, False)):
        assert verdicts("figure-22", tear) == {"tear-far-slower-than-others": holds}


def test_the_bernoulli_loss_that_a_flow_has_with_the_sources():
    lossy_runs = {
        LossyFlow(protocol, rate): {"loss": rate, "cov": cov}
        for protocol in Protocol
        for rate, cov in zip(figures_7_to_11.LOSSES, (0.2, 0.3, 0.5, 0.6), strict=True)
    }
    # Half way from 0.5 % to 1 % the CoV is 0.4; below 0.25 % it counts as 0.2.
    with_sources = {
        TCP: {"loss": 0.0075, "cov": 0.41},
        GAIMD: {"loss": 0.0075, "cov": 0.39},
        TFRC: {"loss": 0.001, "cov": 0.21},
        TEAR: {"loss": 0.001, "cov": 0.19},
    }
    figure = PAPERS["transient"]["figure-7"]
    held = measured(figure, with_sources | lossy_runs)
    # 0.41/0.4 = 1.025 and 0.21/0.2 = 1.05 are more, and less than 1.3 times as much.
    assert list(held.values()) == [True, False, True, False] * 2
    much = with_sources | {TCP: {"loss": 0.0075, "cov": 0.53}}
    held = measured(figure, much | lossy_runs)
    assert list(held.values()) == [True, False, True, False, False, False, True, False]
    flow = {"sent_packets": 400, "dropped_packets": 3}
    row = figures_7_to_11.FIGURE_7.measure(TCP, made(np.ones((1200, 1)), flows=[flow]))
    assert row["loss"] == pytest.approx(0.0075)


def test_what_is_stated_of_the_simulations():
    sources = [{"goodput_mbps": 0.1 * rate_factor} for rate_factor in (1, 2, 3)]
    row = conditions.CONDITIONS.measure(conditions.SOURCES, made(np.ones((2, 3)), flows=sources))
    assert row == pytest.approx({"load": 0.6})
    lost = [{"sent_packets": 2000, "dropped_packets": 25}]
    row = conditions.CONDITIONS.measure(conditions.ONE_PER_CENT, made(np.ones((2, 1)), flows=lost))
    assert row == pytest.approx({"lost": 0.0125})
    topology = {"rtt_ms": 103.3, "product": 31.25, "longest_queue": 50, "access_drops": 0}

    def impossible(load, lost, **changed):
        rows = {
            figures_1_and_2.ONE_FLOW: topology | changed,
            conditions.SOURCES: {"load": load},
            conditions.ONE_PER_CENT: {"lost": lost},
        }
        return [name for name, good in measured(PAPERS["transient"].conditions, rows).items() if not good]

    assert impossible(0.83, 0.01) == []
    # 2.5/3 times 1.5 is 1.25.
    assert impossible(1.26, 0.01) == ["the ON/OFF sources offer a third of 2.5 Mbit/s"]
    assert impossible(0.83, 0.02) == ["a packet in a hundred is lost"]
    assert impossible(0.83, 0.01, rtt_ms=120) == ["a round trip without a queue takes 100 ms"]


def test_what_formulas_give_needs_no_run():
    rows = {
        key: dict.fromkeys(table_1.TABLE_1.probe_of(key).keys, 0.0) for key in table_1.TABLE_1.cases(QUICK)
    }
    held = measured(PAPERS["transient"]["table-1"], rows)
    formulas = [claim for claim in PAPERS["transient"]["table-1"].claims if not claim.reads]
    assert len(formulas) == len(table_1.CALCULATED)
    # Equation 7 as printed has (64 3 + 6.4 + 0.64 + 0.064 + ...)/(64 - 6.4 - ...) = 3.5 = 1.87^2.
    assert [claim.sentence for claim in formulas if not held[claim.sentence]] == [
        "CoV of TCP and GAIMD at 20%, formula (7)"
    ]


def test_the_number_farthest_from_a_value():
    # 1.7 less 1.4 is more than 1.9 less 1.7.
    numbers = Numbers({"near": [{"cov": 1.9}], "far": [{"cov": 1.4}], "other": [{"cov": 9.0}]})
    assert table_1.farthest(numbers, ["near", "far"], "cov", 1.7).value == 1.4


def test_labels_are_those_of_the_page():
    assert [str(protocol) for protocol in Protocol] == ["TCP", "GAIMD", "TFRC", "TEAR"]
    assert str(ReferenceCase(TEAR, Reference.PERIODIC)) == "TEAR, periodic"
    assert str(ReferenceCase(TCP, Reference.ALONE)) == "one TCP"
    assert str(Without(TEAR, "timeout")) == "TEAR without timeout"
    assert str(figures_3_to_6.LossyFlow(TCP, 0.005)) == "TCP, 0.5%"
    assert str(figures_18_and_19.LongTerm(GAIMD, 0.17, 60)) == "GAIMD, 17.0%, 60 s"
    assert str(table_1.Growing(Without(TFRC, "discounting"))) == "TFRC without discounting, growing"


def test_cases_of_different_kinds_are_different():
    # Two kinds of table 1 have the same parameter; as keys they must not meet.
    assert table_1.EightFlows(TCP) != table_1.Growing(TCP)
    for effort in (FULL, QUICK):
        # Four protocols, each with eight flows and at two loss rates; five that grow.
        assert len(table_1.TABLE_1.cases(effort)) == 4 * 3 + 5


def test_a_round_trip_is_the_mean_of_the_flows():
    # 150 and 250 ms: a round trip of 200 ms has two samples. The datagrams have none.
    packets = np.tile([[3.0, 0.0, 9.0], [3.0, 2.0, 9.0]], (600, 1))
    counted = measure.rounds(
        made(
            packets,
            controllers=("reno", "tfrc", "onoff"),
            rtt_ms=(150.0, 250.0, None),
            queue=np.tile([10.0, 20.0], 600),
        )
    )
    assert counted.width_s == pytest.approx(0.2)
    # 120 s have 600 of them; the change, at 100 s, begins number 500, measuring at 50 s 250.
    assert counted.sent.shape == (600, 2)
    assert (counted.first, counted.change) == (250, 500)
    # 3 + 3 and 0 + 2 packets; a queue of (10 + 20)/2.
    assert np.allclose(counted.sent, [6.0, 2.0])
    assert np.allclose(counted.queue, 15.0)


def test_a_round_trip_begins_at_the_change():
    # 330 ms are three samples. 100 s are 333 of these and 0.1 s, which is left out at the start.
    counted = measure.rounds(made(steps((1000, [1]), (200, [5])), rtt_ms=(330.0,)))
    assert counted.change == 333
    # 3 samples of 1 packet, then 3 of 5.
    assert counted.sent[332:334, 0] == pytest.approx([3.0, 15.0])
    # The first that begins after 50 s: 0.1 + 167 * 0.3 = 50.2 s.
    assert counted.first == 167


def test_steadiness():
    # 130 s: 800 round trips of 100 ms are measured, 20 cycles of a queue of 0 and of 40 packets.
    row = measure.steadiness(
        made(
            np.tile([[10.0, 20.0], [30.0, 20.0]], (650, 1)),
            queue=np.tile(np.repeat([0.0, 40.0], 20), 33)[:1300],
            window=np.where(np.arange(1300) < 400, 99.0, 64.0),
        )
    )
    # 10 and 30: mean 20, standard deviation 10. The other flow is constant.
    assert row["rate"] == pytest.approx(20)
    assert row["cov"] == pytest.approx(0.5)
    assert row["mean_cov"] == pytest.approx(0.25)
    # (10 + 20)^2/(2 (100 + 400)) = 0.9 and (30 + 20)^2/(2 (900 + 400)) = 25/26, by turns.
    assert row["fairness"] == pytest.approx((0.9 + 25 / 26) / 2)
    assert row["fairness_std"] == pytest.approx((25 / 26 - 0.9) / 2)
    assert (row["queue"], row["queue_std"]) == pytest.approx((20, 20))
    assert (row["queue_low"], row["queue_empty"]) == pytest.approx((0, 0.5))
    assert row["queue_period"] == pytest.approx(40)
    # The 99 packets are of the first 40 s.
    assert row["largest_window"] == 64
    # 0.9 of 2.5 Mbit/s are 28.1 packets in 100 ms: every other round trip.
    assert row["steady"] == pytest.approx(0.5)


@pytest.mark.parametrize("noise", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("period", [20, 50, 100])
def test_noise_makes_no_cycles(period, noise):
    # A queue that grows from 10 to 30 packets, again and again, with noise of up to a fifth of that: 25
    # cycles of 50 round trips, at whose ends noise moves the first and the last by less than a round trip
    # each.
    index = np.arange(1300)
    queue = 10 + 20 * (index % period) / period + np.random.default_rng(1).normal(0, noise, 1300)
    row = measure.steadiness(made(np.full((1300, 1), 10.0), queue=queue))
    assert row["queue_period"] == pytest.approx(period, rel=0.03)


def test_a_queue_that_does_not_come_back_has_no_cycle():
    for queue in (np.full(1300, 5.0), np.arange(1300.0)):
        assert np.isnan(measure.steadiness(made(np.full((1300, 1), 10.0), queue=queue))["queue_period"])


def test_a_claim_keeps_its_check_of_rates_per_100_ms():
    # Round trips of 300 ms with 30 packets each, all in their first 100 ms: no variation per round trip,
    # and per 100 ms a mean of 10 and a standard deviation of sqrt((20^2 + 2 10^2)/3).
    row = measure.steadiness(made(np.tile([[30.0], [0.0], [0.0]], (434, 1)), rtt_ms=[300]))
    assert row["cov"] == pytest.approx(0, abs=1e-9)
    assert row["cov_100_ms"] == pytest.approx(np.sqrt(200) / 10, rel=0.01)
    # At 31.25 packets in 100 ms the link's rate is 93.75 in 300 ms: 90 of them are more than 0.9 of it.
    row = measure.steadiness(made(np.tile([[90.0], [0.0], [0.0]], (434, 1)), rtt_ms=[300]))
    numbers = Numbers({TCP: [row]})
    claim = claim_of("figure-9", "tcp-sends-at-link-speed-most-time")
    assert claim.judge(numbers).value == 1
    # Per 100 ms every third has more.
    assert claim.former.judge(numbers).value == pytest.approx(1 / 3, rel=0.01)
    assert (claim.judge(numbers).holds, claim.former.judge(numbers).holds) == (True, False)
    assert claim.former.tolerance == "rates per 100 ms"


def test_round_trips_without_a_packet_have_no_fairness():
    row = measure.steadiness(made(np.tile([[2.0, 2.0], [0.0, 0.0]], (600, 1))))
    assert (row["fairness"], row["fairness_std"]) == pytest.approx((1, 0))
    assert np.isnan(row["largest_window"])


@pytest.mark.parametrize(("dip", "lowest"), [(139, 0.5), (140, 2.0)])
def test_response(dip, lowest):
    # Two flows fall from 10 to 1 and 3 at once, at round trip 100; one is silent for another one.
    sent = steps((100, [10, 10]), (200, [1, 3]))
    sent[dip, 1] = 0
    response = measure.response_of(sent, 100)
    assert (response.before, response.after, response.end_share) == pytest.approx((10, 2, 0.2))
    # They fall at once: within the first round trip.
    assert response.half_way == 1
    assert response.quarter_at_20 == pytest.approx(1)
    # The next 40 end before 140: the lowest are 1 and 0, or 1 and 3, over a mean of 2.
    assert response.lowest_share == pytest.approx(lowest / 2)
    assert response.zero_share == pytest.approx(1.0 if dip < 140 else 0.5)
    # Five round trips of which one has 0.5 in place of 2.
    assert response.lowest == pytest.approx((4 * 2 + 0.5) / 5)


@pytest.mark.parametrize("half", [5, 20])
def test_a_ramp_is_half_way_in_its_middle(half):
    # From 10 to 2 packets per round trip in a straight line: half of the change is covered after half of the
    # time, in the round trip before that it is not yet, and the next has ended one later.
    middles = np.arange(300) + 0.5 - 100
    sent = 10 - 8 * np.clip(middles / (2 * half), 0, 1)
    response = measure.response_of(sent[:, None], 100)
    assert half <= response.half_way <= half + 1
    # The 20th round trip lies between 20 and 21.
    assert response.quarter_at_20 == pytest.approx(min(20.5 / (2 * half), 1))


def test_half_of_a_change_may_never_be_covered():
    # The new rate is that of the last half of the time: it is 2 there, and until then 7 of 10.
    sent = steps((100, [10]), (99, [7]), (101, [2]))
    assert measure.response_of(sent, 100).half_way == pytest.approx(100, abs=1)
    assert measure.until(np.array([False, False])) == np.inf
    assert measure.until(np.array([False, True])) == 1


def test_pictures_show_the_fairness_of_the_flows_that_send():
    # All four send alike; two stop at 100 s. Datagrams start and stop, too.
    packets = steps((1000, [2, 2, 2, 2, 7]), (400, [4, 4, 0, 0, 7]))
    starts = [(0.0, flow, "start") for flow in range(5)]
    stops = [(60.0, 4, "stop"), (100.0, 2, "stop"), (100.0, 3, "stop")]
    run = made(
        packets,
        controllers=("tfrc", "tfrc", "tfrc", "tfrc", "cbr"),
        events=starts + stops,
        queue=np.arange(1400.0),
        window=np.arange(1400.0),
    )
    frame = curves.STEP.trace(TFRC, run)
    assert frame["round_trip"].to_list() == list(range(900, 1301))
    assert np.allclose(frame["fairness"], 1)
    assert frame["rate"].to_list() == [2.0] * 100 + [4.0] * 301
    # The n-th round trip is the n-th sample, counted from 0.
    assert frame["queue"].to_list() == pytest.approx(list(range(900, 1301)))
    assert frame["window"].to_list() == pytest.approx(list(range(900, 1301)))
    assert curves.STEP.trace(ReferenceCase(TFRC, Reference.ALONE), run) is None


def test_sixteen_flows_of_which_two_kinds_alternate():
    # 1 and 3 by turns: over time and over flows the mean is 2 and the standard deviation 1.
    turns = (np.arange(1200)[:, None] + np.arange(16)) % 2
    row = figures_1_and_2.FIGURE_2.measure(figures_1_and_2.SIXTEEN_FLOWS, made(1 + 2 * turns))
    assert (row["over_time"], row["over_flows"]) == pytest.approx((0.5, 0.5))
    assert (row["difference"], row["jain_difference"]) == pytest.approx((0, 0))
    # 1/(1 + 0.25) = 0.8 = (8 + 24)^2/(16 (8 + 72)).
    assert (row["jain"], row["jain_predicted"]) == pytest.approx((0.8, 0.8))


def test_topology():
    links = [{"max_queue_packets": 50, "queue_drops": 9}] + [{"queue_drops": n} for n in (0, 2, 1)]
    row = figures_1_and_2.FIGURE_1.measure(figures_1_and_2.ONE_FLOW, made([[1], [1]], links=links))
    assert row["access_drops"] == 3
    assert row["longest_queue"] == 50
    # 2.5 Mbit/s times 100 ms in packets of 8000 bits.
    assert row["product"] == pytest.approx(31.25)


def test_means_over_fifteen_seconds():
    # 15 s of 1 and 3: CoV 0.5. 15 s of 4 and 0 by turns: both have 2, CoV 0. 10 s do not count.
    packets = np.concatenate(
        [
            steps((500, [9, 0]), (150, [1, 3])),
            np.tile([[4.0, 0.0], [0.0, 4.0]], (75, 1)),
            steps((100, [9, 0])),
        ]
    )
    row = figures_18_and_19.FIGURE_18.measure(figures_18_and_19.LongTerm(TCP, 0.01, 15), made(packets))
    assert row["cov"] == pytest.approx(0.25)


def test_eight_flows_join():
    # Eight have 4, then 3 and the new ones 1 for 20 round trips, then all 2.
    packets = steps((1000, [4] * 8 + [0] * 8), (20, [3] * 8 + [1] * 8), (480, [2] * 16))
    # Before, every 25 round trips have a lowest queue of 20.
    queue = np.full(1500, 40.0)
    queue[500:1000:25] = 20
    queue[1020] = 10
    row = figures_24_to_28.FIGURE_26.measure(TCP, made(packets, queue=queue))
    assert row["end_share"] == pytest.approx(0.5)
    # 40 - 20/25 = 39.2 on average.
    assert (row["queue_before"], row["queue_low"]) == pytest.approx((39.2, 10))
    assert row["queue_low_share"] == pytest.approx(10 / 39.2)
    assert (row["queue_dip"], row["queue_dip_50"], row["dip_s"]) == pytest.approx((0.5, 0.5, 2.0))
    # 30 round trips after the change is too late for the first 25.
    queue[1020], queue[1030] = 40, 5
    row = figures_24_to_28.FIGURE_26.measure(TCP, made(packets, queue=queue))
    assert (row["queue_dip"], row["queue_dip_50"]) == pytest.approx((2.0, 0.25))
    assert row["round_trip_s"] == pytest.approx(0.1)
    # (8 * 3 + 8)^2/(16 (8 * 9 + 8)) = 0.8, and 1 before and after.
    assert row["fairness_before"] == pytest.approx(1)
    assert row["fairness_at_once"] == pytest.approx(0.8)
    assert row["fairness_after"] == pytest.approx(1)
    # Ten round trips of which k have 0.8: 1 - 0.02 k is at least 0.85 from k = 7 on, after 13.
    assert row["fair_again_s"] == pytest.approx(1.3)
    # 20 round trips with 3 and 20 with 2, after 4.
    assert row["soon_share"] == pytest.approx(2.5 / 4)


def test_the_chain_is_solved_without_its_formula():
    # Factor 2 follows a loss in factor 1: 0.2 of 0.8; factor 64 has what the others leave, 0.2^6.
    solved = figures_37_and_38._solved()
    assert solved[:2] == pytest.approx([0.8, 0.16])
    assert (solved[6], sum(solved)) == pytest.approx((0.000064, 1))


def test_smoothness_is_correlated_with_fairness():
    def verdict(fairness):
        rows = {}
        for ends in (section_3.ALIKE, section_3.RED):
            for protocol, cov, fair in zip(Protocol, (0.4, 0.3, 0.2, 0.1), fairness, strict=True):
                rows[section_3.Under(protocol, ends)] = [{"mean_cov": cov, "fairness": fair}]
        return section_3.correlation_of_smoothness_and_fairness(Numbers(rows)).value

    # On a line that rises with smoothness, and on one that falls.
    assert verdict((0.6, 0.7, 0.8, 0.9)) == pytest.approx(1)
    assert verdict((0.9, 0.8, 0.7, 0.6)) == pytest.approx(-1)


def test_eight_flows_leave():
    # Eight have 1 and eight 3; those that stay have 2 at once.
    packets = steps((1000, [1] * 8 + [3] * 8), (500, [2] * 8 + [0] * 8))
    queue = np.full(1500, 45.0)
    queue[1005:1025] = 2
    queue[1025:] = 40
    row = figures_29_to_36.FIGURE_36.measure(TCP, made(packets, queue=queue))
    # (8 + 24)^2/(16 (8 + 72)) = 0.8.
    assert (row["fairness_before"], row["fairness_after"]) == pytest.approx((0.8, 1))
    # At once: within the first round trip.
    assert (row["half_way"], row["all_half_way"]) == (1, 1)
    # The 45 packets before it empties do not count.
    assert (row["least_queue"], row["refill_s"]) == pytest.approx((2, 2.5))
    assert row["fairness_change"] == pytest.approx(0.2)


def test_a_queue_that_empties_late_is_not_emptied():
    queue = np.full(1500, 30.0)
    queue[1050:] = 0
    packets = steps((1000, [1] * 16), (500, [2] * 8 + [0] * 8))
    row = figures_29_to_36.FIGURE_36.measure(TCP, made(packets, queue=queue))
    assert (row["least_queue"], row["refill_s"]) == (30, float("inf"))


def test_growth_without_losses():
    # 5 packets per round trip, and 0.2 more in each round trip after the change.
    rate = 5 + 0.2 * np.maximum(np.arange(1120) - 1000, 0)[:, None]
    row = figures_29_to_36.FIGURE_32.measure(TCP, made(rate))
    # Numbers 45 to 54 after it: 49.5 * 0.2 on average.
    assert row["before"] == pytest.approx(5)
    assert row["rise"] == pytest.approx(9.9)
    assert table_1.TABLE_1.measure(table_1.Growing(TCP), made(rate)) == pytest.approx({"increase": 0.2})


def test_the_worst_must_be_smoother_than_the_best():
    claim = claim_of("figure-3", "tfrc-and-tear-smoother-than-tcp-and-gaimd")

    def holds(**cov):
        return claim.judge(Numbers({Protocol[name]: [{"cov": x}] for name, x in cov.items()})).holds

    assert holds(TCP=0.5, GAIMD=0.4, TFRC=0.39, TEAR=0.1)
    assert not holds(TCP=0.5, GAIMD=0.3, TFRC=0.39, TEAR=0.1)
    # What lies between them beyond a hundredth of 0.3, (0.4 - 0.303)/0.4, says how far from holding it is.
    rows = {protocol: [{"cov": x}] for protocol, x in zip(Protocol, (0.5, 0.4, 0.3, 0.1), strict=True)}
    assert claim.judge(Numbers(rows)).value == pytest.approx(0.2425)


def test_tcp_in_place_of_every_protocol_turns_verdicts():
    # The same CoV for all: nothing is smoother, nothing is in order.
    numbers = Numbers({key: [{"cov": 0.52}] * 2 for key in figures_3_to_6.FIGURE_6.cases(QUICK)})
    held = {claim.sentence: claim.judge(numbers).holds for claim in PAPERS["transient"]["figure-6"].claims}
    # 0.52 is within a quarter of 0.51 and 0.58, both of TCP, and of no other value; the ratios of
    # equal numbers are 1.
    assert {name for name, good in held.items() if good} == {
        "TCP at 1%",
        "TCP at 1 %: near the prediction",
        "GAIMD is as smooth as TCP at 8 %",
        "TFRC's CoV stays low up to 4 %",
        "TEAR's CoV is nowhere lower than the study says",
    }


def test_all_that_is_compared_is_measured_but_not_shown():
    shown = {key for key in figures_12_to_17.FIGURE_15.cases(FULL) if not isinstance(key, ReferenceCase)}
    assert shown == set(Protocol)


def test_round_trips_until_something_is_reached():
    assert measure.until(np.array([False, False, True, False])) == 2.0
    assert measure.until(np.array([True])) == 0.0
    assert measure.until(np.array([False, False])) == np.inf


def test_mean_fairness_leaves_out_silence():
    # (1 + 3)^2/(2 (1 + 9)) = 0.8, then 1 for equal rates; nothing is sent in the third.
    assert measure.mean_fairness(np.array([[1.0, 3.0], [2, 2], [0, 0]])) == pytest.approx(0.9)


def test_a_former_check_compares_as_many_runs_as_all_cases_have():
    """Figure 13 as it was first counted, where TEAR has more runs than its reference on a RED link."""
    paper = PAPERS["transient"]
    figure = paper["figure-13"]
    claim = claim_of("figure-13", "f-with-tear-similar-on-red-link")
    cases = figure.cases(efforts.FULL.at(paper.setting))
    rows = {case: [{"fairness": 0.7, "fairness_100_ms": 0.6}] * 5 for case in cases}
    rows[TEAR] = [{"fairness": 0.7, "fairness_100_ms": 0.5}] * 12
    # 0.6 less 0.5 in each of the five runs that both have.
    assert claim.former is not None
    numbers = claim.former.shared(Numbers(rows))
    assert claim.former.judge(numbers).value == pytest.approx(0.1)
