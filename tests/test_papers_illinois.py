"""Measurements of the figures of the Illinois paper, from runs whose numbers are known."""

import tomllib

import numpy as np
import pytest

from ackclock.engine import Run, check, quantity, read
from ackclock.reproduction.claims.numbers import FULL, QUICK, Numbers
from ackclock.reproduction.inference.infer import Search
from ackclock.reproduction.trials.settings import Basis, declared
from ackclock_papers import PAPERS
from ackclock_papers.illinois import (
    conditions,
    figures_1_to_7,
    figures_8_and_10,
    figures_9_and_11_to_13,
    figures_14_and_15,
    findings,
    four_flows,
    measure,
)
from ackclock_papers.illinois.four_flows import ALPHA, Four, OfFlow


def one_run(time_s, window, rtt_ms, events=(), packet="1000 B"):
    """Make a run of one flow; events are pairs of time and kind."""
    flow = {
        "id": 0,
        "name": "flow",
        "goodput_mbps": 80.0,
        "mean_window": 1000.0,
        "timeouts": 4,
        "loss_events": 12,
        "settings": {"packet": packet},
    }
    tables = {
        "windows": {"time_s": time_s, "window": window, "rtt_ms": rtt_ms},
        "events": {"time_s": [at for at, _ in events], "kind": [kind for _, kind in events]},
    }
    summary = {"measured_from_s": 50.0, "flows": [flow], "links": [{"queue_drops": 7}]}
    return Run(summary, "", tables)


SETTING = declared(PAPERS["illinois"].items)


def claim_of(artefact, name):
    """Return a claim of the paper."""
    return next(claim for claim in PAPERS["illinois"][artefact].claims if claim.name == name)


def test_the_overhead_of_several_flows_is_apart_from_that_of_one():
    setting = SETTING | {"overhead": "80 us", "several_overhead": "2 ms"}
    one = figures_8_and_10.FIGURE_8.cases(QUICK.at(setting))[figures_8_and_10.RENO].scenario
    four = figures_9_and_11_to_13.FIGURE_12.cases(QUICK.at(setting))[Four("Illinois")].scenario
    assert (one["tcp"]["overhead"], four["tcp"]["overhead"]) == ("80 us", "2 ms")
    # Four flows are a single entry with a count.
    assert len(four["flow"]) == 1
    alike = figures_9_and_11_to_13.FIGURE_12.cases(QUICK.at(SETTING | {"overhead": "80 us"}))
    assert alike[Four("Illinois")].scenario["tcp"]["overhead"] == "80 us"


def test_figure_8_measures_epochs():
    # The window grows from 625 to 1875 packets in 10 s, again and again; a round trip is 0.1 s.
    time = np.arange(0, 240, 0.01)
    window = 625 + 125 * ((time - 201) % 10)
    events = [
        (30.0, "loss"),
        (100.0, "timeout"),
        (201.0, "loss"),
        (211.0, "timeout"),
        (221.0, "loss"),
        # Within two round trips: the same congestion event.
        (221.15, "loss"),
        (225.0, "stop"),
    ]
    run = one_run(time, window, np.full(time.size, 100.0), events)
    row = figures_8_and_10.FIGURE_8.measure(figures_8_and_10.RENO, run)
    assert row["goodput_mbps"] == 80.0
    assert row["mean_window"] == 1000.0
    # From 201 to 211 and from 211 to 221; that from 100 to 201 began before 200 s.
    assert row["epochs"] == 2
    # After 200 s: losses at 201, 221 and 221.15, a timeout at 211; another timeout before.
    assert (row["loss_events"], row["timeouts"], row["timeouts_whole_run"]) == (3, 1, 2)
    assert row["epoch_s"] == pytest.approx(10)
    assert row["epoch_round_trips"] == pytest.approx(100)
    # BDP 12 500/s * 0.1 s = 1250: 5 s with 937.5 on average, 5 s full: (0.75 + 1)/2 = 0.875.
    assert row["used_share"] == pytest.approx(0.875, abs=1e-3)
    assert row["full_share"] == pytest.approx(0.5, abs=1e-3)
    assert row["full_s"] == pytest.approx(5, abs=0.01)
    assert row["to_full_s"] == pytest.approx(5, abs=0.02)
    assert (row["concave"], row["straight"], row["convex"]) == (0, 1, 0)
    assert np.isnan(row["concave_at"])


