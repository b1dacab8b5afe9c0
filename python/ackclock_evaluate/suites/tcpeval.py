"""Scenarios like those of draft-irtf-iccrg-tcpeval-01: sessions of short flows, and basic tests.

The draft's traces of traffic are not published: sessions start at random here, with the sizes of
criterion ``short``, a tenth of them in packets of 536 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from ackclock.engine import Run, build
from ackclock.engine.build import Table
from ackclock_evaluate import measures
from ackclock_evaluate.cell import (
    DELAY,
    GOODPUT,
    LOSS,
    SHARE,
    Cell,
    CellNumbers,
    Criterion,
    Part,
    Parts,
    harm_margin,
    one_part,
    time_margin,
)
from ackclock_evaluate.criteria.changes import TRANSIENTS
from ackclock_evaluate.criteria.queueing import alone
from ackclock_evaluate.criteria.traffic import SIZES
from ackclock_evaluate.setting import Bottleneck, Mode, Subject

RAMP_SAMPLE_S = 0.1
"""Sampling interval of the runs in which the arrival of packets is timed."""
RTTS_MS = (4, 28, 54, 74, 98, 124, 150, 174, 200)
"""Round trips of the nine pairs of ends, less that of the link in the middle."""
SMALL = 0.1
"""Share of the flows with packets of 536 bytes."""
MEAN_BYTES = sum(size * share for size, share in SIZES.values())


@dataclass(frozen=True)
class Usual:
    """A path of the draft."""

    rate_mbps: float
    back_mbps: float
    delay_ms: float
    """One-way delay of the link in the middle."""
    buffer_ms: float
    """Its queue as a time."""
    length_s: float
    """Length of a run: some thousand sessions at most."""
    near: bool = False
    """Whether the ends are at the link, as in a data centre."""


PATHS = {
    "access link": Usual(100, 100, 2, 100, 40),
    "geostationary satellite": Usual(40, 4, 300, 100, 100),
    "dial-up": Usual(0.064, 0.064, 5, 1250, 2000),
    "trans-oceanic link": Usual(1000, 1000, 65, 100, 15),
    "data centre": Usual(1000, 1000, 0.1, 10, 5, near=True),
}


def _on(path: Usual, *flows: Table, length_s: float | None = None) -> Table:
    length_s = path.length_s if length_s is None else length_s
    bottleneck = Bottleneck(
        path.rate_mbps,
        4 * path.delay_ms,
        queue_packets=max(2, round(path.rate_mbps * path.buffer_ms * 1e3 / 12000)),
    ).with_link(reverse={"rate": build.mbps(path.back_mbps)})
    return bottleneck.scenario(*flows, duration_s=length_s, measured_from_s=0.2 * length_s)


def _sessions(subject: Subject, path: Usual, load: float, prefix: str = "") -> list[Table]:
    """Return flows that start at random: given their number, a Poisson process is uniform in time."""
    per_second = load * path.rate_mbps * 1e6 / 8 / MEAN_BYTES
    first_s, last_s = 0.0, 0.9 * path.length_s
    round_trips = [0.0] if path.near else RTTS_MS
    flows = []
    for name, (size, share) in SIZES.items():
        for packet, part in (("1500 B", 1 - SMALL), ("536 B", SMALL)):
            count = per_second * share * part * (last_s - first_s) / len(round_trips)
            # A remainder below a flow per round trip goes to the first round trips.
            whole = round(count * len(round_trips))
            for index, rtt_ms in enumerate(round_trips):
                here = whole // len(round_trips) + (index < whole % len(round_trips))
                if here:
                    flows.append(
                        subject.flow(
                            f"{prefix}{name}-{packet.split()[0]}-{index}",
                            rtt_ms + 2 * path.delay_ms,
                            count=here,
                            bytes=f"{size} B",
                            packet=packet,
                            start={"uniform": [build.seconds(first_s), build.seconds(last_s)]},
                        )
                    )
    return flows


def _times(run: Run, groups: tuple[str, ...]) -> CellNumbers:
    link = measures.bottleneck(run)
    sent = sum(flow["sent_packets"] for flow in run.summary["flows"])
    lost = sum(flow["dropped_packets"] for flow in run.summary["flows"])
    return measures.completions(run, groups=groups) | {
        "delay_p95": link["queue_delay_p95_ms"] or 0.0,
        "loss": lost / max(1, sent),
    }


def _present(path: Usual, load: float, prefix: str = "") -> tuple[str, ...]:
    """Return the sizes of which there is at least one flow."""
    flows = _sessions(Subject("reno"), path, load, prefix)
    names = [str(flow["name"]) for flow in flows]
    return tuple(
        prefix + size for size in SIZES if any(name.startswith(f"{prefix}{size}-") for name in names)
    )


def _load_cells(mode: Mode) -> list[Cell]:
    quick = mode == "quick"
    cells = []
    for name in ("access link", "geostationary satellite") if quick else PATHS:
        path = PATHS[name]
        for load in (0.6, 1.1) if quick else (0.6, 0.85, 1.1):
            groups = _present(path, load)

            def scenario(subject: Subject, path: Usual = path, load: float = load) -> Table:
                return _on(path, *_sessions(subject, path, load))

            cells.append(
                Cell(
                    f"{name}, load {load:.0%}",
                    one_part(scenario, partial(_times, groups=groups)),
                    judged=(*(time_margin(f"fct_p95_{group}") for group in groups), DELAY, LOSS),
                    parameters={"path": name, "load": load},
                )
            )
    return cells


def _buffer_cells(mode: Mode) -> list[Cell]:
    sizes = (0.2, 1.0) if mode == "quick" else (0.1, 0.2, 0.5, 1.0, 2.0)
    return [
        Cell(
            f"buffer {size:g} BDP",
            one_part(alone(Bottleneck(100, 100, size), 4, 60), measures.general),
            judged=(GOODPUT, DELAY),
            parameters={"buffer_bdp": size},
        )
        for size in sizes
    ]


def _ramp(subject: Subject, rate: float, rtts_ms: tuple[float, float]) -> Table:
    path = Bottleneck(rate, min(rtts_ms), 80 / min(rtts_ms))
    return path.scenario(
        subject.flow("c-0", rtts_ms[0], start="0 s"),
        subject.flow("c-1", rtts_ms[1], start="20 s", initial_ssthresh=2),
        duration_s=60,
        measured_from_s=20,
        sample_s=RAMP_SAMPLE_S,
    )


def ramp_up(run: Run, *, start_s: float, powers: tuple[int, ...]) -> CellNumbers:
    """Return ``ramp_N``: seconds from `start_s` until the newcomer's 10^N packets have arrived.

    The newcomer is the second flow, and its packets count as 1500 bytes. The rest of the run if they
    never arrive.
    """
    table = run.windows.filter(pl.col("flow") == run.summary["flows"][1]["id"])
    time_s = table["time_s"].to_numpy()
    arrived = np.cumsum(table["delivered_bytes"].to_numpy())
    times_s = {}
    for power in powers:
        reached = arrived >= 1500 * 10**power
        at_s = time_s[np.argmax(reached)] if reached.any() else run.summary["duration_s"]
        times_s[f"ramp_{power}"] = float(at_s - start_s)
    return times_s


def _ramp_cells(mode: Mode) -> list[Cell]:
    cells = []
    for rate, powers in ((10.0, (2, 3, 4)), (1000.0, (3, 4, 5))):
        if mode == "quick" and rate > 100:
            continue
        for rtts in ((80.0, 80.0), (120.0, 30.0), (30.0, 120.0)):
            cells.append(
                Cell(
                    f"{rate:g} Mbit/s, {rtts[0]:g} and {rtts[1]:g} ms",
                    one_part(
                        partial(_ramp, rate=rate, rtts_ms=rtts),
                        partial(ramp_up, start_s=20.0, powers=powers),
                        records=True,
                    ),
                    judged=tuple(time_margin(f"ramp_{power}", resolution=RAMP_SAMPLE_S) for power in powers),
                    parameters={"rate_mbps": rate, "newcomer_ms": rtts[1]},
                )
            )
    return cells


def _gain(numbers: Mapping[str, CellNumbers]) -> CellNumbers:
    """Return the gain of the control's camp and the loss of the other, compared with equal camps."""
    mixed, alike = numbers["run"], numbers["alike"]
    mine, theirs = "fct_p50_c-100kB", "fct_p50_v-100kB"
    return mixed | {"gain": alike[mine] / mixed[mine] - 1, "camp_loss": 1 - alike[theirs] / mixed[theirs]}


