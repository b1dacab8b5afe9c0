"""A packed result runs again on another machine, and only an unchanged one is packed."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ackclock.engine import controls
from conftest import Finished

OWN = """\
import ackclock

class Mine(ackclock.Control):
    def on_ack(self, ack):
        self.window += 1 / self.window

    def on_loss(self, loss):
        self.window = max(1.0, self.window / 2)
"""
SCENARIO = """\
run = { duration = "1 s", warmup = "200 ms" }
tcp = { profile = "linux" }
[dumbbell]
rate_trace = "given.trace"
delay = "10 ms"
queue = { kind = "droptail", limit = "20 packets" }
[[flow]]
controller = "packed_mine:Mine"
rtt = "40 ms"
"""
COMMANDS = {
    "a run": ["simulate", "own.toml", "-o", "result"],
    "three runs": ["simulate", "own.toml", "--runs", "3", "-o", "result"],
    "a comparison": [
        *("compare", "--scenario", "own.toml", "--duration", "2s", "--runs", "2", "reno", "packed_mine:Mine"),
        *("-o", "result"),
    ],
    "a sweep": ["sweep", "plan.toml", "-o", "result", "--threads"],
}
SWEEP = """\
scenario = "own.toml"
[parameters]
senders = { set = "tcp.profile", to = ["ns2", "linux"] }
[runs]
count = 2
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own.toml").write_text(SCENARIO)
    (tmp_path / "given.trace").write_text("4\n9\n15\n20\n")
    (tmp_path / "packed_mine.py").write_text(OWN)
    (tmp_path / "plan.toml").write_text(SWEEP)
    # The tests of a process write the module anew.
    sys.modules.pop("packed_mine", None)
    controls._registered.pop("packed_mine:Mine", None)
    return tmp_path


def unpacked(own: Path, bin_directory: Path) -> Callable[[], subprocess.CompletedProcess[str]]:
    with zipfile.ZipFile(own / "result.zip") as archive:
        archive.extractall(own / "elsewhere")
    for file in ("own.toml", "given.trace", "packed_mine.py"):
        (own / file).unlink()
    environment = os.environ | {"PATH": f"{bin_directory}:{os.environ['PATH']}"}
    command = ["sh", str(own / "elsewhere" / "result" / "run.sh")]
    return lambda: subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("kind", COMMANDS)
def test_what_was_packed_runs_again(
    kind: str, own: Path, bin_directory: Path, ackclock_here: Callable[..., Finished]
) -> None:
    assert ackclock_here(*COMMANDS[kind]).returncode == 0
    done = ackclock_here("pack", "result")
    assert done.returncode == 0, done.stderr
    first = (own / "result.zip").read_bytes()
    assert ackclock_here("pack", "result").stderr.endswith("result.zip exists; --force replaces it\n")
    assert ackclock_here("pack", "result", "--force").returncode == 0
    assert (own / "result.zip").read_bytes() == first
    again = unpacked(own, bin_directory)()
    assert (again.returncode, again.stdout.splitlines()[-1:]) == (0, ["everything is as it was"]), (
        again.stderr
    )


def test_another_digest_and_a_changed_file_are_noticed(
    own: Path, bin_directory: Path, ackclock_here: Callable[..., Finished]
) -> None:
    assert ackclock_here(*COMMANDS["a run"]).returncode == 0
    assert ackclock_here("pack", "result").returncode == 0
    run = unpacked(own, bin_directory)
    script = own / "elsewhere/result/run.sh"
    text = script.read_text()
    line = next(line for line in text.splitlines() if line.startswith("same ."))
    script.write_text(text.replace(line, line[:-16] + "0" * 16))
    again = run()
    assert (again.returncode, again.stdout.splitlines()[-1]) == (1, ".: the digest is not 0000000000000000")
    script.write_text(text)
    (own / "elsewhere/result/packed_mine.py").write_text(OWN.replace("/ 2", "/ 3"))
    assert run().returncode == 1


@pytest.mark.parametrize("name", ["nothing", "empty", "changed"])
def test_only_a_whole_result_is_packed(name: str, own: Path, ackclock_here: Callable[..., Finished]) -> None:
    (own / "empty").mkdir()
    assert ackclock_here("simulate", "own.toml", "-o", "changed").returncode == 0
    (own / "changed/summary.json").write_text("{}")
    done = ackclock_here("pack", name)
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1
    assert not list(own.glob("*.zip"))
