"""The suites: every cell can be run, and the suites' own metrics are right."""

from itertools import chain
from typing import cast

import numpy as np
import polars as pl
import pytest

from ackclock import engine
from ackclock.engine import Run, number
from ackclock.summary import Summary
from ackclock_evaluate import measures, timelines
from ackclock_evaluate.cell import _GROUP, _SCALE, _WORDS
from ackclock_evaluate.setting import BASELINES, STANDARD, Bottleneck, Mode, Subject, change
from ackclock_evaluate.suites import SUITES
from hand_made import made
from wrong_base import wrong_base


@pytest.mark.parametrize("name", list(SUITES))
@pytest.mark.parametrize("mode", ["quick", "full"])
def test_suites_are_complete(name: str, mode: Mode) -> None:
    ids = set()
    for criterion in SUITES[name]:
        assert criterion.id not in ids
        ids.add(criterion.id)
        assert criterion.section
        if criterion.cells is None:
            assert criterion.not_tested
            continue
        cells = criterion.cells(mode)
        assert cells
        assert len({cell.name for cell in cells}) == len(cells)
        for cell in cells:
            assert cell.judged or cell.limits
            if mode == "quick":
                for part in cell.parts(Subject(BASELINES[1])).values():
                    engine.read(part.scenario)


def test_a_satellite_hands_over() -> None:
    (leo,) = [criterion for criterion in SUITES["adversaries"] if criterion.id == "leo"]
    assert leo.cells is not None
    scenario = leo.cells("quick")[0].parts(Subject("reno"))["run"].scenario
    # Seven handovers in 120 s, each with a rate, both delays, and the loss on and off.
    assert len(scenario["event"]) == 7 * 5
    assert change(15, "dumbbell.loss.rate", "100 %") in scenario["event"]


@pytest.mark.parametrize("error_ms", [1.0, 20.0])
def test_the_second_path_was_shorter(error_ms: float) -> None:
    # Two packets in flight leave the path empty, so the RTT is that of the path: 40 ms and the
    # transmission of a packet or two, 0.24 ms on the bottleneck and 0.024 ms before it.
    subject = Subject("constant", {"window": 2.0})
    scenario = wrong_base(subject, STANDARD, error_ms, 10.0)
    run = engine.simulate(engine.read(scenario), record=True)
    for flow, before_ms in ((0, 40.0), (1, 40.0 - error_ms)):
        table = run.windows.filter(pl.col("flow") == flow).sort("time_s")
        rtts_ms = dict(zip(table["time_s"].round(3), table["rtt_ms"], strict=True))
        assert rtts_ms[1.0] == pytest.approx(before_ms, abs=1.5)
        assert rtts_ms[9.0] == pytest.approx(40.0, abs=1.5)


@pytest.mark.parametrize(("bucket_ms", "burst"), [(100, "125000 B"), (10, "12500 B")])
def test_a_bucket_is_a_time_at_its_rate(bucket_ms: int, burst: str) -> None:
    # 10 Mbit/s for 0.1 s are 125 kB.
    (policer,) = [criterion for criterion in SUITES["adversaries"] if criterion.id == "policer"]
    assert policer.cells is not None
    (cell,) = [cell for cell in policer.cells("full") if cell.name == f"bucket {bucket_ms} ms, alone"]
    link = cell.parts(Subject("reno"))["run"].scenario["dumbbell"]
    assert link["policer"] == {"rate": "10 Mbit/s", "burst": burst}


def test_a_newcomer_is_timed_by_its_packets() -> None:
    # Ten packets of 1000 bytes in each tenth of a second: 150 kB, 100 packets of 1500 bytes, are
    # there after 1.5 s, 1.0 s after a start at 0.5 s; 1.5 MB never are in 5 s.
    packets = np.full((50, 2), 10)
    run = made(packets)
    times_s = timelines.ramp_up(run, start_s=0.5, powers=(2, 3))
    assert times_s == {"ramp_2": pytest.approx(1.0), "ramp_3": pytest.approx(4.5)}


