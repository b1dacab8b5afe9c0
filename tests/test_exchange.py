"""Claims with Reno in the place of a paper's control: a planted paper with known answers, and the papers."""

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from ackclock.reproduction import exchange, library
from ackclock.reproduction.claims import orders, records, usual
from ackclock.reproduction.claims.artefact import matching
from ackclock.reproduction.claims.numbers import QUICK, Numbers
from ackclock.reproduction.shown import classes, published, telling
from ackclock.reproduction.trials import exchanges
from ackclock.reproduction.trials.exchanges import Exchange
from ackclock.runs import Store
from ackclock_papers import PAPERS
from conftest import Finished

Run = Callable[..., Finished]
CONTROL = """\
import ackclock


class Steady(ackclock.Control):
    def __init__(self, start: ackclock.Start) -> None:
        self.window = 25.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.window = 25.0

    def on_loss(self, loss: ackclock.Loss) -> None:
        self.window = 25.0
"""
FUNCTIONS = """\
from ackclock.decision import over_runs


def steadiness(run):
    return 10.0 if run.summary["flows"][0]["controller"].startswith("steady") else float(run.summary["run"])


def largest_alpha(run):
    return float(run.windows["alpha"].max())


def fraction(run):
    return 0.1 * run.summary["run"]


def none_of_none(run):
    return float("nan") if run.summary["flows"][0]["controller"] == "reno" else 2.0


def rate_with_alpha(run):
    return run.windows.select("alpha", "arrived_bytes")["arrived_bytes"].sum() * 1e-6


def quarter(numbers):
    return over_runs([0.25])
"""
DATA = """\
title = "A paper of a constant window"
controls = ["steady:Steady", "illinois"]

[artefact.figure-1]
caption = "one flow alone"
about = "5 Mbit/s and 40 ms hold 25 packets of 1000 bytes, and the buffer holds as many."
headline = true
numbers.mbps = "flow.a.goodput_mbps"
numbers.drops = "flow.a.dropped_packets"
numbers.steady = { function = "steadiness" }
numbers.fraction = { function = "fraction" }
numbers.ratio = { function = "none_of_none" }

[[artefact.figure-1.case]]
scenario = "path.toml"
label = "{control}"
grid.control = ["steady:Steady", "reno", "hstcp"]
set."flow.0.controller" = "{control}"

[artefact.figure-2]
caption = "the gain of Illinois"
about = "A number that only Illinois has."
headline = true
numbers.alpha = { function = "largest_alpha" }
numbers.mbps = { function = "rate_with_alpha" }

[[artefact.figure-2.case]]
scenario = "path.toml"
label = "own"
set."flow.0.controller" = "illinois"
"""
CLAIMS = """\
[figure-1]
claim = "A constant window fills the link and loses nothing."
words = "loses nothing"
from = "section 1"
kind = "simulation"

[figure-1.uses-the-link]
sentence = "It has at least 0.8 of the link"
case = "steady:Steady"
key = "mbps"
at_least = 4
why = "0.8 of 5 Mbit/s"
main = true

[figure-1.loses-nothing]
sentence = "It loses nothing"
case = "steady:Steady"
key = "drops"
at_most = 0
why = "as the text says"
main = true

[figure-1.is-a-quarter]
sentence = "A formula"
estimate = "quarter"
reads = []
near = 0.25
within = 0
why = "exact"

[figure-1.is-steady]
sentence = "It is steady"
case = "steady:Steady"
key = "steady"
at_least = 0.5
why = "planted"

[figure-1.steadier-than-reno]
sentence = "It is steadier than Reno"
order = ["steady:Steady", "reno"]
key = "steady"
why = "planted"

[figure-1.has-a-larger-ratio]
sentence = "It has a larger ratio than HSTCP's window"
order = [["steady:Steady", "ratio"], ["hstcp", "fraction"]]
why = "planted"

[figure-1.loses-much]
sentence = "It loses more than ten packets"
case = "steady:Steady"
key = "drops"
at_least = 10
why = "planted, and wrong"

[figure-1.reno-uses-the-link]
sentence = "Reno has at least 0.8 of the link"
case = "reno"
key = "mbps"
at_least = 4
why = "0.8 of 5 Mbit/s"

[figure-1.hstcp-uses-the-link]
sentence = "HSTCP has at least 0.8 of the link"
case = "hstcp"
key = "mbps"
at_least = 4
why = "0.8 of 5 Mbit/s"

[figure-2]
claim = "Alpha is 10."
words = "alpha"
from = "section 2"
kind = "simulation"

[figure-2.sends-without-alpha]
sentence = "A number that is measured with alpha and does not depend on it"
case = "own"
key = "mbps"
at_least = 1
why = "planted"

[figure-2.alpha-is-at-least-1]
sentence = "alpha is at least 1"
case = "own"
key = "alpha"
at_least = 1
why = "planted"
main = true
"""
# The path holds 25 packets and the buffer 25: a window of 25 fills the link with an empty queue and loses
# nothing, and Reno's grows to 51, loses a packet, and never falls below 25, so that the link stays full. Of
# three runs numbered 0, 1, 2 the mean is 1 with an interval of 4.303 / sqrt(3) = 2.48 on either side, so that
# a limit of 0.5 is undecided, and 10 is above them. Reno is not above itself.
ANSWERS = {
    "uses-the-link": ("holds", "reno", "stands"),
    "loses-nothing": ("holds", "reno", "falls"),
    "is-a-quarter": ("", "", "cannot be exchanged"),
    "is-steady": ("holds", "reno", "undecided"),
    "steadier-than-reno": ("holds", "reno", "falls"),
    "has-a-larger-ratio": ("holds", "reno", "cannot be exchanged"),
    "loses-much": ("does not hold", "reno", "does not hold in these runs"),
    "reno-uses-the-link": ("holds", "cubic", "stands"),
    "hstcp-uses-the-link": ("", "", "cannot be exchanged"),
    "sends-without-alpha": ("holds", "reno", "stands"),
    "alpha-is-at-least-1": ("holds", "reno", "cannot be exchanged"),
}


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Return a paper in a folder whose control has a constant window."""
    home = tmp_path / "constant"
    home.mkdir()
    (tmp_path / "steady.py").write_text(CONTROL)
    (home / "path.toml").write_text(
        '[run]\nduration = "8 s"\n[dumbbell]\nrate = "5 Mbit/s"\ndelay = "5 ms"\n'
        'queue = { kind = "droptail", limit = "25 packets" }\n'
        '[[flow]]\nname = "a"\ncontroller = "reno"\nrtt = "40 ms"\n'
    )
    for name, text in (("functions.py", FUNCTIONS), (library.DATA, DATA), (records.FILE, CLAIMS)):
        (home / name).write_text(text)
    return home


def test_a_planted_paper_gets_the_known_answers(planted: Path, ackclock_here: Run) -> None:
    done = ackclock_here("reproduce", planted.name, "--exchange", "--json", "-o", "results")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["constant"]
    assert {row["claim"]: (row["own"], row["control"], row["outcome"]) for row in rows} == ANSWERS
    reasons = {row["claim"]: row["reason"] for row in rows}
    # Slow start doubles the window until one of about 51 packets is lost, and loses tens by then.
    assert reasons["loses-much"] == (
        "with the paper's own control it does not hold in as many runs; with reno it holds"
    )
    assert reasons["is-a-quarter"] == "it is a formula, which no run decides"
    assert reasons["hstcp-uses-the-link"] == "its runs do not have steady:Steady or illinois, only hstcp"
    assert reasons["alpha-is-at-least-1"] == "reno does not have alpha"
    assert all(row["reason"] or row["measured"] for row in rows)


def test_the_pages_and_the_data_say_whether_reno_would_pass(planted: Path, ackclock_here: Run) -> None:
    home = planted.parent
    done = ackclock_here("reproduce", planted.name, "--quick", "--json", "-o", "results")
    assert done.returncode == 0, done.stderr
    page = home / "results" / planted.name / "index.html"
    assert "(would Reno pass?) the claim is not asked yet." in page.read_text()
    done = ackclock_here("reproduce", planted.name, "--exchange", "--quick", "-o", "results")
    assert done.returncode == 0, done.stderr
    # One part of the main claim of figure 1 stands and the other falls; the main claim of figure 2 needs
    # alpha.
    assert "1 of these is reproduced and telling: it falls when Reno takes the place" in page.read_text()
    assert " (in quick runs); the others: cannot be exchanged 1." in page.read_text()
    assert "(would Reno pass?) the claim falls." in page.read_text()
    assert '<td data-name="would Reno pass?">stands with cubic: ' in page.read_text()
    # Next to the data file the table belongs to the paper.
    shutil.copy(home / "results" / planted.name / exchanges.EXCHANGE, planted)
    done = ackclock_here("reproduce", planted.name, "--quick", "--json", "-o", "results")
    first, second = json.loads(done.stdout)
    assert (first["main_claim"]["exchange"], second["main_claim"]["exchange"]) == (
        "falls",
        "cannot be exchanged",
    )
    assert [claim["exchange"]["outcome"] for claim in first["claims"]] == [
        answer for _, _, answer in list(ANSWERS.values())[:-2]
    ]


@pytest.mark.parametrize("option", ["--infer", "--readings", "--plan", "--undecided", "--live", "--pictures"])
def test_what_makes_no_sense_with_it_is_refused_in_a_line(ackclock_here: Run, option: str) -> None:
    done = ackclock_here("reproduce", "fit/figure-3", "--exchange", option)
    assert done.returncode == 2
    assert "--exchange cannot be combined with " in done.stderr
    assert option in done.stderr


@pytest.mark.parametrize("option", ["--published", "--audit=1s"])
def test_published_results_are_not_exchanged(ackclock_here: Run, option: str) -> None:
    assert ackclock_here("reproduce", "fit/figure-3", "--exchange", option).returncode == 2


def test_a_paper_says_which_controls_are_its_own(planted: Path, ackclock_here: Run) -> None:
    data = (planted / library.DATA).read_text()
    (planted / library.DATA).write_text(data.replace('controls = ["steady:Steady", "illinois"]\n', ""))
    done = ackclock_here("reproduce", planted.name, "--exchange")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        'ackclock: constant: paper.toml does not name the paper\'s own controls: controls = ["cubic"]'
    ]
    (planted / library.DATA).write_text(data.replace('["steady:Steady", "illinois"]', '"illinois"'))
    done = ackclock_here("reproduce", planted.name, "--exchange")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("controls of constant is not a list of names")


def test_the_place_of_a_rate_control_gets_the_random_delay_of_reno() -> None:
    # TEAR paces its packets and has no overhead; Reno in its place sends trains, which lock with the others'.
    study = PAPERS["transient"]
    cases = study["figure-13"].cases(QUICK.at(study.setting))  # type: ignore[attr-defined]
    inquiry = exchange._inquiry(study, study["figure-13"], QUICK.at(study.setting), {})
    (new,) = (
        assignment.jobs
        for exchanged, assignment in zip(inquiry.exchanged, inquiry.assignments[1:], strict=True)
        if exchanged.control == "reno"
    )
    tear = next(key for key in new if str(key) == "TEAR")
    (flow,) = (flow for flow in cases[tear].scenario["flow"] if flow["controller"] == "tear")
    assert "overhead" not in flow
    table = tomllib.loads(new[tear][0].scenario.toml())
    assert {flow["controller"] for flow in table["flow"]} == {"reno"}
    assert {flow["overhead"] for flow in table["flow"]} == {study.setting["overhead"]}


@pytest.mark.parametrize(
    ("parts", "outcome"),
    [
        (["stands", "falls", "cannot be exchanged"], "falls"),
        (["stands", "cannot be exchanged"], "stands"),
        (["stands", "undecided"], "undecided"),
        (["undecided", "does not hold in these runs"], "does not hold in these runs"),
        (["cannot be exchanged"], "cannot be exchanged"),
        (["not asked yet", "stands"], "not asked yet"),
        ([], "not asked yet"),
    ],
)
def test_a_main_claim_falls_with_any_of_its_parts(parts: list[str], outcome: str) -> None:
    assert exchanges.of_parts(parts) == outcome


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [
        Exchange("figure-2", "b", "holds", "reno", "falls", '1, "2"', "", 3),
        Exchange("figure-1", "a", "", "", "cannot be exchanged", "", "it is a formula", 0),
    ]
    exchanges.write(tmp_path / "t.csv", rows)
    known = exchanges.read(tmp_path / "t.csv")
    assert list(known.values()) == rows
    again = rows[0]._replace(outcome="stands")
    assert exchanges.merge(known, [again]) == [rows[1], again]


@pytest.mark.parametrize("name", PAPERS)
def test_the_table_of_a_paper_names_its_claims(name: str) -> None:
    # `ackclock reproduce --exchange PAPER/ARTEFACT` makes them again.
    paper = PAPERS[name]
    claims = {(artefact.name, claim.name) for artefact in paper.artefacts for claim in artefact.claims}
    assert paper.controls
    assert set(paper.exchanges) <= claims
    for each in paper.exchanges.values():
        assert each.outcome in exchanges.OUTCOMES
        assert each.reason or each.measured
        assert (each.outcome in ("falls", "stands", "undecided")) == (not each.reason)


@pytest.mark.parametrize("name", PAPERS)
def test_a_claim_that_holds_has_a_row_or_is_not_asked_yet(name: str) -> None:
    paper = PAPERS[name]
    records = [known.record for known in published.read(published.folders([paper])[name]).values()]
    classified = classes.classify(paper, records)
    unasked = {
        artefact
        for artefact, each in classified.items()
        if each.group == classes.HOLDS
        for claim in each.stated
        if tuple(claim["id"].split("/")[1:]) not in paper.exchanges
        and telling.of_main(paper.exchanges, each) != "falls"
    }
    assert set(telling.by_outcome(paper.exchanges, classified).get("not asked yet", ())) == unasked
    page = (Path(__file__).parents[1] / "papers" / name / "README.md").read_text("utf-8")
    assert ("| not asked yet |" in page) == bool(unasked)


def main_claim(name: str, artefact: str) -> str:
    paper = PAPERS[name]
    return exchanges.of_parts(
        exchanges.record(paper.exchanges, f"{name}/{artefact}/{claim.name}")["outcome"]
        for pattern in paper.main_claims[artefact].ids
        for claim in matching(paper[artefact], pattern)
    )


# Reno's window is a straight line, not concave. Its mean grows with the buffer, 3/4 (75 + B) packets, and
# noise does not disturb what only losses steer.
@pytest.mark.parametrize(
    ("name", "artefact", "outcome"),
    [
        ("illinois", "figure-8", "falls"),
        ("illinois", "figure-10", "stands"),
        ("illinois", "figure-15", "stands"),
    ],
)
def test_main_claims_that_were_exchanged_by_hand(name: str, artefact: str, outcome: str) -> None:
    assert main_claim(name, artefact) == outcome


def test_the_table_is_what_the_runs_say(tmp_path: Path) -> None:
    paper = PAPERS["fit"]
    with Store(tmp_path / "cache").opened() as store:
        (result,) = exchange.judged([(paper, paper["figure-6"])], QUICK, store, planned=True)
    assert result.errors == []
    assert result.rows == [each for each in paper.exchanges.values() if each.artefact == "figure-6"]
    # One of five alike has a fifth of the link.
    (fifth,) = (row for row in result.rows if row.claim == "fit-occupies-about-20-percent")
    assert float(fifth.measured.split()[0]) == pytest.approx(0.2, rel=0.05)


def test_an_order_with_a_ratio_of_nothing_does_not_hold() -> None:
    # Reno has no losses and no loss events: 0/0 has no interval, but the rate in the same order has one.
    rows = [{"losses": 0.0, "events": 0.0, "rate": rate} for rate in (1.0, 2.0, 3.0)]
    ratio, rate = usual.ratio(("a", "losses"), ("a", "events")), usual.mean("a", "rate")
    claim = orders.ordered("x", "x", [("ratio", ratio), ("rate", rate)], margin=0.0, why="")
    assert not claim.judge(Numbers({"a": rows})).holds
