"""Runs a sweep: keeps the workers busy, and repeats points until they are done."""

from __future__ import annotations

import contextlib
import math
import os
import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path

from ackclock import engine
from ackclock.runs import cluster as clusters
from ackclock.runs import parallel, progress
from ackclock.runs.cluster import Workers
from ackclock.runs.live import OFF, Live, Shown
from ackclock.sweep import workers
from ackclock.sweep.plan import Plan, Point, read
from ackclock.sweep.store import Store
from ackclock.sweep.workers import Done, Job

CHUNK_S = 1.0
"""Runs that take less are sent several at once, so that sending costs little."""
CHUNKS_LEFT = 4
"""But never more than would leave as many chunks per worker, so that all end at about one time."""
LARGEST_CHUNK = 200
AHEAD = 2
"""Chunks per worker that wait or run."""

DIED = "its worker died twice, once with nothing else at work (out of memory, or a control crashed)"

Answer = Future[tuple[list[Done], float]]


@dataclass(frozen=True)
class Outcome:
    """What a sweep has come to.

    Attributes
    ----------
    directory : Path
        The experiment's part of the dataset.
    made : int
        Runs that were made now.
    runs : int
        All runs that are there.
    failed : int
        Those of them with an error.
    at_most : int
        Points that were run as often as is allowed, and may still have a wider interval than asked
        for; 0 when the number of runs is fixed.
    """

    directory: Path
    made: int
    runs: int
    failed: int
    at_most: int


@dataclass
class _Repeated:
    """A point at work."""

    point: Point
    part: int
    done: dict[int, Done] = field(default_factory=dict)
    asked: int = 0


class _Sweep:
    """The state of a sweep: what is asked for, at work and done."""

    def __init__(self, plan: Plan, store: Store, bar: progress.Count, left: int, workers: int) -> None:
        self.plan, self.store, self.bar = plan, store, bar
        self._left, self._workers = left, workers
        self.made = 0
        self._unfinished: dict[int, int] = {}
        self._points: dict[int, _Repeated] = {}
        self._whole: dict[int, list[Done]] = {}
        self._asked: deque[Job] = deque()
        self._parts = store.parts()
        self._run_s = 0.0
        self._lock = threading.Lock()

    def next_jobs(self) -> list[Job]:
        """Give as many jobs as are sent at once: repetitions first, then of the next part."""
        count = 1
        if self._run_s:
            share = self._left // (CHUNKS_LEFT * self._workers)
            count = max(1, min(LARGEST_CHUNK, share, round(CHUNK_S / self._run_s)))
        while len(self._asked) < count:
            part = next(self._parts, None)
            if part is None:
                break
            with self._lock:
                self._open(*part)
        return [self._asked.popleft() for _ in range(min(count, len(self._asked)))]

    def _open(self, part: int, points: tuple[Point, ...]) -> None:
        self._unfinished[part] = len(points)
        self._whole[part] = []
        for point in points:
            self._points[point.index] = _Repeated(point, part)
        for done in self.store.finished(part):
            self._points[done.point].done[done.run] = done
            self.bar.advance(1, failed=int(done.error is not None))
            self._left -= 1
        for point in points:
            self._settle(self._points[point.index])

    def _settle(self, at_work: _Repeated) -> None:
        """Ask for more runs of a point, or finish it when it has all that it needs."""
        wanted = self._wanted(at_work)
        for run in range(at_work.asked, wanted):
            if run not in at_work.done:
                self._asked.append(Job(at_work.point.index, run, at_work.point.settings))
        at_work.asked = max(at_work.asked, wanted)
        if _has_all(at_work, at_work.asked):
            self._finish(at_work)

    def _wanted(self, at_work: _Repeated) -> int:
        """Give how many runs a point needs as far as its first ones tell, however made."""
        replication = self.plan.replication
        wanted = replication.least
        while wanted < replication.most and _has_all(at_work, wanted):
            if self._is_narrow(at_work, wanted):
                break
            wanted = min(wanted + replication.least, replication.most)
        return wanted

    def _is_narrow(self, at_work: _Repeated, runs: int) -> bool:
        # Workers import this module, too, and do not need it.
        from ackclock.metrics import over_runs

        replication = self.plan.replication
        means = []
        for run in range(runs):
            values = [row[replication.metric] for row in at_work.done[run].rows]
            known = [value for value in values if value is not None]
            if known:
                means.append(sum(known) / len(known))
        if len(means) < 2:
            # All runs failed, and more would fail as well.
            return True
        estimate = over_runs(means)
        # Without an interval nothing is random, and the next run is like the last.
        width = estimate.high - estimate.low
        return math.isnan(width) or width <= 2 * replication.within * abs(estimate.value)

    def _finish(self, at_work: _Repeated) -> None:
        part = at_work.part
        left_out = self.plan.replication.most - len(at_work.done)
        self.bar.advance(left_out=left_out)
        self._left -= left_out
        self._whole[part] += at_work.done.values()
        del self._points[at_work.point.index]
        self._unfinished[part] -= 1
        if not self._unfinished[part]:
            del self._unfinished[part]
            self.store.close(part, self._whole.pop(part))

    def take(self, answer: tuple[list[Done], float]) -> None:
        """Keep what a worker has made."""
        done, took_s = answer
        self._run_s = took_s / len(done)
        self.made += len(done)
        self._left -= len(done)
        with self._lock:
            self._keep(done)

    def _keep(self, done: list[Done]) -> None:
        self.bar.advance(len(done), failed=sum(one.error is not None for one in done))
        by_part: dict[int, list[Done]] = {}
        for one in done:
            at_work = self._points[one.point]
            at_work.done[one.run] = one
            by_part.setdefault(at_work.part, []).append(one)
        for part, of_part in by_part.items():
            self.store.add(part, of_part)
        for index in dict.fromkeys(one.point for one in done):
            self._settle(self._points[index])

    def so_far(self) -> Shown:
        """Give the usual chart of what there is; another thread may ask."""
        from ackclock.sweep import page

        with self._lock:
            done = [one for part in self._whole.values() for one in part]
            done += [one for at_work in self._points.values() for one in at_work.done.values()]
            table = self.store.so_far(done)
        return Shown() if table is None else page.so_far(self.plan, table)


