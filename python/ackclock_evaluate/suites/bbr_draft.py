"""The example test cases of draft-ietf-ccwg-bbr, by their effect on a path and on a flow.

The draft lists states and their transitions. Every control is judged by the outcome where BBR would be
in such a state: delivery, times, queueing and loss; a control that reports its states is judged by
them as well. Numbers of cases are those of the draft's appendix (-06).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ackclock.decision.paired import Margin
from ackclock.engine import build
from ackclock.engine.build import Table
from ackclock_evaluate import measures, timelines
from ackclock_evaluate.cell import DELAY, GOODPUT, LOSS, Cell, Criterion, one_part, time_margin
from ackclock_evaluate.setting import Bottleneck, Mode, Subject, change
from ackclock_evaluate.suites import bbr_states
from ackclock_evaluate.suites.adversaries import bunched, policed

PATH = Bottleneck(20, 100, 2)
"""The path that the draft's authors propose; the draft itself has ranges."""
LONG_S = 60.0
SAMPLE_S = 0.5
"""Sampling interval of the runs in which the time until a rate is reached is measured."""
LIMITED = "5 Mbit/s"
"""The rate of an application that does not fill the path."""
USED = Margin("utilisation", "", higher_is_better=True, ratio=1.1)
"""Used where packets sent earlier still arrive, so that a goodput may be above the rate."""
Scenario = Callable[[Subject], Table]


def flow_on(
    path: Bottleneck,
    *,
    duration_s: float = LONG_S,
    from_s: float = 15.0,
    sample_s: float = SAMPLE_S,
    events: tuple[Table, ...] = (),
    **keys: object,
) -> Scenario:
    """Return a function that puts one flow of a control on a path from the start.

    `keys` are other keys of the flow, such as the data that its application has to send.
    """

    def scenario(subject: Subject) -> Table:
        return path.scenario(
            subject.flow("c", path.rtt_ms, start={"uniform": ["0 s", "100 ms"]}, **keys),
            duration_s=duration_s,
            measured_from_s=from_s,
            sample_s=sample_s,
            events=events,
        )

    return scenario


def _cell(name: str, scenario: Scenario, *judged: Margin) -> Cell:
    return Cell(name, one_part(scenario, measures.general), judged=judged, drawn=True)


def _reached(name: str, path: Bottleneck, scenario: Scenario, at_s: float, rate_mbps: float) -> Cell:
    """Return a cell that times how long a flow takes to reach nine tenths of a rate."""
    measure = partial(timelines.recovery, at_s=at_s, least_mbps=0.9 * rate_mbps)
    return Cell(
        name,
        one_part(scenario, measure, records=True),
        judged=(time_margin("recovery", resolution=SAMPLE_S), LOSS),
        parameters={"rate_mbps": path.rate_mbps, "rtt_ms": path.rtt_ms},
        drawn=True,
    )


def _startup_cells(mode: Mode) -> list[Cell]:
    paths = {"20 Mbit/s, 100 ms": (PATH, 10.0)}
    if mode == "full":
        paths |= {
            "1 Gbit/s, 1 ms": (Bottleneck(1000, 1, 2), 10.0),
            "64 kbit/s, 1 s": (Bottleneck(0.064, 1000, 2), 120.0),
        }
    cells = [
        _reached(
            f"1: plain, {name}", path, flow_on(path, duration_s=length_s, from_s=0.0), 0.0, path.rate_mbps
        )
        for name, (path, length_s) in paths.items()
    ]
    bunches = bunched(PATH, 40.0)
    return [
        *cells,
        _reached(
            "12: ACKs every 40 ms",
            bunches,
            flow_on(bunches, duration_s=10.0, from_s=0.0),
            0.0,
            PATH.rate_mbps,
        ),
    ]


def _drain_cells(_: Mode) -> list[Cell]:
    # The queue of a start is full after about log2(3 BDP/10 packets) = 6 round trips.
    slower = (change(0.7, "dumbbell.rate", build.mbps(0.9 * PATH.rate_mbps)),)
    return [
        _cell("3: plain", flow_on(PATH, duration_s=6, from_s=2), DELAY, USED),
        _cell("4: a tenth less on entry", flow_on(PATH, duration_s=6, from_s=2, events=slower), DELAY, USED),
    ]