def test_longer_packets_fill_the_link_with_fewer():
    # 1250 packets of 1000 B fill 100 Mbit/s in 0.1 s, or 625 of 2000 B: always in this window.
    time = np.arange(0, 240, 0.01)
    window = 625 + 125 * ((time - 201) % 10)
    events = [(at, "loss") for at in (201.0, 211.0, 221.0)]
    run = one_run(time, window, np.full(time.size, 100.0), events, packet="2 kB")
    row = figures_8_and_10.FIGURE_8.measure(figures_8_and_10.RENO, run)
    assert row["used_share"] == row["full_share"] == 1


def test_shapes_are_weighted_by_the_lengths_of_the_epochs():
    # 10 s straight, then 20 s of a parabola that opens downwards: its slope is 400 packets/s at
    # first and changes by 20 per second, so by 16 within the span of 4 % of 20 s: 4 % and more.
    time = np.arange(200, 240, 0.01)
    window = np.where(time < 211, 100 * (time - 200), 5000 - 10 * (231 - time) ** 2)
    events = [(201.0, "loss"), (211.0, "loss"), (231.0, "loss")]
    run = one_run(time, window, np.full(time.size, 100.0), events)
    row = figures_8_and_10.FIGURE_8.measure(figures_8_and_10.RENO, run)
    assert row["concave"] == pytest.approx(20 / 30)
    assert row["straight"] == pytest.approx(10 / 30)
    assert row["convex"] == 0


@pytest.mark.parametrize("packets", [20, 50])
def test_figure_10_measures_the_square_of_the_queue(packets):
    # Round trips of 60 ms, and of 120 ms while the queue grows. 75 packets fill the link of 1250
    # packets/s in 60 ms; the queue's square grows by 0.2 B each 120 ms, up to B after 5 B of them.
    time = np.arange(190, 240, 0.01)
    trips = np.clip((time - 201) / 0.12, 0, 5 * packets)
    window = 75 + np.sqrt(0.2 * packets * trips)
    end_s = 201 + 0.12 * 5 * packets
    rtt_ms = np.where(time < 201, 60.0, 120.0)
    run = one_run(time, window, rtt_ms, [(201.0, "loss"), (end_s, "loss")])
    row = figures_8_and_10.FIGURE_10.measure(figures_8_and_10.Buffer(packets), run)
    assert row["parabola"] == pytest.approx(0.2 * packets, rel=1e-3)
    assert row["epoch_round_trips"] == pytest.approx(5 * packets, rel=1e-3)
    # A buffer that is never filled to 30 % has no such queue.
    assert np.isnan(figures_8_and_10.parabola(run, 1000))


def four_run(goodputs, windows, events):
    """Make a run of four flows; events are time, flow and kind."""
    flows = [
        {"id": k, "name": f"flow {k}", "goodput_mbps": goodput, "mean_window": window, "timeouts": k}
        for k, (goodput, window) in enumerate(zip(goodputs, windows, strict=True))
    ]
    time_s, flow, kind = zip(*events, strict=True)
    tables = {"events": {"time_s": time_s, "flow": flow, "kind": kind}}
    return Run({"measured_from_s": 100.0, "flows": flows}, "", tables)


LOSSES = [
    # Slow start, which does not count; two, four and one flow, each within 200 ms.
    (50.0, 3, "loss"),
    (150.0, 0, "loss"),
    (150.15, 1, "timeout"),
    (160.0, 0, "loss"),
    (160.05, 1, "loss"),
    (160.1, 2, "loss"),
    (160.19, 3, "loss"),
    (170.0, 2, "loss"),
    (170.1, 2, "timeout"),
    (175.0, 2, "stop"),
]


