"""Statements of the text of the paper of TCP-Africa: runs written by hand, numbers by arithmetic."""

import math

import numpy as np
import pytest

from ackclock import engine
from ackclock.reproduction.claims.numbers import FULL, QUICK, Numbers
from ackclock.reproduction.trials.settings import declared
from ackclock_papers import PAPERS
from ackclock_papers.africa import section_ii_c, section_iii_b, section_iv, sections_ii_d_and_v
from hand_made import made

SETTING = declared(PAPERS["africa"].items)


def test_formulas():
    (row,) = section_ii_c.SECTION_2_C.compute(QUICK)[0][section_ii_c.FORMULAS]
    # 1.5/83000^2.
    assert row["p of Reno"] == pytest.approx(2.177e-10, rel=1e-3)
    # An eighth of the window in ln(8/7)/ln 1.01 = 13.42 round trips.
    assert row["growth of STCP at 1000"] == pytest.approx(125 / 13.42, rel=1e-3)
    # From 7/8 to 9/10 by 1 % each.
    assert row["rounds to G at 1000"] == pytest.approx(math.log(0.9 / 0.875) / math.log(1.01))
    # In proportion to the window: 1/0.875.
    assert row["end over begin, STCP"] == pytest.approx(8 / 7)


def test_vegas_next_to_reno():
    # 100 samples of 0.2 s; the link is full from the sample that ends at 10 s, where both have 50
    # packets; Reno loses at 15.1 s, after the sample in which it has 75 and Vegas 30.
    time_s = 0.2 * np.arange(1, 101)
    reno = 50 + 5 * (time_s - 10)
    vegas = np.where(time_s <= 10, reno, 50 - 4 * (time_s - 10))
    run = made(
        np.ones((100, 2)),
        sample_s=0.2,
        controllers=("vegas", "reno"),
        utilisation=np.where(time_s >= 10 - 1e-9, 1.0, 0.7),
        columns={"window": np.stack((vegas, reno), axis=1)},
        events=[(15.1, 1, "loss")],
        flows=[{"goodput_mbps": 3.0}, {"goodput_mbps": 15.0}],
    )
    row = sections_ii_d_and_v.SECTION_2_D.measure(sections_ii_d_and_v.TOGETHER, run)
    assert row == pytest.approx(
        {
            "windows": 1.0,
            "Vegas when full": 50,
            "Vegas at Reno's loss": 30,
            "Reno when full": 50,
            "Reno at its loss": 75,
            "Reno over Vegas": 5,
        }
    )
    alone = sections_ii_d_and_v.SECTION_2_D.measure(sections_ii_d_and_v.ALONE, run)
    # 5 packets a second in round trips of 84 ms; then 4 a second fewer.
    assert alone == pytest.approx({"growth before": 0.42, "growth after": -0.336})


def test_drops_per_event():
    drops = np.zeros(200)
    drops[[10, 150, 160]] = 7
    run = made(
        np.ones((200, 1)),
        sample_s=0.2,
        drops=drops,
        events=[(2.0, 0, "loss"), (30.0, 0, "loss"), (32.0, 0, "timeout")],
    )
    # Two of the three samples with drops and two of the three events are later than 20 s.
    assert sections_ii_d_and_v.SECTION_2_D.measure("AIMD(8, 0.125)", run) == {"drops per event": 7.0}


def noisy(growth, kept):
    """Return a run with cuts at 25 s and 45 s, a window of 100 packets per 0.1 s otherwise."""
    time_s = 0.2 * np.arange(1, 301)
    window = np.full((300, 1), 100.0)
    window[time_s > 30] = 101
    window[time_s > 35] = 100.5
    # 200 packets in 0.2 s by a window of about 100: ten round trips a second, 200 in 20 s.
    after = 1000 * kept
    return made(
        np.full((300, 1), 200.0),
        sample_s=0.2,
        columns={"window": window},
        events=[(25.0, 0, "loss", 1000.0, after), (45.0, 0, "loss", after + growth * 199, after)],
        flows=[{"settings": {"packet": "1 kB"}}],
    )


def test_epochs_in_noise():
    row = sections_ii_d_and_v.SECTION_5.measure(sections_ii_d_and_v.NOISY, noisy(1.0, 0.67))
    # Windows of 100.5 and 101 make a round trip up to 1 % longer.
    assert row["growth"] == pytest.approx(1.0, rel=0.01)
    # One sample at 35.2 s has a smaller window than the one before and no loss event.
    assert row["falls"] == 1.0
    # b(1000) = 0.5 - 0.4 ln(1000/38)/ln(83000/38) = 0.330: 0.67 is what HSTCP keeps.
    kept = sections_ii_d_and_v.SECTION_5.measure(sections_ii_d_and_v.NOISY, noisy(1.0, 0.67))["kept"]
    second = 670 + 199
    b = 0.5 - 0.4 * math.log(second / 38) / math.log(83_000 / 38)
    assert kept == pytest.approx((0.67 / 0.67 + 670 / second / (1 - b)) / 2, abs=0.001)


def test_slow_below_capacity():
    time_s = 0.2 * np.arange(1, 201)
    run = made(
        np.ones((200, 1)),
        sample_s=0.2,
        # 100 samples after 20 s: 40 of them with a full link, 15 of the others slow.
        utilisation=np.where(time_s > 32.1, 1.0, 0.5),
        columns={"fast": np.where((time_s > 29.1) & (time_s < 32.1), 0.0, 1.0)[:, None]},
    )
    row = sections_ii_d_and_v.SECTION_5.measure(sections_ii_d_and_v.CLEAN, run)
    assert row == {"slow below capacity": pytest.approx(15 / 60)}


