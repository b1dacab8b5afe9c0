"""What claims gave at every setting that was tried, as strips next to the paper's values."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

from ackclock.draw import plots
from ackclock.reproduction import tried
from ackclock.reproduction.artefact import Artefact, Claim

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

    from ackclock.reproduction.paper import Paper

NAME = "settings"
"""Of the picture's files."""
WIDE = 30.0
"""Numbers that differ by a larger factor are shown as logarithms."""
DECADES = 8
"""From this factor on a logarithmic axis has ticks at 1, 2 and 5 times powers of ten."""
ROW_INCHES = 0.55
WORDS_PER_LINE = 46
HOLDS, FAILS, PAPER = plots.COLOURS[0], plots.COLOURS[1], "#555555"


def shown(artefact: Artefact, paper: Paper) -> list[Claim]:
    """Return the claims with a strip: their number was measured at two plausible settings or more."""
    return [claim for claim in artefact.claims if len(_values(artefact, claim, paper)) > 1]


def _values(artefact: Artefact, claim: Claim, paper: Paper) -> list[tuple[float, bool, bool]]:
    """Return the number at each plausible setting, whether the claim held, and whether it is chosen."""
    key = (artefact.name, claim.name)
    values = []
    for trial in tried.plausible(paper.trials, key):
        value, holds = trial.outcomes[key].value, trial.outcomes[key].holds
        if claim.target is not None and math.isfinite(value):
            values.append((value, holds, dict(trial.setting) == dict(paper.setting)))
    return values


def draw(artefact: Artefact, paper: Paper) -> matplotlib.figure.Figure:
    """Draw one strip per claim: the settings as dots, the paper's value as a line.

    The range in which a claim holds is shaded; a setting at which it does not is a cross, and the chosen
    one has a ring.
    """
    claims = shown(artefact, paper)
    figure, panels = plots.panels(len(claims), height=ROW_INCHES)
    for claim, panel in zip(claims, panels, strict=True):
        _strip(panel, claim, _values(artefact, claim, paper))
    return figure


def _strip(panel: Axes, claim: Claim, values: Sequence[tuple[float, bool, bool]]) -> None:
    assert claim.target is not None  # noqa: S101
    target = claim.target
    numbers = [value for value, *_ in values]
    marks = [number for number in (target.low, target.high, target.expected) if number is not None]
    ends = [*numbers, *(number for number in marks if math.isfinite(number))]
    if min(ends) > 0 and (target.logarithmic or max(ends) > WIDE * min(ends)):
        panel.set_xscale("log")
        low, high = min(ends) / 1.2, max(ends) * 1.2
        few = high < DECADES * low
        panel.xaxis.set_major_locator(MaxNLocator(5) if few else LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    else:
        margin = 0.06 * (max(ends) - min(ends) or abs(max(ends)) or 1.0)
        low, high = min(ends) - margin, max(ends) + margin
    panel.set_xlim(low, high)
    panel.axvspan(max(target.low, low), min(target.high, high), color="#dfeee9", linewidth=0)
    if target.expected is not None:
        panel.axvline(target.expected, color=PAPER, linewidth=1.0)
    for value, holds, chosen in values:
        panel.plot(
            [value], [0.5], "o" if holds else "x", markersize=4, alpha=0.8, color=HOLDS if holds else FAILS
        )
        if chosen:
            panel.plot([value], [0.5], "o", markersize=9, color="black", fillstyle="none")
    panel.set(ylim=(0, 1), yticks=[])
    panel.tick_params(labelsize=7, pad=1)
    words = textwrap.shorten(claim.sentence, 2 * WORDS_PER_LINE, placeholder=" ...")
    panel.set_ylabel(textwrap.fill(words, WORDS_PER_LINE), rotation=0, ha="right", va="center", fontsize=7)
    panel.spines["left"].set_visible(False)
    panel.grid(visible=False)


MEANING = {
    "robust": "reproduced, and at four of five plausible settings at least",
    "fragile": "reproduced, but not at four of five plausible settings",
    "untried": "reproduced, and no other setting was tried",
    "undecided": "undecided: the 95 % interval holds both answers",
    "depends": "depends on an open setting: holds at others, not at the one of its paper",
    "not found": "not found at any setting that was tried",
    "contradicted": "contradicted: the paper contradicts itself",
    "differs": "differs, and no other setting was tried",
}
"""What is known of a claim, in a few words."""


def counts(records: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of claims by key of `MEANING`."""
    claims = dict.fromkeys(MEANING, 0)
    for record in records:
        for claim in record["claims"]:
            kind = claim["verdict"]
            if kind == "reproduced" and not claim["tried_settings"]:
                kind = "untried"
            elif kind == "reproduced":
                kind = "robust" if claim["robust"] else "fragile"
            claims[kind] += 1
    return claims
