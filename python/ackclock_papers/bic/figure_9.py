"""Figure 9: shares of the link and utilisation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ackclock.decision import Estimate, over_runs, quotient, within
from ackclock.draw import figure
from ackclock.engine import Run, number
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.figures import bar_chart
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.bic.setting import (
    CONTROLS,
    GIGABIT_MBPS,
    BackgroundGroup,
    background_mbps,
    case,
    rates_mbps,
)


class Link(NamedTuple):
    """Two flows of a control on a link of figure 9, with RED or with droptail."""

    control: str
    rate_mbps: float
    red: bool = False

    def __str__(self) -> str:
        link = "RED" if self.red else f"{self.rate_mbps:g} Mbit/s"
        return f"{link}, {self.control}"


RATES = (20.0, 100.0, 500.0, GIGABIT_MBPS)
KEYS_9 = (
    *(Link(name, rate) for rate in RATES for name in CONTROLS),
    *(Link(name, GIGABIT_MBPS, red=True) for name in CONTROLS),
)
FAST_FLOWS = 2
SHARES = ("background", "long", "fast", "unused")
QUICK_9_S = {20.0: 150.0, 100.0: 100.0, 500.0: 80.0, GIGABIT_MBPS: 90.0}
"""Lengths of quick runs by rate, seconds: faster links cost more.

From a first slow start to 100 packets, Scalable needs 500 round trips to fill 2.5 Gbit/s: 60 s,
including the 10 s within which it starts.
"""
QUICK_9_MEASURED_S = 25.0
"""Measured time at the end of a quick run at 2.5 Gbit/s, seconds."""


def _case_9(effort: Effort, key: Link) -> Case:
    flows = [{**CONTROLS[key.control], "rtt": "100 ms", "count": FAST_FLOWS}]
    short = effort.quick and key.rate_mbps == GIGABIT_MBPS
    return case(
        effort,
        flows,
        key.rate_mbps,
        quick_s=QUICK_9_S[key.rate_mbps],
        measured_s=QUICK_9_MEASURED_S if short else None,
        red=key.red,
    )


def _measure_9(key: Link, run: Run) -> Row:
    """Return the shares of the link that each kind of forward flow has, and the unused share."""
    groups, rates = background_mbps(run), rates_mbps(run)
    mbps = {
        "background": groups[BackgroundGroup("web", "forward")] + groups[BackgroundGroup("small", "forward")],
        "long": groups[BackgroundGroup("long", "forward")],
        "fast": sum(rates[index] for index in range(FAST_FLOWS)),
    }
    used = number(run.summary["links"][0]["utilisation"])
    return {
        **{kind: rate / key.rate_mbps for kind, rate in mbps.items()},
        "unused": 1 - used,
        "utilisation": used,
    }


def _probe_9(key: Link, _effort: Effort) -> Probe:
    return Probe((*SHARES, "utilisation"), partial(_measure_9, key))


def _draw_9(numbers: Numbers, _traces: Traces) -> figure.Group:
    charts = [
        bar_chart(
            numbers,
            list(CONTROLS),
            {kind: [(Link(name, rate), kind) for name in CONTROLS] for kind in SHARES},
            "share of the link",
            top=1.02,
            key=f"{rate:g}",
            heading=f"{rate:g} Mbit/s",
            stacked=True,
        )
        for rate in RATES
    ]
    return figure.Group(charts, linked=False, columns=4)


def share(numbers: Numbers, cases: Sequence[str], kinds: Sequence[str]) -> Estimate:
    """Return the share of the link of some kinds of flows together, by run, as the mean over cases."""
    per_run = [np.sum([numbers.each(case, kind) for kind in kinds], axis=0) for case in cases]
    return over_runs(np.mean(per_run, axis=0), least=0.0, most=1.0)


def share_difference(
    numbers: Numbers, cases: Sequence[str], others: Sequence[str], kinds: Sequence[str]
) -> Estimate:
    """Return the share in some cases less that in others, which are different runs."""
    more, less = share(numbers, cases, kinds), share(numbers, others, kinds)
    value = more.value - less.value
    half = float(np.hypot(more.high - more.low, less.high - less.low)) / 2
    error = float(np.hypot(more.error, less.error))
    estimate = Estimate(value, value - half, value + half, more.samples, error=error)
    return within(estimate, least=-1.0, most=1.0)


def share_quotient(
    numbers: Numbers, cases: Sequence[str], others: Sequence[str], kinds: Sequence[str]
) -> Estimate:
    """Return the share in some cases over that in others, which are different runs."""
    return quotient(share(numbers, cases, kinds), share(numbers, others, kinds))


def unused_over_gain(numbers: Numbers) -> Estimate:
    """Return what BI-TCP leaves unused less than HSTCP and STCP at 20 Mbit/s, over what it has more."""
    bic, others = ["20 Mbit/s, BI-TCP"], ["20 Mbit/s, HSTCP", "20 Mbit/s, STCP"]
    return quotient(
        share_difference(numbers, others, bic, ["unused"]), share_difference(numbers, bic, others, ["fast"])
    )


def most_apart(numbers: Numbers) -> Estimate:
    """Return the largest share that the high-speed flows have in a case over the smallest."""
    least, *_, most = sorted(
        (numbers.of(case, "fast") for case in numbers.rows), key=lambda share: share.value
    )
    return quotient(most, least)


FIGURE_9 = Simulated(
    name="figure-9", caption="shares of bandwidth, and section VII's utilisation",
    about=(
        "Two high-speed flows, two long-lived TCP flows and background at four bandwidths, "
        "droptail; at 2.5 Gbit/s also RED."
    ),
    cases=lambda effort: {key: _case_9(effort, key) for key in KEYS_9},
    probe=_probe_9, draw=_draw_9,

)  # fmt: skip
