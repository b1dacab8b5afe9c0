"""The states of BBR in the example test cases of draft-ietf-ccwg-bbr, where a control tells them.

A control tells them by the internals ``state``, numbered as in `STATES`, ``max_bw_packets_per_s``
and ``min_rtt_ms``. One without them is judged by the outcomes of the other criteria alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl

from ackclock.decision.paired import Limit
from ackclock.engine import Run, build
from ackclock.engine.build import Table
from ackclock_evaluate import measures
from ackclock_evaluate.cell import Cell, CellNumbers, one_part
from ackclock_evaluate.setting import Bottleneck, Mode, Subject, change
from ackclock_evaluate.suites.adversaries import bunched

STATES = ("Startup", "Drain", "Down", "Cruise", "Refill", "Up", "ProbeRTT")
"""By their numbers; those of ProbeBW have no states of their own in other sources."""
PROBING = STATES[2:6]
PATH = Bottleneck(20, 100, 2)
RTT_S = PATH.rtt_ms / 1e3
SAMPLE_S = 0.01
"""A tenth of a round trip: shorter stays may be missed, but for a Down after Drain none is."""
NEEDED = ("state", "max_bw_packets_per_s", "min_rtt_ms")
Check = Callable[["Told"], bool]


@dataclass(frozen=True)
class Stay:
    """A state, from when to when (s), and the smallest and the largest window in it (packets)."""

    state: str
    from_s: float
    to_s: float
    least_window: float
    largest_window: float

    @property
    def length_s(self) -> float:
        """How long it was, seconds."""
        return self.to_s - self.from_s


@dataclass(frozen=True)
class Told:
    """What a run says of its states.

    Attributes
    ----------
    stays : list of Stay
        In order; the last is cut off by the end of the run.
    table : DataFrame
        The samples.
    """

    stays: Sequence[Stay]
    table: pl.DataFrame

    def after(self, state: str, *following: str) -> bool:
        """Say whether a state occurs, and only these follow it."""
        found = [later.state for now, later in pairwise(self.stays) if now.state == state]
        return bool(found) and set(found) <= set(following)

    def of(self, state: str) -> list[Stay]:
        """Give all stays in a state that had their end."""
        return [one for one in self.stays[:-1] if one.state == state]

    def at(self, column: str, time_s: float) -> float:
        """Give the value of a column in the first sample from some time on."""
        return float(self.table.filter(pl.col("time_s") >= time_s)[column][0])

    def bdp_packets(self, time_s: float) -> float:
        """Give the bandwidth-delay product as the control has it at some time."""
        return self.at("max_bw_packets_per_s", time_s) * self.at("min_rtt_ms", time_s) / 1e3


def told(run: Run) -> Told | None:
    """Read the states of a run.

    Parameters
    ----------
    run : Run
        A recorded run with one flow of the judged control.

    Returns
    -------
    Told or None
        None when the control does not tell them.
    """
    flow = measures.flows(run, "c")[0]
    if not set(NEEDED) <= set(run.windows.columns):
        return None
    table = run.windows.filter((pl.col("flow") == flow["id"]) & pl.col("state").is_not_null())
    if not table.height:
        return None
    states = table["state"].to_numpy().astype(int)
    times, windows = table["time_s"].to_numpy(), table["window"].to_numpy()
    begins = np.concatenate([[0], np.flatnonzero(np.diff(states)) + 1])
    ends = np.append(begins[1:], len(states))
    stays = [
        Stay(
            STATES[states[begin]] if 0 <= states[begin] < len(STATES) else str(states[begin]),
            float(times[begin]),
            float(times[min(end, len(times) - 1)]),
            float(windows[begin:end].min()),
            float(windows[begin:end].max()),
        )
        for begin, end in zip(begins, ends, strict=True)
    ]
    return Told(stays, table)


def passes(run: Run, *, check: Check) -> CellNumbers:
    """Check what a run says of its states.

    Parameters
    ----------
    run : Run
        A recorded run.
    check : callable
        Of what it says.

    Returns
    -------
    dict
        As `general`, and ``passes``: 1 or 0; without it when the control does not tell its states.
    """
    found = told(run)
    general = measures.general(run)
    return general if found is None else general | {"passes": float(check(found))}


def _startup_ends(found: Told) -> bool:
    """Case 1: on a plateau, with a bandwidth within 2 % of the link's."""
    at_s = found.stays[0].to_s
    known = found.at("max_bw_packets_per_s", at_s) / PATH.packets_per_second
    return found.after("Startup", "Drain") and abs(known - 1) <= 0.02


