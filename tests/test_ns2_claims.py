"""What ns-2 gives for claims: every row names a claim, and no claim that fails lacks its row."""

import csv
import math
import shutil
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ackclock import engine
from ackclock.reproduction import ns2
from ackclock.reproduction.claims.artefact import Computed, Target
from ackclock.reproduction.claims.numbers import FULL, QUICK
from ackclock.reproduction.claims.orders import GAP
from ackclock.reproduction.main_claims import MainClaim
from ackclock_papers import PAPERS

TESTS = Path(__file__).parent
sys.path.append(str(TESTS.parent / "papers" / "ns2"))
bridge = pytest.importorskip("bridge")
claims = pytest.importorskip("claims")
USED_NS2 = ("africa", "bic", "illinois", "transient")
"""Papers whose authors ran ns-2; TCP-FIT was measured on real and emulated paths."""


def rows(paper):
    file = TESTS.parent / "python" / "ackclock_papers" / paper / ns2.NAME
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


def failing():
    """Return the claims of these papers that the quick reproduction fails: paper, artefact, claim."""
    lines = (TESTS / "verdicts.txt").read_text(encoding="utf-8").splitlines()
    named = [line.split(" | ") for line in lines if not line.startswith("#")]
    failed = [tuple(claim.split("/")) for claim, said in named if "does not hold" in said]
    return [claim for claim in failed if claim[0] in USED_NS2]


def test_every_claim_that_fails_has_a_number_of_ns2_or_the_reason_why_not():
    known = {(paper, row["artefact"], row["claim"]) for paper in USED_NS2 for row in rows(paper)}
    assert len(failing()) > 30
    assert sorted(set(failing()) - known) == []


@pytest.mark.parametrize("paper", USED_NS2)
def test_every_row_names_a_claim_and_says_what_was_run(paper):
    claims = {
        (artefact.name, claim.name): artefact
        for artefact in PAPERS[paper].artefacts
        for claim in artefact.claims
    }
    own = [(row["artefact"], row["claim"], row["change"]) for row in rows(paper)]
    assert len(set(own)) == len(own)
    for row in rows(paper):
        artefact = claims[row["artefact"], row["claim"]]
        # A row has either a reason or all columns about its number.
        made = [bool(row[key]) for key in ("measured", "holds", "seeds", "by_seed", "seconds", "ran", "ns2")]
        assert made == [not row["why"]] * len(made), row
        assert not isinstance(artefact, Computed) or row["why"] == "a formula, without runs"
        # Nothing of the papers' that ns-2 lacks has a number.
        assert not row["measured"] or not {"tear", "africa"} & set(row["ran"].lower().split())
        if row["measured"]:
            assert len(row["by_seed"].split("; ")) == int(row["seeds"])


def test_a_number_is_read_with_what_differs_from_the_setting(tmp_path):
    """0.27 at the setting, and 0.11 without an overhead: both are shown, the second with its change."""
    assert ns2.read(tmp_path) == {}
    head = ",".join(ns2.COLUMNS)
    values = [
        "figure-11,share,,0.27,no,1,0.27,600,Reno,2.35,",
        "figure-11,share,overhead 0 s,0.11,no,1,0.11,600,Reno,2.35,",
        "figure-11,other,,,,,,,,,a formula",
    ]
    (tmp_path / ns2.NAME).write_text("\n".join([head, *values]), encoding="utf-8")
    (in_ns2,) = ns2.read(tmp_path).values()
    assert in_ns2.measured == "0.27; 0.11 (overhead 0 s)"
    # Within 0.1 of 0.2: ours is 0.30 and near; at the other setting ns-2 was not asked.
    record = in_ns2.record(Target(0.1, 0.3), {"": "0.30 [0.29, 0.31]", "min_rto 1 s": None})
    assert (record["holds"], record["near"], record["missing"]) == (False, True, ["min_rto 1 s"])
    # Where ns-2 was asked and we were not, nothing is known.
    assert in_ns2.record(Target(0.1, 0.3), {"": "0.30", "overhead 0 s": None})["near"] is None
    assert in_ns2.record(Target(0.1, 0.3), {"min_rto 1 s": "0.3"})["near"] is None
    assert in_ns2.record(Target(0.1, 0.3), {"": "0.30 [0.29, 0.31]"})["near"] is True
    assert in_ns2.record(Target(0.1, 0.3), {"": "0.3", "overhead 0 s": "0.4 [0.39, 0.41]"})["near"] is False


