"""A process for foreign code: it makes one run at a time, within limits of time and memory.

The parent sends a job as a pickle and reads lines of JSON, which cannot run code in the parent. Output of
foreign code goes to standard error, so that standard output is the parent's alone. When the process ends in
the middle of a run, that run has failed, and the next one gets a new process. The module `inside` is the code
of this process.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import os
import pickle
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ackclock import engine
from ackclock.engine import controls
from ackclock.runs import recorded
from ackclock.runs.inside import LENGTH
from ackclock.runs.jobs import Answer, Job

LOOK_S = 0.5
"""Longest wait; cancellation is noticed only between waits."""
START_S = 120.0
"""A process must import the modules of a job within this time."""
END_S = 10.0
"""A process must end its own children within this time; only a stuck system takes longer."""
LARGEST_LINE = 1 << 30
"""More bytes than any answer needs; a process that sends more is killed."""
_BEGIN = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from ackclock.runs import inside; inside.main()"
)


@dataclass(frozen=True)
class Limits:
    """The resources that a run of a control that is not built in may use.

    Attributes
    ----------
    time_s : float
        Wall time, seconds.
    memory_bytes : int
        Memory that the process may allocate.
    """

    time_s: float = 600.0
    memory_bytes: int = 4 << 30


class Child:
    """A process that makes runs, started when it is first needed."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = bytearray()
        self._searched = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._closed = False
        self._token = secrets.token_hex(8)
        self._lock = threading.Lock()

    def answer(self, job: Job, progress: engine.Progress) -> Answer:
        """Make the run of a job and measure it, in the process.

        `progress` is called about every half second; an exception that it raises ends the process.
        """
        try:
            if self._process is not None and self._process.poll() is not None:
                # The process has ended between two runs.
                self._end()
            if self._process is None and (changed := controls.changed(job.names)):
                error = f"{', '.join(changed)} has changed since runs began; run the command again"
                return Answer(error=error, passing=True)
            process = self._started()
            own = controls.registrations(job.names) or []
            content = self._token.encode() + pickle.dumps((own, pickle.dumps(job)))
            with contextlib.suppress(BrokenPipeError):
                _input(process).write(LENGTH.pack(len(content)) + content)
                _input(process).flush()
            return self._answer(process, progress)
        except BaseException:
            self._end()
            raise

    def _answer(self, process: subprocess.Popen[bytes], progress: engine.Progress) -> Answer:
        limit_s, begin_s = START_S, time.monotonic()
        reached = 0.0, 0
        while True:
            line = self._line(process, begin_s, limit_s, functools.partial(progress, *reached))
            if isinstance(line, Answer):
                return line
            try:
                record = json.loads(line)
                if record["token"] != self._token:
                    raise ValueError
                if "begun" in record:
                    limit_s, begin_s = self._limits.time_s, time.monotonic()
                elif "at" in record:
                    reached = float(record["at"][0]), int(record["at"][1])
                else:
                    return _received(record)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
                self._end()
                return Answer(error="its process sent an invalid answer", passing=True)

    def _line(
        self, process: subprocess.Popen[bytes], begin_s: float, limit_s: float, look: Callable[[], None]
    ) -> bytes | Answer:
        """Return the next line, or the answer if there will be none."""
        output = process.stdout
        assert output is not None  # noqa: S101
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while True:
                # The part that was searched before has no line feed.
                end = self._buffer.find(b"\n", self._searched)
                self._searched = len(self._buffer)
                if end >= 0:
                    line = bytes(self._buffer[:end])
                    del self._buffer[: end + 1]
                    self._searched = 0
                    return line
                look()
                left_s = begin_s + limit_s - time.monotonic()
                if left_s <= 0:
                    self._end()
                    return Answer(error=f"TimeoutError: took longer than {limit_s:g} s", passing=True)
                if not selector.select(min(LOOK_S, left_s)):
                    continue
                content = os.read(output.fileno(), 1 << 20)
                if not content:
                    return self._ended(process)
                self._buffer += content
                if len(self._buffer) > LARGEST_LINE:
                    self._end()
                    return Answer(error="its process sent too much", passing=True)

    def _ended(self, process: subprocess.Popen[bytes]) -> Answer:
        # A closed output means that the process has ended, or has to be ended now.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
        code = process.poll()
        self._end()
        if code is None:
            return Answer(error="its process closed its output", passing=True)
        if code < 0:
            with contextlib.suppress(ValueError):
                name = signal.Signals(-code).name
                died = -code == signal.SIGKILL
                return Answer(error=f"its process ended: {name}", died=died, passing=True)
        return Answer(error=f"its process ended: exit status {code}", passing=True)

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise engine.SimulationError("the work was cancelled")
            if self._process is None:
                here = str(Path.cwd())
                path = [*(entry or here for entry in sys.path), here]
                self._folder = tempfile.TemporaryDirectory(prefix="ackclock-")
                limits = json.dumps([self._limits.memory_bytes, os.getpid(), self._folder.name])
                self._process = subprocess.Popen(  # noqa: S603
                    [sys.executable, "-c", _BEGIN, json.dumps(path), limits],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    # A run needs one thread; more threads for linear algebra would use up the memory limit.
                    env={
                        **os.environ,
                        "OPENBLAS_NUM_THREADS": "1",
                        "POLARS_MAX_THREADS": "1",
                        "TMPDIR": self._folder.name,
                    },
                    # Ctrl-C in a terminal reaches only the parent.
                    process_group=0,
                )
            return self._process

    def _end(self) -> None:
        with self._lock:
            if self._process is not None:
                # The process also ends the processes that its runs have started.
                self._process.terminate()
                try:
                    self._process.wait(END_S)
                except subprocess.TimeoutExpired:
                    self._process.kill()
                    self._process.wait()
                for pipe in (self._process.stdin, self._process.stdout):
                    with contextlib.suppress(OSError):
                        if pipe is not None:
                            pipe.close()
                self._process = None
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = None
            self._buffer.clear()
            self._searched = 0

    def kill(self) -> None:
        """End the process in the middle of a run, for another thread than the waiting one."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.terminate()

    def close(self) -> None:
        """End the process and release its resources."""
        self._closed = True
        self._end()


def _input(process: subprocess.Popen[bytes]) -> BinaryIO:
    assert process.stdin is not None  # noqa: S101
    return process.stdin  # type: ignore[return-value]


def _received(record: dict[str, Any]) -> Answer:
    value = record.get("value")
    if record.get("files"):
        files: dict[str, str] = record["value"]
        value = recorded.of_files({name: base64.b64decode(text) for name, text in files.items()})
    return Answer(
        value,
        int(record.get("packets", 0)),
        str(record["error"]),
        str(record["trace"]),
        passing=bool(record["passing"]),
        digest=str(record.get("digest", "")),
        foreign=tuple(map(str, record.get("foreign", ()))),
    )