def _leaves_startup(found: Told, from_s: float) -> bool:
    """Case 2: not before the losses; without a queue Drain may be over before the next sample."""
    last_s = max(one.to_s for one in found.stays if one.state == "Startup")
    return found.after("Startup", "Drain", "ProbeRTT", *PROBING) and from_s < last_s <= from_s + 1.0


def _drain_ends(found: Told) -> bool:
    """Cases 3 and 4: in ProbeBW, after 3 round trips and one to see that, each at most 3 RTT."""
    return found.after("Drain", *PROBING) and found.of("Drain")[0].length_s <= 4 * 3 * RTT_S


def _up_ends(found: Told) -> bool:
    """Case 5: after three rounds without growth, so not before, in Down."""
    long_enough = [one.length_s >= 3 * RTT_S - SAMPLE_S for one in found.of("Up")]
    return found.after("Up", "Down") and all(long_enough)


def _stays_in_startup(found: Told) -> bool:
    """Case 7: for as long as the application limits it and nothing is lost."""
    return {one.state for one in found.stays} <= {"Startup", "ProbeRTT"}


def _down_ends(found: Told) -> bool:
    """Case 8: in Cruise, or, when its time has come, in ProbeRTT."""
    return found.after("Down", "Cruise", "ProbeRTT") and found.after("Refill", "Up", "ProbeRTT")


def _probes_rtt(found: Told) -> bool:
    """Case 10: every 5 s, for 200 ms and a round trip, with half a bandwidth-delay product."""
    stays = found.of("ProbeRTT")
    starts = [one.from_s for one in stays]
    return (
        len(stays) >= 10
        # A round trip may have to end before, and the estimate is renewed while it lasts.
        and all(5 <= gap <= 5 + 0.2 + 3 * RTT_S for gap in np.diff(starts))
        and all(0.2 <= one.length_s <= 0.2 + 3 * RTT_S for one in stays)
        and all(one.least_window <= 0.5 * found.bdp_packets(one.from_s) + 1 for one in stays)
        and found.after("ProbeRTT", *PROBING)
    )


def _skips_probe_rtt(found: Told) -> bool:
    """Case 11: where the application is idle for longer than 5 s."""
    return not found.of("ProbeRTT") and "Startup" in {one.state for one in found.stays}


def _window_beyond(found: Told, state: str) -> bool:
    """Cases 12 and 13: more than two bandwidth-delay products where ACKs come in groups."""
    stays = found.of(state)
    return bool(stays) and all(one.largest_window > 2 * found.bdp_packets(one.to_s) for one in stays[-3:])


def _least_window(found: Told) -> bool:
    """Case 14: in ProbeBW never below four packets, and the rate within a tenth.

    The start on such a link, whose first windows wait for seconds, ends in timeouts, and after one
    the window is what is in flight and a packet: the first third of the run does not count.
    """
    rate = found.at("max_bw_packets_per_s", float(found.table["time_s"][-1]))
    settled = [one for one in found.stays if one.state in PROBING and one.from_s > 20]
    windows = [one.least_window for one in settled]
    return min(windows, default=0.0) >= 4 and abs(rate / THIN.packets_per_second - 1) <= 0.1


