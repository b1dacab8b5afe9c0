"""Nothing stays behind: what a run has started ends with its child, and a child with its verb."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ackclock.runs import Case
from ackclock.runs.child import Child, Limits
from conftest import BOTTLENECK, wait_until

CONTROL = """
import os, subprocess, sys, time
from pathlib import Path
import ackclock

HERE = Path(__file__).parent

def note():
    (HERE / f"pid-{os.getpid()}").touch()

class Base(ackclock.Control):
    def on_ack(self, ack):
        pass
    def __init__(self, start):
        super().__init__(start)
        note()
        self.begin()

class Starts(Base):
    def begin(self):
        process = subprocess.Popen(["sleep", "1000"])
        (HERE / f"pid-{process.pid}").touch()

class Leaves(Base):
    "As a daemon: it leaves its group and its session, and its parent ends."
    def begin(self):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                note()
                time.sleep(1000)
            os._exit(0)
        os.wait()

class Holds(Base):
    "It never lets go of the interpreter."
    def begin(self):
        sum(range(10**13))

class Plain(Base):
    def begin(self):
        pass
"""
PATH = f"""
[run]
duration = "500 ms"
{BOTTLENECK}
[[flow]]
controller = "CONTROL"
rtt = "20 ms"
"""
VERB = """
import sys
from ackclock.runs import Case
from ackclock.runs.child import Child, Limits
child = Child(Limits())
(job,) = Case("path.toml").jobs()
answer = child.answer(job, lambda *_: None)
print(answer.error, flush=True)
if sys.argv[1:] == ["waits"]:
    sys.stdin.readline()
"""


def write(place: Path, control: str, module: str) -> None:
    (place / f"{module}.py").write_text(CONTROL)
    (place / "path.toml").write_text(PATH.replace("CONTROL", f"{module}:{control}"))


def processes(place: Path) -> list[int]:
    """Return the processes that a control has noted and that have not ended."""

    def lives(number: int) -> bool:
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        return state != "Z"

    noted = [int(file.name.partition("-")[2]) for file in place.glob("pid-*")]
    return [number for number in noted if lives(number)]


def working_in(place: Path) -> list[str]:
    """Return the processes whose working directory is `place`."""
    return [
        link.parent.name for link in Path("/proc").glob("[0-9]*/cwd") if os.path.realpath(link) == str(place)
    ]


def start(place: Path, *words: str) -> subprocess.Popen[str]:
    """Start a verb that runs a control in a child; its folder for temporary files is in `place`."""
    temporary = place / "temporary"
    temporary.mkdir()
    (temporary / "of somebody else").touch()
    # Files that a child might remove by mistake are in that folder.
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    return subprocess.Popen(
        [sys.executable, "-c", VERB, *words],
        cwd=place,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


@pytest.mark.parametrize("control", ["Starts", "Leaves"])
def test_what_a_run_has_started_ends_with_its_child(
    control: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path, control, f"starts_{control}".lower())
    child = Child(Limits())
    try:
        for job in Case("path.toml", 3).jobs():
            assert child.answer(job, lambda *_: None).error == ""
            # Processes that stay in the group of the run end with it.
            wait_until(lambda: not processes(tmp_path) or control == "Leaves")
    finally:
        child.close()
    assert len(list(tmp_path.glob("pid-*"))) == 6
    assert processes(tmp_path) == []


@pytest.mark.parametrize("control", ["Holds", "Leaves"])
def test_a_killed_verb_leaves_no_process_and_no_file(control: str, tmp_path: Path) -> None:
    write(tmp_path, control, "mine")
    with start(tmp_path, "waits") as verb:
        wait_until(lambda: processes(tmp_path))
        if control == "Leaves":
            assert verb.stdout
            assert verb.stdout.readline() == "\n"
        verb.send_signal(signal.SIGKILL)
    wait_until(lambda: not processes(tmp_path))
    wait_until(lambda: len(list((tmp_path / "temporary").iterdir())) == 1)
    assert [file.name for file in (tmp_path / "temporary").iterdir()] == ["of somebody else"]


def test_a_child_that_is_never_closed_removes_nothing_but_its_own_folder(tmp_path: Path) -> None:
    # The parent removes the folder when it ends; its child must not remove another folder afterwards.
    write(tmp_path, "Plain", "mine")
    with start(tmp_path) as verb:
        out, _ = verb.communicate()
    assert (verb.returncode, out) == (0, "\n")
    wait_until(lambda: not working_in(tmp_path))
    assert [file.name for file in (tmp_path / "temporary").iterdir()] == ["of somebody else"]
