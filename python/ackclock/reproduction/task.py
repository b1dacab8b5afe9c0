"""An artefact to be reproduced: its claims to judge, its record and its files."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from ackclock import engine
from ackclock.decision import Estimate, expected_wrong
from ackclock.draw import charts
from ackclock.draw.figure import Group
from ackclock.engine import integrity, storage, today
from ackclock.names import slug
from ackclock.reproduction import ns2
from ackclock.reproduction.claims import losses, usual
from ackclock.reproduction.claims.artefact import Artefact, Claim, Judged
from ackclock.reproduction.claims.figures import with_paper
from ackclock.reproduction.claims.judge import Assignment, Judgement, controls_of
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.inference.fingerprint import fingerprint
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ArtefactRecord, ClaimRecord, FormerCheck, LossesRecord, OtherSetting
from ackclock.reproduction.shown import page
from ackclock.reproduction.trials import tried
from ackclock.reproduction.trials.dependence import depends_on
from ackclock.runs import progress

AT_THIS_SETTING = "At the paper's setting, not at every other: "
"""Beginning of a finding that other settings do not bear out."""


@dataclass(frozen=True, eq=False)
class Task:
    """An artefact of a paper with its assignments.

    The first is at the setting of its paper. There is a second at the other setting, where a paper has two
    that cannot be distinguished and the artefact is not the same at both.
    """

    paper: Paper
    artefact: Artefact
    assignments: Sequence[Assignment]

    @classmethod
    def of(cls, paper: Paper, artefact: Artefact, effort: Effort, *, planned: bool = False) -> Task:
        """Return the task of an artefact; `planned` takes the planned runs of each case.

        A quick reproduction leaves the other setting out: it would take an eighth of the time.
        """
        plan = plan_of(paper, artefact, effort) if planned else {}
        settings = [paper.setting]
        other = None if effort.quick else paper.alternative
        if other is not None and paper.differs(artefact, paper.setting, other):
            settings.append(other)
        return cls(
            paper, artefact, [Assignment.of(artefact, effort.at(setting), plan) for setting in settings]
        )

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything that its record follows from."""
        return "+".join(fingerprint(assignment, self.paper.home) for assignment in self.assignments)

    def folder(self, output: Path) -> Path:
        """Return the directory of its result."""
        return output / self.paper.name / self.artefact.name

    def known(self, output: Path) -> ArtefactRecord | None:
        """Return the record of an earlier reproduction that was not published, if nothing has changed.

        Raises StorageError when its directory has files of somebody else.
        """
        folder = self.folder(output)
        storage.refuse_unless_free(folder, is_result=is_artefact)
        file = folder / "artefact.json"
        if not file.exists():
            return None
        problem = integrity.problem_of(folder)
        if problem is not None:
            progress.say(f"{folder}: {problem}; it is made again")
            return None
        record: ArtefactRecord = json.loads(file.read_text(encoding="utf-8"))
        same = record.get("fingerprint") == self.fingerprint and "published" not in record
        return record if same and not record["error"] else None

    def write(self, output: Path, judgements: Sequence[Judgement]) -> ArtefactRecord:
        """Write its files from the judgements of its assignments, and return its record."""
        record, judgement = self.record(judgements), judgements[0]
        with storage.new_directory(self.folder(output), force=True, is_result=is_artefact) as directory:
            (directory / "scenarios").mkdir()
            for key, jobs in self.assignments[0].jobs.items():
                file = directory / record["cases"][str(key)]["file"]
                file.write_text(jobs[0].scenario.toml(), encoding="utf-8")
            if not judgement.error:
                try:
                    _fill(directory, self.artefact, judgement)
                except Exception as error:
                    record["error"] = f"{type(error).__name__}: {error}"
            text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
            (directory / "artefact.json").write_text(text, encoding="utf-8")
        return record

    def record(self, judgements: Sequence[Judgement]) -> ArtefactRecord:
        """Return its record from the judgements of its assignments."""
        paper, artefact, here = self.paper, self.artefact, self.assignments[0]
        judgement, *elsewhere = judgements
        there = elsewhere[0] if elsewhere else None
        digests: dict[str, set[object]] = defaultdict(set)
        for run in judgement.runs:
            digests[str(run["case"])].add(run["digest"])
        return {
            "paper": paper.name,
            "name": artefact.name,
            "title": artefact.title,
            "version": engine.__version__,
            "engine": engine.ENGINE,
            "rules": engine.RULES,
            "fingerprint": self.fingerprint,
            "quick": here.effort.quick,
            "profile": today.profiles(*(jobs[0].scenario for jobs in here.jobs.values() if jobs)),
            "cases": {
                str(key): {
                    "file": f"scenarios/{slug(str(key))}.toml",
                    "runs": len(jobs),
                    "alike": len(jobs) > 1 and len(digests[str(key)]) == 1,
                }
                for key, jobs in here.jobs.items()
            },
            "claims": [
                with_ns2(
                    {
                        **of_claim(paper, artefact, claim, judged, judgement, there),
                        "controls": controls_of(here, judgement.numbers, claim),
                        "alternative": _at_other_setting(paper, artefact, claim, there),
                    },
                    paper,
                    artefact,
                    claim,
                )
                for claim, judged in judgement.claims
            ],
            "losses": _losses(judgement),
            "expected_wrong_claims": expected_wrong(
                judged.wrong_probability for _, judged in judgement.claims
            ),
            "error": judgement.error
            or (f"at the other setting: {there.error}" if there and there.error else ""),
        }

    def draw(self, output: Path) -> None:
        """Draw its pictures, unless they are there."""
        folder = self.folder(output)
        if (folder / f"{self.artefact.name}.png").exists():
            return
        drawing = page.figure(folder, page.stated_for(self.paper, self.artefact))
        if drawing is None:
            return
        # Matplotlib takes long to import, and only pictures need it.
        from ackclock.draw import printed

        storage.write_files(folder, printed.rendered(drawing, self.artefact.name))
        integrity.seal_directory(folder)


