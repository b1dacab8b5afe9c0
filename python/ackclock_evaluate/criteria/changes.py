"""RFC 9743, sections 7.6, 7.8 and 7.9: pulses, transient events, and paths that change."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ackclock.decision.paired import Margin
from ackclock.engine import Run, build
from ackclock.engine.build import Table
from ackclock_evaluate import measures, timelines
from ackclock_evaluate.cell import (
    DELAY,
    GOODPUT,
    LOSS,
    SHARE,
    Cell,
    CellNumbers,
    Criterion,
    one_part,
    time_margin,
)
from ackclock_evaluate.criteria.queueing import plural
from ackclock_evaluate.criteria.sharing import harm_cell
from ackclock_evaluate.setting import BASELINES, CUBIC, STANDARD, Bottleneck, Mode, Subject, change


def pulses(path: Bottleneck, period_s: float, duration_s: float, *, on_s: float = 0.1) -> list[Table]:
    """Return a flow of datagrams in pulses of twice the path's rate.

    Pulses of `on_s` seconds begin every `period_s` seconds, the first after two seconds.
    """
    return [
        {
            "source": "cbr",
            "name": "pulses",
            "rate": build.mbps(2 * path.rate_mbps),
            "packet": f"{path.packet_bytes} B",
            "rtt": build.milliseconds(path.rtt_ms),
            "pulse": {"on": build.seconds(on_s), "every": build.seconds(period_s)},
            "start": "2 s",
            "stop": build.seconds(duration_s),
        }
    ]


LIARS: dict[str, Table] = {
    "a receiver that splits ACKs": {"split": 10},
    "a receiver that acknowledges what is missing": {"advance": True},
}
"""Savage, Cardwell, Wetherall, Anderson, CCR 29(5), 1999."""


def _misbehaving_cells(mode: Mode) -> list[Cell]:
    path = Bottleneck(10, 20, 1)
    periods = (1.0, 1.2, 2.0) if mode == "quick" else (0.5, 1.0, 1.2, 1.5, 2.0, 3.0)

    def scenario(subject: Subject, period_s: float) -> Table:
        return path.scenario(
            subject.flow("c", path.rtt_ms),
            *pulses(path, period_s, 60),
            duration_s=60,
            tcp={"min_rto": "1 s", "min_rto_bounds": "timeout"},
        )

    cells = [
        Cell(
            f"pulses every {period:g} s",
            one_part(partial(scenario, period_s=period), measures.general),
            judged=(GOODPUT,),
            parameters={"period_s": period},
        )
        for period in periods
    ]
    if mode == "full":
        cells += [
            harm_cell(f"{lie}, next to {victim}", STANDARD, victim, 60, {}, receiver=receiver)
            for lie, receiver in LIARS.items()
            for victim in BASELINES
        ]
        cells.append(
            Cell(
                "a receiver that acknowledges every 64 packets",
                one_part(_rarely_acknowledged, measures.general),
                judged=(GOODPUT, DELAY, LOSS),
                parameters={"packets_per_ack": 64},
            )
        )
    return cells


def _rarely_acknowledged(subject: Subject) -> Table:
    return STANDARD.scenario(subject.flow("c", STANDARD.rtt_ms, delayed_ack=64), duration_s=60)


STEPS = 30
"""Steps of 2.5 % of the rate, one a second (draft-irtf-iccrg-tcpeval-01, section 5.3)."""
SAMPLE_S = 0.25
"""Sampling interval of the runs in which a recovery is timed."""


def _transient_cells(_: Mode) -> list[Cell]:
    fast, slow = Bottleneck(100, 40, 1), 10.0

    def up(subject: Subject) -> Table:
        return fast.scenario(
            subject.flow("c", 40),
            duration_s=60,
            measured_from_s=10,
            sample_s=SAMPLE_S,
            events=(
                change(20, "dumbbell.rate", build.mbps(slow)),
                change(40, "dumbbell.rate", build.mbps(fast.rate_mbps)),
            ),
        )

    def crossed(subject: Subject, off_s: float) -> Table:
        cross = {
            "source": "cbr",
            "name": "cross",
            "rate": build.mbps(0.75 * STANDARD.rate_mbps),
            "packet": "1500 B",
            "rtt": "40 ms",
            "start": "20 s",
            "stop": build.seconds(off_s),
        }
        return STANDARD.scenario(
            subject.flow("c", 40), cross, duration_s=60, measured_from_s=10, sample_s=SAMPLE_S
        )

    def in_steps(subject: Subject) -> Table:
        steps = [
            {
                "source": "cbr",
                "name": f"step-{step}",
                "rate": build.mbps(0.025 * STANDARD.rate_mbps),
                "packet": "1500 B",
                "rtt": "40 ms",
                "start": build.seconds(20 + step),
                "stop": build.seconds(60 + step),
            }
            for step in range(STEPS)
        ]
        return STANDARD.scenario(
            subject.flow("c", 40), *steps, duration_s=100, measured_from_s=10, sample_s=SAMPLE_S
        )

    def dark(subject: Subject) -> Table:
        return STANDARD.scenario(
            subject.flow("c", 40),
            duration_s=40,
            measured_from_s=10,
            sample_s=SAMPLE_S,
            events=(change(20, "dumbbell.up", False), change(22, "dumbbell.up", True)),
        )

    def burst(subject: Subject) -> Table:
        web = Subject(CUBIC).flow("burst", 40, count=50, bytes="100 kB", start="20 s")
        return STANDARD.scenario(
            subject.flow("c", 40), web, duration_s=40, measured_from_s=10, sample_s=SAMPLE_S
        )

    back = partial(timelines.recovery, at_s=40.0, least_mbps=0.9 * fast.rate_mbps)
    lit = partial(timelines.recovery, at_s=22.0, least_mbps=0.9 * STANDARD.rate_mbps)
    after = partial(timelines.recovery, at_s=40.0, least_mbps=0.9 * STANDARD.rate_mbps)
    return [
        Cell(
            "100 to 10 Mbit/s and back",
            one_part(up, back, records=True),
            judged=(time_margin("recovery", resolution=SAMPLE_S), DELAY, LOSS),
            drawn=True,
        ),
        Cell(
            "three quarters taken for 20 s",
            one_part(partial(crossed, off_s=40.0), after, records=True),
            judged=(time_margin("recovery", resolution=SAMPLE_S),),
            drawn=True,
        ),
        Cell(
            "three quarters taken until the end",
            one_part(partial(crossed, off_s=60.0), _cross_traffic),
            judged=(replace(LOSS, metric="cross_loss"), DELAY),
            id="three-quarters-taken-for-good",
        ),
        Cell(
            "three quarters taken and given back in 30 steps",
            one_part(in_steps, measures.general),
            judged=(GOODPUT, DELAY, LOSS),
            drawn=True,
        ),
        Cell(
            "the link is down for 2 s",
            one_part(dark, lit, records=True),
            judged=(time_margin("recovery", resolution=SAMPLE_S), LOSS),
            drawn=True,
        ),
        Cell("50 short CUBIC flows at once", one_part(burst, _burst), judged=(time_margin("burst_p95"),)),
    ]


def _cross_traffic(run: Run) -> CellNumbers:
    cross = measures.flows(run, "cross")[0]
    lost = cross["dropped_packets"] / max(1, cross["sent_packets"])
    return measures.general(run) | {"cross_loss": lost}


def _burst(run: Run) -> CellNumbers:
    return measures.general(run) | {
        "burst_p95": measures.completions(run, groups=("burst",))["fct_p95_burst"]
    }


def _path_cells(mode: Mode) -> list[Cell]:
    # Rate (Mbit/s), RTT (ms) and buffer (packets) in turn.
    turns = ((50, 40, 167), (20, 80, 133), (100, 20, 100))
    length_s = 90.0 if mode == "quick" else 180.0

    def events(every_s: float) -> tuple[Table, ...]:
        changes: list[Table] = []
        count = int(length_s / every_s)
        for index in range(1, count):
            rate, rtt, queue = turns[index % 3]
            at = index * every_s
            changes += [
                change(at, "dumbbell.rate", build.mbps(rate)),
                change(at, "dumbbell.delay", build.milliseconds(rtt / 4)),
                change(at, "dumbbell.reverse.delay", build.milliseconds(rtt / 4)),
                change(at, "dumbbell.queue.limit", build.packets(queue)),
            ]
        return tuple(changes)

    def scenario(subject: Subject, every_s: float, count: int) -> Table:
        # The access delay is that of the shortest round trip.
        path = Bottleneck(50, 20, queue_packets=167)
        table = path.scenario(
            subject.flow("c", 30, count=count), duration_s=length_s, events=events(every_s), sample_s=0.5
        )
        table["dumbbell"]["delay"] = "10 ms"
        return table

    def cell(every_s: float, count: int, judged: tuple[Margin, ...]) -> Cell:
        return Cell(
            f"{plural(count)}, every {every_s:g} s",
            one_part(partial(scenario, every_s=every_s, count=count), measures.general),
            judged=judged,
            parameters={"every_s": every_s, "flows": count},
            drawn=True,
        )

    usual = (GOODPUT, DELAY, LOSS)
    return [cell(30, 1, usual), cell(5, 1, usual), cell(5, 10, (SHARE, GOODPUT))]


MISBEHAVING = Criterion(
    "misbehaving",
    "7.6",
    "SHOULD",
    "Misbehaving nodes",
    "Goodput next to pulses of datagrams at twice the rate of the link for 100 ms, with a minimum "
    "retransmission timeout of 1 s (Kuzmanovic and Knightly, 2003). In full mode also the gain of a "
    "receiver that lies, at the cost of a CUBIC or Reno flow, and the goodput with a receiver that "
    "acknowledges every 64 packets.",
    _misbehaving_cells,
    axis="period_s",
    shown="goodput",
)


TRANSIENTS = Criterion(
    "transients",
    "7.8",
    "SHOULD",
    "Transient events",
    "Time to nine tenths of the free capacity, delay, loss, and losses of other traffic: the rate "
    "falls to a tenth and comes back; datagrams take three quarters of it, at once and in thirty "
    "steps of a second; the link is down while its queue keeps the waiting packets; fifty short "
    "flows start at once.",
    _transient_cells,
    shown="recovery",
)


CHANGES = Criterion(
    "path",
    "7.9",
    "MUST",
    "Changing paths",
    "Rate, round-trip time and buffer change together, every 30 and every 5 s: goodput, delay and "
    "loss of one flow, and the smallest share of ten flows.",
    _path_cells,
    shown="goodput",
)
