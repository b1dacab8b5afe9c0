"""A progress bar on standard error, if that is a terminal, for work that takes longer than a second."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ackclock.names import printable

if TYPE_CHECKING:
    import rich.progress

    from ackclock.runs.live import Live

LINE_EVERY_S = 10.0
"""Without a bar, progress is reported at most once in this interval; later a tenth of the time so far."""
LONG_S = 60.0
"""Work that takes longer than this is announced."""
ANNOUNCED_AFTER_S = 3.0
"""After this time the total work can be estimated from the part that is done."""
ENOUGH = 0.02
"""The estimate is good after this share of the work: the first runs also wait for processes and imports."""
ANNOUNCED_AT_LAST_S = 15.0
"""Work is announced after this time, even if little of it is done."""


def duration(seconds: float) -> str:
    """Return a time in words: seconds, minutes or hours."""
    if seconds < 1:
        return "less than 1 s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _open(total: float) -> rich.progress.Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        BarColumn(),
        TextColumn("{task.fields[status]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task("", total=total, status="")
    bar.start()
    return bar


def say(line: str) -> None:
    """Write a line to standard error that must not go unnoticed, with or without a bar."""
    with contextlib.suppress(OSError):
        print(f"ackclock: {printable(line)}", file=sys.stderr)


class _Shown:
    """The common part of all bars: they disappear when the block ends."""

    _bar: rich.progress.Progress | None = None

    def __init__(self, shown: bool) -> None:
        self._shown = shown and sys.stderr.isatty()
        self._lines = shown and not self._shown
        self._begin = self._last_line = time.monotonic()
        self._is_announced = not shown

    def _say_time(self, done: float, total: float, status: str) -> None:
        """Announce work that takes long, and report the time left without a bar."""
        now = time.monotonic()
        elapsed = now - self._begin
        if not done:
            return
        left_s = elapsed * (total - done) / done
        wait_s = ANNOUNCED_AFTER_S if done >= ENOUGH * total else ANNOUNCED_AT_LAST_S
        if not self._is_announced and elapsed >= wait_s:
            self._is_announced = True
            if elapsed + left_s > LONG_S:
                say(f"this takes about {duration(elapsed + left_s)}")
        if self._lines and now - self._last_line >= max(LINE_EVERY_S, elapsed / 10):
            self._last_line = now
            print(f"{status}, about {duration(left_s)} left", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


class Bar(_Shown):
    """Simulated time and packets per second of all runs together, with the time left.

    `packets_per_s` are the packets that are expected in a simulated second of each run, by its number: a run
    of a fast path takes longer than one of a slow path. Without them all runs are alike.
    """

    def __init__(
        self,
        total_s: float,
        *,
        shown: bool = True,
        live: Live | None = None,
        packets_per_s: Mapping[int, float] | None = None,
        expected_packets: float | None = None,
    ) -> None:
        super().__init__(shown)
        self._total_s = total_s
        self._packets_per_s = packets_per_s or {}
        self._expected = total_s if expected_packets is None else expected_packets
        self._done_packets = 0.0
        self._live = live if live is not None and live.is_on else None
        self._done_s = 0.0
        self._state: dict[int, tuple[float, int]] = {}
        self._lock = threading.Lock()

    def update(self, run: int, simulated_s: float, packets: int) -> None:
        """Report the simulated seconds and packets of a run so far."""
        if self._live is None and not self._shown and not self._lines:
            return
        with self._lock:
            before_s, _ = self._state.get(run, (0.0, 0))
            self._state[run] = (simulated_s, packets)
            self._done_s += simulated_s - before_s
            self._done_packets += (simulated_s - before_s) * self._packets_per_s.get(run, 1.0)
            if self._live is not None:
                self._live.weigh(self._done_packets, self._expected)
            words = f"{self._done_s:.0f} of {self._total_s:.0f} s simulated"
            self._say_time(self._done_packets, self._expected, words)
            if not self._shown:
                return
            elapsed = time.monotonic() - self._begin
            if elapsed < 1.0:
                return
            if self._bar is None:
                self._bar = _open(self._expected)
            rate = sum(count for _, count in self._state.values()) / elapsed
            self._bar.update(
                self._bar.task_ids[0],
                completed=self._done_packets,
                status=f"{words}, {rate / 1e6:.2f} M packets/s",
            )

    def finish(self, run: int, simulated_s: float) -> None:
        """Report that a run has ended, by itself or by a failure."""
        _, packets = self._state.get(run, (0.0, 0))
        self.update(run, simulated_s, packets)


class Count(_Shown):
    """Finished units of a total, with the time left: a bar on a terminal, else lines.

    With `packets`, the expected packets of all units, the time left follows from the packets of the finished
    units; without `packets`, all units count the same.
    """

    def __init__(
        self,
        total: int,
        unit: str,
        *,
        shown: bool = True,
        live: Live | None = None,
        packets: float | None = None,
    ) -> None:
        super().__init__(shown)
        self._total, self._unit = total, unit
        self._packets, self._done_packets = packets, 0.0
        self._live = live
        if live is not None:
            live.expect(total, unit)
        self._done = 0

    def advance(self, done: int = 0, *, left_out: int = 0, failed: int = 0, packets: float = 0.0) -> None:
        """Report how many units are done, how many of these failed, and how many need not be done.

        `packets` is the expected number of packets of these units, both done and left out.
        """
        if self._live is not None:
            self._live.advance(done, failed=failed, left_out=left_out)
        self._done += done
        self._total -= left_out
        work: tuple[float, float] = self._done, self._total
        if self._packets is not None:
            of_done = packets * done / max(1, done + left_out)
            self._done_packets += of_done
            self._packets -= packets - of_done
            work = self._done_packets, self._packets
            if self._live is not None:
                self._live.weigh(*work)
        status = f"{self._done} of {self._total} {self._unit}"
        self._say_time(*work, status)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=work[0], total=work[1], status=status)

    def __enter__(self) -> Self:
        if self._shown:
            self._bar = _open(self._total if self._packets is None else self._packets)
        return self


class Lines:
    """Lines about the work in progress: all of them on a terminal, else one in ten seconds."""

    def __init__(self) -> None:
        self._last_line = time.monotonic()

    def __call__(self, line: str) -> None:
        """Write a line to standard error."""
        if sys.stderr.isatty() or time.monotonic() - self._last_line >= LINE_EVERY_S:
            self._last_line = time.monotonic()
            print(line, file=sys.stderr, flush=True)
