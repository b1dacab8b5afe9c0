"""Every ruler has known answers: no claim uses a measure that was not tried where a formula gives the answer.

A ruler is what turns runs or numbers into numbers: a metric, the measure of an artefact, a function that a
record names, and any other public function of runs, numbers or series in the package of a paper. `ANSWERS`
has the answers of those that nothing else tries, and `rulers.txt` names the tests of the others.
"""

import ast
import inspect
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ackclock import metrics
from ackclock.engine import Run
from ackclock.models.transients import StepResponse
from ackclock.reproduction.claims.artefact import Artefact, Computed, Probe, Simulated
from ackclock.reproduction.claims.numbers import FULL, Numbers
from ackclock.reproduction.paper import Paper
from ackclock_papers import PAPERS, africa, bic, fit, illinois, transient
from ackclock_papers.africa import figure_1, figures_2_to_6, section_iv, sections_ii_d_and_v
from ackclock_papers.bic import figure_9, figures_4_to_8, sections_iv_and_vi_a
from ackclock_papers.fit import (
    figures_1_to_3,
    figures_6_and_7,
    places,
    section_v,
    sections_ii_and_vi,
    tables_i_and_ii,
    tables_iv_and_v,
)
from ackclock_papers.illinois import figures_1_to_7, figures_14_and_15, sections_3_and_5
from ackclock_papers.transient import (
    curves,
    figures_12_to_17,
    figures_20_to_23,
    figures_24_to_28,
    figures_37_and_38,
    section_4,
    steps,
)
from ackclock_papers.transient.setting import GAIMD, TCP, TEAR, TFRC, Protocol, Reference, ReferenceCase
from hand_made import made
from test_papers_illinois import one_run

TESTS = Path(__file__).parent
PACKAGES = {module.__name__.rpartition(".")[2]: module for module in (africa, bic, fit, illinois, transient)}


def runs_of(values: Mapping[Any, Mapping[Any, float]], **setting: object) -> Numbers:
    """Return two runs of each case with the same numbers."""
    return Numbers({case: [row] * 2 for case, row in values.items()}, setting)


def value_of(estimate: Any) -> float:
    return float(estimate.value)


# The second of two flows has a quarter of the first's rate, and the third are datagrams. Samples of a second.
def pair_of_flows(**columns: object) -> Run:
    packets = np.tile([1000.0, 250.0, 1.0], (120, 1))
    drops = np.zeros(120)
    drops[[20, 40, 100]] = 9
    return made(
        packets,
        sample_s=1.0,
        drops=drops,
        events=[(41.0, 0, "loss"), (101.0, 0, "loss")],
        columns=columns,
        utilisation=np.where(np.arange(120) < 60, 0.5, 1.0),
        flows=[{"dropped_packets": 27, "mean_window": 30.0}, {"dropped_packets": 0}, {"dropped_packets": 0}],
        links=[{"utilisation": 0.75}],
    )


def of_section_iv(case: object, run: Run) -> Any:
    return section_iv.SECTION_4.measure(case, run)


# After 30 s two samples have 9 drops each in 90 s: five times as many in the 450 s of the paper.
PAIR_LOSSES = 18 * 450 / 90
FAST = np.tile([1.0, 0.0, 0.0], (120, 1))
"""The mode of Africa: the first flow is fast."""


def share_rows(fast: Mapping[str, float], unused: Mapping[str, float]) -> Numbers:
    return runs_of({case: {"fast": fast[case], "unused": unused[case]} for case in fast})


AT_20 = {name: f"20 Mbit/s, {name}" for name in ("BI-TCP", "HSTCP", "STCP")}


def curves_apart(limits: Any, factors: Mapping[float, float]) -> Numbers:
    """Return curves of which one is higher than the others by a factor at each loss rate."""
    alike = dict.fromkeys(map(figures_4_to_8.LossRate, factors), 10.0)
    higher = {figures_4_to_8.LossRate(p): 10.0 * factor for p, factor in factors.items()}
    first, *rest = limits
    return Numbers({first: [higher]} | {key: [alike] for key in rest})


def judged(function: Callable[[Numbers], tuple[str, bool]], numbers: Numbers) -> bool:
    return function(numbers)[1]


