"""What the study states of its simulations, measured in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ackclock.engine import Run
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Simulated, Traces
from ackclock.reproduction.claims import between, mean, near, times
from ackclock.reproduction.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import diagrams, setting
from ackclock_papers.transient.lossy import alone
from ackclock_papers.transient.setting import BUFFER_PACKETS, TCP, Lossy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCES = "five ON/OFF sources"
ONE_PER_CENT = Lossy(TCP, 0.01)


def _cases(effort: Effort) -> Mapping[Key, Case]:
    return {
        diagrams.ONE_FLOW: diagrams.FIGURE_1.cases(effort)[diagrams.ONE_FLOW],
        SOURCES: setting.case(effort, [setting.datagrams(effort)], 250),
        ONE_PER_CENT: alone(effort, TCP, setting.bernoulli(ONE_PER_CENT.loss)),
    }


def _measure(case: Key, run: Run) -> Row:
    some = run.summary["flows"]
    if case == SOURCES:
        return {"load": sum(flow["goodput_mbps"] for flow in some)}
    if case == ONE_PER_CENT:
        return {"lost": some[0]["dropped_packets"] / some[0]["sent_packets"]}
    return diagrams.FIGURE_1.measure(diagrams.ONE_FLOW, run)


def _numbers(case: Key, effort: Effort) -> Collection[Key]:
    if case == diagrams.ONE_FLOW:
        return diagrams.FIGURE_1.keys(diagrams.ONE_FLOW, effort)
    return ("load",) if case == SOURCES else ("lost",)


def _draw(numbers: Numbers, _traces: Traces) -> Figure:
    rows = [
        [str(case), str(key), str(numbers.of(case, key))]
        for case, rows in numbers.rows.items()
        for key in rows[0]
    ]
    return pictures.grid(["case", "number", "measured"], rows)


CONDITIONS = Simulated(
    name="conditions",
    caption="what section 2 states of the simulations",
    about="A TCP flow on the link, the ON/OFF sources alone, a TCP flow under Bernoulli loss.",
    cases=_cases,
    measure=_measure,
    numbers=_numbers,
    draw=_draw,
    claims=(
        between(
            "round-trip-without-queue-100-ms",
            "a round trip without a queue has 100 ms",
            mean(diagrams.ONE_FLOW, "rtt_ms"),
            100,
            107,
            why="and a packet's 3.2 ms, or two",
            unit="ms",
            paper="2 (10 + 30 + 10) ms",
        ),
        near(
            "buffer-holds-50-packets",
            "the buffer holds 50 packets",
            mean(diagrams.ONE_FLOW, "longest_queue"),
            BUFFER_PACKETS,
            within=0,
            why="the longest queue",
            unit="packets",
        ),
        between(
            "packets-dropped-at-bottleneck-only",
            "packets are dropped at the bottleneck only",
            mean(diagrams.ONE_FLOW, "access_drops"),
            0,
            0,
            why="drops at all other links",
            paper="'only at the bottleneck link'",
        ),
        times(
            "on-off-sources-offer-third-2.5-mbit-s",
            "the ON/OFF sources offer a third of 2.5 Mbit/s",
            mean(SOURCES, "load"),
            2.5 / 3,
            factor=1.5,
            why="times of shape 1.5 have no variance",
            unit="Mbit/s",
            paper="five of 500 kbit/s, 1 s of 3",
        ),
        near(
            "packet-in-hundred-lost",
            "a packet in a hundred is lost",
            mean(ONE_PER_CENT, "lost"),
            0.01,
            within=0.25,
            why="about 250 losses in a short run: four standard deviations",
            paper="1 %",
        ),
    ),
)
