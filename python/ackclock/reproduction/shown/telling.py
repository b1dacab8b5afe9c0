"""Main claims that are reproduced and telling: they hold, and fall with another control than the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ackclock.reproduction.record import ClaimRecord, state
from ackclock.reproduction.shown.classes import HOLDS, Classified
from ackclock.reproduction.trials import exchanges
from ackclock.reproduction.trials.exchanges import FALLS, Exchanges


def of_main(known: Exchanges, classified: Classified) -> str:
    """Return the exchange outcome of a main claim that holds; empty if it does not hold."""
    if classified.group != HOLDS:
        return ""
    return exchanges.of_parts(exchanges.record(known, claim["id"])["outcome"] for claim in classified.stated)


def of_claim(known: Exchanges, claim: ClaimRecord) -> str:
    """Return the exchange outcome of a claim that holds, with number or reason; empty if it does not hold."""
    if state(claim) != "holds":
        return ""
    _, artefact, name = claim["id"].split("/")
    exchange = known.get((artefact, name))
    return exchanges.NOT_ASKED if exchange is None else exchange.words


def by_outcome(known: Exchanges, classified: Mapping[str, Classified]) -> dict[str, list[str]]:
    """Return the names of the artefacts with main claims that hold, by the exchange outcome of the claim."""
    groups: dict[str, list[str]] = {}
    for name, each in classified.items():
        answer = of_main(known, each)
        if answer:
            groups.setdefault(answer, []).append(name)
    order = (*exchanges.OUTCOMES, exchanges.NOT_ASKED)
    return {answer: groups[answer] for answer in order if answer in groups}


def counts(groups: Mapping[str, Sequence[str]]) -> str:
    """Return how many main claims that hold are telling, from `by_outcome`; nothing where none holds."""
    if not groups:
        return ""
    telling = len(groups.get(FALLS, ()))
    verbs = "is reproduced and telling: it falls" if telling == 1 else "are reproduced and telling: they fall"
    others = [answer for answer, names in groups.items() if answer != FALLS for _ in names]
    rest = f"; the others: {exchanges.counts(others)}" if others else ""
    return (
        f"{telling or 'none'} of these {verbs} when Reno takes the place of the paper's control, or CUBIC "
        f"that of Reno (in quick runs){rest}"
    )
