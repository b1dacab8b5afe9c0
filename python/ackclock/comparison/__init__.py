"""The usual questions about a congestion control, answered for several controls on one path."""

from ackclock.comparison.answers import Comparison, compare
from ackclock.comparison.path import PathSetup
from ackclock.comparison.questions import QUESTIONS, Question

__all__ = ["QUESTIONS", "Comparison", "PathSetup", "Question", "compare"]
