"""Results are whole or absent, also after a kill at any moment."""

import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.engine import storage
from conftest import Finished

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
def test_a_killed_directory_leaves_no_trace_once_it_is_written_again(tmp_path: Path, moment: str) -> None:
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


def test_a_draft_is_left_alone_as_long_as_its_process_lives_in_whatever_container(tmp_path: Path) -> None:
    # A process of another container is known by its lock alone: here one whose number means nobody.
    draft = tmp_path / f".table.{'0' * 32}.partial"
    draft.write_text("half")
    with draft.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with storage.new_file(tmp_path / "table") as path:
            path.write_text("whole")
        assert draft.read_text() == "half"
    with storage.new_file(tmp_path / "table") as path:
        path.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root")
def test_two_containers_write_one_directory(tmp_path: Path) -> None:
    # As containers with the host's name do: in each its process is number 2 or so.
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom ackclock.engine import storage\n"
        "goal = Path(sys.argv[1])\n"
        "with storage.new_directory(goal, force=True, is_result=lambda _: True) as place:\n"
        "    (place / 'of').write_text(sys.argv[2])\n"
        "    print('begun', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    inside = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code]
    slow = subprocess.Popen(
        [*inside, tmp_path / "out", "slow"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with slow:
        assert slow.stdin and slow.stdout
        assert slow.stdout.readline() == "begun\n"
        quick = [*inside, tmp_path / "out", "quick"]
        subprocess.run(quick, input="go\n", text=True, check=True, stdout=subprocess.DEVNULL)
        assert (tmp_path / "out" / "of").read_text() == "quick"
        slow.stdin.write("go\n")
        slow.stdin.flush()
        assert slow.wait(60) == 0
    assert (tmp_path / "out" / "of").read_text() == "slow"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    "name",
    [
        ".table.host.3000000000.x.partial",
        ".table.host.18446744073709551617.partial",
        f".table.{'f' * 32}.partial",
        ".table..partial",
        f".table.{'0' * 32}.previous",
    ],
)
@pytest.mark.parametrize("kind", ["file", "directory", "pipe", "link"])
def test_no_name_in_the_folder_ends_a_write(tmp_path: Path, name: str, kind: str) -> None:
    place = tmp_path / name
    {
        "file": place.touch,
        "directory": place.mkdir,
        "pipe": lambda: os.mkfifo(place),
        "link": lambda: place.symlink_to("/"),
    }[kind]()
    (tmp_path / "table").write_text("old")
    with storage.new_file(tmp_path / "table") as path:
        path.write_text("new")
    assert (tmp_path / "table").read_text() == "new"
    assert Path("/").is_dir()


@given(st.integers(1, 255), st.sampled_from(["a", "\u00e4", "\u4e2d"]))
def test_whatever_the_file_system_can_name_can_be_written(length: int, letter: str) -> None:
    name = letter * (length // len(letter.encode())) or "a"
    with tempfile.TemporaryDirectory() as folder:
        goal = Path(folder) / name
        with storage.new_file(goal) as path:
            path.write_text("whole")
        assert goal.read_text() == "whole"
        goal.unlink()
        with storage.new_directory(goal, force=False, is_result=lambda _: True) as place:
            (place / "a").touch()
        assert [path.name for path in Path(folder).iterdir()] == [name]


def test_what_is_shown_lies_in_a_folder_of_the_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    own = storage.own_folder()
    assert own == tmp_path / "ackclock"
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    assert storage.own_folder() == own
    # Somebody else can read it: another folder.
    own.chmod(0o755)
    other = storage.own_folder()
    assert other != own
    assert stat.S_IMODE(other.stat().st_mode) == 0o700
    other.rmdir()


def test_a_file_that_vanishes_after_a_look_at_it_is_written_like_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "table"
    target.write_text("old")
    look = Path.stat

    def then_remove(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        seen = look(path, follow_symlinks=follow_symlinks)
        if path == target:
            target.unlink()
        return seen

    with monkeypatch.context() as changed:
        changed.setattr(Path, "stat", then_remove)
        with storage.new_file(target) as path:
            path.write_text("new")
    assert list(tmp_path.iterdir()) == [target]
    assert target.read_text() == "new"


def _read(fifo: Path, into: list[bytes]) -> threading.Thread:
    reader = threading.Thread(target=lambda: into.append(fifo.read_bytes()), daemon=True)
    reader.start()
    return reader


def test_a_pipe_is_written_into_and_not_replaced(tmp_path: Path) -> None:
    fifo, got = tmp_path / "pipe", list[bytes]()
    os.mkfifo(fifo)
    reader = _read(fifo, got)
    with storage.new_file(fifo) as path:
        path.write_text("whole")
    reader.join(60)
    assert got == [b"whole"]
    assert stat.S_ISFIFO(fifo.lstat().st_mode)
    assert list(tmp_path.iterdir()) == [fifo]


def test_a_failure_writes_nothing_into_a_pipe(tmp_path: Path) -> None:
    fifo, got = tmp_path / "pipe", list[bytes]()
    os.mkfifo(fifo)
    reader = _read(fifo, got)
    with pytest.raises(LookupError), storage.new_file(fifo) as path:
        path.write_text("half")
        raise LookupError
    with fifo.open("wb"):
        pass
    reader.join(60)
    assert got == [b""]


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    goal, link = tmp_path / "inner" / "table", tmp_path / "link"
    link.symlink_to(goal)
    # Also one whose goal is not there yet.
    for text in ("first", "second"):
        with storage.new_file(link) as path:
            path.write_text(text)
        assert link.is_symlink()
        assert goal.read_text() == text
    device = tmp_path / "device"
    device.symlink_to("/dev/null")
    with storage.new_file(device) as path:
        path.write_text("nothing")
    assert device.is_symlink()
    assert stat.S_ISCHR(device.stat().st_mode)
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    with pytest.raises(storage.StorageError, match="No space left"), storage.new_file(full) as path:
        path.write_text("much")


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        # As /dev/null has it; a disk that does not exist.
        os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        os.mknod(tmp_path / "disk", stat.S_IFBLK | 0o600, os.makedev(240, 0))
    except PermissionError:
        pytest.skip("only root makes devices")
    with storage.new_file(device) as path:
        path.write_text("nothing")
    assert stat.S_ISCHR(device.stat().st_mode)
    with (
        pytest.raises(storage.StorageError, match="disk is a block device; choose a file name"),
        storage.new_file(tmp_path / "disk"),
    ):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "null"]


def test_every_verb_with_an_output_writes_into_a_pipe(
    tmp_path: Path, scenario: Path, ackclock: Callable[..., Finished]
) -> None:
    def through(name: str, *arguments: object) -> bytes:
        fifo, got = tmp_path / name, list[bytes]()
        os.mkfifo(fifo)
        reader = _read(fifo, got)
        done = ackclock(*arguments, fifo)
        assert done.returncode == 0, done.stderr
        reader.join(60)
        assert stat.S_ISFIFO(fifo.lstat().st_mode)
        return got[0]

    # The magic numbers of pcap with nanoseconds and of PNG, and a head of CSV.
    packets = through("packets", "simulate", scenario, "--quiet", "--pcap")
    assert packets[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")
    assert b"\n" in through("points.csv", "predict", "response", "-o")
    home = tmp_path / "results" / "experiment=x"
    home.mkdir(parents=True)
    rows = {"point": [0, 1], "run": [0, 0], "p": [0.1, 0.2], "goodput_mbps": [1.0, 2.0]}
    pl.DataFrame(rows).write_parquet(home / "part-00000.parquet")
    plot = ("plot", "results", "--x", "p", "--y", "goodput_mbps", "-o")
    assert through("picture.png", *plot).startswith(b"\x89PNG")


def test_a_directory_is_not_replaced_even_if_it_came_later(tmp_path: Path) -> None:
    target = tmp_path / "table"
    with (
        pytest.raises(storage.StorageError, match="table is a directory; choose a file name"),
        storage.new_file(target) as path,
    ):
        path.write_text("rows")
        target.mkdir()
    assert list(tmp_path.iterdir()) == [target]
    with (
        pytest.raises(storage.StorageError, match="table is a directory; choose a file name"),
        storage.new_file(target),
    ):
        raise AssertionError("nothing is to be made for it")
