"""The main claim of every artefact of a paper: the one that a reader of the paper would name for it.

The table of an artefact in `claims.toml` of a paper has

- ``claim``: what the artefact shows, as a sentence; a setting needs none;
- ``words``: the paper's own, in which ``…`` stands for a break of the page or column;
- ``from``: where the paper says so;
- ``kind``: one of `KINDS`;
- ``id``: claims of other artefacts that state it, too, as ``ARTEFACT/CLAIM``, in which ``*`` stands for any
  text; those of its own are ``main``;
- ``measures``: words of the sentence, each with the keys or functions of the numbers that measure it;
- ``missing``: where no claim states it, what would have to be checked.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from ackclock.reproduction.claims import records

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "simulation": "packets on a path whose properties the paper states, simulated or emulated",
        "formula": "evaluated from equations, without packets",
        "setting": "a drawing or a table that defines something and shows no result",
        "live": "measured on the Internet",
    }
)
"""The kinds of artefacts, by the paper and not by the results of runs."""


@dataclass(frozen=True)
class MainClaim:
    """The statement of a paper about an artefact.

    `claim` is the sentence, `words` are the paper's own, from the place `source`, `kind` is one of `KINDS`,
    `ids` are names or patterns of the claims that state it together, with the name of their artefact and a
    slash before them where it is another, and `missing` names the check that is missing if no claims state
    it. `measures` maps words of the sentence to the keys and functions of the numbers that measure them.
    Raises ValueError when the kind is unknown, words, source or claim are empty, a claim has both ids and
    something missing, or neither, or words that are measured do not occur in the sentence.
    """

    words: str
    source: str
    kind: str
    claim: str = ""
    ids: Sequence[str] = ()
    missing: str = ""
    measures: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is none of {', '.join(KINDS)}")
        if not self.words or not self.source:
            raise ValueError(f"{self.claim!r} needs the paper's words and their source")
        if self.kind == "setting":
            if self.claim or self.ids or self.missing:
                raise ValueError(f"{self.words!r} is a setting, which has no main claim")
        elif not self.claim:
            raise ValueError(f"{self.words!r} needs a claim, because it is not a setting")
        elif bool(self.ids) == bool(self.missing):
            raise ValueError(f"{self.claim!r} needs either ids or what is missing")
        for words in self.measures:
            if words.lower() not in self.claim.lower():
                raise ValueError(f"{self.claim!r} does not have the words {words!r}, which are measured")


def load(directory: Traversable) -> dict[str, MainClaim]:
    """Read the main claims of a paper, by artefact, in the order of the file; none where it has no file.

    `directory` is that of the paper. Raises TypeError or TOMLDecodeError when the file has
    unknown keys or is not TOML, and ValueError as `MainClaim` does, or when a main claim measures
    other numbers than it names.
    """
    file = directory / records.FILE
    tables = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {name: _of_records(tables, name) for name in tables if name != records.CONDITIONS}


def _of_records(tables: Mapping[str, Any], name: str) -> MainClaim:
    """Return the main claim of an artefact; `from` is a keyword in Python."""
    table = tables[name]
    fields = {key: table[key] for key in ("claim", "missing") if key in table}
    measures = {
        words: [numbers] if isinstance(numbers, str) else numbers
        for words, numbers in table.get("measures", {}).items()
    }
    named = {number for numbers in measures.values() for number in numbers}
    if measures and named != (measured := records.measured(tables, name)):
        raise ValueError(
            f"{name}: measures names {sorted(named)}, and its main claims read {sorted(measured)}"
        )
    return MainClaim(
        words=table.get("words", ""),
        source=table.get("from", ""),
        kind=table.get("kind", ""),
        ids=(*records.main_names(table), *table.get("id", ())),
        measures=measures,
        **fields,
    )
