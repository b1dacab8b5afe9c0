"""What several tests need."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# The scripts beside the measured tables are programs, not tests.
collect_ignore = ["data"]

COMMAND = [sys.executable, "-m", "ackclock"]

SCENARIO = """\
[run]
duration = "5 s"
warmup = "1 s"
seed = 7
sample = "50 ms"

[dumbbell]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "25 packets" }
loss = { kind = "bernoulli", rate = "0.1 %" }

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

Finished = subprocess.CompletedProcess[str]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """Give a file with two flows that runs in an instant."""
    file = tmp_path / "two.toml"
    file.write_text(SCENARIO)
    return file


@pytest.fixture
def ackclock(tmp_path: Path) -> Callable[..., Finished]:
    """Run the command line in an empty directory."""

    def run(*arguments: object, **options: object) -> Finished:
        command = [*COMMAND, *(str(argument) for argument in arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, timeout=120, **options
        )

    return run