def _probe_cells(_: Mode) -> list[Cell]:
    deep = replace(PATH, buffer_bdp=8.0)
    slower = (change(20, "dumbbell.rate", build.mbps(0.9 * PATH.rate_mbps)),)
    lossy, in_probes = _lossy(20, 30, 40, 50)
    bunches = bunched(PATH, 40.0)
    return [
        _cell("5: no loss, buffer 8 BDP", flow_on(deep), GOODPUT, DELAY),
        _cell("8, 10: plain, 60 s", flow_on(PATH), GOODPUT, DELAY, LOSS),
        _cell(
            "9: a tenth less at 20 s",
            flow_on(PATH, duration_s=40, from_s=20, events=slower),
            GOODPUT,
            DELAY,
            LOSS,
        ),
        _cell("13: ACKs every 40 ms", flow_on(bunches), GOODPUT, DELAY),
        _cell("21: 5 % lost for a round trip", flow_on(lossy, events=in_probes), GOODPUT, DELAY),
    ]


def _thin_cells(_: Mode) -> list[Cell]:
    path = Bottleneck(0.064, 100, 2)
    sent = Margin("sent_per_delivered", "", higher_is_better=False, ratio=1.1)
    return [_cell("14: 64 kbit/s", flow_on(path, duration_s=120), replace(GOODPUT, least=1e-6), sent)]


def _rate_cells(_: Mode) -> list[Cell]:
    low, high = Bottleneck(10, 100, 2), Bottleneck(100, 100, 2)
    up = (
        change(20, "dumbbell.rate", "100 Mbit/s"),
        change(20, "dumbbell.queue.limit", build.packets(high.buffer_packets)),
    )
    down = (
        change(20, "dumbbell.rate", "10 Mbit/s"),
        change(20, "dumbbell.queue.limit", build.packets(low.buffer_packets)),
    )
    return [
        _reached("15: 10 to 100 Mbit/s", low, flow_on(low, events=up), 20.0, 100.0),
        _cell(
            "16: 100 to 10 Mbit/s", flow_on(high, duration_s=40, from_s=20, events=down), GOODPUT, DELAY, LOSS
        ),
    ]


def _policer_cells(_: Mode) -> list[Cell]:
    # 50 kB are 40 ms of 10 Mbit/s.
    path = policed(PATH, 10.0, 0.04)
    return [_cell("17: 10 Mbit/s, 50 kB", flow_on(path), GOODPUT, LOSS)]


def _spurious_cells(_: Mode) -> list[Cell]:
    mixed = {"kind": "uniform", "range": "50 ms", "reorder": True}
    # For 50 ms the delay is longer than the minimum timeout and the queue together.
    late = tuple(
        change(at + past, "dumbbell.delay", delay)
        for at in (20, 30, 40)
        for past, delay in ((0.0, "1000 ms"), (0.05, "25 ms"))
    )
    return [
        _cell("18: reordering", flow_on(PATH.with_link(delay_noise=mixed)), GOODPUT, DELAY),
        _cell("19: a delay beyond the timeout", flow_on(PATH, events=late), GOODPUT),
    ]


def _lossy(*times_s: float) -> tuple[Bottleneck, tuple[Table, ...]]:
    """Return the path with a loss of 5 % for a round trip at each of the times."""
    path = PATH.with_link(loss={"kind": "bernoulli", "rate": "0 %"})
    return path, tuple(
        change(at + past, "dumbbell.loss.rate", share)
        for at in times_s
        for past, share in ((0.0, "5 %"), (0.1, "0 %"))
    )


