"""What is known of claims that do not hold: each sentence computes its numbers."""

from __future__ import annotations

import math

import numpy as np

from ackclock.models import responses
from ackclock.reproduction import ns2
from ackclock.reproduction.claims.artefact import Evidence, Finding
from ackclock.reproduction.claims.numbers import Numbers
from ackclock_papers.bic.section_vi import SHAPES
from ackclock_papers.bic.section_vii import FAST, SLOW
from ackclock_papers.bic.tables_1_to_3 import RttPair

HSTCP_6 = RttPair("HSTCP", 6)


def _hstcp_unfairness(numbers: Numbers) -> Evidence:
    """Compare HSTCP's ratio of table 3 with ns-2's, which is below the paper's, too."""
    paper = numbers.of_paper(HSTCP_6, "ratio")
    theirs = ns2.measured(__package__, "table-3", "hstcp-rtt-ratio-6").mean
    ours = numbers.of(HSTCP_6, "ratio").value
    return Evidence(max(ours, theirs) < paper, {"hstcp": theirs, "paper": paper})


def _loss_events(window: float) -> float:
    """Return the rate of loss events with which BI-TCP's response function has a mean window."""
    # Above low_window, where the function is its own and rises as losses become rarer.
    rates = np.geomspace(5e-3, 1e-9, 2000)
    return float(np.exp(np.interp(np.log(window), np.log(responses.bic(rates)), np.log(rates))))


def _loss_rates(numbers: Numbers) -> Evidence:
    pairs = (FAST, SLOW)
    needed = [_loss_events(numbers.of_paper(pair, "window")) for pair in pairs]
    fewer = min(numbers.of_paper(pair, "loss") / rate for pair, rate in zip(pairs, needed, strict=True))
    # Losses come in groups; ten in every event would already be many.
    return Evidence(fewer > 10, {"fast": needed[0], "slow": needed[1], "fewer": fewer})


def _gain(maximum: float, beta: float) -> float:
    """Return a rate that grows as equation 1.4, up to a factor."""
    return math.sqrt(maximum * (2 - beta) / beta)


def _beta_gains(numbers: Numbers) -> Evidence:
    of_beta, of_maximum = _gain(1, 0.125) / _gain(1, 0.25), _gain(2, 0.125) / _gain(1, 0.125)
    ours = numbers.of(SHAPES, "gain of beta").value
    # The model at a finite loss rate gains as the limit does, within a twentieth.
    holds = of_beta >= of_maximum and abs(ours / of_beta - 1) < 0.05
    return Evidence(holds, {"beta": of_beta, "maximum": of_maximum})


FINDINGS = (
    Finding(
        "ns-2-hstcp-unfairness",
        "ns-2.35 at this setting gives {hstcp:.1f}, less than the paper's {paper:.1f}, too.",
        _hstcp_unfairness,
    ),
    Finding(
        "loss-rates-count-packets",
        "By the paper's own response function such windows need {fast:.1e} and {slow:.1e} loss events per "
        "packet, {fewer:.0f} times fewer at least, so its rates must count something else: lost packets, as "
        "here, or more.",
        _loss_rates,
    ),
    Finding(
        "beta-gains-as-s-max",
        "By equation 1.4 the rate is proportional to sqrt(S_max (2 - beta)/beta): half of beta gains a "
        "factor of {beta:.2f}, twice S_max a factor of {maximum:.2f}.",
        _beta_gains,
    ),
)
