"""Runs a sweep: repeats points until they are done, and exports complete parts."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from ackclock import engine
from ackclock.decision.sequential import is_narrow
from ackclock.runs import Answer, Job, Limits, Store, drive, places, progress, rows
from ackclock.runs.live import OFF, InterimResults, Live
from ackclock.runs.store import CACHE
from ackclock.sweeps import estimate
from ackclock.sweeps.exports import Done, Exports
from ackclock.sweeps.plan import Plan, Point, read


@dataclass(frozen=True)
class SweepResult:
    """Results of a sweep.

    Attributes
    ----------
    directory : Path
        The experiment's part of the dataset.
    made : int
        Number of runs made by this call.
    runs : int
        Number of all runs in the dataset.
    failed : int
        Number of runs in the dataset with an error.
    at_most : int
        Number of points with the largest allowed number of runs, whose interval may still be wider than
        requested; 0 when the number of runs is fixed.
    first_error : str
        Error of the first run that failed; empty when none did.
    """

    directory: Path
    made: int
    runs: int
    failed: int
    at_most: int
    first_error: str = ""


@dataclass
class _Repeated:
    """A point that is in progress."""

    point: Point
    part: int
    done: dict[int, Done] = field(default_factory=dict)
    requested: int = 0


class _Sweep:
    """The state of a sweep: runs that are requested, in progress and done."""

    def __init__(
        self,
        plan: Plan,
        exports: Exports,
        store: Store,
        bar: progress.Count,
        packets: Callable[[Point], float],
        *,
        again: bool,
    ) -> None:
        self.plan, self.exports, self.store, self.bar = plan, exports, store, bar
        self.again = again
        self.made = 0
        self._unfinished: dict[int, int] = {}
        self._points: dict[int, _Repeated] = {}
        self._whole: dict[int, list[Done]] = {}
        self._queue: deque[Job] = deque()
        self._places: dict[int, tuple[int, int]] = {}
        self._parts = exports.parts()
        self._lock = threading.Lock()
        self._packets = packets

    def next_jobs(self, count: int) -> list[Job]:
        """Return at most `count` jobs: repetitions first, then jobs of the next part."""
        while len(self._queue) < count:
            part = next(self._parts, None)
            if part is None:
                break
            with self._lock:
                self._open(*part)
        return [self._queue.popleft() for _ in range(min(count, len(self._queue)))]

    def _open(self, part: int, points: tuple[Point, ...]) -> None:
        self._unfinished[part] = len(points)
        self._whole[part] = []
        for point in points:
            self._points[point.index] = _Repeated(point, part)
        for point in points:
            self._settle(self._points[point.index])

    def _settle(self, at_work: _Repeated) -> None:
        """Request more runs of a point, or finish it when it has enough."""
        while (wanted := self._wanted(at_work)) > at_work.requested:
            for run in range(at_work.requested, wanted):
                self._ask(at_work, run)
            at_work.requested = wanted
        if _has_all(at_work, at_work.requested):
            self._finish(at_work)

    def _ask(self, at_work: _Repeated, run: int) -> None:
        """Take a run from the store, or request it."""
        point = at_work.point
        job = Job(
            self.plan.scenario,
            run,
            record=False,
            measure=rows.of_run,
            settings=point.settings,
            controls=self.plan.controls,
        )
        answer = self.store.get(job.key, remember=False)
        if answer is None or (answer.error and self.again):
            self._places[id(job)] = point.index, run
            self._queue.append(job)
        else:
            at_work.done[run] = _done(point.index, run, answer)
            # It takes no time.
            self.bar.advance(packets=self._packets(point))
            self.bar.advance(1, failed=int(bool(answer.error)))

    def _wanted(self, at_work: _Repeated) -> int:
        """Return how many runs a point needs, judged by its first runs."""
        replication = self.plan.replication
        wanted = replication.least
        while wanted < replication.most and _has_all(at_work, wanted):
            if self._is_narrow(at_work, wanted):
                break
            wanted = min(wanted + replication.least, replication.most)
        return wanted

    def _is_narrow(self, at_work: _Repeated, runs: int) -> bool:
        replication = self.plan.replication
        means = []
        for run in range(runs):
            values = [row[replication.metric] for row in at_work.done[run].rows]
            known = [value for value in values if value is not None]
            if known:
                means.append(sum(known) / len(known))
        return is_narrow(means, replication.within)

    def _finish(self, at_work: _Repeated) -> None:
        part = at_work.part
        left_out = self.plan.replication.most - len(at_work.done)
        self.bar.advance(left_out=left_out, packets=left_out * self._packets(at_work.point))
        self._whole[part] += at_work.done.values()
        del self._points[at_work.point.index]
        self._unfinished[part] -= 1
        if not self._unfinished[part]:
            del self._unfinished[part]
            self.exports.write(part, self._whole.pop(part))

    def take(self, job: Job, answer: Answer) -> None:
        """Store the answer of a job."""
        self.store.add(job.key, answer, failures=True)
        self.made += 1
        with self._lock:
            point, run = self._places.pop(id(job))
            packets = self._packets(self._points[point].point)
            self.bar.advance(1, failed=int(bool(answer.error)), packets=packets)
            at_work = self._points[point]
            at_work.done[run] = _done(point, run, answer)
            self._settle(at_work)

    def so_far(self) -> InterimResults:
        """Return the default chart of the runs that are done; may be called from another thread."""
        from ackclock.sweeps import page

        with self._lock:
            done = [run for part in self._whole.values() for run in part]
            done += [run for at_work in self._points.values() for run in at_work.done.values()]
            table = self.exports.so_far(done)
        return InterimResults() if table is None else page.so_far(self.plan, table)


def _done(point: int, run: int, answer: Answer) -> Done:
    value = answer.value or []
    # A control can write into the descriptors of its process.
    if not isinstance(value, list) or not all(
        isinstance(row, dict) and row.keys() <= rows.COLUMNS.keys() for row in value
    ):
        return Done(point, run, [], "its process sent an invalid answer")
    return Done(point, run, value, answer.error or None)


def _has_all(at_work: _Repeated, runs: int) -> bool:
    done = at_work.done
    return len(done) >= runs and all(run in done for run in range(runs))


def sweep(
    plan: Plan | Path | str,
    output: Path | str = "results",
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    processes: bool | None = None,
    limits: Limits | None = None,
    force: bool = False,
    shown: bool = True,
    live: Live = OFF,
) -> SweepResult:
    r"""Run a sweep, or the rest of an earlier one that was interrupted.

    Parameters
    ----------
    plan : Plan, Path or str
        The sweep, or its file.
    output : Path or str
        Dataset to which the results are added, partitioned by experiment.
    jobs : int, optional
        Runs at once on this machine; by default one per core.
    cluster : str, optional
        Address of a Dask scheduler; its workers make the runs.
    processes : bool, optional
        Whether runs have processes of their own; by default they do when a control is not built in or
        there are limits.
    limits : Limits, optional
        Resources of a run in a process of its own; by default those of `Limits`.
    force : bool
        Whether to replace the results of another sweep of this name, and to repeat runs that failed.
    shown : bool
        Whether to show a progress bar on a terminal.
    live : Live
        A page that shows the progress and the default chart of the results so far.

    Returns
    -------
    SweepResult
        The directory of the results, and the numbers of runs made and failed.

    Raises
    ------
    ScenarioError
        When the file or a scenario is refused, a cluster cannot be reached, or a limit is combined with
        threads.
    StorageError
        When results cannot be written, or the stored results do not match the plan.

    Examples
    --------
    >>> import ackclock, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder)
    ...     _ = (path / "a.toml").write_text(ackclock.example())
    ...     text = 'scenario = "a.toml"\nparameters.rtt = { set = "flow.0.rtt", to = ["40 ms", "80 ms"] }\n'
    ...     _ = (path / "rtt.toml").write_text(text)
    ...     result = ackclock.sweep(path / "rtt.toml", path / "results")
    >>> result.failed
    0
    """
    if not isinstance(plan, Plan):
        plan = read(plan)
    if limits is not None and processes is False:
        raise engine.ScenarioError("a limit needs processes; leave out --threads")
    with ExitStack() as stack:
        store = stack.enter_context(Store(Path(output) / CACHE).opened())
        exports = Exports(plan, Path(output), store)
        exports.claim(force=force)
        place = stack.enter_context(
            places.opened(plan.controls, jobs=jobs, cluster=cluster, limits=limits, apart=processes)
        )
        points = [point for _, part in exports.parts() for point in part]
        packets = estimate.packets(plan)
        runs = plan.replication.most
        expected = runs * sum(map(packets, points))
        bar = stack.enter_context(
            progress.Count(runs * len(points), "runs", shown=shown, live=live, packets=expected)
        )
        state = _Sweep(plan, exports, store, bar, packets, again=force)
        live.shows(state.so_far)
        for job, answer in drive.drive(state.next_jobs, place, look=store.settle):
            state.take(job, answer)
    runs, failed, at_most, first_error = exports.counts()
    return SweepResult(exports.dataset, state.made, runs, failed, at_most, first_error)