def _camp_cells(mode: Mode) -> list[Cell]:
    path = PATHS["access link"]
    groups = ("c-100kB", "v-100kB")
    cells = []
    for load in (1.0,) if mode == "quick" else (0.5, 1.0):

        def parts(subject: Subject, load: float = load) -> Parts:
            def camps(mine: Subject) -> Table:
                theirs = _sessions(Subject("reno"), path, load / 2, "v-")
                return _on(path, *_sessions(mine, path, load / 2, "c-"), *theirs)

            measure = partial(_times, groups=groups)
            return {"run": Part(camps(subject), measure), "alike": Part(camps(Subject("reno")), measure)}

        cells.append(
            Cell(
                f"load {load:.0%}",
                parts,
                judged=(harm_margin("camp_loss"), time_margin("fct_p50_c-100kB")),
                parameters={"load": load},
                numbers=_gain,
            )
        )
    return cells


def _pair(subject: Subject, rtt_ms: float, buffer_bdp: float) -> Table:
    path = Bottleneck(10, 80, buffer_bdp)
    # The bottleneck itself has a quarter of the shortest round trip.
    table = path.scenario(
        subject.flow("c-0", 80), subject.flow("c-1", rtt_ms), duration_s=120, measured_from_s=40
    )
    table["dumbbell"]["delay"] = "2 ms"
    return table


