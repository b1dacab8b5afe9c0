"""The states of BBR in the example test cases of draft-ietf-ccwg-bbr, for controls that report them.

A control reports them by the internals ``state``, numbered as in `STATES`, ``max_bw_packets_per_s``
and ``min_rtt_ms``. A control without them is judged by the outcomes of the other criteria alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from ackclock.engine import Run
from ackclock_evaluate import measures
from ackclock_evaluate.cell import CellNumbers
from ackclock_evaluate.setting import Bottleneck

STATES = ("Startup", "Drain", "Down", "Cruise", "Refill", "Up", "ProbeRTT")
"""The states by number; other sources have no separate states within ProbeBW."""
PROBING = STATES[2:6]
PATH = Bottleneck(20, 100, 2)
"""The path of the cases in the suite, but for case 14."""
THIN = Bottleneck(0.064, 100, 2)
RTT_S = PATH.rtt_ms / 1e3
SAMPLE_S = 0.01
NEEDED = ("state", "max_bw_packets_per_s", "min_rtt_ms")


@dataclass(frozen=True)
class StateVisit:
    """A visit to one state from `from_s` to `to_s`, with its smallest and largest window (packets)."""

    state: str
    from_s: float
    to_s: float
    least_window: float
    largest_window: float

    @property
    def length_s(self) -> float:
        """Return the length of the visit, seconds."""
        return self.to_s - self.from_s


@dataclass(frozen=True)
class ReportedStates:
    """The states that a control reports in one run."""

    visits: Sequence[StateVisit]
    """Visits in order; the end of the run cuts off the last."""
    table: pl.DataFrame
    """The samples of the flow."""

    def after(self, state: str, *following: str) -> bool:
        """Return whether a state occurs and only `following` states come next."""
        successors = [later.state for now, later in pairwise(self.visits) if now.state == state]
        return bool(successors) and set(successors) <= set(following)

    def of(self, state: str) -> list[StateVisit]:
        """Return all visits to a state that ended within the run."""
        return [visit for visit in self.visits[:-1] if visit.state == state]

    def at(self, column: str, time_s: float) -> float:
        """Return the value of a column in the first sample at or after `time_s`."""
        return float(self.table.filter(pl.col("time_s") >= time_s)[column][0])

    def bdp_packets(self, time_s: float) -> float:
        """Return the control's own estimate of the bandwidth-delay product at a time."""
        return self.at("max_bw_packets_per_s", time_s) * self.at("min_rtt_ms", time_s) / 1e3


def reported_states(run: Run) -> ReportedStates | None:
    """Return the states that the one flow under test reports; None if its control reports none."""
    flow = measures.flows(run, "c")[0]
    if not set(NEEDED) <= set(run.windows.columns):
        return None
    table = run.windows_of(flow["id"]).filter(pl.col("state").is_not_null())
    if not table.height:
        return None
    state_numbers = table["state"].to_numpy().astype(int)
    times, windows = table["time_s"].to_numpy(), table["window"].to_numpy()
    begins = np.concatenate([[0], np.flatnonzero(np.diff(state_numbers)) + 1])
    ends = np.append(begins[1:], len(state_numbers))
    visits = [
        StateVisit(
            STATES[state_numbers[begin]]
            if 0 <= state_numbers[begin] < len(STATES)
            else str(state_numbers[begin]),
            float(times[begin]),
            float(times[min(end, len(times) - 1)]),
            float(windows[begin:end].min()),
            float(windows[begin:end].max()),
        )
        for begin, end in zip(begins, ends, strict=True)
    ]
    return ReportedStates(visits, table)


def startup_ends(states: ReportedStates) -> bool:
    """Case 1: Startup ends on a plateau, with a bandwidth estimate within 2 % of the link's rate."""
    at_s = states.visits[0].to_s
    known = states.at("max_bw_packets_per_s", at_s) / PATH.packets_per_second
    return states.after("Startup", "Drain") and abs(known - 1) <= 0.02


def leaves_startup(states: ReportedStates, from_s: float) -> bool:
    """Case 2: Startup ends after the losses, not before.

    Without a queue Drain may be over before the next sample.
    """
    last_s = max(visit.to_s for visit in states.visits if visit.state == "Startup")
    return states.after("Startup", "Drain", "ProbeRTT", *PROBING) and from_s < last_s <= from_s + 1.0


def drain_ends(states: ReportedStates) -> bool:
    """Cases 3 and 4: Drain ends in ProbeBW within four round trips of at most 3 RTT each.

    Three are for draining, and one is for noticing.
    """
    return states.after("Drain", *PROBING) and states.of("Drain")[0].length_s <= 4 * 3 * RTT_S


