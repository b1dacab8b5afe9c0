"""Two flows of a control that should share evenly, one of them disturbed."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ackclock import engine
from ackclock.decision.paired import Limit
from ackclock.engine import Run, build
from ackclock.engine.build import Table
from ackclock_evaluate import measures, timelines
from ackclock_evaluate.cell import GOODPUT, SHARE, Cell, CellNumbers, Part, Parts, one_part
from ackclock_evaluate.setting import STANDARD, Bottleneck, Mode, Subject, change

LENGTH_S = 120.0
ACCESS_MS = 5.0
"""Delay of each access link, one way."""
SHORTER_UNTIL_S = 2.0
"""The time for which the path of the second flow is shorter."""
STARVED_S = 30.0
"""Less than 5 % of the fair share for this time, which is more than 100 RTTs, is starvation."""


def apart(
    path: Bottleneck,
    flows: Mapping[str, Table],
    *,
    duration_s: float,
    sample_s: float = 1.0,
    access: Mapping[str, Mapping[str, Any]] | None = None,
    events: tuple[Table, ...] = (),
    tcp: Mapping[str, Any] | None = None,
) -> Table:
    """Return flows on a path, each with an access link of its own before the bottleneck.

    `flows` are as returned by `Subject.flow`, by the name of the node that sends; `access` has keys of
    the access links that differ, by node. The bottleneck is the first link; the access links are
    called ``access-NODE``.
    """
    table = path.scenario(*flows.values(), duration_s=duration_s, sample_s=sample_s, events=events, tcp=tcp)
    del table["dumbbell"]
    fast = {
        # At ten times the bottleneck's rate no burst forms a queue here.
        "rate": build.mbps(10 * path.rate_mbps),
        "delay": build.milliseconds(ACCESS_MS),
        "queue": {"kind": "droptail", "limit": "100000 packets"},
    }
    queue = {"kind": "droptail", "limit": build.packets(path.buffer_packets), **path.discipline}
    table["node"] = [{"name": name} for name in (*flows, "near", "far")]
    table["link"] = [
        {
            "name": "bottleneck",
            "from": "near",
            "to": "far",
            "rate": build.mbps(path.rate_mbps),
            "delay": build.milliseconds(ACCESS_MS),
            "queue": queue,
            **path.link,
        },
        *(
            {"name": f"access-{name}", "from": name, "to": "near", **fast}
            | dict((access or {}).get(name, {}))
            for name in flows
        ),
    ]
    table["flow"] = [{**flow, "from": name, "to": "far"} for name, flow in flows.items()]
    return table


def wrong_base(
    subject: Subject,
    path: Bottleneck,
    error_ms: float,
    duration_s: float,
    tcp: Mapping[str, Any] | None = None,
) -> Table:
    """Return two flows on a path, the second of which had a path shorter by `error_ms` at first.

    After two seconds its round trip is that of the first flow, so its minimum RTT is wrong by
    `error_ms`. Both start within half a round trip, so that each sees the path before there is a
    queue.
    """
    start = {"uniform": ["0 s", build.milliseconds(path.rtt_ms / 2)]}
    flows = {
        "a": subject.flow("c-0", path.rtt_ms, start=start),
        "b": subject.flow("c-1", path.rtt_ms - error_ms, start=start),
    }
    # The event holds for both directions.
    longer = change(SHORTER_UNTIL_S, "link.access-b.delay", build.milliseconds(ACCESS_MS + error_ms / 2))
    return apart(path, flows, duration_s=duration_s, events=(longer,), tcp=tcp)


def _one_disturbed(subject: Subject, access: Mapping[str, Any], extra_ms: float, duration_s: float) -> Table:
    rtt_ms = STANDARD.rtt_ms
    flows = {"a": subject.flow("c-0", rtt_ms), "b": subject.flow("c-1", rtt_ms + extra_ms)}
    return apart(STANDARD, flows, duration_s=duration_s, access={"b": access})


def shares(run: Run) -> CellNumbers:
    """Return `measures.general`, ``starved`` and ``ratio``, the first goodput over the second."""
    first, second = (flow["goodput_mbps"] or 0.0 for flow in measures.flows(run, "c"))
    ratio = first / second if second else float("inf")
    return measures.general(run) | timelines.starvation(run, prefix="c") | {"ratio": ratio}


def share_cell(
    name: str, scenario: Callable[[Subject], Table], parameters: Mapping[str, float | str]
) -> Cell:
    """Return a cell in which two flows share a path, judged by smaller share, goodput and starvation."""
    return Cell(
        name,
        one_part(scenario, shares, records=True),
        judged=(SHARE, GOODPUT),
        limits=(Limit("starved", "s", at_most=STARVED_S),),
        parameters=parameters,
        drawn=True,
    )


JITTERS_MS = (10.0, 40.0)
OWN_RANGES = (1, 2, 4)
"""Jitter in ranges of a control's own delay: in theory it starves above two."""
LEAST_JITTER_MS = 0.1
"""The jitter for controls whose own delay does not vary."""


