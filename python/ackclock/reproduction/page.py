"""What shows every artefact with its verdicts: a page for browsers, and a page of Markdown."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import polars as pl

from ackclock import engine
from ackclock.draw import charts, lab
from ackclock.draw.diagram import svg
from ackclock.draw.figure import Drawing, Group
from ackclock.draw.markdown import table
from ackclock.draw.page import from_here, html
from ackclock.engine import integrity, storage
from ackclock.reproduction import classes, strips, tried
from ackclock.reproduction.artefact import Artefact
from ackclock.reproduction.paper import Chosen, Paper
from ackclock.reproduction.record import ArtefactRecord, ClaimRecord, reliability
from ackclock.reproduction.settings import Item
from ackclock.runs import progress
from ackclock.runs.live import Shown

PAIRS = 10
"""Pairs of claims that never hold together: those that hold most often."""
NEWEST = 3
"""Figures in the live view."""
NOT_RUN, OLD_RULE = "not run", "(old rule)"
"""Further rows of the table of classes."""
TONES = {
    "reproduced": "reproduced",
    "verified": "reproduced",
    "setting": "not-stated",
    "analogue": "not-stated",
    "undecided": "undecided",
    "possible as one run": "undecided",
    "not checked": "undecided",
}
"""The style of a class on the page; of the others it is that of a failure."""
SINGLE_RUNS = "In how many single runs claims hold"
"""Heading of a table of the page of Markdown."""
FIGURE = "figure.json"
"""The figure of an artefact."""
SHOWN_ROWS = 60
"""More numbers are left to the Parquet file."""


def write(output: Path, papers: Iterable[Paper]) -> None:
    """Write index.html for all artefacts in a directory.

    `papers` are those that may have artefacts there.
    """
    shown = [(paper, _artefacts(output / paper.name, paper)) for paper in papers]
    laboratory = lab.page()
    if laboratory is not None:
        with storage.new_file(output / lab.NAME) as file:
            file.write_text(laboratory, encoding="utf-8")
    every = [artefact for _, artefacts in shown for artefact in artefacts]
    text = html(
        "report.html",
        root=from_here(output),
        quoted=shlex.quote,
        charts={
            artefact["place"]: artefact["figure"]
            for artefact in every
            if isinstance(artefact["figure"], Group)
        },
        diagram=svg,
        explained=explained,
        in_lab=None if laboratory is None else lambda file: _in_lab(output / file),
        gain=gain,
        at_other_setting=at_other_setting,
        meaning=strips.MEANING,
        papers=[
            (paper, artefacts, setting_rows(paper), tried.never_together(paper.trials)[:PAIRS])
            for paper, artefacts in shown
            if artefacts
        ],
        version=engine.__version__,
        count=classes.counts(artefact["class"] for artefact in every),
        classes=classes.CLASSES,
        tone=TONES,
        old_rule=sum(classes.holds_throughout(artefact) for artefact in every),
        artefacts=len(every),
        of_claims=strips.counts(every),
        reliability=reliability(cast("list[ArtefactRecord]", every)).sentences(),
        quick=any(artefact["quick"] for artefact in every),
    )
    with storage.new_file(output / "index.html") as file:
        file.write_text(text, encoding="utf-8")


def so_far(
    output: Path, chosen: Sequence[tuple[Paper, Artefact]], records: Mapping[int, ArtefactRecord]
) -> Shown:
    """Return the state of a reproduction in progress: a row per artefact, and the charts of the newest.

    `records` are those of the finished artefacts by their index in `chosen`, the newest last.
    """
    places = [f"{paper.name}/{artefact.name}" for paper, artefact in chosen]
    newest: dict[str, Group] = {}
    for index, record in reversed(list(records.items())):
        drawing = _figure(output / places[index])
        if isinstance(drawing, Group) and len(newest) < NEWEST:
            newest[f"{places[index]}: {record['verdict']}"] = drawing
    rows = []
    for index, (_, artefact) in enumerate(chosen):
        row = [places[index], artefact.title, "", ""]
        if index in records:
            claims = records[index]["claims"]
            held = sum(claim["holds"] for claim in claims)
            row[2:] = records[index]["verdict"], f"{held} of {len(claims)}"
        rows.append(row)
    return Shown(
        newest,
        ("artefact", "what", "verdict", "claims that hold"),
        rows,
        f"The charts are those of the newest figures, at most {NEWEST}." if newest else "",
    )


def _in_lab(file: Path) -> str:
    """Return the address at which the laboratory opens a scenario."""
    return lab.NAME + lab.fragment(tomllib.loads(file.read_text("utf-8")))


def _artefacts(directory: Path, paper: Paper) -> list[dict[str, Any]]:
    artefacts = []
    for artefact in paper.artefacts:
        place = directory / artefact.name
        record = place / "artefact.json"
        if record.exists():
            problem = integrity.problem_of(place)
            if problem is not None:
                progress.say(
                    f"{place}: {problem}; it is left out of the page until "
                    f"ackclock reproduce {paper.name}/{artefact.name} makes it again"
                )
                continue
            artefacts.append(_shown(json.loads(record.read_text(encoding="utf-8")), artefact, paper, place))
    classified = classes.classify(paper, artefacts)
    return [artefact | {"class": classified[artefact["name"]]} for artefact in artefacts]


def _figure(place: Path) -> Drawing | None:
    """Return the figure in the directory of an artefact; None when the artefact failed."""
    file = place / FIGURE
    return charts.load(file.read_text("utf-8")) if file.exists() else None


def _shown(record: ArtefactRecord, artefact: Artefact, paper: Paper, place: Path) -> dict[str, Any]:
    numbers = pl.DataFrame()
    if (place / "numbers.parquet").exists():
        numbers = pl.read_parquet(place / "numbers.parquet")
    return record | {
        "title": artefact.title,
        "about": artefact.about,
        "place": f"{place.parent.name}/{place.name}",
        "figure": _figure(place),
        "strips": strips.strips(artefact, paper),
        "columns": [name.replace("_", " ") for name in numbers.columns],
        "numbers": [[_cell(value) for value in row] for row in numbers[:SHOWN_ROWS].iter_rows()],
        "more": max(0, numbers.height - SHOWN_ROWS),
        "files": sorted(file.name for file in place.iterdir() if file.suffix in (".parquet", ".pdf", ".png")),
    }


def setting_rows(paper: Paper) -> list[list[str]]:
    """Return a row per item of a setting: quantity, choice, basis, evidence, other values.

    A value that no search has tried yet says so.
    """
    rows = []
    for item in paper.items:
        value = item.find(paper.setting[item.name]) if item.name else item.values[0]
        inferred = item.is_open and value is not item.values[0]
        known = [trial.setting[item.name] for trial in paper.trials] if item.name else []
        others = [
            f"{item.words(other.value)} ({other.basis}: {other.evidence})"
            + ("" if other.value in known or not known else ", not tried by a search")
            for other in item.values
            if other is not value
        ]
        rows.append(
            [
                item.quantity,
                item.words(value.value) + _other_value(paper, item),
                f"{value.basis}, inferred" if inferred else str(value.basis),
                value.evidence,
                "; ".join(others),
            ]
        )
    return rows


def _other_value(paper: Paper, item: Item) -> str:
    """Return the value of an item at the other setting, in brackets, where it differs."""
    if paper.alternative is None or not item.name:
        return ""
    other = paper.alternative[item.name]
    return "" if other == paper.setting[item.name] else f" (at the other setting: {item.words(other)})"


def gain(paper: Paper) -> str:
    """Return what the inferred setting gains, as sentences; nothing when no setting was tried."""
    if paper.inferred is None:
        return ""
    tries = len({str(trial.setting) for trial in paper.trials})
    validation = paper.inferred.validation
    if validation is None:
        return f"{tries} settings were tried. {_earlier_gain(paper.inferred)}"
    words = [f"{tries} settings were tried."]
    if validation.best:
        declared, best = validation.scores[0], validation.scores[validation.best]
        words.append(
            f"The best has a score of {best:.2f}, the declared one of {declared:.2f}; cross-validated over "
            f"artefacts and seeds the gain is {validation.gain:.2f} with a standard error of "
            f"{validation.error:.2f}."
        )
    if paper.alternative is not None:
        words.append(
            "The two cannot be distinguished, so both are carried: the declared setting is the paper's "
            "setting, the best one is the other setting."
        )
    elif not validation.accepted:
        words.append("No setting has a better score than the declared one.")
    if validation.planned is not None:
        before, after = validation.planned.declared, validation.planned.best
        words.append(
            f"{_named(paper)} Where the claims that were named to choose do so, the score of those that were "
            f"named to test goes from {before:.2f} to {after:.2f}."
        )
    return " ".join(words)


def _earlier_gain(chosen: Chosen) -> str:
    """Return what a search of an earlier version found, which had claims that choose and claims that test."""
    words = [
        f"{label} from {chosen.scores['declared'][name]:.2f} to {chosen.scores['best'][name]:.2f}"
        for name, label in (("fit", "of the claims that chose it"), ("held_out", "of those held out"))
        if name in chosen.scores["declared"] and name in chosen.scores["best"]
    ]
    kept = "" if chosen.accepted else " The declared setting stays, because no other gains."
    return f"The best moves the mean score {' and '.join(words)}.{kept}"


def _named(paper: Paper) -> str:
    """Return how many claims were named before any run, as a sentence."""
    assert paper.inference is not None  # noqa: S101
    every = {artefact.name: len(artefact.claims) for artefact in paper.artefacts}
    named = [
        sum(every[name] if "*" in claims else len(claims) for name, claims in claims_of.items())
        for claims_of in (paper.inference.fit, paper.inference.held_out)
    ]
    rest = sum(every.values()) - sum(named)
    return (
        f"Before any run {named[0]} claims were named to choose and {named[1]} to test; the other {rest} "
        "were written later or not named."
    )


def at_other_setting(claim: ClaimRecord) -> str:
    """Return what a claim is at the other setting; nothing where that is the same or there is none."""
    other = claim.get("alternative")
    return f"{other['measured']}: {other['verdict']}" if other else ""


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def explained(claim: ClaimRecord) -> str:
    """Return the reasons of a claim's verdict, as sentences."""
    sentences = [
        _robustness(claim),
        _single_runs(claim),
        _halves(claim),
        former_check(claim),
        claim["finding"],
    ]
    return " ".join(filter(None, sentences))


