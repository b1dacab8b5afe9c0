"""A page that shows the progress of long work: a file that is rewritten while the work continues."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ackclock.engine import storage

if TYPE_CHECKING:
    from ackclock.draw.figure import Group

EVERY_S = 5.0
"""The page is written at this interval."""
LARGEST_SHARE = 0.05
"""Share of the time that writing may take: a page that takes long is written less often."""
LONGEST_S = 20.0
"""The page is written at least this often."""
SILENT_S = 60.0
"""A page that is older and not finished belongs to a process that has died."""
SPEED_OVER_S = 60.0
"""The time left is estimated from the speed over this many seconds."""
LEAST_S = 1.0
"""Shorter times are too short to estimate a speed."""


@dataclass(frozen=True)
class InterimResults:
    """The results so far."""

    charts: Mapping[str, Group] = field(default_factory=dict)
    """Groups of charts by their titles."""
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    note: str = ""
    """A sentence about all results."""


class Live:
    """The page of some work, which a thread keeps up to date until the block ends.

    Without `file` nothing is written. `results` exist when the work is finished; `command` resumes it
    after an interruption.
    """

    def __init__(
        self, file: Path | None, title: str = "", results: Path | None = None, command: str = ""
    ) -> None:
        self._file, self._title, self._results, self._command = file, title, results, command
        self._lock, self._showing = threading.Lock(), threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._has_warned = False
        self._done = self._failed = self._total = 0
        self._unit = "runs"
        self._work: tuple[float, float] | None = None
        self._speeds: deque[tuple[float, float]] = deque()
        self._shows: Callable[[], InterimResults] = InterimResults

    @property
    def is_on(self) -> bool:
        """Whether there is a page."""
        return self._file is not None

    def __enter__(self) -> Self:
        """Write the page for the first time; raise `StorageError` if it cannot be written."""
        if self._file is not None:
            with storage.explained(self._file):
                self._file.parent.mkdir(parents=True, exist_ok=True)
            self._write("running")
            print(f"ackclock: live view: {self._file}", file=sys.stderr, flush=True)
            self._thread = threading.Thread(target=self._keep_up, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._thread is None:
            return
        self._over.set()
        self._thread.join()
        if error is None:
            self._write_if_possible("finished")
        elif isinstance(error, KeyboardInterrupt):
            self._write_if_possible("interrupted")
        else:
            self._write_if_possible("failed", " ".join(f"{error}".split()) or type(error).__name__)

    def expect(self, more: int, unit: str) -> None:
        """Announce how many more units are to be done."""
        with self._lock:
            self._total, self._unit = self._done + more, unit

    def advance(self, done: int, *, failed: int = 0, left_out: int = 0) -> None:
        """Report how many units are done, how many of these failed, and how many need not be done."""
        with self._lock:
            self._done += done
            self._failed += failed
            self._total -= left_out

    def weigh(self, done: float, total: float) -> None:
        """Report the share of the work that is done, in any unit, where a count does not show it."""
        self._work = (done, total)

    def shows(self, results: Callable[[], InterimResults]) -> None:
        """Set the function that returns the results so far; another thread calls it."""
        with self._showing:
            self._shows = results

    def settle(self) -> None:
        """Keep the results shown now: from here on the thread of the page asks for no more."""
        if self.is_on:
            with self._showing:
                last = self._ask()
                self._shows = lambda: last

    def _ask(self) -> InterimResults:
        try:
            return self._shows()
        except Exception as problem:
            # The results are read while the work changes them; an error in that must not end the work.
            text = " ".join(f"{type(problem).__name__}: {problem}".split())
            return InterimResults(note=f"What there is so far cannot be shown ({text}).")

    def _keep_up(self) -> None:
        wait_s = EVERY_S
        while not self._over.wait(wait_s):
            before = time.monotonic()
            self._write_if_possible("running")
            wait_s = (time.monotonic() - before) / LARGEST_SHARE
            wait_s = min(max(wait_s, EVERY_S), LONGEST_S)

    def _write_if_possible(self, state: str, error: str = "") -> None:
        """Write the page; a failure to write it does not end the work."""
        try:
            self._write(state, error)
        except storage.StorageError as problem:
            if not self._has_warned:
                self._has_warned = True
                with contextlib.suppress(OSError):
                    print(f"ackclock: no live view: {problem}", file=sys.stderr)

    def _write(self, state: str, error: str = "") -> None:
        assert self._file is not None  # noqa: S101
        from ackclock.draw.page import html

        with self._showing:
            shown = self._ask()
        with self._lock:
            done, failed, total = self._done, self._failed, self._total
        work, whole = self._work or (float(done), float(total))
        charts = {f"chart-{index}": group for index, group in enumerate(shown.charts.values())}
        text = html(
            "live.html",
            charts=charts,
            titles=dict(zip(charts, shown.charts, strict=True)),
            shown=shown,
            title=self._title,
            state=state,
            error=error,
            unit=self._unit,
            done=done,
            failed=failed,
            waiting=max(0, total - done),
            percent=100.0 if state == "finished" else 100 * min(work / whole, 1) if whole else 0.0,
            left=_duration(self._left_s(work, whole)) if state == "running" else "",
            stamp=time.time(),
            every_s=EVERY_S,
            silent_s=SILENT_S,
            results=self._results,
            here=self._file.parent,
            command=self._command,
        )
        storage.write_sealed(self._file, text)

    def _left_s(self, work: float, whole: float) -> float | None:
        """Estimate the time left from the recent speed; None if it is unknown."""
        now = time.monotonic()
        self._speeds.append((now, work))
        while len(self._speeds) > 2 and now - self._speeds[1][0] >= SPEED_OVER_S:
            self._speeds.popleft()
        then, before = self._speeds[0]
        if work <= before or now - then < LEAST_S:
            return None
        return max(whole - work, 0.0) * (now - then) / (work - before)


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


OFF = Live(None)
"""A page that is never written."""
