"""The sentences of a paper, with the claims that check them.

`sentences.toml` in the package of a paper has a ``[[sentence]]`` for every sentence with a number
or an order that could be checked:

- ``section``: as the paper prints it;
- ``says``: what it says, in our words;
- either ``claims``: by artefact, the names of the claims that check it, in which ``*`` stands for
  any text, so that ``["*"]`` is every claim of the artefact;
- or ``not_tested``: why no claim does. ``elsewhere: `` begins what a test or a study checks that is
  no claim, ``not yet: `` what a claim should.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING

from ackclock.draw.markdown import table
from ackclock.reproduction.claims.artefact import Artefact, Claim, matching

if TYPE_CHECKING:
    from ackclock.reproduction.paper import Paper

FILE = "sentences.toml"
"""In the package of a paper."""
ELSEWHERE, NOT_YET, GAP = "elsewhere: ", "not yet: ", "gap: "
"""How reasons begin; `GAP` is the page's word for the second."""
VERDICTS = "reproduction.md"
"""Page of the verdicts, in the same folder as the page that `markdown` makes."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a paper that can be checked.

    `section` is as the paper prints it, `says` is the content in our words, `claims` are the names or
    patterns of the claims that check it, by artefact, and `not_tested` is the reason why none does.
    Raises ValueError when it has both claims and a reason, or neither.
    """

    section: str
    says: str
    claims: Mapping[str, Sequence[str]] = field(default_factory=dict)
    not_tested: str = ""

    def __post_init__(self) -> None:
        if bool(self.claims) == bool(self.not_tested):
            raise ValueError(f"{self.says!r} needs either claims or a reason why it is not tested")


def load(package: str) -> tuple[Sentence, ...]:
    """Read the sentences of the paper of a package, in the order of the paper.

    Raises TypeError or TOMLDecodeError when the file has unknown keys or is not TOML, and ValueError
    when a sentence has both claims and a reason for having none, or neither.
    """
    text = (resources.files(package) / FILE).read_text(encoding="utf-8")
    return tuple(Sentence(**table) for table in tomllib.loads(text)["sentence"])


def unknown(paper: Paper, sentences: Sequence[Sentence]) -> list[str]:
    """Return the artefacts and claims that sentences name and the paper does not have."""
    known = {artefact.name: artefact for artefact in paper.artefacts}
    return [
        f"{name}: {pattern} (section {sentence.section}: {sentence.says})"
        for sentence in sentences
        for name, patterns in sentence.claims.items()
        for pattern in patterns
        if name not in known or not matching(known[name], pattern)
    ]


def unstated(paper: Paper, sentences: Sequence[Sentence]) -> Iterator[tuple[Artefact, Claim]]:
    """Yield our own claims, which no sentence of the paper states."""
    for artefact in paper.artefacts:
        patterns = {pattern for sentence in sentences for pattern in sentence.claims.get(artefact.name, ())}
        stated = {claim.name for pattern in patterns for claim in matching(artefact, pattern)}
        yield from ((artefact, claim) for claim in artefact.claims if claim.name not in stated)


def markdown(papers: Sequence[tuple[Paper, Sequence[Sentence]]]) -> str:
    """Return the page that lists the sentences of papers with the claims that check them.

    It has counts, then a table of sentences for each paper and the claims that none of them states.
    """
    heads = [
        "",
        "sentences",
        "with a claim",
        "checked elsewhere",
        "gaps",
        "nothing to run",
        "claims",
        "of these ours",
    ]
    lines = table(heads, (_counts(*paper_and_sentences) for paper_and_sentences in papers))
    for paper, sentences in papers:
        rows = ([sentence.section, sentence.says, _checks(paper, sentence)] for sentence in sentences)
        lines += ["", f"## {paper.title}", *table(["section", "says", "checked by"], rows)]
        ours = list(unstated(paper, sentences))
        if ours:
            lines += ["", "Claims of ours that no sentence states:"]
            lines += [f"- {_link(paper, artefact)}: {claim.sentence}" for artefact, claim in ours]
    return "\n".join(lines) + "\n"


def _counts(paper: Paper, sentences: Sequence[Sentence]) -> list[object]:
    elsewhere, not_yet = (
        sum(sentence.not_tested.startswith(begin) for sentence in sentences) for begin in (ELSEWHERE, NOT_YET)
    )
    claimed = sum(bool(sentence.claims) for sentence in sentences)
    rest = len(sentences) - claimed - elsewhere - not_yet
    claims = sum(len(artefact.claims) for artefact in paper.artefacts)
    ours = len(list(unstated(paper, sentences)))
    name = paper.title.partition(" (")[0].partition(":")[0]
    return [name, len(sentences), claimed, elsewhere, not_yet, rest, claims, ours]


def _checks(paper: Paper, sentence: Sentence) -> str:
    """Name the claims that check a sentence, or say why none does."""
    if sentence.not_tested:
        begins = sentence.not_tested.startswith(NOT_YET)
        return GAP + sentence.not_tested.removeprefix(NOT_YET) if begins else sentence.not_tested
    cells = []
    for name, patterns in sentence.claims.items():
        artefact = paper[name]
        names = {claim.sentence: None for pattern in patterns for claim in matching(artefact, pattern)}
        every = len(names) == len(artefact.claims) > 1
        cells.append(f"{_link(paper, artefact)}: " + (f"all {len(names)}" if every else "; ".join(names)))
    return "<br>".join(cells)


def _link(paper: Paper, artefact: Artefact) -> str:
    """Name an artefact with a link to the verdicts of its paper."""
    return f"[{artefact.name}]({VERDICTS}#{anchor(paper)})"


def anchor(paper: Paper) -> str:
    """Return the anchor that the site gives to the heading of a paper."""
    plain = unicodedata.normalize("NFKD", paper.title).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
