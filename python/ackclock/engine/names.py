"""Names in data and of files: hyphenated words, which do not change when a sentence is reworded."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ackclock import _native

NAME = re.compile(r"[a-z0-9.]+(-[a-z0-9.]+)*")
"""Lower-case words joined by hyphens."""


def hint(wrong: str, known: Iterable[str]) -> str:
    """Return the question that suggests the names most like a wrong one, else all that are known."""
    names = list(known)
    return _native.did_you_mean(wrong, names) or f"choose from {', '.join(names)}"


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
