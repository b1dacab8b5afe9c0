"""Measure how often `compare` is wrong: `python docs/make.py decisions` writes the tables in validation.md.

Equal controls, of which none is behind; a control that collapses in a fifth of its runs next to a steady one;
and a control that carries less, which should be found. Runs are drawn here, so the truth is known.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ackclock.comparison.questions import BY_KEY
from ackclock.comparison.ranking import ranked
from ackclock.decision import LOOKS, is_decided, is_hopeless, next_look, over_runs, spent
from ackclock.draw import markdown

PAGE = Path(__file__).resolve().parent / "validation.md"
BEGIN, END = "<!-- decisions: made by docs/make.py decisions -->", "<!-- end of decisions -->"
CONTROLS = (2, 3, 5, 12)
RUNS = (3, 5, 20)
SPREADS = (0.05, 0.1, 0.2, 0.4)
"""Coefficients of variation of a run."""
DRAWS = 300
COLLAPSE = 0.2
"""A control with two modes is in the lower mode in this share of the runs."""
MEAN = 10.0

Draw = Callable[[np.random.Generator, float, tuple[int, ...]], NDArray[np.float64]]


def normal(random: np.random.Generator, cov: float, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw runs with normal scatter; a goodput is not negative."""
    return np.maximum(random.normal(MEAN, cov * MEAN, shape), 0.0)


