"""The index of the documentation: four shelves, and every page on one of them."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
SHELVES = ("Tutorials", "How-to guides", "Explanation", "Reference")
PARTS = re.split(r"^## (.+)$", (DOCS / "index.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
LINES = {
    shelf: re.findall(r"^- \[(.+?)\]\((\S+?)\): (.+)$", text, re.MULTILINE)
    for shelf, text in zip(PARTS[::2], PARTS[1::2], strict=True)
}
PAGES = {
    file.relative_to(DOCS).as_posix() for folder in (".", "tutorials") for file in DOCS.glob(f"{folder}/*.md")
}
OF_OTHER_FOLDERS = {
    "../CONTRIBUTING.md",
    "../ARCHITECTURE.md",
    "../CHANGELOG.md",
    "decisions/index.md",
    "controllers",
}


def test_there_are_four_shelves():
    assert tuple(LINES) == SHELVES


def test_every_page_is_on_one_shelf():
    placed = [target for lines in LINES.values() for _, target, _ in lines]
    assert sorted(placed) == sorted((PAGES | OF_OTHER_FOLDERS) - {"index.md"})


@pytest.mark.parametrize("shelf", SHELVES)
def test_a_line_says_what_the_reader_can_do_then(shelf):
    for title, _, says in LINES[shelf]:
        # An imperative, and no sentence with a subject.
        assert re.match(r"[a-z]+ (?!is|are|has)", says), title
        assert says.endswith(".")


OPEN = {"evaluation", "suites", "tutorials/evaluation"}
"""Pages whose first sentence does not speak to the reader yet; the list only shrinks."""


@pytest.mark.parametrize("page", sorted(PAGES - {"index.md"} - {f"{name}.md" for name in OPEN}))
def test_a_page_begins_with_what_its_reader_can_do(page):
    first = (DOCS / page).read_text("utf-8").split("\n", 1)[1].lstrip().partition(". ")[0]
    assert re.search(r"\b[Yy]ou\b|^Find\b", first), first
