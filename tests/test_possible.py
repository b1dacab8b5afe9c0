"""No interval, in any verb, contains impossible values."""

import importlib
import re
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ackclock
from ackclock import Run, metrics
from ackclock.comparison.questions import QUESTIONS
from ackclock.decision import Estimate, over_runs, quotient, within
from ackclock.predictions import Simulation
from ackclock.reproduction.claims.numbers import FULL, POSITIVE, SHARE, SIGNED, Numbers
from ackclock.runs import rows
from ackclock.sweeps import picture
from ackclock_papers import PAPERS

overview = importlib.import_module("ackclock.metrics.overview")
INTERVAL = re.compile(r"\[(\S+), (\S+?)\]")
# Metrics that may be negative: stolen and lost shares of a rate (negative for a gain), differences,
# correlations, slopes and exponents.
MAY_BE_NEGATIVE = re.compile(
    r"fit/figure-1/(large-n-takes-more-than-half-reno-throughput|delay-and-degradation-correlate)"
    r"|fit/figure-7/.*steal.*|fit/figure-7/fast-rate-depends-on-alpha"
    r"|fit/section-ii/figure-1-b-degradation-grows-with-n"
    r"|fit/section-vi/.*(stolen-rate.*|steals-no-more-than-larger-veno)"
    r"|transient/figure-2/(cov-over-time-equals-cov-over-flows-equation-1|f-1-1-cov-2-equation-3)"
    r"|transient/figure-13/f-with-.*-similar-on-red-link"
    r"|transient/figure-23/tcp-falls-below-new-rate-more-than-others"
    r"|transient/figure-24/.*-responds-as-in-figure-26|transient/figure-35/f-.*-not-change"
    r"|bic/figure-8/from-1e-5-on-bi-tcp-runs-in-parallel"
    r"|bic/figure-9/(20-mbit-s-what-bi-tcp-more-mostly-what|2.5-gbit-s-red-gives-about-same-shares|100-mbit-s-stcp-utilisation-on-par-with-bi)"
    r"|transient/section-3/smoothness-and-fairness-positively-correlated"
    r"|africa/figure-1/.*-period-linear-in-window"
    r"|illinois/figure-[2-7]/(mu-grows-with-congestion|log-x-falls-with-log-t-with-slope)"
    r"|illinois/figure-11/.*(whatever-rtt|short-rtts-more-than-illinois.*)|illinois/figure-13/.*large-rtts.*"
    r"|transient/figure-32/(tcp-fastest-then-gaimd-tfrc-tear|tfrc-increases-rate-faster-than-usual)"
    r"|transient/table-1/i-(.*-at-most-bound|falls-from-tcp-to-gaimd-tfrc-and-tear)"
    r"|africa/table-i/(ratio-roughly-proportional-to-rtts|improvement-over-reno-which-quadratic)"
)
DRAWS = {
    SHARE: lambda draw: draw.beta(0.3, 0.3),
    POSITIVE: lambda draw: 1e-6 + draw.lognormal(0, 2) * draw.integers(0, 2),
    SIGNED: lambda draw: draw.normal(),
}


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.filterwarnings("ignore")
def test_no_claim_shows_what_is_impossible(name):
    # Three runs of numbers that scatter widely, at their bounds and near them.
    paper, draw = PAPERS[name], np.random.default_rng(1)
    negative = set()
    for artefact in (*paper.artefacts, *([paper.conditions] if paper.conditions else [])):
        supplied = list(artefact.supplied(FULL.at(paper.setting)))
        for _ in range(8):
            rows = {
                case: [
                    {
                        key: DRAWS[artefact.bounds.get(str(key), POSITIVE)](draw)
                        for key in sorted(keys, key=str)
                    }
                    for _ in range(3)
                ]
                for case, keys in supplied
            }
            numbers = Numbers(rows, paper.setting, artefact.bounds)
            numbers.check()
            for claim in artefact.claims:
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    measured = claim.judge(numbers).measured
                if any(float(low) < 0 for low, _ in INTERVAL.findall(measured)):
                    negative.add(f"{name}/{artefact.name}/{claim.name}")
    assert {label for label in negative if not MAY_BE_NEGATIVE.fullmatch(label)} == set()
    assert negative, "the draws reach below 0 where that is possible"


def test_numbers_are_kept_within_their_bounds():
    # Student's interval of 0, 0 and 0.9: 0.3 +- 4.303 * 0.3, from -0.99 to 1.59.
    rows = {"a": [{"x": 0.0, "share": 0.0, "d": 0.0}, {"x": 0.0, "share": 0.0, "d": 0.0}]}
    rows["a"].append({"x": 0.9, "share": 0.9, "d": 0.9})
    numbers = Numbers(rows, {}, {"share": SHARE, "d": SIGNED})
    assert str(numbers.of("a", "x")) == "0.3 [0, 1.591]"
    assert str(numbers.of("a", "d")) == "0.3 [-0.9908, 1.591]"
    share = numbers.of("a", "share")
    assert (share.low, share.high) == (0, 1)
    # The standard error is that of the runs: the deviation 0.5196 over the root of 3.
    assert share.error == pytest.approx(0.3)


