"""What a figure of a paper is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.sweep import Case

if TYPE_CHECKING:
    import matplotlib.figure
    import polars as pl

    from ackclock.api import Run


Runs = Mapping[str, "Sequence[Run]"]
"""Finished runs by the name of their case."""


@dataclass(frozen=True)
class Verdict:
    """Whether a claim of the paper holds here.

    Attributes
    ----------
    claim : str
        What must be seen.
    expected, measured : str
        Numbers with units.
    tolerance : str
        What still counts as the same, with its reason.
    reproduced : bool
        The verdict.
    reason : str
        Why it differs, found by trying; empty when reproduced.
    """

    claim: str
    expected: str
    measured: str
    tolerance: str
    reproduced: bool
    reason: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

    Attributes
    ----------
    name : str
        As in ``figure-8``.
    title : str
        One line.
    about : str
        What it shows and how it is measured.
    cases : mapping
        What is to be simulated, by name.
    measure : callable
        From finished runs to the table of numbers.
    draw : callable
        From finished runs and numbers to the picture.
    judge : callable
        From numbers to verdicts.
    """

    name: str
    title: str
    about: str
    cases: Mapping[str, Case]
    measure: Callable[[Runs], pl.DataFrame]
    draw: Callable[[Runs, pl.DataFrame], matplotlib.figure.Figure]
    judge: Callable[[pl.DataFrame], list[Verdict]]


@dataclass(frozen=True)
class Paper:
    """A paper whose figures are made again.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
        Its reference.
    setting : sequence of (str, str, str)
        What the paper leaves open: quantity, choice, reason.
    figures : mapping
        Its figures by name.
    """

    name: str
    title: str
    setting: Sequence[tuple[str, str, str]]
    figures: Mapping[str, Figure]


UNKNOWN = "No reason has been found yet."


def near(
    claim: str,
    expected: float,
    measured: float,
    tolerance: float,
    *,
    unit: str,
    why: str,
    reason: str = UNKNOWN,
) -> Verdict:
    """Compare a number with the one expected.

    Parameters
    ----------
    claim : str
        What must be seen.
    expected, measured : float
        The numbers.
    tolerance : float
        Largest relative difference that counts as the same.
    unit : str
        Of both.
    why : str
        Reason of the tolerance.
    reason : str
        Why it differs, shown only if it does.

    Returns
    -------
    Verdict
        Reproduced when the relative difference is within the tolerance.
    """
    difference = measured / expected - 1
    reproduced = abs(difference) <= tolerance
    return Verdict(
        claim,
        f"{expected:g} {unit}".strip(),
        f"{measured:.4g} {unit} ({difference:+.1%})".replace("  ", " "),
        f"{tolerance:.0%}: {why}",
        reproduced,
        "" if reproduced else reason,
    )


def seen(
    claim: str, expected: str, measured: str, reproduced: bool, *, why: str, reason: str = UNKNOWN
) -> Verdict:
    """Judge a claim that is no single number.

    Parameters
    ----------
    claim, expected, measured : str
        In words with numbers.
    reproduced : bool
        The verdict.
    why : str
        What counts as seen, and why.
    reason : str
        Why it differs, shown only if it does.

    Returns
    -------
    Verdict
        The verdict.
    """
    return Verdict(claim, expected, measured, why, bool(reproduced), "" if reproduced else reason)
