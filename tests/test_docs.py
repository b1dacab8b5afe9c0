"""What the documentation quotes: commands and their options, targets of make, files, Python."""

import re
import shlex
from pathlib import Path

import pytest

from ackclock.cli.main import Verb, app

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (".", "docs", "docs/*", "papers/*", "tests/data/*")
PAGES = sorted(file for folder in FOLDERS for file in ROOT.glob(f"{folder}/*.md"))
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
# Programs of their own, whose options are read in Rust.
PROGRAMS = {"link": "ackclock-link", "measure": "ackclock-measure", "kernel": "ackclock-kernel"}


def _commands(name):
    """Give the commands of a page that begin with `name`, split as a shell does, up to a pipe."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for line in [*text.splitlines(), *INLINE.findall(text)]:
            for part in re.split(r"&&?|;|\||(?<!\S)#|>", line):
                bare = re.sub(r"^(\$ )?(sudo )?(\.venv/bin/)?", "", part.strip())
                if bare.startswith(f"{name} ") and "`" not in bare:
                    yield page.relative_to(ROOT), shlex.split(bare)


COMMANDS = [
    pytest.param(words, id=f"{page}: {' '.join(words)}"[:100]) for page, words in _commands("ackclock")
]


def _sources(program):
    return "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "crates" / program / "src").rglob("*.rs")
    )


@pytest.mark.parametrize("words", COMMANDS)
def test_a_quoted_command_exists_with_its_options(words):
    command, rest = app, words[1:]
    verb = rest[0]
    while rest and hasattr(command, "commands"):
        if rest[0].startswith("-"):
            break
        if rest[0].isupper():
            return  # NAME stands for any verb.
        if rest[0] not in command.commands and command.name in PROGRAMS:
            break
        assert rest[0] in command.commands, f"{rest[0]} is not a verb; there are {list(command.commands)}"
        command, rest = command.commands[rest[0]], rest[1:]
        command = command.load() if isinstance(command, Verb) else command
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    known |= {"--help", "-h"}
    text = _sources(PROGRAMS[verb]) if verb in PROGRAMS else ""
    for word in rest:
        option = word.split("=")[0]
        if re.fullmatch(r"--?[a-z][\w-]*", option):
            # An option of the programs in Rust is a field of their arguments.
            field = option.lstrip("-").replace("-", "_")
            assert option in known or re.search(rf"\b{field}\b", text), (
                f"{' '.join(words)}: there is no {option}"
            )


def test_commands_are_found():
    # The README's first screen alone has more; without any the test above would pass, too.
    assert len(COMMANDS) > 30


def test_quoted_targets_of_make_exist():
    targets = {"help"} | {file.name for file in (ROOT / "scripts").iterdir()}
    for page, words in _commands("make"):
        for word in words[1:]:
            if re.fullmatch(r"[a-z-]+", word):
                assert word in targets, f"{page}: make {word}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), target


def test_the_python_of_the_readme_runs():
    (code,) = PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    found = {}
    exec(code, found)  # noqa: S102
    assert found["run"].flows["controller"].to_list() == ["illinois", "cubic"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_quoted_python_imports_exists(page):
    for code in PYTHON.findall(page.read_text(encoding="utf-8")):
        for line in re.findall(r"^(?:from ackclock[\w.]* import .+|import ackclock[\w.]*)$", code, re.M):
            exec(line, {})  # noqa: S102
