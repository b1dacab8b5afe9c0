"""Figure 7: next to datagrams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ackclock.engine import Run
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.numbers import Effort, Row
from ackclock.runs import Case
from ackclock_papers.africa.figures_2_to_6 import trace_windows
from ackclock_papers.africa.setting import (
    ACCESS,
    AFRICA,
    CONTROLLERS,
    NOISE_SHARE,
    RATE_MBPS,
    TcpVariant,
    scenario,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

COME_S, GO_S = 160, 320
"""Start and end of the datagrams."""
DATAGRAMS_MBPS = 300
SAMPLE_7_S = 0.2


def _cases_7(effort: Effort) -> Mapping[TcpVariant, Case]:
    control = CONTROLLERS[AFRICA]
    africa = {"controller": control, "rtt": "84 ms", "access": ACCESS, "name": control}
    datagrams = {
        "source": "cbr",
        "rate": f"{DATAGRAMS_MBPS} Mbit/s",
        "rtt": "84 ms",
        "start": f"{COME_S} s",
        "stop": f"{GO_S} s",
        "name": "noise cbr",
    }
    flows = [africa, datagrams]
    description = scenario(effort.setting, flows, delay_ms=40, duration_s=480, sample_s=SAMPLE_7_S)
    return {AFRICA: Case(description, effort.runs)}


AVAILABLE_MBPS = (1 - NOISE_SHARE) * RATE_MBPS


class Adapting(NamedTuple):
    """Numbers of a flow that datagrams join and leave again."""

    # Goodput once it has adapted, Mbit/s: from 100, 200 and 400 s on.
    before: float
    during: float
    after: float
    down_s: float
    """Time from the datagrams' start until it first has less than 1.1 times what they leave."""
    up_s: float
    """Time from their end until it first has more than 0.9 of the link, without the first 2 s."""


def _measure_7(run: Run) -> Row:
    own = run.windows_of(0)
    time_s = own["time_s"].to_numpy()
    rate_mbps = own["arrived_bytes"].to_numpy() * 8 / SAMPLE_7_S / 1e6

    def average(start_s: float, end_s: float) -> float:
        return float(rate_mbps[(time_s > start_s) & (time_s <= end_s)].mean())

    def until(reached: NDArray[np.bool_], since_s: float) -> float:
        return float(time_s[np.argmax(reached)] - since_s) if reached.any() else float("inf")

    low = (time_s > COME_S) & (rate_mbps < 1.1 * (AVAILABLE_MBPS - DATAGRAMS_MBPS))
    high = (time_s > GO_S + 2) & (rate_mbps > 0.9 * AVAILABLE_MBPS)
    return Adapting(
        before=average(100, COME_S),
        during=average(200, GO_S),
        after=average(400, 480),
        down_s=until(low, COME_S),
        up_s=until(high, GO_S),
    )._asdict()


FIGURE_7 = Simulated(
    name="figure-7", caption="adapting to 300 Mbit/s of datagrams from 160 s to 320 s",
    about="One Africa flow on 622 Mbit/s, RTT 84 ms.",
    cases=_cases_7, probe=Probe(Adapting._fields, _measure_7), trace=trace_windows,
    draw=lambda _numbers, traces: figures.over_time(
        traces, {str(AFRICA): (AFRICA,)}, "window", "window (packets)", height=3.0
    ),

)  # fmt: skip