def test_newcomers_are_timed_between_samples() -> None:
    """A newcomer gains on a flow with 100 packets a sample by 10 in each of ten samples of 0.25 s.

    Over the second before the end of its sample k the two have sent 400 and 10 (4 k - 6): of the fair
    half the newcomer has 2 x 300/700 = 0.857 at k = 9 and 2 x 340/740 = 0.919 at k = 10.
    """
    before, after = np.full(80, 100), np.minimum(100, 10 * np.arange(1, 81))
    run = made(np.stack([np.tile(before, 2), np.concatenate([0 * before, after])], axis=1), sample_s=0.25)
    for flow in run.summary["flows"]:
        flow["name"] = f"c-{flow['id']}"
    nine, ten = 2 * 300 / 700, 2 * 340 / 740
    expected_s = 0.25 * (9 + (0.9 - nine) / (ten - nine))
    assert timelines.joining(run, every_s=20.0) == {"fair_time": pytest.approx(expected_s)}


def test_a_transfer_that_does_not_end_takes_the_whole_run() -> None:
    # 1 MB on 0.512 Mbit/s take 15.6 s; 100 kB on 50 Mbit/s some round trips of 40 ms.
    def completion_s(path: Bottleneck, size: str) -> float:
        flow = Subject("reno").flow("c", path.rtt_ms, bytes=size, start="0 s")
        scenario = path.scenario(flow, duration_s=5, measured_from_s=0)
        return measures.completion(engine.simulate(engine.read(scenario)))["completion"]

    assert completion_s(Bottleneck(0.512, 34, 50 / 34), "1 MB") == 5
    took_s = completion_s(STANDARD, "100 kB")
    # The handshake, then 67 packets as 10, 20 and 37: three round trips, half a one, and 37 transmissions of
    # 0.24 ms.
    assert took_s == pytest.approx(3.5 * 0.04 + 0.009, abs=0.01)


def test_sessions_offer_their_load() -> None:
    (load,) = [criterion for criterion in SUITES["tcpeval"] if criterion.id == "tcpeval-load"]
    assert load.cells is not None
    flows = load.cells("quick")[0].parts(Subject("reno"))["run"].scenario["flow"]
    sizes = {"10000 B": 1e4, "100000 B": 1e5, "1000000 B": 1e6}
    offered = sum(flow["count"] * sizes[flow["bytes"]] for flow in flows)
    # 60 % of 100 Mbit/s over the nine tenths of 40 s in which sessions start; whole flows.
    assert offered == pytest.approx(0.6 * 100e6 / 8 * 36, rel=0.01)
    small = sum(flow["count"] for flow in flows if flow["packet"] == "536 B")
    assert small / sum(flow["count"] for flow in flows) == pytest.approx(0.1, abs=0.01)


def test_requests_are_timed_and_one_that_never_ends_takes_the_whole_run() -> None:
    # 15 kB are the ten packets of a first window: half a round trip of 40 ms, and ten transmissions
    # of 0.24 ms, 22.4 ms after each request.
    flow = Subject("reno").flow("c", 40, source="requests", size="15 kB", every="1 s")
    scenario = STANDARD.scenario(flow, duration_s=10, tcp={"overhead": "0 s"})
    numbers = measures.requests(engine.simulate(engine.read(scenario)))
    assert numbers["request_p50"] == pytest.approx(0.0224, abs=0.0005)
    flow = Subject("reno").flow("c", 40, source="requests", size="100 MB", every="20 s")
    endless = STANDARD.scenario(flow, duration_s=5, measured_from_s=0)
    assert measures.requests(engine.simulate(engine.read(endless)))["request_p95"] == 5


def test_a_video_is_as_fast_as_its_frames() -> None:
    # 30 frames a second, one of thirty ten times as large: 29 x 3750 + 37500 = 146250 bytes/s. They
    # are rounded up to whole packets: 4500 and 37500 bytes, 168000 bytes/s, 1.344 Mbit/s.
    media = next(criterion for criterion in SUITES["c4"] if criterion.id == "c4-media")
    assert media.cells is not None
    part = media.cells("quick")[0].parts(Subject("reno"))["run"]
    rates = {
        flow["name"]: flow["goodput_mbps"]
        for flow in engine.simulate(engine.read(part.scenario), record=False).summary["flows"]
    }
    # The large frames come at random, 20 of 600: a standard deviation of 4.4 of them, a tenth.
    assert rates["c-low"] == pytest.approx(1.344, rel=0.12)


