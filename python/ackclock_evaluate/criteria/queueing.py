"""RFC 9743, sections 5.1.2, 5.1.3, 6.2 and 7.1: queues, short and long, passive and active."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ackclock.decision.paired import Margin
from ackclock.engine.build import Table
from ackclock_evaluate import measures
from ackclock_evaluate.cell import DELAY, GOODPUT, LOSS, Cell, CellNumbers, Criterion, Part, Parts, one_part
from ackclock_evaluate.criteria.sharing import harm_cell
from ackclock_evaluate.setting import BASELINES, Bottleneck, Mode, Subject

DISCIPLINES: dict[str, Table] = {
    "CoDel": {"kind": "codel"},
    "PIE": {"kind": "pie"},
    "FQ-CoDel": {"kind": "fq_codel"},
    "RED": {"kind": "ared"},
}


def alone(
    path: Bottleneck, count: int, duration_s: float, from_s: float | None = None
) -> Callable[[Subject], Table]:
    """Return a function that puts `count` flows of a control alone on a path."""

    def scenario(subject: Subject) -> Table:
        return path.scenario(
            subject.flow("c", path.rtt_ms, count=count), duration_s=duration_s, measured_from_s=from_s
        )

    return scenario


def plural(count: int) -> str:
    """Return a number of flows as text, such as ``"1 flow"``."""
    return f"{count} flow" if count == 1 else f"{count} flows"


def _bufferbloat_cells(mode: Mode) -> list[Cell]:
    sizes = (1.0, 16.0) if mode == "quick" else (1.0, 4.0, 16.0)
    return [
        Cell(
            f"{plural(count)}, buffer {size:g} BDP",
            one_part(alone(Bottleneck(20, 40, size), count, 60), measures.general),
            judged=(DELAY,),
            parameters={"flows": count, "buffer_bdp": size},
            shown=(("delay_p50", "ms"), ("delay_p99", "ms"), ("queue_mean", "packets")),
        )
        for count in (1, 8)
        for size in sizes
    ]


def _loss_cells(mode: Mode) -> list[Cell]:
    quick = mode == "quick"
    sizes = (0.25, 1.0, 1.5) if quick else (0.1, 0.25, 0.5, 1.0, 1.5, 2.0)
    return [
        Cell(
            f"{plural(count)}, buffer {size:g} BDP",
            one_part(alone(Bottleneck(buffer_bdp=size), count, 40), measures.general),
            judged=(LOSS,),
            parameters={"flows": count, "buffer_bdp": size},
        )
        for count in ((1, 6) if quick else (1, 6, 24))
        for size in sizes
    ]


def _with_queue(name: str, ecn: bool = False) -> Bottleneck:
    more = {"ecn": True} if ecn else {}
    return Bottleneck(queue_packets=1000, discipline={**DISCIPLINES[name], **more})


def _managed_cells(mode: Mode) -> list[Cell]:
    names = [name for name in DISCIPLINES if mode == "full" or name != "RED"]
    cells = [
        Cell(
            f"{name}, {plural(count)}",
            one_part(alone(_with_queue(name), count, 40), measures.general),
            judged=(GOODPUT, DELAY, LOSS),
            parameters={"queue": name, "flows": count},
        )
        for name in names
        for count in ((1,) if mode == "quick" else (1, 8))
    ]
    cells += [
        harm_cell(f"{name}, next to {victim}", _with_queue(name), victim, 40, {"queue": name})
        for name in names
        for victim in BASELINES
    ]
    cells.append(_response_cell())
    if mode == "full":
        cells += [
            Cell(
                f"{name} with ECN, 1 flow",
                one_part(_marked(name), measures.general),
                judged=(GOODPUT, DELAY),
                parameters={"queue": f"{name} with ECN", "flows": 1},
            )
            for name in names
        ]
    return cells


THIN = Bottleneck(20, 40, queue_packets=1000)
MARKS = Margin("marks_per_loss", "", higher_is_better=False, ratio=1.21)
"""A rate follows the root of the share lost, so 1.1 times the rate is 1.21 times the share."""


def _response_cell() -> Cell:
    """Return the cell that compares the response to marks with that to losses.

    PIE marks or drops with a probability that it raises until the senders are as fast as the link:
    with eight flows, whose windows are about a dozen packets, about one packet in a hundred. A control
    that answers a mark like a loss (RFC 3168) needs as many marks as losses for that.
    """
    flows = 8

    def parts(subject: Subject) -> Parts:
        parts_by_queue = {}
        for name, ecn in (("run", True), ("lossy", False)):
            path = replace(THIN, discipline={"kind": "pie", "ecn": ecn})
            flow = subject.flow("c", path.rtt_ms, count=flows)
            scenario = path.scenario(flow, duration_s=60, tcp={"ecn": ecn})
            parts_by_queue[name] = Part(scenario, measures.marked)
        return parts_by_queue

    return Cell(
        "PIE, 8 flows, marks compared with losses",
        parts,
        judged=(MARKS,),
        numbers=_marks_per_loss,
        parameters={"queue": "PIE with ECN", "flows": flows},
        shown=(("marked", ""), ("lost", "")),
        id="pie-8-flows-marks-beside-losses",
    )


def _marks_per_loss(numbers: Mapping[str, CellNumbers]) -> CellNumbers:
    marked, lost = numbers["run"], numbers["lossy"]["loss"]
    # Drops in spite of ECN are signals, too.
    signals = marked["marked"] + marked["loss"]
    ratio = signals / lost if lost else float("nan")
    return marked | {"lost": lost, "marks_per_loss": ratio}


def _marked(name: str) -> Callable[[Subject], Table]:
    path = _with_queue(name, ecn=True)
    return lambda subject: path.scenario(subject.flow("c", path.rtt_ms), duration_s=40, tcp={"ecn": True})


def _tunnel_cells(_: Mode) -> list[Cell]:
    cells = []
    for queues, name in ((1024, "flows apart"), (1, "flows hidden in a tunnel")):
        discipline = {"kind": "fq_codel", "queues": queues}
        path = Bottleneck(queue_packets=1000, discipline=discipline)
        cells += [
            harm_cell(f"{name}, next to {victim}", path, victim, 40, {"queues": queues})
            for victim in BASELINES
        ]
    return cells


BLOAT = Criterion(
    "bufferbloat",
    "5.1.2",
    "",
    "Bufferbloat",
    "The delay that the control's own flows cause at a bottleneck of 20 Mbit/s and 40 ms, with buffers "
    "from one to sixteen bandwidth-delay products.",
    _bufferbloat_cells,
    axis="buffer_bdp",
    shown="delay_p95",
)
LOSSES = Criterion(
    "loss",
    "5.1.3",
    "",
    "Packet loss",
    "The share of their packets that the control's own flows lose on 50 Mbit/s and 40 ms, with buffers "
    "from a quarter of the bandwidth-delay product up. The RFC's example is BBR version 1 with less "
    "than about 1.5.",
    _loss_cells,
    axis="buffer_bdp",
    shown="loss",
)
TUNNEL = Criterion(
    "tunnel",
    "6.2",
    "",
    "Tunnels",
    "Harm to another flow behind FQ-CoDel, which sees two flows, or a tunnel that hides them.",
    _tunnel_cells,
    shown="harm_goodput",
)
MANAGED = Criterion(
    "aqm",
    "7.1",
    "SHOULD",
    "Active queue management",
    "The standard path with CoDel, PIE and FQ-CoDel at their defaults: goodput, delay and loss alone, "
    "harm to a CUBIC or Reno flow next to it, and how many marks have the effect of one loss.",
    _managed_cells,
    shown="delay_p95",
)
