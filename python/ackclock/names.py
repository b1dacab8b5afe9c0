"""Names in data and of files: hyphenated words, which do not change when a sentence is reworded."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ackclock import _native

NAME = re.compile(r"[a-z0-9.]+(-[a-z0-9.]+)*")
"""Lower-case words joined by hyphens."""
MOST_LISTED = 12
"""Most names that a message lists when none is similar."""


def printable(text: str) -> str:
    """Return a text without characters that a terminal would obey, such as escape sequences."""
    return "".join(char if char.isprintable() else f"\\u{{{ord(char):x}}}" for char in text)


def hint(wrong: str, known: Iterable[str], listed: str = "") -> str:
    """Return the question that suggests up to three names most like a wrong one.

    Where none is similar, the known names are listed if they are few; otherwise `listed` is the command or
    document that has them.
    """
    names = list(known)
    if suggestion := _native.did_you_mean(wrong, names):
        return suggestion
    if len(names) <= MOST_LISTED:
        return f"choose from {', '.join(names)}"
    return (
        f"{listed} lists all {len(names)}" if listed else f"none of the {len(names)} known names is similar"
    )


def slug(*parts: object) -> str:
    """Return a file name made of parts, as in ``illinois-0.5-concave``.

    Fields of keys of cases are parts of their own; None is left out. A displayed label is a poor part:
    the name would change with it.
    """
    words: list[str] = []
    for part in parts:
        if isinstance(part, tuple):
            words.append(slug(*part))
        elif isinstance(part, float):
            words.append(f"{part:g}".replace("-", "m").replace("+", ""))
        elif part is not None:
            words.append(re.sub(r"[^a-z0-9.]+", "-", str(part).lower()).strip("-."))
    return "-".join(word for word in words if word)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 run``, ``5 runs``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