def two_flows_that_lose(window: float) -> Run:
    """Return a run in which both flows lose at 20 s, and at 40 s only the first."""
    run = made(
        np.tile([300.0, 100.0], (60, 1)),
        sample_s=1.0,
        columns={"window": np.full((60, 2), window)},
        events=[(20.5, 0, "loss"), (20.6, 1, "loss"), (40.5, 0, "loss")],
        links=[{"utilisation": 1.0}],
    )
    run.summary["measured_from_s"] = 0.0
    return run


def background(groups: Mapping[str, float]) -> Run:
    """Return a run with a flow of each group; packets of 1000 bytes per sample of a second are 8 kbit/s."""
    run = made(np.tile(list(groups.values()), (20, 1)), sample_s=1.0, names=[f"{name} 0" for name in groups])
    run.summary["measured_from_s"] = 0.0
    return run


def degraded(delays: list[float], reno: list[float]) -> Numbers:
    rows = {
        key: {"delay_ms": delay, "reno_mbps": mbps}
        for key, delay, mbps in zip(figures_1_to_3.SESSIONS, delays, reno, strict=True)
    }
    return runs_of(rows | {figures_1_to_3.ALONE: {"delay_ms": 0.0, "reno_mbps": 10.0}})


COUNT = len(figures_1_to_3.SESSIONS)


def alive(*dead: str) -> Numbers:
    return Numbers(
        {
            name: [dict.fromkeys(path.variants, 0.0 if name in dead else 1.0)]
            for name, path in places.PLACES.items()
        }
    )


def gains(windows: Mapping[float, float]) -> Numbers:
    """Return windows of Illinois over those of Reno, which are 1, by loss rate."""
    rows = {
        figures_14_and_15.LossyFlow(control, p): {"window": gain if control == "Illinois" else 1.0}
        for p, gain in windows.items()
        for control in ("Reno", "Illinois")
    }
    return runs_of(rows)


def standard(falls: bool, rises: bool, step: float) -> Numbers:
    row = {"alpha_falls": falls, "beta_rises": rises, "largest_step": step}
    return Numbers({figures_1_to_7.STANDARD: [row]})


def turns(variants: int) -> Run:
    """Return turns of 20 samples, of which the last ten have a quarter more than the first ten."""
    sent = np.zeros((20 * variants, variants))
    for index in range(variants):
        sent[20 * index : 20 * index + 10, index], sent[20 * index + 10 : 20 * index + 20, index] = 40, 50
    return made(sent, sample_s=0.5)


def rates_of(*mbps: float) -> Run:
    """Return a run of flows with some goodputs, of which each drops five packets."""
    return Run({"flows": [{"goodput_mbps": rate, "dropped_packets": 5} for rate in mbps]}, "", {})


def scalable() -> Run:
    """Return epochs of 13 round trips of 100 ms in which the window grows by 1 % per round trip."""
    time = np.arange(0, 240, 0.01)
    # Between two samples, so that rounding moves no sample to the other side.
    events = [(at, "loss") for at in np.arange(200.505, 240, 1.3)]
    return one_run(time, 1181 * 1.01 ** (((time - 200.505) % 1.3) / 0.1), np.full(time.size, 100.0), events)


def falling(count: int, flows: int) -> np.ndarray:
    """Return the packets of flows that halve their rate of 10 at the change, 100 s after the start."""
    return np.where(np.arange(count)[:, None] < 1000, 10.0, 5.0) * np.ones((1, flows))


def by_protocol(key: str, values: Mapping[object, float], **setting: object) -> Numbers:
    return runs_of({protocol: {key: value} for protocol, value in values.items()}, **setting)


