"""The kernel developer's story of docs/stories.md: the commands as printed, and their answer."""

import os
import shutil
from pathlib import Path

import pytest

import ackclock
from ackclock_paths.cli import programs
from test_stories import tell


def _lacks() -> str:
    """Return the parts that the story about the kernel needs and this machine lacks, in words."""
    try:
        for name in ("ackclock-link", "ackclock-kernel"):
            programs.program(name)
    except ackclock.SimulationError as error:
        return str(error)
    if os.geteuid() != 0 or not Path("/sys/kernel/btf/vmlinux").exists():
        return "needs root and a kernel with BTF"
    missing = [one for one in ("iperf3", "ip", "ss") if shutil.which(one) is None]
    return f"needs {', '.join(missing)}" if missing else ""


# A user who names the program wants to see it run, so a missing part then fails the test.
@pytest.mark.skipif(bool(_lacks()) and "ACKCLOCK_KERNEL" not in os.environ, reason=_lacks() or "nothing")
def test_a_kernel_developer(tmp_path: Path, bin_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # On a machine that runs other tests a packet may be late, which link would call invalid.
    tolerant = bin_directory / "ackclock-link"
    real = programs.program("ackclock-link")
    tolerant.write_text(f'#!/bin/sh\nexec "{real}" --tolerance 1h "$@"\n')
    tolerant.chmod(0o755)
    monkeypatch.setenv("ACKCLOCK_LINK", str(tolerant))
    tell("A kernel developer", tmp_path, bin_directory)
    run = ackclock.Run.read(tmp_path / "fit")
    assert {flow["controller"] for flow in run.summary["flows"]} == {"fit"}
    # 10 Mbit/s on the wire; before slow start has ended it is less.
    assert 5 < max(flow["goodput_mbps"] for flow in run.summary["flows"]) < 10
