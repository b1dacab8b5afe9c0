"""Recursions, cases and claims about speed that the figures of a change of conditions share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from ackclock.draw.figure import Group
from ackclock.engine import build
from ackclock.models import transients
from ackclock.reproduction.claims import figures
from ackclock.reproduction.claims.artefact import Computed, Traces
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Protocol

ALIKE = 20
"""Number of flows that do not meet: their mean is the response of one flow without its phase."""


class Analytic(NamedTuple):
    """Numbers of a recursion."""

    # Round trips until the rate stays within 5 % of its end.
    settling: float
    # Share of the change that is covered after 10 and after 20 round trips.
    after_10: float
    after_20: float


def _analytic(step: transients.StepResponse) -> Row:
    shares = [float(np.interp(at, step.time, step.progress)) for at in (10, 20)]
    return Analytic(step.settling_round_trips(), *shares)._asdict()


def analytic(number: int, caption: str, before: float, after: float, *, end: int) -> Computed:
    """Make a headline artefact of the recursions of section 4.1 for a change of the loss rate.

    `end` is the last round trip that is drawn.
    """

    def compute(_effort: Effort) -> tuple[Mapping[Protocol, Sequence[Row]], Traces]:
        steps = {
            TCP: transients.aimd_step(before, after, 1, 0.5),
            GAIMD: transients.aimd_step(before, after, 0.31, 0.875),
            TFRC: transients.tfrc_step(before, after),
            TEAR: transients.tear_step(before, after),
        }
        rows = {protocol: [_analytic(step)] for protocol, step in steps.items()}
        at = np.arange(0, 101, dtype=float)
        frames = {
            protocol: pl.DataFrame({"round_trip": at, "progress": np.interp(at, step.time, step.progress)})
            for protocol, step in steps.items()
        }
        return rows, frames

    def draw(_numbers: Numbers, traces: Traces) -> Group:
        return figures.over_time(
            traces,
            {"all": tuple(traces)},
            "progress",
            "|T - T0|/|Tinf - T0|",
            span=(0, end),
            x="round_trip",
            x_label="round trips since the change",
            height=3.0,
        )

    return Computed(
        name=f"figure-{number}",
        caption=caption,
        about="The recursions of section 4.1, interpolated between loss events.",
        compute=compute,
        numbers=dict.fromkeys(Protocol, Analytic._fields),
        draw=draw,
        headline=True,
    )


def one_loss_step(effort: Effort, kind: str, before: float, after: float, flows: build.Table) -> Case:
    """Make a case of flows that do not meet and whose loss rate changes.

    `kind` is ``bernoulli`` or ``periodic``.
    """
    change = {"at": build.seconds(setting.CHANGE_S), "set": "dumbbell.loss.rate", "to": after}
    loss = {"kind": kind, "rate": before}
    return setting.case(effort, [flows], effort.pick(250, 180), loss=loss, events=[change])


def loss_step(kind: str, before: float, after: float) -> Callable[[Effort], Mapping[Protocol, Case]]:
    """Return the cases, by effort, of a loss rate that changes for flows of each protocol."""
    return lambda effort: {
        protocol: one_loss_step(effort, kind, before, after, setting.flows(effort, protocol, count=ALIKE))
        for protocol in Protocol
    }


def eight_others(*, same: bool, when: str) -> Callable[[Effort], Mapping[Protocol, Case]]:
    """Return the cases, by effort, of eight flows that eight others join or leave at the change.

    `when` is ``start`` or ``stop``. All flows have the protocol if `same`; otherwise only the first has
    it, and the others are TCP.
    """

    def case_of(effort: Effort, protocol: Protocol) -> Case:
        kind = protocol if same else TCP
        second_eight = setting.flows(effort, kind, count=8, **{when: build.seconds(setting.CHANGE_S)})
        first_eight = [setting.flows(effort, protocol), setting.flows(effort, kind, count=7)]
        return setting.case(effort, [*first_eight, second_eight], effort.pick(250, 180))

    return lambda effort: {protocol: case_of(effort, protocol) for protocol in Protocol}