@pytest.mark.parametrize(
    ("target", "ours", "theirs", "expected"),
    [
        # Half of the range from 8 to 12 is 2.
        (Target(8, 12, 10), "14 [13, 15] ms", "16 [15, 17] ms", True),
        (Target(8, 12, 10), "14 [13, 15] ms", "17 [16, 18] ms", None),
        (Target(8, 12, 10), "14 [13, 15] ms", "19 [17.1, 21] ms", False),
        (Target(8, 12, 10), "7 [6, 7.5]", "13 [12.5, 14]", False),
        # A factor of 2 either way.
        (Target(0.5, 2, 1, logarithmic=True), "3 [2.9, 3.1]", "5.9 [5, 7]", True),
        (Target(0.5, 2, 1, logarithmic=True), "3 [2.9, 3.1]", "9 [8, 10]", False),
        # A quarter of the only end, 19: 4.75.
        (Target(19, math.inf), "15 [12.82, 17.19]", "12.8 [7.759, 17.84]", True),
        (Target(19, math.inf), "15 [14, 16]", "9 [8, 9.2]", False),
        # -12.5/22.5 = -0.556 and -10.5/21.5 = -0.488 differ by less than 0.1.
        (
            GAP,
            "A 10 [10, 10], B 22.5 [22.5, 22.5] packets",
            "A 11 [11, 11], B 21.5 [21.5, 21.5] packets",
            True,
        ),
        # -0.556 and -1/11 do not; one pair of neighbours is enough.
        (GAP, "A 10 [10, 10], B 22.5 [22.5, 22.5]", "A 10 [10, 10], B 11 [11, 11]", False),
        (GAP, "at 20 % 1 [1, 1], at 1 % 2 [2, 2], C 3 [3, 3]", "1 [1, 1], 2 [2, 2], 9 [9, 9]", False),
        # Without a target, a number, or the same numbers, nothing is known.
        (None, "1 [1, 1]", "1 [1, 1]", None),
        (Target(0, 1), "nothing happens", "2", None),
        (Target(0, 1), "A 2 [2, 2], B 2 [2, 2]", "A 2 [2, 2], B 2 [2, 2]", None),
        (GAP, "A 1 [1, 1], B 2 [2, 2]", "A 1, B 2", None),
    ],
)
def test_numbers_are_near_within_the_tolerance_of_their_claim(target, ours, theirs, expected):
    assert ns2.near(target, ours, theirs) is expected
    assert ns2.near(target, theirs, ours) is expected


EXACT = {
    # The page of the control, or its source, says that ns-2's agent is the same.
    ("reno", "reno"), ("reno", "linux-2.6"), ("gaimd", "reno"), ("aimd", "sack"), ("hstcp", "sack"),
    ("compound-linux", "linux-2.6"),
}  # fmt: skip
OTHERS = {
    # The same pages describe the different behaviour of ns-2.35, or of Linux 2.6.22 in it.
    ("illinois", "reno"), ("bic", "sack"), ("bic-linux", "linux-2.6"), ("cubic-8312", "linux-2.6"),
    ("htcp", "sack"), ("scalable", "sack"), ("hstcp", "linux-2.6"), ("vegas", "newreno"),
}  # fmt: skip


