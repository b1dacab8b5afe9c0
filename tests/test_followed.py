"""Stored numbers of a user's control are recomputed when any file that it depends on changes."""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import polars as pl
import pytest

from ackclock.engine import controls, followed
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
"""A control's import, the place where it is used, and the file to change."""


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


def fingerprint(place: Path, name: str = "mine:Mine", path: str = "") -> str:
    """Return the fingerprint and files of a control, as a new process that also searches `path` has them."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        # A fork of this process has imported everything but the control.
        line = "failed"
        try:
            os.chdir(place)
            sys.path[:0] = [path] if path else []
            importlib.invalidate_caches()
            if path and (customised := Path(path) / "sitecustomize.py").exists():
                exec(customised.read_text(), {})  # noqa: S102
            controls.load(name)
            line = f"{controls.fingerprint([name])} {[file.name for file in controls.files([name])]}\n"
        finally:
            os.write(writer, line.encode())
            os._exit(0)
    os.close(writer)
    with open(reader) as answer:  # noqa: PTH123
        line = answer.read()
    os.waitpid(process, 0)
    assert line != "failed"
    return line


@pytest.mark.parametrize("kind", CONTROLS)
def test_a_changed_file_is_a_changed_control(kind: str, tmp_path: Path) -> None:
    file = write(tmp_path, kind)
    first = fingerprint(tmp_path)
    assert fingerprint(tmp_path) == first
    assert file.name in first
    file.write_text(file.read_text().replace("0.5", "0.05") + "# changed\n")
    assert fingerprint(tmp_path) != first
    # A module that nobody imports changes nothing.
    (tmp_path / "unused.py").write_text("KEEP = 1\n")
    file.write_text(file.read_text().replace("0.05", "0.5").replace("# changed\n", ""))
    assert fingerprint(tmp_path) == first


@pytest.mark.long
def test_a_comparison_has_the_numbers_of_the_helper_of_today(
    tmp_path: Path, ackclock: Callable[..., Finished]
) -> None:
    file = write(tmp_path, "a module")
    # As few packets as show the helper: the verb itself takes most of the time.
    path = ["--rate", "2mbit", "--rtt", "20ms", "--duration", "2s", "--runs", "1"]
    compare = ["compare", "mine:Mine", *path, "-o", "out", "--json"]
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
    output = ackclock(*sweep).stdout
    assert "2 runs, 0 of them made now" in output
    assert "The numbers depend on base.py, helper.py, mine.py, parts/__init__.py" in output
    file.write_text(HELPER.replace("0.5", "0.9"))
    again = ackclock(*sweep, "--force").stdout
    assert "2 runs, 2 of them made now" in again


class Place:
    """A place in which the modules of a control lie, and how Python finds them from `home`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.package = home / "minepkg"
        self.helper = home / "helper"
        self.path = ""

    def change(self, file: Path, text: str) -> None:
        file.write_text(text)


class Zip(Place):
    """An archive, which is written again after every change."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.package, self.helper = home / "in" / "minepkg", home / "in" / "helper"
        self.path = str(home / "mine.zip")

    def change(self, file: Path, text: str) -> None:
        file.write_text(text)
        shutil.make_archive(str(self.home / "mine"), "zip", self.home / "in")


class SitePackages(Place):
    """Where an installer puts packages, here without its notes."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        site = home / "lib" / "site-packages"
        self.package, self.helper, self.path = site / "minepkg", site / "helper", str(site)


class Installed(SitePackages):
    """As an installer leaves it: each change is a new version with a new record."""

    def change(self, file: Path, text: str) -> None:
        file.write_text(text)
        for package in (self.package, self.helper):
            info = package.with_name(f"{package.name}-1.dist-info")
            info.mkdir(exist_ok=True)
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.name}\nVersion: 1\n")
            rows = sorted(each for each in package.rglob("*.py"))
            (info / "RECORD").write_text(
                "".join(
                    f"{each.relative_to(package.parent)},sha256={hashlib.sha256(each.read_bytes()).hexdigest()},\n"
                    for each in rows
                )
            )


