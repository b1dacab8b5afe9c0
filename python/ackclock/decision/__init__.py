"""Statistics: intervals over runs, comparisons, and when more runs are needed.

Pure functions of numbers, and the only statistics behind claims, answers and cells. Nothing else
imports the tests and the distributions of SciPy.
"""

from ackclock.decision.comparisons import (
    Compared,
    Limit,
    Margin,
    Verdict,
    compare,
    holm,
    most_permissive,
    of_criterion,
)
from ackclock.decision.factors import acting
from ackclock.decision.intervals import (
    Estimate,
    bootstrap,
    difference,
    of_batches,
    over_batches,
    over_runs,
    sign,
    unpaired_difference,
    within,
)
from ackclock.decision.ranges import apart, chance_wrong, expected_wrong, lies_in, standard_error, tail
from ackclock.decision.ratios import exact_share, of_ratios, quotient, ratio_of_means
from ackclock.decision.sequential import chance_decided, is_narrow, runs_to_decide, wants_more

__all__ = [
    "Compared",
    "Estimate",
    "Limit",
    "Margin",
    "Verdict",
    "acting",
    "apart",
    "bootstrap",
    "chance_decided",
    "chance_wrong",
    "compare",
    "difference",
    "exact_share",
    "expected_wrong",
    "holm",
    "is_narrow",
    "lies_in",
    "most_permissive",
    "of_batches",
    "of_criterion",
    "of_ratios",
    "over_batches",
    "over_runs",
    "quotient",
    "ratio_of_means",
    "runs_to_decide",
    "sign",
    "standard_error",
    "tail",
    "unpaired_difference",
    "wants_more",
    "within",
]