def test_two_modes():
    time_s = 0.5 * np.arange(1, 201)
    fast = np.ones((200, 2))
    # After 30 s there are 140 samples: the first is slow in 40 of them, the second in 20, of which
    # they share 10; the first is always the faster one.
    fast[(time_s > 40) & (time_s <= 60), 0] = 0
    fast[(time_s > 55) & (time_s <= 65), 1] = 0
    run = made(
        np.ones((200, 2)), sample_s=0.5, columns={"fast": fast, "window": np.tile([100.0, 60.0], (200, 1))}
    )
    row = section_iii_b.both_slow(run)
    # One alone is slow in 30 samples of the first, which is the faster, and in 10 of the second.
    assert row == pytest.approx({"short": 40 / 140, "long": 20 / 140, "faster": 0.75})


def test_packets_in_the_queue_at_switches():
    # RTTs of 50 and 55 ms with a window of 110: 110 (55 - 50)/55 = 10 packets in the queue, or none. The
    # first flow turns slow between a sample with none and one with 10; the second, of 220, at 20 and 20.
    fast, rtt_ms = np.ones((100, 2)), np.full((100, 2), 50.0)
    fast[40:60, 0], rtt_ms[40:60, 0] = 0, 55
    fast[70:, 1], rtt_ms[60:, 1] = 0, 55
    windows = np.tile([110.0, 220.0], (100, 1))
    run = made(np.ones((100, 2)), sample_s=0.002, columns={"fast": fast, "rtt_ms": rtt_ms, "window": windows})
    assert section_iii_b.at_switches(run) == pytest.approx({"short queued": 5, "long queued": 20})


def test_slow_before_losses():
    time_s = 0.5 * np.arange(1, 201)
    run = made(
        np.ones((200, 2)),
        sample_s=0.5,
        utilisation=np.where(time_s > 80, 1.0, 0.5),
        columns={"fast": np.where(time_s > 70, 0.0, 1.0)[:, None] * np.ones(2)},
        events=[(20.0, 0, "loss"), (60.2, 0, "loss"), (90.2, 0, "loss"), (95.0, 1, "loss")],
    )
    # Of the losses at 60.2 and 90.2 s the second; 80 of 100 samples below 0.9 after 30 s are fast.
    row = section_iii_b.before_losses(run)
    assert row == pytest.approx({"slow before losses": 0.5, "slow when full": 1.0, "fast below": 0.8})


def test_the_queue_is_estimated():
    run = made(
        np.ones((400, 1)),
        sample_s=0.5,
        queue=np.where(np.arange(400) > 150, 50.0, 2.0),
        columns={
            "rtt_ms": np.where(np.arange(400) > 150, 84.8, 84.0)[:, None],
            "window": np.full((400, 1), 5000.0),
        },
    )
    row = section_iv.SECTION_4.measure(section_iv.FIGURE_7.name, run)
    assert row == pytest.approx({"estimate": 5000 * 0.8 / 84.8 / 50})


def test_a_flow_alone():
    rate = np.where(np.arange(300) < 50, 10.0, 75.0 * 200)
    run = made(
        rate[:, None],
        sample_s=0.2,
        queue=np.arange(300) / 10,
        drops=np.arange(300) == 200,
        utilisation=np.where(np.arange(300) < 150, 0.5, 0.98),
    )
    # 15000 packets of 8 kbit in 0.2 s are 600 Mbit/s, more than 0.9 of 622, from 10.2 s on; the
    # second half begins with the sample that ends at 30.2 s.
    assert section_iv.SECTION_4.measure(section_iv.FAST_ALONE, run) == pytest.approx(
        {"utilisation": 0.98, "drops": 1.0, "queue": 22.45, "up_s": 10.2}
    )


def test_access_queue():
    run = made(
        np.ones((2, 2)),
        flows=[{}, {"whole_run": {"dropped_packets": 9}}],
        links=[{"id": "shared", "queue_drops": 40}, {"id": "access", "queue_drops": 7}],
    )
    assert section_iv.SECTION_4.measure(section_iv.ACCESS_QUEUE, run) == {"access": 7.0, "shared": 2.0}


def test_scenarios_of_section_iv_are_accepted():
    cases = section_iv.SECTION_4.cases(FULL.at(SETTING))
    for case in cases.values():
        engine.read(case.scenario)
    queued = cases[section_iv.ACCESS_QUEUE].scenario
    assert "dumbbell" not in queued
    assert [flow["from"] for flow in queued["flow"]] == ["a", "c", "s", "r"]
    shifted = cases[section_iv.Shift(False, 0.3)].scenario
    assert shifted["flow"][0]["rtt"] == "164.3 ms"
    assert "overhead" not in shifted["tcp"]
    assert cases[section_iv.AlphaVariant(5)].scenario["flow"][0]["params"] == {"alpha": 5}
    assert str(section_iv.AlphaVariant(0.5)) == "alpha 0.5"
    assert str(section_iv.Shift(True, 0)) == "with overhead, 0 ms more"


def test_early_gain():
    def rows(first, rest):
        return [{"first": first, "rest": rest}]

    def gain(three, six):
        numbers = Numbers({section_iv.FIGURE_3.name: rows(*three), section_iv.FIGURE_6.name: rows(*six)})
        return section_iv.early_gain(numbers).value

    # 600 of 800 more.
    assert gain((1000, 5000), (1600, 5200)) == pytest.approx(0.75)
    assert math.isnan(gain((1000, 5000), (1600, 4000)))
