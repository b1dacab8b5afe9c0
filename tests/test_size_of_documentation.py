"""How long the hand-written documentation may be: its words in all, and those of a paragraph.

A word is what stands between spaces and has a letter or a digit. Code blocks do not count, nor do the parts
that a command writes, between `<!-- NAME: made by ... -->` and `<!-- end of NAME -->`. A paragraph is a block
of text or an item of a list, and no table.
"""

import re
from collections.abc import Iterator

import pytest

from test_shelves import DOCS, LINES

ROOT = DOCS.parent
GENERATED = "docs/scenario.md", "docs/glossary.md", "docs/api.md"
"""Pages that a command writes as a whole."""
NOT_COUNTED = "docs/controllers", "docs/decisions", "docs/curves", "papers"
"""A page for each control, decision and paper, of which a reader needs few."""
REFERENCE = {(DOCS / target).resolve() for _, target, _ in LINES["Reference"]}
"""The shelf in which one looks something up; on the others a paragraph is at most eight lines."""
MOST_WORDS = 35_000
"""A thick booklet; whoever needs more room shortens another page."""
MOST_WORDS_OF_A_PARAGRAPH = 120
"""Eight lines of fifteen words."""
LONGER_PARAGRAPHS = 2
"""How many there still are; it only shrinks."""

MADE = re.compile(r"<!-- ([\w-]+): made by .*?<!-- end of \1 -->", re.DOTALL)
CODE = re.compile(r"^```.*?^```$|^ {4,}\S[^\n]*$", re.DOTALL | re.MULTILINE)


def pages() -> list[str]:
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("satellites/*/README.md")]
    names = sorted(file.relative_to(ROOT).as_posix() for file in files)
    return [name for name in names if name not in GENERATED and not name.startswith(NOT_COUNTED)]


def by_hand(page: str) -> str:
    return CODE.sub("", MADE.sub("", (ROOT / page).read_text("utf-8")))


def words(text: str) -> int:
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def paragraphs(text: str) -> Iterator[str]:
    without_headings = re.sub(r"^#+ .*$", "", text, flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n", without_headings):
        for part in re.split(r"\n(?=\s*(?:[-*]|\d+\.) )", block):
            if not part.lstrip().startswith("|"):
                yield "\n".join(line for line in part.splitlines() if not line.lstrip().startswith("|"))


def test_the_documentation_has_a_bound() -> None:
    counts = {page: words(by_hand(page)) for page in pages()}
    assert len(counts) > 20
    assert sum(counts.values()) <= MOST_WORDS, sorted(counts.items(), key=lambda count: -count[1])[:10]


def test_paragraphs_are_short() -> None:
    long = [
        f"{page}: {words(text)} words: {text.strip()[:60]}"
        for page in pages()
        if ROOT / page not in REFERENCE
        for text in paragraphs(by_hand(page))
        if words(text) > MOST_WORDS_OF_A_PARAGRAPH
    ]
    assert len(long) <= LONGER_PARAGRAPHS, long


def test_a_page_begins_with_a_sentence() -> None:
    beginnings = {page: by_hand(page).split("\n", 2)[1:2] for page in pages() if ROOT / page not in REFERENCE}
    assert [page for page, line in beginnings.items() if line and not re.match(r"[\w*`\[]", line[0])] == []


@pytest.mark.parametrize(
    ("text", "count"), [("a b-c | 1.5 --- |", 3), ("```\ncode\n```\n\ntext\n\n    make run\n", 1)]
)
def test_words_are_counted_without_code_and_rules(text: str, count: int) -> None:
    # Bars and rules of a table have no letter, and "b-c" is a word.
    assert words(CODE.sub("", text)) == count


def test_an_item_of_a_list_is_a_paragraph_and_a_table_is_none() -> None:
    text = "# Head\nfirst line\n\n- one\n- two\n\n| a | b |\n| --- | --- |\n\n1. three\n   more\n"
    assert [part.strip() for part in paragraphs(text)] == [
        "first line",
        "- one",
        "- two",
        "1. three\n   more",
    ]
