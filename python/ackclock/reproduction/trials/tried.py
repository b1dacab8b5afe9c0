"""The outcomes at settings that were tried, kept as tables, and the verdicts that follow for claims."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

from ackclock.engine import integrity
from ackclock.reproduction.trials.settings import Setting, name_of

SETTINGS = "settings.csv"
CLAIMS = "claims.csv"
SETTING = "setting.json"
READINGS = "readings.csv"
"""Name of the table of `ackclock.reproduction.inference.readings`, next to a paper's data file."""
DESIGN = "design"
"""Stage of settings drawn evenly from all plausible ones, and judged by every claim."""
MATRIX = "readings"
"""Stage of the matrix of readings: every value of every open item alone, with several seeds."""
SEARCHED = "search"
"""Stage of settings that differ in several items, around the best one for an artefact, with several seeds."""
ROBUST = 0.8
"""A robust claim holds at this share of the plausible settings."""

LOSSES = "departure_of_losses"
"""Column of `SETTINGS`: how many times the share of drops of a kind of flow is its share of packets, or the
reverse where that is more; only where no other condition makes the setting impossible."""
SCORES = ("score", "fit", "held_out", LOSSES)
"""Columns of `SETTINGS`: the score of all artefacts, the scores of the claims that were named before any run
to choose and to test, and `LOSSES`. The tables of earlier searches lack the first and the last."""

ClaimKey = tuple[str, str]
"""Names of an artefact and of a claim of it."""


class Outcome(NamedTuple):
    """The outcome of a claim at a setting; `value` is NaN where the claim has no number.

    `undecided` is kept while a search lasts and in the matrix of readings, not in the tables of a search.
    """

    holds: bool
    value: float
    undecided: bool = False


@dataclass(frozen=True)
class Trial:
    """A setting that was tried, and the outcomes of its claims.

    `stage` is the purpose of the trial, `runs` the number of seeds of each scenario from `first_run` on.
    `possible` tells whether the conditions that the paper states held in these runs. `scores` has the mean
    score of all artefacts, and the scores of the claims that were named before any run; see `SCORES`.
    `by_artefact` and `by_claim` have the score of each artefact and claim in each run, which the tables lack.
    """

    setting: Setting
    stage: str
    runs: int
    first_run: int
    possible: bool = True
    scores: Mapping[str, float] = field(default_factory=dict)
    outcomes: Mapping[ClaimKey, Outcome] = field(default_factory=dict)
    by_artefact: Mapping[str, Sequence[float]] = field(default_factory=dict, compare=False)
    by_claim: Mapping[ClaimKey, Sequence[float]] = field(default_factory=dict, compare=False)


def write(directory: Path, trials: Sequence[Trial]) -> None:
    """Write trials as two tables: `SETTINGS` has a row per trial, `CLAIMS` a row per claim."""
    names = list(trials[0].setting)
    heads = ["trial", "stage", "runs", "first_run", "possible", *SCORES]
    rows = [
        [number, trial.stage, trial.runs, trial.first_run, _yes(trial.possible)]
        + [f"{trial.scores[name]:.3f}" if name in trial.scores else "" for name in SCORES]
        + [json.dumps(trial.setting[name]) for name in names]
        for number, trial in enumerate(trials)
    ]
    _write(directory / SETTINGS, [*heads, *names], rows)
    keys = dict.fromkeys(key for trial in trials for key in trial.outcomes)
    cells = [
        [*key, *(_cell(trial.outcomes.get(key)) for trial in trials)]
        for key in sorted(keys, key=lambda key: key[0])
    ]
    _write(directory / CLAIMS, ["artefact", "claim", *map(str, range(len(trials)))], cells)


def _write(file: Path, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([heads, *rows])


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _cell(outcome: Outcome | None) -> str:
    if outcome is None:
        return ""
    number = "" if math.isnan(outcome.value) else f" {outcome.value:.4g}"
    return f"{_yes(outcome.holds)}{number}"


def read(directory: Traversable) -> list[Trial]:
    """Read the tables of `write`, in the order of the trials; there are none without tables."""
    if not (directory / SETTINGS).is_file():
        return []
    _check(directory)
    heads, *rows = _rows(directory / CLAIMS)
    outcomes: dict[int, dict[ClaimKey, Outcome]] = defaultdict(dict)
    for artefact, claim, *cells in rows:
        for number, cell in zip(map(int, heads[2:]), cells, strict=True):
            if cell:
                holds, _, value = cell.partition(" ")
                outcomes[number][artefact, claim] = Outcome(holds == "yes", float(value or math.nan))
    heads, *rows = _rows(directory / SETTINGS)
    scored = [name for name in SCORES if name in heads]
    trials = []
    for row in rows:
        trial, stage, runs, first_run, possible, *others = row
        scores = {name: float(others[index]) for index, name in enumerate(scored) if others[index]}
        values = map(json.loads, others[len(scored) :])
        trials.append(
            Trial(
                dict(zip(heads[5 + len(scored) :], values, strict=True)),
                stage,
                int(runs),
                int(first_run),
                possible == "yes",
                scores,
                outcomes[int(trial)],
            )
        )
    return trials


def _check(directory: Traversable) -> None:
    """Refuse changed or damaged tables; a package in an archive has the checksums of the archive."""
    if isinstance(directory, Path):
        integrity.check(directory)


def _rows(file: Traversable) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.read_text(encoding="utf-8"))))


