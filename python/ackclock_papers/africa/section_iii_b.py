"""Section III: when Africa is slow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Effort, Key, Row
from ackclock.runs import Case
from ackclock_papers.africa.figures_2_to_6 import FIGURE_4, LEFT_OUT_S
from ackclock_papers.africa.setting import AFRICA
from ackclock_papers.africa.tables_i_and_ii import UNEQUAL, RttRatio, table_case, two_flows

if TYPE_CHECKING:
    from numpy.typing import NDArray

BELOW, FULL = 0.90, 0.95
"""Utilisations below which a link is underused, and with which it is full: G of section II-C."""
FIGURE_4_AFRICA = "figure 4"
SWITCHES, SWITCHES_S, SWITCHES_SAMPLE_S = "switches", 60.0, 0.002
"""Flows whose switches are seen: RTTs as far apart as in table I, and samples that separate round trips."""


def own(run: Run, flow: int, key: str) -> NDArray[np.float64]:
    """Return a column of the windows of a flow, by sample."""
    return run.windows_of(flow)[key].to_numpy().astype(float)


def _slow(run: Run, flow: int) -> NDArray[np.bool_]:
    return own(run, flow, "fast") < 0.5


def _share(samples: NDArray[np.bool_], selected: NDArray[np.bool_]) -> float:
    """Return the share of the selected samples that are true; NaN when none is selected."""
    return float(samples[selected].mean()) if selected.any() else float("nan")


def both_slow(run: Run) -> Row:
    """Measure when two Africa flows are slow after 30 s, by `BOTH_SLOW`; the first has the shorter RTT."""
    later = own(run, 0, "time_s") > LEFT_OUT_S
    short, long = (_slow(run, flow) for flow in (0, 1))
    rates = [own(run, flow, "window") / own(run, flow, "rtt_ms") for flow in (0, 1)]
    single = later & (short != long) & np.isfinite(rates[0]) & np.isfinite(rates[1])
    return {
        "short": _share(short, later),
        "long": _share(long, later),
        "faster": _share(short == (rates[0] > rates[1]), single),
    }


def at_switches(run: Run) -> Row:
    """Measure how many packets of two Africa flows are in the queue when they turn slow, by `AT_SWITCHES`.

    Equal numbers mean equal rates at an equal queueing delay, because a flow queues as many packets as it
    sends in that delay.
    """
    row = {}
    for flow, key in enumerate(AT_SWITCHES):
        rtt_ms = own(run, flow, "rtt_ms")
        queued = own(run, flow, "window") * (rtt_ms - np.nanmin(rtt_ms)) / rtt_ms
        slow = _slow(run, flow)
        turns = np.flatnonzero(slow[1:] & ~slow[:-1])
        # A switch lies between two samples.
        between_samples = (queued[turns] + queued[turns + 1]) / 2
        row[key] = float(np.nanmedian(between_samples)) if len(turns) else float("nan")
    return row


def before_losses(run: Run) -> Row:
    """Measure the modes of the first flow, of Africa, at its losses, by the keys of `BEFORE_LOSSES`."""
    time_s, slow = own(run, 0, "time_s"), _slow(run, 0)
    losses = run.events.filter(
        (pl.col("flow") == 0) & (pl.col("kind") == "loss") & (pl.col("time_s") >= LEFT_OUT_S)
    )
    last = np.searchsorted(time_s, losses["time_s"].to_numpy()) - 1
    used = run.queues_of(0)["utilisation"].to_numpy()
    later = time_s > LEFT_OUT_S
    return {
        "slow before losses": float(slow[last].mean()) if len(last) else float("nan"),
        "slow when full": _share(slow, later & (used >= FULL)),
        "fast below": _share(~slow, later & (used < BELOW)),
    }


def _cases_3(effort: Effort) -> Mapping[Key, Case]:
    return {
        **{RttRatio(multiple): table_case(effort, AFRICA, multiple) for multiple in UNEQUAL},
        FIGURE_4_AFRICA: FIGURE_4.cases(effort)[AFRICA],
        SWITCHES: two_flows(effort, AFRICA, UNEQUAL[-1], SWITCHES_S, SWITCHES_SAMPLE_S),
    }


BEFORE_LOSSES = ("slow before losses", "slow when full", "fast below")
"""Share of its loss events before which the last sample is slow, and shares of the time in which it is
slow while the link is full, and fast while it is underused; all after 30 s."""
BOTH_SLOW = ("short", "long", "faster")
"""Shares of the time in which each flow is slow, and, of the time in which only one of them is, the share in
which it is the one that sends faster."""
AT_SWITCHES = ("short queued", "long queued")
"""Packets of each flow in the queue when it turns slow, median over its switches."""


def _probe_3(case: Key, _effort: Effort) -> Probe:
    if case == FIGURE_4_AFRICA:
        return Probe(BEFORE_LOSSES, before_losses)
    if case == SWITCHES:
        return Probe(AT_SWITCHES, at_switches)
    return Probe(BOTH_SLOW, both_slow)


SECTION_3_B = Simulated(
    name="section-iii-b", caption="when Africa is slow",
    about="Modes of the flows of table I, also more finely sampled, and of figure 4, from their traces.",
    cases=_cases_3, probe=_probe_3, draw=every_number, headline=True,

)  # fmt: skip
