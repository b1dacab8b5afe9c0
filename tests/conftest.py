"""Fixtures and scenarios that several tests share."""

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import hypothesis
import pytest

from ackclock.cli.main import main
from ackclock.reproduction.claims import judge
from torture import Failing

if os.environ.get("ACKCLOCK_CORE"):
    core_only = str(Path(__file__).parent / "core_only")
    sys.path.insert(0, core_only)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [core_only, os.environ.get("PYTHONPATH")]))
    # This process has had the environment's own sitecustomize, if there is one.
    sys.modules.pop("sitecustomize", None)
    import sitecustomize  # noqa: F401

# On a busy machine the generation of inputs is slow, too, which says nothing about the tested code.
hypothesis.settings.register_profile(
    "busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy")

# The scripts next to the measured tables are programs, not tests.
collect_ignore = ["core_only", "data", *(["satellites"] if os.environ.get("ACKCLOCK_CORE") else [])]

COMMAND = [sys.executable, "-m", "ackclock"]

BOTTLENECK = """\
[dumbbell]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "25 packets" }
loss = { kind = "bernoulli", rate = "0.1 %" }
"""

SCENARIO = f"""\
[run]
duration = "5 s"
warmup = "1 s"
seed = 7
sample = "50 ms"

{BOTTLENECK}
[[flow]]
name = "a"
controller = "reno"
rtt = "40 ms"
overhead = "500 us"

[[flow]]
name = "b"
controller = "illinois"
rtt = "60 ms"
start = "500 ms"
overhead = "500 us"
"""


LONG = (
    "test_contained.py",
    "test_figures.py",
    "test_foreign.py",
    "test_foreign_rust.py",
    "test_hostile.py",
    "test_inference.py",
    "test_integrity.py",
    "test_kernel_twin.py",
    "test_live_view.py",
    "test_notebooks.py",
    "test_predictions.py",
    "test_stories.py",
    "test_sweep.py",
    "test_tutorials.py",
    "test_verdicts.py",
)
"""Files whose tests take longest: `make test` leaves them to `make test-all`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the long tests, and begin with the longest, so that no core waits for it at the end.

    Tests of findings come last, because they wait for its runs.
    """
    for item in items:
        if item.path.name in LONG:
            item.add_marker("long")
    order = {"test_verdicts.py": 0, "test_findings.py": 2}
    items.sort(key=lambda item: order.get(item.path.name, 1))


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for something that another process does, so long that only a defect takes longer."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"it did not happen within {seconds} s"
        time.sleep(0.02)


Finished = subprocess.CompletedProcess[str]


@pytest.fixture
def keeps_short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep runs that would be faster to simulate again."""
    monkeypatch.setattr(judge, "FEWEST_PACKETS", 0)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Return a file with two flows that runs in an instant."""
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO)
    return file


@pytest.fixture
def ackclock(tmp_path: Path) -> Callable[..., Finished]:
    """Run the command line in an empty directory."""

    def run(*arguments: object, **options: object) -> Finished:
        command = [*COMMAND, *(str(argument) for argument in arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, **options)

    return run


@pytest.fixture
def ackclock_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Finished]:
    """Run the command line in an empty directory and in this process, which has imported it."""

    def run(*arguments: object) -> Finished:
        words = [str(argument) for argument in arguments]
        output, errors = io.StringIO(), io.StringIO()
        with monkeypatch.context() as changed, redirect_stdout(output), redirect_stderr(errors):
            changed.chdir(tmp_path)
            changed.setattr(sys, "argv", ["ackclock", *words])
            with pytest.raises(SystemExit) as end:
                main()
        return Finished(words, int(end.value.code or 0), output.getvalue(), errors.getvalue())

    return run


@pytest.fixture
def bin_directory(tmp_path: Path) -> Path:
    """Return a directory with the command of this checkout, and a sudo that does nothing."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for name, line in (("ackclock", f"'{sys.executable}' -m ackclock"), ("sudo", "")):
        (directory / name).write_text(f'#!/bin/sh\nexec {line} "$@"\n')
        (directory / name).chmod(0o755)
    return directory


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Failing]:
    """Yield a disk on which one call fails, for the directory `out`."""
    yield Failing(monkeypatch, tmp_path / "out")
    monkeypatch.undo()
