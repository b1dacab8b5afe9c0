"""The differences between two results: scenarios, numbers, windows."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from ackclock._native import RULES
from ackclock.decision import unpaired_difference
from ackclock.engine import integrity
from ackclock.engine.run import Run
from ackclock.engine.scenario import ScenarioError

if TYPE_CHECKING:
    from ackclock.draw.plots import Picture

QUANTITIES = (
    "goodput_mbps",
    "mean_window",
    "mean_rtt_ms",
    "rtt_p95_ms",
    "sent_packets",
    "retransmitted_packets",
    "dropped_packets",
    "loss_events",
    "timeouts",
    "completion_s",
)
Result = Run | Sequence[Run] | Path | str
KEYS = dict.fromkeys(("key", "a", "b"), pl.String)
"""Columns of the keys that differ."""
NUMBERS = dict.fromkeys(("subject", "quantity"), pl.String) | dict.fromkeys(
    ("a", "b", "change", "low", "high"), pl.Float64
)
"""Columns of the numbers."""


@dataclass(frozen=True, repr=False)
class Difference:
    """The differences between the results ``a`` and ``b``.

    Attributes
    ----------
    scenario : polars.DataFrame
        One row per key that differs, of a scenario or of another input of a result: key, a, b (as texts; null
        where a result lacks the key).
    numbers : polars.DataFrame
        One row per subject and number: subject (a flow, or what else the number is about), quantity, a, b
        (means over the runs), change (b - a) and, when both results have several runs, low and high, the
        95 % interval of the change (Welch).
    same : bool
        Whether all runs were identical, packet by packet; without runs, all numbers.
    runs : tuple
        The runs of ``a`` and those of ``b``; empty for results of other verbs than ``simulate``.
    """

    scenario: pl.DataFrame
    numbers: pl.DataFrame
    same: bool
    runs: tuple[tuple[Run, ...], tuple[Run, ...]]

    def __repr__(self) -> str:
        return f"<Difference: {self.words()}>"

    def words(self) -> str:
        """Summarise the differences in one line.

        Returns
        -------
        str
            One line of text.
        """
        older = [name for name, runs in zip("AB", self.runs, strict=True) if _is_of_other_rules(runs)]
        if older:
            return (
                f"{' and '.join(older)} was measured by other rules than today's, so numbers cannot be "
                "compared: simulate its scenario.toml again"
            )
        if self.same:
            return f"nothing: the same, {'packet by packet' if self.runs[0] else 'number by number'}"
        changed = self.numbers.filter(pl.col("change") != 0).height
        keys, numbers = self.scenario.height, self.numbers.height
        of = "keys of the scenario" if self.runs[0] else "settings and verdicts"
        return f"{keys} {of}, {changed} of {numbers} numbers"

    def _repr_html_(self) -> str:
        from ackclock.draw.card import card

        keys = card("Scenario", [], self.scenario.columns, self.scenario.rows())
        return keys + card("Numbers", [self.words()], self.numbers.columns, self.numbers.rows())

    def to_latex(self) -> str:
        """Write the numbers as a table for LaTeX, with the rules of booktabs.

        Returns
        -------
        str
            A LaTeX tabular environment.
        """
        from ackclock.draw import latex
        from ackclock.summary import profiles

        flows = [flow for runs in self.runs for run in runs for flow in run.summary["flows"]]
        return latex.table(self.numbers.columns, self.numbers.rows(), profile=profiles(flows))

    def draw(self) -> Picture:
        """Draw the windows of the first run of each result, one above the other.

        Returns
        -------
        Figure
            Two panels with the same axes.

        Raises
        ------
        ValueError
            If a run was not recorded, or the results are not runs.
        """
        if not self.runs[0]:
            raise ValueError("only results of simulate have windows to draw; leave out -o")
        from ackclock.draw import plots
        from ackclock.draw.run import Pictures

        with plots.in_style():
            figure, panels = plots.panels(2, height=2.2)
            for panel, title, runs in zip(panels, "ab", self.runs, strict=True):
                Pictures(runs[0]).window(ax=panel)
                panel.set_title(title, loc="left")
            highest = max(panel.get_ylim()[1] for panel in panels)
            last = max(panel.get_xlim()[1] for panel in panels)
            for panel in panels:
                panel.set(xlim=(0, last), ylim=(0, highest))
        return figure


def of_runs(a: Result, b: Result) -> Difference:
    """Return the differences between runs, or between the directories of runs."""
    first, second = _runs(a), _runs(b)
    scenarios = [tomllib.loads(runs[0].scenario) for runs in (first, second)]
    digests = [[run.digest for run in runs] for runs in (first, second)]
    return Difference(
        pl.DataFrame(keys(*scenarios), schema=KEYS),
        pl.DataFrame(list(_numbers(first, second)), schema=NUMBERS),
        digests[0] == digests[1],
        (first, second),
    )


def keys(a: Mapping[str, object], b: Mapping[str, object]) -> list[dict[str, str | None]]:
    """Return a row of `KEYS` for each value of nested mappings that differs."""
    trees = [dict(_flat(tree)) for tree in (a, b)]
    return [
        {"key": key, "a": trees[0].get(key), "b": trees[1].get(key)}
        for key in dict.fromkeys([*trees[0], *trees[1]])
        # "60 ms" and "60ms" are the same.
        if "".join(trees[0].get(key, "-").split()) != "".join(trees[1].get(key, "-").split())
    ]


def _is_of_other_rules(runs: Sequence[Run]) -> bool:
    """Return whether runs were measured by other rules; runs recorded elsewhere have no digest."""
    summaries = [run.summary for run in runs]
    return any(summary["digest"] is not None and summary.get("rules") != RULES for summary in summaries)


def _runs(given: Result) -> tuple[Run, ...]:
    if isinstance(given, Run):
        return (given,)
    if not isinstance(given, Path | str):
        return tuple(given)
    directory = Path(given)
    several = sorted(directory.glob("run-*"))
    try:
        integrity.check(directory)
        return tuple(Run.read(path, checked=False) for path in several or [directory])
    except OSError as error:
        raise ScenarioError(
            f"{directory}: holds no result ({Path(error.filename or directory).name}: {error.strerror}); "
            "ackclock simulate FILE -o DIR writes one"
        ) from error


def _flat(tree: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every value of nested mappings and lists as a text, by its key in the syntax of --set."""
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            yield from _flat(value, f"{key}.{name}" if key else name)
    elif isinstance(tree, list) and any(isinstance(item, Mapping) for item in tree):
        for index, value in enumerate(tree):
            yield from _flat(value, f"{key}.{index}")
    else:
        yield key, tree if isinstance(tree, str) else json.dumps(tree)


def _numbers(first: tuple[Run, ...], second: tuple[Run, ...]) -> Iterator[dict[str, object]]:
    flows = [runs[0].summary["flows"] for runs in (first, second)]
    for index in range(min(map(len, flows))):
        names = dict.fromkeys(side[index]["name"] for side in flows)
        for quantity in QUANTITIES:
            values = [[run.summary["flows"][index].get(quantity) for run in runs] for runs in (first, second)]
            known = [[value for value in numbers if isinstance(value, int | float)] for numbers in values]
            if all(known):
                yield {"subject": " / ".join(names), "quantity": quantity, **change(*known)}


def change(a: list[float], b: list[float]) -> dict[str, float | None]:
    """Return the means of two samples, and their change with its interval, as in `NUMBERS`."""
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    # An event that never happens takes infinitely long; two infinite means do not differ.
    by = 0.0 if mean_a == mean_b else mean_b - mean_a
    row: dict[str, float | None] = {"a": mean_a, "b": mean_b, "change": by}
    if not (math.isfinite(mean_a) and math.isfinite(mean_b)):
        return row
    interval = unpaired_difference(b, a)
    if not math.isnan(interval.low):
        row |= {"low": interval.low, "high": interval.high}
    return row