def test_four_flows_are_summed_and_counted():
    run = four_run([10.0, 20.0, 25.0, 45.0], [100.0, 200.0, 250.0, 450.0], LOSSES)
    case = Four("BIC", reno_flows=2)
    row = four_flows.probe(case, FULL).measure(run)
    assert row["goodput_mbps"] == 100.0
    assert row["unused_mbps"] == 0.0
    assert row["timeouts"] == 0 + 1 + 2 + 3
    assert row["events"] == 3
    assert row["losing_flows"] == pytest.approx((2 + 4 + 1) / 3)
    assert row["all_lose"] == pytest.approx(1 / 3)
    # Reno's flows are the first two: (10 + 20)/100.
    assert row["reno_share"] == pytest.approx(0.3)
    # Windows of 250 and 450 packets over 100 and 200.
    assert row["window_ratio"] == pytest.approx(350 / 150)
    assert row[OfFlow("goodput", 3)] == 45.0
    assert row[OfFlow("window", 2)] == 250.0
    assert set(row) == set(four_flows.probe(case, FULL).keys)


def test_four_flows_without_reno_have_no_share_of_reno():
    run = four_run([25.0] * 4, [100.0] * 4, LOSSES)
    assert "reno_share" not in four_flows.probe(Four("BIC"), FULL).measure(run)


def test_mixed_round_trips_have_an_exponent():
    # Windows that are inverse to the round trips of 60, 80, 100 and 120 ms: mu = 1. Two of the
    # longest round trips are 240 ms, so a loss 220 ms after another belongs to it.
    losses = [(150.0, 0, "loss"), (150.22, 3, "loss")]
    run = four_run([25.0] * 4, [100.0, 75.0, 60.0, 50.0], losses)
    case = four_flows.mixed_rtts("Illinois")
    row = four_flows.probe(case, FULL).measure(run)
    assert row["mu"] == pytest.approx(1)
    assert row["events"] == 1
    assert row["losing_flows"] == 2
    assert set(row) == set(four_flows.probe(case, FULL).keys)


def test_figure_9_sums_four_flows_and_takes_one():
    run = four_run([10.0, 20.0, 25.0, 45.0], [1.0] * 4, LOSSES)
    measure = figures_9_and_11_to_13.FIGURE_9.measure
    assert measure(figures_9_and_11_to_13.Counted(4, "BIC"), run)["goodput_mbps"] == 100.0
    alone = one_run([0.0], [1.0], [100.0])
    assert measure(figures_9_and_11_to_13.Counted(1, "BIC"), alone) == {
        "goodput_mbps": 80.0,
        "unused_mbps": 20.0,
    }


def test_alpha_next_to_reno_is_weighted_by_the_round_trips():
    # After 100 s flow 2 has alpha 1 at an RTT of 100 ms and 4 at 200 ms, flow 3 has 1 at 100 ms, so
    # weights are 2, 1 and 2: (2 + 4 + 2)/5. Reno has no alpha; 50 s is before the measurement.
    run = four_run([25.0] * 4, [100.0] * 4, LOSSES)
    windows = {
        "time_s": [50.0, 150.0, 150.0, 150.0, 250.0],
        "flow": [2, 0, 2, 3, 2],
        "alpha": [9.0, None, 1.0, 1.0, 4.0],
        "rtt_ms": [100.0, 100.0, 100.0, 100.0, 200.0],
    }
    case = four_flows.next_to_reno("Illinois")
    row = four_flows.probe(case, FULL).measure(Run(run.summary, "", run.tables | {"windows": windows}))
    assert row[ALPHA] == pytest.approx(1.6)
    assert set(row) == set(four_flows.probe(case, FULL).keys)


