"""The questions that everybody asks of a congestion control, answered for several on one path."""

from ackclock.comparison.answers import Comparison, compare
from ackclock.comparison.path import Setting
from ackclock.comparison.questions import QUESTIONS, Question

__all__ = ["QUESTIONS", "Comparison", "Question", "Setting", "compare"]
