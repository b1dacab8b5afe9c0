"""Statements of the text of the Illinois paper: runs written by hand, numbers by arithmetic."""

import numpy as np
import pytest

from ackclock import engine
from ackclock.reproduction.claims.numbers import QUICK, Numbers
from ackclock.reproduction.trials.settings import declared
from ackclock_papers import PAPERS
from ackclock_papers.illinois import other_functions, section_2, section_4, section_4_5, sections_3_and_5
from ackclock_papers.illinois.figures_14_and_15 import LossyFlow
from ackclock_papers.illinois.four_flows import Four, OfFlow
from hand_made import made

SETTING = declared(PAPERS["illinois"].items)


def claims_of(artefact):
    """Return the claims of an artefact of the paper, by name."""
    return {claim.name: claim for claim in PAPERS["illinois"][artefact].claims}


def test_shapes():
    rows = section_4.SECTION_4.compute(QUICK)[0]
    (curves,) = rows[section_4.CURVES]
    # (1/2 + 1)/2, and half of the window over ln 2.
    assert curves["linear"] == pytest.approx(0.75)
    assert curves["Scalable TCP"] == pytest.approx(0.5 / np.log(2), rel=1e-6)
    # Above d1 the square of the queue grows by 0.2 B per round trip, so the growth is as the root
    # of the time: it falls by 1 - sqrt(0.9) in the last tenth.
    assert curves["last"] == pytest.approx(1 - np.sqrt(0.9), abs=1e-3)
    assert curves["first"] == 0
    # From 10 packets to a queue of sqrt(0.1) B: 0.1/sqrt(0.1).
    assert curves["middle"] == pytest.approx(1 - 0.1 / np.sqrt(0.1) / 10, abs=0.005)
    trips, growth = section_4.curve(50)
    # 0.2 B per round trip in q^2: B/0.2 = 250 round trips.
    assert trips[-1] == pytest.approx(250, rel=0.01)
    assert (growth[0], growth[-1]) == (10, pytest.approx(0.1, rel=0.001))


def four(**more):
    """Return 300 s of four flows in samples of 0.1 s, measured from 100 s on."""
    run = made(np.ones((3000, 4)), **more)
    run.summary["measured_from_s"] = 100.0
    for flow in run.summary["flows"]:
        flow["settings"] = {"packet": "1000 B"}
    return run


def test_congestion_events():
    # Events at 150 and 250 s with 3 and 6 drops just before; 1350 packets are what link and buffer
    # hold: 4 times 300 and 4 times 360 are below and above.
    time_s = 0.1 * np.arange(1, 3001)
    drops = np.zeros(3000)
    drops[[1499, 2499]] = 3, 6
    window = np.full((3000, 4), 200.0)
    window[np.abs(time_s - 150) < 0.5] = 300
    window[np.abs(time_s - 250) < 0.5] = 360
    losses = [(50.0, 0, "loss"), (150.05, 0, "loss"), (150.2, 1, "loss"), (250.05, 2, "loss")]
    run = four(drops=drops, columns={"window": window}, events=losses)
    row = section_4_5.per_event(run)
    assert row["drops"] == 4.5
    assert row["few"] == 0.5
    # Two flows lose at the first event, and one at the second.
    assert row["losing flows"] == 1.5
    assert row["least sum"] == pytest.approx(1200 / 1350)
    assert row["largest sum"] == pytest.approx(1440 / 1350)
    # Of 2000 samples nine or ten each are higher.
    assert row["time mean"] == pytest.approx(201.2 / 330, rel=0.003)
    claim = claims_of("section-4-5")["with-bursts-sum-rates-above-or-below-c"]
    assert claim.judge(Numbers({section_4_5.ILLINOIS: [row]})).holds


def test_medium_congestion_of_four_flows_and_backoffs_of_half_of_them_are_the_limits():
    claims = claims_of("section-4-5")
    # From 1 to 4 packets with equal probability are 2.5 on average; four Reno flows lose 3.9, together.
    for drops, losing, holds in ((1.3, 1.3, True), (2.4, 1.9, True), (2.6, 2.1, False), (3.9, 3.9, False)):
        numbers = Numbers({section_4_5.ILLINOIS: [{"drops": drops, "losing flows": losing}] * 2})
        for what in ("avoid-heavy-congestion", "back-off-unsynchronised"):
            assert claims[f"four-illinois-flows-{what}"].judge(numbers).holds == holds


def test_alpha_and_beta_of_four():
    alpha = np.tile([1.0, 1.0, 1.2, 0.8], (3000, 1))
    losses = [(150.0, 0, "loss", 300.0, 150.0), (200.0, 1, "loss", 300.0, 200.0)]
    row = section_4_5.of_illinois(four(columns={"alpha": alpha}, events=losses))
    assert row["apart"] == pytest.approx(1.5)
    assert row["halved"] == 0.5
    # 4 packets per round trip of 0.1 s for 200 s, over 250 packets.
    assert row["balance"] == pytest.approx(8000 / 250)


