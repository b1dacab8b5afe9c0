"""Stored numbers of a user's control are recomputed when any file that it depends on changes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ackclock.engine import followed
from conftest import BOTTLENECK, Finished

HELPER = "KEEP = 0.5\n"
CONTROLS = {
    "a module": ("from helper import KEEP", "KEEP", "helper.py"),
    "a module as a whole": ("import helper", "helper.KEEP", "helper.py"),
    "a package, relative": ("from parts.cut import KEEP", "KEEP", "parts/values.py"),
    "imported by a method": ("", "self.kept()", "helper.py"),
    "named by a text": (
        "import importlib; helper = importlib.import_module('helper')",
        "helper.KEEP",
        "helper.py",
    ),
    "a base class": ("from helper import KEEP", "KEEP", "base.py"),
}
"""What a control imports, where it uses that, and the file that is changed."""


def write(place: Path, kind: str) -> Path:
    """Write a control that follows from another file, and return that file."""
    imports, keep, file = CONTROLS[kind]
    (place / "parts").mkdir()
    (place / "parts" / "__init__.py").touch()
    (place / "parts" / "cut.py").write_text("from .values import KEEP as KEEP\n")
    (place / "parts" / "values.py").write_text(HELPER)
    (place / "helper.py").write_text(HELPER)
    (place / "base.py").write_text(
        "import ackclock\n"
        "class Base(ackclock.Control):\n"
        "    def on_ack(self, ack):\n"
        "        if not self.slow_start(ack):\n"
        "            self.window += ack.growth / self.window\n"
    )
    (place / "mine.py").write_text(
        f"{imports}\n"
        "from base import Base\n"
        "class Mine(Base):\n"
        "    def kept(self):\n"
        "        from helper import KEEP\n"
        "        return KEEP\n"
        "    def on_loss(self, loss):\n"
        f"        self.window = self.ssthresh = max(2.0, {keep} * self.window)\n"
    )
    return place / file


FINGERPRINT = (
    "from ackclock.engine import controls\ncontrols.load('{0}')\n"
    "print(controls.fingerprint(['{0}']), [one.name for one in controls.files(['{0}'])])"
)


def fingerprint(place: Path, name: str = "mine:Mine") -> str:
    """Return the fingerprint of a control and its files, as a new process has them."""
    command = [sys.executable, "-c", FINGERPRINT.format(name)]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("kind", CONTROLS)
def test_a_changed_file_is_a_changed_control(kind: str, tmp_path: Path) -> None:
    file = write(tmp_path, kind)
    first = fingerprint(tmp_path)
    assert fingerprint(tmp_path) == first
    assert file.name in first
    file.write_text(file.read_text().replace("0.5", "0.05") + "# changed\n")
    assert fingerprint(tmp_path) != first
    # What nobody imports changes nothing.
    (tmp_path / "unused.py").write_text("KEEP = 1\n")
    file.write_text(file.read_text().replace("0.05", "0.5").replace("# changed\n", ""))
    assert fingerprint(tmp_path) == first


def test_a_comparison_has_the_numbers_of_the_helper_of_today(
    tmp_path: Path, ackclock: Callable[..., Finished]
) -> None:
    file = write(tmp_path, "a module")
    compare = [
        "compare",
        "mine:Mine",
        "--rate",
        "10mbit",
        "--rtt",
        "20ms",
        "--duration",
        "3s",
        "--runs",
        "1",
        "-o",
        "out",
        "--json",
    ]
    first = ackclock(*compare).stdout
    assert "helper.py, mine.py." in (tmp_path / "out" / "index.html").read_text("utf-8")
    file.write_text(HELPER.replace("0.5", "0.05"))
    changed = ackclock(*compare).stdout
    assert changed != first
    shutil.rmtree(tmp_path / "out")
    assert ackclock(*compare).stdout == changed


def test_a_sweep_is_made_again_and_says_of_which_files(
    tmp_path: Path, ackclock: Callable[..., Finished]
) -> None:
    file = write(tmp_path, "a package, relative")
    (tmp_path / "path.toml").write_text(
        f'[run]\nduration = "1 s"\n{BOTTLENECK}\n[[flow]]\ncontroller = "mine:Mine"\nrtt = "20 ms"\n'
    )
    (tmp_path / "s.toml").write_text('scenario = "path.toml"\n[runs]\ncount = 2\n')
    sweep = ["sweep", "s.toml", "-o", "out"]
    assert "2 runs, 2 of them made now" in ackclock(*sweep).stdout
    said = ackclock(*sweep).stdout
    assert "2 runs, 0 of them made now" in said
    assert "The numbers depend on base.py, helper.py, mine.py, parts/__init__.py" in said
    file.write_text(HELPER.replace("0.5", "0.9"))
    again = ackclock(*sweep, "--force").stdout
    assert "2 runs, 2 of them made now" in again


def test_nothing_of_python_or_installed_is_followed(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(
        "import collections, json, numpy, polars\nimport ackclock\n"
        "class Plain(ackclock.Control):\n    def on_ack(self, ack):\n        pass\n"
    )
    assert fingerprint(tmp_path, "plain:Plain").endswith(" ['plain.py']\n")


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_library_follows_from_what_it_links_in_its_folder(tmp_path: Path) -> None:
    def compile_to(name: str, *words: str) -> None:
        command = ["cc", "-shared", "-fPIC", "-o", name, *words]
        subprocess.run(command, cwd=tmp_path, check=True)

    (tmp_path / "help.c").write_text("int keep(void) { return 1; }\n")
    (tmp_path / "mine.c").write_text("int keep(void);\nint mine(void) { return keep(); }\n")
    compile_to("libhelp.so", "help.c")
    compile_to("libmine.so", "mine.c", "-L.", "-lhelp", "-Wl,-rpath,$ORIGIN")
    compile_to("libother.so", "help.c")
    files = followed.of_library(tmp_path / "libmine.so")
    assert [file.name for file in files] == ["libhelp.so", "libmine.so"]
    before = followed.digest(files)
    (tmp_path / "help.c").write_text("int keep(void) { return 2; }\n")
    compile_to("libhelp.so", "help.c")
    assert followed.digest(files) != before
