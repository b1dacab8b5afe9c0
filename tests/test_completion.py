"""Completion with the Tab key, in the shells themselves."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ackclock.cli import completion
from ackclock.cli.main import VERBS
from ackclock.reproduction import library
from conftest import COMMAND

PROMPT = "ready> "
STARTS = {
    # Without the settings of whoever runs the tests.
    "bash": (
        ["bash", "--norc", "--noprofile", "-i"],
        f"PS1='{PROMPT}'",
        'eval "$(ackclock completion bash)"',
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        f"PS1='{PROMPT}'; unsetopt zle_bracketed_paste prompt_sp; autoload -U compinit; compinit -u -D",
        'eval "$(ackclock completion zsh)"',
    ),
}


def complete(command: list[str], line: str) -> subprocess.CompletedProcess[str]:
    """Ask for the names that complete the last word of a line, as bash's script does."""
    words = line.split(" ")
    asked = {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    environment = os.environ | asked | {"_ACKCLOCK_COMPLETE": "bash_complete"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


def offered(line: str) -> list[str]:
    """Return the words that complete a line."""
    finished = complete(COMMAND, line)
    assert finished.stderr == ""
    return [answer.partition(",")[2] for answer in finished.stdout.split()]


def test_every_verb_is_offered():
    assert offered("ackclock ") == [verb.name for verb in VERBS]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ackclock exp", ["explain"]),
        ("ackclock compare --rt", ["--rtt"]),
        ("ackclock compare reno cubic-8", ["cubic-8312"]),
        ("ackclock compare --path 4", ["4g"]),
        ("ackclock compare --queue dual", ["dualpi2"]),
        ("ackclock explain illinois-linux@", ["illinois-linux@kernel"]),
        ("ackclock reproduce bic/figure-10", ["bic/figure-10"]),
        (
            "ackclock reproduce af",
            ["africa", *(f"africa/{item.name}" for item in library.every()["africa"].artefacts)],
        ),
        ("ackclock predict resp", ["response"]),
    ],
)
def test_names_are_offered(words, expected):
    assert sorted(offered(words)) == sorted(expected)


def test_every_artefact_is_offered():
    listed = {f"{name}/{item.name}" for name, each in library.every().items() for item in each.artefacts}
    assert set(completion.artefacts()) == listed | set(library.every())


def loaded(line: str) -> set[str]:
    """Return the slow libraries that are in memory after a line was completed."""
    slow = ("polars", "numpy", "scipy", "matplotlib", "rich", "jinja2", "ackclock_papers")
    program = (
        f"import sys, runpy, atexit\nslow = {slow}\n"
        "atexit.register(lambda: print(*(name for name in slow if name in sys.modules), file=sys.stderr))\n"
        "sys.argv = ['ackclock']\nrunpy.run_module('ackclock', run_name='__main__')"
    )
    finished = complete([sys.executable, "-c", program], line)
    assert finished.stdout
    return set(finished.stderr.split())


@pytest.mark.parametrize(
    "line", ["ackclock compare cub", "ackclock reproduce bic/", "ackclock predict fit --"]
)
def test_a_tab_loads_no_library_that_is_slow(line):
    assert not loaded(line)


def test_an_unknown_shell_is_bad_input(ackclock_here):
    assert ackclock_here("completion", "tcsh").returncode == 2


def test_fish_gets_a_script_of_its_own(ackclock_here):
    assert "complete --no-files --command ackclock" in ackclock_here("completion", "fish").stdout


@pytest.mark.parametrize("shell", STARTS)
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("ackclock contr", "ackclock controllers"),
        ("ackclock compare --dur", "ackclock compare --duration"),
        ("ackclock compare --path transa", "ackclock compare --path transatlantic"),
        ("ackclock reproduce illinois/figure-2", "ackclock reproduce illinois/figure-2"),
    ],
)
def test_the_tab_key(shell, typed, completed, bin_directory, tmp_path):
    command, prepare, load = STARTS[shell]
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    with Terminal(command, bin_directory, tmp_path) as terminal:
        terminal.write(f"{prepare}\n{load}; echo load''ed\n")
        terminal.read_until("loaded")
        terminal.write(f"{typed}\t")
        terminal.read_until(completed)


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, command: list[str], bin_directory: Path, home: Path) -> None:
        self._command = command
        self._environment = {
            "PATH": f"{bin_directory}:{os.environ['PATH']}",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "HOME": str(home),
            "TERM": "dumb",
        }
        self._said = ""

    def __enter__(self) -> "Terminal":
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            os.execvpe(self._command[0], self._command, self._environment)  # noqa: S606
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._terminal)
        os.waitpid(self._process, 0)

    def write(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def read_until(self, expected: str) -> None:
        end = time.monotonic() + 60
        while expected not in self._said:
            ready, _, _ = select.select([self._terminal], [], [], max(0, end - time.monotonic()))
            assert ready, f"{expected!r} is not in {self._said!r}"
            self._said += os.read(self._terminal, 4096).decode(errors="replace")
