"""Sections II, V and VI: statements of the text that are not in a figure, by runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from ackclock.engine import Run, build, number
from ackclock.metrics import Estimate, over_runs
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.figures import every_number
from ackclock.reproduction.claims.numbers import Effort, Key, Numbers, Row
from ackclock.runs import Case
from ackclock_papers.fit import figures_1_to_3, figures_6_and_7, tables_iv_and_v
from ackclock_papers.fit.places import IN_TABLE_5, PLACES
from ackclock_papers.fit.setting import flow, goodputs, packets, scenario

FIT_1 = "FIT next to Reno"
"""FIT in MulTCP's place on figure 1's link."""


def _cases_2(effort: Effort) -> Mapping[Key, Case]:
    flows = [flow(effort.setting, "FIT"), flow(effort.setting, "Reno")]
    description = scenario(effort.setting, flows, **figures_1_to_3.PATH, measured_s=effort.pick(120.0, 60.0))
    cases: dict[Key, Case] = {FIT_1: Case(description, effort.runs)}
    cases |= dict(figures_1_to_3.FIGURE_1.cases(effort).items())
    cases |= dict(tables_iv_and_v.TABLE_5.cases(effort).items())
    return cases


def halves(run: Run, variants: int) -> float:
    """Return the goodput of the second half of a turn over that of the first, the median of the turns.

    Slow start, the first fifth of the first half, is left out.
    """
    turn_s = run.summary["duration_s"] / variants
    quotients = []
    for index in range(variants):
        own = run.windows_of(index)
        since = (own["time_s"].to_numpy() - turn_s * index) / turn_s
        sent = own["arrived_bytes"].to_numpy()
        first = sent[(since > 0.1) & (since <= 0.5)].sum() / 0.4
        second = sent[(since > 0.5) & (since <= 1)].sum() / 0.5
        quotients.append(second / first if first else np.nan)
    return float(np.nanmedian(quotients))


def _probe_2(case: Key, effort: Effort) -> Probe:
    if case in PLACES:
        turns = len(PLACES[str(case)].variants)
        return Probe(("halves",), lambda run: {"halves": halves(run, turns)})
    # The probe of figure 1 is the same for every case.
    return figures_1_to_3.FIGURE_1.probe_of(figures_1_to_3.ALONE, effort)


def median_of_halves(numbers: Numbers) -> Estimate:
    """Return what `halves` measures, the median of the places, run by run."""
    return over_runs(np.median([numbers.each(name, "halves") for name in PLACES], axis=0), least=0.0)


SECTION_2 = Simulated(
    name="section-ii",
    caption="statements that are not in figure 1, and the turns of table V",
    about="Figure 1's runs, FIT in MulTCP's place, and the turns of table V.",
    cases=_cases_2,
    probe=_probe_2,
    draw=every_number,
    headline=True,
)

STARVING: dict[str, build.Table] = {
    "Vegas": {"controller": "vegas"},
    "FAST": {"controller": "fast", "params": {"alpha": 5}},
}
DEEP_RTTS = 2
"""Buffer in which delay-based flows starve, in round trips of 100 ms."""
ALONE_3 = ("FAST", "Vegas", "Reno")
RENOS = "ten Renos at 1 Gbit/s"
SEVEN = ("FIT", "Veno", "Illinois")
FIFTH = figures_6_and_7.AmongRenos("a", "Reno")


def _starving(effort: Effort, name: str) -> Case:
    flows = [{**STARVING[name], "name": name}, flow(effort.setting, "Reno")]
    description = scenario(
        effort.setting, flows, rate_mbps=10, rtt_ms=100, measured_s=120, buffer=packets(10, 100 * DEEP_RTTS)
    )
    return Case(description, effort.runs, record=False)


def _alone(effort: Effort, name: str) -> Case:
    entry = flow(effort.setting, name) if name != "Vegas" else {"controller": "vegas"}
    description = scenario(
        effort.setting,
        [entry],
        rate_mbps=figures_1_to_3.RATE_3_MBPS,
        rtt_ms=figures_1_to_3.RTT_3_MS,
        loss=0.001,
        measured_s=effort.pick(120, 60),
    )
    return Case(description, effort.runs, record=False)


def _ten(effort: Effort) -> Case:
    description = scenario(
        effort.setting,
        [flow(effort.setting, "Reno", count=10)],
        rate_mbps=1000,
        rtt_ms=20,
        loss=1e-3,
        measured_s=effort.pick(40, 15),
    )
    return Case(description, effort.runs, record=False)


STATE_B = "state (b)"


def _cases_6(effort: Effort) -> Mapping[Key, Case]:
    seven = figures_6_and_7.FIGURE_7.cases(effort)
    return {
        **{f"{name} next to Reno": _starving(effort, name) for name in STARVING},
        **{f"{name} alone": _alone(effort, name) for name in ALONE_3},
        STATE_B: figures_1_to_3.FIGURE_3.cases(effort)[figures_1_to_3.SESSIONS_3],
        RENOS: _ten(effort),
        FIFTH: figures_6_and_7.FIGURE_6.cases(effort)[FIFTH],
        **{
            key: seven[key]
            for key in (figures_6_and_7.NOTHING_REPLACED, *map(figures_6_and_7.Replacement, SEVEN))
        },
        **{
            f"{name}: Reno next to {rival}": _pair(effort, name, rival)
            for name in IN_TABLE_5
            for rival in ("Reno", "FIT")
        },
    }


def _pair(effort: Effort, name: str, rival: str) -> Case:
    path = PLACES[name]
    description = scenario(
        effort.setting,
        [flow(effort.setting, "Reno"), flow(effort.setting, rival, name="other")],
        rate_mbps=path.rate_mbps,
        rtt_ms=path.rtt_ms,
        loss=path.loss(effort.setting),
        noise_ms=path.noise_ms,
        measured_s=effort.pick(300, 120),
    )
    return Case(description, effort.runs, record=False)


def _with_queue(run: Run) -> float:
    """Return the utilisation while there is always a packet in the queue."""
    queue = run.queues_of(0).filter(pl.col("min_packets") >= 1)
    return float(queue["utilisation"].mean()) if queue.height else float("nan")  # type: ignore[arg-type]


def _utilisation(run: Run) -> Row:
    return {"utilisation": number(run.summary["links"][0]["utilisation"])}


def _replaced(run: Run) -> Row:
    queue = number(run.summary["links"][0]["mean_queue_packets"])
    return {**_utilisation(run), "Reno": goodputs(run, 10, 10)[0], "queue": queue}


def _of_pair(run: Run) -> Row:
    first, second = goodputs(run, 1, 1)
    return {**_utilisation(run), "first": first, "share": first / (first + second)}


def _share_of_fifth(run: Run) -> Row:
    return {"share": figures_6_and_7.FIGURE_6.measure(FIFTH, run)["share"]}


def _probe_6(case: Key, _effort: Effort) -> Probe:
    if case == FIFTH:
        return Probe(("share",), _share_of_fifth)
    if case == STATE_B:
        return Probe(("utilisation",), lambda run: {"utilisation": _with_queue(run)})
    if isinstance(case, figures_6_and_7.Replacement):
        return Probe(("utilisation", "Reno", "queue"), _replaced)
    if " next to " in str(case):
        return Probe(("utilisation", "first", "share"), _of_pair)
    return Probe(("utilisation",), _utilisation)


SECTION_6 = Simulated(
    name="section-vi",
    caption="statements that are not in figures 3 to 7, and table V's last row",
    about=(
        "A flow alone on figure 3's link, ten Renos on figure 4's, runs of figures 3, 6 and 7, and "
        "Reno next to Reno and next to FIT on the simulated paths of table V."
    ),
    cases=_cases_6,
    probe=_probe_6,
    draw=every_number,
)
