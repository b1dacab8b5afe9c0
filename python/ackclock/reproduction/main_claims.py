"""The main claim of every artefact of a paper: the one that a reader of the paper would name for it.

The table of an artefact in `claims.toml` of a paper has

- ``claim``: what the artefact shows, as a sentence; a setting needs none;
- ``words``: the paper's own, in which ``…`` stands for a break of the page or column;
- ``from``: where the paper says so;
- ``kind``: one of `KINDS`;
- ``id``: claims of other artefacts that state it, too, as ``ARTEFACT/CLAIM``, in which ``*`` stands for any
  text; those of its own are ``main``;
- ``missing``: where none does, what would have to be checked.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
"""What an artefact is by its paper, whatever a run shows."""


@dataclass(frozen=True)
class MainClaim:
    """What a paper says that an artefact shows.

    `claim` is the sentence, `words` are the paper's own, which stand in its `source`, `kind` is one of
    `KINDS`, `ids` are names or patterns of the claims that state it together, with the name of their
    artefact and a slash before them where it is another, and `missing` says what would have to be
    checked where no claims do. Raises ValueError when the kind is unknown,
    words, source or claim are empty, or a claim has both ids and something missing, or neither.
    """

    words: str
    source: str
    kind: str
    claim: str = ""
    ids: Sequence[str] = ()
    missing: str = ""

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


def load(directory: Traversable) -> dict[str, MainClaim]:
    """Read the main claims of a paper, by artefact, in the order of the file; none where it has no file.

    `directory` is that of the paper. Raises TypeError or TOMLDecodeError when the file has
    unknown keys or is not TOML, and ValueError as `MainClaim` does.
    """
    file = directory / records.FILE
    tables = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {name: _of_records(table) for name, table in tables.items() if name != records.CONDITIONS}


def _of_records(table: Mapping[str, Any]) -> MainClaim:
    """Return the main claim of the table of an artefact; `from` is a keyword in Python."""
    fields = {key: table[key] for key in ("claim", "missing") if key in table}
    return MainClaim(
        words=table.get("words", ""),
        source=table.get("from", ""),
        kind=table.get("kind", ""),
        ids=(*records.main_names(table), *table.get("id", ())),
        **fields,
    )
