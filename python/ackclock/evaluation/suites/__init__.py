"""The suites of an evaluation, by name."""

from ackclock.evaluation.cell import Criterion
from ackclock.evaluation.criteria import RFC9743
from ackclock.evaluation.suites.adversaries import ADVERSARIES
from ackclock.evaluation.suites.c4 import C4

SUITES: dict[str, tuple[Criterion, ...]] = {
    "rfc9743": RFC9743,
    "c4": C4,
    "adversaries": ADVERSARIES,
}
"""What is asked, by the name of the suite."""
