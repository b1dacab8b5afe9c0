"""What is measured for the figures and tables of TCP-FIT, on runs made by hand."""

import numpy as np
import polars as pl
import pytest

from ackclock import engine
from ackclock.engine import Run
from ackclock.reproduction.numbers import QUICK, Numbers
from ackclock_papers.fit import alone, live, model, setting, sharing


def run_of(mbps=(), link=None, start_s=0.0, end_s=0.0, names=None, sent=0, **tables):
    flows = [
        {"id": index, "name": name, "goodput_mbps": one, "sent_packets": sent}
        for index, (one, name) in enumerate(zip(mbps, names or ["?"] * len(mbps), strict=True))
    ]
    summary = {
        "flows": flows, "links": [link or {}], "measured_from_s": start_s, "duration_s": end_s,
    }  # fmt: skip
    return Run(summary, "", tables)


def claim_of(artefact, sentence):
    return next(one for one in artefact.claims if one.sentence == sentence)


def test_goodputs_of_groups():
    run = run_of([1.0, 2.0, None, 4.0])
    assert setting.goodputs(run, 1, 3) == [1.0, 6.0]
    assert setting.goodputs(run, 3, 1) == [3.0, 4.0]
    with pytest.raises(ValueError, match="4 flows, expected 5"):
        setting.goodputs(run, 1, 4)


def test_groups_are_in_the_order_of_the_scenario():
    # The order in which the engine numbers flows: that of [[flow]], each as often as it counts.
    case = sharing.FIGURE_6.cases(QUICK)[sharing.AmongRenos("a", "CUBIC")]
    short = {**case.scenario, "run": {"duration": "3 s"}}
    names = [one["name"] for one in engine.simulate(short).summary["flows"]]
    assert names == ["CUBIC", "others-0", "others-1", "others-2", "others-3"]


def test_goodput_over_time():
    # 250 kB in 2 s are 1 Mbit/s. A sample that ends with an interval belongs to it.
    windows = pl.DataFrame(
        {
            "time_s": [1.0, 2.0, 3.0, 4.0] * 2,
            "flow": [0] * 4 + [1] * 4,
            "delivered_bytes": [100e3, 150e3, 0.0, 500e3, 0.0, 0.0, 250e3, 0.0],
        }
    )
    frame = setting.over_time(run_of([1.0, 1.0], names=["a", "b"], windows=windows), 2.0)
    found = {(name, end): mbps for end, name, mbps in frame.iter_rows()}
    assert found == pytest.approx(
        {("a", 2.0): 1.0, ("a", 4.0): 2.0, ("b", 2.0): 0.0, ("b", 4.0): 1.0}
    )


def test_a_flow_alone():
    key = alone.NoisyPath("Veno", 50, 0.03)
    assert alone.FIGURE_5.measure(key, run_of([1.5])) == {"Veno": 1.5, "sum": 1.5}


def test_the_highest_of_figure_5():
    # FIT 2 Mbit/s; the best of the others has 1.9, and then 2.1.
    claim = claim_of(alone.FIGURE_5, "FIT is highest at 50 ms, 3%")

    def judged(cubic):
        mbps = {"FIT": 2.0, "CUBIC": cubic}
        rows = {
            key: [{key.variant: mbps.get(key.variant, 1.0), "sum": 0.0}]
            for key in alone.FIGURE_5.cases(QUICK)
        }
        return claim.judge(Numbers(rows))

    assert judged(1.9).holds
    assert not judged(2.1).holds
    assert judged(2.1).measured == "FIT 2 Mbit/s, CUBIC 2.1"


def test_shares_of_figure_6():
    # Of 10 Mbit/s: the flow has 2, four Renos have 0.5 + 1 + 1.5 + 3 = 6, each 1.5.
    row = sharing.FIGURE_6.measure(
        sharing.AmongRenos("a", "CUBIC"), run_of([2.0, 0.5, 1.0, 1.5, 3.0])
    )
    assert row == pytest.approx({"share": 0.2, "reno_each": 0.15, "used": 0.8})


def test_stolen_bandwidth_of_figure_7():
    # Ten Renos with 2 Mbit/s each beside ten others of their kind, with 1.5 beside CUBIC and 1.9
    # beside FIT: 20, 15 and 19, so CUBIC steals 5/20 and FIT 1/20.
    def row(key, mbps):
        found = sharing.FIGURE_7.measure(key, run_of([mbps] * 10 + [3.0] * 10))
        assert found == pytest.approx({"Reno": 10 * mbps, "others": 30.0, "sum": 10 * mbps + 30})
        return [found] * 2

    stays = {sharing.Replacement("CUBIC"): 1.5, sharing.Replacement("FIT"): 1.9}
    numbers = Numbers({key: row(key, stays.get(key, 2.0)) for key in sharing.FIGURE_7.cases(QUICK)})
    judged = claim_of(sharing.FIGURE_7, "FIT steals much less than CUBIC").judge(numbers)
    assert judged.holds
    assert judged.measured == "CUBIC 0.25 [0.25, 0.25], FIT 0.05 [0.05, 0.05]"
    # No alpha of FAST steals anything here.
    depends = claim_of(sharing.FIGURE_7, "FAST's rate depends on alpha")
    assert not depends.judge(numbers).holds


def test_ratio_of_table_iii():
    # Ten flows of 3 Mbit/s over ten of 0.75.
    row = sharing.TABLE_3.measure(
        sharing.ShortAndLong("Reno", 200), run_of([3.0] * 10 + [0.75] * 10)
    )
    assert row == {"ratio": pytest.approx(4.0)}


