"""The places in which runs are made: threads, a child process per thread, or a Dask cluster."""

from __future__ import annotations

import functools
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from ackclock import engine
from ackclock.engine import controls, installed
from ackclock.runs import recorded
from ackclock.runs.alone import PATIENCE_S, StoppedError
from ackclock.runs.child import Child, Limits
from ackclock.runs.jobs import Answer, Job, failed, perform
from ackclock.runs.repeats import Repeats

CONNECT_S = 10.0
"""A cluster must answer within this time."""
CHUNK_S = 0.25
"""Shorter runs are submitted in chunks, so that submitting them costs little."""
OTHER_CODE = "its machine has a different version of ackclock; install the version of this machine"
JobProgress = Callable[[Job, float, int], None]
"""Called with a job, its simulated seconds and its packets so far."""
Make = Callable[[Job, Callable[[Job], Answer]], Answer]
"""Makes the answer of a job, with the function that makes its run."""


class Runner:
    """Takes jobs and makes their answers on this machine, `count` at once.

    Each thread of the executor has its own child process within `limits`. `apart` says whether runs are
    made in child processes; None decides by whether a job is foreign.
    """

    is_remote = False
    lost: tuple[type[Exception], ...] = ()
    """Exceptions that a future raises when the machine of its run is lost."""

    def __init__(self, executor: Executor, count: int, limits: Limits, apart: bool | None) -> None:
        self.executor, self.count, self.limits, self.apart = executor, count, limits, apart
        self._stop = threading.Event()
        self.repeats = Repeats(limits)
        self._local = threading.local()
        self._children: list[Child] = []
        self._pending: set[Future[Any]] = set()

    def submit(self, jobs: Sequence[Job], make: Make, tell: JobProgress) -> Future[list[Answer]]:
        """Begin to make the answers of jobs, one after the other, calling both functions in that thread.

        The result has the answers in the order of the jobs: all, or the first ones if these take longer
        than `CHUNK_S`.
        """
        return self._submitted(self._all, jobs, make, tell)

    def _submitted(self, work: Callable[..., object], *arguments: object) -> Future[Any]:
        future = self.executor.submit(work, *arguments)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return future

    def answers(self, future: Future[Any], jobs: Sequence[Job], make: Make) -> list[Answer]:  # noqa: ARG002
        """Return the answers of a finished future of `submit`, for one or more of the first jobs."""
        answers: list[Answer] = future.result()
        return answers

    def _all(self, jobs: Sequence[Job], make: Make, tell: JobProgress) -> list[Answer]:
        answers = []
        begin_s = time.monotonic()
        for job in jobs:
            answers.append(make(job, lambda job: self._run(job, tell)))
            if time.monotonic() - begin_s >= CHUNK_S:
                # Finished answers must not wait for a run that takes longer than estimated.
                break
        return answers

    def _run(self, job: Job, tell: JobProgress) -> Answer:
        def look(simulated_s: float, packets: int) -> None:
            if self._stop.is_set():
                raise StoppedError
            tell(job, simulated_s, packets)

        look(0.0, 0)
        answer = self._child().answer(job, look) if _is_apart(job, self.apart) else perform(job, look)
        self.repeats.check(job, answer, lambda *_: look(job.scenario.duration_s, answer.packets))
        return answer

    def _child(self) -> Child:
        if not hasattr(self._local, "child"):
            self._local.child = Child(self.limits)
            self._children.append(self._local.child)
        child: Child = self._local.child
        return child

    def call_off(self) -> None:
        """Stop all runs in progress; their answers are no longer wanted."""
        self._stop.set()
        for child in self._children:
            child.kill()

    def wait(self, timeout_s: float) -> None:
        """Wait until no run is in progress, at most `timeout_s`."""
        wait(set(self._pending), timeout_s)

    def close(self) -> None:
        """End the child processes."""
        for child in self._children:
            child.close()


class _Cluster(Runner):
    """The machines of a Dask cluster. A task starts its own child process where limits require it."""

    is_remote = True
    gone: tuple[type[BaseException], ...] = ()
    """Exceptions that a future raises when the cluster has ended."""

    def submit(self, jobs: Sequence[Job], make: Make, tell: JobProgress) -> Future[list[Answer]]:  # noqa: ARG002
        code = [job.code for job in jobs]
        return self._submitted(
            _remote, list(jobs), self.limits, self.apart, engine.ENGINE, code, self.repeats.known
        )

    def answers(self, future: Future[Any], jobs: Sequence[Job], make: Make) -> list[Answer]:
        arrived = []
        try:
            parts = future.result()
        except self.gone as error:
            raise engine.SimulationError(
                f"lost connection to the cluster ({type(error).__name__}); run the command again to resume"
            ) from error
        for job, (answer, files) in zip(jobs, parts, strict=False):
            # Runs that began before this answer arrived are repeated, too.
            self.repeats.known |= {*answer.foreign}
            whole = answer if files is None else replace(answer, value=recorded.of_files(files))
            arrived.append(make(job, functools.partial(_given, whole)))
        return arrived