def former_check(claim: ClaimRecord) -> str:
    """Return what the check before gives, as a sentence; it was changed after it had been run."""
    former = claim.get("former")
    if former is None:
        return ""
    verdict = "undecided" if former["undecided"] else "holds" if former["holds"] else "does not hold"
    return f"Under the check before: {verdict} ({former['measured']}; {former['tolerance']})."


def _single_runs(claim: ClaimRecord) -> str:
    """Return in how many single runs a claim holds, as a sentence."""
    counted = claim.get("single_runs")
    if counted is None:
        return ""
    share = f"[{counted['low']:.0%}, {counted['high']:.0%}]"
    return f"It holds in {counted['hold']} of {counted['runs']} single runs {share}."


def _halves(claim: ClaimRecord) -> str:
    """Return what the two halves of the runs say where they do not agree, as a sentence."""
    halves = claim.get("halves")
    if not halves or halves["even"] == halves["odd"]:
        return ""
    words = {True: "it holds", False: "it does not hold", None: "it is undecided"}
    return f"In the even runs {words[halves['even']]}, in the odd ones {words[halves['odd']]}."


def _robustness(claim: ClaimRecord) -> str:
    """Return at which settings a claim holds, as a sentence."""
    holding, settings = claim["holding_settings"], claim["tried_settings"]
    on = f"; it depends on {claim['depends_on']}" if claim["depends_on"] else ""
    return {
        "reproduced": f"Holds at {holding} of {settings} plausible settings{on}." if settings else "",
        "undecided": "The 95 % interval holds both answers: more runs would tell.",
        "depends": f"Depends on the setting: holds at {holding} of {settings} plausible ones{on}.",
        "not found": f"Not found in {settings} settings.",
        "contradicted": "The paper contradicts itself.",
        "differs": "No other setting was tried.",
    }[claim["verdict"]]


