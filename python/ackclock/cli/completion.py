"""Completion in a shell: the verb that prints its script, and the names that the Tab key offers.

Every Tab starts the command anew, so this module imports nothing that runs or draws.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class, shell_complete

from ackclock.cli.options import COMPLETE

SHELLS = ("bash", "zsh", "fish")

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]
"""A function that Click takes as `shell_complete` of an argument or option."""


def answer(command: click.Command, instruction: str) -> int:
    """Answer the script of a shell: print names; return the exit status."""
    return shell_complete(command, {}, "ackclock", COMPLETE, instruction)


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that completes verbs, options and names in a shell.

    The script completes options, controls, paths, criteria and artefacts. Load it in the running shell, or
    write it to the place where the shell looks for it: ~/.local/share/bash-completion/completions/ackclock,
    a directory of zsh's $fpath as _ackclock, or ~/.config/fish/completions/ackclock.fish.

    \b
    Examples:
      eval "$(ackclock completion bash)"
      ackclock completion zsh > ~/.zfunc/_ackclock
      ackclock completion fish > ~/.config/fish/completions/ackclock.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None, "Click knows the shells of SHELLS"  # noqa: S101
    # `source()` would also ask the installed bash for its version, which does not change the script.
    script = kind(click.Command("ackclock"), {}, "ackclock", COMPLETE)
    sys.stdout.write(script.source_template % script.source_vars())


def names(listed: Callable[[], Iterable[str]], *, separated: bool = False) -> Completer:
    """Return a completer for the names that a function lists, or for several `separated` by commas."""

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        before, comma, last = incomplete.rpartition(",") if separated else ("", "", incomplete)
        chosen = before.split(",")
        return [
            CompletionItem(f"{before}{comma}{name}")
            for name in listed()
            if name.startswith(last) and name not in chosen
        ]

    return complete


def controls() -> list[str]:
    """List the congestion controls."""
    from ackclock import engine

    return [entry["name"] for entry in engine.controllers()]


def explained() -> list[str]:
    """List the congestion controls and the terms of the glossary."""
    from ackclock.draw import glossary

    return [*controls(), *glossary.terms()]


def paths() -> list[str]:
    """List the named paths."""
    from ackclock.engine import catalogue

    return catalogue.words("path")


def queues() -> list[str]:
    """List the kinds of queues."""
    from ackclock.engine import catalogue

    return catalogue.words("dumbbell", "queue", "kind")


def artefacts() -> list[str]:
    """List the papers and their artefacts as ``illinois/figure-8``.

    They are read from the main claims, of which every artefact has one; importing the papers takes seconds.
    """
    listed: list[str] = []
    for paper in papers():
        text = (paper / "claims.toml").read_text("utf-8")
        listed += [
            paper.name,
            *(f"{paper.name}/{artefact}" for artefact in tomllib.loads(text) if artefact != "conditions"),
        ]
    return listed


def papers() -> list[Path]:
    """List the directories of papers; there are none if the package of the papers is not installed."""
    package = find_spec("ackclock_papers")
    folders = [] if package is None else package.submodule_search_locations or []
    return sorted(file.parent for folder in folders for file in Path(folder).glob("*/paper.toml"))