def plan_of(paper: Paper, artefact: Artefact, effort: Effort) -> Mapping[str, int]:
    """Return the planned runs of cases by label, from a pilot of the same effort."""
    planned = paper.planned_quick if effort.quick else paper.planned
    return planned.get(artefact.name, {})


def is_artefact(directory: Path) -> bool:
    """Return whether a directory has the result of an artefact and nothing else."""
    endings = {".parquet", ".png", ".pdf", ".json"}
    return (directory / "artefact.json").is_file() and all(
        file.suffix in endings or file.name == "scenarios" for file in directory.iterdir()
    )


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
    """Return the verdict on a claim, with its outcomes at the settings that were tried.

    `holds` and `undecided` are its state at the paper's setting, and `contradicted` means that its finding
    proves that it cannot hold.
    """
    key = artefact.name, claim.name
    items = paper.relevant_to(artefact, claim)
    why = depends_on(key, paper.trials, items)
    readings = [item.name for item in items if item.has_readings]
    searched = sum(not item.is_stated for item in items) < 2 or any(
        trial.stage == tried.SEARCHED and key in trial.outcomes for trial in paper.trials
    )
    return tried.judge(key, holds, paper.trials, why, contradicted, undecided, readings, searched=searched)


def of_claim(
    paper: Paper,
    artefact: Artefact,
    claim: Claim,
    judged: Judged,
    judgement: Judgement,
    there: Judgement | None = None,
) -> ClaimRecord:
    """Record a claim, its measured numbers, and its outcome at other settings.

    `there` is the judgement at the other setting of the paper, where it has one. A finding that does not
    hold there, or that explains a claim which holds at a setting that was tried, says so.
    """
    single_runs = judgement.single_runs.get(claim.name)
    apart = judgement.halves.get(claim.name)
    finding = claim.finding if claim.finding and claim.finding.name in judgement.findings else None
    contradicted = bool(finding and finding.contradiction)
    verdict = verdict_of(paper, artefact, claim, judged.holds, judged.undecided, contradicted)
    if judged.holds or judged.undecided:
        finding = None
    explanation = judgement.findings[finding.name] if finding else ""
    if finding and (verdict.kind == "depends" or (there and finding.name not in there.findings)):
        explanation = f"{AT_THIS_SETTING}{explanation}"
    return {
        "id": f"{paper.name}/{artefact.name}/{claim.name}",
        "claim": claim.sentence,
        "paper": claim.paper,
        "source": claim.source,
        "tolerance": claim.tolerance,
        "measured": judged.measured,
        "tolerances_missed": usual.tolerances_missed(claim.target, judged),
        "ns2": None,
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
        "finding": explanation,
        "finding_id": f"{paper.name}/{finding.name}" if finding else "",
        "former": _former(claim, judgement),
    }


def with_ns2(record: ClaimRecord, paper: Paper, artefact: Artefact, claim: Claim) -> ClaimRecord:
    """Return the record of a claim with the result of ns-2, compared with our record at each setting."""
    known = paper.ns2.get((artefact.name, claim.name))
    if known is None:
        return {**record, "ns2": None}
    ours: dict[str, str | None] = {"": record["measured"]}
    if there := paper.other(artefact):
        other = record.get("alternative")
        ours[ns2.words(there)] = other["measured"] if other else None
    return {**record, "ns2": known.record(claim.target, ours)}


def _losses(judgement: Judgement) -> list[LossesRecord]:
    """Record drops over packets for every case in which several kinds of flow share a link."""
    return [
        {
            "case": str(case),
            "kind": of_kind.kind,
            "drops_over_packets": of_kind.ratio.value,
            "low": None if math.isnan(of_kind.ratio.low) else of_kind.ratio.low,
            "high": None if math.isnan(of_kind.ratio.high) else of_kind.ratio.high,
            "runs": of_kind.ratio.samples,
            "fewest_drops": of_kind.fewest_drops,
        }
        for case, runs in judgement.numbers.losses.items()
        for of_kind in losses.over_runs(runs)
    ]


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
    """Write the measured numbers, and the figure that shows them."""
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
    """Return numbers with the same number of runs in each case, because a picture compares runs."""
    return replace(numbers, shared=min(map(len, numbers.rows.values()), default=None))


def flat(row: Row) -> dict[str, object]:
    """Return the numbers of a run by their names; an estimate has two more, the ends of its interval."""
    numbers: dict[str, object] = {}
    for key, value in row.items():
        if isinstance(value, Estimate):
            numbers |= {str(key): value.value, f"{key}_low": value.low, f"{key}_high": value.high}
        else:
            numbers[str(key)] = value
    return numbers
