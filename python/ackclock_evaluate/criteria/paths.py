"""RFC 9743, sections 6 and 7: wired, wireless and unusual paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from ackclock.decision.paired import Limit, Margin
from ackclock.engine import build
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
    Part,
    Parts,
    one_part,
    time_margin,
)
from ackclock_evaluate.criteria.queueing import alone
from ackclock_evaluate.criteria.sharing import general_grid, parameters_of
from ackclock_evaluate.setting import LONG_S, STANDARD, Bottleneck, Mode, Subject, change


def _wired_cells(mode: Mode) -> list[Cell]:
    cells = []
    for name, path in general_grid(mode).items():
        cells.append(
            Cell(
                f"alone, {name}",
                one_part(alone(path, 1, LONG_S[mode]), measures.general),
                judged=(GOODPUT, DELAY, LOSS),
                parameters={**parameters_of(path), "flows": 1},
            )
        )
        if mode == "full":
            cells.append(
                Cell(
                    f"2 flows, {name}",
                    one_part(alone(path, 2, LONG_S[mode]), measures.general),
                    judged=(GOODPUT, SHARE),
                    parameters={**parameters_of(path), "flows": 2},
                )
            )
    return cells


def _cell(name: str, path: Bottleneck, mode: Mode, **parameters: float | str) -> Cell:
    return Cell(
        name,
        one_part(alone(path, 1, LONG_S[mode]), measures.general),
        judged=(GOODPUT, DELAY),
        parameters=parameters,
        shown=(("resent_in_vain", ""), ("timeouts", "")),
    )


def _wireless_cells(mode: Mode) -> list[Cell]:
    cells = [
        _cell(
            f"random loss {percent} %",
            STANDARD.with_link(loss={"kind": "bernoulli", "rate": f"{percent} %"}),
            mode,
            loss_percent=float(percent),
        )
        for percent in ("0.01", "0.1", "1", "3")
    ]
    bursts = {"kind": "gilbert_elliott", "to_bad": "0.1 %", "to_good": "20 %"}
    cells.append(_cell("bursts of loss", STANDARD.with_link(loss=bursts), mode))
    for every in (20, 40):
        grouped = {"every": f"{every} ms"}
        path = STANDARD.with_link(aggregation=grouped, reverse={"aggregation": grouped})
        cells.append(_cell(f"aggregation over {every} ms", path, mode))
    noise = {"kind": "wifi", "mean": "7 ms"}
    cells.append(_cell("Wi-Fi's jitter, mean 7 ms", STANDARD.with_link(delay_noise=noise), mode))

    def gaps(subject: Subject) -> Table:
        events = (change(2.0, "dumbbell.up", False, 2.0), change(2.2, "dumbbell.up", True, 2.0))
        flow = subject.flow("c", STANDARD.rtt_ms)
        return STANDARD.scenario(flow, duration_s=LONG_S[mode], events=events)

    cells.append(
        Cell(
            "down for 200 ms every 2 s", one_part(gaps, measures.general), judged=(GOODPUT, DELAY), drawn=True
        )
    )
    return cells


def _relative(numbers: Mapping[str, CellNumbers]) -> CellNumbers:
    usual = numbers["usual"]["goodput"]
    kept = numbers["run"]["goodput"] / usual if usual else float("nan")
    return numbers["run"] | {"kept": kept}


KEPT = Margin("kept", "", higher_is_better=True, ratio=1.1, least=1e-3)
"""Goodput relative to that on the same path without the disturbance."""
SPURIOUS = (("spurious_cuts", ""), ("cuts", ""), ("resent_in_vain", ""))


def _next_to_usual(
    path: Bottleneck, duration_s: float, events: tuple[Table, ...] = (), sample_s: float = 1.0
) -> Callable[[Subject], Parts]:
    """Return the parts of a run with a disturbance and of one without."""

    def parts(subject: Subject) -> Parts:
        flow = subject.flow("c", path.rtt_ms)
        run = path.scenario(flow, duration_s=duration_s, events=events, sample_s=sample_s)
        usual = replace(path, link={}).scenario(flow, duration_s=duration_s, sample_s=sample_s)
        return {"run": Part(run, timelines.cuts, records=True), "usual": Part(usual, measures.general)}

    return parts


def _delay_cells(mode: Mode) -> list[Cell]:
    """Change the delay of the link, of which each direction has a quarter of the round trip."""
    length_s = LONG_S[mode]

    def stepped(changes: list[tuple[float, float]]) -> tuple[Table, ...]:
        # The flow's access delay is half of the path's RTT; both directions have the rest.
        return tuple(
            change(at, key, build.milliseconds((rtt - 20) / 2))
            for at, rtt in changes
            for key in ("dumbbell.delay", "dumbbell.reverse.delay")
        )

    every = [(at, 60.0 if index % 2 == 0 else 40.0) for index, at in enumerate((15, 30, 45, 60, 75))]
    steps: dict[str, list[tuple[float, float]]] = {
        "40 to 80 ms": [(length_s / 2, 80.0)],
        "80 to 40 ms": [(0.1, 80.0), (length_s / 2, 40.0)],
        "40 and 60 ms every 15 s": [(at_s, rtt_ms) for at_s, rtt_ms in every if at_s < length_s],
    }
    cells = [
        Cell(
            name,
            _next_to_usual(STANDARD, length_s, stepped(changes)),
            judged=(KEPT, DELAY),
            numbers=_relative,
            drawn=True,
            shown=SPURIOUS,
        )
        for name, changes in steps.items()
    ]
    for noise_ms in (1, 5, 20):
        noise = {"kind": "uniform", "range": f"{noise_ms} ms"}
        cells.append(
            Cell(
                f"noise up to {noise_ms} ms",
                _next_to_usual(STANDARD.with_link(delay_noise=noise), length_s),
                judged=(KEPT, DELAY),
                numbers=_relative,
                parameters={"noise_ms": noise_ms},
                shown=SPURIOUS,
            )
        )
    return cells


def _reordering_cells(mode: Mode) -> list[Cell]:
    cells = []
    for part, label in ((16, "RTT/16"), (4, "RTT/4"), (1, "RTT")):
        noise = {"kind": "uniform", "range": build.milliseconds(STANDARD.rtt_ms / part), "reorder": True}
        cells.append(
            Cell(
                f"up to {label}",
                _next_to_usual(STANDARD.with_link(delay_noise=noise), LONG_S[mode]),
                judged=(KEPT,),
                numbers=_relative,
                parameters={"reordering_rtts": 1 / part},
                shown=SPURIOUS,
            )
        )
    return cells


def _thin_cells(mode: Mode) -> list[Cell]:
    thin = {
        "64 kbit/s, 300 ms": Bottleneck(0.064, 300, 1, packet_bytes=100),
        "8 kbit/s, 500 ms": Bottleneck(0.008, 500, packet_bytes=100, queue_packets=5),
    }
    length_s = 300.0 if mode == "quick" else 900.0
    return [
        Cell(
            name,
            one_part(alone(path, 1, length_s), measures.general),
            judged=(
                replace(GOODPUT, unit="Mbit/s", least=1e-6),
                Margin("sent_per_delivered", "", higher_is_better=False, ratio=1.1),
            ),
            parameters=parameters_of(path),
            shown=(("timeouts", ""),),
        )
        for name, path in thin.items()
    ]


def _far_cells(mode: Mode) -> list[Cell]:
    paths = {"50 Mbit/s, 600 ms": Bottleneck(50, 600, 1)}
    if mode == "full":
        paths |= {
            "50 Mbit/s, 600 ms, buffer 0.25 BDP": Bottleneck(50, 600, 0.25),
            "1 Gbit/s, 100 ms": Bottleneck(1000, 100, 1),
        }
    return [
        Cell(
            name,
            one_part(
                alone(path, 1, LONG_S[mode]),
                partial(timelines.recovery, at_s=0.0, least_mbps=0.9 * path.rate_mbps),
                records=True,
            ),
            judged=(GOODPUT, time_margin("recovery", resolution=1.0)),
            parameters=parameters_of(path),
            drawn=True,
        )
        for name, path in paths.items()
    ]


def _datacentre_cells(mode: Mode) -> list[Cell]:
    path = Bottleneck(10_000, 0.1, queue_packets=200)

    def scenario(subject: Subject, count: int) -> Table:
        flows = subject.flow(
            "c", path.rtt_ms, count=count, bytes="64 kB", start={"uniform": ["0 s", "10 us"]}
        )
        return path.scenario(
            flows, duration_s=2, measured_from_s=0, tcp={"min_rto": "5 ms", "initial_rto": "5 ms"}
        )

    measure = partial(measures.completions, groups=("c",))
    return [
        Cell(
            f"{count} senders",
            one_part(partial(scenario, count=count), measure),
            judged=(time_margin("fct_p99_c"),),
            parameters={"senders": count},
        )
        for count in ((8, 40) if mode == "quick" else (8, 40, 100))
    ]


def _breaker_cells(mode: Mode) -> list[Cell]:
    paths = {
        "standard path": STANDARD,
        "buffer 0.25 BDP": replace(STANDARD, buffer_bdp=0.25),
        "random loss 1 %": STANDARD.with_link(loss={"kind": "bernoulli", "rate": "1 %"}),
        "2 Mbit/s, queue 300 ms": Bottleneck(2, 100, 3),
    }
    if mode == "full":
        paths |= {name: path for name, path in general_grid(mode).items() if path.rate_mbps < 100}
    measure = partial(timelines.breaker, from_s=30.0)
    return [
        Cell(
            name,
            one_part(alone(path, 1, 90), measure, records=True),
            limits=(Limit("trips", "windows of 15 s", at_most=0),),
            parameters=parameters_of(path),
        )
        for name, path in paths.items()
    ]


WIRED = Criterion(
    "wired",
    "6.1, 6.3",
    "MUST",
    "Wired paths",
    "One flow alone, in full mode also two, over the general grid of rates, round-trip times and "
    "buffers: goodput, queueing delay, loss.",
    _wired_cells,
    shown="goodput",
)
WIRELESS = Criterion(
    "wireless",
    "6.4",
    "",
    "Wireless paths",
    "The standard path with random loss from 0.01 to 3 %, with bursts of loss, with aggregated packets "
    "and ACKs, with the jitter of Wi-Fi, and with outages of 200 ms every 2 s.",
    _wireless_cells,
    axis="loss_percent",
    shown="goodput",
)
BREAKERS = Criterion(
    "breakers",
    "7.2",
    "",
    "Circuit breakers",
    "Whether a circuit breaker for media (RFC 8083) would cut the flow off, because it sends more than "
    "ten times the TCP rate at its loss in any 15 s after the first 30.",
    _breaker_cells,
)
DELAYS = Criterion(
    "delay",
    "7.3",
    "SHOULD",
    "Varying delay",
    "The standard path with a round-trip time that doubles, halves, alternates, or varies from packet to "
    "packet without reordering: goodput relative to that without the variation. Undone window cuts are "
    "shown.",
    _delay_cells,
    axis="noise_ms",
    shown="kept",
)
THIN = Criterion(
    "iot",
    "7.4",
    "",
    "Thin links",
    "64 kbit/s and 8 kbit/s with packets of 100 bytes: goodput, and packets sent per packet delivered.",
    _thin_cells,
    shown="goodput",
)
FAR = Criterion(
    "far",
    "7.5",
    "",
    "Long paths",
    "50 Mbit/s over 600 ms, in full mode also 1 Gbit/s over 100 ms: goodput, and the time to nine tenths "
    "of the rate.",
    _far_cells,
    shown="goodput",
)
REORDERING = Criterion(
    "reordering",
    "7.7",
    "",
    "Reordering",
    "The standard path with delays that let packets overtake each other: goodput relative to that "
    "without reordering. Undone window cuts are shown.",
    _reordering_cells,
    axis="reordering_rtts",
    shown="kept",
)
DATACENTRE = Criterion(
    "datacentre",
    "7.11",
    "",
    "Data centres",
    "Senders that each send 64 kB to one receiver at once: 10 Gbit/s, 100 us, a queue of 200 packets.",
    _datacentre_cells,
    axis="senders",
    shown="fct_p99_c",
)
