"""Numbers of an evaluation as people read them: significant digits, intervals, per cent."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from ackclock.decision.comparisons import Limit, LimitResult
from ackclock.metrics import Estimate
from ackclock_evaluate.results import CellResult, MarginResult

_PER_CENT = re.compile(
    r"(?!marks_per_)(\w+_)?loss|late|lost|marked|resent_in_vain|spurious_cuts|useful|utilisation"
)
"""Shares of packets, cuts or time, which are written in per cent."""


def number(value: float) -> str:
    """Write a number with three digits, such as ``"0.0123"``; NaN is ``"-"``."""
    if value != value:
        return "-"
    if value == 0:
        return "0"
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e5 else f"{value:.2e}"


def interval(estimate: Estimate) -> str:
    """Write an estimate with its interval, such as ``"12.3 [12.1, 12.5]"``."""
    if estimate.low != estimate.low or estimate.low == estimate.high:
        return number(estimate.value)
    return f"{number(estimate.value)} [{number(estimate.low)}, {number(estimate.high)}]"


def shown(metric: str, unit: str, estimate: Estimate) -> tuple[str, str]:
    """Return an estimate of a metric in words, and its unit: per cent for shares of packets or time."""
    if unit or not _PER_CENT.fullmatch(metric):
        return interval(estimate), unit
    low, high = 100 * estimate.low, 100 * estimate.high
    return interval(replace(estimate, value=100 * estimate.value, low=low, high=high)), "%"


def with_unit(metric: str, unit: str, estimate: Estimate) -> str:
    """Return an estimate of a metric with its unit, such as ``"12.3 [12.1, 12.5] Mbit/s"``."""
    return " ".join(filter(None, shown(metric, unit, estimate)))


def number_with_unit(metric: str, unit: str, estimate: Estimate) -> str:
    """Return the value of a metric with its unit and without its interval."""
    return with_unit(metric, unit, replace(estimate, low=np.nan, high=np.nan))


def margin_words(judged: MarginResult | LimitResult) -> str:
    """Return the margin or limit in words, such as ``"10 % and 1 ms"``."""
    margin = judged.bound
    if isinstance(margin, Limit):
        bound = margin.at_most if margin.at_most is not None else margin.at_least
        return f"{'at most' if margin.at_most is not None else 'at least'} {bound:g}"
    parts = []
    if margin.ratio is not None:
        parts.append(f"{100 * (margin.ratio - 1):.0f} %")
    if margin.difference is not None:
        parts.append(f"{margin.difference:.3g} {margin.unit}".strip())
    return " and ".join(parts)


def evidence(judged: MarginResult | LimitResult) -> str:
    """Return the size of the effect behind a verdict, in words: margins, or runs that break a limit."""
    if isinstance(judged, LimitResult):
        share = judged.share
        end = f"at least {share.low:.0%}" if judged.broken else f"at most {share.high:.0%}"
        usual = ", no more often than by a baseline" if judged.broken and judged.verdict == "holds" else ""
        return f"broken in {judged.broken} of {share.samples} runs, {end} of all{usual}"
    effect = judged.compared.effect
    if np.isnan(effect.value):
        return ""
    if effect.value < 0:
        return f"{-effect.value:.2g} margins better, at least {max(0.0, -effect.high):.2g}"
    return f"{effect.value:.2g} margins worse, at least {max(0.0, effect.low):.2g}"


def twin(cell: CellResult) -> str:
    """Return a note if a baseline sends the same packets, as Reno does for DCTCP where no queue marks."""
    if not cell.twin:
        return ""
    return f"as {cell.twin}: {'the same packets' if cell.marks else 'nothing marked here'}"