def _has_all(at_work: _Repeated, runs: int) -> bool:
    done = at_work.done
    return len(done) >= runs and all(run in done for run in range(runs))


def _drive(sweep: _Sweep, place: Workers, limit_s: float | None) -> None:
    def submit(jobs: list[Job]) -> None:
        answer = place.executor.submit(workers.work, sweep.plan.scenario, jobs, limit_s)
        waiting[answer] = jobs

    waiting: dict[Answer, list[Job]] = {}
    # Jobs whose worker has died run again one at a time, so that it is known which one does that.
    suspects: deque[Job] = deque()
    died = False
    while True:
        if not waiting:
            is_alone = bool(suspects)
            if is_alone:
                submit([suspects.popleft()])
        while not (is_alone or suspects) and len(waiting) < AHEAD * place.count:
            jobs = sweep.next_jobs()
            if not jobs:
                break
            submit(jobs)
        if not waiting:
            return
        finished, _ = wait(waiting, parallel.LOOK_S, return_when=FIRST_COMPLETED)
        for answer in finished:
            jobs = waiting.pop(answer)
            try:
                sweep.take(answer.result())
            except place.lost:
                died = True
                if is_alone:
                    sweep.take(([Done(jobs[0].point, jobs[0].run, [], DIED)], 0.0))
                else:
                    suspects.extend(jobs)
        if died and not waiting:
            _ready(place)
            died = False


def _ready(place: Workers) -> None:
    """Make sure that workers live at all, so that no run gets the blame when they cannot."""
    try:
        place.executor.submit(os.getpid).result()
    except place.lost as error:
        raise engine.SimulationError(
            "workers die before they work (out of memory, or a script that does not begin with "
            "if __name__ == '__main__'?); run the command again to resume"
        ) from error


def run(
    plan: Plan | Path | str,
    output: Path | str = "results",
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    processes: bool | None = None,
    limit_s: float | None = None,
    force: bool = False,
    shown: bool = True,
    live: Live = OFF,
) -> Outcome:
    """Run a sweep, or what an earlier process has left of it.

    Parameters
    ----------
    plan : Plan, Path or str
        The sweep, or its file.
    output : Path or str
        Dataset that the results join, partitioned by experiment.
    jobs : int, optional
        Runs at once on this machine; by default one per core.
    cluster : str, optional
        Address of a Dask scheduler; its workers make the runs.
    processes : bool, optional
        Processes in place of threads; by default when a control is not built in, because a process
        can end without ending the others.
    limit_s : float, optional
        A run that takes longer than this many seconds fails, whatever it does; needs processes.
    force : bool
        Replace the results of another sweep of this name.
    shown : bool
        Show a bar with the time left, on a terminal.
    live : Live
        A page that shows how far it is, and the usual chart of what there is.

    Returns
    -------
    Outcome
        Where the results are, and how many runs were made and failed.

    Raises
    ------
    ScenarioError
        When the file or a scenario is refused, a cluster cannot be reached, or a limit has no
        processes.
    StorageError
        When results cannot be written, or what is there is not what the plan asks for.
    SimulationError
        When workers cannot begin.
    """
    if not isinstance(plan, Plan):
        plan = read(plan)
    if processes is None:
        processes = limit_s is not None or any(":" in name for name in plan.controls)
    if limit_s is not None and (cluster is not None or not processes):
        raise engine.ScenarioError("a limit needs processes: leave out --threads and --cluster")
    store = Store(plan, Path(output))
    with contextlib.ExitStack() as stack:
        stack.enter_context(store.opened(force=force))
        if cluster is not None:
            place = stack.enter_context(clusters.cluster(cluster, plan.controls))
        else:
            place = stack.enter_context(workers.local(jobs, processes=processes))
        left = sum(len(points) for _, points in store.parts()) * plan.replication.most
        bar = stack.enter_context(progress.Count(left, "runs", shown=shown, live=live))
        sweep = _Sweep(plan, store, bar, left, place.count)
        live.shows(sweep.so_far)
        _drive(sweep, place, limit_s)
    runs, failed, at_most = store.counts()
    return Outcome(store.dataset, sweep.made, runs, failed, at_most)
