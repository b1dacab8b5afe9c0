"""The suites that a control can be put through, by name."""

from __future__ import annotations

from ackclock.evaluation.cell import Criterion
from ackclock.evaluation.criteria import RFC9743

SUITES: dict[str, tuple[Criterion, ...]] = {"rfc9743": RFC9743}


def criteria(name: str) -> tuple[Criterion, ...]:
    """Give the criteria of a suite.

    Parameters
    ----------
    name : str
        A key of `SUITES`.

    Returns
    -------
    tuple of Criterion
        In order.

    Raises
    ------
    KeyError
        When there is no such suite; its argument is one line for people.
    """
    if name not in SUITES:
        raise KeyError(f"no suite {name}; choose of {', '.join(SUITES)}")
    return SUITES[name]