def up_ends(states: ReportedStates) -> bool:
    """Case 5: Up ends in Down after three rounds without growth, not before."""
    long_enough = [visit.length_s >= 3 * RTT_S - SAMPLE_S for visit in states.of("Up")]
    return states.after("Up", "Down") and all(long_enough)


def stays_in_startup(states: ReportedStates) -> bool:
    """Case 7: Startup lasts as long as the application limits the flow and nothing is lost."""
    return {visit.state for visit in states.visits} <= {"Startup", "ProbeRTT"}


def down_ends(states: ReportedStates) -> bool:
    """Case 8: Down ends in Cruise, or in ProbeRTT when that is due."""
    return states.after("Down", "Cruise", "ProbeRTT") and states.after("Refill", "Up", "ProbeRTT")


def probes_rtt(states: ReportedStates) -> bool:
    """Case 10: ProbeRTT every 5 s, for 200 ms and a round trip, at half a bandwidth-delay product."""
    visits = states.of("ProbeRTT")
    starts = [visit.from_s for visit in visits]
    return (
        len(visits) >= 10
        # A round trip may have to end first, and the estimate is renewed during ProbeRTT.
        and all(5 <= gap <= 5 + 0.2 + 3 * RTT_S for gap in np.diff(starts))
        and all(0.2 <= visit.length_s <= 0.2 + 3 * RTT_S for visit in visits)
        and all(visit.least_window <= 0.5 * states.bdp_packets(visit.from_s) + 1 for visit in visits)
        and states.after("ProbeRTT", *PROBING)
    )


def skips_probe_rtt(states: ReportedStates) -> bool:
    """Case 11: no ProbeRTT when the application is idle for longer than 5 s."""
    return not states.of("ProbeRTT") and "Startup" in {visit.state for visit in states.visits}


def window_beyond(states: ReportedStates, state: str) -> bool:
    """Cases 12 and 13: more than two bandwidth-delay products when ACKs come in bunches."""
    visits = states.of(state)
    return bool(visits) and all(
        visit.largest_window > 2 * states.bdp_packets(visit.to_s) for visit in visits[-3:]
    )


def least_window(states: ReportedStates) -> bool:
    """Case 14: at least four packets in ProbeBW, and a bandwidth estimate within a tenth of the rate.

    The start on such a link, whose first windows wait for seconds, ends in timeouts, and after a
    timeout the window is the packets in flight and one more: the first third of the run does not
    count.
    """
    rate = states.at("max_bw_packets_per_s", float(states.table["time_s"][-1]))
    settled = [visit for visit in states.visits if visit.state in PROBING and visit.from_s > 20]
    windows = [visit.least_window for visit in settled]
    return min(windows, default=0.0) >= 4 and abs(rate / THIN.packets_per_second - 1) <= 0.1


def follows_down(states: ReportedStates, from_s: float) -> bool:
    """Case 16: two cycles after a fall of the rate the bandwidth estimate is within a tenth of it.

    Packets in flight are still measured in the cycle in which the rate falls; two more follow.
    """
    ups = [visit.to_s for visit in states.of("Up") if visit.from_s > from_s]
    if len(ups) < 3:
        return False
    return states.at("max_bw_packets_per_s", ups[2] + 1.0) <= 1.1 * PATH.packets_per_second / 2


def back_to_startup(states: ReportedStates) -> bool:
    """Case 20: ProbeRTT during Startup ends in Startup."""
    return states.after("ProbeRTT", "Startup")


CHECKS: dict[str, Callable[..., bool]] = {
    "startup_ends": startup_ends,
    "leaves_startup": leaves_startup,
    "drain_ends": drain_ends,
    "up_ends": up_ends,
    "stays_in_startup": stays_in_startup,
    "down_ends": down_ends,
    "probes_rtt": probes_rtt,
    "skips_probe_rtt": skips_probe_rtt,
    "window_beyond": window_beyond,
    "least_window": least_window,
    "follows_down": follows_down,
    "back_to_startup": back_to_startup,
}
"""The checks by name, with the arguments that a suite gives them."""


def passes(run: Run, *, check: str, from_s: float | None = None, state: str | None = None) -> CellNumbers:
    """Return `general` and ``passes``, 1 or 0, which is missing if the control reports no states.

    Some checks depend on the time of a change, `from_s`, or on a state.
    """
    states = reported_states(run)
    general = measures.general(run)
    given = [value for value in (from_s, state) if value is not None]
    return general if states is None else general | {"passes": float(CHECKS[check](states, *given))}
