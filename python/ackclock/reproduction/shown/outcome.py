"""The result of a reproduction in words: a line per artefact, and a screen at the end."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ackclock.reproduction.claims.artefact import Artefact
from ackclock.reproduction.claims.losses import FARTHEST
from ackclock.reproduction.claims.orders import GAP
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ArtefactRecord, ClaimRecord, alike, reliability, state
from ackclock.reproduction.shown.classes import (
    CLASSES,
    FAILED,
    GROUPS,
    HOLDS,
    OPEN,
    Classified,
    classify,
    counts,
)
from ackclock.reproduction.shown.words import losses_words

WIDTH = 100
"""Columns of a terminal that every line fits into."""
LEAST_WORDS = 16
"""Letters that stay of a claim's sentence where its numbers need the rest of the line."""


@dataclass(frozen=True)
class ClaimStatement:
    """The paper's statement about an artefact, our finding, and the conclusion."""

    says: str
    find: str
    so: str


def found(paper: Paper, classified: Classified) -> ClaimStatement | None:
    """Return the three parts of the sentence about an artefact; None where the paper claims nothing."""
    if classified.main is None or not classified.main.claim:
        return None
    find = _numbers(classified) or classified.main.missing or "nothing, because what states it was not run"
    so = f"{classified.group}: {CLASSES[classified.name]}"
    if classified.name == "undecided":
        so += f" ({'; '.join(dict.fromkeys(_limit(paper, claim) for claim in classified.deciding))})"
    return ClaimStatement(classified.main.claim, find, so)


def _numbers(classified: Classified) -> str:
    """Return the measured numbers of the main claim."""
    stated, deciding = classified.stated, classified.deciding
    if not deciding:
        return ""
    if len(stated) == 1:
        return stated[0]["measured"]
    return f"{_parts(stated)}; {deciding[0]['claim']}: {deciding[0]['measured']}"


def _parts(stated: Sequence[ClaimRecord]) -> str:
    """Return how many parts of a main claim hold, how many are undecided, and how far the others miss."""
    states = [state(claim) for claim in stated]
    words = f"{states.count('holds')} of {len(stated)} parts hold"
    if "undecided" in states:
        words += f", {states.count('undecided')} undecided"
    failing = [claim.get("tolerances_missed") for claim in stated if state(claim) == "does not hold"]
    missed = [f"{miss:.2g}" for miss in sorted(filter(None, failing))]
    if missed:
        far = missed[0] if missed[0] == missed[-1] else f"{missed[0]} to {missed[-1]}"
        words += f", {len(missed)} off by {far} tolerances"
    return words


def lines(paper: Paper, record: ArtefactRecord, known: Sequence[ArtefactRecord]) -> list[str]:
    """Return lines about an artefact: its result, and one for each undecided claim with the reason.

    `known` are the records so far, which may have the claims that state its main claim.
    """
    artefact = f"{record['paper']}/{record['name']}"
    if record["error"]:
        return [clipped(f"{artefact}: failed: {record['error']}")]
    classified = classify(paper, known)[record["name"]]
    claims = record["claims"]
    said = f"{sum(claim['holds'] for claim in claims)} of {len(claims)} claims hold"
    if found(paper, classified) is not None and _numbers(classified):
        said = _numbers(classified)
        if classified.group == OPEN:
            answer = {True: "holds", False: "does not hold", None: "is undecided"}[classified.holds]
            said = f"its main claim {answer}: {said}"
    kind, waiting = classified.group, _waiting(classified, known)
    if waiting:
        kind = f"open without {', '.join(waiting)}"
    undecided = [claim for claim in claims if state(claim) == "undecided"]
    return [
        clipped(f"{artefact}: {kind}; {said}"),
        *(f"  {reason(paper, claim, 2)}" for claim in undecided),
        *_losses(record),
        *textwrap.wrap(alike(record), WIDTH, initial_indent="  ", subsequent_indent="  "),
    ]


def _losses(record: ArtefactRecord) -> list[str]:
    """Return a line about the kind of flow whose drops over packets are farthest from 1, if any are known."""
    known = record.get("losses", [])
    if not known:
        return []
    farthest = max(known, key=lambda of: abs(math.log(max(of["drops_over_packets"], 1 / FARTHEST))))
    words = f"{farthest['kind']} {losses_words(farthest)} in {farthest['case']}"
    return [f"  {clipped(f'drops over packets, farthest from 1: {words}', WIDTH - 2)}"]


def _waiting(classified: Classified, known: Sequence[ArtefactRecord]) -> list[str]:
    """Return artefacts without a record yet whose claims state a main claim."""
    owners = {name.rpartition("/")[0] for name in classified.main.ids} if classified.main else set()
    return sorted(owners - {record["name"] for record in known} - {""})


