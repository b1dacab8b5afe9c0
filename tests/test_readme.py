"""The README: short, made from results where it has numbers, and quoting what commands print."""

import json
import re
import runpy
from pathlib import Path

import pytest
from PIL import Image

import ackclock
from ackclock.cli.main import VERBS
from ackclock_papers import PAPERS

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
MADE = runpy.run_path(str(ROOT / "docs" / "readme.py"))
COMMANDS = list(MADE["commands"](TEXT))
ADDED = {verb.name for verb in VERBS if not verb.module.startswith("ackclock.")}
"""Verbs of satellites; tests of the satellites check the README's quotes of them."""


def prose():
    """Return the README without code, tables, addresses and the parts that are made."""
    text = re.sub(
        r"^```.*?^```$|^    [^\n]*$|^\|[^\n]*$|<!--.*?-->", "", TEXT, flags=re.MULTILINE | re.DOTALL
    )
    for name in MADE["MADE"]:
        begin, end = MADE["marked"](name)
        for line in TEXT.split(begin)[1].split(end)[0].strip().splitlines():
            text = text.replace(line, "")
    return re.sub(r"\]\([^)]*\)", "]", text)


def test_it_is_a_screen_and_a_half():
    assert len(TEXT.splitlines()) <= 120


def test_no_sentence_is_longer_than_25_words():
    generated = "\n".join(MADE["text"]().split(MADE["marked"]("accuracy")[0])[1].splitlines()[:5])
    for text in (prose(), generated):
        parts = re.split(r"(?<=[.:?!])\s|\n\n|^- ", re.sub(r"[*_]", "", text), flags=re.MULTILINE)
        assert [part for part in parts if len(part.split()) > 25] == []


def test_no_line_lists_controls():
    names = {entry["name"] for entry in ackclock.controllers()}
    for line in TEXT.splitlines():
        assert len(names & set(re.findall(r"`([^`]+)`", line))) <= 5, line


def test_the_parts_from_results_are_what_is_made():
    # `docs/make.py readme` writes them again.
    assert MADE["text"]() == TEXT


def test_the_picture_shows_what_is_published():
    # `docs/make.py readme` draws it again.
    with Image.open(MADE["PICTURE"]) as picture:
        assert json.loads(picture.text["Description"]) == MADE["points"](MADE["answer"]())


def test_no_number_stands_where_no_test_looks():
    outside = TEXT
    for name in MADE["MADE"]:
        begin, end = MADE["marked"](name)
        outside = outside.split(begin)[0] + outside.split(end)[1]
    # Tables are made, commands are run, and the other lines of code are targets with their times.
    assert re.findall(r"^\|.*", outside, re.MULTILINE) == []
    blocks = re.findall(r"^```(.*)\n(?:.*\n)*?```$", outside, re.MULTILINE)
    assert len(blocks) == outside.count("```") / 2
    assert [block for block in blocks if not re.fullmatch(r"console|python \w+\.py", block)] == []
    code = re.sub(r"^```.*?^```$", "", outside, flags=re.MULTILINE | re.DOTALL)
    assert [line for line in re.findall(r"^    .*", code, re.MULTILINE) if "    make " not in line] == []


def test_numbers_in_words_are_counted():
    stories = (ROOT / "docs" / "stories.md").read_text("utf-8")
    counted = {
        "the claims of five classic papers": len(PAPERS),
        "## Five papers": len(PAPERS),
        "Five questions, five answers": len(re.findall(r"^## A ", stories, re.MULTILINE)),
    }
    text = prose()
    for phrase, count in counted.items():
        assert phrase in text
        assert count == 5
        text = text.replace(phrase, "")
    words = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand"
    assert re.findall(rf"\b(?:{words})\b", text, re.IGNORECASE) == []


def test_numbers_in_the_prose_are_names():
    python = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))[1]
    named = {python, "RFC 9743", "x86-64", "aarch64", "Figure 1", "Apache-2.0"}
    text = prose()
    for name in named:
        text = text.replace(name, "")
    assert re.findall(r"\d[\d.]*", text) == []


def test_its_times_are_those_of_the_contributors_page():
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    lines = re.findall(r"^    make (\w+) .*?(\w+) minutes(?: on (\w+) cores)?$", TEXT, re.MULTILINE)
    assert [target for target, *_ in lines] == ["run", "test"]
    for target, minutes, cores in lines:
        said = rf"`make {target}`[^.]*{minutes} minutes" + (
            rf"[^.]*{cores} (?:quiet )?cores" if cores else ""
        )
        assert re.search(said, page), f"make {target}: {minutes} minutes"


@pytest.mark.parametrize(
    ("command", "lines"),
    [entry for entry in COMMANDS if entry[0].split()[1] not in ADDED and entry[0].startswith("ackclock")],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_command_prints_what_is_quoted(command, lines, tmp_path):
    MADE["save_files"](TEXT, tmp_path)
    (tmp_path / "path.toml").write_bytes((ROOT / "scenarios" / "example.toml").read_bytes())
    printed = MADE["run"](command.split(" > ")[0], tmp_path)
    assert printed
    assert MADE["missing"](lines, printed) == []
    # Nobody is warned of something that the README does not show.
    assert [
        line for line in printed if re.search(r"warning|^note|use a longer", line, re.I) and line not in lines
    ] == []


def test_a_quoted_line_must_be_printed():
    lines = ["TCP-FIT: 2 of 5 main claims hold.", "in all: 3"]
    assert MADE["missing"](["in all: 3", "TCP-FIT: 2 of…"], lines) == []
    assert MADE["missing"](["in all: 4", "TCP-FIT: 2 of"], lines) == ["in all: 4", "TCP-FIT: 2 of"]
    assert MADE["nearest"]("TCP-FIT: 3 of 5 main claims hold.", lines) == lines[0]
    assert MADE["nearest"]("something else", lines) == "something else"


def test_the_picture_is_drawn_from_what_is_published(tmp_path, monkeypatch):
    draw = MADE["draw"]
    monkeypatch.setitem(draw.__globals__, "PICTURE", tmp_path / "answer.png")
    draw()
    assert (tmp_path / "answer.png").read_bytes()[:4] == b"\x89PNG"
    paper, name = MADE["ANSWER"]
    # What the caption says of it: its main claim is reproduced in the full run.
    assert f"[TCP-FIT](papers/{paper}/README.md)" in TEXT
    row = next(
        line
        for line in (ROOT / "papers" / paper / "README.md").read_text("utf-8").splitlines()
        if line.startswith("| Figure 1 |") and f"{paper}/{name}" in line
    )
    assert "| holds |" in row
