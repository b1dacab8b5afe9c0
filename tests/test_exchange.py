"""Claims with Reno in the place of a paper's control: a planted paper with known answers, and the papers."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ackclock.reproduction import library
from ackclock.reproduction.claims import records
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
    return 1.0 if run.summary["flows"][0]["controller"].startswith("steady") else float(run.summary["run"])


def largest_alpha(run):
    return float(run.windows["alpha"].max())


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
# a limit of 0.5 is undecided.
ANSWERS = {
    "uses-the-link": ("holds", "reno", "stands"),
    "loses-nothing": ("holds", "reno", "falls"),
    "is-a-quarter": ("", "", "cannot be exchanged"),
    "is-steady": ("holds", "reno", "undecided"),
    "loses-much": ("does not hold", "reno", "does not hold before"),
    "reno-uses-the-link": ("holds", "cubic", "stands"),
    "hstcp-uses-the-link": ("", "", "cannot be exchanged"),
    "alpha-is-at-least-1": ("holds", "reno", "cannot be exchanged"),
}


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Return a paper in a folder whose control has a constant window."""
    home = tmp_path / "constant"
    home.mkdir()
    (tmp_path / "steady.py").write_text(CONTROL)
    (home / "path.toml").write_text(
        '[run]\nduration = "20 s"\n[dumbbell]\nrate = "5 Mbit/s"\ndelay = "5 ms"\n'
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
    assert reasons["is-a-quarter"] == "it is a formula, which no run decides"
    assert reasons["hstcp-uses-the-link"] == "its runs do not have steady:Steady or illinois, only hstcp"
    assert "alpha" in reasons["alpha-is-at-least-1"]
    assert all(row["reason"] or row["measured"] for row in rows)
