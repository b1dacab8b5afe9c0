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
from ackclock.metrics import Estimate
from ackclock.names import slug
from ackclock.reproduction.claims.artefact import Claim, Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.claims.orders import was_plain
from ackclock.reproduction.claims.usual import between, holds, mean, near, times
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


def _pair(first: int, control: str) -> Claim:
    def ratio(numbers: Numbers) -> Estimate:
        return numbers.ratio(*((RENO_AND_ILLINOIS, OfFlow("window", first + offset)) for offset in (0, 1)))

    return times(
        slug("both", control, "flows-same-mean-window"),
        f"both {control} flows have the same mean window",
        ratio,
        1,
        factor=1.25,
        why="of two Reno and two Illinois flows; means over a few tens of their loss events",
        paper="'share the same average window size'",
    )


def _around_capacity(numbers: Numbers) -> tuple[str, bool]:
    low, high = (numbers.of(ILLINOIS, key) for key in ("least sum", "largest sum"))
    return f"from {low} to {high}", low.value < 1 < high.value


SECTION_4_5 = Simulated(
    name="section-4-5", caption="congestion events of four flows",
    about=(
        "Runs of figures 9 and 11: four Reno, HS-TCP or Illinois flows, and two Reno next to two "
        "Illinois; sections 4.1 to 4.6."
    ),
    cases=_cases, probe=_probe, draw=_draw, headline=True,
    claims=(
        holds("with-bursts-sum-rates-above-or-below-c",
              "with bursts the sum of the rates is above or below C",
              "'either greater than or less than C'", _around_capacity,
              why="Illinois' windows at its congestion events over the packets that link and buffer "
              "hold: both occur"),
        between("alpha-same-for-all-illinois-users",
                "alpha is the same for all Illinois users", mean(ILLINOIS, "apart"), 1, 1.5,
                why="largest over least at a time, in the median; feedback delays are ignored in "
                "the text", paper="the same for all"),
        between("beta-beta-max-at-every-congestion-event",
                "beta is beta_max at every congestion event", mean(ILLINOIS, "halved"), 0.95, 1,
                why="share of the loss events with a cut of half; a twentieth for losses of "
                "retransmissions", paper="for all i and k"),
        near("integral-alpha-follows-from-backoffs",
             "the integral of alpha follows from the backoffs", mean(ILLINOIS, "balance"), 1,
             within=0.1, paper="(14)", why="the sum of alpha/RTT over the sum of the cuts; a tenth "
             "for the round trips of recoveries, which do not grow"),
        between("four-reno-flows-lose-from-1-to-4-packets",
                "four Reno flows lose from 1 to 4 packets at an event", mean(RENO, "few"), 0.9, 1,
                why="share of the events; nine in ten", paper="'anywhere from 1 to' 4"),
        times("four-reno-flows-lose-2.5-packets-per-event",
              "four Reno flows lose 2.5 packets per event", mean(RENO, "drops"), 2.5, factor=1.25,
              why="(1 + 4)/2, 'approximately'", unit="packets"),
        times("four-illinois-flows-lose-1-packet-per-event",
              "four Illinois flows lose 1 packet per event", mean(ILLINOIS, "drops"), 1,
              factor=1.25, why="'approximately'; alpha is far below 1 before a loss",
              unit="packets"),
        between("four-illinois-flows-avoid-heavy-congestion",
                "four Illinois flows lose no more packets per event than in medium congestion",
                mean(ILLINOIS, "drops"), 1, (1 + FLOWS) / 2, unit="packets",
                paper="'avoids heavy congestion'",
                why="in figures 2 to 7 medium congestion drops 1 to N packets with equal probability, "
                "(1 + N)/2 on average, and heavy congestion drops 1 to 2 N"),
        between("four-illinois-flows-back-off-unsynchronised",
                "backoffs of four Illinois flows are unsynchronised", mean(ILLINOIS, "losing flows"), 1, 2,
                why="flows that lose per event, of four, as for figure 12",
                paper="'avoids ... synchronized backoff'"),
        was_plain("congestion-heavier-when-growth-before-larger",
                "congestion is heavier when the growth before it is larger",
                [(case.control, mean(case, "drops")) for case in (HSTCP, RENO, ILLINOIS)],
                why="packets dropped per event", unit="packets",
                paper="'heavier if the increment before congestion is larger'"),
        *(between(slug(case.control, "time-mean-lies-between-half"),
                  f"{case.control}: the time mean lies between a half and all of that at events",
                  mean(case, "time mean"), 0.5, 1, why="Remark 1 with beta_max = 1/2",
                  paper="Remark 1") for case in ALIKE),
        *(_pair(first, control) for first, control in ((0, "Reno"), (2, "Illinois"))),
    ),
)  # fmt: skip
