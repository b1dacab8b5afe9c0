"""Repetitions of runs in another process: if numbers differ, the control depends on more than its seed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from ackclock import engine
from ackclock.engine import controls
from ackclock.runs import progress
from ackclock.runs.alone import StoppedError
from ackclock.runs.child import Child, Limits
from ackclock.runs.jobs import Answer, Job, perform

NO_LIMITS = Limits(float("inf"), 1 << 62)
"""Limits of a run that is repeated while it is made without limits."""


def nothing(_: engine.Run) -> None:
    """Measure nothing: only the digest of the run is needed."""


class Repeats:
    """Repeats the first run of each control that is not built in; `known` has the controls that need no more.

    Until the first repetition of a control has ended, each of its runs that ends is repeated, so that no
    answer is kept that might be wrong.
    """

    def __init__(self, limits: Limits, known: Iterable[str] = ()) -> None:
        self.known = frozenset(known)
        self._limits = limits
        self._lock = threading.Lock()

    def check(self, job: Job, answer: Answer, look: engine.Progress) -> None:
        """Repeat a run in a fresh process if one of its controls needs it; `look` may raise to end that.

        Raises `SimulationError` if the digests differ.
        """
        if not answer.digest or self.known.issuperset(answer.foreign):
            return
        compare(answer.foreign, answer.digest, again(job, look, self._limits))
        with self._lock:
            self.known |= {*answer.foreign}


def repeated(job: Job, make: Callable[[], engine.Run]) -> engine.Run:
    """Return the run of a job that `make` makes here, while a fresh process makes it, too.

    Raises `SimulationError` if the digests differ.
    """
    stop = threading.Event()

    def look(_simulated_s: float, _packets: int) -> None:
        if stop.is_set():
            raise StoppedError

    with ThreadPoolExecutor(1) as pool:
        repetition = pool.submit(again, job, look)
        try:
            run = make()
            compare(job.names, run.digest, repetition.result())
        finally:
            stop.set()
    return run


def again(job: Job, look: engine.Progress, limits: Limits = NO_LIMITS) -> Answer:
    """Make a run in a fresh process, for its digest; here, where no other process has its control."""
    if controls.registrations(job.names) is None:
        return perform(replace(job, measure=nothing, pcap=None, qlog=None), look)
    child = Child(limits)
    try:
        return child.answer(replace(job, measure=nothing, pcap=None, qlog=None), look)
    finally:
        child.close()


def compare(names: Sequence[str], digest: str, repetition: Answer) -> None:
    """Raise `SimulationError` if a run and its repetition differ; report a repetition that failed."""
    if repetition.error and repetition.passing:
        progress.say(f"a run of {', '.join(names)} could not be repeated: {repetition.error}")
    elif repetition.digest != digest:
        own = ", ".join(filter(controls.is_own, names))
        where = "again" if controls.registrations(names) is None else "in another process"
        raise engine.SimulationError(
            f"the numbers of {own} do not follow from the seed: the same run {where} "
            f"had {repetition.error or 'others'}; keep state in the object and not in class attributes, and "
            "take random numbers from start.seed and not from a clock or an unseeded generator"
        )
