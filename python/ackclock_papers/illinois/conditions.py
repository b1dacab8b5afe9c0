"""Conditions that the paper states of its simulations and that runs can confirm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Effort, Row
from ackclock.runs import Case
from ackclock_papers.illinois.figures_8_and_10 import RENO
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
)