def range_cells(mode: Mode) -> list[Cell]:
    """Return the cells in which the delay of one of two flows varies.

    A control that keeps its delay within a range d starves a flow whose delay varies by more than 2 d
    (Arun, Alizadeh and Balakrishnan, SIGCOMM 2022); d is that of one flow alone. In some cells every
    control has the same jitter, in others d, 2 d and 4 d of its own.
    """
    cells = []
    for rate in (2.0, 20.0) if mode == "quick" else (2.0, 20.0, 200.0):
        path = Bottleneck(rate, 40, 2)
        for jitter_ms in JITTERS_MS:
            name = f"up to {jitter_ms:g} ms longer"
            cells.append(_jitter_cell(path, name, {"jitter_ms": jitter_ms}))
        for count in OWN_RANGES:
            name = f"up to {count} of its own ranges longer"
            cells.append(_jitter_cell(path, name, {"own_ranges": float(count)}))
    return cells


def _jitter_cell(path: Bottleneck, name: str, jitter: Mapping[str, float]) -> Cell:
    """Return a cell in which the delay of one flow varies: by ms, or by the control's own ranges."""

    def parts(subject: Subject) -> Parts:
        alone = path.scenario(subject.flow("c", 40), duration_s=60, sample_s=0.05)
        jitter_ms = jitter.get("jitter_ms", 0.0)
        if "own_ranges" in jitter:
            own_ms = jitter["own_ranges"] * _own_range_ms(json.dumps(alone))
            jitter_ms = max(LEAST_JITTER_MS, round(own_ms, 1))
        noise = {"kind": "uniform", "range": build.milliseconds(jitter_ms)}
        flows = {"a": subject.flow("c-0", 40), "b": subject.flow("c-1", 40)}
        shared = apart(path, flows, duration_s=60, access={"b": {"delay_noise": noise}})
        return {
            "run": Part(shared, partial(_jittered, jitter_ms=jitter_ms), records=True),
            "alone": Part(alone, timelines.delay_range, records=True),
        }

    return Cell(
        f"{path.rate_mbps:g} Mbit/s, delay of one flow {name}",
        parts,
        judged=(SHARE, GOODPUT),
        limits=(Limit("starved", "s", at_most=STARVED_S),),
        parameters={"rate_mbps": path.rate_mbps, **jitter},
        numbers=_in_ranges,
        shown=(("delay_range", "ms"), ("jitter", "ms"), ("jitter_over_range", "")),
    )


@functools.cache
def _own_range_ms(alone: str) -> float:
    """Return d of a scenario of one flow, written as JSON; 0 when the flow measures no RTT."""
    range_of_run = timelines.delay_range(engine.simulate(engine.parse(alone, "d", is_json=True)))
    return range_of_run["delay_range"] if range_of_run["delay_range"] > 0 else 0.0


def _jittered(run: Run, *, jitter_ms: float) -> CellNumbers:
    return shares(run) | {"jitter": jitter_ms}


def _in_ranges(numbers: Mapping[str, CellNumbers]) -> CellNumbers:
    own_ms, jitter_ms = numbers["alone"]["delay_range"], numbers["run"]["jitter"]
    return numbers["run"] | {
        "delay_range": own_ms,
        "jitter_over_range": jitter_ms / own_ms if own_ms else float("inf"),
    }


def starvation_cells(mode: Mode) -> list[Cell]:
    """Return the cells in which one of two flows is disturbed.

    It has a wrong base RTT or ACKs in bunches, in full mode also a longer path, jitter or loss.
    """
    quick = mode == "quick"
    cells = [
        share_cell(
            f"base RTT wrong by {error:g} ms",
            partial(wrong_base, path=STANDARD, error_ms=error, duration_s=LENGTH_S),
            {"error_ms": error},
        )
        for error in ((4.0, 20.0) if quick else (1.0, 4.0, 10.0, 20.0))
    ]
    disturbed: dict[str, tuple[Table, float]] = {
        f"ACKs of one flow every {every} ms": ({"reverse": {"aggregation": {"every": f"{every} ms"}}}, 0.0)
        for every in ((60,) if quick else (10, 60))
    }
    if not quick:
        disturbed |= {
            "path of one flow 20 ms longer": ({}, 20.0),
            "delay of one flow up to 10 ms longer": (
                {"delay_noise": {"kind": "uniform", "range": "10 ms"}},
                0.0,
            ),
            "loss of 2 % on one flow": ({"loss": {"kind": "bernoulli", "rate": "2 %"}}, 0.0),
        }
    return cells + [
        share_cell(
            name,
            partial(_one_disturbed, access=access, extra_ms=extra_ms, duration_s=LENGTH_S),
            {"unlike": name},
        )
        for name, (access, extra_ms) in disturbed.items()
    ]