Answer = tuple[Callable[[], Any], Any]
ANSWERS: dict[str, list[Answer]] = {
    # Periods that are as W, that do not depend on W, and that are as its root.
    "africa.figure_1.power": [
        (
            lambda power=power: value_of(
                figure_1.power(
                    runs_of({"curve": {at: at.window**power for at in (figure_1.LARGE, figure_1.SMALL)}}),
                    "curve",
                )
            ),
            power,
        )
        for power in (1.0, 0.0, 0.5)
    ],
    "africa.section_iv._ratio_and_losses": [
        (lambda: of_section_iv(section_iv.ALPHAS[0], pair_of_flows()), {"ratio": 4.0, "losses": PAIR_LOSSES})
    ],
    # The first flow, which is always fast, loses at 41 s and 101 s: never slow before a loss, never slow
    # while the link is full, from 60 s on, and always fast below.
    "africa.section_iv._of_figure_5": [
        (
            lambda: of_section_iv(figures_2_to_6.FIGURE_5.name, pair_of_flows(fast=FAST)),
            {
                "ratio": 4.0,
                "losses": PAIR_LOSSES,
                "slow before losses": 0.0,
                "slow when full": 0.0,
                "fast below": 1.0,
                "utilisation": 0.75,
            },
        )
    ],
    # 250 packets of 8 kbit in each of the 60 s of the first minute, and in 60 s after it.
    "africa.section_iv._with_hstcp": [
        (
            lambda: of_section_iv(figures_2_to_6.FIGURE_3.name, pair_of_flows()),
            {"first": 120.0, "rest": 120.0, "losses": PAIR_LOSSES, "loss_events": 2.0, "dropped": 18.0},
        )
    ],
    "africa.section_iv.spread": [
        (
            lambda overhead=overhead: value_of(
                section_iv.spread(
                    runs_of(
                        {
                            # Ratios of 1, 2, 3 and 4 with the overhead, and of 5 without.
                            shift: {"ratio": 1.0 + index if shift.overhead else 5.0}
                            for index, shift in enumerate(section_iv.SHIFTS)
                        }
                    ),
                    overhead,
                )
            ),
            answer,
        )
        for overhead, answer in (("with", 4.0), ("without", 1.0))
    ],
    # The share of fast samples is 1/3, and other controls have no mode.
    "africa.sections_ii_d_and_v._without_buffer": [
        (
            lambda control=control: sections_ii_d_and_v.SECTION_5.measure(
                sections_ii_d_and_v.BUFFERLESS[control],
                pair_of_flows(fast=np.where(np.arange(120)[:, None] % 3 == 0, 1.0, 0.0) * np.ones((1, 3))),
            ),
            {"fast": share, "window": 30.0},
        )
        for control, share in (("africa", 1 / 3), ("hstcp", 1.0))
    ],
    # BI-TCP leaves 0.05 less unused than the others, and has 0.1 more.
    "bic.figure_9.unused_over_gain": [
        (
            lambda: value_of(
                figure_9.unused_over_gain(
                    share_rows(
                        dict(zip(AT_20.values(), (0.5, 0.4, 0.4), strict=True)),
                        dict(zip(AT_20.values(), (0.1, 0.15, 0.15), strict=True)),
                    )
                )
            ),
            0.5,
        )
    ],
    # Both sides of 5 % at 1e-3, and of 50 % at 1e-6.
    "bic.figures_4_to_8.apart_at_rare_losses_only": [
        (
            lambda often=often, rarely=rarely: judged(
                figures_4_to_8.apart_at_rare_losses_only,
                curves_apart(figures_4_to_8.S_MAX, {1e-3: often, 1e-6: rarely}),
            ),
            answer,
        )
        for often, rarely, answer in ((1.04, 1.6, True), (1.06, 1.6, False), (1.04, 1.4, False))
    ],
    "bic.figures_4_to_8.together_at_very_rare_losses": [
        (
            lambda apart=apart: judged(
                figures_4_to_8.together_at_very_rare_losses, curves_apart(figures_4_to_8.S_MIN, {1e-8: apart})
            ),
            answer,
        )
        for apart, answer in ((1.04, True), (1.06, False))
    ],
    # Scalable TCP's curve is 0.08/p, a slope of -1; the slope from 1e-5 to 1e-8 is the power of ten in three.
    "bic.figures_4_to_8.slope": [
        (
            lambda power=power: value_of(
                figures_4_to_8.slope(
                    runs_of({"BI-TCP": {figures_4_to_8.LossRate(p): p**-power for p in (1e-8, 1e-5)}})
                )
            ),
            power,
        )
        for power in (0.5, 1.0)
    ],
    # 1000 packets of 8 kbit a second are 8 Mbit/s forward, of 2.5 Gbit/s; the other direction does not count.
    "bic.sections_iv_and_vi_a._forward_share": [
        (
            lambda: sections_iv_and_vi_a.SECTION_IV.measure(
                sections_iv_and_vi_a.BACKGROUND,
                background({"web forward": 750.0, "small forward": 250.0, "web reverse": 9000.0}),
            ),
            {"forward": 8.0 / 2500},
        )
    ],
    # One of two congestion events is common; windows of the second flow are below 500 packets, or above.
    "bic.sections_iv_and_vi_a._of_table_1": [
        (
            lambda window=window: {
                key: getattr(number, "value", number)
                for key, number in sections_iv_and_vi_a.SECTION_IV.measure(
                    sections_iv_and_vi_a.UNEQUAL[0], two_flows_that_lose(window)
                ).items()
            },
            {"ratio": 3.0, "small": small, "large": large},
        )
        for window, small, large in ((400.0, 0.5, math.nan), (500.0, math.nan, 0.5))
    ],
    "bic.sections_iv_and_vi_a._probe_4": [
        (
            lambda: sections_iv_and_vi_a.SECTION_IV.measure(
                sections_iv_and_vi_a.EQUAL_PAIRS[0], two_flows_that_lose(100.0)
            ),
            {"together": 0.5},
        )
    ],
    # A case without the number does not count.
    "bic.sections_iv_and_vi_a.where_any": [
        (
            lambda: value_of(
                sections_iv_and_vi_a.where_any(
                    runs_of({"a": {"small": 0.2}, "b": {"small": 0.6}, "c": {"small": math.nan}}), "small"
                )
            ),
            0.4,
        )
    ],
    # A degradation that grows in a straight line with the delay, and one that falls.
    "fit.figures_1_to_3.correlation": [
        (
            lambda reno=reno: value_of(
                figures_1_to_3.correlation(degraded([float(n) for n in range(COUNT)], reno))
            ),
            answer,
        )
        for reno, answer in (
            ([9.0 - 0.5 * n for n in range(COUNT)], 1.0),
            ([5.0 + 0.5 * n for n in range(COUNT)], -1.0),
        )
    ],
    "fit.section_v.unbounded_without_queue": [
        (
            lambda rate=rate: judged(
                section_v.unbounded_without_queue, Numbers({section_v.TEXT: [{"FIT, no queue": rate}]})
            ),
            answer,
        )
        for rate, answer in ((math.inf, True), (1e9, False))
    ],
    # As `halves`: the second half of every turn has a quarter more, whatever the place.
    "fit.sections_ii_and_vi._probe_2": [
        (
            lambda: sections_ii_and_vi.SECTION_2.measure(
                next(iter(places.PLACES)), turns(len(next(iter(places.PLACES.values())).variants))
            ),
            {"halves": 1.25},
        )
    ],
    "fit.sections_ii_and_vi.median_of_halves": [
        (
            lambda: value_of(
                sections_ii_and_vi.median_of_halves(
                    runs_of({name: {"halves": float(index)} for index, name in enumerate(places.PLACES)})
                )
            ),
            (len(places.PLACES) - 1) / 2,
        )
    ],
    "fit.sections_ii_and_vi._share_of_fifth": [
        (
            lambda: sections_ii_and_vi.SECTION_6.measure(
                sections_ii_and_vi.FIFTH,
                Run({"flows": [{"goodput_mbps": mbps} for mbps in (3.0, 1.0, 2.0, 2.0, 2.0)]}, "", {}),
            ),
            {"share": 3.0 / figures_6_and_7.RATE_6_MBPS},
        )
    ],
    # 0.2 of 45 packets are regained at 3 per round trip, in 3 round trips after the round trip of recovery.
    "fit.tables_i_and_ii.round_trips_over_equations": [
        (
            lambda trips=trips: value_of(
                tables_i_and_ii.round_trips_over_equations(
                    runs_of({figures_1_to_3.THREE: {"W": 45.0, "X": trips}})
                )
            ),
            trips / 4,
        )
        for trips in (4.0, 5.0)
    ],
    # Nine places and all kinds; without one there are eight.
    "fit.tables_iv_and_v.modelled_environments": [
        (lambda: judged(tables_iv_and_v.modelled_environments, alive()), True),
        (lambda: judged(tables_iv_and_v.modelled_environments, alive(next(iter(places.PLACES)))), False),
    ],
    # 5.5 is farther from 4 than 3, and 2 than 5.5.
    "illinois.figures_14_and_15.gain_least_like_four": [
        (
            lambda windows=windows: value_of(
                figures_14_and_15.gain_least_like_four(gains(windows), list(windows))
            ),
            answer,
        )
        for windows, answer in (({0.001: 3.0, 0.005: 5.5}, 5.5), ({0.001: 2.0, 0.005: 5.5}, 2.0))
    ],
    # The standard parameters: alpha from 10 to 0.1, beta from 1/8 to 1/2.
    "illinois.figures_1_to_7._curves": [
        (
            lambda: {
                key: number
                for key, number in figures_1_to_7.FIGURE_1.compute(FULL)[0][figures_1_to_7.STANDARD][
                    0
                ].items()
                if key != "largest_step"
            },
            {
                "alpha_start": 10.0,
                "alpha_end": 0.1,
                "beta_start": 0.125,
                "beta_end": 0.5,
                "alpha_falls": True,
                "beta_rises": True,
            },
        )
    ],
    "illinois.figures_1_to_7.curves_without_jump": [
        (lambda row=row: judged(figures_1_to_7.curves_without_jump, standard(*row)), answer)
        for row, answer in (
            ((True, True, 0.019), True),
            ((True, True, 0.021), False),
            ((False, True, 0.0), False),
            ((True, False, 0.0), False),
        )
    ],
    # Of 8 Mbit/s the first flow has 6; each of two flows drops five packets.
    "illinois.sections_3_and_5._probe_3": [
        (
            lambda: sections_3_and_5.SECTION_3.measure(sections_3_and_5.FAST_FIRST, rates_of(6.0, 2.0)),
            {"goodput_mbps": 8.0, "share of FAST": 0.75},
        ),
        (
            lambda: sections_3_and_5.SECTION_3.measure(sections_3_and_5.FEW, rates_of(6.0, 2.0)),
            {"goodput_mbps": 8.0, "dropped": 10.0},
        ),
        (
            lambda: sections_3_and_5.SECTION_3.measure(sections_3_and_5.FIXED, rates_of(6.0, 2.0)),
            {"goodput_mbps": 8.0},
        ),
    ],
    # Scalable TCP's curve is convex, and fills the path of 1250 packets after ln(1250/1181)/ln(1.01) = 5.7
    # round trips of 100 ms.
    "illinois.sections_3_and_5._of_curve": [
        (
            lambda: {
                key: round(number, 2)
                for key, number in sections_3_and_5.SECTION_5.measure(
                    sections_3_and_5.CURVES[0], scalable()
                ).items()
                if key in ("convex", "epoch_round_trips", "to_full_s")
            },
            {"convex": 1.0, "epoch_round_trips": 13.0, "to_full_s": 0.57},
        )
    ],
    # Half of the change is covered in the first round trip, all after 20.
    "transient.curves._response": [
        (
            lambda: {
                key: curves.STEP.probe.measure(made(falling(1500, 2)))[key]
                for key in ("before", "after", "half_way", "quarter_at_20", "end_share", "lowest_share")
            },
            {
                "before": 10.0,
                "after": 5.0,
                "half_way": 1.0,
                "quarter_at_20": 1.0,
                "end_share": 0.5,
                "lowest_share": 1.0,
            },
        )
    ],
    "transient.figures_12_to_17.change_by_red": [
        (
            lambda: value_of(
                figures_12_to_17.change_by_red(
                    by_protocol(
                        "fairness", {TEAR: 0.5, ReferenceCase(TEAR, Reference.NEXT_TO_TCP_RED): 0.75}
                    ),
                    "TEAR",
                    "fairness",
                )
            ),
            0.25,
        )
    ],
    # The least of the others has 0.3, TCP 0.1 or 0.4.
    "transient.figures_20_to_23.falls_further_than_others": [
        (
            lambda tcp=tcp: value_of(
                figures_20_to_23.falls_further_than_others(
                    by_protocol("lowest_share", {TCP: tcp, GAIMD: 0.5, TFRC: 0.3, TEAR: 0.6})
                )
            ),
            0.3 - tcp,
        )
        for tcp in (0.1, 0.4)
    ],
    "transient.figures_20_to_23.spread_at_10": [
        (
            lambda: value_of(
                figures_20_to_23.spread_at_10(
                    by_protocol("after_10", {TCP: 0.99, GAIMD: 0.5, TFRC: 0.7, TEAR: 0.6})
                )
            ),
            0.2,
        )
    ],
    "transient.figures_24_to_28.more_than_in_figure_26": [
        (
            lambda: value_of(
                figures_24_to_28.more_than_in_figure_26(
                    by_protocol(
                        "soon_share", {TEAR: 0.8, ReferenceCase(TEAR, Reference.JOINED_BY_ITS_OWN): 0.5}
                    ),
                    "TEAR",
                )
            ),
            0.3,
        )
    ],
    # Each state follows a loss in the one before: 0.8 of 0.2^k, and the shares of all add up to 1.
    "transient.figures_37_and_38._chain_timeouts": [
        (
            lambda: [
                figures_37_and_38.FIGURE_37.compute(FULL)[0][figures_37_and_38.CHAIN][0][key]
                for key in ("sum", "p of 1", "p of 2", "p of 64")
            ],
            [1.0, 0.8, 0.16, 0.2**6],
        )
    ],
    # TCP settles in 30; of 10, 40 and 60 the median is 40.
    "transient.section_4.settled_over_median": [
        (
            lambda: value_of(
                section_4.settled_over_median(
                    runs_of(
                        {
                            section_4.Step(protocol, section_4.FALL): {"settled": settled}
                            for protocol, settled in zip(Protocol, (30.0, 10.0, 60.0, 40.0), strict=True)
                        }
                    )
                )
            ),
            0.75,
        )
    ],
    # A rate that falls by 1 per round trip from 100 to 60 has covered a quarter after 10 and half after 20;
    # from 38 on it is within 5 % of the change.
    "transient.steps.analytic": [
        (
            lambda: steps._analytic(
                StepResponse(np.arange(51.0), np.maximum(100.0 - np.arange(51.0), 60.0), 60.0)
            ),
            {"settling": 38.0, "after_10": 0.25, "after_20": 0.5},
        )
    ],
    # Equal rates, equal windows, and the rates of AIMD with losses in common.
    "metrics.rtt_unfairness_exponent": [
        (
            lambda power=power: metrics.rtt_unfairness_exponent(
                [rtt**-power for rtt in (40.0, 80.0, 120.0)], [40, 80, 120]
            ),
            power,
        )
        for power in (0.0, 1.0, 2.0)
    ],
}


