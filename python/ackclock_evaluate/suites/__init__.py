"""The suites of an evaluation, by name."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ackclock_evaluate.cell import Criterion
from ackclock_evaluate.criteria import RFC9743
from ackclock_evaluate.search import saved
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
"""What is asked, by the name of the suite."""


def criteria(name: str) -> tuple[Criterion, ...]:
    """Give the criteria of a suite.

    Parameters
    ----------
    name : str
        A key of `SUITES`, or a folder of adversaries that a search has left.

    Returns
    -------
    tuple of Criterion
        In order.

    Raises
    ------
    KeyError
        When there is no such suite; its argument is one line for people.
    ScenarioError
        When a folder holds no adversaries, or something else.
    """
    if name in SUITES:
        return tuple(replace(one, suite=name) for one in SUITES[name])
    if Path(name).is_dir():
        return (replace(saved.read(Path(name)), suite=name),)
    raise KeyError(f"no suite {name}; choose of {', '.join(SUITES)}, or a folder")


def chosen(suites: Sequence[str], only: Sequence[str] = ()) -> tuple[Criterion, ...]:
    """Give criteria of several suites.

    Parameters
    ----------
    suites : sequence of str
        As for `criteria`.
    only : sequence of str
        Ids of those that are wanted; by default all.

    Returns
    -------
    tuple of Criterion
        In the order of the suites.

    Raises
    ------
    KeyError
        When there is no such suite or criterion; its argument is one line for people.
    ScenarioError
        As `criteria`.
    """
    found = tuple(one for name in suites for one in criteria(name))
    known = [one.id for one in found]
    for one in only:
        if one not in known:
            raise KeyError(f"no criterion {one}; choose of {', '.join(known)}")
    return tuple(one for one in found if not only or one.id in only)