def _application_cells(_: Mode) -> list[Cell]:
    early, in_start = _lossy(0.3)
    late, in_probes = _lossy(20, 30, 40, 50)
    requests: dict[str, tuple[str, str]] = {
        "11: idle for 6 s": ("5 MB", "6 s"),
        "22: a pause of a round trip": ("5 MB", "100 ms"),
    }
    return [
        _cell(
            "2: 5 Mbit/s, 5 % lost in the start",
            flow_on(early, duration_s=10, from_s=0.0, events=in_start, limit=LIMITED),
            GOODPUT,
            DELAY,
        ),
        _cell(
            "6: 5 Mbit/s, 5 % lost for a round trip",
            flow_on(late, events=in_probes, limit=LIMITED),
            GOODPUT,
            DELAY,
        ),
        _cell("7: 5 Mbit/s, nothing lost", flow_on(PATH, limit=LIMITED), GOODPUT, DELAY, LOSS),
        _cell("20: 200 kbit/s", flow_on(PATH, limit="200 kbit/s"), GOODPUT, DELAY, LOSS),
        *(
            Cell(
                name,
                one_part(flow_on(PATH, source="requests", size=size, think=pause), measures.requests),
                judged=(time_margin("request_p50"), time_margin("request_p95"), LOSS),
            )
            for name, (size, pause) in requests.items()
        ),
    ]


BBR_DRAFT: tuple[Criterion, ...] = (
    Criterion(
        "bbr-startup", "cases 1, 12", "", "Start",
        "A flow on 20 Mbit/s, 100 ms with a buffer of two bandwidth-delay products, also with ACKs in "
        "bunches; in full mode also on 1 Gbit/s, 1 ms and on 64 kbit/s, 1 s: the time to nine tenths of "
        "the rate, and the loss in the first ten seconds.",
        _startup_cells, shown="recovery",
    ),
    Criterion(
        "bbr-drain", "cases 3, 4", "", "After the start",
        "Queueing delay and utilisation from 2 to 6 s, plain and with a rate that falls by a tenth when "
        "the queue is full.",
        _drain_cells, shown="delay_p95",
    ),
    Criterion(
        "bbr-probe", "cases 5, 8, 9, 10, 13, 21", "", "Probing",
        "Goodput and queueing delay of the steady flow: with a long queue, for a minute, with a tenth "
        "less rate, with ACKs in bunches, and with losses for a round trip.",
        _probe_cells, shown="goodput",
    ),
    Criterion(
        "bbr-thin", "case 14", "", "A path of less than a packet",
        "64 kbit/s: a bandwidth-delay product below a packet.",
        _thin_cells, shown="goodput",
    ),
    Criterion(
        "bbr-rate", "cases 15, 16", "", "Rate changes by a factor of ten",
        "From 10 to 100 Mbit/s: the time to nine tenths of the new rate. From 100 to 10 Mbit/s: goodput, "
        "delay and loss after the change.",
        _rate_cells, shown="recovery",
    ),
    Criterion(
        "bbr-policer", "case 17", "", "A policer",
        "A token bucket of 10 Mbit/s and 50 kB: goodput and loss.",
        _policer_cells, shown="goodput",
    ),
    Criterion(
        "bbr-spurious", "cases 18, 19", "", "Spurious recovery",
        "Goodput with reordering, and with a delay that is longer than the timeout.",
        _spurious_cells, shown="goodput",
    ),
    Criterion(
        "bbr-application", "cases 2, 6, 7, 11, 20, 22", "", "Application-limited",
        "An application that sends 5 of 20 Mbit/s, without losses and with losses for a round trip at the "
        "start and later; one that is repeatedly idle for 6 s; one that sends very little; and one that "
        "pauses for a round trip: goodput or request times, queueing delay, loss.",
        _application_cells,
    ),
    Criterion(
        "bbr-states", "cases 1-5, 7, 8, 10-14, 16, 20", "", "State transitions",
        "Whether states follow each other as in the draft, for a control that reports them by its "
        "internals: state (0 Startup, 1 Drain, 2 ProbeBW_DOWN, 3 CRUISE, 4 REFILL, 5 UP, 6 ProbeRTT), "
        "max_bw_packets_per_s and min_rtt_ms. Cases 6, 9, 21 and 22 are left out, because they act on the "
        "path during a certain state and no scenario can wait for it; of cases 15 and 17 to 19 the "
        "outcomes are judged.",
        bbr_states.cells, shown="passes",
    ),
)  # fmt: skip
"""The criteria in the order of the draft."""