VerdictKind = Literal["reproduced", "undecided", "depends", "contradicted", "not found", "differs"]
"""The verdict on a claim, in this order: it holds; its interval includes both answers; it holds at
other plausible settings; the paper contradicts itself; it holds at none of the settings tried, which have
every reading of its own controls with several values, and several items changed together; it does not hold,
and no other setting or not every reading was tried."""


class VerdictRecord(TypedDict):
    """The outcome of a claim at the settings that were tried, in its record."""

    verdict: VerdictKind
    robust: bool
    holding_settings: int
    tried_settings: int
    depends_on: str


class ClaimVerdict(NamedTuple):
    """The verdict on a claim, and how robust it is.

    `holding` of `tried` plausible settings agree with the claim. `why` names the items on which it depends,
    and is empty if none is shown to act.
    """

    kind: VerdictKind
    holding: int
    tried: int
    why: str

    @property
    def robust(self) -> bool:
        """Whether the claim holds at most plausible settings."""
        return self.kind == "reproduced" and 0 < self.tried <= self.holding / ROBUST

    def record(self) -> VerdictRecord:
        """Return it as the record of a claim has it."""
        return {
            "verdict": self.kind,
            "robust": self.robust,
            "holding_settings": self.holding,
            "tried_settings": self.tried,
            "depends_on": self.why,
        }


def judge(
    key: ClaimKey,
    holds: bool,
    trials: Sequence[Trial],
    why: str = "",
    contradicted: bool = False,
    undecided: bool = False,
    readings: Collection[str] = (),
    *,
    searched: bool = True,
) -> ClaimVerdict:
    """Return the verdict on a claim.

    `holds` and `undecided` are its state at the paper's setting; `contradicted` means that a finding
    proves that it cannot hold together with the rest of the paper. `why` names the items on which it depends
    (`ackclock.reproduction.trials.dependence`), `readings` those with readings of the text on which it could.
    `searched` tells whether several items were changed together, if there are several.
    """
    everywhere = [trial for trial in trials if trial.possible and key in trial.outcomes]
    # Without settings of a design, settings that differ in one item count.
    fair = plausible(trials, key) or list(
        {name_of(trial.setting): trial for trial in reversed(everywhere)}.values()
    )
    holding = sum(trial.outcomes[key].holds for trial in fair)
    # One of many settings with one set of seeds may agree by chance, unless several runs decide it.
    agreeing = [trial for trial in everywhere if trial.outcomes[key].holds]
    holds_at = {(name_of(trial.setting), trial.first_run) for trial in agreeing}
    is_decided = any(
        trial.stage in (MATRIX, SEARCHED) and not trial.outcomes[key].undecided for trial in agreeing
    )
    varied = all(len({repr(trial.setting[name]) for trial in everywhere}) > 1 for name in readings)
    kind: VerdictKind
    if undecided:
        kind = "undecided"
    elif holds:
        kind = "reproduced"
    elif contradicted:
        kind = "contradicted"
    elif len(holds_at) > 1 or is_decided:
        kind = "depends"
    else:
        kind = "not found" if everywhere and varied and searched else "differs"
    tried = len(fair)
    if kind in ("not found", "differs"):
        tried = len({name_of(trial.setting) for trial in everywhere})
    return ClaimVerdict(kind, holding, tried, why)


def plausible(trials: Sequence[Trial], key: ClaimKey) -> list[Trial]:
    """Return the trials that stand for all plausible settings, one for each.

    They are the possible settings of the design at which the claim was judged. If a setting was tried with
    different seeds, its first trial counts.
    """
    return [trial for trial in _designed(trials) if key in trial.outcomes]


def _designed(trials: Sequence[Trial]) -> list[Trial]:
    """Return the first possible trial of the design at each setting."""
    first: dict[str, Trial] = {}
    for trial in trials:
        if trial.stage == DESIGN and trial.possible:
            first.setdefault(name_of(trial.setting), trial)
    return list(first.values())


def never_together(trials: Sequence[Trial]) -> list[tuple[ClaimKey, ClaimKey]]:
    """Return pairs of claims of different artefacts that hold often, but never at the same setting.

    Each claim holds at a quarter of the settings at least; pairs that hold most often come first.
    """
    by_claim: dict[ClaimKey, set[int]] = defaultdict(set)
    judged: dict[ClaimKey, set[int]] = defaultdict(set)
    for number, trial in enumerate(_designed(trials)):
        for key, outcome in trial.outcomes.items():
            judged[key].add(number)
            if outcome.holds:
                by_claim[key].add(number)
    often = {key: some for key, some in by_claim.items() if 4 * len(some) >= len(judged[key]) >= 4}
    pairs = [
        (first, second)
        for first, second in combinations(often, 2)
        if first[0] != second[0] and not often[first] & often[second]
    ]
    return sorted(pairs, key=lambda pair: -len(often[pair[0]]) - len(often[pair[1]]))


def setting_of(directory: Traversable) -> dict[str, Any]:
    """Read the setting that was chosen and its scores; the result is empty when none was."""
    file = directory / SETTING
    if not file.is_file():
        return {}
    _check(directory)
    setting: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return setting
