"""Artefacts of papers, made again: simulate, measure, draw, judge, write."""

from __future__ import annotations

import difflib
import functools
import hashlib
import json
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ackclock import api, plots, report, storage, sweep
from ackclock.metrics import Estimate
from ackclock.papers import PAPERS
from ackclock.papers.artefact import Artefact, Effort, Numbers, Paper, Row, Traces, Verdict

Selected = list[tuple[Paper, Artefact]]
CACHE = ".cache"
"""Where finished runs are kept, in the output directory."""


def select(targets: Sequence[str], *, headlines: bool = False) -> Selected:
    """Find the artefacts that are meant.

    Parameters
    ----------
    targets : sequence of str
        As in ``illinois`` or ``illinois/figure-8``; none is all.
    headlines : bool
        Only the headline artefacts of a whole paper.

    Returns
    -------
    list of (Paper, Artefact)
        Each once.

    Raises
    ------
    LookupError
        When there is no such paper or artefact; the message suggests one.
    """
    every = {
        f"{paper.name}/{one.name}": (paper, one)
        for paper in PAPERS.values()
        for one in paper.artefacts
    }
    chosen: dict[str, tuple[Paper, Artefact]] = {}
    for target in targets or PAPERS:
        wanted = target.strip("/")
        found = {key: one for key, one in every.items() if wanted in (key, key.split("/")[0])}
        if not found:
            words = [*PAPERS, *every]
            close = difflib.get_close_matches(target, words, 1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(PAPERS)}"
            raise LookupError(f"there is no {target}: {hint}")
        if headlines and wanted not in every:
            found = {key: one for key, one in found.items() if one[1].headline}
        chosen |= found
    return list(chosen.values())


@dataclass
class Work:
    """What has been measured for one artefact so far.

    Attributes
    ----------
    paper, artefact : Paper, Artefact
        Whose it is.
    cases : mapping
        Its scenarios.
    rows : dict
        By case and run.
    traces : dict
        By case.
    waiting : set
        Tasks that are not done.
    error : str
        What went wrong; empty when nothing did.
    """

    paper: Paper
    artefact: Artefact
    cases: Mapping[str, sweep.Case]
    rows: dict[str, dict[int, Row]] = field(default_factory=lambda: defaultdict(dict))
    traces: dict[str, pl.DataFrame] = field(default_factory=dict)
    waiting: set[sweep.Task] = field(default_factory=set)
    error: str = ""

    @property
    def place(self) -> str:
        """Its directory in the output."""
        return f"{self.paper.name}/{self.artefact.name}"

    def take(self, name: str, task: sweep.Task, run: api.Run) -> None:
        """Measure a run of one of its cases.

        Parameters
        ----------
        name : str
            The case.
        task : Task
            Which run of it.
        run : Run
            The finished run.
        """
        if self.artefact.measure is not None:
            self.rows[name][task.run] = self.artefact.measure(name, run)
        if task.run == 0 and self.artefact.trace is not None:
            shown = self.artefact.trace(name, run)
            if shown is not None:
                self.traces[name] = shown

    def finish(self, effort: Effort) -> tuple[Numbers, Traces]:
        """Give all numbers, in the order of cases and runs.

        Parameters
        ----------
        effort : Effort
            For what needs no run.

        Returns
        -------
        Numbers, Traces
            Of all cases.
        """
        if self.artefact.compute is not None:
            rows, traces = self.artefact.compute(effort)
            return Numbers(rows), traces
        ordered = {
            name: [self.rows[name][run] for run in sorted(self.rows[name])] for name in self.cases
        }
        shown = {name: self.traces[name] for name in self.cases if name in self.traces}
        return Numbers(ordered), shown


