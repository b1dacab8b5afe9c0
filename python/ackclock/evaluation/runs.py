"""The runs of an evaluation: each made once, measured where it was made, and kept as numbers.

Numbers are kept in a file that all evaluations of a directory share, so a second control finds the
baselines, and an interrupted evaluation goes on. A record has a checksum; one that is not as it was
written is made again.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import pickle
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.engine import controls, integrity, storage
from ackclock.evaluation import timelines
from ackclock.evaluation.cell import Curves, Measure, Numbers
from ackclock.runs import cluster as clusters
from ackclock.runs import parallel, progress
from ackclock.runs.cluster import Workers
from ackclock.sweep import rows, workers

Flows = dict[str, Any]
KEPT = "evaluation.jsonl"
AHEAD = 4
"""Jobs that wait at each worker."""
DIED = "its process died"
LIMIT_S = 600.0
"""How long a run of a control that is not built in may take, unless told otherwise."""


@dataclass(frozen=True)
class Job:
    """One run, and what is wanted of it.

    Attributes
    ----------
    scenario : Scenario
        What is run.
    run : int
        Number of the run.
    measure : callable
        What is wanted.
    records : bool
        Whether that needs tables over time.
    drawn : bool
        Whether curves are wanted, too.
    by_flow : bool
        Whether the summary of every flow is wanted, too.
    """

    scenario: engine.Scenario
    run: int
    measure: Measure
    records: bool
    drawn: bool
    by_flow: bool = False

    @functools.cached_property
    def key(self) -> str:
        """Name of the answer: 32 hexadecimal digits of everything that it follows from."""
        own = controls.fingerprint(self.scenario.controls)
        # Functions and partial functions are pickled by name and arguments.
        asked = hashlib.sha256(pickle.dumps(self.measure, 4)).hexdigest()
        wanted = [asked, self.drawn, self.by_flow]
        words = [engine.ENGINE, sources(), self.scenario.digest, self.run, wanted, own]
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:32]


@functools.cache
def sources() -> str:
    """Give a digest of the code that makes numbers of runs."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    modules = [here / "measures.py", here / "timelines.py", here / "search" / "objectives.py"]
    for file in sorted([*modules, *here.glob("criteria/*.py"), *here.glob("suites/*.py")]):
        digest.update(file.read_bytes())
    for file in sorted((here.parent / "metrics").glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Answer:
    """What came of a job.

    Attributes
    ----------
    numbers : dict
        As its `measure` gave them; empty when it failed.
    curves : dict
        Over time, if they were wanted.
    flows : dict
        By column of a sweep a value per flow, or the one of all; without those that do not apply.
    packets : int
        Packets simulated.
    error : str
        What went wrong; empty when nothing did.
    """

    numbers: Numbers = field(default_factory=dict)
    curves: Curves = field(default_factory=dict)
    flows: Flows = field(default_factory=dict)
    packets: int = 0
    error: str = ""


def work(job: Job, limit_s: float | None = None) -> Answer:
    """Make one run and measure it.

    Parameters
    ----------
    job : Job
        What to run.
    limit_s : float, optional
        A run that takes longer fails; in a process of its own only.

    Returns
    -------
    Answer
        Numbers, or what went wrong: a control may raise anything.
    """
    try:
        with workers.limited(limit_s):
            run = engine.simulate(
                job.scenario, run=job.run, record=job.records or job.drawn, progress=workers.check
            )
        curves = timelines.curves(run) if job.drawn else {}
        numbers = {name: float(value) for name, value in job.measure(run).items()}
        flows = _columns(rows.of_summary(run.summary)) if job.by_flow else {}
        return Answer(numbers, curves, flows, run.summary["packets_simulated"])
    except parallel.StoppedError:
        raise
    except (Exception, KeyboardInterrupt) as error:
        return Answer(error=" ".join(f"{type(error).__name__}: {error}".split()))


def _columns(table: Sequence[rows.Row]) -> Flows:
    """Turn rows into columns, of which a thousand flows do not repeat what they have in common."""
    found: Flows = {}
    for name in table[0] if table else ():
        values = [row[name] for row in table]
        if all(value == values[0] for value in values):
            if values[0] is not None:
                found[name] = values[0]
        else:
            found[name] = values
    return found | {"flow": [row["flow"] for row in table]}


class Kept:
    """The answers that are kept in a directory.

    Parameters
    ----------
    directory : Path
        Where; the file is made when it is missing.
    """

    def __init__(self, directory: Path) -> None:
        self._file = directory / KEPT
        self._found: dict[str, Answer] = {}
        self._appended: storage.Appended | None = None

    @contextmanager
    def opened(self) -> Iterator[Kept]:
        """Read what is there and let answers be added, while no other process does.

        Yields
        ------
        Kept
            Itself.

        Raises
        ------
        StorageError
            When another process is at work there, or the file cannot be written.
        """
        with storage.explained(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.with_suffix(".lock").open("w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise storage.StorageError(
                        f"another evaluation is at work in {self._file.parent}; wait for it, or "
                        "choose another place with -o"
                    ) from None
                self._read()
                self._appended = storage.Appended(self._file)
                try:
                    yield self
                    self._appended.sync()
                finally:
                    self._appended.close()

    def _read(self) -> None:
        content = self._file.read_bytes() if self._file.exists() else b""
        whole = []
        for line in integrity.lines(content):
            if line.record is None:
                progress.say(f"{self._file}:{line.number}: {integrity.CHANGED}; its run is made again")
                continue
            record = dict(line.record)
            key = record.pop("key")
            self._found[key] = Answer(**record)
            whole.append(line.content + b"\n")
        kept = b"".join(whole)
        if kept != content:
            with storage.new_file(self._file) as file:
                storage.write(file, kept)

    def get(self, key: str) -> Answer | None:
        """Give an answer.

        Parameters
        ----------
        key : str
            `Job.key`.

        Returns
        -------
        Answer or None
            None when there is none yet.
        """
        return self._found.get(key)

    def add(self, key: str, answer: Answer) -> None:
        """Keep an answer; one that failed until the program ends.

        Parameters
        ----------
        key : str
            `Job.key`.
        answer : Answer
            What came of it.
        """
        self._found[key] = answer
        if not answer.error and self._appended is not None:
            record = {
                "key": key,
                "numbers": answer.numbers,
                "curves": answer.curves,
                "flows": answer.flows,
                "packets": answer.packets,
            }
            self._appended.add(integrity.seal(record))


@contextmanager
def places(
    names: Sequence[str], jobs: int | None, cluster: str | None, limit_s: float | None
) -> Iterator[tuple[Workers, float | None]]:
    """Give the workers of an evaluation.

    Parameters
    ----------
    names : sequence of str
        Controls that take part.
    jobs : int, optional
        Runs at once on this machine; by default one per core.
    cluster : str, optional
        Address of a Dask scheduler.
    limit_s : float, optional
        How long a run may take; by default `LIMIT_S` when a control is not built in, which then has
        a process of its own. A cluster has no limit.

    Yields
    ------
    Workers, float or None
        Until the block ends, and the limit.

    Raises
    ------
    ScenarioError
        When a cluster cannot be reached, or is to have a limit.
    """
    own = any(":" in name for name in names)
    if cluster is not None and limit_s is not None:
        raise engine.ScenarioError("a limit needs processes of this machine: leave out --cluster")
    with ExitStack() as stack:
        if cluster is not None:
            yield stack.enter_context(clusters.cluster(cluster, names)), None
        else:
            apart = own or limit_s is not None
            local = workers.local(jobs, processes=apart)
            yield stack.enter_context(local), (limit_s or LIMIT_S) if apart else None


def make(jobs: Iterable[Job], kept: Kept, place: Workers, limit_s: float | None, bar: progress.Count) -> None:
    """Make runs that are not kept yet, and keep them.

    Parameters
    ----------
    jobs : iterable of Job
        What is wanted.
    kept : Kept
        Where answers are.
    place : Workers
        Who makes them.
    limit_s : float, optional
        As for `work`.
    bar : Count
        Is told of every run.
    """
    wanted = {job.key: job for job in jobs}
    queue = deque(job for key, job in wanted.items() if kept.get(key) is None)
    bar.advance(left_out=len(wanted) - len(queue))
    # When a worker dies, its jobs run again one at a time, so that it is known which one does that.
    suspects: deque[Job] = deque()
    alone: Future[Answer] | None = None
    waiting: dict[Future[Answer], Job] = {}

    def submit(job: Job) -> Future[Answer]:
        answer = place.executor.submit(work, job, limit_s)
        waiting[answer] = job
        return answer

    while queue or suspects or waiting:
        if suspects and not waiting:
            alone = submit(suspects.popleft())
        while queue and not suspects and alone is None and len(waiting) < AHEAD * place.count:
            submit(queue.popleft())
        finished, _ = wait(waiting, parallel.LOOK_S, return_when=FIRST_COMPLETED)
        for future in finished:
            job = waiting.pop(future)
            try:
                answer = future.result()
            except place.lost:
                if future is not alone:
                    suspects.append(job)
                    continue
                late = f", or it took longer than {limit_s:g} s" if limit_s else ""
                answer = Answer(error=DIED + late)
            if future is alone:
                alone = None
            kept.add(job.key, answer)
            bar.advance(1, failed=int(bool(answer.error)))


def as_json(value: Any) -> Any:
    """Give a value as JSON has it: null for what is not finite.

    Parameters
    ----------
    value : object
        Dictionaries, lists, numbers, texts.

    Returns
    -------
    object
        The same.
    """
    if isinstance(value, dict):
        return {key: as_json(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if isinstance(value, float) and not (-1e308 < value < 1e308):
        return None
    return value
