"""What is measured for the paper of TCP-Africa: runs written down, numbers by arithmetic."""

import math

import numpy as np
import pytest

from ackclock.reproduction.numbers import FULL
from ackclock_papers.africa import analysis, runs
from ackclock_papers.africa.setting import AFRICA, HSTCP, RENO
from hand_made import made


def test_labels_are_those_of_the_page():
    assert str(analysis.EARLY) == "Africa, approximated (G = 0.90)"
    assert str(analysis.SMALL) == "at_1000"
    assert str(runs.RttRatio(6)) == "RTT ratio 6"


def test_periods():
    rows, traces = analysis.FIGURE_1.compute(FULL)
    assert rows[RENO][0][analysis.LARGE] == pytest.approx(41_500)
    # From 7/8 of the window to 0.9 of it by 1 % each, then 100 packets, one by one.
    expected = math.log(0.9 / 0.875) / math.log(1.01) + 100
    assert rows[analysis.EARLY][0][analysis.SMALL] == pytest.approx(expected)
    assert traces[RENO]["period"].to_list() == pytest.approx(analysis.WINDOWS / 2)


def test_two_flows():
    drops = np.zeros(100)
    drops[[10, 29, 30, 99]] = 5
    run = made(
        np.ones((100, 3)),
        sample_s=1.0,
        controllers=("hstcp", "reno", "poisson"),
        drops=drops,
        events=[(20.0, 0, "loss"), (31.0, 0, "loss"), (32.0, 0, "recovered"), (40.0, 1, "timeout")],
        flows=[
            {"goodput_mbps": 60.0, "dropped_packets": 7},
            {"goodput_mbps": 10.0, "dropped_packets": 3},
            {"goodput_mbps": 20.0, "dropped_packets": 1},
        ],
        links=[{"utilisation": 0.9}],
    )
    # Samples end at 1 s and so on: of the four with drops those at 31 and 100 s are late enough.
    assert runs.FIGURE_3.measure(HSTCP, run) == {
        "ratio": 6.0,
        "fast_mbps": 60.0,
        "reno_mbps": 10.0,
        "losses": 10.0,
        "loss_events": 2.0,
        "utilisation": 0.9,
        "reno_dropped": 3.0,
    }


def test_setup():
    run = made(
        np.ones((2, 3)),
        names=("africa", "reno", "noise"),
        rtt_ms=(164.5, 300.0, None),
        flows=[{"goodput_mbps": 500.0}, {"goodput_mbps": 40.0}, {"goodput_mbps": 31.1}],
    )
    found = runs.FIGURE_2.measure(AFRICA, run)
    # 31.1 of 622 Mbit/s.
    assert found == pytest.approx({"rtt_ms": 164.5, "noise": 0.05})


def mbps(*parts):
    """Packets in samples of 0.2 s, 25 in a Mbit/s; each part is (end in seconds, Mbit/s)."""
    time = 0.2 * np.arange(1, 2401)
    rate = np.zeros(2400)
    for end, value in reversed(parts):
        rate[time <= end + 1e-9] = value
    return 25 * rate[:, None]


def test_adapting():
    # 97 % of 622 less 300 Mbit/s are 303.34: below 1.1 times that, 333.7, from 164 s on. Up is
    # above 0.9 times 603.34, 543: from 325 s on, as what is at 321 s is too early to count.
    rate = mbps((160, 600), (164, 400), (320, 300), (321, 560), (325, 500), (480, 590))
    found = runs.FIGURE_7.measure(AFRICA, made(rate, sample_s=0.2))
    assert found["before"] == pytest.approx(600)
    assert found["during"] == pytest.approx(300)
    assert found["after"] == pytest.approx(590)
    # The first samples that are so end 0.2 s later.
    assert found["down_s"] == pytest.approx(4.2)
    assert found["up_s"] == pytest.approx(5.2)


def test_what_never_adapts():
    found = runs.FIGURE_7.measure(AFRICA, made(mbps((480, 500)), sample_s=0.2))
    assert (found["down_s"], found["up_s"]) == (float("inf"), float("inf"))


def test_pictures_leave_datagrams_out():
    run = made(
        np.ones((10, 4)),
        sample_s=0.5,
        controllers=("africa", "reno", "poisson", "cbr"),
        names=("africa", "reno", "noise", "noise cbr"),
    )
    frame = runs.FIGURE_4.trace(AFRICA, run)
    assert frame["name"].unique(maintain_order=True).to_list() == ["africa", "reno"]
    # Both are run, one is shown.
    assert runs.FIGURE_4.trace(HSTCP, run) is None
    assert set(runs.FIGURE_4.cases(FULL)) == {HSTCP, AFRICA}