def _failing(claims: Sequence[ClaimRecord]) -> list[str]:
    """List claims that do not hold; what is found about several of them stands once, above them."""
    by_finding: dict[str, list[str]] = {}
    for claim in claims:
        in_ns2 = claim.get("ns2")
        ns2 = f"; ns-2: {in_ns2['measured']}" if in_ns2 else ""
        other = at_other_setting(claim)
        ns2 += f"; at the other setting: {other}" if other else ""
        known = " ".join(filter(None, (_robustness(claim), _single_runs(claim))))
        words = f"{claim['claim']}: {claim['measured']} ({claim['paper']}{ns2}). {known}"
        by_finding.setdefault(claim["finding"], []).append(f"- {words}".rstrip())
    lines = by_finding.pop("", [])
    for finding, several in by_finding.items():
        if len(several) == 1:
            lines.append(f"{several[0]} {finding}")
        else:
            lines += [f"- Of {len(several)} claims: {finding}", *(f"  {line}" for line in several)]
    return lines


def _changed(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """List the checks that were changed after they had been run, and whose outcome differs from before."""
    lines, same = [], 0
    for record in records:
        for claim in record["claims"]:
            former = claim.get("former")
            if former is None:
                continue
            now = claim["holds"], claim["verdict"] == "undecided"
            if now == (former["holds"], former["undecided"]):
                same += 1
            else:
                lines.append(
                    f"- {record['name']}, {claim['claim']}: {claim['verdict']}. {former_check(claim)}"
                )
    if same:
        lines.append(f"- The outcome of {same} others is the same under both checks.")
    return ["", "### Checks that were changed after they had been run", "", *lines] if lines else []


def _by_single_runs(records: Iterable[Mapping[str, Any]]) -> list[str]:
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


def _by_class(every: Sequence[Mapping[str, Any]], asked: Sequence[Artefact]) -> list[str]:
    """Return a table of the numbers of artefacts by class, and by the old rule; `asked` are all artefacts."""

    def numbers(is_counted: Callable[[str], bool]) -> dict[str, int]:
        shown = [artefact for artefact in every if is_counted(artefact["name"])]
        missing = sum(is_counted(artefact.name) for artefact in asked) - len(shown)
        whole = sum(map(classes.holds_throughout, shown))
        return classes.counts(artefact["class"] for artefact in shown) | {NOT_RUN: missing, OLD_RULE: whole}

    all_of_them, printed = numbers(lambda _: True), numbers(lambda name: not name.startswith("section-"))
    meaning = {**classes.CLASSES, NOT_RUN: "it has no result", OLD_RULE: "every claim of the artefact holds"}
    rows = [[name, meaning[name], str(all_of_them[name]), str(printed.get(name, 0))] for name in all_of_them]
    return table(["class", "meaning", "artefacts", "of them figures and tables"], rows)


def markdown(output: Path, papers: Iterable[Paper]) -> str:
    """Return the summary of all verdicts as tables of Markdown, one row per artefact of every paper.

    An artefact that `output` lacks is listed as *not run*.
    """
    lines: list[str] = []
    every: list[dict[str, Any]] = []
    asked: list[Artefact] = []
    for paper in papers:
        asked += paper.artefacts
        records = {record["name"]: record for record in _artefacts(output / paper.name, paper)}
        every += records.values()
        rows, failing = [], list[str]()
        for artefact in paper.artefacts:
            record = records.get(artefact.name)
            claims = record["claims"] if record else []
            holding = sum(claim["holds"] for claim in claims)
            main = paper.main_claims.get(artefact.name)
            name = record["class"].name if record else NOT_RUN
            shares = f"{holding} of {len(claims)}"
            rows.append([artefact.name, artefact.caption, name, main.claim if main else "", shares])
            if holding < len(claims):
                failing += ["", f"**{artefact.name}**, {artefact.caption}:", ""]
                failing += _failing([claim for claim in claims if not claim["holds"]])
        heads = ["artefact", "what", "class", "main claim", "claims that hold"]
        lines += ["", f"## {paper.title}", *table(heads, rows)]
        lines += ["", "### What does not hold", *failing[1:]] if failing else []
        lines += _by_single_runs(records.values())
        lines += _changed(records.values())
        heads = ["setting", "value", "stated or inferred", "evidence", "other values"]
        lines += ["", "### Settings", gain(paper), "", *table(heads, setting_rows(paper))]
        pairs = tried.never_together(paper.trials)[:PAIRS]
        if pairs:
            lines += ["", "Claims that hold often, but never at the same setting:", ""]
            lines += [f"- {first[0]}: {first[1]}; {second[0]}: {second[1]}" for first, second in pairs]
    heads = ["claims", "what is known of them"]
    of_claims = [
        [str(number), strips.MEANING[kind]] for kind, number in strips.counts(every).items() if number
    ]
    known = reliability(cast("list[ArtefactRecord]", every)).sentences()
    head = [*_by_class(every, asked), *table(heads, of_claims), "", *known]
    return "\n".join([*head, *lines]).lstrip() + "\n"