def test_the_highest_goodput_leaves_the_least_unused():
    unused = {"Reno": 20.0, "HS-TCP": 8.0, "BIC": 4.0, "C-TCP": 6.0, "Illinois 0.125": 2.0}
    rows = {
        figures_9_and_11_to_13.Counted(1, control): [{"unused_mbps": mbps}]
        for control, mbps in unused.items()
    }
    claim = claim_of("figure-9", "1-illinois-0.125-highest-goodput")
    judged = claim.judge(Numbers(rows))
    # BIC leaves 4 Mbit/s and Illinois 2; with a hundredth more than that, (4 - 2.02) / 4.
    assert judged.holds
    assert judged.value == pytest.approx(0.495)
    rows[figures_9_and_11_to_13.Counted(1, "BIC")] = [{"unused_mbps": 1.0}]
    assert not claim.judge(Numbers(rows)).holds


def test_figure_14_has_intervals_of_batches():
    # After 50 s 40 samples, so batches of two: ten have the mean 9, ten 11. The standard deviation
    # is sqrt(20/19), Student's quantile for 19 degrees of freedom 2.093 (any table), so the half
    # width is 2.093 sqrt(20/19)/sqrt(20) = 2.093/sqrt(19).
    time = np.concatenate((np.arange(0, 50, 0.5), 50.5 + 0.5 * np.arange(40)))
    window = np.concatenate((np.full(100, 1000.0), np.tile([8.0, 10.0, 10.0, 12.0], 10)))
    run = one_run(time, window, np.full(140, 100.0))
    row = figures_14_and_15.FIGURE_14.measure(figures_14_and_15.LossyFlow("Reno", 0.01), run)
    assert row["batch_half_width"] == pytest.approx(2.093 / 19**0.5, rel=1e-4)
    # 4 of 4 + 12 loss events are timeouts.
    assert (row["window"], row["goodput_mbps"], row["timeout_share"]) == (1000.0, 80.0, 0.25)
    assert row["queue_drops"] == 7


def test_congestion_loss_is_counted_by_case():
    # Of fourteen cases three have drops, one of them in its second run only.
    rows = {
        figures_14_and_15.LossyFlow(control, loss): [{"queue_drops": 0.0}] * 2
        for control in ("Reno", "Illinois")
        for loss in figures_14_and_15.LOSSES
    }
    for loss, drops in zip(figures_14_and_15.LOSSES, ((4, 4), (1, 2), (0, 1)), strict=False):
        rows[figures_14_and_15.LossyFlow("Illinois", loss)] = [
            {"queue_drops": float(count)} for count in drops
        ]
    assert figures_14_and_15.share_without_drops(Numbers(rows)).value == pytest.approx(11 / 14)


def test_two_reno_flows_lose_goodput_next_to_illinois():
    def goodputs(*mbps):
        return {OfFlow("goodput", index): goodput for index, goodput in enumerate(mbps)}

    rows = {
        four_flows.next_to_reno("Illinois"): [goodputs(10, 20, 30, 35)],
        Four("Reno"): [goodputs(20, 20, 28, 30)],
    }
    # 30 Mbit/s next to Illinois, 40 next to two of their kind.
    assert figures_9_and_11_to_13.goodput_of_two_renos(Numbers(rows)).value == pytest.approx(0.75)


def test_figure_14_takes_the_median_of_the_loss_rates():
    # Seven ratios of windows, 7 to 1, in each run; 0.5 more in the second: medians 4 and 4.5.
    rows = {}
    for ratio, loss in zip(range(7, 0, -1), figures_14_and_15.LOSSES, strict=True):
        rows[figures_14_and_15.LossyFlow("Reno", loss)] = [{"window": 10.0}] * 2
        rows[figures_14_and_15.LossyFlow("Illinois", loss)] = [
            {"window": 10 * (ratio + more)} for more in (0, 0.5)
        ]
    assert figures_14_and_15.median_gain(Numbers(rows), "window").value == pytest.approx(4.25)