def _follows_down(found: Told, at_s: float) -> bool:
    """Case 16: two cycles later the bandwidth is the new one, within a tenth.

    What was in flight is still measured in the cycle in which the rate falls; two more follow.
    """
    ups = [one.to_s for one in found.of("Up") if one.from_s > at_s]
    if len(ups) < 3:
        return False
    return found.at("max_bw_packets_per_s", ups[2] + 1.0) <= 1.1 * PATH.packets_per_second / 2


def _back_to_startup(found: Told) -> bool:
    """Case 20: ProbeRTT during Startup ends in Startup."""
    return found.after("ProbeRTT", "Startup")


THIN = Bottleneck(0.064, 100, 2)
LOST_S = 4.0
"""When a fifth is lost for half a second: more than 2 % and than 6 packets of a round trip's 42."""


@dataclass(frozen=True)
class _Case:
    name: str
    check: Check
    path: Bottleneck = PATH
    length_s: float = 20.0
    events: tuple[Table, ...] = ()
    flow: tuple[tuple[str, object], ...] = ()

    def scenario(self, subject: Subject) -> Table:
        start = {"uniform": ["0 s", "100 ms"]}
        return self.path.scenario(
            subject.flow("c", self.path.rtt_ms, start=start, **dict(self.flow)),
            duration_s=self.length_s,
            measured_from_s=0.0,
            sample_s=SAMPLE_S,
            events=self.events,
        )

    def cell(self) -> Cell:
        measure = partial(passes, check=self.check)
        return Cell(
            self.name,
            one_part(self.scenario, measure, records=True),
            limits=(Limit("passes", "share of runs", at_least=1.0, if_told=True),),
        )


def cells(_: Mode) -> list[Cell]:
    """Give the cases whose states can be checked.

    Returns
    -------
    list of Cell
        A cell per case: in all of its runs the states are as the draft says.
    """
    lossy = PATH.with_link(loss={"kind": "bernoulli", "rate": "0 %"})
    lost = tuple(
        change(LOST_S + past, "dumbbell.loss.rate", share) for past, share in ((0.0, "20 %"), (0.5, "0 %"))
    )
    tenth_less = (change(1.4, "dumbbell.rate", build.mbps(0.9 * PATH.rate_mbps)),)
    half = (change(20.0, "dumbbell.rate", build.mbps(PATH.rate_mbps / 2)),)
    some = (("limit", "5 Mbit/s"),)
    idle = (("source", "requests"), ("size", "5 MB"), ("think", "6 s"))
    cases = [
        _Case("1: Startup ends on a plateau", _startup_ends, length_s=6),
        _Case(
            "2: Startup ends on loss, application-limited",
            partial(_leaves_startup, from_s=LOST_S),
            path=lossy,
            events=lost,
            flow=some,
            length_s=8,
        ),
        _Case("3: Drain ends", _drain_ends, length_s=6),
        _Case("4: Drain ends, a tenth less on entry", _drain_ends, events=tenth_less, length_s=6),
        _Case("5: Up ends on a plateau", _up_ends),
        _Case("7: Startup without end, application-limited", _stays_in_startup, flow=some),
        _Case("8: Down ends in Cruise", _down_ends),
        _Case("10: ProbeRTT", _probes_rtt, length_s=60),
        _Case("11: no ProbeRTT after idleness", _skips_probe_rtt, flow=idle, length_s=30),
        _Case(
            "12: the window of Startup, ACKs every 40 ms",
            partial(_window_beyond, state="Startup"),
            path=bunched(PATH, 40.0),
            length_s=6,
        ),
        _Case(
            "13: the window of Cruise, ACKs every 40 ms",
            partial(_window_beyond, state="Cruise"),
            path=bunched(PATH, 40.0),
        ),
        _Case("14: four packets at least", _least_window, path=THIN, length_s=60),
        _Case("16: half the rate", partial(_follows_down, at_s=20.0), events=half, length_s=50),
        _Case("20: ProbeRTT in Startup", _back_to_startup, flow=(("limit", "200 kbit/s"),)),
    ]
    return [one.cell() for one in cases]
