"""Figures 1 and 2: topology and definitions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from ackclock import metrics
from ackclock.draw.figure import Axis, Chart, Diagram, Group, Series
from ackclock.engine import Run
from ackclock.models import smoothness
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.measure import rounds
from ackclock_papers.transient.setting import TCP

ONE_FLOW = "one flow"


def _measure_1(run: Run) -> Row:
    least = float(run.windows_of(0)["rtt_ms"].drop_nulls().to_numpy().min())
    return {
        "rtt_ms": least,
        "product": setting.LINK_PACKETS_PER_S * setting.RTT_S,
        "longest_queue": run.summary["links"][0]["max_queue_packets"],
        "access_drops": sum(link["queue_drops"] for link in run.summary["links"][1:]),
    }


def _draw_1(_numbers: Numbers, _traces: Traces) -> Diagram:
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
    return Diagram(nodes, arrows)


FIGURE_1 = Simulated(
    name="figure-1",
    caption="network topology",
    about="Drawn from the scenarios as they are run; the numbers come from a run.",
    cases=lambda effort: {ONE_FLOW: setting.case(effort, [setting.flows(effort, TCP)], 100)},
    probe=Probe(("rtt_ms", "product", "longest_queue", "access_drops"), _measure_1),
    draw=_draw_1,
)


SIXTEEN_FLOWS = "16 TCP"


def _cases_2(effort: Effort) -> Mapping[str, Case]:
    flows, loss = setting.flows(effort, TCP, count=16), setting.bernoulli(0.01)
    return {SIXTEEN_FLOWS: setting.case(effort, [flows], 550, loss=loss)}


def _measure_2(run: Run) -> Row:
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
    probe=Probe(
        ("over_time", "over_flows", "difference", "jain", "jain_predicted", "jain_difference"), _measure_2
    ),
    trace=_trace_2,
    draw=_draw_2,
)
