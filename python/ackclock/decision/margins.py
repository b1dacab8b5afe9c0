"""Differences that do not matter, for the questions that `compare` and `evaluate` have in common."""

RATIO = 1.1
"""Rates, delays and times that differ by less than this ratio are alike."""
DELAY_MS = 1.0
"""Delays that differ by less are alike, milliseconds."""
LOSS_RATIO = 1.25
"""Loss rates that differ by less than this ratio are alike."""
LOSS_SHARE = 0.001
"""Loss rates that differ by less are alike, as a share of the packets."""
JAIN = 0.05
"""Jain's indices that differ by less are alike."""