def _is_apart(job: Job, apart: bool | None) -> bool:
    return job.is_foreign if apart is None else apart


def _given(answer: Answer, _: Job) -> Answer:
    return answer


def _remote(
    jobs: Sequence[Job],
    limits: Limits,
    apart: bool | None,
    wanted: str,
    code: Sequence[str],
    repeated: frozenset[str],
) -> list[tuple[Answer, dict[str, bytes] | None]]:
    """Make runs on a machine of a cluster; the run itself travels as its files.

    The machine must have the same engine and the same measuring code: its answers are stored as if they
    were made here.
    """

    def look(_simulated_s: float, _packets: int) -> None:
        pass

    answers: list[tuple[Answer, dict[str, bytes] | None]] = []
    child, repeats = Child(limits), Repeats(limits, repeated)
    try:
        begin_s = time.monotonic()
        for job, known in zip(jobs, code, strict=True):
            if wanted != engine.ENGINE or replace(job).code != known:
                answers.append((Answer(error=OTHER_CODE, passing=True), None))
                continue
            # A worker outlives edits of a control, so it must not load a control itself.
            answer = child.answer(job, look) if job.is_foreign or apart else perform(job, look)
            repeats.check(job, answer, look)
            files = None
            if isinstance(answer.value, engine.Run):
                try:
                    answer, files = replace(answer, value=None), recorded.files_of(job, answer.value)
                except Exception as error:
                    answer = failed(error)
            # Exceptions may not be picklable.
            answers.append((replace(answer, cause=None), files))
            if time.monotonic() - begin_s >= CHUNK_S:
                break
    finally:
        child.close()
    return answers


@contextmanager
def opened(
    names: Sequence[str],
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    limits: Limits | None = None,
    apart: bool | None = None,
) -> Iterator[Runner]:
    """Yield a place that makes runs with the controls `names`; after the block no queued run begins.

    `jobs` is the number of simultaneous runs on this machine, by default one per core; `cluster` the
    address of a Dask scheduler whose workers make the runs instead. Foreign controls, by default within
    `Limits()`, and all controls when there are `limits`, run in their own processes unless `apart` says
    otherwise. Raises `ScenarioError` if the cluster cannot be used.
    """
    if apart is None and limits is not None:
        apart = True
    used = limits or Limits()
    if cluster is not None:
        with _connected(cluster, names, used, apart) as remote:
            yield remote
        return
    count = jobs or os.cpu_count() or 1
    pool = ThreadPoolExecutor(count)
    is_interrupted = False
    with closing(Runner(pool, count, used, apart)) as runner:
        try:
            yield runner
        except KeyboardInterrupt:
            is_interrupted = True
            raise
        finally:
            runner.call_off()
            pool.shutdown(wait=not is_interrupted, cancel_futures=True)
            if is_interrupted:
                # A control that hangs in a thread never notices; Ctrl-C must not wait for it.
                runner.wait(PATIENCE_S)


@contextmanager
def _connected(address: str, names: Sequence[str], limits: Limits, apart: bool | None) -> Iterator[Runner]:
    try:
        import distributed
    except ImportError:
        raise engine.ScenarioError("--cluster needs Dask: pip install distributed") from None
    try:
        make: Any = distributed.Client
        client = make(address, timeout=CONNECT_S)
    except (OSError, ValueError, TimeoutError) as error:
        raise engine.ScenarioError(
            f"no Dask scheduler answers at {address} ({type(error).__name__}); "
            "start one with dask scheduler, and give its address as tcp://HOST:PORT"
        ) from error
    with client:
        count = sum(client.nthreads().values())
        if count == 0:
            raise engine.ScenarioError(
                f"the cluster at {address} has no workers; start them with dask worker {address}"
            )
        # Workers have their own installations.
        for file in itertools.filterfalse(installed.is_installed, controls.files(names)):
            client.upload_file(str(file))
        executor = client.get_executor(pure=False, retries=2)
        runner = _Cluster(executor, count, limits, apart)
        runner.lost = (distributed.KilledWorker,)
        runner.gone = (CancelledError, distributed.CancelledError, distributed.comm.core.CommClosedError)
        try:
            yield runner
        finally:
            # The remaining work is cancelled.
            executor.shutdown(wait=False)
