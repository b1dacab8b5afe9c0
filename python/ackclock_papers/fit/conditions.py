"""Conditions that the paper states of its emulated paths and that runs can confirm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from ackclock.draw.figure import Table
from ackclock.engine import Run
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.fit.setting import flow, scenario


class Path(NamedTuple):
    """A path of the paper with one Reno flow, by the figure that states it."""

    figure: str
    rate_mbps: float
    rtt_ms: float
    loss: float
    """Share of packets lost at random."""
    noise_ms: float
    """Standard deviation of the delay."""

    def __str__(self) -> str:
        return self.figure


NOISY = Path("figure 6b", 10, 100, 0.05, 80)
MIDDLE = Path("figure 5", 4, 150, 0.03, 75)


def _cases(effort: Effort) -> Mapping[Path, Case]:
    cases = {}
    for path in (NOISY, MIDDLE):
        description = scenario(
            effort.setting,
            [flow(effort.setting, "Reno")],
            rate_mbps=path.rate_mbps,
            rtt_ms=path.rtt_ms,
            loss=path.loss,
            noise_ms=path.noise_ms,
            measured_s=120,
            sample_s=0.05,
        )
        cases[path] = Case(description, effort.runs)
    return cases


def _measure(run: Run) -> Row:
    """Measure the mean RTT over time, and the share of the packets sent that is lost at random."""
    samples = run.windows.filter(pl.col("time_s") > run.summary["measured_from_s"])["rtt_ms"]
    (alone,) = run.summary["flows"]
    lost = run.summary["links"][0]["random_losses"]
    return {"rtt_ms": samples.drop_nulls().to_numpy().mean(), "lost": lost / alone["sent_packets"]}


def _draw(numbers: Numbers, _traces: Traces) -> Table:
    rows = [
        [
            str(path),
            f"{path.rtt_ms:g}: {numbers.of(path, 'rtt_ms')}",
            f"{path.loss:.0%}: {numbers.of(path, 'lost').value:.1%}",
        ]
        for path in (NOISY, MIDDLE)
    ]
    return Table(["stated: measured", "RTT (ms)", "loss rate"], rows)


CONDITIONS = Simulated(
    name="conditions",
    caption="delay and loss of two emulated paths",
    about="One Reno on the path of figure 6b and on one of the middle of figure 5.",
    cases=_cases,
    probe=Probe(("rtt_ms", "lost"), _measure),
    draw=_draw,
)
