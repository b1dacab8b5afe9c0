"""A search for scenarios in which a control does worse than CUBIC and Reno."""

from ackclock_evaluate.search.again import again
from ackclock_evaluate.search.figure import figure
from ackclock_evaluate.search.genomes import GENOMES
from ackclock_evaluate.search.objectives import OBJECTIVES
from ackclock_evaluate.search.run import BUDGET, Searched, search
from ackclock_evaluate.search.saved import Adversary, as_json, read, save, save_all

__all__ = [
    "BUDGET",
    "GENOMES",
    "OBJECTIVES",
    "Adversary",
    "Searched",
    "again",
    "as_json",
    "figure",
    "read",
    "save",
    "save_all",
    "search",
]
