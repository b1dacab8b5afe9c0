"""The usual questions about a congestion control, answered for several controls on one path."""

from ackclock.comparison.answers import Comparison
from ackclock.comparison.grid import Grid, compare_grid
from ackclock.comparison.path import PathSetup
from ackclock.comparison.questions import QUESTIONS, Question
from ackclock.comparison.work import compare

__all__ = ["QUESTIONS", "Comparison", "Grid", "PathSetup", "Question", "compare", "compare_grid"]
