"""The page of the public API in Python, docs/api.md: every name, and an example of each function."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable
from pathlib import Path

import ackclock

PAGE = Path(__file__).with_name("api.md")
MOST_ARGUMENTS = 8
"""More arguments than this are left to the reader's editor."""
HEAD = """\
# Python functions
Find here every name that you may import from `ackclock`; whatever is not here is not public. \
`help(ackclock.simulate)` describes every argument, result and error. The verbs of the command line are \
functions of the same names."""


def sentence(value: object) -> str:
    """Return the first sentence of a description, on one line."""
    text = inspect.getdoc(value) or ""
    return re.sub(r"\s+", " ", text.split("\n\n")[0]).replace("``", "`")


def signature(name: str, function: Callable[..., object]) -> str:
    """Return the call of a function with the names of its arguments."""
    words = []
    keyword = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            words.append(f"*{parameter.name}")
            keyword = True
        elif parameter.kind is parameter.VAR_KEYWORD:
            words.append(f"**{parameter.name}")
        else:
            if parameter.kind is parameter.KEYWORD_ONLY and not keyword:
                words.append("*")
                keyword = True
            words.append(parameter.name)
    shown = words if len(words) <= MOST_ARGUMENTS + 2 else [*words[:MOST_ARGUMENTS], "..."]
    return f"ackclock.{name}({', '.join(shown)})"


def example(function: Callable[..., object]) -> str:
    """Return the example of a function as its description has it."""
    text = (inspect.getdoc(function) or "").partition("Examples\n--------\n")[2]
    return text.replace("  # doctest: +SKIP", "").rstrip()


def page() -> str:
    """Return the page."""
    every = {name: getattr(ackclock, name) for name in ackclock.__all__ if not name.startswith("_")}
    modules = {name: value for name, value in every.items() if isinstance(value, types.ModuleType)}
    classes = {name: value for name, value in every.items() if isinstance(value, type)}
    functions = {name: value for name, value in every.items() if inspect.isfunction(value)}
    parts = [HEAD, "## Functions"]
    for name, function in functions.items():
        code = f"```text\n{signature(name, function)}\n```"
        parts.append(f"### {name}\n{sentence(function)}\n\n{code}\n\n```pycon\n{example(function)}\n```")
    for title, values in (("Classes and errors", classes), ("Modules", modules)):
        rows = [f"| `{name}` | {sentence(value)} |" for name, value in values.items()]
        parts.append("\n".join([f"## {title}", "| name | meaning |", "| --- | --- |", *rows]))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
