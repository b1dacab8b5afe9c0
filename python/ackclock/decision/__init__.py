"""What numbers say, and how surely: intervals over runs, and comparisons of paired runs.

Pure functions of numbers, and the only statistics behind claims, answers and cells. Nothing else
imports the tests and the distributions of SciPy.
"""

from ackclock.decision.intervals import (
    Estimate,
    bootstrap,
    difference,
    of_batches,
    of_ratios,
    over_batches,
    over_runs,
    quotient,
    sign,
    unpaired_difference,
    within,
)
from ackclock.decision.paired import (
    Compared,
    Limit,
    Margin,
    Verdict,
    compare,
    holm,
    most_permissive,
    of_criterion,
)

__all__ = [
    "Compared",
    "Estimate",
    "Limit",
    "Margin",
    "Verdict",
    "bootstrap",
    "compare",
    "difference",
    "holm",
    "most_permissive",
    "of_batches",
    "of_criterion",
    "of_ratios",
    "over_batches",
    "over_runs",
    "quotient",
    "sign",
    "unpaired_difference",
    "within",
]