TABLE = Path(__file__).with_name("rulers.txt")


def elsewhere() -> dict[str, list[str]]:
    """Return the tests of rulers that are tried in other files, as ``FILE::TEST``, by ruler."""
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("#")]
    return {ruler: tests.split() for ruler, tests in (line.split(" | ") for line in lines)}


def known() -> set[str]:
    return {*ANSWERS, *elsewhere()}


SERIES = ("Array", "ndarray")
MEASURED = ("Run", "Numbers")
"""What annotations of arguments are called that a ruler reads."""
NO_NUMBERS = ("DataFrame", "Group", "Table", "Diagram", "Probe", "Law")
"""What functions return that draw, or make others."""


def rulers_in(source: str, module: str) -> set[str]:
    """Return the metrics that a module uses, and its own public functions of runs, numbers or series."""
    rulers: set[str] = set()
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "ackclock.metrics":
            rulers |= {f"metrics.{alias.name}" for alias in node.names}
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "metrics":
            rulers.add(f"metrics.{node.attr}")
    rulers -= {
        f"metrics.{name}" for name in metrics.__all__ if not inspect.isfunction(getattr(metrics, name))
    }
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        read = [ast.unparse(each.annotation) for each in arguments if each.annotation]
        measures = any(name in MEASURED or any(word in name for word in SERIES) for name in read)
        returned = ast.unparse(node.returns) if node.returns else ""
        if measures and not any(word in returned for word in NO_NUMBERS):
            rulers.add(f"{module}.{node.name}")
    return rulers


