"""Statements of the text of the TCP-FIT paper: runs written by hand, numbers by arithmetic."""

import numpy as np
import pytest

from ackclock import engine
from ackclock.reproduction.claims.numbers import QUICK, Numbers
from ackclock.reproduction.trials.settings import declared
from ackclock_papers import PAPERS
from ackclock_papers.fit import figures_1_to_3, figures_6_and_7, section_v, sections_ii_and_vi
from hand_made import made

SETTING = declared(PAPERS["fit"].items)


def test_models():
    (row,) = section_v.SECTION_5.compute(QUICK)[0][section_v.TEXT]
    # 1.5/83333^2; the 0.12/p^0.835 of HSTCP: (0.12/83333)^(1/0.835).
    assert row["p of Reno"] == pytest.approx(2.16e-10, rel=1e-3)
    assert row["p of HSTCP"] == pytest.approx((0.12 / 83_333) ** (1 / 0.835), rel=1e-3)
    # Alpha (D + q)/q sessions of sqrt(1.5/0.005)/(D + q) packets per second.
    assert row["FIT, short"] == pytest.approx(0.5 / 1e-4 * np.sqrt(300))
    assert row["Vegas, short"] == pytest.approx(20 / 1e-4)
    # Westwood's sqrt(0.995)/0.005/0.05.
    assert row["largest bound"] == pytest.approx(np.sqrt(0.995) * 4000)
    # (0.2 + 0.2)/(0.05 + 0.2), with one session.
    assert row["eta of FIT"] == row["eta of Reno"] == pytest.approx(1.6)


def test_halves_of_turns():
    # Two turns of 10 s in samples of 0.5 s. The first second does not count; the first flow has 40
    # packets in a sample, then 50, the second 60 throughout.
    sent = np.zeros((40, 2))
    sent[:10, 0], sent[10:20, 0], sent[20:, 1] = 40, 50, 60
    assert sections_ii_and_vi.halves(made(sent, sample_s=0.5), 2) == pytest.approx((1.25 + 1) / 2)


def test_claims_about_figure_1():
    claims = {claim.sentence: claim for claim in PAPERS["fit"]["section-ii"].claims}
    rows = {figures_1_to_3.ALONE: [{"reno_mbps": 5.0}]}
    rows |= {key: [{"reno_mbps": 5.0 - 0.1 * key.n}] for key in figures_1_to_3.SESSIONS}
    grows = claims["figure 1(b): degradation grows with N"]
    assert grows.judge(Numbers(rows)).holds
    rows[figures_1_to_3.SESSIONS[3]] = [{"reno_mbps": 4.8}]
    assert not grows.judge(Numbers(rows)).holds


def test_full_while_there_is_a_queue():
    run = made(
        np.ones((4, 2)),
        sample_s=1.0,
        queue=[0.0, 3.0, 5.0, 0.5],
        utilisation=[0.4, 1.0, 0.9, 0.8],
        links=[{}],
    )
    # Of the two samples with at least one packet.
    assert sections_ii_and_vi.SECTION_6.measure(sections_ii_and_vi.STATE_B, run) == pytest.approx(
        {"utilisation": 0.95}
    )


def test_pairs_and_the_bandwidth_that_they_steal():
    link = {"utilisation": 0.9, "mean_queue_packets": 7.0}
    run = made(np.ones((2, 2)), links=[link], flows=[{"goodput_mbps": 3.0}, {"goodput_mbps": 6.0}])
    place = next(iter(sections_ii_and_vi.IN_TABLE_5))
    shared = f"{place}: Reno next to FIT"
    row = sections_ii_and_vi.SECTION_6.measure(shared, run)
    assert row == pytest.approx({"utilisation": 0.9, "first": 3.0, "share": 1 / 3})
    numbers = Numbers({f"{place}: Reno next to Reno": [{"first": 4.0}], shared: [row]})
    stolen = figures_6_and_7.stolen(numbers, f"{place}: Reno next to Reno", shared, "first")
    assert stolen.value == pytest.approx(0.25)
    twenty = made(np.ones((2, 20)), links=[link], flows=[{"goodput_mbps": 2.0}] * 20)
    row = sections_ii_and_vi.SECTION_6.measure(figures_6_and_7.NOTHING_REPLACED, twenty)
    assert row == pytest.approx({"utilisation": 0.9, "Reno": 20.0, "queue": 7.0})


def test_scenarios_are_accepted_and_have_their_parameters():
    cases = sections_ii_and_vi.SECTION_6.cases(QUICK.at(SETTING)) | sections_ii_and_vi.SECTION_2.cases(
        QUICK.at(SETTING)
    )
    for case in cases.values():
        engine.read(case.scenario)
    # 10 Mbit/s for 200 ms in packets of 12 kbit.
    starving = cases["Vegas next to Reno"].scenario
    assert starving["dumbbell"]["queue"]["limit"] == "167 packets"
