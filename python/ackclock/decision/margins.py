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


def of_time(metric: str, unit: str = "s", resolution: float | None = None) -> Margin:
    """Return the margin of a time, such as a completion: a tenth, and at least `resolution`.

    The resolution, in the unit of the metric, is the spacing of the samples that the time is read
    from: smaller differences cannot be observed.
    """
    return Margin(metric, unit, higher_is_better=False, ratio=RATIO, difference=resolution, least=1e-3)


def of_harm(metric: str) -> Margin:
    """Return the margin of a number from 0 to 1 of which less is better: 0.05."""
    return Margin(metric, "", higher_is_better=False, difference=0.05)


BY_NAME: Mapping[str, Margin] = {
    "goodput": GOODPUT,
    "delay_p95": DELAY,
    "loss": LOSS,
    "smallest_share": SHARE,
    "jain": JAIN,
    "utilisation": Margin("utilisation", "", higher_is_better=True, ratio=RATIO),
    "harm": of_harm(""),
    "time": of_time(""),
}
"""Margins by name; those of harm and of a time have no metric of their own."""
