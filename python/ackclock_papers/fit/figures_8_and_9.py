"""Figures 8 and 9: the live measurements over time, over simulated paths."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from ackclock.draw.figure import Group
from ackclock.engine import Run
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers
from ackclock.runs import Case
from ackclock_papers.fit.places import PLACES, cases, probe
from ackclock_papers.fit.setting import flow, goodputs, over_time, scenario


def _trace(_name: str, run: Run) -> pl.DataFrame:
    return over_time(run, 20.0).filter(pl.col("mbps") > 0)


def _draw_8(_numbers: Numbers, traces: Traces) -> Group:
    panels = {f"({PLACES[name].panel}) {name}": (name,) for name in traces}
    return figures.over_time(traces, panels, "mbps", "rate (Mbit/s)", height=1.7, columns=3, shared=False)


FIGURE_8 = Simulated(
    name="figure-8",
    caption="throughput over time at nine places (simulated)",
    about=(
        "Simulated paths with the rate and distance of each place; the variants take turns of five "
        "minutes, as the paper's server does. Random loss from the paper's Reno."
    ),
    cases=cases,
    probe=probe,
    trace=_trace,
    draw=_draw_8,
)


E_SESSIONS = 16
"""Most connections that E-MulTCP opens."""


def _cases_9(effort: Effort) -> Mapping[str, Case]:
    path = PLACES["CDMA city"]
    length = effort.pick(600, 200)
    flows_by_control = {
        "FIT": [flow(effort.setting, "FIT")],
        "E-MulTCP": [{"source": "emultcp", "count": E_SESSIONS, "name": "E"}],
    }
    return {
        name: Case(
            scenario(
                effort.setting,
                flows,
                rate_mbps=path.rate_mbps,
                rtt_ms=path.rtt_ms,
                loss=path.loss(effort.setting),
                noise_ms=path.noise_ms,
                measured_s=length,
                warmup_s=60,
                sample_s=2.0,
            ),
            effort.runs,
        )
        for name, flows in flows_by_control.items()
    }


def _probe_9(name: str, _effort: Effort) -> Probe:
    """Measure the goodput of all flows, Mbit/s."""
    flows = 1 if name == "FIT" else E_SESSIONS
    return Probe(("mbps",), lambda run: {"mbps": sum(goodputs(run, flows))})


def _trace_9(_name: str, run: Run) -> pl.DataFrame:
    whole = over_time(run, 20.0).group_by("time_s", maintain_order=True).agg(pl.col("mbps").sum())
    return whole.sort("time_s")


FIGURE_9 = Simulated(
    name="figure-9",
    caption="FIT against E-MulTCP on 3G (simulated)",
    about="The simulated CDMA path of table IV; each alone.",
    cases=_cases_9,
    probe=_probe_9,
    trace=_trace_9,
    draw=lambda _n, traces: figures.over_time(
        traces, {"both": tuple(traces)}, "mbps", "throughput (Mbit/s)", height=3.0
    ),
)