def test_an_impossible_number_is_refused():
    numbers = Numbers({"a": [{"share": 1.2}]}, {}, {"share": SHARE})
    with pytest.raises(ValueError, match=r"a: share is 1\.2, not from 0 to 1"):
        numbers.check()
    with pytest.raises(ValueError, match="a: x is -1, not from 0 to inf"):
        Numbers({"a": [{"x": -1.0}]}).check()
    # A packet at the end of the measurement counts whole.
    Numbers({"a": [{"share": 1.0005}]}, {}, {"share": SHARE}).check()


NUMBERS = st.lists(st.floats(0, 1), min_size=1, max_size=9)


@settings(max_examples=300, deadline=None)
@example([1 - 2**-53] * 2, (-1.0, 1.0))
@given(NUMBERS, st.sampled_from([SHARE, POSITIVE, (-1.0, 1.0)]))
def test_an_interval_lies_within_its_bounds_and_holds_the_mean(values, bounds):
    estimate = over_runs(values, least=bounds[0], most=bounds[1])
    if not np.isnan(estimate.low):
        assert bounds[0] <= estimate.low <= estimate.value <= estimate.high <= bounds[1]


@settings(max_examples=300, deadline=None)
@given(NUMBERS, NUMBERS)
def test_a_quotient_of_positive_numbers_is_positive(above, below):
    estimate = quotient(over_runs(above, least=0.0), over_runs(below, least=0.0))
    assert not estimate.low < 0
    assert np.isnan(estimate.low) or estimate.low <= estimate.value <= estimate.high


def test_bounds_leave_the_error_alone():
    kept = within(Estimate(0.1, -0.2, 0.4, 3, error=0.07), 0.0, 1.0)
    assert kept.error == 0.07


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(QUESTIONS), st.lists(st.floats(1e-9, 1), min_size=1, max_size=9))
def test_no_answer_of_a_comparison_shows_what_is_impossible(question, shares):
    top = min(question.most, 1e3)
    estimate = question.estimate([question.least + (top - question.least) * share for share in shares])
    if not np.isnan(estimate.low):
        assert question.least <= estimate.low <= estimate.value <= estimate.high <= question.most


def _run() -> Run:
    path = ackclock.dumbbell(rate="10 Mbit/s", delay="10 ms", queue="25 packets")
    flows = [ackclock.flow(name, rtt="40 ms") for name in ("reno", "cubic")]
    return ackclock.simulate(ackclock.scenario(path, *flows, duration="5 s"))


@pytest.mark.parametrize("runs", [2, 3, 8])
def test_no_metric_of_simulate_shows_what_is_impossible(monkeypatch, runs):
    run, draw = _run(), np.random.default_rng(2)
    names = list(overview._quantities(run))
    assert {name for _, name, _ in names} >= {"goodput", "utilisation", "loss rate", "mean window"}
    for _ in range(40):

        def drawn(_run):
            return {
                name: (draw.beta(0.3, 0.3) if unit == "1" else draw.lognormal(0, 2))
                for name in names
                for unit in name[2:]
            }

        monkeypatch.setattr(overview, "_quantities", drawn)
        table = metrics.overview([run] * runs).drop_nulls("low")
        assert table.height
        assert (table["low"] >= 0).all()
        shares = table.filter(
            pl.col("metric").is_in(["utilisation", "loss rate", "Jain's index of the means"])
        )
        assert (shares["high"] <= 1).all()
        assert ((table["low"] <= table["value"]) & (table["value"] <= table["high"])).all()


def test_no_picture_of_a_sweep_shows_what_is_impossible():
    draw = np.random.default_rng(3)
    numbers = [name for name, kind in rows.COLUMNS.items() if kind in (int, float)]
    metrics_of_rows = [name for name in numbers if name not in ("point", "run", "flow")]
    for name in metrics_of_rows:
        least, most = rows.possible(name)
        assert least == 0, name
        values = draw.beta(0.3, 0.3, 120) if most == 1 else draw.lognormal(0, 2, 120)
        table = pl.LazyFrame({"x": [place // 3 for place in range(120)], "run": [0, 1, 2] * 40, name: values})
        shown = picture.estimates(table, "x", name, None)
        assert (shown["low"] >= 0).all()
        assert (shown["high"] <= most).all()


def test_no_prediction_shows_what_is_impossible(monkeypatch):
    draw = np.random.default_rng(4)
    simulation = Simulation(runs=3)
    monkeypatch.setattr(
        Simulation,
        "each",
        lambda _self, scenarios, _measure: [list(draw.lognormal(0, 2, 3)) for _ in scenarios],
    )
    for _ in range(20):
        shown = ackclock.predictions.response.predict(["reno"], loss=[0.01, 0.001], simulation=simulation)
        assert (shown.points["low"].drop_nulls() >= 0).all()
