"""RFC 9743, sections 5.1.4 and 5.2: sharing with flows of the same control and with other controls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from ackclock.decision.paired import Limit
from ackclock.engine import Run, build
from ackclock.engine.build import Table
from ackclock_evaluate import measures, timelines
from ackclock_evaluate.cell import (
    JAIN,
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
from ackclock_evaluate.setting import BASELINES, LONG_S, STANDARD, Bottleneck, Mode, Subject

GRID = {
    "standard path": STANDARD,
    "buffer 0.25 BDP": replace(STANDARD, buffer_bdp=0.25),
    "buffer 4 BDP": replace(STANDARD, buffer_bdp=4.0),
    "5 Mbit/s": Bottleneck(5, 40, 1),
    "100 Mbit/s, 160 ms": Bottleneck(100, 160, 1),
}
"""The general grid of the quick mode."""


def general_grid(mode: Mode) -> dict[str, Bottleneck]:
    """Return the paths of all ordinary scenarios by name: 5 in quick mode, 27 in full mode."""
    if mode == "quick":
        return GRID
    return {
        f"{rate:g} Mbit/s, {rtt:g} ms, buffer {size:g} BDP": Bottleneck(rate, rtt, size)
        for rate in (5, 50, 200)
        for rtt in (10, 40, 160)
        for size in (0.25, 1.0, 4.0)
    }


def parameters_of(path: Bottleneck) -> dict[str, float | str]:
    """Return rate (Mbit/s), RTT (ms) and buffer (bandwidth-delay products) as parameters of a cell."""
    return {"rate_mbps": path.rate_mbps, "rtt_ms": path.rtt_ms, "buffer_bdp": path.buffer_bdp}


def harm_of(numbers: Mapping[str, CellNumbers]) -> CellNumbers:
    """Return the metrics of part ``run`` with the harm that is done to the victim.

    Harm is that of Ware, Mukerjee, Seshan and Sherry (HotNets 2019): with x in ``solo``, without the
    control under test, and y in ``run``, next to it, ``harm_goodput`` is (x - y)/x and ``harm_rtt`` (y
    - x)/y. Negative harm is a gain. If there is a part ``alike``, with the victim's control in that
    place, ``stolen`` is 1 - y/z with z in ``alike``.
    """
    shared, alone = numbers["run"], numbers["solo"]
    return (
        shared
        | {
            "harm_goodput": 1 - shared["victim_goodput"] / alone["victim_goodput"],
            "harm_rtt": 1 - alone["victim_rtt_p95"] / shared["victim_rtt_p95"],
        }
        | (_stolen(shared, numbers["alike"]) if "alike" in numbers else {})
    )


def _stolen(shared: CellNumbers, alike: CellNumbers) -> CellNumbers:
    """Return the bandwidth stolen as Wang and others define it (TCP-FIT, INFOCOM 2011, equation 22)."""
    usual = alike["victim_goodput"]
    return {"stolen": 1 - shared["victim_goodput"] / usual if usual else float("nan")}


def _shared(run: Run) -> CellNumbers:
    return measures.victims(run) | timelines.starvation(run)


def harm_cell(
    name: str,
    path: Bottleneck,
    victim: str,
    duration_s: float,
    parameters: Mapping[str, float | str],
    counts: tuple[int, int] = (1, 1),
    receiver: Table | None = None,
) -> Cell:
    """Return the cell in which flows of `victim` share a path with the control under test.

    `counts` are the numbers of flows of the control under test and of the victim; `receiver` says how
    the receiver of the control under test lies. Harm to goodput and RTT of the victim and its loss are
    judged, and none of its flows may starve.
    """
    mine, theirs = counts
    rtt_ms = path.rtt_ms

    def parts(subject: Subject) -> Parts:
        victims = Subject(victim).flow("v", rtt_ms, count=theirs)
        shared = path.scenario(
            subject.flow("c", rtt_ms, count=mine, receiver=receiver), victims, duration_s=duration_s
        )
        solo = path.scenario(victims, duration_s=duration_s)
        alike = path.scenario(Subject(victim).flow("c", rtt_ms, count=mine), victims, duration_s=duration_s)
        return {
            "run": Part(shared, _shared, records=True),
            "solo": Part(solo, measures.victims),
            "alike": Part(alike, _shared, records=True),
        }

    least_s = max(30.0, 0.1 * rtt_ms)
    return Cell(
        name,
        parts,
        judged=(harm_margin("harm_goodput"), harm_margin("harm_rtt"), replace(LOSS, metric="victim_loss")),
        limits=(Limit("starved", "s", at_most=least_s),),
        parameters={**parameters, "victim": victim},
        numbers=harm_of,
        drawn=True,
        shown=(("stolen", ""), ("smallest_share", ""), ("share", "")),
    )


def _further_cells(mode: Mode, victim: str) -> list[Cell]:
    """Put the control next to one that is only shown, on the paths of the quick grid."""
    return [
        harm_cell(f"{name}, next to {victim}", path, victim, LONG_S[mode], parameters_of(path))
        for name, path in GRID.items()
        if path.rtt_ms == STANDARD.rtt_ms
    ]


def _mixed_cells(mode: Mode) -> list[Cell]:
    cells = [
        harm_cell(f"{name}, next to {victim}", path, victim, LONG_S[mode], parameters_of(path))
        for name, path in general_grid(mode).items()
        for victim in BASELINES
    ]
    crowds = [(1, 4), (4, 1), (1, 16)]
    if mode == "full":
        crowds += [(k, 10 - k) for k in (1, 3, 5, 7, 9)]
    for mine, theirs in crowds:
        for victim in BASELINES:
            cell = harm_cell(
                f"{mine} next to {theirs} {victim}",
                STANDARD,
                victim,
                LONG_S[mode],
                {"mine": mine, "others": theirs},
                (mine, theirs),
            )
            cells.append(replace(cell, id=f"{mine}-beside-{theirs}-{victim}"))
    return cells


def _self_cells(mode: Mode) -> list[Cell]:
    paths = {"standard path": STANDARD}
    if mode == "full":
        paths |= {
            "5 Mbit/s": Bottleneck(5, 40, 1),
            "200 Mbit/s": Bottleneck(200, 40, 1),
            "buffer 0.25 BDP": replace(STANDARD, buffer_bdp=0.25),
            "buffer 4 BDP": replace(STANDARD, buffer_bdp=4.0),
        }

    def alike(subject: Subject, path: Bottleneck, count: int) -> Table:
        return path.scenario(subject.flow("c", path.rtt_ms, count=count), duration_s=LONG_S[mode] + 20)

    cells = [
        Cell(
            f"{count} flows, {name}",
            one_part(partial(alike, path=path, count=count), timelines.fairness, records=True),
            judged=(replace(JAIN, metric="jain_5"), replace(JAIN, metric="jain_20"), SHARE),
            parameters={**parameters_of(path), "flows": count},
            drawn=True,
        )
        for name, path in paths.items()
        for count in ((2, 8) if mode == "quick" else (2, 8, 32))
    ]
    every_s = 20.0

    def in_turn(subject: Subject) -> Table:
        newcomers = [
            subject.flow(
                f"c-{index}",
                STANDARD.rtt_ms,
                start=build.seconds(index * every_s),
                stop=build.seconds((5 + index) * every_s),
            )
            for index in range(5)
        ]
        return STANDARD.scenario(*newcomers, duration_s=200, measured_from_s=20)

    cells.append(
        Cell(
            "5 flows come and go every 20 s",
            one_part(in_turn, partial(timelines.joining, every_s=every_s), records=True),
            judged=(time_margin("fair_time", resolution=1.0),),
            drawn=True,
        )
    )
    return cells


def _rtt_cells(mode: Mode) -> list[Cell]:
    ratios = (4,) if mode == "quick" else (2, 4, 8)
    shortest_ms = 40.0 if mode == "quick" else 20.0

    def scenario(subject: Subject, rate: float, ratio: int) -> Table:
        path = Bottleneck(rate, shortest_ms, 40.0 / shortest_ms)
        return path.scenario(
            subject.flow("c-short", shortest_ms), subject.flow("c-long", ratio * shortest_ms), duration_s=120
        )

    return [
        Cell(
            f"1:{ratio}, {rate:g} Mbit/s",
            one_part(partial(scenario, rate=rate, ratio=ratio), _unfairness),
            judged=(SHARE,),
            parameters={"ratio": ratio, "rate_mbps": rate},
            shown=(("goodput_ratio", ""), ("exponent", "")),
        )
        for rate in (50.0, 200.0)
        for ratio in ratios
    ]


def _unfairness(run: Run) -> CellNumbers:
    short, long = (max(1e-3, flow["goodput_mbps"] or 0.0) for flow in run.summary["flows"])
    near_ms, far_ms = (flow["rtt_ms"] for flow in run.summary["flows"])
    exponent = math.log(short / long) / math.log(far_ms / near_ms)
    return measures.general(run) | {"goodput_ratio": short / long, "exponent": exponent}


ITSELF = Criterion(
    "self-fairness",
    "5.1.4",
    "",
    "Fairness within the control",
    "Equal flows of the control alone: Jain's index over 5 and 20 s and the smallest share. Five flows "
    "that arrive every 20 s and leave in order: how long newcomers wait until all shares are 0.1-fair.",
    _self_cells,
    shown="jain_5",
)
ROUND_TRIPS = Criterion(
    "rtt",
    "5.1.4",
    "",
    "Round-trip times",
    "Two flows of the control with different round-trip times: the smaller share.",
    _rtt_cells,
    shown="smallest_share",
)
MIXED = Criterion(
    "mixed",
    "5.2, 5.2.1",
    "MUST",
    "Next to cubic-linux and Reno",
    "The harm that the control does to goodput and delay of a cubic-linux or Reno flow, over the "
    "general grid and in crowds, compared with the harm that these do in its place. No flow may starve "
    "(get less than a twentieth of its fair share for 30 s and 100 round trips) unless it also starves "
    "next to its own kind. Harm to the controls of --against is shown and not judged.",
    _mixed_cells,
    _further_cells,
    shown="harm_goodput",
)
