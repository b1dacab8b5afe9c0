"""What CONTRIBUTING.md and ARCHITECTURE.md send a newcomer to: files, tests and lists that are there.

Its steps were followed in a copy: a control, a metric, a claim, a situation and a named path.
"""

import re
from pathlib import Path

import pytest

from ackclock.cli.main import app
from ackclock.engine import catalogue

ROOT = Path(__file__).resolve().parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
ENDINGS = "rs|py|toml|md|tsx?|csv|txt|js|tcl|c|h|json"
NAMED = re.compile(rf"(?<![\w./-])((?:[\w.-]+/)*[\w.-]+\.(?:{ENDINGS}))(?![\w/])")
ELSEWHERE = {"target", "node_modules", ".git", ".venv", "results", "dist"}
FILES = [
    "/" + file.relative_to(ROOT).as_posix()
    for file in ROOT.rglob("*.*")
    if file.is_file() and not ELSEWHERE & set(file.relative_to(ROOT).parts)
]
EXAMPLES = {"figure_9.py", "mine.toml"}
"""Names that stand for any name, next to those with a part in capitals; a reader makes such a file."""
PATHS = catalogue.words("path")
ROWS = {
    cells[0]: " ".join(cells[1:])
    for line in CONTRIBUTING.splitlines()
    if line.startswith("| ") and len(cells := line.strip("| ").split(" | ")) == 3
}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_a_file_that_is_named_exists(page):
    names = set(NAMED.findall((ROOT / page).read_text("utf-8"))) - EXAMPLES
    names = {name for name in names if not re.search(r"NAME|PAPER", name)}
    assert len(names) > 20
    assert [name for name in sorted(names) if not any(file.endswith(f"/{name}") for file in FILES)] == []


def test_the_table_has_what_people_add():
    asked = (
        "congestion control",
        "metric",
        "claim of a paper",
        "key of a queue",
        "situation of an evaluation",
        "named path",
    )
    for thing in asked:
        (row,) = (text for name, text in ROWS.items() if thing in name)
        assert "`" in row


def test_a_variable_that_updates_something_is_read():
    tests = "".join(
        file.read_text("utf-8")
        for pattern in ("tests/*.py", "tests/satellites/*.py", "crates/*/tests/**/*.rs")
        for file in ROOT.glob(pattern)
    )
    names = set(re.findall(r"\b(UPDATE_[A-Z]+)=1", CONTRIBUTING))
    assert len(names) >= 4
    assert [name for name in sorted(names) if f'"{name}"' not in tests] == []


def test_every_named_path_is_where_people_look_for_it():
    page = (ROOT / "docs" / "named-paths.md").read_text("utf-8")
    numbers, sources = page.split("The sources of the numbers:")
    for part in (numbers, sources):
        assert re.findall(r"^\| `([\w]+)` \|", part, re.MULTILINE) == PATHS
    line = next(
        line
        for line in (ROOT / "docs/scenario.md").read_text("utf-8").splitlines()
        if line.startswith('- `path = "')
    )
    assert [name for name in PATHS if f"`{name}`" not in line and f'"{name}"' not in line] == []
    text = app.commands["compare"].load().help
    assert f"Paths: {', '.join(PATHS)} (" in " ".join(text.split())
    (file,) = re.findall(r"`(python/ackclock/cli/\w+\.py)`", ROWS["A named path"])
    assert "Paths: " in (ROOT / file).read_text("utf-8")
