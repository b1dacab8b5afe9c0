"""Where the runs of a sweep are made on this machine: threads or processes."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.runs import parallel
from ackclock.runs.cluster import Workers
from ackclock.sweep import rows


@dataclass(frozen=True)
class Job:
    """One run.

    Attributes
    ----------
    point, run : int
        Which.
    settings : tuple of str
        Changes of the base scenario.
    """

    point: int
    run: int
    settings: tuple[str, ...]


@dataclass(frozen=True)
class Done:
    """What came of a job.

    Attributes
    ----------
    point, run : int
        Which.
    rows : list of dict
        One per flow; empty when it failed.
    error : str, optional
        What went wrong.
    """

    point: int
    run: int
    rows: list[rows.Row]
    error: str | None = None


_stop = threading.Event()
"""Ends runs in threads when the sweep is called off."""


def check(_simulated_s: float, _packets: int) -> None:
    """End a run of a thread when the work is called off.

    Parameters
    ----------
    _simulated_s, _packets
        As `engine.Progress` has them; they do not matter.

    Raises
    ------
    StoppedError
        When nobody wants the run any more.
    """
    if _stop.is_set():
        raise parallel.StoppedError


GRACE_S = 5.0
"""After the limit a run that ignores it has this long before its process ends."""
_deadline_s = math.inf
"""When this process has had enough of a run, by the monotonic clock."""


@contextmanager
def limited(limit_s: float | None) -> Iterator[None]:
    """End the block when it takes too long, which only the main thread of a process can do.

    Parameters
    ----------
    limit_s : float, optional
        How long it may take, seconds; no limit by default.

    Yields
    ------
    None
        For the block.

    Raises
    ------
    TimeoutError
        In the block, when it takes longer.
    """
    global _deadline_s
    if limit_s is None:
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError(f"took longer than {limit_s:g} s")

    signal.signal(signal.SIGALRM, late)
    _deadline_s = time.monotonic() + limit_s + GRACE_S
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _deadline_s = math.inf


def work(
    scenario: engine.Scenario, jobs: Sequence[Job], limit_s: float | None = None
) -> tuple[list[Done], float]:
    """Make some runs, one after the other.

    Parameters
    ----------
    scenario : Scenario
        The base scenario.
    jobs : sequence of Job
        What to run.
    limit_s : float, optional
        A run that takes longer fails; in processes of their own only.

    Returns
    -------
    list of Done, float
        What came of them, and the seconds that it took.
    """
    begin = time.monotonic()
    made = []
    for job in jobs:
        try:
            with limited(limit_s):
                summary = engine.summary(
                    engine.read(scenario, settings=job.settings), run=job.run, progress=check
                )
            made.append(Done(job.point, job.run, rows.of_summary(summary)))
        except parallel.StoppedError:
            raise
        # Processes ignore Ctrl-C, and threads never see it.
        except (Exception, KeyboardInterrupt) as error:
            text = " ".join(f"{type(error).__name__}: {error}".split())
            made.append(Done(job.point, job.run, [], text))
    return made, time.monotonic() - begin


def _begin(parent: int, path: list[str]) -> None:
    """Set a process up: the parent alone answers Ctrl-C, and nobody outlives it.

    Nor does a run outlive its limit that lets no other code of Python run.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = path

    def watch() -> None:
        while os.getppid() == parent and time.monotonic() < _deadline_s:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def local(jobs: int | None, *, processes: bool) -> Iterator[Workers]:
    """Give workers on this machine.

    Parameters
    ----------
    jobs : int, optional
        How many; by default one per core.
    processes : bool
        Processes in place of threads: for controls that are not built in. Those written in Python
        take turns in threads, and any of them may end its process.

    Yields
    ------
    Workers
        Until the block ends; what has not begun then never does.
    """
    count = jobs or os.cpu_count() or 1
    _stop.clear()
    pool: Executor = _Processes(count) if processes else ThreadPoolExecutor(count)
    try:
        yield Workers(pool, count, (BrokenProcessPool,))
    finally:
        _stop.set()
        pool.shutdown(wait=not processes, cancel_futures=True)


class _Processes(Executor):
    """A pool of processes that is followed by another when one of them has died."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        path = [str(Path.cwd()), *sys.path]
        context = get_context("spawn")
        return ProcessPoolExecutor(self._count, context, initializer=_begin, initargs=(os.getpid(), path))

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        try:
            return self._pool.submit(work, *given, **named)
        except BrokenProcessPool:
            self._pool = self._new()
            return self._pool.submit(work, *given, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        # Processes in the middle of a run that nobody wants.
        for process in list((getattr(self._pool, "_processes", None) or {}).values()):
            process.terminate()
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)
