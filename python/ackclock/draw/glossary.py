"""The terms of the field that the documentation uses, from ``glossary.toml``."""

import tomllib
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict


class Term(TypedDict):
    """A term: its name, its meaning, and the place of its definition."""

    title: str
    text: str
    also: NotRequired[list[str]]
    see: NotRequired[list[str]]
    source: NotRequired[str]


@cache
def terms() -> dict[str, Term]:
    """Return every term by its name, such as ``slow-start``."""
    read: dict[str, Term] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return read


def _plain(words: str) -> str:
    return words.lower().replace("_", "-").replace(" ", "-")


def find(words: str) -> str | None:
    """Return the name of a term that is called so in the glossary: ``Slow start``, ``cov``."""
    named = {_plain(word): name for name, term in terms().items() for word in (name, *term.get("also", []))}
    return named.get(_plain(words))


def explained(name: str) -> str:
    """Return a term in Markdown, with its source and the terms to read next."""
    term = terms()[name]
    title = term["title"]
    lines = [f"# {title[0].upper()}{title[1:]}", term["text"], ""]
    if term.get("also"):
        lines += [f"Also: {', '.join(term['also'])}.", ""]
    if term.get("source"):
        lines += [f"Source: {term['source']}", ""]
    lines += [f"See also: {', '.join(f'`ackclock explain {other}`' for other in term.get('see', []))}"]
    return "\n".join(lines).rstrip() + "\n"
