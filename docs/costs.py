"""Measure what `compare` costs until it is decided, and whether pairs of runs would gain anything.

`python docs/make.py costs` writes both tables of validation.md; it takes a few minutes.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ackclock import comparison
from ackclock.comparison import options
from ackclock.comparison.conclusion import SHORT
from ackclock.comparison.path import FIXED_RUNS, PathSetup
from ackclock.comparison.questions import BY_KEY, FIRST_SCREEN, LOOKED_AT
from ackclock.comparison.ranking import rank
from ackclock.draw import markdown

PAGE = Path(__file__).resolve().parent / "validation.md"
BEGIN, END = "<!-- costs: made by docs/make.py costs -->", "<!-- end of costs -->"
CONTROLS = ("reno", "cubic", "bbr")
PATHS: dict[str, dict[str, Any]] = {
    "geo": {"path": "geo", "duration": "60s"},
    "dsl": {"path": "dsl", "duration": None},
    "wifi": {"path": "wifi", "duration": "60s"},
    "4g": {"path": "4g", "duration": None},
    "20 Mbit/s, 40 ms, 1 % lost": {
        "path": None,
        "duration": None,
        "rate": "20mbit",
        "rtt": "40ms",
        "loss": "1%",
    },
}
PAIRED_RUNS = 16
PAIRED_CONTROLS = ("reno", "cubic-linux", "bbr")


def _setting(given: dict[str, Any], runs: int | None) -> PathSetup:
    return options.of_options(scenario=None, runs=runs, **given)


def _packets(compared: comparison.Comparison) -> float:
    """Return the packets of all runs in millions."""
    first = min(len(values) for of_control in compared.values.values() for values in of_control.values())
    packets = first * compared.packets
    for scenario in LOOKED_AT:
        key = next(key for key in FIRST_SCREEN if BY_KEY[key].scenario == scenario)
        runs = len(compared.values[key][CONTROLS[0]])
        packets += (runs - first) * compared.packets_of[scenario]
    return packets / 1e6


def _decided(compared: comparison.Comparison) -> int:
    """Return how many questions of the first screen have no undecided control."""
    return sum(not rank(compared, BY_KEY[key]).at("undecided") for key in FIRST_SCREEN)


def costs() -> list[str]:
    """Return the cost of a comparison with five runs and by default, on each path."""
    heads = ["path", "runs", "million packets", "s", "decided"]
    heads += [f"{head} by default" for head in heads[1:]]
    return markdown.table(heads, [cost_of(name) for name in PATHS])


def cost_of(name: str) -> list[str]:
    """Return the row of a path."""
    cells = [name]
    for runs in (FIXED_RUNS, None):
        # Processor time: it is the same on a busy machine.
        begin_s = time.process_time()
        compared = comparison.compare(_setting(PATHS[name], runs), CONTROLS)
        seconds = time.process_time() - begin_s
        counts = [len(compared.values[key][CONTROLS[0]]) for key in ("goodput", "stolen_reno", "recovery")]
        number = str(runs) if runs else f"3, and {', '.join(map(str, counts))}"
        cells += [number, f"{_packets(compared):.3g}", f"{seconds:.2g}", f"{_decided(compared)} of 5"]
    return cells


def _pairs(question: str, compared: Sequence[comparison.Comparison]) -> Iterator[float]:
    """Yield the variance of differences of paired runs over that of unpaired ones, where both scatter."""
    for each in compared:
        for one, other in itertools.combinations(PAIRED_CONTROLS, 2):
            values = np.array([each.values[question][one], each.values[question][other]])
            values = values[:, np.isfinite(values).all(axis=0)]
            if values.shape[1] < FIXED_RUNS or (values.std(axis=1) <= 1e-9 * np.abs(values).max()).any():
                continue
            yield float(np.var(values[0] - values[1], ddof=1) / values.var(axis=1, ddof=1).sum())


def pairing() -> list[str]:
    """Return the gain from pairs of runs with the same random numbers, by question."""
    compared = [
        comparison.compare(_setting(given | {"duration": "60s"}, PAIRED_RUNS), PAIRED_CONTROLS)
        for given in PATHS.values()
    ]
    rows = []
    for key in FIRST_SCREEN:
        ratios = np.array(list(_pairs(key, compared)))
        numbers = [f"{np.median(ratios):.2f}", str((ratios < 0.39).sum()), str((ratios > 1).sum())]
        rows.append([SHORT[key], str(len(ratios)), *numbers])
    return markdown.table(["question", "pairs", "median", "below 0.39", "above 1"], rows)


def write() -> None:
    """Replace the tables in validation.md."""
    lines = [
        f"Three controls ({', '.join(CONTROLS)}) on five paths: five runs of everything, as before, and runs "
        "until decided. Of the latter all scenarios have three, and one flow alone, one next to Reno and one "
        "after a step have as many as stand there. What five runs decided has no more than five, unless it "
        "shares its runs with a question that they left open. Times are a processor's; `geo` and `wifi` have "
        "runs of 60 s.",
        "",
        *costs(),
        "",
        "All controls meet the same losses, starts and cross traffic in a run, but runs are not paired: the "
        "variance of the difference of two controls in pairs, over that of independent runs, in "
        f"{PAIRED_RUNS} runs of 60 s on these paths ({', '.join(PAIRED_CONTROLS)}). Pairs halve the degrees "
        "of freedom, which with five runs is worth less than a ratio of 0.39.",
        "",
        *pairing(),
    ]
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN, 1)
    PAGE.write_text(before + "\n".join([BEGIN, *lines, END]) + rest.split(END, 1)[1], encoding="utf-8")
