"""RFC 9743, sections 5.1.5, 5.2.2 and 5.2.3: short flows and real-time traffic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from ackclock.engine import Run, build
from ackclock.engine.build import Table
from ackclock_evaluate import measures
from ackclock_evaluate.cell import (
    GOODPUT,
    LOSS,
    Cell,
    CellNumbers,
    Criterion,
    Part,
    Parts,
    harm_margin,
    one_part,
    time_margin,
)
from ackclock_evaluate.criteria.queueing import plural
from ackclock_evaluate.setting import (
    BASELINES,
    CUBIC,
    LONG_S,
    PACKET_BYTES,
    STANDARD,
    Bottleneck,
    Mode,
    Subject,
)

SIZES = {"10kB": (10_000, 0.70), "100kB": (100_000, 0.25), "1MB": (1_000_000, 0.05)}
"""Bytes of short transfers, and their shares of all transfers."""


def _short_flows(path: Bottleneck, long: Subject, short: Subject, load: float, duration_s: float) -> Table:
    """Return two long flows and short ones that start at random times.

    Arrivals of a Poisson process are uniform in time, given their number, which is set to its mean.
    """
    mean_bytes = sum(size * share for size, share in SIZES.values())
    arrivals = load * path.rate_mbps * 1e6 / 8 / mean_bytes
    first_s, last_s = duration_s / 6, duration_s - 5
    flows = [long.flow("long", path.rtt_ms, count=2)]
    for name, (size, share) in SIZES.items():
        count = max(1, round(arrivals * share * (last_s - first_s)))
        start = {"uniform": [build.seconds(first_s), build.seconds(last_s)]}
        flows.append(short.flow(name, path.rtt_ms, count=count, bytes=f"{size} B", start=start))
    return path.scenario(*flows, duration_s=duration_s)


def ideal_s(path: Bottleneck, size_bytes: int, initial_window: int = 10) -> float:
    """Return the time (s) of a transfer by slow start on an empty path, until its last packet arrives.

    n packets need ceil(log2(n/IW + 1)) rounds, of which the last only goes one way, and its own
    transmission. A window above the bandwidth-delay product adds nothing, so the time is at least the
    transmission of all.
    """
    count = -(-size_bytes // PACKET_BYTES)
    rounds, sent, window = 0, 0, initial_window
    while sent + window < count:
        sent += window
        window *= 2
        rounds += 1
    last_s = (count - sent) / path.packets_per_second
    by_rounds = path.rtt_ms / 1e3 * (rounds + 0.5) + last_s
    return max(by_rounds, 0.5 * path.rtt_ms / 1e3 + count / path.packets_per_second)


def _slowdowns(by_part: Mapping[str, CellNumbers]) -> CellNumbers:
    """Divide completion times by those of slow start on the empty path, the same for all."""
    numbers = dict(by_part["run"])
    for name, (size, _) in SIZES.items():
        ideal = ideal_s(STANDARD, size)
        for percent in (50, 95, 99):
            numbers[f"slowdown_p{percent}_{name}"] = numbers[f"fct_p{percent}_{name}"] / ideal
    return numbers


def _short_cells(mode: Mode) -> list[Cell]:
    duration_s = 30.0 if mode == "quick" else 60.0
    measure = partial(measures.completions, groups=tuple(SIZES))

    def pairing(
        long_control: str | None, short_control: str | None, load: float
    ) -> Callable[[Subject], Parts]:
        def parts(subject: Subject) -> Parts:
            long = subject if long_control is None else Subject(long_control)
            short = subject if short_control is None else Subject(short_control)
            scenario = _short_flows(STANDARD, long, short, load, duration_s)
            return {"run": Part(scenario, measure)}

        return parts

    times = tuple(time_margin(f"fct_p95_{name}") for name in SIZES)
    cells = []
    for load in (0.1, 0.5):
        label, name = f"load {load:.0%}", f"load-{100 * load:.0f}"
        cells.append(
            Cell(
                f"{label}, next to its own long flows",
                pairing(None, None, load),
                judged=(*times, GOODPUT),
                numbers=_slowdowns,
                parameters={"load": load},
                id=f"{name}-beside-its-own-long-flows",
            )
        )
        for victim in BASELINES if mode == "full" else (CUBIC,):
            named: dict[str, float | str] = {"load": load, "victim": victim}
            cells += [
                Cell(
                    f"{label}, short {victim} next to its long flows",
                    pairing(None, victim, load),
                    judged=times,
                    numbers=_slowdowns,
                    parameters=named,
                    id=f"{name}-short-{victim}-beside-its-long-flows",
                ),
                Cell(
                    f"{label}, next to long flows of {victim}",
                    pairing(victim, None, load),
                    judged=(*times, GOODPUT),
                    numbers=_slowdowns,
                    parameters=named,
                    id=f"{name}-beside-long-flows-of-{victim}",
                ),
            ]
    return cells


def _media(rate: float) -> list[Table]:
    flows = []
    if rate > 2:
        flows.append({"name": "video", "source": "cbr", "rate": "1.5 Mbit/s", "packet": "1200 B"})
    flows.append({"name": "audio", "source": "cbr", "rate": "20 kbit/s", "packet": "100 B"})
    return [{**flow, "rtt": "100 ms", "deadline": "150 ms"} for flow in flows]


def _real_time(run: Run) -> CellNumbers:
    media = [flow for flow in run.summary["flows"] if flow["name"] in ("video", "audio")]
    sent = sum(flow["sent_packets"] for flow in media)
    lost = sum(flow["dropped_packets"] for flow in media)
    rates = [flow["goodput_mbps"] or 0.0 for flow in measures.flows(run, "c")]
    mine = sum(rates) / len(rates)
    tfrc = measures.flows(run, "v-tfrc")[0]["goodput_mbps"] or 0.0
    return measures.victims(run) | {
        "delay_p50": max(flow["delay_p50_ms"] or 0.0 for flow in media),
        "delay_p95": max(flow["delay_p95_ms"] or 0.0 for flow in media),
        "delay_p99": max(flow["delay_p99_ms"] or 0.0 for flow in media),
        "late": max(flow["late"] or 0.0 for flow in media),
        "media_loss": lost / sent,
        "tfrc_ratio": tfrc / mine if mine else float("nan"),
    }


REAL_TIME_JUDGED = (
    replace(time_margin("delay_p95", "ms"), difference=1.0),
    harm_margin("late"),
    replace(LOSS, metric="media_loss"),
    replace(GOODPUT, metric="victim_goodput"),
)


def _bursts(subject: Subject) -> Table:
    """Return web sessions of the control next to the media, as in RFC 8867, section 5.7."""
    path = Bottleneck(5, 100, 3)
    sessions = subject.flow("c", 100, source="web", count=10, think="10 s", objects=1)
    return path.scenario(
        sessions, Subject("tfrc").flow("v-tfrc", 100), *_media(path.rate_mbps), duration_s=120
    )


def _real_time_cells(mode: Mode) -> list[Cell]:
    cells = []
    queues_ms = (300.0,) if mode == "quick" else (300.0, 1000.0)
    for rate in (2.0, 5.0):
        for queue_ms in queues_ms:
            path = Bottleneck(rate, 100, queue_ms / 100)
            for count in (1, 2):

                def scenario(subject: Subject, path: Bottleneck = path, count: int = count) -> Table:
                    return path.scenario(
                        subject.flow("c", 100, count=count),
                        Subject("tfrc").flow("v-tfrc", 100),
                        *_media(path.rate_mbps),
                        duration_s=LONG_S[mode],
                    )

                cells.append(
                    Cell(
                        f"{rate:g} Mbit/s, queue {queue_ms:g} ms, next to {plural(count)}",
                        one_part(scenario, _real_time),
                        judged=REAL_TIME_JUDGED,
                        parameters={"rate_mbps": rate, "queue_ms": queue_ms, "flows": count},
                        shown=(("tfrc_ratio", ""),),
                        id=f"{rate:g}-mbit-s-queue-{queue_ms:g}-ms-beside-{count}",
                    )
                )
    return [
        *cells,
        Cell(
            "5 Mbit/s, next to ten web sessions",
            one_part(_bursts, _real_time),
            judged=REAL_TIME_JUDGED,
            id="5-mbit-s-beside-ten-web-sessions",
        ),
    ]


SHORT = Criterion(
    "short",
    "5.1.5, 5.2.3",
    "MUST",
    "Short flows",
    "Transfers of 10 kB (70 %), 100 kB (25 %) and 1 MB (5 %) at random times next to two long flows: "
    "completion times of the control's transfers next to its own long flows and those of other controls, "
    "and of other controls' transfers next to its long flows. Slowdowns are relative to slow start on an "
    "empty path.",
    _short_cells,
    shown="fct_p95_100kB",
)


REAL_TIME = Criterion(
    "real-time",
    "5.2.2",
    "SHOULD",
    "Real-time traffic",
    "Audio (20 kbit/s), video (1.5 Mbit/s, on the faster link) and one TFRC flow next to flows of the "
    "control or ten web sessions of it: one-way delay and loss of the media, the share later than "
    "150 ms, and the goodput left to TFRC.",
    _real_time_cells,
    shown="delay_p95",
)


def _limited_cells(mode: Mode) -> list[Cell]:
    bursts = {"250 kB every 1 s": {"size": "250 kB", "every": "1 s"}}
    pauses = (1, 5) if mode == "quick" else (1, 5, 30)
    bursts |= {f"2.5 MB after pauses of {s} s": {"size": "2.5 MB", "think": f"{s} s"} for s in pauses}
    length_s = LONG_S[mode] if mode == "quick" else 300.0

    def scenario(subject: Subject, requests: Table, with_cubic: bool) -> Table:
        mine = subject.flow("c", STANDARD.rtt_ms, source="requests", **requests)
        rivals = [Subject(CUBIC).flow("v", STANDARD.rtt_ms)] if with_cubic else []
        return STANDARD.scenario(mine, *rivals, duration_s=length_s)

    return [
        Cell(
            f"{label}, {f'next to {CUBIC}' if with_cubic else 'alone'}",
            one_part(partial(scenario, requests=requests, with_cubic=with_cubic), measures.requests),
            judged=(time_margin("request_p50"), time_margin("request_p95"), LOSS),
            parameters={"requests": label, "beside": CUBIC if with_cubic else "nobody"},
        )
        for label, requests in bursts.items()
        for with_cubic in (False, True)
    ]


LIMITED = Criterion(
    "app-limited",
    "5.1.5, 5.2.2",
    "",
    "Applications with little to send",
    "Requests over one connection, 250 kB every second or 2.5 MB after pauses, alone and next to a long "
    "CUBIC flow: request times and loss.",
    _limited_cells,
    shown="request_p95",
)