def test_windows_of_pairs():
    run = made(np.ones((2, 4)), flows=[{"mean_window": mean_window} for mean_window in (10, 12, 20, 30)])
    row = section_4_5.SECTION_4_5.measure(section_4_5.RENO_AND_ILLINOIS, run)
    assert row[OfFlow("window", 3)] == 30
    rows = {section_4_5.RENO_AND_ILLINOIS: [row]}
    claims = claims_of("section-4-5")
    assert claims["both-reno-flows-same-mean-window"].judge(Numbers(rows)).holds
    assert not claims["both-illinois-flows-same-mean-window"].judge(Numbers(rows)).holds


def test_a_lossy_link():
    window = np.tile([20.0, 40.0], 500)[:, None]
    run = made(
        np.ones((1000, 1)),
        sample_s=0.5,
        columns={
            "window": window,
            "ssthresh": np.full((1000, 1), 30.0),
            "alpha": np.where(np.arange(1000) < 500, 1.0, 10.0)[:, None],
        },
        events=[
            (30.0, 0, "loss", 8.0, 4.0),
            (100.0, 0, "loss", 40.0, 35.0),
            (200.0, 0, "loss", 40.0, 20.0),
            (300.0, 0, "loss", 40.0, 35.0),
        ],
    )
    run.summary["measured_from_s"] = 50.0
    row = sections_3_and_5.on_lossy_link(run)
    # 40 packets are above ssthresh; after 50 s there are 450 such samples, 250 of them with 10.
    assert row == pytest.approx(
        {"cut": 0.125, "avoiding": 40, "largest alpha": 250 / 450, "least beta": 2 / 3}
    )


def test_below_the_threshold():
    window = np.full((600, 4), 6.0)
    window[:, 3] = 12
    run = made(
        np.ones((600, 4)),
        sample_s=0.5,
        columns={"window": window, "alpha": np.tile([9.0, 9.0, 1.0, 5.0], (600, 1))},
        events=[(200.0, 2, "loss", 8.0, 4.0), (210.0, 3, "loss", 12.0, 9.0), (220.0, 2, "loss", 3.0, 2.0)],
        flows=[{"goodput_mbps": goodput_mbps} for goodput_mbps in (0.2, 0.2, 0.3, 0.3)],
    )
    row = sections_3_and_5.SECTION_3.measure(sections_3_and_5.SLOW, run)
    assert row["Illinois over Reno"] == pytest.approx(1.5)
    assert (row["alpha off by"], row["beta off by"]) == (0, 0)
    window[:, 3] = 9
    run.tables["windows"]["window"] = window.ravel()
    again = sections_3_and_5.SECTION_3.measure(sections_3_and_5.SLOW, engine.Run(run.summary, "", run.tables))
    assert again["alpha off by"] == 4


def test_scenarios_are_accepted_and_have_their_parameters():
    cases = sections_3_and_5.SECTION_3.cases(QUICK.at(SETTING))
    cases |= section_2.SECTION_2.cases(QUICK.at(SETTING))
    for case in cases.values():
        engine.read(case.scenario)
    fixed = cases[sections_3_and_5.FIXED].scenario["flow"][0]["params"]
    assert fixed == {"eta1": 0.2, "beta_min": 0.5}
    noisy = next(iter(sections_3_and_5.OPTIONS))
    assert [flow["params"] for flow in cases[noisy].scenario["flow"]] == [{"extremes": "sample"}] * 2
    assert str(noisy) == "extremes of single RTTs, sigma = 0 ms"
    assert str(section_2.CUBIC) == "CUBIC"


def test_orders_and_buffers():
    def rows(first, second):
        return Numbers(
            {
                sections_3_and_5.FAST_FIRST: [{"share of FAST": first}],
                sections_3_and_5.FAST_SECOND: [{"share of FAST": second}],
            }
        )

    apart = claims_of("section-3")["fast-beside-reno-share-depends-on-who-came-first"]
    assert apart.judge(rows(0.6, 0.4)).value == pytest.approx(1.5)
    assert apart.judge(rows(0.4, 0.6)).value == pytest.approx(1.5)
    gains = {
        LossyFlow(control, p): [{"avoiding": 10.0 if control == "Reno" else 60.0 + index}]
        for control in ("Reno", "Illinois")
        for index, p in enumerate(sections_3_and_5.LOSSES)
    }
    # The fourth of seven.
    without = claims_of("section-5")["without-timeouts-window-would-about-6-times-reno"]
    assert without.judge(Numbers(gains)).value == pytest.approx(6.3)
    assert Four("Reno") in section_4_5.SECTION_4_5.cases(QUICK.at(SETTING))


def test_a_straight_f1_makes_a_curve_that_is_straight_and_then_concave():
    # The window of 1350 packets is halved and grows by 10 per round trip until the path of 1250 is full, 57.5
    # round trips in a straight line. Then alpha falls from 10 to 0.1 while the queue grows to 100 packets, in
    # 10 ln(100) = 46 round trips. Of the last third of all 103.5 it grows by 27 packets in 34: 0.8 for 10.
    member = other_functions.MEMBERS[0]
    case = other_functions.cases(QUICK.at(SETTING))[member]
    row = sections_3_and_5.SECTION_3.measure(member, engine.simulate(case.scenario))
    assert (row["concave"], row["convex"]) == (1, 0)
    assert row["bend"] == pytest.approx(0.8 / 10 - 1, abs=0.05)
