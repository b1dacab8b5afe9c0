"""What is known of claims that do not hold is computed, and is still true."""

import csv
import re
from pathlib import Path
from statistics import fmean

import pytest

from ackclock import engine
from ackclock.reproduction import quoted
from ackclock.reproduction.claims.judge import Assignment, judge
from ackclock.reproduction.claims.numbers import QUICK, Numbers
from ackclock_papers import PAPERS
from ackclock_papers.fit import figures_4_and_5
from ackclock_papers.fit.findings import most_sessions
from kept_runs import kept_runs

ROOT = Path(__file__).parents[1]
NS_2 = ROOT / "tests" / "data" / "ns2"
NUMBERED = r"\(2 - beta\)|(?:equations?|figures?|tables?|section|RFC) [\d.]*\d(?: (?:to|and) [\d.]*\d)?"
NAMES = re.compile(NUMBERED + r"|ns-2(?:\.[\da-z]+)?", re.I)
"""Names that have digits."""
FIELD = re.compile(r"\{[^{}]*\}")

FINDINGS = {
    f"{paper.name}/{claim.finding.name}": claim.finding
    for paper in PAPERS.values()
    for artefact in paper.artefacts
    for claim in artefact.claims
    if claim.finding
}


@pytest.mark.parametrize("name", FINDINGS)
def test_no_number_of_a_finding_is_typed(name):
    typed = NAMES.sub("", FIELD.sub("", FINDINGS[name].text))
    assert not re.findall(r"\d+", typed), typed


def test_a_typed_number_would_be_seen():
    text = "By equations 2 to 4 and RFC 5348 ns-2.35 has {share:.2f} of 27.9 in figure 5"
    assert re.findall(r"[\d.]*\d", NAMES.sub("", FIELD.sub("", text))) == ["27.9"]


EXPLAINED = [
    (paper, artefact)
    for paper in PAPERS.values()
    for artefact in paper.artefacts
    if any(claim.finding for claim in artefact.claims)
]
PAIRS = [
    (variant, loss) for variant in ("FIT", *figures_4_and_5.RIVALS_4) for loss in figures_4_and_5.LOSSES_4
]
"""Controls and loss rates of figure 4 of TCP-FIT."""
COSTLY = ("bic/section-vii", "bic/table-3", "fit/figure-4", "illinois/section-2")
"""Up to half a minute of simulation each; the others share their runs with the verdicts, or have few."""


def _marked(paper, artefact):
    name = f"{paper.name}/{artefact.name}"
    return pytest.param(paper, artefact, id=name, marks=[pytest.mark.long] if name in COSTLY else [])


@pytest.mark.parametrize(("paper", "artefact"), [_marked(*one) for one in EXPLAINED])
def test_a_finding_is_true_at_the_setting_of_the_paper(paper, artefact):
    with kept_runs() as store:
        ((_, judgement),) = judge([Assignment.of(artefact, QUICK.at(paper.setting))], store)
    assert not judgement.error
    unexplained = {
        claim.finding.name
        for claim, judged in judgement.claims
        if claim.finding and not judged.holds and claim.finding.name not in judgement.findings
    }
    assert not unexplained, "what these say of claims that do not hold is not true any more"
    assert not any("{" in sentence for sentence in judgement.findings.values())


def _kept(row):
    """Compute a quoted number from the table that it is taken from."""
    if Path(row.source).name == "cases.txt":
        (line,) = re.findall(rf"^{re.escape(row.case)} \|.*", (ROOT / row.source).read_text(), re.M)
        key, _, unit = row.quantity.partition("_")
        return float(re.search(rf" {key}=([\d.]+)", line)[1]) * {"us": 1e6, "mbps": 1}[unit]
    with (ROOT / row.source).open(encoding="utf-8", newline="") as file:
        rows = [kept for kept in csv.DictReader(file) if kept["case"] == row.case]
    return fmean(float(kept[row.quantity]) for kept in rows if kept.get("flow", "") == row.flow)


def test_what_is_quoted_is_what_was_kept():
    rows = [row for name in ("illinois", "transient") for row in quoted.load(f"ackclock_papers.{name}").rows]
    kept = [row for row in rows if row.source.startswith("tests/")]
    assert kept
    for row in kept:
        assert row.value == pytest.approx(_kept(row), rel=1e-5), row
    # The rest says where it is from, in words.
    assert all(len(row.source.split()) > 3 for row in rows if row not in kept)


def test_the_noise_of_figure_5_bounds_the_sessions_of_fit():
    # A way of 25 ms without noise and 12,000 bits at 4 Mbit/s, 3 ms: the least RTT is 28 ms. Where the
    # mean is twice that N is at most 2.
    assert most_sessions(50, 56) == pytest.approx(2)
    # A run reaches that least RTT, and none is below it.
    key = figures_4_and_5.NoisyPath("FIT", 50, 0.01)
    run = engine.simulate(figures_4_and_5.FIGURE_5.cases(QUICK.at(PAPERS["fit"].setting))[key].scenario)
    assert 28 <= run.windows["rtt_ms"].min() < 30


def test_the_explanation_of_figure_5_goes_when_fit_has_more_than_it_allows():
    # A mean RTT of twice the least, R/2 + 3 ms: N is at most 2. FAST has three times Reno's goodput.
    def explained(fit_mbps):
        mbps = {"FIT": fit_mbps, "FAST": 3.0}
        rows = {
            key: [{key.variant: mbps.get(key.variant, 1.0), "rtt_ms": key.rtt_ms + 6.0}]
            for key in figures_4_and_5.FIGURE_5.cases(QUICK.at(PAPERS["fit"].setting))
        }
        return FINDINGS["fit/rtt-noise-raises-n"].sentence(Numbers(rows))

    # Equation 18: 1.25 times Reno's goodput at N = 1.25. Much more than the others' 1 is 1.3.
    assert "at most 2.00 to 2.00" in explained(1.25)
    assert "1.25 to 1.25 times, 1.25 on average" in explained(1.25)
    assert "1.30 times would be much more" in explained(1.25)
    assert explained(2.1) == ""


def test_the_explanation_of_figure_4_goes_when_fit_has_little_more_than_a_tcp_that_leaves_room():
    # 1000/1.3 = 769 Mbit/s: CTCP's 800 and 850 are above it, CUBIC's 500 and the others' 100 are not.
    def explained(fit_mbps, others_mbps=100.0, cubic_mbps=500.0):
        rows = {
            key: [{key.variant: fit_mbps if key.variant == "FIT" else others_mbps}]
            for key in map(figures_4_and_5.with_loss, *zip(*PAIRS, strict=True))
        }
        rows[figures_4_and_5.with_loss("CTCP", 1e-5)] = [{"CTCP": 800.0}]
        rows[figures_4_and_5.with_loss("CTCP", 1e-6)] = [{"CTCP": 850.0}]
        rows[figures_4_and_5.with_loss("CUBIC", 1e-6)] = [{"CUBIC": cubic_mbps}]
        return FINDINGS["fit/no-room-for-much-more"].sentence(Numbers(rows))

    assert "2 are larger than that: 800 Mbit/s" in explained(900)
    # 900 is 1.8 times 500, and 640 is 1.28 times.
    assert "at least 1.80 times" in explained(900)
    assert explained(640) == ""
    # Nothing is compared where none leaves room.
    assert explained(900, others_mbps=800.0, cubic_mbps=800.0) == ""
