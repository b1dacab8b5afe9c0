"""Places of the live measurements, and the simulated paths that stand for them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources

import numpy as np

from ackclock.engine import Run
from ackclock.metrics import goodput
from ackclock.reproduction.claims.artefact import Probe
from ackclock.reproduction.claims.numbers import Effort, Row
from ackclock.reproduction.trials.settings import Setting
from ackclock.runs import Case
from ackclock_papers.fit.setting import PACKET_BITS, flow, packets_per_step, scenario


@dataclass(frozen=True)
class LivePath:
    """A live path of the paper, and how it is simulated."""

    panel: str
    """Letter of its panel in figure 8."""
    network: str
    """Access network, as in table IV."""
    client: str
    """Operating system, as in table IV."""
    # Of the simulated path: those of the technology and the distance.
    rate_mbps: float
    rtt_ms: float
    noise_ms: float
    """Standard deviation of the delay."""
    paper: Mapping[str, float]
    """Mbit/s of table V, by variant in the order of their turns."""
    speed_up: float
    """FIT over the mean of the other variants in table V; 1 for the place that is not in it."""

    @property
    def variants(self) -> tuple[str, ...]:
        """Variants that were run there, in turn."""
        return tuple(self.paper)

    def loss(self, setting: Setting) -> float:
        """Return the random loss at which Reno has its rate in the paper.

        It solves sqrt(3/(2bp))/RTT for p, with b packets per step of growth, and is at most 5 %.
        """
        window = self.paper["Reno"] * 1e6 / PACKET_BITS * self.rtt_ms / 1000
        return min(0.05, 1.5 / packets_per_step(setting) / window**2)


PLACES = {
    name: LivePath(**fields)
    for name, fields in tomllib.loads(
        (resources.files(__package__) / "places.toml").read_text(encoding="utf-8")
    ).items()
}
"""Panel (i) is not in table V: its Reno has a rate that nearly fills the link."""

IN_TABLE_5 = {name: path for name, path in PLACES.items() if path.panel != "i"}


def cases(effort: Effort) -> Mapping[str, Case]:
    """Rotate the variants on each path, one after the other, as the paper's server does."""
    turn = effort.pick(300, 60)
    rotations = {}
    for name, path in PLACES.items():
        flows = [
            flow(effort.setting, variant, start=f"{turn * index:g} s", stop=f"{turn * (index + 1):g} s")
            for index, variant in enumerate(path.variants)
        ]
        description = scenario(
            effort.setting,
            flows,
            rate_mbps=path.rate_mbps,
            rtt_ms=path.rtt_ms,
            loss=path.loss(effort.setting),
            noise_ms=path.noise_ms,
            warmup_s=0,
            measured_s=turn * len(flows),
            sample_s=2.0,
        )
        rotations[name] = Case(description, effort.runs)
    return rotations


def _measure(name: str, run: Run) -> Row:
    """Measure the goodput of each variant in its turn, Mbit/s, and FIT's over the mean of the others."""
    path = PLACES[name]
    turn = run.summary["duration_s"] / len(path.variants)
    row: dict[str, float] = {}
    for index, variant in enumerate(path.variants):
        # The first tenth of a turn is slow start.
        start = turn * index
        own = run.windows_of(index)
        row[variant] = goodput(own["time_s"], own["arrived_bytes"], start + turn / 10, start + turn)
    row["speed_up"] = row["FIT"] / float(np.mean([row[variant] for variant in path.variants[1:]]))
    return row


def probe(name: str, _effort: Effort) -> Probe:
    """Measure every variant at a place of `PLACES`."""
    return Probe((*PLACES[name].variants, "speed_up"), partial(_measure, name))
