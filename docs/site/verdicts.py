"""The page of the site that lists all verdicts: tables of Markdown, one row per artefact of every paper."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import cast

from ackclock.draw.markdown import table
from ackclock.reproduction.claims.artefact import Artefact
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ArtefactRecord, ClaimRecord, reliability, state
from ackclock.reproduction.shown import classes, strips
from ackclock.reproduction.shown.page import NOT_RUN, Described, described, never_together
from ackclock.reproduction.shown.words import (
    at_other_setting,
    former_check,
    gain,
    in_ns2,
    robustness,
    setting_rows,
    single_runs,
)

SINGLE_RUNS = "In how many single runs claims hold"
"""Heading of a table."""


def _failing(claims: Sequence[ClaimRecord]) -> list[str]:
    """List claims that do not hold; what is found about several of them stands once, above them."""
    by_finding: dict[str, list[str]] = {}
    for claim in claims:
        ns2 = f"; ns-2: {in_ns2(claim)}" if claim.get("ns2") else ""
        other = at_other_setting(claim)
        ns2 += f"; at the other setting: {other}" if other else ""
        known = " ".join(filter(None, (robustness(claim), single_runs(claim))))
        words = f"{claim['claim']}: {claim['measured']} ({claim['paper']}{ns2}). {known}"
        by_finding.setdefault(claim["finding"], []).append(f"- {words}".rstrip())
    lines = by_finding.pop("", [])
    for finding, several in by_finding.items():
        if len(several) == 1:
            lines.append(f"{several[0]} {finding}")
        else:
            lines += [f"- Of {len(several)} claims: {finding}", *(f"  {line}" for line in several)]
    return lines


def _changed(records: Iterable[Described]) -> list[str]:
    """List the checks that were changed after they had been run, and whose outcome differs from before."""
    lines, same = [], 0
    for record in records:
        for claim in record["claims"]:
            former = claim.get("former")
            if former is None:
                continue
            now = claim["holds"], state(claim) == "undecided"
            if now == (former["holds"], former["undecided"]):
                same += 1
            else:
                lines.append(f"- {record['name']}, {claim['claim']}: {state(claim)}. {former_check(claim)}")
    if same:
        lines.append(f"- The outcome of {same} others is the same under both checks.")
    return ["", "### Checks that were changed after they had been run", "", *lines] if lines else []


def _by_single_runs(records: Iterable[Described]) -> list[str]:
    """Return a table of every simulated claim: in how many single runs it holds."""
    rows = []
    for record in records:
        counted = [
            (claim["claim"], claim["single_runs"]) for claim in record["claims"] if claim.get("single_runs")
        ]
        always = Counter(count["runs"] for _, count in counted if count["hold"] == count["runs"])
        words = [f"{number} in all {runs} runs" for runs, number in always.items()]
        words += [
            f"{name}: {count['hold']} of {count['runs']}"
            for name, count in counted
            if count["hold"] < count["runs"]
        ]
        if words:
            rows.append([record["name"], str(len(counted)), "; ".join(words)])
    heads = ["artefact", "claims", "single runs in which they hold"]
    return ["", f"### {SINGLE_RUNS}", *table(heads, rows)] if rows else []


def _by_class(every: Sequence[Described], asked: Sequence[Artefact]) -> list[str]:
    """Return a table of the numbers of artefacts by group and class; `asked` are all artefacts."""
    groups = {name: group for group, names in classes.GROUPS.items() for name in names}
    meaning = {**classes.CLASSES, NOT_RUN: "it has no result"}

    def numbers(is_counted: Callable[[str], bool]) -> Counter[str]:
        shown = Counter(record["class"].name for record in every if is_counted(record["name"]))
        missing = sum(is_counted(artefact.name) for artefact in asked) - shown.total()
        return shown + Counter({NOT_RUN: missing})

    all_of_them, printed = numbers(lambda _: True), numbers(lambda name: not name.startswith("section-"))
    order = [*itertools.chain(*classes.GROUPS.values()), *classes.CLASSES, NOT_RUN]
    rows = [
        [groups.get(name, classes.NO_CLAIM), name, meaning[name], str(all_of_them[name]), str(printed[name])]
        for name in dict.fromkeys(order)
        if all_of_them[name]
    ]
    return table(["group", "class", "meaning", "artefacts", "of them figures and tables"], rows)


def markdown(output: Path, papers: Iterable[Paper]) -> str:
    """Return the summary of all verdicts as tables of Markdown, one row per artefact of every paper.

    An artefact that `output` lacks is listed as *not run*.
    """
    lines: list[str] = []
    every: list[Described] = []
    asked: list[Artefact] = []
    for paper in papers:
        asked += paper.artefacts
        records = {record["name"]: record for record in described(output / paper.name, paper)}
        every += records.values()
        rows, failing = [], list[str]()
        for artefact in paper.artefacts:
            record = records.get(artefact.name)
            claims = record["claims"] if record else []
            holding = sum(claim["holds"] for claim in claims)
            main = paper.main_claims.get(artefact.name)
            name = record["class"].group if record else NOT_RUN
            shares = f"{holding} of {len(claims)}"
            rows.append([artefact.name, artefact.caption, name, main.claim if main else "", shares])
            if holding < len(claims):
                failing += ["", f"**{artefact.name}**, {artefact.caption}:", ""]
                failing += _failing([claim for claim in claims if not claim["holds"]])
        heads = ["artefact", "what", "group", "main claim", "claims that hold"]
        lines += ["", f"## {paper.title}", *table(heads, rows)]
        lines += ["", "### What does not hold", *failing[1:]] if failing else []
        lines += _by_single_runs(records.values())
        lines += _changed(records.values())
        heads = ["setting", "value", "stated or inferred", "evidence", "other values"]
        lines += ["", "### Settings", gain(paper), "", *table(heads, setting_rows(paper))]
        if pairs := never_together(paper):
            lines += ["", "Claims that hold, but never at the same setting:", ""]
            lines += [f"- {first[0]}: {first[1]}; {second[0]}: {second[1]}" for first, second in pairs]
    heads = ["claims", "what is known of them"]
    of_claims = [
        [str(number), strips.MEANING[kind]] for kind, number in strips.counts(every).items() if number
    ]
    known = reliability(cast("list[ArtefactRecord]", every)).sentences()
    head = [*_by_class(every, asked), *table(heads, of_claims), "", *known]
    return "\n".join([*head, *lines]).lstrip() + "\n"
