"""What is known of claims that do not hold: each sentence computes its numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from ackclock.metrics import rtt_unfairness_exponent
from ackclock.models import fluid, illinois
from ackclock.reproduction import ns2, quoted
from ackclock.reproduction.claims.artefact import Evidence, Finding
from ackclock.reproduction.claims.numbers import Numbers
from ackclock_papers.illinois.figures_8_and_10 import RATE_MBPS, RTT_S
from ackclock_papers.illinois.figures_9_and_11_to_13 import Counted
from ackclock_papers.illinois.four_flows import RTTS_MS
from ackclock_papers.illinois.section_4_5 import FLOWS, RENO
from ackclock_papers.illinois.setting import BUFFER_PACKETS, capacity

NS_2 = quoted.load("ackclock_papers.illinois")
RENOS = 2
"""Flows of Reno next to two others; they come first."""
MOST_WINDOW_RATIO, MOST_MU = 1.5, 0.35
"""Ends of the claims of figure 11: "slightly larger" windows, and nearly equal ones."""


def _ack_trains(numbers: Numbers) -> Evidence:
    """Compare the fluid cycle of evenly spread packets, and that of trains, with BIC of ns-2."""
    half = replace(illinois.STANDARD, beta_min=0.5, beta_max=0.5)
    spread = partial(illinois.alpha, parameters=half)
    packets_per_s = capacity(RATE_MBPS)
    evenly, trains = (
        fluid.cycle(alpha, half.beta_max, packets_per_s, BUFFER_PACKETS, RTT_S).used_share
        for alpha in (spread, fluid.in_trains(spread, packets_per_s))
    )
    bic = NS_2.of("one linux bic", "goodput_mbps")
    ours = numbers.of(Counted(1, "Illinois 0.5"), "goodput_mbps").value
    # A cycle that the model explains to a hundredth; with even spacing the claim would hold.
    holds = evenly * RATE_MBPS > bic > trains * RATE_MBPS and abs(ours / RATE_MBPS - trains) < 0.01
    return Evidence(holds, {"evenly": evenly, "trains": trains, "bic": bic, "ours": ours})


def _reno_share(case: str) -> float:
    goodputs = NS_2.each(case, "goodput_mbps")
    return sum(goodputs[:RENOS]) / sum(goodputs)


def _beside_reno(_numbers: Numbers) -> Evidence:
    cases = {
        "illinois": "D linux illinois 80 us",
        "highspeed": "D linux highspeed 80 us",
        "sack": "D sack1 hstcp 80 us",
    }
    shares = {name: _reno_share(case) for name, case in cases.items()}
    return Evidence(
        shares["illinois"] > shares["highspeed"],
        {**shares, "overhead": NS_2.of(cases["illinois"], "overhead_us")},
    )


def _larger_windows(_numbers: Numbers) -> Evidence:
    claim = "figure-11", "illinois-larger-windows-beside-reno-but-only-slightly"
    ratios = [ns2.measured(__package__, *claim, change).mean for change in ("", "overhead 0 s")]
    # More than "slightly larger" in ns-2, too.
    return Evidence(min(ratios) > MOST_WINDOW_RATIO, {"window": ratios[0], "without": ratios[1]})


def _newreno(_numbers: Numbers) -> Evidence:
    case = "C newreno 80 us"
    windows = NS_2.each(case, "mean_window")
    mu = rtt_unfairness_exponent(windows, RTTS_MS)
    values = {"windows": _listed(windows, ".0f"), "mu": mu, "overhead": NS_2.of(case, "overhead_us")}
    return Evidence(mu > MOST_MU, values)


def _four_illinois(_numbers: Numbers) -> Evidence:
    case = "C linux illinois 0.5 ms"
    goodputs = NS_2.each(case, "goodput_mbps")
    products = np.multiply(goodputs, RTTS_MS)
    apart = 1 - float(products.min() / products.max())
    mu = rtt_unfairness_exponent(products, RTTS_MS)
    values = {"goodputs": _listed(goodputs, ".1f"), "apart": apart, "mu": mu}
    return Evidence(abs(mu) <= MOST_MU, {**values, "overhead": NS_2.of(case, "overhead_us") / 1000})


def _listed(values: Iterable[float], form: str) -> str:
    *first, last = (format(value, form) for value in values)
    return f"{', '.join(first)} and {last}"


def _sum_of_alpha(numbers: Numbers) -> Evidence:
    lost = numbers.of(RENO, "drops").value
    # Reno's alpha is 1, so the sum is the number of flows; a tenth for losses of retransmissions.
    return Evidence(abs(lost / FLOWS - 1) < 0.1, {"lost": lost, "flows": FLOWS})


FINDINGS = (
    Finding(
        "ack-trains",
        "By equations 2 to 4 alone, with evenly spread packets, Illinois would use {evenly:.1%} of the link, "
        "and BIC of ns-2.35's TCP-Linux has {bic:.1f} Mbit/s. An ACK clock sends trains, whose queue "
        "Illinois takes for congestion (docs/validation.md): then the same equations give {trains:.1%}, and "
        "here it has {ours:.1f} Mbit/s.",
        _ack_trains,
    ),
    Finding(
        "ns-2-beside-reno",
        "ns-2.35 with an overhead of {overhead:.0f} us: where TCP-Linux runs all flows, Reno keeps "
        "{illinois:.3f} next to Illinois and {highspeed:.3f} next to HS-TCP, so there the claim holds; next "
        "to HS-TCP on ns-2's own SACK it keeps {sack:.3f}.",
        _beside_reno,
    ),
    Finding(
        "ns-2-larger-windows",
        "ns-2.35 with TCP-Linux gives Illinois {window:.1f} times Reno's window at this setting, and "
        "{without:.1f} times without an overhead.",
        _larger_windows,
    ),
    Finding(
        "ns-2-newreno-four-rtts",
        "Four NewReno flows of ns-2.35 with these RTTs and an overhead of {overhead:.0f} us have mean "
        "windows of {windows} packets: mu is {mu:.2f}.",
        _newreno,
    ),
    Finding(
        "ns-2-illinois-four-rtts",
        "Four Illinois flows of ns-2.35's TCP-Linux with these RTTs and an overhead of {overhead:.1f} ms "
        "have {goodputs} Mbit/s, so that goodput times RTT differs by {apart:.0%} at most and mu is "
        "{mu:.2f}: nearly equal windows. That agent does not grow at most ACKs when an overhead is set.",
        _four_illinois,
    ),
    Finding(
        "sum-of-alpha-is-lost",
        "Every flow has its alpha more underway in the round trip in which the queue is full, so that the "
        "sum of alpha is lost, and not a number between one alpha and that sum: the sum of {flows} Reno "
        "flows is {flows} packets, and {lost:.2f} are lost.",
        _sum_of_alpha,
    ),
)