def test_cuts_that_were_undone_are_counted() -> None:
    # Measured from 1 s on: three cuts of flow 0, a loss and two timeouts, of which one was undone.
    # The cut before 1 s, that of the other control and the end of an episode do not count.
    cuts = [(0.5, 0, "loss"), (1.5, 0, "loss"), (1.6, 0, "undo"), (2.0, 0, "timeout")]
    more = [(2.1, 1, "loss"), (2.2, 0, "recovered"), (3.0, 0, "timeout")]
    flow = {
        "sent_packets": 10,
        "dropped_packets": 0,
        "retransmitted_packets": 0,
        "duplicate_packets": 0,
        "timeouts": 2,
        "loss_events": 1,
        "goodput_mbps": 1.0,
        "settings": {"packet": "1000 B"},
    }
    link = {
        "utilisation": 1.0,
        "queue_delay_p50_ms": 0.0,
        "queue_delay_p95_ms": 0.0,
        "queue_delay_p99_ms": 0.0,
        "mean_queue_packets": 0.0,
    }
    run = made(
        np.full((50, 2), 10), events=[*cuts, *more], names=["c", "v"], flows=[flow, flow], links=[link]
    )
    run.summary["measured_from_s"] = 1.0
    numbers = timelines.cuts(run)
    assert numbers["cuts"] == 3
    assert numbers["spurious_cuts"] == pytest.approx(1 / 3)


def test_the_range_of_a_sawtooth_is_that_of_its_queue() -> None:
    """Reno alone with a queue of 2 P, P the product of rate and RTT.

    Its window goes from 1.5 P to 3 P, so the RTT from 60 to 120 ms. It grows by a packet per RTT,
    so the square of the RTT is uniform in time: p5 is the root of 60^2 + 0.05 (120^2 - 60^2), 64.3
    ms, p95 117.7 ms, the range 53.4 ms.
    """
    path = Bottleneck(20, 40, 2)
    scenario = path.scenario(Subject("reno").flow("c", 40), duration_s=60, sample_s=0.05)
    numbers = timelines.delay_range(engine.simulate(engine.read(scenario)))
    # A packet takes 0.6 ms, an ACK waits for two of them, and a loss is known a round trip later.
    assert numbers["delay_range"] == pytest.approx(53.4, abs=3)
    still = path.scenario(Subject("constant", {"window": 2.0}).flow("c", 40), duration_s=20, sample_s=0.05)
    assert timelines.delay_range(engine.simulate(engine.read(still)))["delay_range"] < 1.5


def test_a_smaller_cut_at_a_mark_takes_more_marks() -> None:
    """Reno that keeps b of its window W at a mark grows for 2 (1 - b)/(1 + b) W round trips until the next.

    Linux adds one without growth, while the reduction lasts (CWR). So b = 0.8 (RFC 8511) takes
    (2/3 W + 1)/(2/9 W + 1) times the marks of b = 1/2, with windows of 13 packets 2.5 times.
    """
    (aqm,) = [criterion for criterion in SUITES["rfc9743"] if criterion.id == "aqm"]
    assert aqm.cells is not None
    (cell,) = [cell for cell in aqm.cells("quick") if "marks" in cell.name]

    def marks_and_window(subject: Subject) -> tuple[float, float]:
        runs = {
            name: engine.simulate(part.scenario, record=False) for name, part in cell.parts(subject).items()
        }
        numbers = {name: part.measure(runs[name]) for name, part in cell.parts(subject).items()}
        windows = [number(flow["mean_window"]) for flow in runs["run"].summary["flows"]]
        return cell.numbers(numbers)["marks_per_loss"], float(np.mean(windows))

    (reno, window), (sparing, sparing_window) = (
        marks_and_window(Subject("reno", {"ecn_keep": keep})) for keep in (0.0, 0.8)
    )
    expected = (2 / 3 * window + 1) / (2 / 9 * sparing_window + 1)
    assert expected == pytest.approx(2.5, abs=0.1)
    # Whole packets: 0.8 of 13 or 14 packets are 10 or 11, three hundredths fewer.
    assert sparing / reno == pytest.approx(expected, rel=0.15)
    # Reno answers a mark like a loss; only the retransmissions differ.
    assert reno == pytest.approx(1, abs=0.15)


