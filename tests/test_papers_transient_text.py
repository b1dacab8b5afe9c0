"""What the text of the transient study says: runs written down, numbers by arithmetic."""

import numpy as np
import pytest

from ackclock import engine
from ackclock.models import timeouts
from ackclock.reproduction.claims.numbers import QUICK, Numbers
from ackclock.reproduction.trials.settings import declared
from ackclock_papers import PAPERS
from ackclock_papers.transient import section_3, section_4, section_b
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Protocol
from hand_made import made

SETTING = declared(PAPERS["transient"].items)


def test_silence():
    # Silences of 2, 4 and 3 round trips; the last two count: 7 of 13.
    sent = np.array([5, 0, 0, 2, 0, 0, 0, 0, 1, 3, 0, 0, 0])
    assert section_3.silent_share(sent) == pytest.approx(7 / 13)
    assert section_3.silent_share(np.ones(4)) == 0
    assert section_3.silent_share(np.zeros(4)) == 1


def test_ramps():
    queue = np.array([0, 5, 20, 35, 46, 50, 44, 30, 20, 10, 4, 0, 30, 50, 20, 3])
    # From the second to the fifth, 3, and from the twelfth to the fourteenth, 2; down from the
    # sixth to the eleventh, 5, and from the fourteenth to the sixteenth, 2.
    assert section_3.ramps(queue, 5, 45) == (2.5, 3.5)
    assert np.isnan(section_3.ramps(np.full(9, 20), 5, 45)).all()


def test_a_lone_flow():
    window = np.where(np.arange(5000) < 3750, 60.0, 30.0)
    run = made(
        np.full((5000, 1), 6.25),
        sample_s=0.02,
        controllers=("reno",),
        window=window,
        queue=np.tile(np.repeat([2.0, 50.0], 250), 10),
        events=[
            (60.0, 0, "loss", 82.0, 41.0),
            (70.0, 0, "loss", 80.0, 40.0),
            (80.0, 0, "timeout", 9.0, 1.0),
            (20.0, 0, "loss", 7.0, 3.0),
        ],
    )
    row = section_3.SECTION_3.measure(section_3.Under(TCP, section_3.ALONE), run)
    assert row["window_at_loss"] == 81
    # From 50 to 75 of 100 s.
    assert row["allowed"] == pytest.approx(0.5, abs=0.001)
    assert row["silent"] == 0
    # From one round trip of 100 ms to the next.
    assert (row["up"], row["down"]) == (1, 1)


def test_claims_of_steady_conditions():
    claims = {claim.sentence: claim for claim in PAPERS["transient"]["section-3"].claims}
    rates = {section_3._at(TCP, p): [{"rate": 10.0}] for p in section_3.LOSSES}
    rates |= {section_3._at(GAIMD, p): [{"rate": 12.0}] for p in section_3.LOSSES}
    friendly = claims["GAIMD is TCP-friendly at every loss rate of figure 6"]
    assert friendly.judge(Numbers(rates)).holds
    rates[section_3._at(GAIMD, 0.2)] = [{"rate": 4.0}]
    judged = friendly.judge(Numbers(rates))
    assert (judged.value, judged.holds) == (pytest.approx(0.4), False)
    fair = {
        section_3.Under(protocol, conditions): [{"fairness": 0.9 - change * (conditions == section_3.RED)}]
        for protocol, change in zip(Protocol, (0.01, 0.3, 0.05, 0.08), strict=True)
        for conditions in (section_3.ALIKE, section_3.RED)
    }
    red = claims["results with RED are mostly similar: F of eight flows"].judge(Numbers(fair))
    assert (red.value, red.holds) == (pytest.approx(0.08), True)


def test_a_change():
    # 10 packets until the change in round trip 20; then 31 for ten, 20 from then on.
    total = np.concatenate((np.full(20, 10.0), np.full(10, 31.0), np.full(170, 20.0)))
    queue = np.concatenate((np.full(20, 50.0), np.full(25, 46.0), np.full(155, 10.0)))
    peak, settled, full = section_4.step_details(total[:, None], queue, 20)
    # A tenth of 20 is 2: the mean of ten with one of 31 is 21.1, with two 22.2.
    assert (peak, settled, full) == (1.55, 9.0, 0.25)
    rising = np.arange(200.0)[:, None]
    assert section_4.step_details(rising, queue, 20)[1] == np.inf


def test_loss_rates_around_a_change():
    drops = np.zeros(1000)
    drops[[300, 600, 800]] = 5, 10, 10
    sent = np.full((1000, 16), 1.0)
    sent[500:] = 2
    run = made(sent, sample_s=0.2, drops=drops, controllers=["reno"] * 16)
    row = section_4.SECTION_4.measure(section_4.Step(TCP, section_4.JOIN), run)
    # 250 samples of 16 packets, and 500 of 32.
    assert row["loss_before"] == pytest.approx(5 / 4000)
    assert row["loss_after"] == pytest.approx(20 / 16000)


def test_the_recursion_of_gaimd():
    round_trips = section_4.half_way_by_recursion(Numbers({})).value
    # From 9.6 to 4.8 packets by eighths, with losses 25 packets apart.
    assert 2 < round_trips < 15


def test_slow_start_in_the_chain():
    # The chain, packet by packet: a timeout ends with a packet; if that arrives, two follow in the
    # next round trip, and then the timer is back where it began.
    generator = np.random.default_rng(1)
    p, timeout, sent, stage = 0.2, 4, [], 0
    for lost in generator.random(200_000) < p:
        sent += [0] * (timeout * 2**stage - 1) + [1]
        stage = min(stage + 1, 6) if lost else 0
        if not lost:
            sent.append(2)
    cov = np.std(sent) / np.mean(sent)
    assert timeouts.cov_with_slow_start(p, timeout) == pytest.approx(cov, rel=0.01)


def test_appendix():
    (row,) = section_b.APPENDIX.compute(QUICK)[0][section_b.TEXT]
    # A state is left with p q^(i-1) at a rate of i^e: by the sums, term by term.
    i = np.arange(1, 400)
    share = 0.2 * 0.8 ** (i - 1) / i**1.5
    rate = i**1.5
    square = (share * rate**2).sum() * share.sum() / (share * rate).sum() ** 2
    assert row["CoV[R'] for p^-1.5"] == pytest.approx(np.sqrt(square - 1), rel=1e-6)


def test_what_is_run():
    cases = section_3.SECTION_3.cases(QUICK.at(SETTING)) | section_4.SECTION_4.cases(QUICK.at(SETTING))
    for case in cases.values():
        engine.read(case.scenario)
    assert len({str(key) for key in cases}) == len(cases)
    without = cases[section_3.Under(TEAR, section_3.ALIKE, timeout=False)].scenario["flow"][0]
    assert (without["params"], without["count"]) == ({"timeout": False}, 8)
    # Damping is the default of that year's simulator, and declared.
    assert cases[section_4.WITHOUT].scenario["flow"][0]["params"] == {"damping": True, "discounting": False}
    assert str(section_4.WITHOUT) == "TFRC without discounting, 3 % to 2 %"
    assert str(section_3.Under(TFRC, section_3.ALONE)) == "TFRC, alone"
