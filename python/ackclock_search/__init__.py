"""A search for scenarios in which a control does worse than CUBIC and Reno."""

from ackclock_search.figure import figure
from ackclock_search.genomes import GENOMES
from ackclock_search.run import BUDGET, Searched, search
from ackclock_search.saved import Adversary, save_all

__all__ = ["BUDGET", "GENOMES", "Adversary", "Searched", "figure", "save_all", "search"]
