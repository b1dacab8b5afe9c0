"""Figure 9: shares of the link and utilisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ackclock.decision import Estimate, over_runs, quotient, within
from ackclock.draw import figure
from ackclock.engine import Run, number
from ackclock.names import slug
from ackclock.reproduction.claims.artefact import Probe, Simulated, Traces
from ackclock.reproduction.claims.figures import bar_chart
from ackclock.reproduction.claims.least import MUCH, MUCH_MORE
from ackclock.reproduction.claims.numbers import Effort, Numbers, Row
from ackclock.reproduction.claims.orders import ordered, was_plain
from ackclock.reproduction.claims.usual import between, changed, mean, near, times
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


def _share(
    names: Sequence[str], rate_mbps: float, *kinds: str, red: bool = False
) -> Callable[[Numbers], Estimate]:
    """Add up shares of the link by run, and average over controls."""

    def share(numbers: Numbers) -> Estimate:
        per_run = [
            np.sum([numbers.each(Link(name, rate_mbps, red), kind) for kind in kinds], axis=0)
            for name in names
        ]
        return over_runs(np.mean(per_run, axis=0), least=0.0, most=1.0)

    return share


def _difference(
    first: Callable[[Numbers], Estimate], second: Callable[[Numbers], Estimate]
) -> Callable[[Numbers], Estimate]:
    """Subtract shares of different runs."""

    def difference(numbers: Numbers) -> Estimate:
        more, less = first(numbers), second(numbers)
        value = more.value - less.value
        half = float(np.hypot(more.high - more.low, less.high - less.low)) / 2
        error = float(np.hypot(more.error, less.error))
        estimate = Estimate(value, value - half, value + half, more.samples, error=error)
        return within(estimate, least=-1.0, most=1.0)

    return difference


def _over(
    first: Callable[[Numbers], Estimate], second: Callable[[Numbers], Estimate]
) -> Callable[[Numbers], Estimate]:
    """Divide estimates of different runs."""
    return lambda numbers: quotient(first(numbers), second(numbers))


TCP_KINDS = ("background", "long")
"""Kinds of flows that are the TCP of 2004."""
SMALLER_CUT, LARGER_CUT = ("AIMD", "BI-TCP"), ("HSTCP", "STCP")
"""Controls by how much they cut at 20 Mbit/s, where Scalable behaves as Reno."""


def _most_apart(names: Sequence[str], rate_mbps: float) -> Callable[[Numbers], Estimate]:
    """Divide the largest share that the high-speed flows have by the smallest."""

    def apart(numbers: Numbers) -> Estimate:
        shares = [numbers.of(Link(name, rate_mbps), "fast") for name in names]
        least, *_, most = sorted(shares, key=lambda share: share.value)
        return quotient(most, least)

    return apart


UNUSED_GAIN = _difference(_share(LARGER_CUT, 20, "unused"), _share(("BI-TCP",), 20, "unused"))
OWN_GAIN = _difference(_share(("BI-TCP",), 20, "fast"), _share(LARGER_CUT, 20, "fast"))
UNUSED_20 = _over(_share(LARGER_CUT, 20, "unused"), _share(SMALLER_CUT, 20, "unused"))
"""What two controls leave unused over what the other two do, at 20 Mbit/s."""

FIGURE_9 = Simulated(
    name="figure-9", caption="shares of bandwidth, and section VII's utilisation",
    about=(
        "Two high-speed flows, two long-lived TCP flows and background at four bandwidths, "
        "droptail; at 2.5 Gbit/s also RED."
    ),
    cases=lambda effort: {key: _case_9(effort, key) for key in KEYS_9},
    probe=_probe_9, draw=_draw_9,
    claims=(
        *(between(slug(name, "about-100-percent-utilisation-at-2.5"),
                  f"{name}: about 100 % utilisation at 2.5 Gbit/s, droptail",
                  mean(Link(name, GIGABIT_MBPS), "utilisation"), 0.98, 1.001, why="'approximately'",
                  paper="about 100 %") for name in CONTROLS),
        *(near(slug(name, "utilisation-with-red"), f"{name}: utilisation with RED",
               mean(Link(name, GIGABIT_MBPS, red=True), "utilisation"), value, within=0.02,
               absolute=True, why="'about'")
          for name, value in (("AIMD", 0.99), ("BI-TCP", 0.99), ("HSTCP", 0.96), ("STCP", 0.96))),
        was_plain("red-aimd-and-bi-tcp-use-more-than-hstcp",
                "RED: AIMD and BI-TCP use more than HSTCP and STCP",
                [("AIMD and BI-TCP", _share(SMALLER_CUT, GIGABIT_MBPS, "utilisation", red=True)),
                 ("HSTCP and STCP", _share(LARGER_CUT, GIGABIT_MBPS, "utilisation", red=True))],
                paper="99 % against 96 %"),
        was_plain("2.5-gbit-s-droptail-uses-more-than-red", "2.5 Gbit/s: droptail uses more than RED",
                [(queue, _share(tuple(CONTROLS), GIGABIT_MBPS, "utilisation", red=red))
                 for queue, red in (("droptail", False), ("RED", True))],
                why="means of the controls", paper="'consumes more bandwidth'"),
        near("2.5-gbit-s-red-gives-about-same-shares", "2.5 Gbit/s: RED gives about the same shares",
             _difference(_share(tuple(CONTROLS), GIGABIT_MBPS, "fast", red=True),
                         _share(tuple(CONTROLS), GIGABIT_MBPS, "fast")), 0.0, within=0.1,
             absolute=True, why="difference of the high-speed flows' shares of the link, means of "
             "the controls", paper="'approximately similar results'"),
        *(times(slug(rate, "mbit-s-bi-tcp-friendly"),
                f"{rate:g} Mbit/s: BI-TCP is as friendly to TCP as STCP",
                _over(_share(("BI-TCP",), rate, *TCP_KINDS), _share(("STCP",), rate, *TCP_KINDS)), 1.0,
                factor=1.5, why="ratio of the shares that TCP keeps",
                paper="'comparable' below 500 Mbit/s")
          for rate in (20, 100)),
        between("2.5-gbit-s-share-background-very-small",
                "2.5 Gbit/s: the share of the background is very small",
                _share(tuple(CONTROLS), GIGABIT_MBPS, "background"), 0, 0.1, unit="of the link",
                why="mean of the controls; a tenth can be seen in a bar chart",
                paper="'very small'"),
        changed(
            times("20-mbit-s-hstcp-and-stcp-leave-almost-twice",
                  "20 Mbit/s: HSTCP and STCP leave almost twice as much unused as AIMD and BI-TCP",
                  UNUSED_20, 1.9, factor=1.4,
                  why="'almost twice', read off a plot; means of each two controls",
                  paper="almost twice"),
            between("", "", UNUSED_20, 1.3, np.inf, why="1.3 times at least"),
        ),
        times("20-mbit-s-tcp-about-much-beside-hstcp-beside",
              "20 Mbit/s: TCP has about as much next to HSTCP as next to STCP",
              _over(_share(("HSTCP",), 20, *TCP_KINDS), _share(("STCP",), 20, *TCP_KINDS)), 1.0,
              factor=1.1, why="'approximately the same'", paper="approximately the same"),
        was_plain("20-mbit-s-tcp-less-beside-bi-tcp", "20 Mbit/s: TCP has less next to BI-TCP",
                [("next to HSTCP and STCP", _share(LARGER_CUT, 20, *TCP_KINDS)),
                 ("next to BI-TCP", _share(("BI-TCP",), 20, *TCP_KINDS))],
                paper="slightly less"),
        changed(
            ordered("20-mbit-s-what-bi-tcp-more-mostly-what",
                    "20 Mbit/s: BI-TCP's gain is mostly bandwidth that was unused",
                    [("of the unused", UNUSED_GAIN), ("its gain", OWN_GAIN)], margin=-0.5, unit="of the link",
                    why="half of its gain over HSTCP and STCP at least is unused with these",
                    paper="'does not take much bandwidth from TCP, but instead from the unused'"),
            between("", "", _over(UNUSED_GAIN, OWN_GAIN), 0.5, np.inf,
                    why="the quotient, which has no interval where either may be negative")),
        near("100-mbit-s-stcp-utilisation-on-par-with-bi",
             "100 Mbit/s: STCP's utilisation is on par with BI-TCP's",
             _difference(_share(("STCP",), 100, "utilisation"),
                         _share(("BI-TCP",), 100, "utilisation")), 0.0, within=0.03, absolute=True,
             why="share of the link; a difference that could be seen in a bar chart", paper="on par"),
        was_plain("100-mbit-s-hstcp-which-cuts-more-leaves-more",
                "100 Mbit/s: HSTCP, which cuts more, leaves more unused than BI-TCP",
                [(name, _share((name,), 100, "unused")) for name in ("HSTCP", "BI-TCP")],
                unit="of the link", paper="HSTCP still has a higher beta"),
        times("500-mbit-s-stcp-bi-tcp-and-aimd-use",
              "500 Mbit/s: STCP, BI-TCP and AIMD use about the same share",
              _most_apart(("STCP", "BI-TCP", "AIMD"), 500), 1.0, factor=1.1,
              why="the largest share over the smallest", paper="approximately the same"),
        ordered("from-100-to-500-mbit-s-and-2.5-gbit",
                "from 100 to 500 Mbit/s and 2.5 Gbit/s the shares of TCP fall",
                [(rate_label, _share(tuple(CONTROLS), rate, *TCP_KINDS)) for rate_label, rate in
                 (("100 Mbit/s", 100), ("500 Mbit/s", 500), ("2.5 Gbit/s", GIGABIT_MBPS))],
                unit="of the link", margin=MUCH, had_none=True,
                why=f"means of the controls; {MUCH_MORE}",
                paper="substantially reduce"),
        changed(
            was_plain("2.5-gbit-s-stcp-most-aggressive-then-hstcp-then",
                    "2.5 Gbit/s: STCP is most aggressive, then HSTCP, then BI-TCP",
                    [(f"next to {name}", _share((name,), GIGABIT_MBPS, *TCP_KINDS))
                     for name in ("BI-TCP", "HSTCP", "STCP")], unit="of the link",
                    why="by the share that TCP keeps",
                    paper="STCP most aggressive, then HSTCP; BI-TCP friendlier"),
            ordered("", "", [(name, _share((name,), GIGABIT_MBPS, "fast"))
                             for name in ("STCP", "HSTCP", "BI-TCP")],
                    why="by the share of the two flows", unit="of the link", margin=0.0),
        ),
    ),
)  # fmt: skip