def reproduce(
    chosen: Selected,
    output: Path,
    effort: Effort,
    jobs: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Make artefacts again: pictures, data and verdicts, and the page that shows them all.

    Parameters
    ----------
    chosen : list of (Paper, Artefact)
        As `select` gives them.
    output : Path
        Directory of the page; artefacts that it has already stay on it.
    effort : Effort
        How much is run.
    jobs : int, optional
        Runs at once; by default one per core.
    tell : callable
        Called with a line about each finished artefact.

    Returns
    -------
    list of dict
        The records: paper, name, verdict and claims of each; of one that failed its error.

    Raises
    ------
    StorageError
        When something cannot be written.
    """
    works = [Work(paper, one, one.cases(effort)) for paper, one in chosen]
    users: dict[sweep.Task, list[tuple[Work, str]]] = defaultdict(list)
    for work in works:
        storage.refuse_unless_free(output / work.place, force=True, is_result=_is_artefact)
        for name, case in work.cases.items():
            for task in sweep.Task.all_of(case):
                users[task].append((work, name))
                work.waiting.add(task)
    lock = threading.Lock()
    records: dict[str, dict[str, Any]] = {}
    for work in works:
        known = _unchanged(output / work.place, work, effort)
        if known is not None:
            records[work.place] = known
            work.waiting.clear()
    users = {
        task: still
        for task, some in users.items()
        if (still := [(work, name) for work, name in some if work.place not in records])
    }

    def measure(task: sweep.Task, run: api.Run) -> None:
        for work, name in users[task]:
            try:
                work.take(name, task, run)
            except Exception as error:
                with lock:
                    work.error = work.error or f"{name}: {type(error).__name__}: {error}"

    def finish(work: Work) -> None:
        record = _write(output, work, effort)
        records[work.place] = record
        tell(f"{work.place}: {record['verdict']}")

    for work in works:
        if not work.waiting and work.place not in records:
            finish(work)
    for task, error in sweep.each(list(users), measure, jobs, output / CACHE):
        for work, name in users[task]:
            if error is not None and not work.error:
                work.error = f"{name}: {error}"
            work.waiting.discard(task)
            if not work.waiting and work.place not in records:
                finish(work)
    report.write(output, PAPERS.values())
    return [records[work.place] for work in works]


@functools.cache
def _sources() -> str:
    """Give a digest of all Python code of the package: what measures, judges and draws."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _fingerprint(work: Work, effort: Effort) -> str:
    """Give a digest of everything that an artefact's record follows from."""
    tasks = [
        [name, task.scenario, task.run, task.record]
        for name, case in work.cases.items()
        for task in sweep.Task.all_of(case)
    ]
    words = json.dumps([sweep.engine(), _sources(), asdict(effort), tasks])
    return hashlib.sha256(words.encode()).hexdigest()[:32]


def _unchanged(place: Path, work: Work, effort: Effort) -> dict[str, Any] | None:
    """Give the record of an earlier reproduction if nothing has changed since, or None."""
    file = place / "artefact.json"
    if not file.exists():
        return None
    record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    same = record.get("fingerprint") == _fingerprint(work, effort)
    return record if same and record["verdict"] != "failed" else None


def verdict_of(claims: Sequence[Mapping[str, Any]]) -> Verdict:
    """Give the verdict of an artefact from those of its claims.

    Parameters
    ----------
    claims : sequence of mapping
        With the key ``holds``.

    Returns
    -------
    str
        *reproduced* when every claim holds, *differs* when one does not, *not stated* without any.
    """
    if not claims:
        return "not stated"
    return "reproduced" if all(claim["holds"] for claim in claims) else "differs"


def _is_artefact(directory: Path) -> bool:
    endings = {".parquet", ".png", ".pdf", ".json"}
    return (directory / "artefact.json").is_file() and all(
        one.suffix in endings or one.name == "scenarios" for one in directory.iterdir()
    )


def _write(output: Path, work: Work, effort: Effort) -> dict[str, Any]:
    artefact = work.artefact
    record: dict[str, Any] = {
        "paper": work.paper.name,
        "name": artefact.name,
        "title": artefact.title,
        "version": api.__version__,
        "engine": sweep.engine(),
        "fingerprint": _fingerprint(work, effort),
        "quick": effort.quick,
        "cases": {
            name: {"file": f"scenarios/{_slug(name)}.toml", "runs": case.runs}
            for name, case in work.cases.items()
        },
        "claims": [],
        "verdict": "failed",
        "error": work.error,
    }
    with storage.new_directory(
        output / work.place, force=True, is_result=_is_artefact
    ) as directory:
        (directory / "scenarios").mkdir()
        for name, case in work.cases.items():
            _write_scenario(directory / record["cases"][name]["file"], case)
        if not work.error:
            try:
                _fill(directory, record, work, effort)
            except Exception as error:
                record["error"] = f"{type(error).__name__}: {error}"
        text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
        (directory / "artefact.json").write_text(text, encoding="utf-8")
    return record


def _write_scenario(file: Path, case: sweep.Case) -> None:
    try:
        file.write_text(api.check(case.scenario), encoding="utf-8")
    except api.ScenarioError as error:
        file.write_text(f"# refused: {error}\n", encoding="utf-8")


def _fill(directory: Path, record: dict[str, Any], work: Work, effort: Effort) -> None:
    """Judge, draw and write what was measured."""
    artefact = work.artefact
    numbers, traces = work.finish(effort)
    for claim in artefact.claims:
        judged = claim.judge(numbers)
        record["claims"].append(
            {
                "claim": claim.sentence,
                "paper": claim.paper,
                "tolerance": claim.tolerance,
                "measured": judged.measured,
                "holds": judged.holds,
                "reason": "" if judged.holds else claim.reason or "No reason has been found yet.",
            }
        )
    rows = [
        {"case": name, "run": run} | _flat(row)
        for name, of_case in numbers.rows.items()
        for run, row in enumerate(of_case)
    ]
    if rows:
        storage.write_table(pl.DataFrame(rows, infer_schema_length=None), directory, "numbers")
    if traces:
        frames = [
            frame.select(pl.lit(name).alias("case"), pl.all()) for name, frame in traces.items()
        ]
        storage.write_table(pl.concat(frames, how="diagonal_relaxed"), directory, "traces")
    with plots.in_style():
        plots.save(artefact.draw(numbers, traces), directory, artefact.name)
    record["verdict"] = verdict_of(record["claims"])


def _flat(row: Row) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Estimate) and is_dataclass(value):
            parts = asdict(value)
            flat |= {key: parts["value"], f"{key}_low": parts["low"], f"{key}_high": parts["high"]}
        else:
            flat[key] = value
    return flat


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")
