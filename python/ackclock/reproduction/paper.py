"""A paper: its artefacts, its setting, and the outcomes of its claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ackclock.reproduction.claims.artefact import Artefact, Claim, Simulated
from ackclock.reproduction.claims.losses import Condition
from ackclock.reproduction.claims.numbers import QUICK, Key
from ackclock.reproduction.main_claims import MainClaim
from ackclock.reproduction.ns2 import InNs2
from ackclock.reproduction.trials import cells, tried
from ackclock.reproduction.trials.cells import Cell
from ackclock.reproduction.trials.crossvalidation import Validation
from ackclock.reproduction.trials.exchanges import Exchanges
from ackclock.reproduction.trials.settings import Item, Setting, declared
from ackclock.reproduction.trials.tried import Trial


@dataclass(frozen=True)
class Inference:
    """The claims, artefacts and runs with which settings are tried.

    `fit` and `held_out` are the claims by artefact that were named before any setting was tried, to choose
    and to test. `left_out` names the artefacts that cost too much to be judged at every setting drawn. `runs`
    is the number of seeds when one item after the other takes each of its values.
    """

    fit: Mapping[str, Sequence[str]] = field(default_factory=dict)
    held_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    left_out: Sequence[str] = ()
    runs: int = 2


class Chosen(NamedTuple):
    """The chosen setting and its scores.

    `setting` has the chosen values of the open items, and `accepted` tells whether they differ from the
    declared ones. `scores` are those of a search of an earlier version, by ``fit`` and ``held_out``, of the
    ``declared`` setting and of the ``best`` for the claims that chose. `trials` reads everything that was
    tried. `alternative` is the best setting if cross-validation, with the result `validation`, cannot
    distinguish it from the declared one. `own` has the cross-validation of items that a single artefact has,
    over its claims.
    """

    setting: Setting
    accepted: bool
    scores: Mapping[str, Mapping[str, float]]
    trials: Callable[[], Sequence[Trial]]
    alternative: Setting | None = None
    validation: Validation | None = None
    own: Mapping[str, Validation] = MappingProxyType({})


@dataclass(frozen=True)
class Paper:
    """A paper whose figures and tables are reproduced.

    `name` is its name on the command line, `title` its reference. `items` are the setting of its simulations
    with all plausible values, and `artefacts` are in the order of the paper. `changes` are claims and
    tolerances that changed after they had been run, each with its reason. `inference` has the claims,
    artefacts and runs with which settings are tried, `conditions` are statements of the paper about its
    simulations that runs can confirm, `losses` has its words against phase effects, `inferred` is the result
    of trying settings, and `ns2` has the results of ns-2 by artefact and claim. `main_claims` has the main
    claim of each artefact, and `unknown_code` the controls that the paper does not describe completely and
    whose code is not public. `matrix` reads the cells of the matrix of readings. `controls` are the paper's
    own controls, which an exchange replaces, and `exchanges` has the outcomes of its claims after the
    exchange. `planned` are the runs of each case of a full reproduction, by artefact and label, where they
    are planned, and `planned_quick` those of a quick one. `home` is its directory; there is none in memory.
    Raises LookupError when a claim asks for a number that its artefact does not supply, the chosen value is
    not one of its item's, or an artefact that is left out does not exist, and TypeError when `controls` is
    not a list of names.
    """

    name: str
    title: str
    items: Sequence[Item]
    artefacts: Sequence[Artefact]
    changes: Sequence[str] = ()
    inference: Inference | None = None
    conditions: Artefact | None = None
    losses: Condition | None = None
    inferred: Chosen | None = None
    ns2: Mapping[tuple[str, str], InNs2] = field(default_factory=dict)
    main_claims: Mapping[str, MainClaim] = field(default_factory=dict)
    unknown_code: Sequence[str] = ()
    planned: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    planned_quick: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    matrix: Callable[[], Sequence[Cell]] = tuple
    controls: Sequence[str] = ()
    exchanges: Exchanges = field(default_factory=dict)
    home: Path | None = None

    def __post_init__(self) -> None:
        if isinstance(self.controls, str) or not all(isinstance(name, str) for name in self.controls):
            raise TypeError(f"controls of {self.name} is not a list of names")
        left_out = set(self.inference.left_out) if self.inference else set()
        unknown = left_out - {artefact.name for artefact in self.artefacts}
        if unknown:
            raise LookupError(f"{self.name} has no {min(unknown)}, which [inference] leaves out")
        for item in self.items:
            for setting in filter(None, (self.setting, self.alternative)):
                if item.name:
                    item.find(setting[item.name])
        for artefact in (*self.artefacts, *([self.conditions] if self.conditions else [])):
            artefact.check(self.setting)

    def __getitem__(self, name: str) -> Artefact:
        """Find an artefact by its name."""
        return next(artefact for artefact in self.artefacts if artefact.name == name)

    @cached_property
    def setting(self) -> Setting:
        """The one setting of its simulations: the inferred one, or else the declared one."""
        return declared(self.items) | (dict(self.inferred.setting) if self.inferred else {})

    @cached_property
    def alternative(self) -> Setting | None:
        """The other setting, if two settings cannot be distinguished."""
        other = self.inferred.alternative if self.inferred else None
        return None if other is None else declared(self.items) | dict(other)

    def other(self, artefact: Artefact) -> Setting:
        """Return the items on which an artefact can depend and that differ at the other setting."""
        there = self.alternative
        if there is None or not self.differs(artefact, self.setting, there):
            return {}
        items = [item.name for item in self.relevant(artefact)]
        return {name: there[name] for name in items if there[name] != self.setting[name]}

    def differs(self, artefact: Artefact, here: Setting, there: Setting) -> bool:
        """Return whether an artefact, or an item that its claims read, differs between two settings."""
        names = {name for name in here if here[name] != there[name]}
        if names & self._readings(artefact):
            return True
        return isinstance(artefact, Simulated) and (
            artefact.cases(QUICK.at(here)) != artefact.cases(QUICK.at(there))
        )

    def relevant(self, artefact: Artefact) -> list[Item]:
        """Return the open items that an artefact can depend on.

        These are the items that change its scenarios, and the readings of the measurements for which its
        claims ask.
        """
        names = {*self._changed_cases(artefact), *self._readings(artefact)}
        return [item for item in self.items if item.is_open and item.name in names]

    def relevant_to(self, artefact: Artefact, claim: Claim) -> list[Item]:
        """Return the open items that a claim can depend on.

        These are the items that change the scenarios of the cases that it reads, and those for which it asks.
        """
        cases, names = self._read(artefact, claim)
        names = names | {name for name, of_item in self._changed_cases(artefact).items() if of_item & cases}
        return [item for item in self.items if item.is_open and item.name in names]

    def _readings(self, artefact: Artefact) -> set[str]:
        """Return the names of the items for which the claims of an artefact ask."""
        return {name for claim in artefact.claims for name in self._read(artefact, claim)[1]}

    def _read(self, artefact: Artefact, claim: Claim) -> tuple[set[str], set[str]]:
        """Return the labels of the cases that a claim reads, and the names of the items for which it asks."""
        if artefact.name not in self._known_cases:
            supplied = artefact.supplied(QUICK.at(self.setting))
            self._known_cases[artefact.name] = [case for case, _ in supplied]
        return set(map(str, claim.cases(self._known_cases[artefact.name]))), set(claim.items)

    def _changed_cases(self, artefact: Artefact) -> Mapping[str, set[str]]:
        """Return the labels of the cases with a scenario that an item changes, by item."""
        if artefact.name not in self._known_changes:
            changed: dict[str, set[str]] = {}
            if isinstance(artefact, Simulated):
                here = artefact.cases(QUICK.at(self.setting))
                for item in self.items:
                    for value in item.values if item.is_open else ():
                        if value.value != self.setting[item.name]:
                            setting = dict(self.setting) | {item.name: value.value}
                            there = artefact.cases(QUICK.at(setting))
                            labels = {
                                str(case) for case in {*here, *there} if here.get(case) != there.get(case)
                            }
                            changed.setdefault(item.name, set()).update(labels)
            self._known_changes[artefact.name] = {name: labels for name, labels in changed.items() if labels}
        return self._known_changes[artefact.name]

    @cached_property
    def _known_cases(self) -> dict[str, list[Key]]:
        """The cases of artefacts in a quick reproduction."""
        return {}

    @cached_property
    def _known_changes(self) -> dict[str, Mapping[str, set[str]]]:
        """Results of `_changed_cases`, by artefact."""
        return {}

    @cached_property
    def trials(self) -> Sequence[Trial]:
        """The outcomes at the settings that were tried."""
        tables = self.inferred.trials() if self.inferred else ()
        matrix = cells.trials(declared(self.items), self.matrix())
        # A search also writes the matrix, and only the matrix has undecided outcomes.
        kept = (tried.MATRIX, tried.SEARCHED) if matrix else ()
        return [*(trial for trial in tables if trial.stage not in kept), *matrix]
