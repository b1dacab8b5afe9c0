"""Suggestions for a paper or an artefact that does not exist: the name that was probably meant."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ackclock.names import hint
from ackclock.reproduction.paper import Paper


def suggestion(wanted: str, papers: Mapping[str, Paper]) -> str:
    """Return the nearest name, or where names are listed: ``bic/4`` means bic/figure-4."""
    paper, slash, artefact = wanted.partition("/")
    if paper not in papers or not slash:
        return hint(paper, papers)
    # Only names of the same paper: artefacts of other papers with the same number would be as similar.
    known = [item.name for item in papers[paper].artefacts]
    short = re.fullmatch(r"(fig|tab|sec)?[a-z]*[-_. ]*(\w[\w-]*)", artefact.lower())
    if short is not None:
        word = {"tab": "table", "sec": "section"}.get(short[1], "figure")
        meant = f"{word}-{short[2]}"
        if meant in known:
            return f'did you mean "{paper}/{meant}"?'
    return hint(artefact, known, f"`ackclock reproduce --published {paper}`")
