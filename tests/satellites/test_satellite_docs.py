"""What the documentation quotes of satellites: commands and their options, Python."""

import pytest

from test_docs import PAGES, ROOT, commands, has_its_options, imports

# Programs of their own, whose options are read in Rust.
PROGRAMS = {"link": "ackclock-link", "measure": "ackclock-measure", "kernel": "ackclock-kernel"}
COMMANDS = commands(verbs_are_added=True)


def source_of(verb):
    files = (ROOT / "crates" / PROGRAMS[verb] / "src").rglob("*.rs") if verb in PROGRAMS else ()
    return "".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("words", COMMANDS)
def test_a_quoted_command_exists_with_its_options(words):
    has_its_options(words, source_of(words[1]))


def test_commands_are_found():
    assert len(COMMANDS) > 10


def test_what_quoted_python_imports_exists():
    lines = [line for page in PAGES for line in imports(page, of_the_core=False)]
    for line in lines:
        exec(line, {})  # noqa: S102
    assert lines
