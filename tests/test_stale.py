"""Generated files: each exists, has a command and sources, and is listed when a source is newer."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
STALE = runpy.run_path(str(ROOT / "docs" / "stale.py"))


@pytest.mark.parametrize("entry", STALE["GENERATED"], ids=lambda entry: entry.files)
def test_what_is_named_exists(entry):
    # A paper need not have been published, so one of the files of a pattern is enough.
    expanded = [(place, sources) for place, sources, of in STALE["expanded"]() if of.files == entry.files]
    assert any(
        (ROOT / place).exists() and all((ROOT / source).exists() for source in sources)
        for place, sources in expanded
    )


@pytest.mark.parametrize("entry", STALE["GENERATED"], ids=lambda entry: entry.files)
def test_its_command_and_its_test_exist(entry):
    if entry.command.startswith("make "):
        assert (ROOT / "scripts" / entry.command.removeprefix("make ")).exists()
    if entry.noticed_by:
        places = ("tests", "crates/*/tests")
        assert [file for place in places for file in ROOT.glob(f"{place}/{entry.noticed_by}")]


def test_every_picture_of_the_documentation_is_named():
    named = [re.sub(r"\{name\}", "*", entry.files) for entry in STALE["GENERATED"]]
    known = {file for pattern in named for path in ROOT.glob(pattern) for file in (path, *path.rglob("*"))}
    pictures = [file for file in (ROOT / "docs" / "images").rglob("*") if file.is_file()]
    assert pictures
    assert [file.name for file in pictures if file not in known] == []


def test_every_page_with_a_generated_part_is_named():
    # A part stands between two marks, of which the first says what makes it.
    named = {place for place, _, _ in STALE["expanded"]()}
    folders = (".", "docs", "docs/*", "papers/*", "satellites/*")
    pages = {file for folder in folders for file in ROOT.glob(f"{folder}/*.md")}
    generated = {
        file.relative_to(ROOT).as_posix()
        for file in pages
        if re.search(r"^<!-- .*made by ", file.read_text("utf-8"), re.MULTILINE)
    }
    assert {"README.md", "docs/theory.md"} <= generated
    assert generated - named == set()


def test_a_file_is_stale_when_its_source_was_committed_later(tmp_path):
    def commit(file, time_s):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(str(time_s))
        times = {"GIT_AUTHOR_DATE": f"{time_s} +0000", "GIT_COMMITTER_DATE": f"{time_s} +0000"}
        who = ["-c", "user.name=somebody", "-c", "user.email=nobody@example.org"]
        for words in (["add", "."], [*who, "commit", "-qm", file]):
            subprocess.run(["git", *words], cwd=tmp_path, env=os.environ | times, check=True)

    def listed():
        return [line.split(" is older")[0] for line in STALE["stale"](tmp_path) if "glossary" in line]

    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit("python/ackclock/draw/glossary.toml", 1_000_000_000)
    commit("docs/glossary.md", 1_000_000_100)
    assert listed() == []
    commit("python/ackclock/draw/glossary.toml", 1_000_000_200)
    assert listed() == ["docs/glossary.md"]
    commit("docs/glossary.md", 1_000_000_300)
    assert listed() == []
    # What is not committed is newer than every commit.
    (tmp_path / "python/ackclock/draw/glossary.toml").write_text("changed")
    assert listed() == ["docs/glossary.md"]


def test_it_ends_quietly_when_nobody_reads_on():
    reader, writer = os.pipe()
    os.close(reader)
    program = "import stale; stale.stale = lambda: iter(['a line', 'another']); stale.main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT / "docs",
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    # As make sees it: a status other than 0 would be an error of `make stale`.
    assert (done.returncode, done.stderr) == (0, "")


def test_a_window_curve_is_drawn_where_the_site_shows_it(tmp_path):
    made = runpy.run_path(str(ROOT / "docs" / "make.py"))
    made["draw_curve"]("reno", tmp_path)
    assert "<svg" in (tmp_path / "reno.svg").read_text("utf-8")
    assert np.loadtxt(ROOT / "docs" / "curves" / "reno.txt").min() >= 1


def test_the_site_shows_the_picture_in_place_of_the_numbers(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    build = runpy.run_path(str(ROOT / "docs" / "site" / "build.py"))
    page = ROOT / "docs" / "controllers" / "bic.md"
    shown = build["linked"](page.read_text("utf-8"), page, build["placed"](page))
    assert "](../images/controllers/bic.svg)" in shown
    assert "![Window of bic over time" in shown
