"""Cross-validation over artefacts: whether a setting that was found is better than the declared one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ackclock.reproduction.trials.settings import Setting
from ackclock.reproduction.trials.tried import Trial

FOLDS = 10
"""Largest number of folds. Artefacts that are neighbours in the paper are in the same fold."""
ERRORS = 2.0
"""A setting is accepted when its gain is more than this many standard errors."""


class Fold(NamedTuple):
    """The held-out part, and the setting that the rest chose.

    `name` has the held-out artefacts and `run` is the held-out seed. `chosen` is the index of the setting
    with the best score in the other folds with the other seeds. `declared` and `best` are the held-out scores
    of the declared and of the chosen setting.
    """

    name: str
    run: int
    chosen: int
    declared: float
    best: float

    @property
    def gain(self) -> float:
        """The held-out gain of the chosen setting."""
        return self.best - self.declared


@dataclass(frozen=True)
class Validation:
    """The result of cross-validation.

    `finalists` are the settings among which every fold chose, the declared one first, and `scores` are
    their mean scores. `gain` is the mean held-out gain and `error` its standard error. `planned` is the
    one fold that was written down before any run: some claims choose, some others test.
    """

    finalists: Sequence[Setting]
    scores: Sequence[float]
    folds: Sequence[Fold]
    gain: float
    error: float
    planned: Fold | None = None

    @property
    def best(self) -> int:
        """The index of the finalist with the best score; the declared setting wins a tie."""
        return int(np.argmax(self.scores))

    @property
    def accepted(self) -> bool:
        """Whether the best finalist takes the place of the declared setting."""
        return self.best > 0 and self.gain > ERRORS * self.error

    @property
    def alternative(self) -> Setting | None:
        """The best finalist where it cannot be distinguished from the declared setting."""
        return self.finalists[self.best] if self.best and not self.accepted else None

    def words(self) -> dict[str, Any]:
        """Return the result as data, for `read`."""
        folds = [fold._asdict() | {"gain": fold.gain} for fold in self.folds]
        planned = self.planned and self.planned._asdict() | {"gain": self.planned.gain}
        return asdict(self) | {"folds": folds, "planned": planned}

    @classmethod
    def read(cls, words: Mapping[str, Any]) -> Validation:
        """Return the result from the data of `words`."""

        def fold(row: Mapping[str, Any]) -> Fold:
            return Fold(**{name: row[name] for name in Fold._fields})

        planned = words["planned"]
        return cls(
            words["finalists"],
            words["scores"],
            [fold(row) for row in words["folds"]],
            words["gain"],
            words["error"],
            planned and fold(planned),
        )


def validate(tested: Sequence[Trial], artefacts: Sequence[str]) -> Validation:
    """Cross-validate settings by their trials, the declared one first, all with the same seeds.

    Each fold is some artefacts with one seed. The setting that scores best on the other artefacts with the
    other seeds is chosen, so that a run that artefacts share never chooses and tests, and it is compared
    with the declared setting on the fold. A setting against a condition of the paper is never chosen.
    """
    tested = [trial for number, trial in enumerate(tested) if number == 0 or trial.possible]
    scores = np.array([[trial.by_artefact[name] for name in artefacts] for trial in tested])
    runs = scores.shape[2]
    parts = np.array_split(np.arange(len(artefacts)), min(FOLDS, len(artefacts)))
    gains = np.zeros(scores.shape[1:])
    folds = []
    for part in parts:
        rest = np.setdiff1d(np.arange(len(artefacts)), part)
        for run in range(runs):
            others = [other for other in range(runs) if other != run] or [run]
            # The first of equals is the declared setting, and with nothing to choose by it stays.
            means = scores[:, rest][:, :, others].mean(axis=(1, 2)) if len(rest) else np.zeros(len(tested))
            chosen = int(np.argmax(means))
            gains[part, run] = scores[chosen, part, run] - scores[0, part, run]
            declared, best = (float(scores[index, part, run].mean()) for index in (0, chosen))
            name = ", ".join(artefacts[index] for index in part)
            folds.append(Fold(name, tested[0].first_run + run, chosen, declared, best))
    return Validation(
        finalists=[dict(trial.setting) for trial in tested],
        scores=scores.mean(axis=(1, 2)).tolist(),
        folds=folds,
        gain=float(gains.mean()),
        error=_error(gains, parts),
        planned=_planned(tested),
    )


def _error(gains: NDArray[np.float64], parts: Sequence[NDArray[np.int_]]) -> float:
    """Return the standard error of the mean of gains: the larger of that over folds and that over seeds.

    Artefacts of a fold may share runs, and all artefacts share seeds, so neither are independent.
    """
    artefacts, runs = gains.shape
    if len(parts) < 2:
        # A gain in a single fold has an error that is not known, and is not accepted.
        return abs(float(gains.mean()))
    excess = [float((gains[part].mean(axis=1) - gains.mean()).sum()) for part in parts]
    over_folds = np.sqrt(len(parts) / (len(parts) - 1) * np.square(excess).sum()) / artefacts
    over_seeds = np.std(gains.mean(axis=0), ddof=1) / np.sqrt(runs) if runs > 1 else 0.0
    return float(max(over_folds, over_seeds))


def _planned(tested: Sequence[Trial]) -> Fold | None:
    """Return the fold of the claims that were named before any run, if there are such claims."""
    if not {"fit", "held_out"} <= set(tested[0].scores):
        return None
    chosen = int(np.argmax([trial.scores["fit"] for trial in tested]))
    declared, best = (tested[index].scores["held_out"] for index in (0, chosen))
    return Fold("as written down before any run", tested[0].first_run, chosen, declared, best)