def name_of(function: Any) -> str:
    """Return the name of a ruler: its module in the package of papers, and what it is called there."""
    while isinstance(function, partial):
        function = function.func
    outermost = function.__qualname__.split(".<locals>")[0]
    return f"{function.__module__.removeprefix('ackclock_papers.')}.{outermost}"


def rulers_of(paper: Paper, artefact: Artefact) -> set[str]:
    """Return the rulers of the numbers that the claims of an artefact read."""
    if isinstance(artefact, Computed):
        return {name_of(artefact.compute)}
    assert isinstance(artefact, Simulated)
    effort = FULL.at(paper.setting)
    return {name_of(artefact.probe_of(case, effort).measure) for case in artefact.cases(effort)}


def functions_in(table: Any) -> Iterator[str]:
    """Yield the functions that records name."""
    if isinstance(table, dict):
        for key, value in table.items():
            if key in ("function", "estimate") and isinstance(value, str):
                yield value
            yield from functions_in(value)
    elif isinstance(table, list):
        for value in table:
            yield from functions_in(value)


def every_ruler() -> set[str]:
    """Return the rulers of all papers."""
    rulers: set[str] = set()
    for name, package in PACKAGES.items():
        folder = Path(inspect.getfile(package)).parent
        modules = {file.stem: file for file in folder.glob("*.py") if file.stem != "__init__"}
        for stem, file in modules.items():
            rulers |= rulers_in(file.read_text("utf-8"), f"{name}.{stem}")
        paper = PAPERS[name]
        for artefact in (*paper.artefacts, *filter(None, [paper.conditions])):
            rulers |= rulers_of(paper, artefact)
        named = set(functions_in(tomllib.loads((folder / "claims.toml").read_text("utf-8"))))
        for stem in modules:
            own = vars(import_module(f"{package.__name__}.{stem}"))
            defined = {each: own[each] for each in named & set(own) if inspect.isfunction(own[each])}
            rulers |= {name_of(function) for function in defined.values()}
    return rulers


