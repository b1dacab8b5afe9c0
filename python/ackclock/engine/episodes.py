"""Runs that are advanced step by step, with the window of one flow set from outside."""

from ackclock._native import Episodes, observed

__all__ = ["MEANINGS", "QUANTITIES", "Episodes"]

MEANINGS: dict[str, str] = dict(observed())
"""Meanings of the observed quantities of a step, in the order of the columns; names end in units."""

QUANTITIES: dict[str, int] = {name: column for column, name in enumerate(MEANINGS)}
"""The column of each quantity."""
