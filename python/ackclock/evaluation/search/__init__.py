"""A search for scenarios in which a control does worse than CUBIC and Reno do there."""

from ackclock.evaluation.search.again import again
from ackclock.evaluation.search.genomes import GENOMES
from ackclock.evaluation.search.objectives import OBJECTIVES
from ackclock.evaluation.search.picture import picture
from ackclock.evaluation.search.run import BUDGET, Searched, search
from ackclock.evaluation.search.saved import Adversary, as_json, read, save, save_all

__all__ = [
    "BUDGET",
    "GENOMES",
    "OBJECTIVES",
    "Adversary",
    "Searched",
    "again",
    "as_json",
    "picture",
    "read",
    "save",
    "save_all",
    "search",
]
