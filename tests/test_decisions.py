"""Decision records: every one is listed, has its four parts, and points at files that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "decisions"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
PARTS = ["Decision", "Why", "What it costs", "Where"]


def test_the_index_lists_every_record_with_its_title():
    listed = re.findall(r"^\| (\d+) \| \[(.+)\]\((.+)\) \|$", (FOLDER / "index.md").read_text("utf-8"), re.M)
    assert len(RECORDS) >= 15
    titles = [re.match(r"# (\d+)\. (.+)", record.read_text("utf-8")).groups() for record in RECORDS]
    assert listed == [
        (number, title, record.name) for record, (number, title) in zip(RECORDS, titles, strict=True)
    ]
    # The number of a file is that of its title, without a gap.
    assert [int(record.name[:3]) for record in RECORDS] == list(range(1, len(RECORDS) + 1))
    assert [int(number) for number, _ in titles] == list(range(1, len(RECORDS) + 1))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_a_record_is_short_and_has_its_parts(record):
    text = record.read_text("utf-8")
    assert re.findall(r"^\*\*(.+?)\.\*\* ", text, re.M) == PARTS
    assert len(text.split()) <= 150


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_where_names_places_that_exist(record):
    where = record.read_text("utf-8").split("**Where.**")[1]
    named = re.findall(r"`([^`]*/[^`]*|pyproject\.toml)`", where)
    assert named
    assert [place for place in named if not (ROOT / place).exists()] == []
