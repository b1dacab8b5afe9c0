"""Artefacts of papers, made again: judged and written, and the page that shows them all."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path

from ackclock.engine import storage
from ackclock.names import hint
from ackclock.reproduction.claims.artefact import Artefact
from ackclock.reproduction.claims.judge import Judgement, judge
from ackclock.reproduction.claims.numbers import Effort
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.record import ArtefactRecord
from ackclock.reproduction.shown import outcome, page
from ackclock.reproduction.targets import suggestion
from ackclock.reproduction.task import Task
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
    """Return the artefacts with a claim that an earlier reproduction in `output` left undecided."""

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
    tasks = [Task.of(paper, artefact, effort, planned=planned) for paper, artefact in chosen]
    records: dict[Task, ArtefactRecord] = {}
    for task in tasks:
        known = task.known(output)
        if known is not None:
            records[task] = known
    live.shows(lambda: page.so_far(output, chosen, list(records.values())))
    with Store(output / CACHE).opened() as store:
        for task, judgements in _judged(
            [task for task in tasks if task not in records], store, jobs, address, live
        ):
            records[task] = task.write(output, judgements)
            for line in outcome.lines(task.paper, records[task], list(records.values())):
                tell(line)
    if pictures:
        for task in tasks:
            task.draw(output)
    shown = papers if papers is not None else {paper.name: paper for paper, _ in chosen}.values()
    page.write(output, shown)
    return [records[task] for task in tasks]


def _judged(
    tasks: Sequence[Task], store: Store, jobs: int | None, address: str | None, live: Live
) -> Iterator[tuple[Task, list[Judgement]]]:
    """Judge tasks; yield each with the judgements of all of its assignments as soon as the last is there."""
    owners = [(task, place) for task in tasks for place in range(len(task.assignments))]
    assignments = [task.assignments[place] for task, place in owners]
    finished: dict[Task, dict[int, Judgement]] = defaultdict(dict)
    for number, judgement in judge(assignments, store, jobs, address, live):
        task, place = owners[number]
        finished[task][place] = judgement
        if len(finished[task]) == len(task.assignments):
            yield task, [judgement for _, judgement in sorted(finished.pop(task).items(), key=itemgetter(0))]
