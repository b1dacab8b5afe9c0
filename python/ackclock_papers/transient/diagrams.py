"""Figures 1, 2, 37 and 38: topology, definitions, chains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.draw.figure import Axis, Chart, Group, Series
from ackclock.engine import Run
from ackclock.engine.names import slug
from ackclock.models import smoothness, timeouts
from ackclock.reproduction import pictures
from ackclock.reproduction.artefact import Computed, Simulated, Traces
from ackclock.reproduction.claims import between, mean, near
from ackclock.reproduction.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.measure import rounds
from ackclock_papers.transient.setting import TCP

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ONE_FLOW = "one flow"


def _measure_1(_case: Key, run: Run) -> Row:
    least = float(run.windows.filter(pl.col("flow") == 0)["rtt_ms"].drop_nulls().to_numpy().min())
    return {
        "rtt_ms": least,
        "product": setting.LINK_PACKETS_PER_S * setting.RTT_S,
        "longest_queue": run.summary["links"][0]["max_queue_packets"],
        "access_drops": sum(link["queue_drops"] for link in run.summary["links"][1:]),
    }


def _draw_1(_numbers: Numbers, _traces: Traces) -> Figure:
    nodes = {
        "Source 1": (0.0, 1.0),
        "Source N": (0.0, 0.0),
        "R1": (0.32, 0.5),
        "R2": (0.68, 0.5),
        "Sink 1": (1.0, 1.0),
        "Sink N": (1.0, 0.0),
    }
    arrows = [
        ("Source 1", "R1", "10 ms"),
        ("Source N", "R1", "10 ms"),
        ("R1", "R2", "2.5 Mbit/s, 30 ms, 50 packets"),
        ("R2", "Sink 1", "10 ms"),
        ("R2", "Sink N", "10 ms"),
    ]
    return pictures.graph(nodes, arrows)


FIGURE_1 = Simulated(
    name="figure-1",
    caption="network topology",
    about="Drawn from the scenarios as they are run; the numbers are of a run on it.",
    cases=lambda effort: {ONE_FLOW: setting.case(effort, [setting.flows(effort, TCP)], 100)},
    measure=_measure_1,
    numbers=("rtt_ms", "product", "longest_queue", "access_drops"),
    draw=_draw_1,
    claims=(
        near(
            "shortest-round-trip-propagation-and-one-transmission",
            "the shortest round trip is the propagation and one transmission",
            mean(ONE_FLOW, "rtt_ms"),
            103.3,
            within=0.035,
            unit="ms",
            paper="2 (10 + 30 + 10) ms",
            why="100 ms, 3.2 ms for a packet, 0.13 ms for an ACK; one packet may have waited",
        ),
        between(
            "no-packet-lost-at-access-links",
            "no packet is lost at access links",
            mean(ONE_FLOW, "access_drops"),
            0,
            0,
            why="every other queue",
            paper="never the bottleneck",
        ),
        near(
            "buffer-holds-50-packets",
            "the buffer holds 50 packets",
            mean(ONE_FLOW, "longest_queue"),
            50,
            within=0.0,
            why="the longest queue",
            unit="packets",
        ),
    ),
)


SIXTEEN_FLOWS = "16 TCP"


def _cases_2(effort: Effort) -> Mapping[str, Case]:
    some, loss = setting.flows(effort, TCP, count=16), setting.bernoulli(0.01)
    return {SIXTEEN_FLOWS: setting.case(effort, [some], 550, loss=loss)}


def _measure_2(_case: Key, run: Run) -> Row:
    counted = rounds(run)
    sent = counted.sent[counted.first :]
    over_time = float(metrics.cov(sent, axis=0).mean())
    over_flows = float(metrics.cov(sent, axis=1).mean())
    jain, predicted = metrics.jain(sent, axis=1).mean(), smoothness.jain_of_cov(over_flows)
    return {
        "over_time": over_time,
        "over_flows": over_flows,
        "difference": over_flows / over_time - 1,
        "jain": float(jain),
        "jain_predicted": float(predicted),
        "jain_difference": float(jain - predicted),
    }


COLUMNS = [f"flow {index}" for index in range(4)]


def _trace_2(_case: Key, run: Run) -> pl.DataFrame:
    sent = rounds(run).sent[800:860]
    columns = dict(zip(COLUMNS, sent.T, strict=False))
    return pl.DataFrame({"round_trip": np.arange(800, 860), **columns})


def _draw_2(_numbers: Numbers, traces: Traces) -> Group:
    (frame,) = traces.values()
    x, y = Axis("round trip"), Axis("rate", "packets per RTT", range=(0, None))
    flows = [
        Series(column, index, frame["round_trip"], frame[column]) for index, column in enumerate(COLUMNS)
    ]
    charts = [
        Chart(
            "over-time",
            "CoV_time: one flow over time",
            x,
            y,
            flows[:1],
            height=2.2,
            heading="CoV_time: one flow over time",
        ),
        Chart(
            "over-flows",
            "CoV_sf: flows in one round trip",
            x,
            y,
            flows,
            height=2.2,
            marks=(830,),
            heading="CoV_sf: flows in one round trip",
        ),
    ]
    return Group(charts, columns=2)


FIGURE_2 = Simulated(
    name="figure-2",
    caption="CoV_time and CoV_sf",
    about="The definitions, on sixteen TCP flows that do not meet, Bernoulli loss of 1 %.",
    cases=_cases_2,
    measure=_measure_2,
    numbers=("over_time", "over_flows", "difference", "jain", "jain_predicted", "jain_difference"),
    trace=_trace_2,
    draw=_draw_2,
    claims=(
        near(
            "cov-over-time-equals-cov-over-flows-equation-1",
            "CoV over time equals CoV over flows (equation 1)",
            mean(SIXTEEN_FLOWS, "difference"),
            0,
            within=0.1,
            absolute=True,
            paper="equal",
            why="the CoV of sixteen samples lies a few per cent below that of all",
        ),
        near(
            "f-1-1-cov-2-equation-3",
            "F = 1/(1 + CoV^2) (equation 3)",
            mean(SIXTEEN_FLOWS, "jain_difference"),
            0,
            within=0.03,
            absolute=True,
            why="F less that of the mean CoV; the mean of F is another",
            paper="1/(1 + CoV^2)",
        ),
    ),
)


CHAIN = "chain"


def _chain_timeouts(_effort: Effort) -> tuple[Mapping[str, Sequence[Row]], Traces]:
    p, t = 0.2, 4
    found = []
    for seed in range(5):
        sent = timeouts.simulate_sending(p, t, 100_000, np.random.default_rng(seed))
        found.append(
            {
                "simulated": float(sent.std() / sent.mean()),
                "printed": timeouts.printed_cov(p, t),
                "chain": timeouts.cov(p, t),
                "sum": float(timeouts.state_probabilities(p).sum()),
            }
        )
    return {CHAIN: found}, {}


def _draw_37(_numbers: Numbers, _traces: Traces) -> Figure:
    states = [str(2**k) for k in range(7)]
    nodes = {state: (k / 6, 0.5) for k, state in enumerate(states)}
    arrows = [(states[k], states[k + 1], "p") for k in range(6)]
    arrows += [(states[k], "1", "1 - p" if k == 6 else "") for k in range(1, 7)]
    return pictures.graph(nodes, arrows)


FIGURE_37 = Computed(
    name="figure-37",
    caption="timeout state transition diagram",
    about="States are the factors of the backed-off timer; solved and simulated at p = 0.2, t = 4.",
    compute=_chain_timeouts,
    numbers={CHAIN: ("simulated", "printed", "chain", "sum")},
    draw=_draw_37,
    claims=(
        near(
            "state-probabilities-add-up-to-1",
            "state probabilities add up to 1",
            mean(CHAIN, "sum"),
            1,
            within=1e-12,
            why="exact",
        ),
        near(
            "equation-41-printed",
            "equation 41 as printed",
            mean(CHAIN, "printed"),
            1.7,
            within=0.03,
            why="rounding of the paper's two digits",
        ),
        near(
            "chain-cov-solved-and-simulated",
            "the chain's CoV, solved and simulated",
            mean(CHAIN, "simulated"),
            timeouts.cov(0.2, 4),
            within=0.01,
            why="the simulation's interval",
            paper="not given",
        ),
    ),
)


def _chain_tfrc(_effort: Effort) -> tuple[Mapping[str, Sequence[Row]], Traces]:
    p = np.array([0.005, 0.01, 0.02, 0.05, 0.09])
    single, smoothed = smoothness.tfrc(p)
    row = {
        "low_single": float(smoothness.tfrc(0.005, most=600)[0]),
        "high_single": float(single[-1]),
        "low_smoothed": float(smoothed[0]),
        "high_smoothed": float(smoothed[-1]),
        "three_halves": float(smoothness.tfrc(0.2, 1.5)[1]),
        "five_halves": float(smoothness.tfrc(0.2, 2.5)[1]),
    }
    return {CHAIN: [row]}, {}


def _draw_38(_numbers: Numbers, _traces: Traces) -> Figure:
    nodes = {"1": (0.0, 0.5), "2": (0.33, 0.5), "i": (0.66, 0.5), "j": (1.0, 0.5)}
    arrows = [
        ("1", "2", "p q"),
        ("2", "i", "p q^(i-1)"),
        ("i", "j", "sqrt(i) p q^(j-1)"),
        ("j", "i", "sqrt(j) p q^(i-1)"),
    ]
    return pictures.graph(nodes, arrows)


CHAIN_TFRC = {
    "low_single": (
        "CoV of the rate after one interval, p = 0.5 %",
        0.66,
        0.01,
        "rounding; the sum stopped at 600 (the full one gives 0.698)",
    ),
    "high_single": ("the same, p = 9 %", 0.54, 0.01, "rounding"),
    "low_smoothed": ("smoothed, p = 0.5 %", 0.25, 0.08, "the paper's sum stops early: 0.27 recomputed"),
    "high_smoothed": ("smoothed, p = 9 %", 0.21, 0.05, "two digits: 0.20 recomputed"),
    "three_halves": ("rate ~ p^-3/2 at 20 %", 0.8, 0.15, "'about'; 0.71 recomputed"),
    "five_halves": ("rate ~ p^-5/2 at 20 %", 2.4, 0.05, "'about'; 2.33 recomputed"),
}
"""What the text says of the chain: each number's claim, value, tolerance and its reason."""

FIGURE_38 = Computed(
    name="figure-38",
    caption="TFRC low-loss state model",
    about="A state is the last loss interval, left at a rate proportional to its root; solved.",
    compute=_chain_tfrc,
    numbers={CHAIN: CHAIN_TFRC.keys()},
    draw=_draw_38,
    claims=tuple(
        near(slug(number), sentence, mean(CHAIN, number), expected, within=within, why=why)
        for number, (sentence, expected, within, why) in CHAIN_TFRC.items()
    ),
)
