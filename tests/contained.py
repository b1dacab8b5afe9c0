"""Hostile controls, and helpers that try verbs with many runs on them and on a cluster."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ackclock.runs import Limits, places
from conftest import BOTTLENECK, Finished

CONTROL = """
import os, signal, sys, time
import ackclock

class PanicException(BaseException):
    "What PyO3 raises for a panic of a library."

class Hostile(ackclock.Control):
    def on_ack(self, ack):
        if not self.slow_start(ack):
            self.window += ack.growth / self.window
    def on_loss(self, loss):
        self.window = self.ssthresh = max(2.0, self.window / 2)
        {}
"""
HOSTILE = {
    "killer": ("os._exit(7)", "its process ended: exit status 7"),
    "hang": ("while True: time.sleep(1)", "TimeoutError: took longer than 2 s"),
    "exit": ("sys.exit(3)", "SimulationError: a control called sys.exit(3)"),
    "panic": (
        "raise PanicException('a window is finite')",
        "SimulationError: a control panicked: a window is finite",
    ),
    "segfault": ("os.kill(os.getpid(), signal.SIGSEGV)", "its process ended: SIGSEGV"),
    "memory": (
        "hoard = []\n        while True: hoard.append(bytearray(1 << 26))",
        "MemoryError: needs more than 1 GB",
    ),
    "print": ("print('{'); os.write(1, b'{\\n')", ""),
}
PATH = f"""
[run]
duration = "1 s"
{BOTTLENECK}
[[flow]]
controller = "CONTROL"
rtt = "20 ms"
"""

Verb = Callable[[str, Callable[..., Finished]], str]
"""Takes a control and a way to run a command; returns the verb's message about the control, or nothing."""


def one_line(done: Finished) -> str:
    """Return the message of a failed command: at most a traceback of the control, and one line."""
    assert done.returncode == 1
    return done.stderr.splitlines()[-1].removeprefix("ackclock: ")


def contain(
    kind: str, verb: Verb, place: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Finished]
) -> None:
    """Let a verb run a hostile control in an empty directory, and check its message."""
    what, problem = HOSTILE[kind]
    monkeypatch.chdir(place)
    monkeypatch.syspath_prepend(place)
    module = f"{kind}_{verb.__name__}"
    Path(f"{module}.py").write_text(CONTROL.replace("{}", what))
    Path("path.toml").write_text(PATH.replace("CONTROL", f"{module}:Hostile"))
    time_s = 2.0 if kind == "hang" else 600.0
    monkeypatch.setattr(places, "Limits", lambda: Limits(time_s, 10**9))
    assert verb(f"{module}:Hostile", run).endswith(problem)


def same_there(words: Sequence[object], there: Sequence[str], run: Callable[..., Finished]) -> None:
    """Check that a verb prints the same here and on a cluster; with `-o` at its end it writes to `out`."""
    # Pages name the folder, so both have the same.
    output = ("out",) if words[-1] == "-o" else ()
    here = run(*words, *output)
    shutil.rmtree("out", ignore_errors=True)
    done = run(*words, *output, *there)
    assert (done.returncode, here.returncode) == (0, 0), done.stderr
    # The command of a page says where its runs were made.
    text = done.stdout.replace(f" {' '.join(there)}", "")
    assert _timeless(text) == _timeless(here.stdout)
    if output:
        # Kept runs are used again without the cluster.
        assert _timeless(run(*words, *output).stdout) == _timeless(here.stdout)
        shutil.rmtree("out")


def _timeless(text: str) -> object:
    """Return the JSON without the time that it took and the text of the command."""
    return [
        {key: value for key, value in said.items() if key not in ("wall_s", "command")}
        if isinstance(said, dict)
        else said
        for said in map(json.loads, text.splitlines() if text.count("\n{") else [text])
    ]