def test_every_control_of_ns2_is_the_same_or_says_what_differs():
    agents = {
        (control, recovery): bridge.ran(scenario(controller=control, recovery=recovery))
        for control, recovery in EXACT | OTHERS
    }
    assert {at for at, (agent,) in agents.items() if "(" not in agent} == EXACT
    rates = [{"controller": control, "recovery": "sack"} for control in ("tfrc", "tfrc-2000")]
    assert all("(of 2.35" in bridge.ran(scenario(**rate))[0] for rate in rates)
    # Other settings of these are ns-2's own.
    assert bridge.ran(scenario(controller="vegas", recovery="newreno", params={"rtt": "mean"})) == ("Vegas",)
    old = scenario(controller="bic-linux", recovery="linux-2.6", params={"whole_counts": False})
    assert bridge.ran(old) == ("TCP-Linux bic",)
    known = {*bridge.MODULES, *bridge.WINDOW_LAWS, *(control for control, _ in bridge.LINUX), "vegas"}
    assert {control for control, _ in EXACT | OTHERS} == known
    assert set(bridge.APPROXIMATE) <= known | {"tfrc", "tfrc-2000"}
    # A table splits agents at these.
    assert not any(sign in note for note in bridge.APPROXIMATE.values() for sign in "();+")


@pytest.mark.parametrize("paper", USED_NS2)
def test_a_table_says_of_every_agent_what_the_bridge_says(paper):
    for row in rows(paper):
        artefact = PAPERS[paper][row["artefact"]]
        claim = next(claim for claim in artefact.claims if claim.name == row["claim"])
        every = {claims.words(change): change for change in claims.changes_of(PAPERS[paper], artefact)}
        setting = dict(PAPERS[paper].setting) | dict(every[row["change"]])
        agents = claims.agents_of(artefact, claim, claims.EFFORTS[paper].at(setting))
        assert isinstance(agents, str) or not row["ran"] or row["ran"] == "; ".join(agents)


def test_delayed_acknowledgements_are_asked_of_ns2():
    delayed = scenario(delayed_ack=2, delayed_ack_timer="40 ms")
    (flow,) = bridge.flows_of(tomllib.loads(delayed.toml()), 0)
    assert flow.keys["sink"] == "Agent/TCPSink/DelAck"
    assert flow.keys["sink_variables"]["interval_"] == 0.04
    with pytest.raises(bridge.MissingError, match="an acknowledgement for 3 packets"):
        bridge.ran(scenario(delayed_ack=3))


def _record(name, verdict="not found", other=None):
    """Return the record of an artefact with one claim that does not hold."""
    paper, artefact, _ = name.split("/")
    said = {"id": name, "claim": "", "verdict": verdict, "holds": False, "alternative": other}
    return {"paper": paper, "name": artefact, "error": "", "claims": [said]}


ABOVE = "africa/table-ii/2-short-flow-starves-long-flow"
REFILL = "transient/figure-36/tcp-fills-queue-again"
TFRC = "transient/figure-36/tfrc-fills-queue-again"


def _missing(monkeypatch, record, *known, stated=()):
    """Return the runs that a paper lacks whose table has these rows and whose main claim is the record's."""
    paper, artefact, claim = record["claims"][0]["id"].split("/")
    row = dict.fromkeys(ns2.COLUMNS, "") | {"artefact": artefact, "claim": claim, "holds": "no"}
    monkeypatch.setattr(claims, "rows_of", lambda _: [row | some for some in known])
    main = MainClaim("words", "abstract", "simulation", "What.", (claim, *stated))
    own = replace(PAPERS[paper], main_claims={artefact: main})
    return [run.change for run in claims.missing(own, [record])]


def test_the_runs_of_ns2_that_a_proof_lacks_are_listed(monkeypatch):
    """A paper with one setting lacks one run, one with two lacks both; what is known is not asked again."""
    assert PAPERS["africa"].alternative is None
    assert _missing(monkeypatch, _record(ABOVE)) == [""]
    assert _missing(monkeypatch, _record(ABOVE), {"holds": "no"}) == []
    assert _missing(monkeypatch, _record(ABOVE), {"holds": "undecided"}) == [""]
    # The differing items of figure 36 are items that its scenarios and claims depend on.
    paper = PAPERS["transient"]
    other = paper.other(paper["figure-36"])
    assert set(other) <= {item.name for item in paper.relevant(paper["figure-36"])}
    assert other
    assert all(paper.alternative[name] == value != paper.setting[name] for name, value in other.items())
    assert _missing(monkeypatch, _record(REFILL), {"holds": "no"}) == [claims.words(other)]
    both = {"holds": "no"}, {"holds": "no", "change": claims.words(other)}
    assert _missing(monkeypatch, _record(REFILL), *both) == []
    # Where it holds elsewhere, or ns-2 has another control, no run proves anything.
    assert _missing(monkeypatch, _record(REFILL, verdict="depends")) == []
    holds = {"holds": True, "undecided": False, "measured": "1", "verdict": "reproduced"}
    assert _missing(monkeypatch, _record(REFILL, other=holds)) == []
    assert _missing(monkeypatch, _record(TFRC)) == []


