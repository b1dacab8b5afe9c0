"""The suites of an evaluation, by name."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ackclock.engine.names import hint
from ackclock_evaluate import saved
from ackclock_evaluate.cell import Criterion
from ackclock_evaluate.criteria import RFC9743
from ackclock_evaluate.suites.adversaries import ADVERSARIES
from ackclock_evaluate.suites.bbr_draft import BBR_DRAFT
from ackclock_evaluate.suites.c4 import C4
from ackclock_evaluate.suites.rfc7928 import RFC7928
from ackclock_evaluate.suites.rfc8867 import RFC8867
from ackclock_evaluate.suites.tcpeval import TCPEVAL

SUITES: dict[str, tuple[Criterion, ...]] = {
    "rfc9743": RFC9743,
    "bbr-draft": BBR_DRAFT,
    "tcpeval": TCPEVAL,
    "rfc7928": RFC7928,
    "rfc8867": RFC8867,
    "c4": C4,
    "adversaries": ADVERSARIES,
}
"""The criteria of every suite, by its name."""


def criteria(name: str) -> tuple[Criterion, ...]:
    """Return the criteria of a suite: a key of `SUITES`, or the directory of a search's adversaries.

    An unknown suite raises a KeyError whose argument is one line for people.
    """
    if name in SUITES:
        return tuple(replace(criterion, suite=name) for criterion in SUITES[name])
    if Path(name).is_dir():
        return (replace(saved.read(Path(name)), suite=name),)
    raise KeyError(f"unknown suite {name}: {hint(name, SUITES)} (or a directory)")


def chosen(suites: Sequence[str], only: Sequence[str] = ()) -> tuple[Criterion, ...]:
    """Return the criteria of several suites in order, by default all, else those whose ids are in `only`.

    An unknown suite or criterion raises a KeyError whose argument is one line for people.
    """
    available = tuple(criterion for name in suites for criterion in criteria(name))
    known = [criterion.id for criterion in available]
    for name in only:
        if name not in known:
            raise KeyError(f"unknown criterion {name}: {hint(name, known)}")
    return tuple(criterion for criterion in available if not only or criterion.id in only)
