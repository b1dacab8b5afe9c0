"""Measurements for the paper of TCP-Africa: runs written by hand, numbers by arithmetic."""

import math

import numpy as np
import pytest

from ackclock import engine
from ackclock.reproduction.claims.numbers import FULL, QUICK, Numbers
from ackclock.reproduction.trials.settings import declared
from ackclock_papers import PAPERS
from ackclock_papers.africa import conditions, figure_1, figure_7, figures_2_to_6, tables_i_and_ii
from ackclock_papers.africa.setting import AFRICA, HSTCP, RENO
from hand_made import made

SETTING = declared(PAPERS["africa"].items)
OPEN = [item for item in PAPERS["africa"].items if item.is_open]


@pytest.mark.parametrize("item", OPEN, ids=lambda item: item.name)
def test_every_value_can_be_run(item):
    for value in item.values:
        case = tables_i_and_ii.table_case(QUICK.at({**SETTING, item.name: value.value}), HSTCP, 6)
        engine.read(case.scenario)


def test_the_setting_is_in_the_scenario():
    setting = {**SETTING, "datagram_bytes": 210, "buffer_packets": 777, "overhead": "20 us"}
    scenario = tables_i_and_ii.table_case(QUICK.at(setting), AFRICA, 3).scenario
    assert [flow["rtt"] for flow in scenario["flow"]] == ["30 ms", "90 ms", "14 ms", "14 ms"]
    # 3 % of 622 Mbit/s.
    assert scenario["flow"][2]["rate"] == "18.66 Mbit/s"
    assert scenario["flow"][3]["packet"] == "210 B"
    assert scenario["dumbbell"]["queue"]["limit"] == "777 packets"
    assert scenario["tcp"]["overhead"] == "20 us"


def test_readings_reach_the_scenarios():
    setting = {**SETTING, "rtt_gain": 0.01, "slow_decrease": "Reno"}
    scenario = tables_i_and_ii.table_case(QUICK.at(setting), AFRICA, 3).scenario
    params = {"gain": 0.01, "slow_decrease": "reno"}
    assert [flow.get("params") for flow in scenario["flow"]] == [params, params, None, None]
    plain = tables_i_and_ii.table_case(QUICK.at(SETTING), AFRICA, 3).scenario
    assert not any("params" in flow for flow in plain["flow"])


def test_labels_are_those_of_the_page():
    assert str(figure_1.EARLY) == "Africa, approximated (G = 0.90)"
    assert str(figure_1.SMALL) == "at_1000"
    assert str(tables_i_and_ii.RttRatio(6)) == "RTT ratio 6"
    assert str(tables_i_and_ii.HSTCP_6) == "HSTCP RTT ratio 6"


def test_conditions_are_measured():
    run = made(
        np.ones((2, 3)),
        names=("africa-0", "africa-1", "noise"),
        rtt_ms=(30.1, 181.0, None),
        flows=[{}, {}, {"goodput_mbps": 18.66}],
    )
    row = conditions.CONDITIONS.measure(conditions.TABLES, run)
    # 18.66 of 622 Mbit/s.
    assert row == pytest.approx({"first_ms": 30.1, "second_ms": 181.0, "noise": 0.03})
    rows = {conditions.TABLES: [row]}
    assert all(claim.judge(Numbers(rows)).holds for claim in PAPERS["africa"].conditions.claims)
    rows = {conditions.TABLES: [{**row, "second_ms": 200.0}]}
    assert not all(claim.judge(Numbers(rows)).holds for claim in PAPERS["africa"].conditions.claims)


def of_table_i(power, hstcp):
    """Return the numbers of table I if ratios are a power of the RTT ratio."""
    rows = {tables_i_and_ii.RttRatio(rtt_ratio): [{"ratio": rtt_ratio**power}] for rtt_ratio in (1, 2, 3, 6)}
    return Numbers({**rows, tables_i_and_ii.HSTCP_6: [{"ratio": hstcp}]})


def test_how_the_ratio_grows():
    assert tables_i_and_ii.exponent(of_table_i(1.7, 1.0)).value == pytest.approx(1.7)
    # The paper's own: ln 2.3552 ln 2 + ln 3.6106 ln 3 + ln 8.4616 ln 6 over the squares of the
    # logarithms of 2, 3 and 6: (0.594 + 1.410 + 3.826) / (0.480 + 1.207 + 3.210).
    printed = {1: 1.0132, 2: 2.3552, 3: 3.6106, 6: 8.4616}
    rows = {tables_i_and_ii.RttRatio(rtt_ratio): [{"ratio": value}] for rtt_ratio, value in printed.items()}
    assert tables_i_and_ii.exponent(Numbers(rows)).value == pytest.approx(1.19, abs=0.002)
    claims = {claim.sentence: claim for claim in PAPERS["africa"]["table-i"].claims}
    # Six to the power of 1.2 is 8.6: a 33rd of 284.5, and a quarter of 34.
    for power, hstcp, expected in ((1.2, 284.5, [True, True, True]), (1.95, 34.0, [False] * 3)):
        numbers = of_table_i(power, hstcp)
        judged = [
            claims[sentence].judge(numbers).holds
            for sentence in (
                "the ratio is roughly proportional to that of the RTTs",
                "an improvement over Reno, which is quadratic",
                "the ratio grows far slower than HSTCP's (RTT ratio 6)",
            )
        ]
        assert judged == expected


