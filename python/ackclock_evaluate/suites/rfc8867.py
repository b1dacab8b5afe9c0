"""RFC 8867: test cases for congestion control of interactive media.

The control takes the place of the media flows where these are tested, and that of TCP where TCP
competes with media. TFRC and a steady flow of audio then stand for media.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ackclock.engine import Run, build
from ackclock.engine.build import Table
from ackclock_evaluate import measures
from ackclock_evaluate.cell import (
    DELAY,
    GOODPUT,
    JAIN,
    LOSS,
    SHARE,
    Cell,
    CellNumbers,
    Criterion,
    one_part,
    time_margin,
)
from ackclock_evaluate.setting import Bottleneck, Mode, Subject, change

QUEUE_S = 0.3
"""Length of the droptail queue as a time."""
ONE_WAY_MS = 50.0
# Three standard deviations are below the 30 ms that jitter may have; packets keep their order.
JITTER: Table = {"kind": "gaussian", "sigma": "5 ms"}
SINGLE = ((0, 1.0), (40, 2.5), (60, 0.6), (80, 1.0))
"""Capacity of the path of one media flow: seconds, Mbit/s."""
SEVERAL = ((0, 4.0), (25, 2.0), (50, 3.5), (75, 1.0), (100, 2.0))
FORWARD = ((0, 4.0), (20, 2.0), (40, 1.0), (60, 4.0))
BACKWARD = ((0, 4.0), (35, 1.6), (70, 4.0))
Steps = tuple[tuple[int, float], ...]


def media_path(rate_mbps: float, one_way_ms: float = ONE_WAY_MS, queue_s: float = QUEUE_S) -> Bottleneck:
    """Return a path of the test cases, with jitter and a queue of `queue_s` seconds."""
    rtt_ms = 2 * one_way_ms
    path = Bottleneck(rate_mbps, rtt_ms, queue_s * 1e3 / rtt_ms)
    return path.with_link(delay_noise=JITTER)


def _queue(rate_mbps: float) -> str:
    return build.packets(max(2, round(media_path(rate_mbps).packets_per_second * QUEUE_S)))


def _steps(steps: Steps, where: str) -> tuple[Table, ...]:
    """Change the rate and the queue limit together, so that the queue keeps its length in time."""
    return tuple(
        event
        for at, rate in steps[1:]
        for event in (
            change(at, f"{where}.rate", build.mbps(rate)),
            change(at, f"{where}.queue.limit", _queue(rate)),
        )
    )


def _variable(subject: Subject, steps: Steps, count: int, length_s: float, one_way_ms: float) -> Table:
    path = media_path(steps[0][1], one_way_ms)
    return path.scenario(
        subject.flow("c", path.rtt_ms, count=count),
        duration_s=length_s,
        measured_from_s=5,
        events=_steps(steps, "dumbbell"),
    )


def _feedback(subject: Subject) -> Table:
    path = media_path(FORWARD[0][1])
    back: Table = {
        "rate": build.mbps(BACKWARD[0][1]),
        "queue": {"kind": "droptail", "limit": _queue(BACKWARD[0][1])},
        "delay_noise": JITTER,
    }
    return path.with_link(reverse=back).scenario(
        subject.flow("c", path.rtt_ms),
        subject.flow("c-back", path.rtt_ms, direction="reverse"),
        duration_s=100,
        measured_from_s=5,
        events=_steps(FORWARD, "dumbbell") + _steps(BACKWARD, "dumbbell.reverse"),
    )


def _in_turn(subject: Subject) -> Table:
    path = media_path(3.5)
    flows = [subject.flow(f"c-{index}", path.rtt_ms, start=build.seconds(20 * index)) for index in range(3)]
    return path.scenario(*flows, duration_s=120, measured_from_s=60)


def _round_trips(subject: Subject) -> Table:
    delays_ms = (10, 25, 50, 100, 150)
    path = replace(media_path(4.0), rtt_ms=20.0, buffer_bdp=15.0)
    flows = [
        subject.flow(f"c-{index}", 2.0 * one_way, start=build.seconds(10 * index))
        for index, one_way in enumerate(delays_ms)
    ]
    return path.scenario(*flows, duration_s=300, measured_from_s=60)


def _media_flows(path: Bottleneck) -> list[Table]:
    audio = {
        "source": "cbr",
        "name": "audio",
        "rate": "20 kbit/s",
        "packet": "100 B",
        "rtt": build.milliseconds(path.rtt_ms),
    }
    return [Subject("tfrc").flow("v", path.rtt_ms), audio]


def _next_to_long(subject: Subject, queue_s: float) -> Table:
    path = media_path(2.0, queue_s=queue_s)
    return path.scenario(
        subject.flow("c", path.rtt_ms), *_media_flows(path), duration_s=120, measured_from_s=10
    )


def _next_to_short(subject: Subject) -> Table:
    path = media_path(2.0)
    sessions = subject.flow("c", path.rtt_ms, source="web", count=10, think="10 s", objects=1, object="40 kB")
    return path.scenario(sessions, *_media_flows(path), duration_s=300, measured_from_s=10)


def _media(run: Run) -> CellNumbers:
    link = measures.bottleneck(run)
    audio = measures.flows(run, "audio")[0]
    return measures.victims(run) | {
        "delay_p95": link["queue_delay_p95_ms"] or 0.0,
        "audio_loss": audio["dropped_packets"] / max(1, audio["sent_packets"]),
    }


def _capacity_cells(mode: Mode) -> list[Cell]:
    usual = (GOODPUT, DELAY, LOSS)
    delays_ms = (ONE_WAY_MS,) if mode == "quick" else (ONE_WAY_MS, 100.0)
    cells = [
        Cell(
            f"one flow, {delay:g} ms one way",
            one_part(
                partial(_variable, steps=SINGLE, count=1, length_s=100, one_way_ms=delay), measures.general
            ),
            judged=usual,
            parameters={"one_way_ms": delay, "flows": 1},
            drawn=True,
        )
        for delay in delays_ms
    ]
    two = partial(_variable, steps=SEVERAL, count=2, length_s=125, one_way_ms=ONE_WAY_MS)
    return [
        *cells,
        Cell(
            "two flows",
            one_part(two, measures.general),
            judged=(*usual, SHARE),
            parameters={"one_way_ms": ONE_WAY_MS, "flows": 2},
            drawn=True,
        ),
    ]


def _feedback_cells(_: Mode) -> list[Cell]:
    return [
        Cell(
            "a flow in each direction",
            one_part(_feedback, measures.general),
            judged=(GOODPUT, DELAY, LOSS),
            drawn=True,
        )
    ]


def _fair_cells(_: Mode) -> list[Cell]:
    return [
        Cell(name, one_part(scenario, measures.general), judged=(JAIN, SHARE, DELAY), drawn=True)
        for name, scenario in (
            ("three flows, one every 20 s", _in_turn),
            ("five flows of 10 to 150 ms one way", _round_trips),
        )
    ]


def _competing_cells(mode: Mode) -> list[Cell]:
    judged = (DELAY, replace(LOSS, metric="audio_loss"), replace(GOODPUT, metric="victim_goodput"))
    queues_s = (QUEUE_S,) if mode == "quick" else (QUEUE_S, 1.0)
    cells = [
        Cell(
            f"next to a long flow, queue {1e3 * queue_s:g} ms",
            one_part(partial(_next_to_long, queue_s=queue_s), _media),
            judged=judged,
            parameters={"queue_ms": 1e3 * queue_s},
            id=f"beside-a-long-flow-queue-{1e3 * queue_s:g}-ms",
        )
        for queue_s in queues_s
    ]
    web = one_part(_next_to_short, _media)
    return [*cells, Cell("next to ten web sessions", web, judged=judged, id="beside-ten-web-sessions")]


PAUSING_BYTES = round(3.5e6 / 3 * 40 / 8)
"""The bytes that a third of 3.5 Mbit/s carries in 40 s."""


def _pausing(subject: Subject) -> Table:
    path = media_path(3.5)
    paused = subject.flow(
        "c-paused", path.rtt_ms, source="requests", size=f"{PAUSING_BYTES} B", every="60 s", start="0 s"
    )
    steady = subject.flow("c", path.rtt_ms, count=2, start="0 s")
    return path.scenario(paused, steady, duration_s=180, measured_from_s=0)


def _pause_cells(_: Mode) -> list[Cell]:
    return [
        Cell(
            "one of three pauses for a third of each minute",
            one_part(_pausing, partial(measures.requests, name="c-paused")),
            judged=(time_margin("request_p50"), time_margin("request_p95"), GOODPUT, DELAY, LOSS),
            drawn=True,
        )
    ]


RFC8867: tuple[Criterion, ...] = (
    Criterion(
        "media-capacity",
        "5.1, 5.2",
        "",
        "Variable capacity",
        "The control in the place of media on a rate of 1, 2.5, 0.6 and again 1 Mbit/s; and two flows of "
        "it on 4, 2, 3.5, 1 and 2 Mbit/s: goodput, queueing delay, loss, the smaller share.",
        _capacity_cells,
        shown="delay_p95",
    ),
    Criterion(
        "media-feedback",
        "5.3",
        "",
        "Congested feedback",
        "A flow in each direction, both with a changing capacity.",
        _feedback_cells,
        shown="delay_p95",
    ),
    Criterion(
        "media-fairness",
        "5.4, 5.5",
        "",
        "Competing media flows",
        "Three flows that start one after another, and five with different round-trip times: Jain's "
        "index, the smallest share, queueing delay.",
        _fair_cells,
        shown="jain",
    ),
    Criterion(
        "media-tcp",
        "5.6, 5.7",
        "",
        "Media next to TCP",
        "The control in the place of TCP, as one long flow or as ten web sessions, next to TFRC and audio "
        "on 2 Mbit/s: queueing delay, loss of the audio, the goodput left to TFRC.",
        _competing_cells,
        axis="queue_ms",
        shown="delay_p95",
    ),
    Criterion(
        "media-pause",
        "5.8",
        "",
        "Pause and resume",
        "Three flows on 3.5 Mbit/s, one of which sends once a minute what its fair share carries in 40 s "
        "and pauses for the rest: request times, goodput of the other two, queueing delay, loss.",
        _pause_cells,
        shown="request_p95",
    ),
)
"""The criteria in the order of the RFC."""
