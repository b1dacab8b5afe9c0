"""What the figures of a change of conditions share: recursions, cases, and claims about speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ackclock.draw.figure import Group
from ackclock.engine import build
from ackclock.models import transients
from ackclock.reproduction import figures
from ackclock.reproduction.artefact import Claim, Computed, Traces
from ackclock.reproduction.claims import mean, ordered, ratio, times
from ackclock.reproduction.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.transient import setting
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Protocol

ALIKE = 20
"""Flows that do not meet: their mean is the response of one, without its phase."""
SCHEDULED = "mean over flows and runs, 5 round trips smoothed"


class Analytic(NamedTuple):
    """Numbers of a recursion.

    Attributes
    ----------
    settling : float
        Round trips until it stays within 5 % of its end.
    after_10, after_20 : float
        Share of the change that is made after 10 and 20 round trips.
    """

    settling: float
    after_10: float
    after_20: float


def _analytic(step: transients.StepResponse) -> Row:
    made = [float(np.interp(at, step.time, step.progress)) for at in (10, 20)]
    return Analytic(step.settling_round_trips(), *made)._asdict()


def analytic(
    number: int, caption: str, before: float, after: float, *, end: int, claims: Sequence[Claim]
) -> Computed:
    """Make an artefact of the recursions of section 4.1.

    Parameters
    ----------
    number : int
        Number of the figure.
    caption : str
        One line.
    before, after : float
        Loss rates.
    end : int
        Round trips that are drawn.
    claims : sequence of Claim
        What must be seen.

    Returns
    -------
    Computed
        A headline artefact.
    """

    def compute(_effort: Effort) -> tuple[Mapping[Protocol, Sequence[Row]], Traces]:
        steps = {
            TCP: transients.aimd_step(before, after, 1, 0.5),
            GAIMD: transients.aimd_step(before, after, 0.31, 0.875),
            TFRC: transients.tfrc_step(before, after),
            TEAR: transients.tear_step(before, after),
        }
        rows = {one: [_analytic(step)] for one, step in steps.items()}
        at = np.arange(0, 101, dtype=float)
        frames = {
            one: pl.DataFrame({"round_trip": at, "progress": np.interp(at, step.time, step.progress)})
            for one, step in steps.items()
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
        claims=claims,
        headline=True,
    )


def one_loss_step(effort: Effort, kind: str, before: float, after: float, some: Mapping[str, Any]) -> Case:
    """Make a case of flows that do not meet and whose loss rate changes.

    Parameters
    ----------
    effort : Effort
        How much is run.
    kind : str
        Kind of the loss, ``bernoulli`` or ``periodic``.
    before, after : float
        Its rates.
    some : mapping
        The flows.

    Returns
    -------
    Case
        The scenario and its runs.
    """
    change = {"at": build.seconds(setting.CHANGE_S), "set": "dumbbell.loss.rate", "to": after}
    loss = {"kind": kind, "rate": before}
    return setting.case(effort, [some], effort.pick(250, 180), loss=loss, events=[change])


def loss_step(kind: str, before: float, after: float) -> Callable[[Effort], Mapping[Protocol, Case]]:
    """Choose the cases of a loss rate that changes for flows of each protocol.

    Parameters
    ----------
    kind : str
        Kind of the loss, ``bernoulli`` or ``periodic``.
    before, after : float
        Its rates.

    Returns
    -------
    callable
        From the effort to the cases.
    """
    return lambda effort: {
        one: one_loss_step(effort, kind, before, after, setting.flows(effort, one, count=ALIKE))
        for one in Protocol
    }


def eight_others(*, same: bool, when: str) -> Callable[[Effort], Mapping[Protocol, Case]]:
    """Choose the cases of eight flows on the link that eight others join or leave at the change.

    Parameters
    ----------
    same : bool
        Whether all flows have the protocol; otherwise the first alone has, and the others TCP.
    when : str
        What the others do at the change: ``start`` or ``stop``.

    Returns
    -------
    callable
        From the effort to the cases.
    """

    def one_case(effort: Effort, protocol: Protocol) -> Case:
        kind = protocol if same else TCP
        others = setting.flows(effort, kind, count=8, **{when: build.seconds(setting.CHANGE_S)})
        old = [setting.flows(effort, protocol), setting.flows(effort, kind, count=7)]
        return setting.case(effort, [*old, others], effort.pick(250, 180))

    return lambda effort: {one: one_case(effort, one) for one in Protocol}


def similar(name: str, sentence: str) -> Claim:
    """Claim that TFRC and TEAR respond about as fast.

    Parameters
    ----------
    sentence : str
        As in `Claim`.

    Returns
    -------
    Claim
        About the ratio of their times to half of the change.
    """
    return times(
        name,
        sentence,
        ratio((TFRC, "half_way"), (TEAR, "half_way")),
        1,
        factor=2,
        paper="similar",
        why="round trips to half of the change, TFRC's over TEAR's; curves that look alike",
    )


def faster(name: str, sentence: str, names: Sequence[Protocol], paper: str) -> Claim:
    """Claim an order of protocols by the time to half of the change.

    Parameters
    ----------
    sentence, paper : str
        As in `Claim`.
    names : sequence of Protocol
        From the fastest to the slowest.

    Returns
    -------
    Claim
        Holds when each is slower than the one before it.
    """
    return ordered(
        name,
        sentence,
        [(name, mean(name, "half_way")) for name in names[::-1]],
        why=f"round trips to half of the change ({SCHEDULED}), the slowest first",
        unit="RTTs",
        paper=paper,
    )