def test_thirty_steps_leave_what_they_do_not_take() -> None:
    # Of 50 Mbit/s each step takes 1.25. Left are: all of it for 10 s, 50 - 1.25 k in the k-th of 30
    # seconds, 12.5 for 10 s, 12.5 + 1.25 k in 30 seconds, and all for 10 s: 500 + 918.75 + 125 +
    # 956.25 + 500 = 3000 Mbit in the 90 s. Reno with a buffer of one product uses all of that.
    (transients,) = [criterion for criterion in SUITES["rfc9743"] if criterion.id == "transients"]
    assert transients.cells is not None
    (cell,) = [cell for cell in transients.cells("quick") if "30 steps" in cell.name]
    part = cell.parts(Subject("reno"))["run"]
    run = engine.simulate(engine.read(part.scenario), record=part.records)
    assert part.measure(run)["goodput"] == pytest.approx(3000 / 90, rel=0.01)
    steps = [flow for flow in run.summary["flows"] if flow["name"].startswith("step")]
    assert len(steps) == 30
    assert sum(flow["sent_packets"] for flow in steps) == pytest.approx(30 * 40 * 1.25e6 / 12_000, rel=0.01)


@pytest.mark.parametrize(
    ("sent", "falls"),
    [
        ((3.0, 0.5, 0.4), 1.0),
        ((3.0, 3.5, 0.4), 0.0),
        # One packet in 20 and in 14 round trips: the difference is random.
        ((3.0, 0.05, 0.07), 1.0),
        ((3.0, 0.05, 0.2), 0.0),
    ],
)
def test_the_rate_need_not_fall_where_single_packets_decide(sent, falls) -> None:
    (criterion,) = [criterion for criterion in SUITES["rfc9743"] if criterion.id == "collapse-loss"]
    assert criterion.cells is not None
    (cell,) = criterion.cells("quick")
    numbers = {share: {"sent": packets} for share, packets in zip(("10", "50", "90"), sent, strict=True)}
    assert cell.numbers(numbers)["falls"] == falls


@pytest.mark.parametrize("name", SUITES)
def test_no_margin_is_finer_than_the_samples(name: str) -> None:
    """A time that is read from samples of a second cannot be worse by a tenth of a second."""
    for criterion in SUITES[name]:
        for cell in criterion.cells("full") if criterion.cells else []:
            sampled = [
                margin
                for margin in cell.judged
                if margin.metric in ("recovery", "fair_time") or margin.metric.startswith("ramp_")
            ]
            for part in cell.parts(Subject("reno")).values() if sampled else ():
                spacing_s = float(part.scenario["run"]["sample"].removesuffix(" s"))
                for margin in sampled:
                    assert (margin.difference or 0.0) >= spacing_s, (criterion.id, cell.name)


def test_every_metric_has_words() -> None:
    for criterion in chain.from_iterable(SUITES.values()):
        for cell in criterion.cells("full") if criterion.cells else []:
            named = [bound.metric for bound in (*cell.judged, *cell.limits)]
            for metric in (*named, *(metric for metric, _ in cell.shown)):
                is_known = metric in _WORDS or _GROUP.fullmatch(metric) or _SCALE.fullmatch(metric)
                assert is_known, f"{criterion.id}: {metric}"


def test_a_better_moment_does_not_end_starvation() -> None:
    """Two flows for 60 s; the first gets nothing but 5 s of half of the link, from 20 s on."""
    time_s = np.arange(1.0, 61.0)
    fed = (time_s > 20) & (time_s <= 25)
    frames = [
        pl.DataFrame({"flow": flow, "time_s": time_s, "arrived_bytes": amount})
        for flow, amount in ((0, np.where(fed, 500.0, 0.0)), (1, np.where(fed, 500.0, 1000.0)))
    ]
    flows = [{"id": 0, "name": "v"}, {"id": 1, "name": "c"}]
    summary = {"flows": flows, "measured_from_s": 10.0, "duration_s": 60.0}
    run = Run(cast("Summary", summary), "", {"windows": pl.concat(frames)})
    # 50 s are measured, in 5 of which it does not starve. Its mean share is half of 5 s in 50 s, a
    # twentieth of the link and a tenth of the fair half: it does not starve all the time.
    assert timelines.starvation(run) == {"starved": 45.0}
    frames[0] = frames[0].with_columns(arrived_bytes=0.4 * pl.col("arrived_bytes"))
    run = Run(cast("Summary", summary), "", {"windows": pl.concat(frames)})
    # 0.2 of the link for 5 s of 50: 1000 of 48 500, which is 4.1 % of the fair half: all the time.
    assert timelines.starvation(run) == {"starved": 50.0}


