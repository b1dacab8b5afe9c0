from .best import ALIKE_RUNS as ALIKE_RUNS
from .best import Place as Place
from .best import Standing as Standing
from .best import not_excluded as not_excluded
from .best import with_the_best as with_the_best
from .comparisons import Compared as Compared
from .comparisons import Limit as Limit
from .comparisons import Margin as Margin
from .comparisons import Verdict as Verdict
from .comparisons import compare as compare
from .comparisons import holm as holm
from .comparisons import most_permissive as most_permissive
from .comparisons import of_criterion as of_criterion
from .factors import acting as acting
from .intervals import Estimate as Estimate
from .intervals import bootstrap as bootstrap
from .intervals import difference as difference
from .intervals import of_batches as of_batches
from .intervals import over_batches as over_batches
from .intervals import over_runs as over_runs
from .intervals import sign as sign
from .intervals import unpaired_difference as unpaired_difference
from .intervals import within as within
from .looks import LOOKS as LOOKS
from .looks import is_decided as is_decided
from .looks import is_hopeless as is_hopeless
from .looks import next_look as next_look
from .looks import shares as shares
from .looks import spent as spent
from .modes import Modes as Modes
from .modes import two_modes as two_modes
from .ranges import apart as apart
from .ranges import chance_wrong as chance_wrong
from .ranges import expected_wrong as expected_wrong
from .ranges import lies_in as lies_in
from .ranges import standard_error as standard_error
from .ranges import tail as tail
from .ratios import exact_excess as exact_excess
from .ratios import exact_share as exact_share
from .ratios import of_ratios as of_ratios
from .ratios import quotient as quotient
from .ratios import ratio_of_means as ratio_of_means
from .sequential import chance_decided as chance_decided
from .sequential import is_narrow as is_narrow
from .sequential import runs_to_decide as runs_to_decide
from .sequential import wants_more as wants_more
from .simultaneous import against_one as against_one
from .simultaneous import all_pairs as all_pairs

__all__ = [
    "ALIKE_RUNS",
    "LOOKS",
    "Compared",
    "Estimate",
    "Limit",
    "Margin",
    "Modes",
    "Place",
    "Standing",
    "Verdict",
    "acting",
    "against_one",
    "all_pairs",
    "apart",
    "bootstrap",
    "chance_decided",
    "chance_wrong",
    "compare",
    "difference",
    "exact_excess",
    "exact_share",
    "expected_wrong",
    "holm",
    "is_decided",
    "is_hopeless",
    "is_narrow",
    "lies_in",
    "most_permissive",
    "next_look",
    "not_excluded",
    "of_batches",
    "of_criterion",
    "of_ratios",
    "over_batches",
    "over_runs",
    "quotient",
    "ratio_of_means",
    "runs_to_decide",
    "shares",
    "sign",
    "spent",
    "standard_error",
    "tail",
    "two_modes",
    "unpaired_difference",
    "wants_more",
    "with_the_best",
    "within",
]
