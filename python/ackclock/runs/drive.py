"""The only loop that makes runs: it keeps a runner busy and stores the answers."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ackclock import engine
from ackclock.runs import estimate, places, progress, recorded
from ackclock.runs.alone import LOOK_S
from ackclock.runs.child import Limits
from ackclock.runs.jobs import Answer, Case, Job, failed
from ackclock.runs.live import OFF, Live
from ackclock.runs.places import JobProgress, Make, Runner
from ackclock.runs.store import Store

Measured = TypeVar("Measured")
LARGEST_CHUNK = 200
AHEAD = 2
"""Number of chunks per thread that wait or run."""
DIED = "its process was killed twice, the second time running only this job (out of memory?)"


def drive(
    source: Callable[[int], Sequence[Job]],
    runner: Runner,
    make: Make = lambda job, run: run(job),
    tell: JobProgress = lambda *_: None,
    look: Callable[[], None] = lambda: None,
) -> Iterator[tuple[Job, Answer]]:
    """Make runs while `source` has jobs, and yield each job with its answer when it is done.

    `source` is called with the largest number of jobs wanted and returns none when there are no more
    until further answers arrive. `make` is called where a run is made, with the job and the function
    that makes its run; `tell` with a job, its simulated seconds and its packets so far; `look` every
    `LOOK_S`, even if nothing is done.

    A run whose process was killed from outside, such as by a system that is out of memory, is repeated
    while nothing else runs, so that the next death is its own fault.
    """
    waiting: dict[Future[list[Answer]], Sequence[Job]] = {}
    suspects: deque[Job] = deque()
    alone: Future[list[Answer]] | None = None
    run_s = places.CHUNK_S

    def submit(jobs: Sequence[Job]) -> Future[list[Answer]]:
        future = runner.submit(jobs, make, tell)
        waiting[future] = jobs
        return future

    begin_s: dict[Future[list[Answer]], float] = {}
    # Jobs that a chunk has returned because it took longer than estimated.
    left: deque[Job] = deque()

    def next_jobs(count: int) -> Sequence[Job]:
        return [left.popleft() for _ in range(min(count, len(left)))] or source(count)

    while True:
        if suspects and not waiting:
            alone = submit([suspects.popleft()])
        while not suspects and alone is None and len(waiting) < AHEAD * runner.count:
            jobs = next_jobs(max(1, min(LARGEST_CHUNK, round(places.CHUNK_S / run_s))))
            if not jobs:
                break
            begin_s[submit(jobs)] = time.monotonic()
        if not waiting:
            return
        finished, _ = wait(waiting, LOOK_S, return_when=FIRST_COMPLETED)
        look()
        for future in finished:
            jobs = waiting.pop(future)
            try:
                answers = runner.answers(future, jobs, make)
            except runner.lost:
                answers = [Answer(died=True)] * len(jobs)
            if future in begin_s:
                # A thread has at most `AHEAD` chunks, which wait for each other.
                run_s = max(1e-4, (time.monotonic() - begin_s.pop(future)) / (AHEAD * len(answers)))
            left += jobs[len(answers) :]
            for job, answer in zip(jobs, answers, strict=False):
                if answer.died and future is not alone:
                    suspects.append(job)
                else:
                    yield job, replace(answer, error=DIED, passing=True) if answer.died else answer
            if future is alone:
                alone = None


def make(jobs: Iterable[Job], store: Store, runner: Runner, bar: progress.Count) -> None:
    """Make the answers of measured jobs that the store does not have, and store them."""
    wanted = {job.key: job for job in jobs}
    queue = deque(job for key, job in wanted.items() if store.get(key) is None)
    kept = wanted.keys() - {job.key for job in queue}
    bar.advance(left_out=len(kept), packets=sum(wanted[key].expected_packets for key in kept))

    def source(count: int) -> list[Job]:
        return [queue.popleft() for _ in range(min(count, len(queue)))]

    for job, answer in drive(source, runner, look=store.settle):
        store.add(job.key, answer)
        bar.advance(1, failed=int(bool(answer.error)), packets=job.expected_packets)
    store.commit()


def each(
    jobs: Sequence[Job],
    work: Callable[[Job, engine.Run], None],
    *,
    at_once: int | None = None,
    cluster: str | None = None,
    limits: Limits | None = None,
    apart: bool | None = None,
    store: Store | None = None,
    fewest_packets: int = 0,
    live: Live = OFF,
    shown: bool = True,
) -> Generator[tuple[Job, Answer], None, None]:
    """Make runs, and work on each where it was made; a failing run does not stop the others.

    Parameters
    ----------
    jobs : sequence of Job
        Jobs to run, without a measure; equal jobs run once.
    work : callable
        Called with each run, in a thread of this process; the run is released afterwards. An
        exception that it raises is the failure of its job.
    at_once, cluster, limits, apart
        Arguments as for `places.opened`.
    store : Store, optional
        Store of the runs, in directories next to its database.
    fewest_packets : int
        Fewest packets of a run that is kept, unless a control in Python makes it slow.
    live : Live
        A page that shows the progress.
    shown : bool
        Whether a bar is shown on a terminal.

    Yields
    ------
    Job, Answer
        In the order of the jobs; the answer says what went wrong with the run or the work, and
        has no value.

    Raises
    ------
    ScenarioError
        If a cluster cannot be used.
    StorageError
        If a run cannot be stored: later ones could not be stored either.
    """
    wanted = list(dict.fromkeys(jobs))
    names = sorted({name for job in wanted for name in job.scenario.controls})
    seals = {} if store is None else {job: recorded.seal_of(store, job) for job in wanted}

    damaged = set[Job]()

    def is_kept(job: Job) -> bool:
        return job not in damaged and _is_kept(store, job)

    live.expect(len(wanted), "runs")
    index = {job: number for number, job in enumerate(wanted)}
    stop_if_dry(wanted, store, at_once)
    missing = {job for job in wanted if not is_kept(job)}
    left_s = sum(job.scenario.duration_s for job in missing)
    packets = sum(job.expected_packets for job in missing)
    per_s = {index[job]: job.expected_packets / job.scenario.duration_s for job in missing}
    queue = deque(wanted)
    done: dict[int, Answer] = {}

    def answer_of(job: Job, run: Callable[[Job], Answer]) -> Answer:
        seal = seals.get(job)
        kept = None if store is None or not is_kept(job) else _kept(store.directory, job, seal)
        answer = Answer(kept) if kept is not None else run(job)
        if answer.error or answer.died:
            return answer
        try:
            work(job, answer.value)
        except Exception as error:
            return failed(error)
        if (
            store is not None
            and kept is None
            and recorded.is_worth_keeping(job, answer.value, fewest_packets)
        ):
            return recorded.sealed(recorded.keep(store.directory, job, answer.value), answer.value)
        if store is not None and kept is not None and seal is None:
            # The run is complete, but a kill came before its row was written.
            return recorded.sealed(recorded.seal(store.directory, job), answer.value)
        return Answer()

    with (
        progress.Bar(left_s, live=live, shown=shown, packets_per_s=per_s, expected_packets=packets) as bar,
        places.opened(names, jobs=at_once, cluster=cluster, limits=limits, apart=apart) as runner,
    ):

        def source(_: int) -> list[Job]:
            while queue:
                job = queue.popleft()
                if not (runner.is_remote and is_kept(job)):
                    return [job]
                # A run that is stored here need not be transferred.
                answer = answer_of(job, lambda _: Answer(died=True))
                if answer.died:
                    damaged.add(job)
                    return [job]
                take(job, answer)
            return []

        def take(job: Job, answer: Answer) -> None:
            if store is not None and answer.value is not None:
                store.add(job.key, answer)
            live.advance(1, failed=int(bool(answer.error)))
            done[index[job]] = replace(answer, value=None)

        def tell(job: Job, simulated_s: float, packets: int) -> None:
            bar.update(index[job], simulated_s, packets)

        number = 0
        settle = (lambda: None) if store is None else store.settle
        for job, answer in drive(source, runner, answer_of, tell, settle):
            take(job, answer)
            if job in missing:
                # Of a run that is made on another machine only its end is known.
                bar.finish(index[job], job.scenario.duration_s)
            while number in done:
                yield wanted[number], done.pop(number)
                number += 1
        for last in range(number, len(wanted)):
            yield wanted[last], done.pop(last)
        if store is not None:
            store.commit()


def stop_if_dry(jobs: Sequence[Job], store: Store | None = None, at_once: int | None = None) -> None:
    """In a dry run, raise DryRunError with the cost of jobs; the store may already have some of them."""
    if estimate.is_dry():
        missing = [job for job in jobs if not _is_kept(store, job)]
        raise estimate.DryRunError(estimate.cost(missing, len(jobs) - len(missing), at_once))


def _is_kept(store: Store | None, job: Job) -> bool:
    return store is not None and recorded.directory_of(store.directory, job).exists()


def _kept(cache: Path, job: Job, seal: str | None) -> engine.Run | None:
    """Read a stored run; None when it was changed or damaged, which is reported."""
    problem = recorded.problem_of(cache, job, seal)
    if problem is not None:
        progress.say(f"{problem}; the run is repeated")
        return None
    return recorded.read(cache, job)


def measure_all(
    cases: Sequence[Case],
    measure: Callable[[engine.Run], Measured],
    at_once: int | None = None,
    cluster: str | None = None,
) -> list[list[Measured]]:
    """Run cases on all cores and measure every run.

    Parameters
    ----------
    cases : sequence of Case
        Cases to run.
    measure : callable
        Called with each run, in a thread of this process; the run itself is released
        afterwards.
    at_once : int, optional
        Number of simultaneous runs; by default one per core.
    cluster : str, optional
        Address of a Dask scheduler, whose workers make the runs.

    Returns
    -------
    list of list
        What `measure` returned for the runs of each case.

    Raises
    ------
    ScenarioError, SimulationError
        For the same reasons as `engine.simulate`; exceptions of `measure` are raised, too.
    """
    jobs = [case.jobs() for case in cases]
    measured: dict[Job, Measured] = {}

    def work(job: Job, run: engine.Run) -> None:
        measured[job] = measure(run)

    every = [job for of_case in jobs for job in of_case]
    with closing(each(every, work, at_once=at_once, cluster=cluster)) as answers:
        for _, answer in answers:
            if answer.error:
                raise answer.failure()
    return [[measured[job] for job in of_case] for of_case in jobs]


def run_all(cases: Sequence[Case], at_once: int | None = None) -> list[list[engine.Run]]:
    """Run cases on all cores and keep every run.

    Parameters
    ----------
    cases : sequence of Case
        Cases to run.
    at_once : int, optional
        Number of simultaneous runs; by default one per core.

    Returns
    -------
    list of list of Run
        The runs of each case.

    Raises
    ------
    ScenarioError, SimulationError
        For the same reasons as `engine.simulate`.
    """
    return measure_all(cases, lambda run: run, at_once)
