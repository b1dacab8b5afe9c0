"""The terms of the field that the documentation uses, from ``glossary.toml``."""

import tomllib
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict


class Term(TypedDict):
    """A term: what it is called, what it means, and where it is defined."""

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


def page() -> str:
    """Return the glossary as a page of the documentation, in the order of titles."""
    lines = [
        "# Glossary",
        "Here you can look up the terms of congestion control that this documentation uses, in a few "
        "sentences each. `ackclock explain slow-start` prints one of them.",
        "",
        "<!-- made by docs/make.py glossary from python/ackclock/draw/glossary.toml -->",
    ]
    for name, term in sorted(terms().items(), key=lambda item: item[1]["title"].lower()):
        see = ", ".join(f"[{terms()[other]['title']}](#{other})" for other in term.get("see", []))
        also = f" Also: {', '.join(term['also'])}." if term.get("also") else ""
        source = f" Source: {term['source']}." if term.get("source") else ""
        title = term["title"]
        lines += ["", f'<a id="{name}"></a>', "", f"**{title[0].upper()}{title[1:]}.** {term['text']}{also}"]
        lines[-1] += f"{source} See {see}." if see else source
    return "\n".join(lines) + "\n"
