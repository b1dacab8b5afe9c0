"""Joins: functions from the numbers of a cell's parts to those of the cell."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock_evaluate.cell import CellNumbers

Numbers = Mapping[str, CellNumbers]
"""The numbers of each part, by its name."""


def harm_to_goodput(numbers: Numbers) -> CellNumbers:
    """Return part ``run`` with ``harm_goodput``, relative to the victim's goodput in part ``solo``."""
    left, usual = numbers["run"]["victim_goodput"], numbers["solo"]["victim_goodput"]
    return numbers["run"] | {"harm_goodput": 1 - left / usual}


def in_ranges(numbers: Numbers) -> CellNumbers:
    """Return part ``run`` with the delay range of part ``alone`` and the jitter relative to it."""
    own_ms, jitter_ms = numbers["alone"]["delay_range"], numbers["run"]["jitter"]
    return numbers["run"] | {
        "delay_range": own_ms,
        "jitter_over_range": jitter_ms / own_ms if own_ms else float("inf"),
    }
