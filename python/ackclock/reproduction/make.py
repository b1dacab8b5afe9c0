"""Artefacts of papers, made again: judged and written, and the page that shows them all."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from ackclock import engine
from ackclock.decision import Estimate, expected_wrong
from ackclock.draw import charts
from ackclock.draw.figure import Group
from ackclock.engine import integrity, storage, today
from ackclock.names import hint, slug
from ackclock.reproduction.claims.artefact import Artefact, Claim, Judged
from ackclock.reproduction.claims.figures import with_paper
from ackclock.reproduction.claims.judge import Assignment, Judgement, controls_of, judge
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.inference.fingerprint import fingerprint
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ArtefactRecord, ClaimRecord, FormerCheck, OtherSetting
from ackclock.reproduction.shown import outcome, page
from ackclock.reproduction.targets import suggestion
from ackclock.reproduction.trials import tried
from ackclock.reproduction.trials.dependence import depends_on
from ackclock.runs import progress
from ackclock.runs.live import OFF, Live
from ackclock.runs.store import CACHE, Store

Selected = list[tuple[Paper, Artefact]]


def select(papers: Mapping[str, Paper], targets: Sequence[str] = (), *, headlines: bool = False) -> Selected:
    """Return the artefacts that the targets name, each once.

    A target is a paper (``illinois``) or an artefact (``illinois/figure-8``); without targets all are
    meant. With `headlines` only those of the quick reproduction are taken from a whole paper. A
    LookupError suggests the nearest name for an unknown target.
    """
    every = {
        f"{paper.name}/{artefact.name}": (paper, artefact)
        for paper in papers.values()
        for artefact in paper.artefacts
    }
    chosen: dict[str, tuple[Paper, Artefact]] = {}
    for target in targets or papers:
        wanted = target.strip("/")
        matching = {key: item for key, item in every.items() if wanted in (key, key.split("/")[0])}
        if not matching:
            raise LookupError(f"there is no {target}: {suggestion(wanted, papers)}")
        if headlines and wanted not in every:
            # Where a paper has no headline, quick is how everything is run.
            matching = {key: item for key, item in matching.items() if item[1].headline} or matching
        chosen |= matching
    return list(chosen.values())


def undecided(chosen: Selected, output: Path) -> Selected:
    """Return the artefacts of which an earlier reproduction in `output` left a claim undecided."""

    def is_open(paper: Paper, artefact: Artefact) -> bool:
        file = output / paper.name / artefact.name / "artefact.json"
        claims = json.loads(file.read_text(encoding="utf-8"))["claims"] if file.exists() else []
        return any(claim["verdict"] == "undecided" for claim in claims)

    return [selected for selected in chosen if is_open(*selected)]


def papers(known: Mapping[str, Paper], targets: Sequence[str] = ()) -> list[str]:
    """Return the names of the papers that the targets name, by default of all.

    A LookupError names an unknown paper.
    """
    for target in targets:
        if target.strip("/") not in known:
            raise LookupError(f"there is no paper {target}: {hint(target, known)}")
    return list(dict.fromkeys(target.strip("/") for target in targets)) or list(known)


def reproduce(
    chosen: Selected,
    output: Path,
    effort: Effort,
    jobs: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
    papers: Iterable[Paper] | None = None,
    address: str | None = None,
    live: Live = OFF,
    *,
    pictures: bool = False,
    planned: bool = False,
) -> list[ArtefactRecord]:
    """Reproduce artefacts: write figures, data and verdicts, and the page that shows them all.

    Artefacts that are in `output` already stay on its page. `tell` is called with the lines about each
    finished artefact, `papers` are those of the page, by default the papers of the chosen artefacts, and
    `address` is the scheduler of a Dask cluster that makes the runs. With `pictures` every figure is also
    drawn as PDF and PNG, and `planned` takes the planned runs of each case instead of those of `effort`.
    Where a paper has two settings that cannot be distinguished, the claims of artefacts that differ between
    them are judged at both, except in a quick reproduction. The records have the paper, name and claims
    of each artefact, and the error of a failed one. Raises StorageError when something cannot be
    written and ScenarioError when the cluster cannot be used.
    """
    # Before anything that takes long.
    storage.probe(output)
    records: dict[int, ArtefactRecord] = {}
    plans = [plan_of(*selected, effort) if planned else {} for selected in chosen]
    every = [
        Assignment.of(artefact, effort.at(paper.setting), plan)
        for (paper, artefact), plan in zip(chosen, plans, strict=True)
    ]
    elsewhere = (
        (index, _elsewhere(*selected, effort, plans[index])) for index, selected in enumerate(chosen)
    )
    others = {index: other for index, other in elsewhere if other is not None}
    for index, (paper, artefact) in enumerate(chosen):
        folder = output / paper.name / artefact.name
        storage.refuse_unless_free(folder, is_result=is_artefact)
        known = _unchanged(folder, _fingerprint(paper, every[index], others.get(index)))
        if known is not None:
            records[index] = known
    remaining = [index for index in range(len(chosen)) if index not in records]
    live.shows(lambda: page.so_far(output, chosen, dict(records)))
    with Store(output / CACHE).opened() as store:
        both = [(index, at) for index in remaining for at in (every[index], others.get(index)) if at]
        waiting: dict[int, dict[bool, Judgement]] = {index: {} for index in remaining}
        for number, judgement in judge([at for _, at in both], store, jobs, address, live):
            index, at = both[number]
            waiting[index][at is every[index]] = judgement
            if len(waiting[index]) < 1 + (index in others):
                continue
            paper, artefact = chosen[index]
            here, there = (waiting[index].get(is_here) for is_here in (True, False))
            assert here is not None  # noqa: S101
            records[index] = _write(output, paper, every[index], here, others.get(index), there)
            for line in outcome.lines(paper, records[index], list(records.values())):
                tell(line)
    if pictures:
        for paper, artefact in chosen:
            _draw(output / paper.name / artefact.name, paper, artefact)
    shown = papers if papers is not None else {paper.name: paper for paper, _ in chosen}.values()
    page.write(output, shown)
    return [records[index] for index in range(len(chosen))]


def plan_of(paper: Paper, artefact: Artefact, effort: Effort) -> Mapping[str, int]:
    """Return the planned runs of cases by label: those of a pilot of the same effort."""
    planned = paper.planned_quick if effort.quick else paper.planned
    return planned.get(artefact.name, {})


def _elsewhere(
    paper: Paper, artefact: Artefact, effort: Effort, plan: Mapping[str, int]
) -> Assignment | None:
    """Return an artefact at the other setting of its paper, if there is one at which it is not the same.

    A quick reproduction leaves it out: it would take an eighth of the time.
    """
    other = None if effort.quick else paper.alternative
    if other is None or not paper.differs(artefact, paper.setting, other):
        return None
    return Assignment.of(artefact, effort.at(other), plan)


def _fingerprint(paper: Paper, assignment: Assignment, other: Assignment | None) -> str:
    return "+".join(fingerprint(at, paper.home) for at in (assignment, other) if at)


def _unchanged(folder: Path, known: str) -> ArtefactRecord | None:
    """Return the record of an earlier reproduction, which was not published, if nothing has changed since."""
    file = folder / "artefact.json"
    if not file.exists():
        return None
    problem = integrity.problem_of(folder)
    if problem is not None:
        progress.say(f"{folder}: {problem}; it is made again")
        return None
    record: ArtefactRecord = json.loads(file.read_text(encoding="utf-8"))
    same = record.get("fingerprint") == known and "published" not in record
    return record if same and not record["error"] else None


def is_artefact(directory: Path) -> bool:
    """Return whether a directory has the result of an artefact and nothing else."""
    endings = {".parquet", ".png", ".pdf", ".json"}
    return (directory / "artefact.json").is_file() and all(
        file.suffix in endings or file.name == "scenarios" for file in directory.iterdir()
    )


def _write(
    output: Path,
    paper: Paper,
    assignment: Assignment,
    judgement: Judgement,
    other: Assignment | None = None,
    there: Judgement | None = None,
) -> ArtefactRecord:
    artefact = assignment.artefact
    record: ArtefactRecord = {
        "paper": paper.name,
        "name": artefact.name,
        "title": artefact.title,
        "version": engine.__version__,
        "engine": engine.ENGINE,
        "rules": engine.RULES,
        "fingerprint": _fingerprint(paper, assignment, other),
        "quick": assignment.effort.quick,
        "profile": today.profiles(*(jobs[0].scenario for jobs in assignment.jobs.values() if jobs)),
        "cases": {
            str(key): {"file": f"scenarios/{slug(str(key))}.toml", "runs": len(jobs)}
            for key, jobs in assignment.jobs.items()
        },
        "claims": [
            {
                **_claim(paper, artefact, claim, judged, judgement),
                "controls": controls_of(assignment, judgement.numbers, claim),
                "alternative": _at_other_setting(paper, artefact, claim, there),
            }
            for claim, judged in judgement.claims
        ],
        "expected_wrong_claims": expected_wrong(judged.wrong_probability for _, judged in judgement.claims),
        "error": judgement.error or (f"at the other setting: {there.error}" if there and there.error else ""),
    }
    folder = output / paper.name / artefact.name
    with storage.new_directory(folder, force=True, is_result=is_artefact) as directory:
        (directory / "scenarios").mkdir()
        for key, jobs in assignment.jobs.items():
            file = directory / record["cases"][str(key)]["file"]
            file.write_text(jobs[0].scenario.toml(), encoding="utf-8")
        if not judgement.error:
            try:
                _fill(directory, artefact, judgement)
            except Exception as error:
                record["error"] = f"{type(error).__name__}: {error}"
        text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
        (directory / "artefact.json").write_text(text, encoding="utf-8")
    return record


def _at_other_setting(
    paper: Paper, artefact: Artefact, claim: Claim, there: Judgement | None
) -> OtherSetting | None:
    """Record a claim at the other setting of its paper."""
    judged = next((said for known, said in there.claims if known.name == claim.name), None) if there else None
    if there is None or judged is None:
        return None
    contradicted = bool(
        claim.finding and claim.finding.name in there.findings and claim.finding.contradiction
    )
    return {
        "measured": judged.measured,
        "holds": judged.holds,
        "undecided": judged.undecided,
        "verdict": verdict_of(paper, artefact, claim, judged.holds, judged.undecided, contradicted).kind,
    }


def verdict_of(
    paper: Paper, artefact: Artefact, claim: Claim, holds: bool, undecided: bool, contradicted: bool
) -> tried.ClaimVerdict:
    """Return the verdict on a claim, with what the settings that were tried say of it.

    `holds` and `undecided` are its state at the paper's setting, and `contradicted` means that its finding
    proves that it cannot hold.
    """
    key = artefact.name, claim.name
    items = paper.relevant_to(artefact, claim)
    why = depends_on(key, paper.trials, items)
    readings = [item.name for item in items if item.has_readings]
    return tried.judge(key, holds, paper.trials, why, contradicted, undecided, readings)


def _claim(
    paper: Paper, artefact: Artefact, claim: Claim, judged: Judged, judgement: Judgement
) -> ClaimRecord:
    """Record a claim, what was measured, and what is known of it from other settings."""
    single_runs = judgement.single_runs.get(claim.name)
    apart = judgement.halves.get(claim.name)
    finding = claim.finding if claim.finding and claim.finding.name in judgement.findings else None
    in_ns2 = paper.ns2.get((artefact.name, claim.name))
    contradicted = bool(finding and finding.contradiction)
    verdict = verdict_of(paper, artefact, claim, judged.holds, judged.undecided, contradicted)
    if judged.holds or judged.undecided:
        finding = None
    return {
        "id": f"{paper.name}/{artefact.name}/{claim.name}",
        "claim": claim.sentence,
        "paper": claim.paper,
        "tolerance": claim.tolerance,
        "measured": judged.measured,
        "ns2": None if in_ns2 is None else in_ns2.record(),
        "holds": judged.holds,
        "single_runs": None
        if single_runs is None
        else {
            "hold": round(single_runs.value * single_runs.samples),
            "runs": single_runs.samples,
            "low": single_runs.low,
            "high": single_runs.high,
        },
        "halves": None if apart is None else {"even": apart[0], "odd": apart[1]},
        "wrong_probability": None if math.isnan(judged.wrong_probability) else judged.wrong_probability,
        **verdict.record(),  # type: ignore[typeddict-item]  # it has no key but its own
        "finding": judgement.findings[finding.name] if finding else "",
        "finding_id": f"{paper.name}/{finding.name}" if finding else "",
        "former": _former(claim, judgement),
    }


def _former(claim: Claim, judgement: Judgement) -> FormerCheck | None:
    if claim.former is None or claim.name not in judgement.former:
        return None
    judged = judgement.former[claim.name]
    return {
        "tolerance": claim.former.tolerance,
        "measured": judged.measured,
        "holds": judged.holds,
        "undecided": judged.undecided,
    }


def _fill(directory: Path, artefact: Artefact, judgement: Judgement) -> None:
    """Write what was measured, and the figure that shows it."""
    rows = [
        {"case": str(key), "run": run} | flat(row)
        for key, of_case in judgement.numbers.rows.items()
        for run, row in enumerate(of_case)
    ]
    if rows:
        storage.write_table(pl.DataFrame(rows, infer_schema_length=None), directory, "numbers")
    if judgement.runs:
        storage.write_table(pl.DataFrame(judgement.runs), directory, "runs")
    if judgement.traces:
        frames = [
            frame.select(pl.lit(str(key)).alias("case"), pl.all()) for key, frame in judgement.traces.items()
        ]
        storage.write_table(pl.concat(frames, how="diagonal_relaxed"), directory, "traces")
    drawing = artefact.draw(_alike(judgement.numbers), judgement.traces)
    if isinstance(drawing, Group):
        if not any(np.size(series.x) for chart in drawing.charts for series in chart.series):
            raise ValueError("the figure is empty: its runs end before it begins")
        drawing = with_paper(drawing, artefact.printed)
    (directory / page.FIGURE).write_text(charts.dump(drawing), encoding="utf-8")


def _alike(numbers: Numbers) -> Numbers:
    """Return numbers of which each case shows as many runs: a picture compares runs."""
    return replace(numbers, shared=min(map(len, numbers.rows.values()), default=None))


def _draw(folder: Path, paper: Paper, artefact: Artefact) -> None:
    """Draw the pictures of an artefact, unless they are there."""
    if (folder / f"{artefact.name}.png").exists():
        return
    drawing = page.figure(folder, page.stated_for(paper, artefact))
    if drawing is None:
        return
    # Matplotlib takes long to import, and only pictures need it.
    from ackclock.draw import printed

    storage.write_files(folder, printed.rendered(drawing, artefact.name))
    integrity.seal_directory(folder)


def flat(row: Row) -> dict[str, object]:
    """Return the numbers of a run by their names; an estimate has two more, the ends of its interval."""
    numbers: dict[str, object] = {}
    for key, value in row.items():
        if isinstance(value, Estimate):
            numbers |= {str(key): value.value, f"{key}_low": value.low, f"{key}_high": value.high}
        else:
            numbers[str(key)] = value
    return numbers
