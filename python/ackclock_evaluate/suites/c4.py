"""The simulations of draft-huitema-ccwg-c4-test: completion times of transfers.

The only suite whose authors publish numbers for CUBIC and BBR (means of 100 runs of picoquic). Sizes
and buffers, which the draft leaves open, are those of the settings published with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ackclock.engine import Run, build
from ackclock.engine.build import Table
from ackclock_evaluate import measures
from ackclock_evaluate.cell import Cell, CellNumbers, Criterion, one_part, time_margin
from ackclock_evaluate.setting import Bottleneck, Mode, Subject, change

PUBLISHED_CUBIC_S = {
    "alone": 4.472,
    "alone_200": 1.146,
    "alone_1_5M": 21.514,
    "alone_512k": 16.183,
    "low_and_up": 8.035,
    "drop_and_back": 7.630,
    "blackhole": 5.696,
    "short_long": 21.368,
    "satellite": 6.704,
    "vs_cubic_lg": 20.903,
    "vs_cubic_lg2": 20.672,
    "wifi_bad": 4.077,
    "wifi_fade": 5.341,
    "wifi_suspension": 4.600,
    "wifi_bad_cubic": 10.397,
}
"""Mean completion times of the main connection under CUBIC in the draft of August 2026, seconds."""
ALONE: dict[str, tuple[Bottleneck, int]] = {
    "alone": (Bottleneck(20, 80, 1), 10_000_000),
    "alone_200": (Bottleneck(200, 40, 1), 20_000_000),
    "alone_1_5M": (Bottleneck(1.5, 40, 1.25), 4_000_000),
    "alone_512k": (Bottleneck(0.512, 34, 50 / 34), 1_000_000),
    "satellite": (Bottleneck(250, 600, 1), 100_000_000),
}
"""Path and bytes of a transfer alone."""
Changes = tuple[tuple[float, str, str | bool], ...]
CHANGING: dict[str, tuple[Bottleneck, int, Changes]] = {
    "low_and_up": (
        Bottleneck(5, 100, 1.6),
        7_000_000,
        ((2.5, "rate", "10 Mbit/s"), (2.5, "queue.limit", "67 packets")),
    ),
    "drop_and_back": (
        Bottleneck(10, 100, 0.8),
        7_000_000,
        ((1.5, "rate", "5 Mbit/s"), (3.5, "rate", "10 Mbit/s")),
    ),
    # 15 ms, then 100 ms one way; a quarter of the round trip is the access link's.
    "short_long": (
        Bottleneck(10, 30, queue_packets=83),
        20_000_000,
        ((1.0, "delay", "92.5 ms"), (1.0, "queue.limit", "167 packets")),
    ),
}
"""Path, bytes, and changes of the path: seconds, key, value."""
COMPETING: dict[str, tuple[Bottleneck, int, int, float]] = {
    "lg": (Bottleneck(20, 80, 1), 30_000_000, 20_000_000, 0.0),
    "lg2": (Bottleneck(10, 70, 1), 15_000_000, 10_000_000, 1.0),
}
"""Path, bytes of the main and of the second connection, and the start of the second (s)."""
HOLE = (Bottleneck(25, 70, 80 / 70), 10_000_000, ((2.0, "up", False), (4.0, "up", True)))
"""Path, bytes and changes, as in `CHANGING`."""


def _wifi(mean_ms: float) -> Table:
    return {"delay_noise": {"kind": "wifi", "mean": build.milliseconds(mean_ms)}}


BAD_WIFI = Bottleneck(10, 2, 40.0).with_link(**_wifi(7.0))
FADING = Bottleneck(20, 80, 1).with_link(**_wifi(1.0))
SUSPENDED = Bottleneck(20, 10, 2)
SUSPENSIONS = (change(1.8, "dumbbell.up", False, 2.0), change(2.0, "dumbbell.up", True, 2.0))
FRAMES_PER_S = 30
STREAMS = {"c-low": 3750, "c-mid": 6250}
"""Bytes of a frame of each video; every thirtieth is ten times as large."""


def completion(run: Run) -> CellNumbers:
    """Return `general` and ``completion`` (s) of the one transfer under test.

    It is the length of the run when the transfer has not ended.
    """
    took_s = measures.flows(run, "c")[0]["completion_s"]
    took_s = run.summary["duration_s"] if took_s is None else took_s
    return measures.general(run) | {"completion": took_s}


def transfer(
    subject: Subject, path: Bottleneck, size_bytes: int, changes: Changes = (), events: tuple[Table, ...] = ()
) -> Table:
    """Return one transfer on a path, for ten times the bare transmission time and at least 20 s.

    `changes` are times (s), keys of the bottleneck and their new values; `events` are further changes.
    """
    length_s = max(20.0, 10 * size_bytes * 8e-6 / path.rate_mbps)
    return path.scenario(
        subject.flow("c", path.rtt_ms, bytes=f"{size_bytes} B", start="0 s"),
        duration_s=length_s,
        measured_from_s=0,
        events=(*events, *(change(at, f"dumbbell.{key}", to) for at, key, to in changes)),
    )


def _competing(
    subject: Subject,
    path: Bottleneck,
    mine: int,
    theirs: int,
    delay_s: float,
    rival: str,
    mine_delay_s: float = 0.0,
) -> Table:
    return path.scenario(
        subject.flow("c", path.rtt_ms, bytes=f"{mine} B", start=build.seconds(mine_delay_s)),
        Subject(rival).flow("v", path.rtt_ms, bytes=f"{theirs} B", start=build.seconds(delay_s)),
        duration_s=120,
        measured_from_s=0,
    )


def _cell(name: str, scenario: Callable[[Subject], Table]) -> Cell:
    return Cell(name, one_part(scenario, completion), judged=(time_margin("completion"),), drawn=True)


def _alone_cells(mode: Mode) -> list[Cell]:
    return [
        _cell(name, partial(transfer, path=path, size_bytes=size))
        for name, (path, size) in ALONE.items()
        if mode == "full" or name != "satellite"
    ]


def _changing_cells(_: Mode) -> list[Cell]:
    return [
        _cell(name, partial(transfer, path=path, size_bytes=size, changes=changes))
        for name, (path, size, changes) in CHANGING.items()
    ]


def _competing_cells(mode: Mode) -> list[Cell]:
    return [
        _cell(
            f"vs_{rival}_{name}",
            partial(_competing, path=path, mine=mine, theirs=theirs, delay_s=delay_s, rival=rival),
        )
        for rival in (("cubic",) if mode == "quick" else ("cubic", "bbr3"))
        for name, (path, mine, theirs, delay_s) in COMPETING.items()
    ]


def _hole_cells(_: Mode) -> list[Cell]:
    path, size, changes = HOLE
    return [_cell("blackhole", partial(transfer, path=path, size_bytes=size, changes=changes))]


def _fading(subject: Subject) -> Table:
    """Let the rate fall to nine tenths, like the simulator that produced the published numbers.

    At a tenth no sender could send 80 Mbit before 20 (t - 2) + 2 x 2 = 80, 5.8 s; CUBIC took 5.3 s.
    """
    events = tuple(
        change(at, f"dumbbell.{key}", to)
        for at, rate, mean in ((1.0, "18 Mbit/s", "12 ms"), (3.0, "20 Mbit/s", "1 ms"))
        for key, to in (("rate", rate), ("reverse.rate", rate), ("delay_noise.mean", mean))
    )
    return transfer(subject, FADING, 10_000_000, events=events)


def _wifi_cells(mode: Mode) -> list[Cell]:
    competing = partial(
        _competing,
        path=replace(BAD_WIFI, buffer_bdp=125.0),
        mine=4_000_000,
        theirs=10_000_000,
        delay_s=0.0,
        mine_delay_s=1.0,
    )
    suspended = partial(transfer, path=SUSPENDED, size_bytes=10_000_000, events=SUSPENSIONS)
    return [
        _cell("wifi_bad", partial(transfer, path=BAD_WIFI, size_bytes=4_000_000)),
        _cell("wifi_fade", _fading),
        _cell("wifi_suspension", suspended),
        *(
            _cell(f"wifi_bad_{rival}", partial(competing, rival=rival))
            for rival in (("cubic",) if mode == "quick" else ("cubic", "bbr3"))
        ),
    ]


def _frames(subject: Subject, path: Bottleneck, events: tuple[Table, ...] = ()) -> Table:
    """Return two videos, each over a connection of the control: a request is a frame."""
    flows = [
        subject.flow(
            name,
            path.rtt_ms,
            source="requests",
            size=[[f"{size} B", f"{2900 / 30:.9f} %"], [f"{10 * size} B", f"{100 / 30:.9f} %"]],
            every=build.seconds(round(1 / FRAMES_PER_S, 9)),
            start="0 s",
        )
        for name, size in STREAMS.items()
    ]
    return path.scenario(*flows, duration_s=20, measured_from_s=0.2, events=events)


def _media_cells(_: Mode) -> list[Cell]:
    longer = (change(1.0, "dumbbell.delay", "92.5 ms"),)
    paths: dict[str, tuple[Bottleneck, tuple[Table, ...]]] = {
        "media": (Bottleneck(100, 30, 1), ()),
        "media10": (Bottleneck(10, 40, 2.5), ()),
        "media_short_long": (Bottleneck(100, 30, 1), longer),
        "media_wb": (replace(BAD_WIFI, rate_mbps=20), ()),
        "media_ws": (SUSPENDED, SUSPENSIONS),
    }
    return [
        Cell(
            name,
            one_part(
                partial(_frames, path=path, events=events),
                partial(measures.requests, name=next(iter(STREAMS))),
            ),
            judged=tuple(time_margin(f"request_p{percent}") for percent in (50, 95, 99)),
        )
        for name, (path, events) in paths.items()
    ]


C4: tuple[Criterion, ...] = (
    Criterion(
        "c4-alone",
        "Reaction to network events",
        "",
        "A transfer alone",
        "Transfers of 1 to 20 MB over 0.5 to 200 Mbit/s, in full mode also of 100 MB over a geostationary "
        "satellite: the completion time.",
        _alone_cells,
        shown="completion",
    ),
    Criterion(
        "c4-changing",
        "Reaction to network events",
        "",
        "A transfer over a changing path",
        "The rate doubles, falls to a half and recovers, or the one-way delay grows from 15 to 100 ms: the "
        "completion time.",
        _changing_cells,
        shown="completion",
    ),
    Criterion(
        "c4-blackhole",
        "Reaction to network events",
        "",
        "A black hole",
        "A transfer of 10 MB over 25 Mbit/s, 70 ms, with an outage from 2 to 4 s: the completion time.",
        _hole_cells,
        shown="completion",
    ),
    Criterion(
        "c4-competition",
        "Competition",
        "",
        "Next to another transfer",
        "A transfer of 30 MB next to one of 20 MB that starts with it, and one of 15 MB next to one of "
        "10 MB that starts a second later, under CUBIC, in full mode also under BBR version 3: the "
        "completion time.",
        _competing_cells,
        shown="completion",
    ),
    Criterion(
        "c4-wifi",
        "Wi-Fi",
        "",
        "Wi-Fi",
        "Transfers over Wi-Fi: with collisions (a mean jitter of 7 ms of the data), alone and a second "
        "after another transfer; with a jitter of 12 ms and 18 of 20 Mbit/s for two seconds; and with "
        "outages of 200 ms every 2 s: the completion time.",
        _wifi_cells,
        shown="completion",
    ),
    Criterion(
        "c4-media",
        "Media",
        "",
        "Media",
        "Two videos of 30 frames a second, 1.2 and 1.9 Mbit/s, each over its own connection: frame delays "
        "of the smaller video. In the draft they are streams of one connection, with priorities and with "
        "audio, which scenarios do not have.",
        _media_cells,
        shown="request_p95",
    ),
)
"""The criteria in the order of the draft."""
