"""Conditions that the study states for its simulations, measured in them."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Effort, Key, Row
from ackclock.reproduction.claims.usual import between, mean, near, times
from ackclock.runs import Case
from ackclock_papers.transient import figures_1_and_2, setting
from ackclock_papers.transient.figures_3_to_6 import alone
from ackclock_papers.transient.setting import BUFFER_PACKETS, TCP, LossyFlow

SOURCES = "five ON/OFF sources"
ONE_PER_CENT = LossyFlow(TCP, 0.01)


def _cases(effort: Effort) -> Mapping[Key, Case]:
    return {
        figures_1_and_2.ONE_FLOW: figures_1_and_2.FIGURE_1.cases(effort)[figures_1_and_2.ONE_FLOW],
        SOURCES: setting.case(effort, [setting.datagrams(effort)], 250),
        ONE_PER_CENT: alone(effort, TCP, setting.bernoulli(ONE_PER_CENT.loss)),
    }


def _load(run: Run) -> Row:
    return {"load": sum(flow["goodput_mbps"] for flow in run.summary["flows"])}


def _lost(run: Run) -> Row:
    (flow,) = run.summary["flows"]
    return {"lost": flow["dropped_packets"] / flow["sent_packets"]}


PROBES: Mapping[Key, Probe] = {
    figures_1_and_2.ONE_FLOW: figures_1_and_2.FIGURE_1.probe_of(figures_1_and_2.ONE_FLOW),
    SOURCES: Probe(("load",), _load),
    ONE_PER_CENT: Probe(("lost",), _lost),
}


CONDITIONS = Simulated(
    name="conditions",
    caption="conditions that section 2 states for the simulations",
    about="A TCP flow on the link, the ON/OFF sources alone, and a TCP flow under Bernoulli loss.",
    cases=_cases,
    probe=lambda case, _effort: PROBES[case],
    draw=every_number,
    claims=(
        between(
            "round-trip-without-queue-100-ms",
            "a round trip without a queue takes 100 ms",
            mean(figures_1_and_2.ONE_FLOW, "rtt_ms"),
            100,
            107,
            why="plus the 3.2 ms of a packet, or of two",
            unit="ms",
            paper="2 (10 + 30 + 10) ms",
        ),
        near(
            "buffer-holds-50-packets",
            "the buffer holds 50 packets",
            mean(figures_1_and_2.ONE_FLOW, "longest_queue"),
            BUFFER_PACKETS,
            within=0,
            why="the longest queue",
            unit="packets",
        ),
        between(
            "packets-dropped-at-bottleneck-only",
            "packets are dropped at the bottleneck only",
            mean(figures_1_and_2.ONE_FLOW, "access_drops"),
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
