"""What is known of claims that do not hold: each sentence computes its numbers."""

from __future__ import annotations

import numpy as np

from ackclock.models import fit
from ackclock.reproduction.claims.artefact import Evidence, Finding
from ackclock.reproduction.claims.least import MUCH
from ackclock.reproduction.claims.numbers import Numbers
from ackclock_papers.fit.figures_4_and_5 import (
    DELAYS_5,
    LOSSES_4,
    LOSSES_5,
    RATE_4_MBPS,
    RATE_5_MBPS,
    RIVALS_4,
    WIRELESS,
    NoisyPath,
    with_loss,
)
from ackclock_papers.fit.setting import PACKET_BITS

POINTS = [(rtt_ms, loss) for rtt_ms in DELAYS_5 for loss in LOSSES_5]
"""RTTs and loss rates of the points of figure 5."""


def most_sessions(rtt_ms: float, mean_rtt_ms: float) -> float:
    """Return the number of sessions of equation 17 on a path of figure 5 for an alpha of 1, its limit.

    Half of the round trip is a way without noise, and the delay of the other is never negative: the least
    RTT is that half, and a packet's time on the link.
    """
    least_ms = rtt_ms / 2 + PACKET_BITS / (1000 * RATE_5_MBPS)
    return float(fit.mean_sessions(1, least_ms, mean_rtt_ms - least_ms))


def _over_reno(numbers: Numbers, variant: str) -> list[float]:
    """Return the goodput of a variant over Reno's, at every point of the figure."""
    return [
        numbers.of(NoisyPath(variant, *point), variant).value
        / numbers.of(NoisyPath("Reno", *point), "Reno").value
        for point in POINTS
    ]


def _sessions(numbers: Numbers) -> Evidence:
    over_reno = {variant: _over_reno(numbers, variant) for variant in WIRELESS}
    rivals = np.max([ratios for name, ratios in over_reno.items() if name not in ("FIT", "FAST")], axis=0)
    bounds = [
        most_sessions(point[0], numbers.of(NoisyPath("FIT", *point), "rtt_ms").value) for point in POINTS
    ]
    values = {
        "low": min(bounds),
        "high": max(bounds),
        "least": min(over_reno["FIT"]),
        "most": max(over_reno["FIT"]),
        "mean": float(np.exp(np.mean(np.log(over_reno["FIT"])))),
        "fast": min(over_reno["FAST"]),
        "needed": (1 + MUCH) * float(np.exp(np.mean(np.log(rivals)))),
    }
    holds = all(
        own < bound < fast
        for own, bound, fast in zip(over_reno["FIT"], bounds, over_reno["FAST"], strict=True)
    )
    return Evidence(holds and values["mean"] < values["needed"], values)


def _room(numbers: Numbers) -> Evidence:
    """Compare FIT with every other TCP and loss rate of figure 4 that leaves room for much more."""
    fit_mbps = {loss: numbers.of(with_loss("FIT", loss), "FIT").value for loss in LOSSES_4}
    mbps = {
        (rival, loss): numbers.of(with_loss(rival, loss), rival).value
        for rival in RIVALS_4
        for loss in LOSSES_4
    }
    room_mbps = RATE_4_MBPS / (1 + MUCH)
    crowded = [goodput for goodput in mbps.values() if goodput > room_mbps]
    ratios = [fit_mbps[loss] / goodput for (_, loss), goodput in mbps.items() if goodput <= room_mbps]
    values = {
        "needed": 1 + MUCH,
        "rate": RATE_4_MBPS,
        "room": room_mbps,
        "crowded": len(crowded),
        "asked": len(mbps),
        "least": min(crowded, default=room_mbps),
        "ratio": min(ratios, default=np.inf),
    }
    return Evidence(bool(crowded and ratios) and values["ratio"] > values["needed"], values)


FINDINGS = (
    Finding(
        "no-room-for-much-more",
        "On a link of {rate:g} Mbit/s no flow can have {needed:g} times the goodput of a TCP that has more "
        "than {room:.0f} Mbit/s. Of the {asked} goodputs of the other TCPs, at all loss rates, {crowded} are "
        "larger than that: {least:.0f} Mbit/s or more. FIT has at least {ratio:.2f} times as much as each of "
        "the rest.",
        _room,
    ),
    Finding(
        "rtt-noise-raises-n",
        "By equation 17 N is on average alpha times the mean RTT over what exceeds the least RTT: with "
        "FIT's RTTs in this noise at most {low:.2f} to {high:.2f}, because alpha is below one. By "
        "equation 18 FIT has N times Reno's goodput: here {least:.2f} to {most:.2f} times, {mean:.2f} on "
        "average. FAST has {fast:.1f} times Reno's goodput at least, and {needed:.2f} times would be much "
        "more than the best other TCP has on average.",
        _sessions,
    ),
)