def test_the_command_lists_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["claims.py", "--missing"])
    monkeypatch.setattr(bridge, "check_installed", None)
    claims.main()
    for line in capsys.readouterr().out.splitlines():
        name, _, at = line.partition(" ")
        assert name.count("/") == 2
        assert at.startswith(("with ", "at the paper's setting"))


def test_a_finding_reads_the_mean_and_every_run(tmp_path, monkeypatch):
    package = tmp_path / "some_paper"
    package.mkdir()
    (package / "__init__.py").touch()
    rows = ['figure-36,refill,,"24.2 [0, 55] RTTs",undecided,2,68.2 RTTs; 8.8 RTTs,250,Reno,2.35,']
    rows += ['figure-36,both,,"TCP 5, TFRC 7 RTTs",yes,1,"TCP 5, TFRC 7 RTTs",250,Reno,2.35,']
    (package / ns2.NAME).write_text("\n".join([",".join(ns2.COLUMNS), *rows]), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert ns2.measured("some_paper", "figure-36", "refill") == (24.2, [68.2, 8.8])
    with pytest.raises(ValueError, match="TCP 5"):
        ns2.measured("some_paper", "figure-36", "both")
    with pytest.raises(KeyError, match="figure-36/refill overhead 0 s"):
        ns2.measured("some_paper", "figure-36", "refill", "overhead 0 s")


def test_the_time_of_a_run_is_estimated_from_its_packets():
    """8 Mbit/s for 2 s are 2000 packets of 1000 B, at 8 us each."""
    assert bridge.minutes(scenario(packet="1000 B")) == pytest.approx(2000 * 8e-6 / 60)


def scenario(**flow):
    """Return two packets' time per millisecond: 1000 B on 8 Mbit/s take 1 ms."""
    return engine.read(
        {
            "run": {"duration": "2 s", "warmup": "1 s", "sample": "1 s"},
            "dumbbell": {
                "rate": "8 Mbit/s",
                "delay": "10 ms",
                "queue": {"kind": "droptail", "limit": "9 packets"},
            },
            "flow": [{"controller": "reno", "recovery": "reno", "rtt": "40 ms"} | flow],
        }
    )


def test_a_claim_about_the_worst_of_several_is_only_refuted_without_one_of_them(monkeypatch):
    """GAIMD has 0.2: with TFRC's 0.3 the rougher of TFRC and TEAR is above it, whatever TEAR has."""
    coefficients = {"reno": 0.4, "gaimd": 0.2}

    def measure(_laboratory, _artefact, scenario, run):
        return {"cov": coefficients[scenario.controls[0]] + 0.001 * run}

    monkeypatch.setattr(claims.Laboratory, "measure", measure)
    monkeypatch.setattr(bridge, "version", lambda: "2.35")
    paper = PAPERS["transient"]
    artefact = next(artefact for artefact in paper.artefacts if artefact.name == "figure-12")
    laboratory = claims.Laboratory(paper, FULL.at(paper.setting))
    coefficients["tfrc-2000"] = 0.3
    refuted = laboratory.judge(artefact, artefact.claims[0])
    assert refuted["holds"] == "no"
    assert refuted["measured"].endswith("(without TEAR)")
    # With 0.1 TFRC alone is smoother, and TEAR may be anything.
    coefficients["tfrc-2000"] = 0.1
    unknown = laboratory.judge(artefact, artefact.claims[0])
    assert unknown["why"].startswith("it holds without TEAR")
    assert "holds" not in unknown


def test_polls_become_a_run():
    """Two samples of 1000 ms and a packet of 1 ms: 500 and 800 packets depart, and 3 wait in the second.

    The link is busy half of the first sample and 0.8 of the second, whose queue is thus 3.8 packets and whose
    RTT is 40 ms and 3.8 ms. Of 4 cuts in the second one is a timeout, so 3 are loss events.
    """
    table = tomllib.loads(scenario().toml())
    flows = list(bridge.flows_of(table, 0))
    link = np.array([[1.0, 0, 0, 500e3], [2.0, 3, 7, 1300e3]])
    of_flows = np.array([[[10.0, 20, 480, 500, 0, 0]], [[12.0, 6, 1230, 1310, 4, 1]]])
    run = bridge.Polls(link, of_flows, np.array([7.0]), table, flows).run()
    (flow,) = run.summary["flows"]
    # 750 packets of 8000 bits in the measured second.
    assert flow["goodput_mbps"] == pytest.approx(6.0)
    assert (flow["sent_packets"], flow["loss_events"], flow["timeouts"], flow["dropped_packets"]) == (
        810,
        3,
        1,
        7,
    )
    assert flow["mean_window"] == 12
    assert flow["mean_rtt_ms"] == pytest.approx(43.8)
    assert run.queues["mean_packets"].to_list() == pytest.approx([0.5, 3.8])
    assert run.queues["drops"].to_list() == [0, 7]
    assert run.summary["links"][0]["utilisation"] == pytest.approx(0.8)
    assert run.windows["sent_bytes"].to_list() == [500_000, 810_000]
    assert run.events["kind"].to_list() == ["start", "loss", "loss", "loss", "timeout"]
    # It grows from 10 to 12 packets in 1 s, which has 1/0.0438 round trips.
    assert run.windows["alpha"].to_list() == pytest.approx([0, 2 * 0.0438])


@pytest.mark.parametrize(
    ("flow", "lacks"),
    [
        ({"controller": "tear"}, "the control tear"),
        ({"controller": "illinois", "rtt_noise": "1 ms"}, "noise in the measured RTT"),
        ({"pacing": True}, "pacing"),
    ],
)
def test_what_ns2_lacks_is_named(flow, lacks):
    with pytest.raises(bridge.MissingError, match=lacks):
        bridge.ran(scenario(**flow))


@pytest.mark.skipif(shutil.which("ns") is None, reason="needs ns-2: apt-get install ns2")
def test_a_delayed_acknowledgement_is_the_same_in_ns2_and_here():
    """Half the growth takes twice as long from loss to loss; another implementation agrees on the goodput."""
    losses = []
    for packets in (1, 2):
        table = tomllib.loads(scenario(delayed_ack=packets).toml())
        table["run"] |= {"duration": "60 s", "warmup": "10 s"}
        given = engine.read(table)
        runs = bridge.simulate(given, 0), engine.simulate(given)
        theirs, ours = (run.summary["flows"][0] for run in runs)
        assert theirs["goodput_mbps"] == pytest.approx(ours["goodput_mbps"], rel=0.02)
        losses.append(theirs["loss_events"])
    assert 1.7 < losses[0] / losses[1] < 2.3


@pytest.mark.skipif(shutil.which("ns") is None, reason="needs ns-2: apt-get install ns2")
def test_a_flow_is_the_same_in_ns2_and_here():
    """One GAIMD flow of figure 11 for 250 s, in another implementation: queue and goodput within 2 %."""
    artefact, setting = PAPERS["transient"]["figure-11"], PAPERS["transient"].setting
    key, case = next((key, case) for key, case in artefact.cases(QUICK.at(setting)).items() if key == "GAIMD")
    given = engine.read(case.scenario)
    theirs, ours = (artefact.measure(key, run) for run in (bridge.simulate(given, 0), engine.simulate(given)))
    for name in ("rate", "queue", "largest_window", "queue_period"):
        assert theirs[name] == pytest.approx(ours[name], rel=0.02), name
