"""Inside a child: a keeper without foreign code, a process that has loaded controls, and one per run.

Each run is a fork of the process that has loaded its controls, so that what a control changes in its class
ends with the run. The keeper takes over processes that leave their group, and ends all of them when the child
ends or its parent does.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import ctypes
import gc
import importlib
import io
import json
import os
import pickle
import resource
import shutil
import signal
import struct
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NoReturn

from ackclock import engine
from ackclock.engine import controls
from ackclock.runs import recorded
from ackclock.runs.jobs import Job, failed, perform

TELL_S = 0.25
"""A run reports its progress at this interval."""
LENGTH = struct.Struct("<Q")
_PARENT_DIED, _SUBREAPER = 1, 36
"""Operations of prctl(2)."""
OURS = ("ackclock.", "numpy.", "polars.", "polars_runtime")
"""Modules that a run may import when it first needs them, and that no control changes."""
_PIPE_BYTES = 1 << 15
"""Less than a pipe holds when nobody reads it."""
_WAITED = {signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP}


def main() -> NoReturn:
    """Be the keeper: start the process that makes runs, and end everything after it."""
    memory_bytes, parent, folder = json.loads(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED)
    _prctl(_SUBREAPER, 1)
    _end_with(parent, signal.SIGTERM)
    answers, jobs = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    # Controls may start threads when they are imported; they do not take part in runs.
    warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
    keeper, loader = os.getpid(), os.fork()
    if not loader:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAITED)
        _end_with(keeper, signal.SIGKILL)
        with contextlib.suppress(BrokenPipeError):
            _serve(jobs, answers, memory_bytes)
        os._exit(0)
    jobs.close()
    answers.close()
    status = None
    while status is None and signal.sigwait(_WAITED) == signal.SIGCHLD:
        status = _reaped(loader)
    while _end_children():
        pass
    # By its name, which the parent has chosen: if it is gone, the default of tempfile would be /tmp itself.
    shutil.rmtree(folder, ignore_errors=True)
    _end_as(status or 0)


def _prctl(operation: int, value: int) -> None:
    ctypes.CDLL(None).prctl(operation, value, 0, 0, 0)


def _end_with(parent: int, number: int) -> None:
    """Get a signal when the parent ends, even while foreign code holds the interpreter; it may have ended."""
    _prctl(_PARENT_DIED, number)
    if os.getppid() != parent:
        os._exit(1)


def _reaped(wanted: int) -> int | None:
    """Collect the children that have ended; return the status of one of them."""
    status = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            status = ended[1] if ended[0] == wanted else status
    return status


def _end_children() -> bool:
    """Kill the children and wait for one of them; return whether there may be more."""
    for process in _children():
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        return False
    return True


def _children() -> Iterator[int]:
    own = os.getpid()
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The name in parentheses may contain anything; the parent is the second field after it.
                if int((place / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]) == own:
                    yield int(place.name)


def _end_as(status: int) -> NoReturn:
    """End as another process did."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


def _serve(jobs: BinaryIO, answers: BinaryIO, memory_bytes: int) -> None:
    """Make the runs that the parent requests."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = memory_bytes if most == resource.RLIM_INFINITY else min(memory_bytes, most)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, most))
    while header := jobs.read(LENGTH.size):
        content = jobs.read(LENGTH.unpack(header)[0])
        # Output of foreign code does not know the token, so that it is not taken for an answer.
        token, content = content[:16].decode(), content[16:]
        try:
            own, described = pickle.loads(content)  # noqa: S301
            # A scenario is checked as it arrives, and knows the controls that are there by then.
            controls.register_all(own)
            job: Job = pickle.loads(described)  # noqa: S301
            # A problem with a control is reported when its run is made.
            with contextlib.suppress(engine.ScenarioError):
                controls.load_missing(job.names)
        except (Exception, SystemExit) as error:
            answer = failed(error)
            _send(answers, token, {"error": answer.error, "trace": answer.trace, "passing": answer.passing})
            continue
        _make(job, token, answers, memory_bytes)


def _make(job: Job, token: str, answers: BinaryIO, memory_bytes: int) -> None:
    """Make one run in a process of its own; end as that does if it has no answer."""
    done, ended = os.pipe()
    sys.stdout.flush()
    loader, process = os.getpid(), os.fork()
    if not process:
        os.setpgid(0, 0)
        _end_with(loader, signal.SIGKILL)
        os.close(done)
        _send(answers, token, {"begun": True})
        _send(answers, token, _record(job, token, answers, memory_bytes))
        names = " ".join(name for name in sys.modules if name.startswith(OURS))
        os.write(ended, f"!{names}".encode()[:_PIPE_BYTES])
        _finish()
        os._exit(0)
    os.close(ended)
    # A process that the run has started may hold the pipe open.
    _, status = os.waitpid(process, 0)
    os.set_blocking(done, False)
    try:
        heard = os.read(done, _PIPE_BYTES).decode()
    except BlockingIOError:
        heard = ""
    os.close(done)
    with contextlib.suppress(OSError):
        os.killpg(process, signal.SIGKILL)
    if not heard.startswith("!"):
        _end_as(status)
    # Later runs need not import these modules again; modules of controls stay unchanged.
    for name in set(heard[1:].split()) - sys.modules.keys():
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def _finish() -> None:
    """Flush the output that a control has written to its own files."""
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()
    for each in gc.get_objects():
        if type(each) in (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom):
            with contextlib.suppress(OSError, ValueError):
                each.flush()


def _send(answers: BinaryIO, token: str, record: Mapping[str, object]) -> None:
    answers.write(json.dumps({"token": token, **record}).encode() + b"\n")
    answers.flush()


def _record(job: Job, token: str, answers: BinaryIO, memory_bytes: int) -> dict[str, object]:
    told_s = time.monotonic()

    def tell(simulated_s: float, packets: int) -> None:
        nonlocal told_s
        if time.monotonic() - told_s >= TELL_S:
            told_s = time.monotonic()
            _send(answers, token, {"at": [simulated_s, packets]})

    try:
        answer = perform(job, tell)
        value, is_run = answer.value, isinstance(answer.value, engine.Run)
        if is_run:
            files = recorded.files_of(job, answer.value)
            value = {name: base64.b64encode(part).decode() for name, part in files.items()}
    except (Exception, SystemExit) as error:
        answer, value, is_run = failed(error), None, False
    if answer.error.startswith("MemoryError"):
        answer = replace(answer, error=f"MemoryError: needs more than {memory_bytes / 1e9:.3g} GB")
    return {
        "value": value,
        "files": is_run,
        "packets": answer.packets,
        "error": answer.error,
        "trace": answer.trace,
        "passing": answer.passing,
        "digest": answer.digest,
        "foreign": answer.foreign,
    }