def reason(paper: Paper, claim: ClaimRecord, indent: int) -> str:
    """Return why a claim is undecided: its interval and its limit, in the rest of a line."""
    room = WIDTH - indent - len("undecided: : ; ")
    limit = clipped(_limit(paper, claim), room // 2)
    words = clipped(claim["claim"], max(LEAST_WORDS, room - len(limit) - len(claim["measured"])))
    measured = clipped(claim["measured"], room - len(limit) - len(words))
    return f"undecided: {words}: {measured}; {limit}"


def _limit(paper: Paper, claim: ClaimRecord) -> str:
    """Return the range of numbers for which a claim holds; for an order, the least gap."""
    _, artefact, name = claim["id"].split("/")
    target = next((each.target for each in paper[artefact].claims if each.name == name), None)
    if target is None:
        return f"asked: {claim['tolerance']}"
    if target == GAP:
        return f"gap {claim['tolerance'].partition(':')[0]}"
    low, high = (f"{end:.4g}" for end in (target.low, target.high))
    if math.isinf(target.high):
        return f"holds from {low} on"
    return f"holds up to {high}" if math.isinf(target.low) else f"holds from {low} to {high}"


def clipped(text: str, width: int = WIDTH) -> str:
    """Return the beginning of a text that fits into a line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else f"{flat[: width - 1].rstrip()}…"


def counted(classified: Mapping[str, Classified]) -> tuple[int, int, dict[str, list[str]]]:
    """Return how many main claims hold, of how many, and the names of the other artefacts by group."""
    groups: dict[str, list[str]] = {
        group: [name for name, each in classified.items() if each.group == group]
        for group in (*GROUPS, FAILED)
    }
    total, holding = sum(map(len, groups.values())), len(groups.pop(HOLDS))
    return holding, total, {group: names for group, names in groups.items() if names}


def sentence(holding: int, total: int) -> str:
    """Return how many main claims hold, as a sentence."""
    return f"{holding} of {total} main claims hold." if total else "nothing with a main claim was run."


def in_print(artefact: Artefact) -> str:
    """Return the name of an artefact as its paper prints it: ``Section 4.5``."""
    return re.sub(r"(?<=\d)-(?=\d)", ".", artefact.title.partition(": ")[0])


def short_name(paper: Paper) -> str:
    """Return the name of a paper without its authors."""
    return paper.title.partition(" (")[0].partition(":")[0]


def screen(records: Sequence[ArtefactRecord], papers: Mapping[str, Paper], output: Path) -> list[str]:
    """Return the end of a reproduction: per paper a sentence and the other artefacts by group.

    `output` is the directory of the pages as the reader named it.
    """
    said: list[str] = []
    every: list[Classified] = []
    names = dict.fromkeys(record["paper"] for record in records)
    for name in names:
        classified = classify(papers[name], records)
        holding, total, others = counted(classified)
        every += classified.values()
        said.append(f"{short_name(papers[name])}: {sentence(holding, total)}")
        for kind, artefacts in others.items():
            said += _listed(f"  {kind}: ", artefacts)
            for artefact in artefacts:
                undecided = classified[artefact].name == "undecided"
                deciding = classified[artefact].deciding if undecided else ()
                said += [f"    {reason(papers[name], claim, 4)}" for claim in deciding]
    if len(names) > 1:
        numbers = ", ".join(f"{kind} {number}" for kind, number in counts(every).items())
        said += ["", *textwrap.wrap(f"All main claims: {numbers}.", WIDTH, subsequent_indent="  ")]
    states = [state(claim) for record in records for claim in record["claims"]]
    open_ones, holds = states.count("undecided"), states.count("holds")
    said.append(f"All claims: {holds} of {len(states)} hold, {open_ones} are undecided.")
    said += [line for each in reliability(records).sentences() for line in textwrap.wrap(each, WIDTH)]
    said += _senders(records)
    said.append(f"Pictures, numbers and every claim: {output / 'index.html'}")
    return said


def _senders(records: Sequence[ArtefactRecord]) -> list[str]:
    """Return a line that says with which profile of senders artefacts were made; no line if none had any."""
    profiles: dict[str, dict[str, None]] = {}
    for record in records:
        name = record.get("profile", "-")
        if name != "-":
            profiles.setdefault(name, {})[record["paper"]] = None
    parts = [f"{name} ({', '.join(papers)})" for name, papers in sorted(profiles.items())]
    return textwrap.wrap(f"Profile of the senders: {', '.join(parts)}.", WIDTH) if parts else []


def _listed(head: str, words: Sequence[str]) -> list[str]:
    """Return a list of words as lines that are as wide as a terminal at most."""
    rows = [head]
    for index, word in enumerate(words):
        piece = word + ("," if index + 1 < len(words) else "")
        if len(rows[-1]) + len(piece) > WIDTH:
            rows.append(" " * len(head))
        rows[-1] += piece if rows[-1].endswith(" ") else f" {piece}"
    return rows
