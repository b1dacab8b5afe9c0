"""Every verdict of the quick reproduction, held as the digests are: a change needs a reason."""

import difflib
import os
import re
from pathlib import Path

from ackclock.reproduction import make
from ackclock.reproduction.judge import Asked, judge
from ackclock.reproduction.numbers import QUICK
from ackclock_papers import PAPERS

FILE = Path(__file__).with_name("verdicts.txt")
# Where `make run` keeps its runs: what one has simulated the other only reads.
CACHE = Path(__file__).parents[1] / "results" / make.CACHE
HEADER = """\
# Every claim of `ackclock reproduce --quick`: artefact, whether it holds, the claim, its numbers to two digits.
# Made by UPDATE_VERDICTS=1 pytest tests/test_verdicts.py; whoever changes it says why in the commit message.
"""  # noqa: E501
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\w)")
INTERVAL = re.compile(r" ?\[[^\]]*\]")


def two_digits(measured):
    """Round every number of a text to two digits, and leave its intervals out."""

    def rounded(found):
        return f"{float(f'{float(found[0]):.2g}'):g}"

    return NUMBER.sub(rounded, INTERVAL.sub("", measured))


def test_two_digits():
    assert two_digits("FIT 0.8034 [0.79, 0.81] Mbit/s, CUBIC 123.4") == "FIT 0.8 Mbit/s, CUBIC 120"
    assert (
        two_digits("table-1 at 1e-06: -0.0456, 5 packets") == "table-1 at 1e-06: -0.046, 5 packets"
    )


def verdict(judged):
    """Write whether a claim holds; three seeds often leave both answers open."""
    said = "holds" if judged.holds else "does not hold"
    return f"undecided ({said} on average)" if judged.undecided else said


def test_verdicts_are_those_that_were_kept():
    chosen = make.select(PAPERS, headlines=True)
    found = {}
    asked = [Asked.of(artefact, QUICK.at(paper.setting)) for paper, artefact in chosen]
    for index, judgement in judge(asked, CACHE):
        paper, artefact = chosen[index]
        assert not judgement.error, f"{paper.name}/{artefact.name}: {judgement.error}"
        found[index] = [
            f"{paper.name}/{artefact.name} | {verdict(judged)} | "
            f"{claim.sentence} | {two_digits(judged.measured)}"
            for claim, judged in judgement.claims
        ]
    text = HEADER + "".join(f"{line}\n" for index in sorted(found) for line in found[index])
    if os.environ.get("UPDATE_VERDICTS"):
        FILE.write_text(text, encoding="utf-8")
    kept = FILE.read_text(encoding="utf-8")
    changed = "\n".join(
        difflib.unified_diff(
            kept.splitlines(), text.splitlines(), "kept", "found", n=0, lineterm=""
        )
    )
    assert not changed, f"{changed}\nUPDATE_VERDICTS=1 keeps them; say why in the commit message"