def test_loss_of_a_place_is_what_gives_reno_its_rate():
    # 1.2 Mbit/s of 12,000 bits at 180 ms are 18 packets: sqrt(1.5/p) = 18.
    assert live.PLACES["Zurich wired"].loss == pytest.approx(1.5 / 324)
    # 0.2 Mbit/s at 250 ms are 4.2 packets: 8.6 %, of which 5 % are the most that is set.
    assert live.PLACES["Beijing ADSL"].loss == 0.05


def test_a_turn_counts_without_its_first_tenth():
    # Six turns of 10 s, sampled every second. In its turn flow k delivers 1 Mbit/s in the first
    # second and k + 2 Mbit/s in the other nine, and far more in the turns of the others.
    variants = live.PLACES["CDMA city"].variants
    time = np.arange(1.0, 61.0)
    rows = []
    for flow in range(6):
        since = time - 10 * flow
        own = np.where(since <= 1, 1.0, flow + 2.0)
        rates = np.where((since > 0) & (since <= 10), own, 100.0)
        rows += [
            {"time_s": at, "flow": flow, "delivered_bytes": rate / 8e-6}
            for at, rate in zip(time, rates, strict=True)
        ]
    run = run_of([0.0] * 6, end_s=60.0, windows=pl.DataFrame(rows))
    row = live.TABLE_5.measure("CDMA city", run)
    # FIT, the first, has 2; the others 3 to 7, 5 on average.
    expected = {name: k + 2.0 for k, name in enumerate(variants)} | {"speed_up": 0.4}
    assert row == pytest.approx(expected)


def test_figure_9_sums_the_connections():
    assert live.FIGURE_9.measure("FIT", run_of([1.5])) == {"mbps": 1.5}
    assert live.FIGURE_9.measure("E-MulTCP", run_of([0.1] * 10 + [None] * 6)) == {
        "mbps": pytest.approx(1.0)
    }
    windows = pl.DataFrame(
        # 2.5 MB in 20 s are 1 Mbit/s: 1 + 2 and then 3 + 0.
        {"time_s": [20.0, 40.0] * 2, "flow": [0, 0, 1, 1],
         "delivered_bytes": [2.5e6, 7.5e6, 5e6, 0.0]}
    )  # fmt: skip
    run = run_of([0.0, 0.0], names=["E-0", "E-1"], windows=windows)
    frame = live.FIGURE_9.trace("E-MulTCP", run)
    assert frame["time_s"].to_list() == [20.0, 40.0]
    assert frame["mbps"].to_list() == pytest.approx([3.0, 3.0])


def test_figure_1_has_reno_last():
    # 10 packets of 12,000 bits at 10 Mbit/s wait 12 ms.
    link = {"mean_queue_packets": 10.0, "utilisation": 0.9}
    row = model.FIGURE_1.measure(model.Sessions(4), run_of([6.0, 3.0], link))
    assert row == pytest.approx(
        {"reno_mbps": 3.0, "sum_mbps": 9.0, "delay_ms": 12.0, "utilisation": 0.9}
    )


def test_period_between_losses():
    # N = 3, round trips of 0.1 s. After a loss at 25 s 40 packets; 10 round trips later, one of
    # which is recovery, 40 + 3 * 9 = 67, cut by a fifth to 53.6; 12 later 53.6 + 3 * 11 = 86.6.
    events = pl.DataFrame(
        {
            "time_s": [5.0, 25.0, 25.5, 26.0, 27.2],
            "kind": ["loss", "loss", "start", "loss", "loss"],
            "window_before": [500.0, 50.0, 2.0, 67.0, 86.6],
            "window_after": [400.0, 40.0, 2.0, 53.6, 0.8 * 86.6],
        }
    )
    row = model.TABLE_1.measure(model.THREE, run_of(start_s=20.0, events=events))
    # Means of 67 and 86.6, and of 10 and 12; equation 8 holds exactly.
    assert row == pytest.approx({"beta": 0.2, "growth": 1.0, "W": 76.8, "X": 11.0, "periods": 2.0})
    # With N = 6 in mind it would have grown by half of that.
    six = model.TABLE_1.measure(model.Sessions(6), run_of(start_s=20.0, events=events))
    assert six["growth"] == pytest.approx(0.5)


def test_packets_of_figure_3():
    # 50 Mbit/s * 40 ms are 166.7 packets of 12,000 bits; 90 % of them and 20 in the queue: 170.
    # 10 losses of 2 * 5000 packets.
    link = {"mean_queue_packets": 20.0, "utilisation": 0.9, "random_losses": 10}
    row = model.FIGURE_3.measure(model.SESSIONS_3, run_of([1.0, 1.0], link, sent=5000))
    assert row == pytest.approx({"packets": 170.0, "utilisation": 0.9, "lost": 1e-3})


def test_models_of_table_ii():
    # Reno: sqrt(1.5/0.005) = 17.3 packets in 70 ms. FIT: E[N] = 0.5 * 70/20 = 1.75 times that.
    rows, _ = model.TABLE_2.compute(QUICK)
    numbers = Numbers(rows)
    assert numbers.of("Reno", "rate").value == pytest.approx(17.3205 / 0.07, rel=1e-4)
    assert numbers.of("FIT", "rate").value == pytest.approx(1.75 * 17.3205 / 0.07, rel=1e-4)
    # Without a queue 50 ms remain.
    assert numbers.of("Reno", "bound").value == pytest.approx(17.3205 / 0.05, rel=1e-4)
    # 20 packets of FAST in a queue of 20 ms are 1000 packets/s.
    assert numbers.of("Vegas/FAST", "rate").value == pytest.approx(1000.0)
    assert numbers.of("checks", "sessions").value == pytest.approx(1.75)
