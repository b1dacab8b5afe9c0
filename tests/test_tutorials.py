"""The tutorials, done step by step in an empty directory as a new user would."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "MPLBACKEND": "Agg"}


def do(page: str, directory: Path) -> None:
    """Save the files of a page, and run its commands and its Python, in order."""
    for language, name, text in BLOCK.findall((ROOT / "docs" / page).read_text()):
        if language == "console":
            for line in text.splitlines():
                assert line.startswith("$ ")
                _run(["bash", "-euo", "pipefail", "-c", line[2:]], directory)
        elif name and name != "no-test":
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text)
        elif language == "python" and not name:
            _run([sys.executable, "-c", text], directory)
        elif language == "sql":
            code = f"import polars; assert not polars.sql({text!r}).collect().is_empty()"
            _run([sys.executable, "-c", code], directory)


def _run(command: list[str], directory: Path) -> None:
    done = subprocess.run(
        command, cwd=directory, env=_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}{done.stderr}"


def test_a_control_in_python(tmp_path: Path) -> None:
    do("tutorials/python-control.md", tmp_path)
    assert (tmp_path / "window.png").exists()
    page = (tmp_path / "results" / "comparison" / "index.html").read_text()
    assert "gentle:Gentle" in page
    assert (tmp_path / "loss.png").exists()


def test_sweeps(tmp_path: Path) -> None:
    do("sweeps.md", tmp_path)
    assert (tmp_path / "loss.pdf").exists()


@pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")
def test_a_control_in_rust_is_the_one_in_python(tmp_path: Path) -> None:
    (tmp_path / "ackclock").symlink_to(ROOT)
    shutil.copy(ROOT / "rust-toolchain.toml", tmp_path)
    do("tutorials/rust-control.md", tmp_path)
    do("tutorials/python-control.md", tmp_path)
    digests = [
        "import ackclock",
        "path = ackclock.dumbbell('50 Mbit/s', '10 ms', loss={'kind': 'bernoulli', 'rate': 1e-4})",
        "names = 'gentle:Gentle', 'gentle/target/release/libgentle.so:gentle'",
        "flows = [ackclock.flow(name, rtt='40 ms', params={'queue': 9}) for name in names]",
        "runs = [ackclock.simulate(ackclock.scenario(path, flow)) for flow in flows]",
        "assert runs[0].flows['timeouts'].item() == 0",
        "assert runs[0].flows['loss_events'].item() > 5",
        "assert runs[0].digest == runs[1].digest",
        "assert runs[0].windows['queued'].equals(runs[1].windows['queued'])",
    ]
    _run([sys.executable, "-c", "\n".join(digests)], tmp_path)


def test_measurements_become_paths(tmp_path: Path) -> None:
    do("measured.md", tmp_path)
    text = (tmp_path / "path.toml").read_text()
    # 19.295 Mbit/s is the median of the seconds after the first, and 1500 B are sent for 1448; RTTs grow from
    # 41.2 to 90.3 ms. UDP lost 13 of 8633 packets at a rate below the path's.
    assert re.search(r'^rate = "19.988 Mbit/s"  # measured: .*filled the path', text, re.MULTILINE)
    assert '"20.6 ms"  # measured' in text and '"49.1 ms" }  # a bound' in text
    assert '{ kind = "bernoulli", rate = 0.001506 }  # measured: 13 of 8633' in text


def test_the_example_crate_is_that_of_the_tutorial() -> None:
    page = (ROOT / "docs" / "tutorials" / "rust-control.md").read_text()
    code = next(text for language, _, text in BLOCK.findall(page) if language == "rust")
    example = (ROOT / "examples" / "rust-control" / "src" / "lib.rs").read_text()
    assert example.startswith(code)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("none.so:x", "file not found: none.so; build it with cargo build --release"),
        ("text.so:x", "cannot be loaded"),
    ],
)
def test_a_library_that_cannot_be_used_is_one_line(tmp_path: Path, reference: str, message: str) -> None:
    (tmp_path / "text.so").write_text("no library")
    _run(["bash", "-c", "ackclock example > first.toml"], tmp_path)
    done = subprocess.run(
        ["ackclock", "check", "first.toml", "--set", f"flow.0.controller={reference}"],
        cwd=tmp_path,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_paper_of_your_own(tmp_path: Path) -> None:
    do("tutorials/paper.md", tmp_path)
    record = json.loads((tmp_path / "results" / "my-bbr" / "section-1" / "artefact.json").read_text())
    holds = {claim["id"].rpartition("/")[2]: claim["holds"] for claim in record["claims"]}
    # As the page says: CUBIC's claim holds, and BBR's fails at 1 %.
    assert holds["cubic-at-most-3-mbps-at-1-percent"]
    assert not holds["bbr-full-throughput-at-0.01"]
    assert "BBR Congestion Control" in (tmp_path / "results" / "index.html").read_text()