def test_figure_14_wants_a_window_of_about_four_times_renos_at_most_loss_rates():
    def judged(ratios):
        rows = {}
        for ratio, loss in zip(ratios, figures_14_and_15.LOSSES, strict=True):
            rows[figures_14_and_15.LossyFlow("Reno", loss)] = [{"window": 10.0}] * 2
            rows[figures_14_and_15.LossyFlow("Illinois", loss)] = [{"window": 10.0 * ratio}] * 2
        judged = claim_of("figure-14", "window-illinois-about-4-times-reno-at-most-loss-rates").judge(
            Numbers(rows)
        )
        return judged.value, judged.holds

    # 7 to 1 differ from 4 by factors of 1.75, 1.5, 1.25, 1, 1.33, 2 and 4; the fourth smallest is 1.5.
    assert judged(range(7, 0, -1)) == (pytest.approx(1.5), False)
    # Four that differ by 1.2 are enough, however far from 4 the others are.
    assert judged([4.8, 4.8, 4 / 1.2, 4.8, 40, 40, 0.4]) == (pytest.approx(1.2), True)


def test_figure_15_distinguishes_the_noisy_flow_from_the_other():
    run = four_run([3.0, 6.5], [1.0] * 2, LOSSES)
    row = figures_14_and_15.FIGURE_15.measure(figures_14_and_15.NoisyPair(None, False, 16), run)
    assert row == {"noisy_mbps": 3.0, "other_mbps": 6.5, "sum_mbps": 9.5}


def test_noise_is_in_the_first_flow_or_in_both():
    first, both = (figures_14_and_15.NoisyPair(5, noise, 16).flows(SETTING) for noise in (False, True))
    assert [flow.get("rtt_noise") for flow in first] == ["16 ms", None]
    assert [flow.get("rtt_noise") for flow in both] == ["16 ms", "16 ms"]
    assert {flow["params"]["gamma"] for flow in first + both} == {5.0}


@pytest.mark.parametrize(
    "case", [Four("BIC"), four_flows.next_to_reno("Vegas"), four_flows.mixed_rtts("Reno")], ids=str
)
def test_four_flows_are_four(case):
    assert sum(flow.get("count", 1) for flow in case.flows(SETTING)) == 4
    assert len(case.rtts_ms) == 4


def test_thresholds_of_vegas_lie_between_the_noises():
    # Two flows with gamma 5 leave a tenth of 10 Mbit/s halfway from 8 to 12 ms, and with 10 from 16
    # to 24; a rise at 32 ms changes nothing. With 2 the link stays full, whatever the noise.
    sums = {5: [10, 10, 10, 10, 8, 7, 6, 5], 10: [10, 10, 10, 10, 10, 10, 8, 9.5], 2: [10] * 8}
    rows = {
        figures_14_and_15.NoisyPair(gamma, True, sigma_ms): [{"sum_mbps": sum_mbps}]
        for gamma, goodputs in sums.items()
        for sigma_ms, sum_mbps in zip(figures_14_and_15.SIGMAS_MS, goodputs, strict=True)
    }
    numbers = Numbers(rows)
    assert figures_14_and_15._threshold_ms(numbers, 5) == pytest.approx([10])
    assert figures_14_and_15._threshold_ms(numbers, 10) == pytest.approx([20])
    assert figures_14_and_15._threshold_ms(numbers, 2) == pytest.approx([32])
    assert figures_14_and_15.ratio_of_thresholds(numbers, 10, 5).value == pytest.approx(2)


def test_a_noisy_flow_is_averaged_over_all_noises():
    # 9 Mbit/s without noise do not count; the seven noises have 1 to 7.
    rows = {
        figures_14_and_15.NoisyPair(None, False, sigma_ms): [{"noisy_mbps": float(mbps)}]
        for sigma_ms, mbps in zip(figures_14_and_15.SIGMAS_MS, (9, 1, 2, 3, 4, 5, 6, 7), strict=True)
    }
    claim = claim_of("figure-15", "illinois-noisy-flow-keeps-share")
    assert claim.judge(Numbers(rows)).value == pytest.approx(4)


