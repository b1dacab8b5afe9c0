"""RFC 9743, section 5.1.1: the response to a congestion collapse, and the risk of causing one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

from ackclock.decision.paired import Limit, Margin
from ackclock.engine import build
from ackclock.engine.build import Table
from ackclock_evaluate import measures, timelines
from ackclock_evaluate.cell import (
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
from ackclock_evaluate.setting import CUBIC, STANDARD, Bottleneck, Mode, Subject, change

NO_LOSS = {"kind": "bernoulli", "rate": "0 %"}
CHANCE_PACKETS_PER_RTT = 0.1
"""Less than a packet in ten round trips is random, and collapses nothing."""
SAMPLE_S = 0.1
"""Sampling interval of the runs in which a recovery is timed."""


def _lossy(subject: Subject, percent: int) -> Table:
    path = STANDARD.with_link(loss=NO_LOSS)
    return path.scenario(
        subject.flow("c", path.rtt_ms),
        duration_s=80,
        measured_from_s=40,
        events=(change(20, "dumbbell.loss.rate", f"{percent} %"),),
    )


def _loss_cells(mode: Mode) -> list[Cell]:
    shares = (10, 50, 90) if mode == "quick" else (10, 30, 50, 90)

    def parts(subject: Subject) -> Parts:
        return {str(share): Part(_lossy(subject, share), measures.sent_per_round_trip) for share in shares}

    def numbers(by_part: Mapping[str, CellNumbers]) -> CellNumbers:
        sent = [by_part[str(share)]["sent"] for share in shares]
        falls = all(more_loss <= max(less, CHANCE_PACKETS_PER_RTT) for less, more_loss in pairwise(sent))
        named = {f"sent_{share}": packets for share, packets in zip(shares, sent, strict=True)}
        return named | {"falls": float(falls)}

    judged = tuple(
        Margin(
            f"sent_{share}",
            "packets per RTT",
            higher_is_better=False,
            ratio=1.1,
            difference=CHANCE_PACKETS_PER_RTT,
            least=1e-4,
        )
        for share in (50, 90)
    )
    falls = Limit("falls", at_least=1)
    return [Cell("random loss from 20 s on", parts, judged, (falls,), numbers=numbers)]


def _silent(subject: Subject, reverse_only: bool) -> Table:
    path = STANDARD.with_link(loss=NO_LOSS, reverse={"loss": NO_LOSS})
    keys = ["dumbbell.reverse.loss.rate"] if reverse_only else []
    keys = keys or ["dumbbell.loss.rate", "dumbbell.reverse.loss.rate"]
    events = [change(at, key, to) for at, to in ((20, "100 %"), (50, "0 %")) for key in keys]
    return path.scenario(
        subject.flow("c", path.rtt_ms),
        duration_s=90,
        measured_from_s=10,
        sample_s=SAMPLE_S,
        events=tuple(events),
    )


def _silence_cells(_: Mode) -> list[Cell]:
    measure = partial(timelines.silence, from_s=20.0, to_s=50.0)
    return [
        Cell(
            name,
            one_part(partial(_silent, reverse_only=reverse_only), measure, records=True),
            judged=(time_margin("recovery", resolution=SAMPLE_S),),
            limits=(Limit("sent_in_silence", "packets", at_most=10),),
            drawn=True,
        )
        for name, reverse_only in (("both directions", False), ("ACKs only", True))
    ]


def _overload_cells(mode: Mode) -> list[Cell]:
    path = Bottleneck(rate_mbps=1, rtt_ms=100)
    counts = [10, 60]
    if mode == "full":
        # RFC 7928, section 8.1: mild and heavy congestion by the loss 0.76 N^2/S^2.
        room = path.bdp_packets + path.buffer_packets
        counts = sorted({max(1, round(share * room)) for share in (0.036, 0.114)} | set(counts))

    def scenario(subject: Subject, count: int) -> Table:
        return path.scenario(subject.flow("c", path.rtt_ms, count=count), duration_s=60)

    return [
        Cell(
            f"{count} flows",
            one_part(partial(scenario, count=count), measures.overload),
            judged=(
                LOSS,
                Margin("useful", "", higher_is_better=True, difference=0.05),
                harm_margin("starving"),
            ),
            parameters={"flows": count},
            shown=(("timeouts", ""),),
        )
        for count in counts
    ]


def _undelivered(subject: Subject) -> Table:
    path = Bottleneck(rate_mbps=10, rtt_ms=40)
    queue = {"kind": "droptail", "limit": build.packets(path.buffer_packets)}
    nodes = [{"name": name} for name in ("a", "b", "c")]
    links = [
        {"from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "5 ms", "queue": queue},
        {"from": "b", "to": "c", "rate": "128 kbit/s", "delay": "5 ms", "queue": queue},
    ]
    return build.scenario(
        {"node": nodes, "link": links},
        subject.flow("c", 40, **{"from": "a", "to": "c"}),
        Subject(CUBIC).flow("v", 40, **{"from": "a", "to": "b"}),
        duration="60 s",
        warmup="15 s",
        sample="1 s",
        tcp=path.sender(),
    )


def _undelivered_cells(_: Mode) -> list[Cell]:
    kept = Margin("victim_goodput", "Mbit/s", higher_is_better=True, ratio=1 / 0.95, least=1e-3)
    parts = one_part(_undelivered, measures.victims)
    return [Cell("10 Mbit/s, then 128 kbit/s", parts, judged=(kept,))]


CRITERIA = (
    Criterion(
        "collapse-loss",
        "5.1.1",
        "",
        "Heavy loss",
        "One flow on the standard path, with random loss from 20 s on. A collapsing network loses "
        "half or nine tenths of all packets: the rate of a control must fall as loss rises, to at "
        "most 1.1 times the rate of the more permissive baseline. Packets per round trip, over the "
        "last 40 s.",
        _loss_cells,
    ),
    Criterion(
        "collapse-silence",
        "5.1.1, 5.2",
        "MUST",
        "Silence",
        "One flow on the standard path, which receives nothing from 20 s to 50 s, because both "
        "directions are dead or only that of the ACKs. Timeouts that double from 200 ms expire seven "
        "times in that span; at most ten packets may be sent. The time to half of the former rate is "
        "compared with the baselines.",
        _silence_cells,
        shown="recovery",
    ),
    Criterion(
        "collapse-overload",
        "5.1.1",
        "",
        "Many flows on a thin link",
        "Flows that share 1 Mbit/s (100 ms, a buffer of one bandwidth-delay product), down to less "
        "than a packet per round trip each: loss, the share of sent packets that are delivered, and "
        "the share of flows that get less than a twentieth of their fair share.",
        _overload_cells,
        shown="loss",
    ),
    Criterion(
        "collapse-undelivered",
        "5.1.1",
        "",
        "Undelivered packets",
        "The flow shares a link of 10 Mbit/s with CUBIC and continues over one of 128 kbit/s, which "
        "drops most of its packets (Floyd and Fall, 1999). CUBIC must keep 0.95 of its goodput next to "
        "another CUBIC flow in that place.",
        _undelivered_cells,
    ),
)