def without_answers(rulers: set[str]) -> list[str]:
    return sorted(rulers - known())


def test_every_ruler_has_known_answers():
    assert without_answers(every_ruler()) == []


def test_the_table_has_no_other_rulers():
    assert sorted(known() - every_ruler()) == []


def test_every_named_test_exists():
    named = {test for tests in elsewhere().values() for test in tests}
    written = {
        f"{file}::{node.name}"
        for file in {test.split("::")[0] for test in named}
        for node in ast.parse((TESTS / file).read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert sorted(named - written) == []


@pytest.mark.parametrize(
    ("ruler", "answer"),
    [
        pytest.param(ruler, answer, id=f"{ruler}-{n}")
        for ruler, all_ in ANSWERS.items()
        for n, answer in enumerate(all_)
    ],
)
def test_an_answer_is_known(ruler: str, answer: Answer) -> None:
    assert ruler
    measured, expected = answer
    assert measured() == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_shares_that_follow_a_power_of_the_round_trip(
    exponent: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # x ~ T^-(1 + mu), at round trips of 1, 2, 4 and 8. Shares that do not change have no deviation, and a
    # line in log T explains all of them. Those of equal windows are 8, 4, 2 and 1 of 15.
    rtt = np.array([[1.0, 2.0, 4.0, 8.0]])
    share = rtt**-exponent / (rtt**-exponent).sum()
    monkeypatch.setattr(figures_1_to_7, "study", lambda *_: (rtt, np.repeat(share[:, None], 3, axis=1)))
    row = figures_1_to_7.one_study.__wrapped__(4, "light", 1)[0]
    ratio = share[0] / (np.array([8, 4, 2, 1]) / 15)
    assert row == pytest.approx(
        {
            "mu": exponent - 1,
            "lowest_ratio": ratio.min(),
            "highest_ratio": ratio.max(),
            "range": ratio.max() - ratio.min(),
            "largest_std_over_mean": 0,
            "linearity": 1,
        },
        abs=1e-9,
    )


PLANTED = """
from ackclock import metrics
from ackclock.metrics import Estimate, unheard_of

def public(run: Run) -> float:
    return metrics.not_tried(run)

def picture(run: Run) -> pl.DataFrame:
    return metrics.cov(run)
"""


def planted(run: Run) -> dict[str, float]:
    """Measure nothing, and nobody knows what that should be."""
    del run
    return {"x": 1.0}


def test_a_ruler_without_an_answer_is_named():
    rulers = rulers_in(PLANTED, "fit.planted")
    assert without_answers(rulers) == ["fit.planted.public", "metrics.not_tried", "metrics.unheard_of"]
    assert "metrics.cov" in rulers
    # The probe of an artefact, whatever wraps it.
    paper = PAPERS["fit"]
    for measured in (planted, partial(planted)):
        artefact = replace(paper["figure-1"], probe=Probe(("x",), measured))
        assert without_answers(rulers_of(paper, artefact)) == ["test_rulers.planted"]
    assert list(functions_in({"a": [{"estimate": "b"}], "function": "c"})) == ["b", "c"]