def test_the_least_gain_of_the_buffers_counts():
    rows = {case: [{"goodput_mbps": 9.0}] for case in figures_8_and_10.BUFFERS}
    rows |= {case: [{"goodput_mbps": 8.0}] for case in figures_8_and_10.RENO_BUFFERS}
    rows[figures_8_and_10.RENO_BUFFERS[2]] = [{"goodput_mbps": 10.0}]
    # 9/8 but for one buffer, where it is 9/10.
    claim = claim_of("figure-10", "better-throughput-than-reno-at-any-b")
    assert claim.judge(Numbers(rows)).value == pytest.approx(0.9)


def test_conditions_measure_round_trips_and_the_link():
    run = one_run([0.0, 1.0, 2.0], [1.0] * 3, [None, 100.1, 139.0])
    assert conditions.CONDITIONS.measure(conditions.ALONE, run) == {"smallest_rtt_ms": 100.1}
    row = conditions.CONDITIONS.measure(conditions.NOISELESS, run)
    assert row["queueing_ms"] == pytest.approx(38.9)
    summary = {"links": [{"utilisation": 0.5, "queue_drops": 3}, {"utilisation": 0.0}]}
    row = conditions.CONDITIONS.measure(conditions.LOSSY, Run(summary, "", {}))
    assert row == {"utilisation": 0.5, "queue_drops": 3}


def test_conditions_can_fail():
    # A round trip of 50 ms, a buffer of half the size, a link that congestion fills, and losses that fall on
    # Reno, which has half of the packets.
    rows = {
        conditions.ALONE: [{"smallest_rtt_ms": 50.1}],
        conditions.NOISELESS: [{"queueing_ms": 20.0}],
        conditions.LOSSY: [{"utilisation": 0.99, "queue_drops": 7}],
    }
    claims = PAPERS["illinois"].conditions.claims
    ((case, _),) = claims[-1].reads
    runs = [{"reno": (90 - run % 2, 500, True), "illinois": (10 + run % 2, 500, True)} for run in range(20)]
    numbers = Numbers(rows, losses={case: runs})
    assert not any(claim.judge(numbers).holds for claim in claims)


def test_claims_say_how_curves_are_judged():
    said = (
        f"moving average over {measure.SMOOTH_SHARE:.0%} of the epoch",
        f"a change of slope within {measure.TOLERANCE:.0%}",
        f"a second difference within {measure.LEAST:g} packets",
        f"the first {measure.RECOVERY_RTTS:g} round trips",
    )
    for artefact, name in (
        ("figure-8", "illinois-0.5-concave-for-most-part"),
        ("figure-8", "bic-part-concave"),
        ("section-3", "c-aimd-1-2-concave-for-most-part"),
    ):
        assert all(words in claim_of(artefact, name).tolerance for words in said)


def test_findings_compare_with_the_ends_of_the_claims():
    larger = claim_of("figure-11", "illinois-larger-windows-beside-reno-but-only-slightly")
    assert larger.target.high == findings.MOST_WINDOW_RATIO
    for artefact, name in (
        ("figure-11", "illinois-nearly-equal-windows-whatever-rtt"),
        ("figure-11", "reno-nearly-equal-windows-whatever-rtt"),
        ("figure-13", "illinois-fair-to-large-rtts-equal-windows"),
    ):
        assert claim_of(artefact, name).target[:2] == (-findings.MOST_MU, findings.MOST_MU)


