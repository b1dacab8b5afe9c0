"""The cost of an evaluation, estimated before it begins."""

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
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import STANDARD, Mode, Subject
from ackclock_evaluate.work import Work

TRIAL_S = 30.0
"""Simulated seconds of the standard path that measure the speed."""
TRIALS = 2
"""Number of trials; the best one counts, because the first warms up."""
PER_RUN_S = 0.02
"""Time of a run without its packets."""
RECORDED = 1.1
"""Time of a packet when tables are recorded, relative to a run without (samples of a second)."""
UNDECIDED: Mapping[Mode, float] = {"quick": 0.15, "full": 0.1}
"""Packets of the further runs of undecided cells, relative to the estimate for all first runs.

Which cells are undecided depends on the control (measured: quick -0.12 to 0.16 for twelve controls with
shipped baselines, 0.14 for illinois with its own; full 0.1, since it has more first runs)."""
UNASKED = 50
"""Packets sent to a receiver that acknowledges packets in advance, relative to another receiver.

Nothing slows the sender down (on the standard path 12.3 million packets in 60 s instead of 0.25)."""


@dataclass(frozen=True)
class Cost:
    """Counts and estimates of the runs of an evaluation."""

    cells: int
    runs: int
    """Initial runs, each counted once."""
    kept: int
    """Initial runs that are in the cache."""
    packets: float
    """Estimated packets of the missing runs, the further runs of undecided cells included."""
    seconds: float
    """Estimated time of the evaluation."""


def cost(request: Request, cache: Path, jobs: int | None = None) -> Cost:
    """Estimate the cost of an evaluation on this machine, from a short run of each control."""
    refuse_unknown(request)
    with Store(cache).read_only() as kept:
        work = Work(request, kept)
        wanted: dict[str, tuple[Subject, Part, Job]] = {}
        for cell in range(len(work.cells)):
            for index, subject in enumerate(request.subjects):
                parts = work.parts(cell, index)
                for _, name, job in work.jobs(cell, index):
                    if not work.is_shipped(job):
                        wanted.setdefault(job.key, (subject, parts[name], job))
            missing = {key for key in wanted if kept.get(key) is None}
    speed = {subject.name: _packets_per_second(subject) for subject in request.subjects}
    packets = seconds = all_packets = all_seconds = 0.0
    own = own_missing = 0
    for key, (subject, part, job) in wanted.items():
        count = _packets(part.scenario, job.scenario.duration_s)
        slower = RECORDED if job.record else 1.0
        takes_s = PER_RUN_S + slower * count / speed[subject.name]
        all_packets, all_seconds = all_packets + count, all_seconds + takes_s
        own += request.candidate.name in job.scenario.controls
        if key in missing:
            packets, seconds = packets + count, seconds + takes_s
            own_missing += request.candidate.name in job.scenario.controls
    further = UNDECIDED[request.mode] * own_missing / max(1, own)
    cores = jobs or os.cpu_count() or 1
    return Cost(
        len(work.cells),
        len(wanted),
        len(wanted) - len(missing),
        packets + further * all_packets,
        (seconds + further * all_seconds) / cores,
    )


def _packets(scenario: Mapping[str, Any], duration_s: float) -> float:
    """Return the packets of a path that is always full, or as full as random losses allow."""
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
