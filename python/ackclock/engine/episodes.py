"""Runs that are advanced step by step, with the window of one flow set from outside."""

from ackclock._native import Episodes, observed

__all__ = ["MEANINGS", "QUANTITIES", "Episodes"]

MEANINGS: dict[str, str] = dict(observed())
"""What is observed of a step, by name, in the order of the columns: units are last in the names."""

QUANTITIES: dict[str, int] = {name: column for column, name in enumerate(MEANINGS)}
"""The column of each quantity."""
