"""Figures 1 to 3: MulTCP, the loss-free period, the network."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from ackclock.draw.figure import Axis, Chart, Diagram, Group, Series
from ackclock.engine import Run, number
from ackclock.metrics import Estimate, over_runs, throughput_degradation
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.figures import curve_chart
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.traces import window_trace
from ackclock.runs import Case
from ackclock_papers.fit.setting import PACKET_BITS, PathNumbers, flow, scenario


class Sessions(NamedTuple):
    """Number of sessions that a flow stands for; 0 for Reno alone."""

    n: int

    def __str__(self) -> str:
        return f"N = {self.n}" if self.n else "Reno alone"


ALONE = Sessions(0)
SESSIONS = tuple(map(Sessions, (1, 2, 4, 6, 8, 12, 16, 24)))
MOST = SESSIONS[-1]
PATH: PathNumbers = {"rate_mbps": 10.0, "rtt_ms": 20.0, "loss": 0.01}


def _cases_1(effort: Effort) -> Mapping[Sessions, Case]:
    cases = {}
    for key in (ALONE, *SESSIONS):
        many = {"controller": "multcp", "params": {"n": key.n}, "name": "MulTCP"}
        flows = [*([many] if key.n else []), flow(effort.setting, "Reno")]
        description = scenario(effort.setting, flows, **PATH, measured_s=effort.pick(120.0, 60.0))
        cases[key] = Case(description, effort.runs)
    return cases


def _measure_1(run: Run) -> Row:
    """Measure goodputs, queueing delay and utilisation; Reno is the last flow."""
    goodputs = [sender["goodput_mbps"] for sender in run.summary["flows"]]
    link = run.summary["links"][0]
    packet_ms = PACKET_BITS / (PATH["rate_mbps"] * 1000)
    return {
        "reno_mbps": goodputs[-1],
        "sum_mbps": sum(goodputs),
        "delay_ms": number(link["mean_queue_packets"]) * packet_ms,
        "utilisation": link["utilisation"],
    }


def degradation(numbers: Numbers, shared: str) -> Estimate:
    """Return the share of its goodput that Reno loses in the case `shared`, run by run."""
    pairs = zip(numbers.each(ALONE, "reno_mbps"), numbers.each(shared, "reno_mbps"), strict=True)
    return over_runs([throughput_degradation(x, y) for x, y in pairs])


def _draw_1(numbers: Numbers, _traces: Traces) -> Group:
    x = Axis("N")
    rates = {
        name: [(key.n, key, mbps) for key in SESSIONS]
        for name, mbps in (("both", "sum_mbps"), ("Reno", "reno_mbps"))
    }
    delays = {"queueing delay": [(key.n, key, "delay_ms") for key in SESSIONS]}
    alone_mbps, *shared_mbps = (numbers.of(key, "reno_mbps").value for key in (ALONE, *SESSIONS))
    degraded = [throughput_degradation(alone_mbps, mbps) for mbps in shared_mbps]
    loss = Series("degradation of Reno", 0, [key.n for key in SESSIONS], degraded)
    y = Axis("degradation of Reno", range=(0, 1))
    charts = [
        curve_chart(numbers, rates, x, Axis("goodput", "Mbit/s", range=(0, None)), key="rates"),
        Chart("degradation", y.titled, x, y, [loss], height=2.3),
        curve_chart(numbers, delays, x, Axis("queueing delay", "ms", range=(0, None)), key="delay"),
    ]
    return Group(charts, columns=3)


def correlation(numbers: Numbers) -> Estimate:
    """Correlate queueing delay and degradation over N, run by run."""
    delays = np.array([numbers.each(key, "delay_ms") for key in SESSIONS])
    degraded = 1 - np.array([numbers.each(key, "reno_mbps") for key in SESSIONS]) / np.array(
        numbers.each(ALONE, "reno_mbps")
    )
    return over_runs(
        [float(np.corrcoef(x, y)[0, 1]) for x, y in zip(delays.T, degraded.T, strict=True)],
        least=-1.0,
        most=1.0,
    )


FIGURE_1 = Simulated(
    name="figure-1",
    caption="MulTCP with N sessions next to one Reno",
    about="10 Mbit/s, RTT 20 ms, 1 % random loss.",
    cases=_cases_1,
    probe=Probe(("reno_mbps", "sum_mbps", "delay_ms", "utilisation"), _measure_1),
    draw=_draw_1,
    headline=True,
)


THREE = Sessions(3)
PERIOD_RTT_MS = 100


def cases_of_period(effort: Effort) -> Mapping[Sessions, Case]:
    """Run FIT alone on a path that only loses, for figure 2 and table I."""
    entry = flow(effort.setting, "FIT", params={"n": THREE.n}, start="0 s")
    description = scenario(
        effort.setting,
        [entry],
        rate_mbps=1000,
        rtt_ms=PERIOD_RTT_MS,
        loss=0.001,
        measured_s=effort.pick(300, 100),
        sample_s=0.1,
        buffer=20_000,
    )
    description["tcp"] |= {"delayed_ack": 1}
    return {THREE: Case(description, effort.runs)}


def _periods(run: Run) -> pl.DataFrame:
    """List the loss-free periods: windows, decrease factor and round trips of each."""
    start = run.summary["measured_from_s"]
    losses = run.events.filter((pl.col("kind") == "loss") & (pl.col("time_s") >= start))
    return pl.DataFrame(
        {
            "W": losses["window_before"][1:],
            "kept": losses["window_after"][:-1],
            "beta": 1 - losses["window_after"][1:] / losses["window_before"][1:],
            "X": np.diff(losses["time_s"].to_numpy()) / (PERIOD_RTT_MS / 1000),
        }
    )


def _measure_period(key: Sessions, run: Run) -> Row:
    """Measure means over the periods, and the growth of the window over that of equation 8."""
    frame = _periods(run)
    # Equation 8 with the round trip of recovery, in which nothing grows.
    predicted = frame["kept"] + key.n * (frame["X"] - 1)
    return {
        "beta": float(frame["beta"].to_numpy().mean()),
        "growth": float((frame["W"] - frame["kept"]).to_numpy().sum())
        / float((predicted - frame["kept"]).to_numpy().sum()),
        "W": float(frame["W"].to_numpy().mean()),
        "X": float(frame["X"].to_numpy().mean()),
        "periods": float(frame.height),
    }


def probe_of_period(key: Sessions, _effort: Effort) -> Probe:
    """Measure means over the loss-free periods of FIT alone."""
    return Probe(("beta", "growth", "W", "X", "periods"), partial(_measure_period, key))


FIGURE_2 = Simulated(
    name="figure-2",
    caption="one loss-free period",
    about="FIT with N = 3 on a path that only loses, 0.1 %: the window from loss to loss.",
    cases=cases_of_period,
    probe=probe_of_period,
    trace=lambda _n, run: window_trace(run, 0.1, 30, 45).drop("name"),
    draw=lambda _n, traces: figures.over_time(
        traces, {str(THREE): (THREE,)}, "window", "window (packets)", height=2.6
    ),
)


SESSIONS_3 = "two sessions"
RATE_3_MBPS, RTT_3_MS = 50, 40


def _cases_3(effort: Effort) -> Mapping[str, Case]:
    setting = effort.setting
    description = scenario(
        setting,
        [flow(setting, "FIT"), flow(setting, "Reno", rtt="80 ms")],
        rate_mbps=RATE_3_MBPS,
        rtt_ms=RTT_3_MS,
        loss=0.001,
        measured_s=effort.pick(120, 60),
    )
    return {SESSIONS_3: Case(description, effort.runs)}


def _measure_3(run: Run) -> Row:
    """Measure packets in the queue and on the link, utilisation, and the share of packets lost."""
    link = run.summary["links"][0]
    product = RATE_3_MBPS * 1e6 / PACKET_BITS * RTT_3_MS / 1000
    sent = sum(sender["sent_packets"] for sender in run.summary["flows"])
    return {
        "packets": number(link["mean_queue_packets"]) + number(link["utilisation"]) * product,
        "utilisation": link["utilisation"],
        "lost": link["random_losses"] / max(1, sent),
    }


FIGURE_3 = Simulated(
    name="figure-3", caption="the network of the analysis",
    about="One bottleneck with bandwidth B, buffer U, delay D and loss P; drawn from a scenario.",
    cases=_cases_3, probe=Probe(("packets", "utilisation", "lost"), _measure_3),
    draw=lambda _n, _t: Diagram(
        {"session 1": (0, 1), "session n": (0, 0), "in": (0.35, 0.5), "out": (0.68, 0.5),
         "1": (1, 1), "n": (1, 0)},
        [("session 1", "in", ""), ("session n", "in", ""), ("in", "out", "B, U, D, P"),
         ("out", "1", ""), ("out", "n", "")],
    ),
)  # fmt: skip
