"""What ns-2 gives for claims: a table next to a paper's data file, which papers/ns2 makes."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib.resources.abc import Traversable

NAME = "ns2.csv"
COLUMNS = (
    "artefact", "claim", "change", "measured", "holds", "seeds", "by_seed", "seconds", "ran", "ns2", "why",
)  # fmt: skip
"""Columns of the table: `change` is what differs from the paper's setting, `by_seed` what the claim says of
each run, `ran` names the agents, `ns2` is the version, and `why` tells why there is no number."""


def read(directory: Traversable) -> Mapping[tuple[str, str], str]:
    """Return what ns-2 measures, in words, by artefact and claim; nothing where there is no table."""
    file = directory / NAME
    if not file.is_file():
        return {}
    words: dict[tuple[str, str], list[str]] = {}
    for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
        if row["measured"]:
            changed = f" ({row['change']})" if row["change"] else ""
            said = words.setdefault((row["artefact"], row["claim"]), [])
            said.append(f"{row['measured']}{changed}")
    return {claim: "; ".join(said) for claim, said in words.items()}
