"""The English of code and documents: the word list of CONTRIBUTING.md, and how docstrings are written."""

import ast
import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = sorted((ROOT / "python").rglob("*.py"))
SECTION = re.compile(r"^(Parameters|Returns|Yields|Attributes|Raises)\n-{4,}$", re.MULTILINE)
NAMELESS = ("asked", "due", "found", "got", "made", "one", "seen", "told")
"""Locals that say nothing of what they hold, whether of a function or of a comprehension."""
ALLOWED = dict(
    re.findall(r"^(.+?): (\d+)$", Path(__file__).with_name("language.txt").read_text("utf-8"), re.MULTILINE)
)
"""How often a pattern may still occur: a number that only shrinks."""
AVOIDED = {
    # Not as a part of the id of a claim, which never changes.
    "beside": r"(?<![-\w])beside(?![-\w])",
    "goes on": r"\b(goes|went|going) on\b(?! (to|with) )",
    "is told": r"\b(is|are|was|were) told\b",
    "hangs on": r"\bhangs? on\b",
    "mend": r"\bmend(s|ed|ing)?\b",
    "is no": r"(?<!there )(?<!where )\b(is|are) no (?!longer|more|less|different|fewer|such|one\b)",
    "of both": r"\b[Oo]f both\b",
    "what was found": r"\b[Ww]hat was found\b",
}
"""By the heading under which the word list and the allow-list have them."""
TEXTS = ("*.py", "*.pyi", "*.tcl", "*.rs", "*.md", "*.ts", "*.tsx", "*.html", "*.toml", "*.c", "*.h", "*.cff")
GENERATED = ("target", "node_modules", ".venv", ".git", "results", "dist", "data", "inferred", "charts.js")


@functools.cache
def text_of(file: Path) -> str:
    return file.read_text("utf-8")


@functools.cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(text_of(file))


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@functools.cache
def texts() -> list[Path]:
    files = {file for pattern in TEXTS for file in ROOT.rglob(pattern)}
    own = Path(__file__), ROOT / "CONTRIBUTING.md"
    return sorted(file for file in files if file not in own and not set(GENERATED) & set(file.parts))


def documented() -> Iterator[tuple[str, ast.AST, str]]:
    for file in PACKAGES:
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    yield f"{name(file)}:{getattr(node, 'lineno', 1)}", node, text


def test_docstrings_say_return_and_not_give() -> None:
    assert [place for place, _, text in documented() if re.match("Gives? ", text)] == []


def entries(text: str) -> Iterator[str]:
    """Yield the explanations of parameters, attributes, results and errors of a docstring."""
    for section in SECTION.split(text)[2::2]:
        body = re.split(r"^(?:Examples|See Also|Notes|References)\n-{4,}$", section, flags=re.MULTILINE)[0]
        for entry in re.finditer(r"^(?:    \S.*(?:\n|\Z)|\n(?=    \S))+", body, re.MULTILINE):
            yield " ".join(entry[0].split())


def constants() -> Iterator[tuple[str, str]]:
    """Yield the docstrings of constants and attributes: strings that follow an assignment."""
    for file in PACKAGES:
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Module | ast.ClassDef):
                for before, after in itertools.pairwise(node.body):
                    match before, after:
                        case ast.Assign() | ast.AnnAssign(), ast.Expr(ast.Constant(str(text))):
                            yield f"{name(file)}:{after.lineno}", text


def test_explanations_are_sentences_or_noun_phrases() -> None:
    explanations = [
        *((place, entry) for place, _, text in documented() for entry in entries(text)),
        *((place, text) for place, _, text in documented()),
        *constants(),
    ]
    assert [
        f"{place}: {text}"
        for place, text in explanations
        if len(text.split()) < 3 or re.match(r"(Of|Where|Which|Whose)\b", text)
    ] == []


def test_locals_are_named_for_what_they_are() -> None:
    stored: Counter[str] = Counter()
    for file in PACKAGES:
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NAMELESS:
                stored[name(file)] += 1
    assert stored.total() <= int(ALLOWED["locals"]), stored.most_common(20)


@pytest.mark.parametrize("words", AVOIDED)
def test_avoided_words_become_fewer(words: str) -> None:
    pattern = re.compile(AVOIDED[words], re.IGNORECASE)
    places: Counter[str] = Counter()
    for file in texts():
        places[name(file)] += len(pattern.findall(text_of(file)))
    assert places.total() <= int(ALLOWED[words]), (places.total(), places.most_common(20))


DOUBLED = re.compile(r"[A-Za-z],, [a-z]|[a-z]\.\. [A-Z]|\b(the the|a a|of of|is is|and and|to to) [a-z]")


def test_no_comma_stop_or_small_word_is_doubled() -> None:
    assert DOUBLED.findall("does no I/O,, and") and DOUBLED.findall("of the the link")
    assert not DOUBLED.findall("from 1 to 2, and so on. The end")
    # Spelling is for `typos` in make lint, which does not see this.
    places = {name(file): some for file in texts() if (some := DOUBLED.findall(text_of(file)))}
    assert places.keys() <= {name(Path(__file__))}, places


def test_the_word_list_has_every_avoided_word() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert [words for words in AVOIDED if f"| {words} |" not in page] == []


def test_docstrings_are_less_than_a_quarter_of_the_package() -> None:
    lines = docstrings = 0
    for file in PACKAGES:
        text = text_of(file)
        lines += text.count("\n")
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
                docstrings += (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
    assert docstrings / lines <= 0.23