class Editable(Place):
    """A folder elsewhere that a finder in site-packages knows, as setuptools installs it."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        source = home / "source"
        self.package, self.helper = source / "minepkg", source / "helper"
        site = home / "site"
        site.mkdir()
        self.path = str(site)
        (site / "sitecustomize.py").write_text(
            "import sys, importlib.util\n"
            "class EditableFinder:\n"
            "    @classmethod\n"
            "    def find_spec(cls, name, path=None, target=None):\n"
            f"        file = {str(source)!r} + '/' + name + '/__init__.py'\n"
            "        if name in ('minepkg', 'helper'):\n"
            "            return importlib.util.spec_from_file_location(name, file)\n"
            "sys.meta_path.append(EditableFinder)\n"
        )


class Namespace(Place):
    """A package without ``__init__``."""


PLACES = (Place, Zip, SitePackages, Installed, Editable, Namespace)
PARTS = {
    "the control": "minepkg/control.py",
    "its base class": "minepkg/base.py",
    "its package, by a computed name in a method": "minepkg/late.py",
    "another package": "helper/__init__.py",
}


def write_package(place: Place) -> dict[str, Path]:
    """Write a control with parts in two packages, and return its files by their roles."""
    for folder in (place.package, place.helper):
        folder.mkdir(parents=True)
    files = {
        what: (place.package if name.startswith("minepkg/") else place.helper) / name.partition("/")[2]
        for what, name in PARTS.items()
    }
    if not isinstance(place, Namespace):
        (place.package / "__init__.py").touch()
    place.change(files["another package"], HELPER)
    place.change(files["its package, by a computed name in a method"], HELPER)
    place.change(
        files["its base class"],
        "import ackclock\nclass Base(ackclock.Control):\n    def on_ack(self, ack):\n"
        "        if not self.slow_start(ack):\n            self.window += ack.growth / self.window\n",
    )
    place.change(
        files["the control"],
        "import importlib\nimport helper\nfrom .base import Base\nclass Gentle(Base):\n"
        "    def on_loss(self, loss):\n"
        "        late = importlib.import_module('minepkg.' + 'late')\n"
        "        self.window = self.ssthresh = max(2.0, late.KEEP * helper.KEEP * self.window)\n",
    )
    return files


@pytest.mark.parametrize("kind", PLACES, ids=lambda kind: kind.__name__)
def test_the_place_of_a_module_makes_no_difference(kind: type[Place], tmp_path: Path) -> None:
    place = kind(tmp_path)
    files = write_package(place)
    name = "minepkg.control:Gentle"
    known = [fingerprint(tmp_path, name, place.path)]
    for what, file in files.items():
        place.change(file, f"{file.read_text()}# changed\n")
        known.append(fingerprint(tmp_path, name, place.path))
        assert len(set(known)) == len(known), what
        assert fingerprint(tmp_path, name, place.path) == known[-1]


def test_an_edit_of_an_imported_file_that_was_installed_counts_without_a_new_record(tmp_path: Path) -> None:
    place = Installed(tmp_path)
    files = write_package(place)
    first = fingerprint(tmp_path, "minepkg.control:Gentle", place.path)
    files["another package"].write_text("KEEP = 0.05\n")
    assert fingerprint(tmp_path, "minepkg.control:Gentle", place.path) != first


def keeps(verb: str, place: Path) -> tuple[list[str], Callable[[], object]]:
    """Return the shortest call of a verb that keeps runs of the control, and a reader of its numbers."""
    name = "minepkg.control:Gentle"
    path = ["--rate", "10mbit", "--rtt", "20ms", "--duration", "3s", "--runs", "1"]
    if verb == "compare":
        return ["compare", name, *path, "-o", "out"], lambda: pl.read_parquet(
            place / "out" / "answers.parquet"
        )["value"].to_list()
    if verb == "sweep":
        (place / "path.toml").write_text(
            f'[run]\nduration = "3 s"\n{BOTTLENECK}\n[[flow]]\ncontroller = "{name}"\nrtt = "20 ms"\n'
        )
        (place / "s.toml").write_text('scenario = "path.toml"\n[runs]\ncount = 1\n')
        return ["sweep", "s.toml", "-o", "out", "--force"], lambda: pl.read_parquet(
            place / "out" / "experiment=s" / "part-00000.parquet"
        )["digest"].to_list()
    raise AssertionError(verb)


@pytest.mark.long
@pytest.mark.parametrize("verb", ["compare", "sweep"])
def test_an_installed_control_that_was_upgraded_is_measured_again(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ackclock: Callable[..., Finished]
) -> None:
    place = Installed(tmp_path)
    files = write_package(place)
    monkeypatch.setenv("PYTHONPATH", place.path)
    command, numbers = keeps(verb, tmp_path)
    done = ackclock(*command)
    assert done.returncode == 0, done.stderr
    assert "The numbers depend on lib/site-packages/minepkg/, helper 1." in shown(done, tmp_path)
    first = numbers()
    place.change(files["the control"], files["the control"].read_text().replace("* helper", "* 0.1 * helper"))
    assert ackclock(*command).returncode == 0
    changed = numbers()
    assert changed != first
    shutil.rmtree(tmp_path / "out")
    assert ackclock(*command).returncode == 0
    assert numbers() == changed


def shown(done: Finished, place: Path) -> str:
    """Return the output of a verb on the terminal and on its page."""
    pages = [page.read_text("utf-8") for page in place.glob("out/**/*.html")]
    return "\n".join([done.stdout, *pages])


def test_nothing_of_python_or_installed_is_a_file_of_a_control(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain.py").write_text(
        "import collections, json, numpy, polars\nimport ackclock\n"
        "class Plain(ackclock.Control):\n    def on_ack(self, ack):\n        pass\n"
    )
    assert fingerprint(tmp_path, "plain:Plain").endswith(" ['plain.py']\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    controls.load("plain:Plain")
    sentence = controls.follows(["plain:Plain"])
    numpy, polars = metadata.version("numpy"), metadata.version("polars")
    assert sentence.startswith("The numbers depend on plain.py, ")
    assert {f"numpy {numpy}", f"polars {polars}"} <= set(sentence.removesuffix(".").split(", "))


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
