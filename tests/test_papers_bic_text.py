"""What the text of the BI-TCP paper says: runs written down, numbers by arithmetic."""

import numpy as np
import pytest

from ackclock import engine
from ackclock.models import laws
from ackclock.reproduction.claims.numbers import FULL, QUICK, Numbers
from ackclock.reproduction.trials.settings import declared
from ackclock_papers import PAPERS
from ackclock_papers.bic import section_ix, sections_iv_and_vi_a
from ackclock_papers.bic.tables_1_to_3 import RttPair
from hand_made import made

SETTING = declared(PAPERS["bic"].items)


def test_to_fill_a_link():
    # A law of w/100 per round trip takes 100 ln 10 of them, 32 packets 750 000/32.
    assert section_ix._to_fill(lambda window: window / 100) == pytest.approx(230.26, rel=1e-4)
    assert section_ix._to_fill(section_ix.FILLING["BI-TCP"]) == pytest.approx(750_000 / 32)
    assert section_ix._mean_share(laws.aimd(1, 0.5), 1000) == pytest.approx(0.75)
    # By beta alone: 1 - 1/4 for TCP, and 1 - 1/16 for the two others, which the paper prints as 94 %.
    row = section_ix._compute(FULL)[0][section_ix.TEXT][0]
    used = [row[f"used by beta, {name}"] for name in ("TCP", "STCP", "BI-TCP")]
    assert used == pytest.approx([0.75, 0.9375, 0.9375])
    # An eighth over the logarithm of 8/7.
    assert section_ix._mean_share(laws.scalable(), 1000) == pytest.approx(0.125 / np.log(8 / 7))


def test_losses_of_a_flow_alone():
    drops = np.zeros(240)
    drops[[10, 100, 150]] = 9, 8, 6
    run = made(
        np.ones((240, 1)),
        sample_s=0.5,
        drops=drops,
        flows=[{"mean_window": 900.0}],
        events=[
            (5.5, 0, "loss", 90.0, 45.0),
            (50.5, 0, "loss", 1000.0, 875.0),
            (75.5, 0, "loss", 1000.0, 775.0),
            (76.0, 0, "timeout", 9.0, 1.0),
        ],
    )
    # After 20 s: 14 packets in two loss events, which keep 7/8 and 0.775.
    assert sections_iv_and_vi_a.SECTION_VI_A.measure(sections_iv_and_vi_a.BIC, run) == pytest.approx(
        {"drops": 7, "kept": 0.825, "window": 900}
    )


def test_losing_together():
    window = np.full((100, 2), 600.0)
    window[50:, 1] = 300
    run = made(
        np.ones((100, 2)),
        sample_s=1.0,
        columns={"window": window},
        events=[
            (10.5, 0, "loss"),
            (20.5, 0, "loss"),
            (20.6, 1, "loss"),
            (60.5, 0, "loss"),
            (61.5, 1, "loss"),
            (70.0, 0, "loss"),
            (70.1, 1, "timeout"),
        ],
    )
    run.summary["measured_from_s"] = 15.0
    # After 15 s: at 20.5 and 70 s both, at 60.5 and 61.5 s one.
    assert sections_iv_and_vi_a.together(run, 0.2) == 0.5
    assert sections_iv_and_vi_a.together(run, 0.2, (500, np.inf)) == 1.0
    assert sections_iv_and_vi_a.together(run, 0.2, (0, 500)) == pytest.approx(1 / 3)
    assert np.isnan(sections_iv_and_vi_a.together(run, 0.2, (700, np.inf)))


def test_less_unfair_than_predicted():
    claims = {claim.sentence: claim for claim in PAPERS["bic"]["section-iv"].claims}
    pair = RttPair("AIMD", 3)
    claim = claims[f"the simulated unfairness is less than predicted: {pair}"]
    # 3 to the power of 1/(1 - 1/2).
    assert claim.judge(Numbers({pair: [{"ratio": 8.9}]})).holds
    assert not claim.judge(Numbers({pair: [{"ratio": 9.1}]})).holds


def test_what_is_run():
    cases = sections_iv_and_vi_a.SECTION_VI_A.cases(
        QUICK.at(SETTING)
    ) | sections_iv_and_vi_a.SECTION_IV.cases(QUICK.at(SETTING))
    for case in cases.values():
        engine.read(case.scenario)
    assert cases[sections_iv_and_vi_a.AIMD[0]].scenario["flow"][0]["params"] == {"alpha": 32, "beta": 0.125}
    assert str(sections_iv_and_vi_a.SLOW[0]) == "bic, small windows"
    assert str(sections_iv_and_vi_a.EQUAL_PAIRS[1]) == "AIMD, 100 Mbit/s"
    # No high-speed flow: the names of all flows are of the background.
    assert all(" " in flow["name"] for flow in cases[sections_iv_and_vi_a.BACKGROUND].scenario["flow"])