def test_what_overflows_the_queue_after_a_silence_counts_for_ten_seconds() -> None:
    """100 packets per second, but for a silence from 20 s to 50 s into which one is sent; back at 55 s."""
    time_s = np.arange(1.0, 91.0)
    is_silent = (time_s > 20) & (time_s <= 50)
    sent = np.where(is_silent, 1000.0 * (time_s == 30), 100_000.0)
    windows = pl.DataFrame(
        {
            "flow": 0,
            "time_s": time_s,
            "sent_bytes": sent,
            "arrived_bytes": np.where((time_s <= 20) | (time_s >= 55), 100_000.0, 0.0),
        }
    )
    # Before the return, within the ten seconds, on another link, and later.
    drops = [(54.0, 0, 9), (56.0, 0, 22), (56.0, 1, 5), (70.0, 0, 50)]
    queues = pl.DataFrame(drops, ["time_s", "link", "drops"], orient="row")
    packet = {"packet": "1000 B"}
    summary = {"flows": [{"id": 0, "name": "c", "settings": packet}], "duration_s": 90.0}
    run = Run(cast("Summary", summary), "", {"windows": windows, "queues": queues})
    # Half of the rate is reached in the middle of the second that ends at 55 s. The samples from 55 s to
    # 65 s send 11 * 100 packets, 22 of which are lost.
    expected = {"sent_in_silence": 1.0, "recovery": 4.5, "loss_after": 0.02}
    assert timelines.silence(run, from_s=20.0, to_s=50.0) == pytest.approx(expected)
    none = windows.with_columns(arrived_bytes=pl.col("arrived_bytes") * (pl.col("time_s") <= 20))
    run = Run(cast("Summary", summary), "", {"windows": none, "queues": queues})
    assert timelines.silence(run, from_s=20.0, to_s=50.0)["loss_after"] == 0.0


def test_a_margin_of_harm_is_a_tenth_of_the_smaller_fair_share() -> None:
    # One flow of two has a half, one of five a fifth, and one of seventeen a seventeenth of the link.
    (mixed,) = [criterion for criterion in SUITES["rfc9743"] if criterion.id == "mixed"]
    assert mixed.cells is not None
    margins = {
        cell.id: margin.difference
        for cell in mixed.cells("quick")
        for margin in cell.judged
        if margin.metric == "harm_goodput"
    }
    assert margins["standard-path-next-to-reno"] == 0.05
    assert margins["1-beside-4-reno"] == margins["4-beside-1-reno"] == pytest.approx(0.02)
    assert margins["1-beside-16-reno"] == pytest.approx(0.1 / 17)


def test_a_victim_with_a_queue_of_its_own_does_not_wait_in_another() -> None:
    """BBRv3 fills its own queue of FQ-CoDel, in which Reno does not wait.

    Reno keeps its half of 50 Mbit/s, and its RTT grows by less than the two packets, 0.5 ms, that each round
    of the scheduler sends of BBRv3. The queues together delay packets by as much as the path.
    """
    (tunnel,) = [criterion for criterion in SUITES["rfc9743"] if criterion.id == "tunnel"]
    assert tunnel.cells is not None
    (cell,) = [cell for cell in tunnel.cells("quick") if cell.id == "flows-apart-next-to-reno"]
    measured, all_queues_ms = {}, 0.0
    for name, part in cell.parts(Subject("bbr3")).items():
        run = engine.simulate(engine.read(part.scenario), record=part.records)
        measured[name] = part.measure(run)
        all_queues_ms = max(all_queues_ms, run.summary["links"][0]["queue_delay_p95_ms"] or 0.0)
    assert all_queues_ms > 30
    # 2 ms of 45 ms.
    assert cell.numbers(measured)["harm_rtt"] == pytest.approx(0, abs=2 / 45)