def test_periods():
    rows, traces = figure_1.FIGURE_1.compute(FULL)
    assert rows[RENO][0][figure_1.LARGE] == pytest.approx(41_500)
    # From 7/8 of the window to 0.9 of it by 1 % each, then 100 packets, one by one.
    expected = math.log(0.9 / 0.875) / math.log(1.01) + 100
    assert rows[figure_1.EARLY][0][figure_1.SMALL] == pytest.approx(expected)
    assert traces[RENO]["period"].to_list() == pytest.approx(figure_1.WINDOWS / 2)


def test_two_flows():
    drops = np.zeros(100)
    drops[[10, 29, 30, 99]] = 5
    # Packets of 1000 bytes a second: 8 kbit/s each. The second flow has 500 until 30 s.
    packets = np.tile([7500.0, 1250.0, 1.0], (100, 1))
    packets[:30, 1] = 500
    run = made(
        packets,
        sample_s=1.0,
        controllers=("hstcp", "reno", "poisson"),
        drops=drops,
        events=[(20.0, 0, "loss"), (31.0, 0, "loss"), (32.0, 0, "recovered"), (40.0, 1, "timeout")],
        flows=[{"dropped_packets": 7}, {"dropped_packets": 3}, {"dropped_packets": 1}],
        links=[{"utilisation": 0.9}],
    )
    # 480 s: 60 Mbit/s all the time; 4 Mbit/s for 30 s, then 10 Mbit/s, (120 + 4500)/480 = 9.625.
    # Samples end at 1 s and so on: of the four with drops those at 31 and 100 s are late enough, 10
    # packets in 70 s; in the 450 s of the paper 450/70 as many.
    assert figures_2_to_6.FIGURE_3.measure(HSTCP, run) == {
        "ratio": pytest.approx(60 / 9.625),
        "fast_mbps": pytest.approx(60.0),
        "reno_mbps": pytest.approx(9.625),
        "losses": pytest.approx(10 * 450 / 70),
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
    row = figures_2_to_6.FIGURE_2.measure(AFRICA, run)
    # 31.1 of 622 Mbit/s.
    assert row == pytest.approx({"rtt_ms": 164.5, "noise": 0.05})


def mbps(*parts):
    """Return packets in samples of 0.2 s, 25 in a Mbit/s; each part is (end in seconds, Mbit/s)."""
    time = 0.2 * np.arange(1, 2401)
    rate = np.zeros(2400)
    for end, value in reversed(parts):
        rate[time <= end + 1e-9] = value
    return 25 * rate[:, None]


def test_adapting():
    # 97 % of 622 less 300 Mbit/s are 303.34: below 1.1 times that, 333.7, from 164 s on. Up is
    # above 0.9 times 603.34, 543: from 325 s on, as the rate at 321 s is too early to count.
    rate = mbps((160, 600), (164, 400), (320, 300), (321, 560), (325, 500), (480, 590))
    row = figure_7.FIGURE_7.measure(AFRICA, made(rate, sample_s=0.2))
    assert row["before"] == pytest.approx(600)
    assert row["during"] == pytest.approx(300)
    assert row["after"] == pytest.approx(590)
    # The first samples with such rates end 0.2 s later.
    assert row["down_s"] == pytest.approx(4.2)
    assert row["up_s"] == pytest.approx(5.2)


def test_a_flow_that_never_adapts():
    row = figure_7.FIGURE_7.measure(AFRICA, made(mbps((480, 500)), sample_s=0.2))
    assert (row["down_s"], row["up_s"]) == (float("inf"), float("inf"))


def test_pictures_leave_datagrams_out():
    run = made(
        np.ones((10, 4)),
        sample_s=0.5,
        controllers=("africa", "reno", "poisson", "cbr"),
        names=("africa", "reno", "noise", "noise cbr"),
    )
    frame = figures_2_to_6.FIGURE_4.trace(AFRICA, run)
    assert frame["name"].unique(maintain_order=True).to_list() == ["africa", "reno"]
    # Both are run, but only Africa is shown.
    assert figures_2_to_6.FIGURE_4.trace(HSTCP, run) is None
    assert set(figures_2_to_6.FIGURE_4.cases(FULL.at(SETTING))) == {HSTCP, AFRICA}
