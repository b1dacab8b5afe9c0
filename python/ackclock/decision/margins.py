"""Differences that do not matter, for the questions that `compare` and `evaluate` have in common."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.decision.comparisons import Margin

RATIO = 1.1
"""Rates, delays and times that differ by less than this ratio are alike."""
GOODPUT = Margin("goodput", "Mbit/s", higher_is_better=True, ratio=RATIO, least=1e-3)
DELAY = Margin("delay_p95", "ms", higher_is_better=False, ratio=RATIO, difference=1.0, least=1e-3)
LOSS = Margin("loss", "", higher_is_better=False, ratio=1.25, difference=0.001, least=1e-6)
SHARE = Margin("smallest_share", "", higher_is_better=True, difference=0.05)
JAIN = Margin("jain", "", higher_is_better=True, difference=0.05)


BY_NAME: Mapping[str, Margin] = {
    "goodput": GOODPUT,
    "delay_p95": DELAY,
    "loss": LOSS,
    "smallest_share": SHARE,
    "jain": JAIN,
    "utilisation": Margin("utilisation", "", higher_is_better=True, ratio=RATIO),
    "harm": Margin("", "", higher_is_better=False, difference=0.05),
    "time": Margin("", "s", higher_is_better=False, ratio=RATIO, least=1e-3),
}
"""Margins by name; the margins of harm and of a time have no metric of their own."""
