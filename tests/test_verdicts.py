"""Which claims of the papers the quick reproduction fails: a change needs a reason."""

import difflib
import os
from pathlib import Path

from ackclock.reproduction import make, task
from ackclock.reproduction.claims.judge import Assignment, judge
from ackclock.reproduction.claims.numbers import QUICK
from ackclock_papers import PAPERS
from kept_runs import kept_runs

FILE = Path(__file__).with_name("verdicts.txt")
HEADER = """\
# Claims of `ackclock reproduce --quick` that do not hold or are undecided; all others hold. What a claim asks for is the
# paper's. Made by UPDATE_VERDICTS=1 pytest tests/test_verdicts.py; whoever changes it says why in the commit message.
"""  # noqa: E501


def verdict(judged):
    """Return whether a claim holds, as text; three seeds often leave both answers open."""
    said = "holds" if judged.holds else "does not hold"
    return f"undecided ({said} on average)" if judged.undecided else said


def test_every_headline_holds_but_for_those_that_are_listed():
    chosen = make.select(PAPERS, headlines=True)
    verdicts = {}
    assignments = [
        Assignment.of(artefact, QUICK.at(paper.setting), task.plan_of(paper, artefact, QUICK))
        for paper, artefact in chosen
    ]
    with kept_runs() as store:
        for index, judgement in judge(assignments, store):
            paper, artefact = chosen[index]
            assert not judgement.error, f"{paper.name}/{artefact.name}: {judgement.error}"
            verdicts[index] = [
                f"{paper.name}/{artefact.name}/{claim.name} | {verdict(judged)}"
                for claim, judged in judgement.claims
                if judged.undecided or not judged.holds
            ]
    text = HEADER + "".join(f"{line}\n" for index in sorted(verdicts) for line in verdicts[index])
    if os.environ.get("UPDATE_VERDICTS"):
        FILE.write_text(text, encoding="utf-8")
    kept = FILE.read_text(encoding="utf-8")
    changed = "\n".join(
        difflib.unified_diff(kept.splitlines(), text.splitlines(), "kept", "found", n=0, lineterm="")
    )
    assert not changed, f"{changed}\nUPDATE_VERDICTS=1 keeps them; say why in the commit message"