def lognormal(random: np.random.Generator, cov: float, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw runs whose logarithms are normal, with the same mean and coefficient of variation."""
    variance = np.log(1 + cov**2)
    return random.lognormal(np.log(MEAN) - variance / 2, variance**0.5, shape)


def two_modes(random: np.random.Generator, cov: float, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Draw runs with two values, the lower in a fifth of them, with the same mean and variation."""
    # With probability p the lower: the deviations of two values are sd sqrt((1-p)/p) and sd sqrt(p/(1-p)).
    below, above = ((1 - COLLAPSE) / COLLAPSE) ** 0.5, (COLLAPSE / (1 - COLLAPSE)) ** 0.5
    lower = random.random(shape) < COLLAPSE
    drawn: NDArray[np.float64] = MEAN * (1 + cov * np.where(lower, -below, above))
    return drawn


DRAWN: dict[str, Draw] = {"normal": normal, "lognormal": lognormal, "two modes": two_modes}


def standings(samples: Sequence[Sequence[float]]) -> list[str]:
    """Return the standings of controls by the goodput of their runs."""
    values = {str(index): list(runs) for index, runs in enumerate(samples)}
    return list(ranked(BY_KEY["goodput"], values, 1.0).standings.values())


def false_alarms(name: str, controls: int, runs: int, cov: float, draws: int = DRAWS) -> float:
    """Return the share of comparisons of equal controls that call a control behind."""
    random = np.random.default_rng([controls, runs, round(100 * cov), *name.encode()])
    samples = DRAWN[name](random, cov, (draws, controls, runs))
    return float(np.mean(["behind" in standings(each) for each in samples]))


def collapsing(runs: int, draws: int = DRAWS) -> dict[str, float]:
    """Return how often each standing occurs for a control that collapses in a fifth of its runs."""
    random = np.random.default_rng([runs, 1])
    collapsed = np.where(random.random((draws, runs)) < COLLAPSE, 1.0, MEAN)
    counts = Counter(standings([[MEAN] * runs, each])[1] for each in collapsed)
    return {standing: count / draws for standing, count in counts.items()}


def until_decided(samples: NDArray[np.float64]) -> tuple[list[str], int, bool]:
    """Return the standings of controls at the last look, the number of runs, and whether all is decided."""
    runs = min(LOOKS)
    while True:
        values = {str(index): list(each[:runs]) for index, each in enumerate(samples)}
        ranking = ranked(BY_KEY["goodput"], values, 1.0, spent(runs))
        decided = is_decided(ranking.places, runs)
        following = next_look(runs)
        if decided or following is None or is_hopeless(ranking.places, runs):
            return list(ranking.standings.values()), runs, decided
        runs = following


def looks_at_equals(name: str, controls: int, cov: float, draws: int = DRAWS) -> float:
    """Return the share of comparisons of equal controls that end with somebody behind, over all looks."""
    random = np.random.default_rng([controls, round(100 * cov), *name.encode()])
    samples = DRAWN[name](random, cov, (draws, controls, max(LOOKS)))
    return float(np.mean(["behind" in until_decided(each)[0] for each in samples]))


def looks_at_collapsing(draws: int = DRAWS) -> tuple[float, float]:
    """Return how often a control that collapses in a fifth of its runs ends as alike, and as close."""
    random = np.random.default_rng(1)
    collapsed = np.where(random.random((draws, max(LOOKS))) < COLLAPSE, 1.0, MEAN)
    steady = np.full(max(LOOKS), MEAN)
    counts = Counter(until_decided(np.stack([steady, each]))[0][1] for each in collapsed)
    return counts["alike"] / draws, counts["close"] / draws


def looks_at_less(controls: int, less: float, cov: float, draws: int = DRAWS) -> tuple[float, float, float]:
    """Return how often a control that carries `less` ends behind, how often all is decided, and the runs."""
    random = np.random.default_rng([controls, round(100 * less), round(100 * cov)])
    samples = normal(random, cov, (draws, controls, max(LOOKS)))
    samples[:, -1] *= 1 - less
    looks = [until_decided(each) for each in samples]
    behind = float(np.mean([standings[-1] == "behind" for standings, *_ in looks]))
    decided = float(np.mean([decided for *_, decided in looks]))
    return behind, decided, float(np.mean([runs for _, runs, _ in looks]))


def power(controls: int, runs: int, less: float, cov: float, draws: int = DRAWS) -> float:
    """Return how often a control is behind that carries `less` than the others, by this share."""
    random = np.random.default_rng([controls, runs, round(100 * less)])
    samples = normal(random, cov, (draws, controls, runs))
    samples[:, -1] *= 1 - less
    return float(np.mean([standings(each)[-1] == "behind" for each in samples]))


def coverage(name: str, runs: int, cov: float, draws: int = DRAWS) -> float:
    """Return the share of intervals over runs that have the true mean."""
    random = np.random.default_rng([runs, round(100 * cov), *name.encode()])
    estimates = [over_runs(each) for each in DRAWN[name](random, cov, (draws, runs))]
    return float(np.mean([each.low <= MEAN <= each.high for each in estimates]))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def tables() -> list[str]:
    """Return the tables in Markdown."""
    lines = [f"Somebody is behind among equal controls, in % of {DRAWS} comparisons; the worst of CoV "]
    lines[0] += f"{', '.join(map(str, SPREADS[:-1]))} and {SPREADS[-1]}:"
    rows = [
        [
            name,
            str(runs),
            *(_percent(max(false_alarms(name, k, runs, cov) for cov in SPREADS)) for k in CONTROLS),
        ]
        for name in DRAWN
        for runs in RUNS
    ]
    lines += ["", *markdown.table(["scatter", "runs", *(f"{k} controls" for k in CONTROLS)], rows), ""]
    kinds = ("alike", "close", "undecided", "behind")
    lines += ["A control that collapses in a fifth of its runs next to a steady one, in %:", ""]
    rows = []
    for runs in (3, 5, 10, 14, 20, 30):
        shares = collapsing(runs)
        rows.append([str(runs), *(_percent(shares.get(kind, 0.0)) for kind in kinds)])
    lines += [*markdown.table(["runs", *kinds], rows), ""]
    lines += ["Found to be behind, in %, at a CoV of 0.1:", ""]
    rows = [
        [
            f"{less:.0%}".replace("%", " % less"),
            str(k),
            *(_percent(power(k, runs, less, 0.1)) for runs in RUNS),
        ]
        for less in (0.3, 0.5)
        for k in (2, 5, 12)
    ]
    lines += [*markdown.table(["goodput", "controls", *(f"{runs} runs" for runs in RUNS)], rows), ""]
    lines += ["95 % intervals over runs that have the true mean, in %, at a CoV of 0.4:", ""]
    rows = [[name, *(_percent(coverage(name, runs, 0.4)) for runs in RUNS)] for name in DRAWN]
    lines += [*markdown.table(["scatter", *(f"{runs} runs" for runs in RUNS)], rows), ""]
    return lines + _tables_of_looks()


def _tables_of_looks() -> list[str]:
    """Return the tables of comparisons that are looked at until they are decided."""
    looks = ", ".join(f"{runs} ({spent(runs):.0%})".replace("%", " %") for runs in LOOKS)
    lines = [
        "Without `--runs` a comparison is looked at after groups of runs, until it is decided or hopeless. "
        f"Each look spends a share of the error of 5 %: {looks}. The shares add up to 1, so all looks err "
        "together at most as often as one test (alpha spending, Biometrika 70, 1983; by Bonferroni). "
        "Half is spent by the fifth run, where the boundaries of O'Brien and Fleming spend nothing.",
        "",
        f"Equal controls, of which one ends behind over all looks, in % of {DRAWS}; the worst of four CoV:",
        "",
    ]
    rows = [
        [name, *(_percent(max(looks_at_equals(name, k, cov) for cov in SPREADS)) for k in CONTROLS)]
        for name in DRAWN
    ]
    lines += [*markdown.table(["scatter", *(f"{k} controls" for k in CONTROLS)], rows), ""]
    alike, close = map(_percent, looks_at_collapsing())
    lines += [
        f"The control that collapses in a fifth of its runs ends as alike in {alike} %, close in {close} %.",
        "",
        "Runs until decided, of which one control carries less: how often it ends behind, how often every "
        "control is decided, and the mean number of runs, of at most 50:",
        "",
    ]
    rows = []
    for less, k, cov in itertools.product((0.0, 0.05, 0.3, 0.5), (2, 5), (0.02, 0.1, 0.3)):
        behind, decided, runs = looks_at_less(k, less, cov)
        rows.append(
            [f"{100 * less:.0f} % less", str(k), str(cov), _percent(behind), _percent(decided), f"{runs:.1f}"]
        )
    return lines + markdown.table(["goodput", "controls", "CoV", "behind", "decided", "runs"], rows)


def write() -> None:
    """Replace the tables in validation.md."""
    text = "\n".join([BEGIN, *tables(), END])
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN, 1)
    PAGE.write_text(before + text + rest.split(END, 1)[1], encoding="utf-8")
