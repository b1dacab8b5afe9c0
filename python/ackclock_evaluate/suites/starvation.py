"""Two flows of a control that should share alike, of which one has something wrong."""

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
"""How long the second flow's path is shorter, seconds."""
STARVED_S = 30.0
"""As long below 5 % of what is fair, in seconds, is starvation (and more than 100 RTTs)."""


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
    """Put flows on a path, each with an access link of its own before the bottleneck.

    Parameters
    ----------
    path : Bottleneck
        The bottleneck, the first link of the scenario.
    flows : mapping
        As `Subject.flow` gives them, by the name of the node that sends.
    duration_s : float
        Length of a run, seconds.
    sample_s : float
        Spacing of the tables over time, seconds.
    access : mapping, optional
        Keys of the access links that differ, by node; they are called ``access-NODE``.
    events : tuple of dict
        Changes of the path.
    tcp : mapping, optional
        Settings of all senders that differ.

    Returns
    -------
    dict
        A scenario, measured from a quarter on.
    """
    made = path.scenario(*flows.values(), duration_s=duration_s, sample_s=sample_s, events=events, tcp=tcp)
    del made["dumbbell"]
    fast = {
        # Ten times the bottleneck's rate: no queue of its own, whatever comes at once.
        "rate": build.mbps(10 * path.rate_mbps),
        "delay": build.milliseconds(ACCESS_MS),
        "queue": {"kind": "droptail", "limit": "100000 packets"},
    }
    queue = {"kind": "droptail", "limit": build.packets(path.buffer_packets), **path.discipline}
    made["node"] = [{"name": name} for name in (*flows, "near", "far")]
    made["link"] = [
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
    made["flow"] = [{**flow, "from": name, "to": "far"} for name, flow in flows.items()]
    return made


def wrong_base(
    subject: Subject,
    path: Bottleneck,
    error_ms: float,
    duration_s: float,
    tcp: Mapping[str, Any] | None = None,
) -> Table:
    """Put two flows on a path, of which the second once had a shorter one.

    Parameters
    ----------
    subject : Subject
        Their control.
    path : Bottleneck
        The path.
    error_ms : float
        By how much the second flow's path is shorter in the first two seconds; afterwards its
        round trip is that of the first, so its least RTT is wrong by as much.
    duration_s : float
        Length of a run, seconds.
    tcp : mapping, optional
        Settings of both senders that differ.

    Returns
    -------
    dict
        A scenario. Both start within half a round trip, so that each sees the path before there is
        a queue.
    """
    start = {"uniform": ["0 s", build.milliseconds(path.rtt_ms / 2)]}
    flows = {
        "a": subject.flow("c-0", path.rtt_ms, start=start),
        "b": subject.flow("c-1", path.rtt_ms - error_ms, start=start),
    }
    # The event holds for both directions.
    longer = change(SHORTER_UNTIL_S, "link.access-b.delay", build.milliseconds(ACCESS_MS + error_ms / 2))
    return apart(path, flows, duration_s=duration_s, events=(longer,), tcp=tcp)


def _one_unlike(subject: Subject, access: Mapping[str, Any], extra_ms: float, duration_s: float) -> Table:
    rtt_ms = STANDARD.rtt_ms
    flows = {"a": subject.flow("c-0", rtt_ms), "b": subject.flow("c-1", rtt_ms + extra_ms)}
    return apart(STANDARD, flows, duration_s=duration_s, access={"b": access})


def shares(run: Run) -> CellNumbers:
    """Measure how two flows share.

    Parameters
    ----------
    run : Run
        A recorded run with two flows of the judged control.

    Returns
    -------
    dict
        As `measures.general`; ``ratio`` of the first flow's goodput to the second's; ``starved``
        as `timelines.starvation`.
    """
    first, second = (flow["goodput_mbps"] or 0.0 for flow in measures.flows(run, "c"))
    ratio = first / second if second else float("inf")
    return measures.general(run) | timelines.starvation(run, prefix="c") | {"ratio": ratio}


def share_cell(
    name: str, scenario: Callable[[Subject], Table], parameters: Mapping[str, float | str]
) -> Cell:
    """Give a cell in which two flows of the judged control share a path.

    Parameters
    ----------
    name : str
        Of the cell.
    scenario : callable
        Makes it for a control.
    parameters : mapping
        Of the cell.

    Returns
    -------
    Cell
        Judged by the smaller share and by goodput; and neither may starve.
    """
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
"""Jitter in ranges of a control's own delay: theory has it starve above two."""
LEAST_JITTER_MS = 0.1
"""For controls whose own delay does not vary."""


def range_cells(mode: Mode) -> list[Cell]:
    """Give the cells that set jitter of one flow beside the range of the control's own delay.

    Parameters
    ----------
    mode : str
        ``quick`` or ``full``.

    Returns
    -------
    list of Cell
        A control that keeps its delay within a range d starves a flow whose delay varies by more
        than 2 d (Arun, Alizadeh and Balakrishnan, SIGCOMM 2022); d is that of one flow alone. Some
        cells give every control the same jitter, and some give each d, 2 d and 4 d of its own.
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
    """Give a cell in which the delay of one flow varies: by ms, or by the control's own ranges."""

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
    """Give d of a scenario of one flow, written as JSON; 0 when the flow measures no RTT."""
    found = timelines.delay_range(engine.simulate(engine.parse(alone, "d", is_json=True)))
    return found["delay_range"] if found["delay_range"] > 0 else 0.0


def _jittered(run: Run, *, jitter_ms: float) -> CellNumbers:
    return shares(run) | {"jitter": jitter_ms}


def _in_ranges(found: Mapping[str, CellNumbers]) -> CellNumbers:
    own_ms, jitter_ms = found["alone"]["delay_range"], found["run"]["jitter"]
    return found["run"] | {
        "delay_range": own_ms,
        "jitter_over_range": jitter_ms / own_ms if own_ms else float("inf"),
    }


def starvation_cells(mode: Mode) -> list[Cell]:
    """Give the cells in which one of two flows has something wrong.

    Parameters
    ----------
    mode : str
        ``quick`` or ``full``.

    Returns
    -------
    list of Cell
        A wrong base RTT, ACKs in bunches; in full a longer path, jitter, and loss, too.
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
    unlike: dict[str, tuple[Table, float]] = {
        f"ACKs of one flow every {every} ms": ({"reverse": {"aggregation": {"every": f"{every} ms"}}}, 0.0)
        for every in ((60,) if quick else (10, 60))
    }
    if not quick:
        unlike |= {
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
            partial(_one_unlike, access=access, extra_ms=extra_ms, duration_s=LENGTH_S),
            {"unlike": name},
        )
        for name, (access, extra_ms) in unlike.items()
    ]
