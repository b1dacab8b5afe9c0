"""Conditions that the paper states of its simulations and that runs can confirm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Effort, Row
from ackclock.reproduction.claims.usual import between, mean
from ackclock.runs import Case
from ackclock_papers.illinois.figures_8_and_10 import RENO, RTT_S
from ackclock_papers.illinois.figures_14_and_15 import LossyFlow, NoisyPair, lossy, noisy
from ackclock_papers.illinois.setting import scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALONE, NOISELESS, LOSSY = "one flow", "two flows, 10 Mbit/s", "one flow, lossy link"


def _cases(effort: Effort) -> Mapping[str, Case]:
    setting = effort.setting
    alone = scenario([RENO.flow(setting)], setting, duration_s=30, warmup_s=0)
    return {
        ALONE: Case(alone),
        NOISELESS: Case(noisy(NoisyPair(None, True, 0), setting, 200, 0.05), runs=effort.runs),
        LOSSY: Case(lossy(LossyFlow("Illinois", 0.01), setting, 150), runs=effort.runs),
    }


def _rtts_ms(run: Run) -> NDArray[np.float64]:
    return run.windows["rtt_ms"].drop_nulls().to_numpy()


def _of_link(run: Run) -> Row:
    link = run.summary["links"][0]
    return {"utilisation": link["utilisation"], "queue_drops": link["queue_drops"]}


PROBES = {
    ALONE: Probe(("smallest_rtt_ms",), lambda run: {"smallest_rtt_ms": float(_rtts_ms(run).min())}),
    NOISELESS: Probe(("queueing_ms",), lambda run: {"queueing_ms": float(np.ptp(_rtts_ms(run)))}),
    LOSSY: Probe(("utilisation", "queue_drops"), _of_link),
}


CONDITIONS = Simulated(
    name="conditions",
    caption="conditions that the paper states",
    about="Reno alone on 100 Mbit/s; two Illinois flows on 10 Mbit/s; Illinois with random loss.",
    cases=_cases,
    probe=lambda case, _effort: PROBES[case],
    draw=every_number,
    claims=(
        between(
            "propagation-delay-100-ms",
            "the propagation delay is 100 ms",
            mean(ALONE, "smallest_rtt_ms"),
            1000 * RTT_S,
            1000 * RTT_S + 1,
            why="the smallest RTT; up to 1 ms more for transmissions",
            unit="ms",
            paper="100 ms",
        ),
        between(
            "largest-queueing-delay-40-ms-with-50-packets",
            "the largest queueing delay is 40 ms with 50 packets at 10 Mbit/s",
            mean(NOISELESS, "queueing_ms"),
            38,
            42,
            why="a packet of 0.8 ms more or less, and headers of 4 %",
            unit="ms",
            paper="40 ms",
        ),
        between(
            "lossy-link-under-used",
            "the lossy link is underused",
            mean(LOSSY, "utilisation"),
            0,
            0.9,
            why="at p = 0.01, amid the losses of figure 14",
            paper="under-utilized",
        ),
        between(
            "lossy-link-no-loss-from-congestion",
            "the lossy link has no loss from congestion",
            mean(LOSSY, "queue_drops"),
            0,
            0,
            why="at p = 0.01, amid the losses of figure 14; slow start left out",
            paper="no congestion loss at all in many cases",
        ),
    ),
)
