"""RFC 7928: the guidelines for active queue management, applied to a control behind such queues."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from ackclock.decision.paired import Margin
from ackclock.engine import Run, build
from ackclock.engine.build import Table
from ackclock.engine.names import slug
from ackclock_evaluate import measures
from ackclock_evaluate.cell import (
    DELAY,
    GOODPUT,
    JAIN,
    LOSS,
    SHARE,
    Cell,
    CellMeasure,
    CellNumbers,
    Criterion,
    one_part,
    time_margin,
)
from ackclock_evaluate.criteria.queueing import DISCIPLINES
from ackclock_evaluate.setting import Bottleneck, Mode, Subject

RTT_MS = 100.0
CONGESTION = {"mild": 0.036, "medium": 0.081, "heavy": 0.114}
"""Flows per packet that the path and its queue hold, by the loss 0.76 N^2/S^2 (section 8.1)."""
STAGE_S = 20.0
USED = Margin("utilisation", "", higher_is_better=True, ratio=1.1)
"""Used where flows come and go, because the goodput of a flow is that of its own lifetime."""


def managed(rate_mbps: float, name: str, rtt_ms: float = RTT_MS) -> Bottleneck:
    """Return a path behind a queue of `DISCIPLINES`, so long that the discipline alone decides."""
    return Bottleneck(rate_mbps, rtt_ms, queue_packets=1000, discipline=DISCIPLINES[name])


def _names(mode: Mode) -> tuple[str, ...]:
    return ("CoDel", "PIE") if mode == "quick" else tuple(DISCIPLINES)


def _unresponsive(subject: Subject, name: str, load: float) -> Table:
    path = managed(10, name)
    datagrams = {
        "source": "poisson",
        "name": "datagrams",
        "rate": build.mbps(load * path.rate_mbps),
        "packet": "1500 B",
        "rtt": build.milliseconds(RTT_MS),
    }
    return path.scenario(subject.flow("c", RTT_MS), datagrams, duration_s=60)


def _datagrams(run: Run) -> CellNumbers:
    datagrams = measures.flows(run, "datagrams")[0]
    lost = datagrams["dropped_packets"] / max(1, datagrams["sent_packets"])
    return measures.general(run) | {"datagram_loss": lost}


def _two_rtts(subject: Subject, name: str, second_ms: float) -> Table:
    path = managed(10, name, min(RTT_MS, second_ms))
    flows = [subject.flow("c-0", RTT_MS), subject.flow("c-1", second_ms)]
    return path.scenario(*flows, duration_s=120)


def _crowds(subject: Subject, name: str) -> Table:
    # S is the bandwidth-delay product and a queue of the same size.
    path = managed(50, name)
    room = 2 * path.bdp_packets
    flows: list[Table] = []
    present = 0
    for index, share in enumerate(CONGESTION.values()):
        count = round(share * room)
        flows.append(
            subject.flow(
                f"c-{index}",
                RTT_MS,
                count=count - present,
                start={"uniform": [build.seconds(STAGE_S * index), build.seconds(STAGE_S * index + 1)]},
            )
        )
        present = count
    return path.scenario(*flows, duration_s=3 * STAGE_S, measured_from_s=5)


def _alternating(subject: Subject, name: str, period_s: float) -> Table:
    square = {"rate": "10 Mbit/s", "period": build.seconds(period_s)}
    path = managed(100, name).with_link(square=square)
    return path.scenario(subject.flow("c", RTT_MS), duration_s=120)


def _two_queues(subject: Subject, names: tuple[str, str]) -> Table:
    first, second = ({"limit": "1000 packets", **DISCIPLINES[name]} for name in names)
    path = Bottleneck(10, RTT_MS)
    links = [
        {"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "10 ms", "queue": first},
        {"from": "b", "to": "c", "rate": "8 Mbit/s", "delay": "10 ms", "queue": second},
    ]
    ends = {"from": "a", "to": "c"}
    return build.scenario(
        {"node": [{"name": name} for name in "abc"], "link": links},
        subject.flow("c", RTT_MS, count=4, **ends),
        duration="60 s",
        warmup="15 s",
        sample="1 s",
        tcp=path.sender(),
    )


def _behind_two(run: Run) -> CellNumbers:
    delays = [link["queue_delay_p95_ms"] or 0.0 for link in run.summary["links"][::2]]
    return measures.general(run) | {"delay_p95": sum(delays)}


def _cells(
    mode: Mode,
    scenarios: Mapping[str, Callable[..., Table]],
    judged: tuple[Margin, ...],
    measure: CellMeasure = measures.general,
) -> list[Cell]:
    return [
        Cell(
            f"{name}, {label}",
            one_part(partial(scenario, name=name), measure),
            judged=judged,
            parameters={"queue": name},
        )
        for name in _names(mode)
        for label, scenario in scenarios.items()
    ]


def _datagram_cells(mode: Mode) -> list[Cell]:
    scenarios = {
        f"datagrams of {load:g} of the rate": partial(_unresponsive, load=load) for load in (0.75, 1.1)
    }
    judged = (GOODPUT, DELAY, replace(LOSS, metric="datagram_loss"))
    return _cells(mode, scenarios, judged, _datagrams)


def _rtt_cells(mode: Mode) -> list[Cell]:
    rtts_ms = (5.0, 560.0) if mode == "quick" else (5.0, 20.0, 50.0, 200.0, 560.0)
    scenarios = {f"100 and {rtt_ms:g} ms": partial(_two_rtts, second_ms=rtt_ms) for rtt_ms in rtts_ms}
    return _cells(mode, scenarios, (SHARE, DELAY))


def _crowd_cells(mode: Mode) -> list[Cell]:
    return _cells(mode, {"mild, medium, heavy": _crowds}, (USED, DELAY, LOSS))


def _capacity_cells(mode: Mode) -> list[Cell]:
    scenarios = {
        f"100 and 10 Mbit/s every {half}": partial(_alternating, period_s=period_s)
        for half, period_s in (("20 s", 40.0), ("100 ms", 0.2))
    }
    return _cells(mode, scenarios, (GOODPUT, DELAY, LOSS))


def _row_cells(mode: Mode) -> list[Cell]:
    pairs = [("CoDel", "PIE")] if mode == "quick" else [("CoDel", "PIE"), ("PIE", "FQ-CoDel")]
    return [
        Cell(
            f"{first}, then {second}",
            one_part(partial(_two_queues, names=(first, second)), _behind_two),
            judged=(GOODPUT, DELAY, JAIN),
            parameters={"queue": f"{first}, {second}"},
        )
        for first, second in pairs
    ]


def _pages(subject: Subject, name: str) -> Table:
    path = managed(10, name)
    parts = subject.flow("c-page", RTT_MS, source="web", count=6, think="2 s", objects=8)
    return path.scenario(subject.flow("c", RTT_MS), parts, duration_s=120)


def _page_times(run: Run) -> CellNumbers:
    """Return the times of the parts of pages, as means over the connections."""
    times_by_metric = {}
    for name, key in (("request_p50", "request_p50_s"), ("request_p95", "request_p95_s")):
        times = [flow[key] for flow in measures.flows(run, "c-page")]  # type: ignore[literal-required]
        known = [time_s for time_s in times if time_s is not None]
        times_by_metric[name] = sum(known) / len(known) if known else run.summary["duration_s"]
    return measures.general(run) | times_by_metric


def _web_cells(mode: Mode) -> list[Cell]:
    judged = (time_margin("request_p50"), time_margin("request_p95"), DELAY)
    return _cells(mode, {"six connections": _pages}, judged, _page_times)


def _scavenger(subject: Subject, name: str) -> Table:
    path = managed(10, name)
    ledbat = Subject("ledbat", {"target_ms": 5.0, "gain": 10.0})
    return path.scenario(subject.flow("c", RTT_MS), ledbat.flow("v", RTT_MS), duration_s=60)


def _ledbat_cells(mode: Mode) -> list[Cell]:
    cells = _cells(mode, {"next to LEDBAT": _scavenger}, (GOODPUT, DELAY, LOSS))
    return [replace(cell, id=slug(cell.parameters["queue"], "beside-ledbat")) for cell in cells]


RFC7928: tuple[Criterion, ...] = (
    Criterion(
        "aqm-datagrams", "5.4", "", "Unresponsive traffic",
        "A flow next to datagrams at three quarters of the rate and above the rate: its goodput, queueing "
        "delay, and the loss of the datagrams.",
        _datagram_cells, shown="goodput",
    ),
    Criterion(
        "aqm-rtt", "6", "", "Round-trip times",
        "Two flows of the control with round trips of 100 ms and of 5 to 560 ms: the smaller share, "
        "queueing delay.",
        _rtt_cells, shown="smallest_share",
    ),
    Criterion(
        "aqm-congestion", "8.2", "", "Levels of congestion",
        "Flows of the control for mild, medium and heavy congestion, 20 s each: utilisation, queueing "
        "delay, loss.",
        _crowd_cells, shown="delay_p95",
    ),
    Criterion(
        "aqm-capacity", "8.2", "", "Variable capacity",
        "100 and 10 Mbit/s in turn, for 20 s or 100 ms each: goodput, queueing delay, loss.",
        _capacity_cells, shown="goodput",
    ),
    Criterion(
        "aqm-row", "13", "", "Two queues in a row",
        "Four flows through a queue at 10 Mbit/s and then through another kind at 8 Mbit/s: goodput, the "
        "sum of the two delays, Jain's index.",
        _row_cells, shown="delay_p95",
    ),
    Criterion(
        "aqm-web", "7", "", "Web pages",
        "Pages of about 50 objects, 12 kB each on average, over six connections at once, next to a long "
        "flow, all of the control: the time of the part of a page that a connection carries.",
        _web_cells, shown="request_p95",
    ),
    Criterion(
        "aqm-ledbat", "5.5", "", "Less-than-best-effort transport",
        "A flow next to one of LEDBAT with a target of 5 ms and a gain of 10: its goodput, queueing "
        "delay, loss.",
        _ledbat_cells, shown="goodput",
    ),
)  # fmt: skip
"""The criteria in the order of the RFC."""