def _pair_cells(mode: Mode) -> list[Cell]:
    rtts_ms = (10.0, 160.0) if mode == "quick" else (10.0, 20.0, 40.0, 80.0, 160.0)
    sizes = (1.0,) if mode == "quick" else (0.25, 0.5, 1.0, 2.0)
    return [
        Cell(
            f"80 and {rtt:g} ms, buffer {size:g} BDP",
            one_part(partial(_pair, rtt_ms=rtt, buffer_bdp=size), measures.general),
            judged=(SHARE,),
            parameters={"rtt_ms": rtt, "buffer_bdp": size},
        )
        for rtt in rtts_ms
        for size in sizes
    ]


def _row(subject: Subject) -> Table:
    path = Bottleneck(20, 60, 1)
    limit = build.packets(path.buffer_packets)
    hops: Table = {
        "hops": 3,
        "rate": build.mbps(path.rate_mbps),
        "delay": "5 ms",
        "queue": {"kind": "droptail", "limit": limit},
    }
    across = [
        subject.flow(f"c-{index}", 60, **{"from": f"n{index}", "to": f"n{index + 1}"}) for index in range(3)
    ]
    long = subject.flow("c-long", 60, **{"from": "n0", "to": "n3"})
    return build.scenario(
        {"parking_lot": hops}, long, *across, duration="120 s", warmup="40 s", sample="1 s", tcp=path.sender()
    )


def _row_cells(_: Mode) -> list[Cell]:
    return [Cell("3 hops", one_part(_row, measures.general), judged=(SHARE, GOODPUT))]


TCPEVAL: tuple[Criterion, ...] = (
    Criterion(
        "tcpeval-load",
        "3",
        "",
        "Sessions on usual paths",
        "Short flows that offer 60 to 110 % of the rate of an access link and of a geostationary "
        "satellite, in full mode also of a trans-oceanic link, dial-up and a data centre: completion "
        "times by size, queueing delay, loss.",
        _load_cells,
        axis="load",
    ),
    Criterion(
        "tcpeval-buffer",
        "4.1",
        "",
        "Delay and throughput",
        "Four flows on 100 Mbit/s, 100 ms with buffers from a tenth of the bandwidth-delay product "
        "to twice as much: goodput, queueing delay.",
        _buffer_cells,
        axis="buffer_bdp",
        shown="delay_p95",
    ),
    Criterion(
        "tcpeval-ramp",
        "4.2",
        "",
        "Ramp-up",
        "The time that a newcomer without slow start needs for 100, 1000, ... packets next to a flow that "
        "fills the link.",
        _ramp_cells,
        axis="newcomer_ms",
        shown="ramp_3",
    ),
    replace(TRANSIENTS, id="tcpeval-transients", section="4.3", level=""),
    Criterion(
        "tcpeval-camps",
        "4.4",
        "",
        "Twin camps",
        "Half of the sessions under the control and half under Reno, compared with two camps of Reno: "
        "completion times of each camp.",
        _camp_cells,
        shown="camp_loss",
    ),
    Criterion(
        "tcpeval-rtt",
        "4.5",
        "",
        "Different round trips",
        "Two flows of 80 ms and of 10 to 160 ms: the smaller share.",
        _pair_cells,
        axis="rtt_ms",
        shown="smallest_share",
    ),
    Criterion(
        "tcpeval-row",
        "4.6",
        "",
        "Several bottlenecks",
        "A flow over three bottlenecks in a row next to one flow over each, all of 60 ms: the smallest "
        "share, goodput.",
        _row_cells,
        shown="smallest_share",
    ),
)
"""The criteria in the order of the draft."""
