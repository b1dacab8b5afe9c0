"""Sections 4.1 to 4.6: congestion events of four flows, in the runs of figures 9 and 11."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.draw.figure import Table
from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.illinois.four_flows import RATE_MBPS, Four, OfFlow, next_to_reno, together
from ackclock_papers.illinois.setting import capacity, packet_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOWS = 4
RTT_S, BUFFER_PACKETS = 0.1, 100
MERGE_S = 2 * RTT_S
"""As in figure 12: loss events within two round trips are one congestion event."""
RENO, HSTCP, ILLINOIS = (Four(control) for control in ("Reno", "HS-TCP", "Illinois"))
RENO_AND_ILLINOIS = next_to_reno("Illinois")
ALIKE = (RENO, HSTCP, ILLINOIS)


def _losses(run: Run) -> pl.DataFrame:
    later = pl.col("time_s") > run.summary["measured_from_s"]
    return run.events.filter(later & pl.col("kind").is_in(["loss", "timeout"]))


def _table(run: Run, key: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times, and a column of the windows by sample and flow."""
    wide = run.windows.pivot(on="flow", index="time_s", values=key).sort("time_s")
    columns = [str(flow) for flow in range(FLOWS)]
    return wide["time_s"].to_numpy(), wide.select(columns).to_numpy().astype(float)


def per_event(run: Run) -> Row:
    """Measure the congestion events of four flows, by the keys of `PER_EVENT`."""
    losses = _losses(run)
    events = metrics.congestion_events(losses["time_s"].to_numpy(), losses["flow"].to_numpy(), MERGE_S)
    begins = np.array([begin for begin, _ in events])
    queue = run.queues_of(0)
    time_s, drops = (queue[key].to_numpy().astype(float) for key in ("time_s", "drops"))
    # A loss is noticed up to a round trip after the drop, which a sample of 0.1 s has.
    edges = np.append(begins, np.inf) - RTT_S - BUFFER_PACKETS / capacity(RATE_MBPS) - 0.1
    counts = np.array([drops[(time_s > low) & (time_s <= high)].sum() for low, high in pairwise(edges)])
    counts = counts[counts > 0]
    at_s, windows = _table(run, "window")
    before = np.clip(np.searchsorted(at_s, begins) - 1, 0, None)
    held = capacity(RATE_MBPS, packet_bytes(run)) * RTT_S + BUFFER_PACKETS
    sums = windows[before].sum(axis=1) / held
    measured = at_s > run.summary["measured_from_s"]
    return {
        "drops": float(counts.mean()) if len(counts) else float("nan"),
        "few": float(((counts >= 1) & (counts <= FLOWS)).mean()) if len(counts) else float("nan"),
        "time mean": float(np.nanmean(windows[measured]) / np.nanmean(windows[before])),
        "losing flows": float(np.mean([len(flows) for _, flows in events])) if events else float("nan"),
        "least sum": float(sums.min()) if len(sums) else float("nan"),
        "largest sum": float(sums.max()) if len(sums) else float("nan"),
    }


def of_illinois(run: Run) -> Row:
    """Measure alpha and beta of four Illinois flows, by the keys of `OF_ILLINOIS`."""
    losses = _losses(run).filter(pl.col("kind") == "loss")
    cut = (losses["window_before"] - losses["window_after"]).to_numpy()
    share = cut / losses["window_before"].to_numpy()
    time_s, alpha = _table(run, "alpha")
    _, rtt_ms = _table(run, "rtt_ms")
    measured = time_s > run.summary["measured_from_s"]
    alpha, rtt_ms = alpha[measured], rtt_ms[measured]
    step_s = time_s[1] - time_s[0]
    added = float(np.nansum(alpha * step_s / (rtt_ms / 1000)))
    return {
        "apart": float(np.nanmedian(alpha.max(axis=1) / alpha.min(axis=1))),
        "halved": float((share > 0.49).mean()) if len(share) else float("nan"),
        "balance": added / float(cut.sum()) if cut.sum() else float("nan"),
    }


PER_EVENT = ("drops", "few", "time mean", "losing flows", "least sum", "largest sum")
"""Packets that the link drops per event, the share of events with 1 to 4 drops, the mean window over
that at the events, the flows that lose per event, and the least and largest sum of the windows at the
events, over link and buffer."""
OF_ILLINOIS = ("apart", "halved", "balance")
"""Largest over least alpha at a time, in the median; share of loss events that halve the window;
packets that alpha adds over those that the cuts take."""


def _windows(run: Run) -> Row:
    return {
        OfFlow("window", index): sender["mean_window"] for index, sender in enumerate(run.summary["flows"])
    }


def _probe(case: Four, _effort: Effort) -> Probe:
    if case == RENO_AND_ILLINOIS:
        return Probe([OfFlow("window", index) for index in range(FLOWS)], _windows)
    if case == ILLINOIS:
        return Probe((*PER_EVENT, *OF_ILLINOIS), lambda run: {**per_event(run), **of_illinois(run)})
    return Probe(PER_EVENT, per_event)


def _cases(effort: Effort) -> Mapping[Four, Case]:
    return {case: together(case, effort) for case in (*ALIKE, RENO_AND_ILLINOIS)}


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    rows = [
        [f"{case}: {key}", str(numbers.of(case, key))]
        for case, rows_of_case in numbers.rows.items()
        for key in rows_of_case[0]
    ]
    return Table(["", "measured"], rows)


def windows_around_capacity(numbers: Numbers) -> tuple[str, bool]:
    """Return the range of the windows' sums at the events, and whether the path's capacity is inside it."""
    low, high = (numbers.of(ILLINOIS, key) for key in ("least sum", "largest sum"))
    return f"from {low} to {high}", low.value < 1 < high.value


SECTION_4_5 = Simulated(
    name="section-4-5", caption="congestion events of four flows",
    about=(
        "Runs of figures 9 and 11: four Reno, HS-TCP or Illinois flows, and two Reno next to two "
        "Illinois; sections 4.1 to 4.6."
    ),
    cases=_cases, probe=_probe, draw=_draw, headline=True,
)  # fmt: skip