@pytest.mark.parametrize("gamma", figures_14_and_15.GAMMAS)
def test_noises_of_vegas_are_on_both_sides_of_the_threshold(gamma):
    # Two flows keep 2 gamma packets of 1000 bytes in the queue, each of which takes 0.8 ms at 10 Mbit/s.
    limit_ms = round(2 * gamma * 0.8, 9)
    below = max(sigma_ms for sigma_ms in figures_14_and_15.SIGMAS_MS if sigma_ms <= limit_ms)
    beyond = min(sigma_ms for sigma_ms in figures_14_and_15.SIGMAS_MS if sigma_ms >= 2 * limit_ms)
    for name, noise, sigma_ms in (
        (f"link-full-up-to-threshold-{limit_ms:g}-ms", "both", below),
        ("link-under-used-beyond", "both", beyond),
        ("one-noisy-flow-starves-beyond", "one", beyond),
    ):
        ((case, _),) = claim_of("figure-15", f"vegas-{gamma}-{name}").reads
        assert case == f"Vegas {gamma}, {noise}, sigma = {sigma_ms} ms"


def everything():
    """Every case of the paper, at each value of each item that may have several."""
    paper = PAPERS["illinois"]
    for item in paper.items:
        for value in item.values:
            setting = SETTING | ({item.name: value.value} if item.name else {})
            for artefact in (paper.conditions, *paper.artefacts):
                if hasattr(artefact, "cases"):
                    yield setting, artefact.cases(QUICK.at(setting)).items()


def test_every_value_makes_a_scenario_that_is_accepted():
    for _, cases in everything():
        for _, case in cases:
            read(case.scenario)


def test_items_reach_the_flows():
    setting = SETTING | {
        "illinois_recovery": "linux-2.6",
        "reno_recovery": "sack",
        "overhead": "8 us",
        "packet": 1040,
        "min_rto": "1 s",
        "starts": "50 s",
        "access": "1 Gbit/s",
        "vegas_packets": 5,
    }
    assert set(setting) == set(SETTING)
    cases = figures_9_and_11_to_13.FIGURE_11.cases(QUICK.at(setting))
    flows = {}
    for rival in ("Illinois", "Vegas"):
        scenario = tomllib.loads(check(cases[four_flows.next_to_reno(rival)].scenario))
        flows[rival] = [scenario["tcp"] | entry for entry in scenario["flow"]]
    for entry in flows["Illinois"] + flows["Vegas"]:
        assert (entry["overhead"], entry["min_rto"]) == ("8 us", "1 s")
        assert quantity(entry["packet"], "size_bytes") == 1040
        assert entry["access"] == "1 Gbit/s"
        assert entry["start"] == {"uniform": ["0 s", "50 s"]}
    # Two flows of each, Reno's first.
    assert [entry["recovery"] for entry in flows["Illinois"]] == ["sack", "linux-2.6"]
    assert flows["Vegas"][1]["params"]["gamma"] == 5


def test_the_declared_setting_is_what_is_founded_best():
    order = list(Basis)
    for item in PAPERS["illinois"].items:
        ranks = [order.index(value.basis) for value in item.values]
        assert ranks[0] == min(ranks), item.quantity


def test_claims_that_choose_are_not_those_that_test():
    # Figures 11 to 13 share runs: a number that was fitted under one name is not held out.
    claims = Search(PAPERS["illinois"], None, 1, lambda _: None).claims
    fitted = {name for _, name in claims["fit"]}
    held_out = {name for _, name in claims["held_out"]}
    assert not any("short-rtts" in name or "illinois-nearly-equal" in name for name in held_out)
    assert not any("reno" in name and "leaves" in name for name in fitted)


def test_a_line_explains_its_share_of_the_variance():
    # log T is -1, 0, 1 and log x too, but for 0.5 (1, -2, 1), which no line explains: squares of
    # 2 and 6/4, so 2/(2 + 1.5). Different means in a second run change nothing.
    line = np.array([[-1.0, 0.0, 1.0]] * 2)
    log_rtt = line + [[0.0], [3.0]]
    log_share = line + 0.5 * np.array([1.0, -2.0, 1.0]) + [[0.0], [7.0]]
    share = figures_1_to_7._linearity(np.exp(log_share), np.exp(log_rtt))
    assert share == pytest.approx(2 / 3.5)
