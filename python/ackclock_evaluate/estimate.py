"""What an evaluation will cost, before it begins."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.runs import Job, Store
from ackclock_evaluate.cell import Part
from ackclock_evaluate.evaluate import refuse_unknown
from ackclock_evaluate.results import Asked
from ackclock_evaluate.setting import STANDARD, Mode, Subject
from ackclock_evaluate.work import Work

TRIAL_S = 30.0
"""Simulated seconds of the standard path by which the speed is measured."""
TRIALS = 2
"""The best counts: the first one warms up."""
PER_RUN_S = 0.02
"""What a run costs besides its packets."""
RECORDED = 1.1
"""How much longer a packet takes when tables are recorded (measured with samples of a second)."""
UNDECIDED: Mapping[Mode, float] = {"quick": 0.5, "full": 0.1}
"""Packets of the further runs of undecided cells, over those of all first runs: which cells are
undecided depends on the control, so the baselines have to be run further for each (measured in
packets: quick 0.53 for illinois, 0.45 for fit; full 0.1, since its first runs are more)."""
UNASKED = 50
"""How many times as much is sent to a receiver that acknowledges what it does not have: nothing
slows the sender down (measured on the standard path in 60 s: 12.3 million packets, not 0.25)."""


@dataclass(frozen=True)
class Cost:
    """What is to be done.

    Attributes
    ----------
    cells : int
        Situations.
    runs : int
        Runs that are wanted at first, each once.
    kept : int
        Of them those that are kept from before.
    packets : float
        About how many packets the others are, those of undecided cells included.
    seconds : float
        About how long everything takes.
    """

    cells: int
    runs: int
    kept: int
    packets: float
    seconds: float


def cost(asked: Asked, cache: Path, jobs: int | None = None) -> Cost:
    """Estimate the cost of an evaluation on this machine.

    Parameters
    ----------
    asked : Asked
        What it is to do.
    cache : Path
        Where numbers are kept.
    jobs : int, optional
        Runs at once; by default one per core.

    Returns
    -------
    Cost
        Counts and times; the speed is measured by a short run of each control.

    Raises
    ------
    ScenarioError, SimulationError
        When a control cannot be loaded or run.
    """
    refuse_unknown(asked)
    with Store(cache).read_only() as kept:
        work = Work(asked, kept)
        wanted: dict[str, tuple[Subject, Part, Job]] = {}
        for cell in range(len(work.cells)):
            for index, subject in enumerate(asked.subjects):
                parts = work.parts(cell, index)
                for _, name, job in work.jobs(cell, index):
                    wanted.setdefault(job.key, (subject, parts[name], job))
            missing = {key for key in wanted if kept.get(key) is None}
    speed = {subject.name: _packets_per_second(subject) for subject in asked.subjects}
    packets = seconds = all_packets = all_seconds = 0.0
    own = own_missing = 0
    for key, (subject, part, job) in wanted.items():
        count = _packets(part.scenario, job.scenario.duration_s)
        slower = RECORDED if job.record else 1.0
        takes_s = PER_RUN_S + slower * count / speed[subject.name]
        all_packets, all_seconds = all_packets + count, all_seconds + takes_s
        own += asked.candidate.name in job.scenario.controls
        if key in missing:
            packets, seconds = packets + count, seconds + takes_s
            own_missing += asked.candidate.name in job.scenario.controls
    further = UNDECIDED[asked.mode] * own_missing / max(1, own)
    cores = jobs or os.cpu_count() or 1
    return Cost(
        len(work.cells),
        len(wanted),
        len(wanted) - len(missing),
        packets + further * all_packets,
        (seconds + further * all_seconds) / cores,
    )


def _packets(scenario: Mapping[str, Any], duration_s: float) -> float:
    """Give the packets of a path that is always full; of what random losses leave of it."""
    link = scenario.get("dumbbell") or scenario["link"][0]
    rate = engine.quantity(link["rate"], "rate_bps")
    packet = engine.quantity(scenario["tcp"]["packet"], "size_bytes")
    loss = link.get("loss", {})
    if loss.get("kind") == "bernoulli":
        p = engine.quantity(loss["rate"], "fraction")
        rtt_s = 0.04
        # The square-root law: no more than 2/(R sqrt(p)) packets per second and flow.
        if p > 0:
            rate = min(rate, 2 * 8 * packet / (rtt_s * p**0.5))
    count = duration_s * rate / (8 * packet)
    unasked = any(flow.get("receiver", {}).get("advance") for flow in scenario["flow"])
    return UNASKED * count if unasked else count


def _packets_per_second(subject: Subject) -> float:
    flow = subject.flow("c", STANDARD.rtt_ms)
    scenario = engine.read(STANDARD.scenario(flow, duration_s=TRIAL_S))
    best = 0.0
    for _ in range(TRIALS):
        begin = time.monotonic()
        packets: int = engine.summary(scenario)["packets_simulated"]
        best = max(best, packets / max(1e-6, time.monotonic() - begin))
    return best
