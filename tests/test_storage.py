"""Results are whole or absent, also after a kill at any moment."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ackclock.engine import storage

PROGRAM = """
import os, signal, sys
from pathlib import Path
from ackclock.engine import storage

target, moment = Path(sys.argv[1]), sys.argv[2]
if moment == "file":
    with storage.new_file(target) as path:
        path.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
with storage.new_directory(target, force=True, is_result=lambda _: True) as directory:
    (directory / "new").write_text("half")
    if moment == "writing":
        os.kill(os.getpid(), signal.SIGKILL)
    rename = Path.rename
    def killed(self, goal):
        if self == directory:
            os.kill(os.getpid(), signal.SIGKILL)
        return rename(self, goal)
    Path.rename = killed
"""


def _kill(target: Path, moment: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(target), moment], check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("moment", ["writing", "replacing"])
def test_a_killed_directory_leaves_no_trace_once_it_is_written_again(
    tmp_path: Path, moment: str
) -> None:
    target = tmp_path / "result [1]"
    target.mkdir()
    (target / "old").touch()
    _kill(target, moment)
    assert len(list(tmp_path.iterdir())) == 2
    with storage.new_directory(target, force=True, is_result=lambda _: True):
        # The former result is back before anything replaces it.
        assert (target / "old").exists()
    assert list(tmp_path.iterdir()) == [target]


def test_a_killed_file_leaves_no_trace_once_it_is_written_again(tmp_path: Path) -> None:
    target = tmp_path / "table"
    _kill(target, "file")
    assert not target.exists()
    with storage.new_file(target) as path:
        path.write_text("whole")
    assert list(tmp_path.iterdir()) == [target]
    assert target.read_text() == "whole"


def test_what_a_running_process_writes_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "table"
    with storage.new_file(target) as first:
        with storage.new_file(target) as second:
            second.write_text("second")
        assert first.exists()
        first.write_text("first")
    assert target.read_text() == "first"
    assert list(tmp_path.iterdir()) == [target]
