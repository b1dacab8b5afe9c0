"""What the documentation quotes: commands and their options, targets of make, files, Python."""

import re
import shlex
from pathlib import Path

import pytest

from ackclock.cli.main import VERBS, Verb, app
from ackclock.reproduction.shown.words import gain
from ackclock_papers import PAPERS

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (".", "docs", "docs/*", "papers/*", "satellites/*", "tests/data/*")
PAGES = sorted(file for folder in FOLDERS for file in ROOT.glob(f"{folder}/*.md"))
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
IMPORT = re.compile(r"^(?:from ackclock[\w.]* import .+|import ackclock[\w.]*)$", re.MULTILINE)
OF_THE_CORE = re.compile(r"(?:from|import) ackclock(?:_papers)?\b")
# What pages quote of satellites is tested with these.
ADDED = {verb.name for verb in VERBS if not verb.module.startswith("ackclock.")}


def _commands(name):
    """Give the commands of a page that begin with `name`, split as a shell does, up to a pipe."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for line in [*text.splitlines(), *INLINE.findall(text)]:
            for part in re.split(r"&&?|;|\||(?<!\S)#|>", line):
                bare = re.sub(r"^(\$ )?(sudo )?(\.venv/bin/)?", "", part.strip())
                if bare.startswith(f"{name} ") and "`" not in bare:
                    yield page.relative_to(ROOT), shlex.split(bare)


def commands(verbs_are_added):
    """Give the quoted commands whose verb is one of a satellite, or is none, as parameters of a test."""
    return [
        pytest.param(words, id=f"{page}: {' '.join(words)}"[:100])
        for page, words in _commands("ackclock")
        if (words[1] in ADDED) == verbs_are_added
    ]


COMMANDS = commands(verbs_are_added=False)


def has_its_options(words, program=""):
    """Check a command against --help, and its options also against the Rust of a program."""
    command, rest = app, words[1:]
    while rest and hasattr(command, "commands"):
        if rest[0].startswith("-"):
            break
        if rest[0].isupper():
            return  # NAME stands for any verb.
        if rest[0] not in command.commands and program:
            break
        assert rest[0] in command.commands, f"{rest[0]} is not a verb; there are {list(command.commands)}"
        command, rest = command.commands[rest[0]], rest[1:]
        command = command.load() if isinstance(command, Verb) else command
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    known |= {"--help", "-h"}
    for word in rest:
        option = word.split("=")[0]
        if re.fullmatch(r"--?[a-z][\w-]*", option):
            # An option of the programs in Rust is a field of their arguments.
            field = option.lstrip("-").replace("-", "_")
            assert option in known or re.search(rf"\b{field}\b", program), (
                f"{' '.join(words)}: there is no {option}"
            )


@pytest.mark.parametrize("words", COMMANDS)
def test_a_quoted_command_exists_with_its_options(words):
    has_its_options(words)


def test_commands_are_found():
    # Without any the test above would pass, too.
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


def imports(page, of_the_core):
    """Give the lines of a page's Python that import a package of ackclock."""
    for code in PYTHON.findall(page.read_text(encoding="utf-8")):
        yield from (line for line in IMPORT.findall(code) if bool(OF_THE_CORE.match(line)) == of_the_core)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_quoted_python_imports_exists(page):
    for line in imports(page, of_the_core=True):
        exec(line, {})  # noqa: S102


def test_the_documentation_quotes_what_cross_validation_gave():
    text = (ROOT / "docs/inference.md").read_text(encoding="utf-8")
    inferred = [paper for paper in PAPERS.values() if paper.inferred and paper.inferred.validation]
    assert inferred
    assert [paper.name for paper in inferred if gain(paper) not in text] == []


def test_the_tests_of_security_findings_exist():
    page = (ROOT / "docs/security-findings.md").read_text(encoding="utf-8")
    quoted = [
        (Path(file).name, test)
        for files, tests in re.findall(r"((?:`[\w/.]+\.(?:rs|py|ts)`(?: and )?)+)((?:,? ?\*[^*]+\*)+)", page)
        for file in files.strip("`").split("` and `")
        for test in re.findall(r"\*([^*]+)\*", tests)
    ]
    assert len(quoted) > 90
    sources = {
        file: "".join(
            source.read_text(encoding="utf-8")
            for folder in ("crates", "tests", "lab/tests")
            for source in (ROOT / folder).rglob(file)
        )
        for file in {file for file, _ in quoted}
    }
    assert [f"{file} {test}" for file, test in quoted if test not in sources[file]] == []
