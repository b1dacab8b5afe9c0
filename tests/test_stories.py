"""The stories of docs/stories.md: the commands as printed, and their answers.

Those of the kernel developer and the QUIC engineer are tested with the satellites.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "stories.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def tell(title: str, directory: Path, commands: Path) -> None:
    """Follow a story in an empty directory: save its files, run commands and Python."""
    (story,) = [part for part in PAGE.split("\n## ") if part.startswith(f"{title}:")]
    environment = os.environ | {"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "MPLBACKEND": "Agg"}
    for language, name, text in BLOCK.findall(story):
        if language == "toml":
            (directory / name).write_text(text)
            continue
        lines = text.splitlines() if language == "console" else [text]
        for line in lines:
            shell = ["bash", "-euo", "pipefail", "-c", line.removeprefix("$ ")]
            command = shell if language == "console" else [sys.executable, "-c", text]
            done = subprocess.run(
                command, cwd=directory, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


def _answers(directory: Path, question: str) -> dict[str, dict[str, float]]:
    """Return value, low and high by control."""
    table = pl.read_parquet(directory / "answers.parquet").filter(question=question)
    return {row["control"]: row for row in table.to_dicts()}


def test_a_student(tmp_path: Path, bin_directory: Path) -> None:
    tell("A student", tmp_path, bin_directory)
    home = _answers(tmp_path / "home", "delay")
    # 640 packets of 8000 bits at 25 Mbit/s are 204.8 ms. CUBIC falls to 0.7 of the window, which is
    # 0.7 (30 + 205) - 30 = 134 ms of queue, and climbs again. A packet takes 0.32 ms, and Vegas
    # keeps one to three in the queue and one in transmission.
    assert 134 < home["cubic-linux"]["value"] < 205
    assert home["vegas"]["value"] < 4 * 0.32
    # CoDel's target is 5 ms.
    assert all(answer["value"] < 5 for answer in _answers(tmp_path / "codel", "delay").values())
    assert (tmp_path / "download.png").stat().st_size > 10_000


def test_a_network_engineer(tmp_path: Path, bin_directory: Path) -> None:
    tell("A network engineer", tmp_path, bin_directory)
    geo = _answers(tmp_path / "geo", "goodput")
    # CUBIC's response function at p = 0.001 and 0.6 s (RFC 9438, section 5.1):
    # 1.054 (0.6 / 0.001)^(3/4) = 128 packets, 1.7 Mbit/s.
    assert 0.8 < geo["cubic"]["value"] < 3.4
    # Three runs of CUBIC scatter too much for an upper end.
    assert geo["bbr"]["low"] > 5 * geo["cubic"]["value"]
    wifi = _answers(tmp_path / "wifi", "itself")
    assert all(answer["value"] > 0.9 for answer in wifi.values())


def test_a_researcher(tmp_path: Path, bin_directory: Path) -> None:
    tell("A researcher", tmp_path, bin_directory)
    record = json.loads((tmp_path / "results/illinois/figure-1/artefact.json").read_text())
    assert all(claim["holds"] for claim in record["claims"]) and not record["error"]
    assert "<svg" in (tmp_path / "response.svg").read_text()
    table = (tmp_path / "table.tex").read_text()
    assert r"\toprule" in table
    assert "illinois" in table
