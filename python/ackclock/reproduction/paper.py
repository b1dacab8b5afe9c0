"""The parts of a paper: its artefacts, in one or more files, and a data file.

A paper is a package. Its modules have the artefacts; `paper.toml` next to them has

- ``title``: the reference;
- ``[[setting]]``: an item of the one setting of all simulations, as in `Item`;
- ``[numbers]``: what is possible: ``shares`` lie between 0 and 1, ``signed`` may be negative, and all
  others are positive or 0;
- ``changes``: claims and tolerances that were changed after they had been run, each with its
  reason; a claim whose check was changed keeps the former one (`ackclock.reproduction.claims.usual.changed`);
- ``[inference]``: ``left_out``, artefacts that cost too much to be judged at every setting drawn; ``runs``,
  the number of seeds where one item after the other takes each of its values (2); and ``fit`` and
  ``held_out``, names of claims by artefact, where ``*`` is every claim, that were written down before any
  setting was tried, the first to choose the setting, the others to test it. They are one fold of the
  cross-validation, which is reported and decides nothing. All other claims were written later, or were not
  named then.

`FINDINGS` of the module ``findings``, if there is one, are what else is known of claims that do not
hold, each a `Finding`.

The artefact called ``conditions``, if there is one, has what the paper states of its simulations
and what can be measured in them: it is checked before any setting is tried, and is not a figure or
table.

What `ackclock reproduce --infer` has found is next to the data file, in ``inferred``, and what
`ackclock reproduce --readings` has, in ``readings.csv``. The first value of an item that is declared after
a search is the one that the search had without it. What ns-2 gives for claims is in ``ns2.csv``
(`ackclock.reproduction.ns2`), and the runs that `ackclock reproduce --plan` planned in ``runs.csv``,
with ``--quick`` in ``quick_runs.csv``.
"""

from __future__ import annotations

import csv
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ackclock.names import NAME
from ackclock.reproduction import main_claims, ns2
from ackclock.reproduction.claims.artefact import Artefact, Claim, Finding, Simulated
from ackclock.reproduction.claims.numbers import QUICK, SHARE, SIGNED, Bounds
from ackclock.reproduction.main_claims import MainClaim
from ackclock.reproduction.ns2 import InNs2
from ackclock.reproduction.trials import cells, tried
from ackclock.reproduction.trials.cells import Cell
from ackclock.reproduction.trials.crossvalidation import Validation
from ackclock.reproduction.trials.settings import Item, Setting, declared
from ackclock.reproduction.trials.tried import Trial

PLANNED = "runs.csv"
"""Table of the planned runs (`ackclock.reproduction.inference.plan`)."""
PLANNED_QUICK = "quick_runs.csv"
"""Table of the planned runs of a quick reproduction."""
CONDITIONS = "conditions"
"""Name of the artefact of what a paper states of its simulations."""


@dataclass(frozen=True)
class Inference:
    """What takes part when settings are tried.

    `fit` and `held_out` are the claims by artefact that were named before any setting was tried, to choose
    and to test. `left_out` names the artefacts that cost too much to be judged at every setting drawn.
    `runs` is the number of seeds where one item after the other takes each of its values.
    """

    fit: Mapping[str, Sequence[str]] = field(default_factory=dict)
    held_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    left_out: Sequence[str] = ()
    runs: int = 2


class _Watched(dict[str, Any]):
    """A setting that remembers which of its items were asked for."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.read_names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read_names.add(name)
        return super().__getitem__(name)


class Chosen(NamedTuple):
    """The chosen setting and its scores.

    `setting` has the chosen values of the open items, and `accepted` tells whether they differ from the
    declared ones. `scores` are those of a search of an earlier version, by ``fit`` and ``held_out``, of the
    ``declared`` setting and of the ``best`` for the claims that chose. `trials` reads everything that
    was tried. `alternative` is the best setting where cross-validation, whose result is `validation`, cannot
    distinguish it from the declared one.
    """

    setting: Setting
    accepted: bool
    scores: Mapping[str, Mapping[str, float]]
    trials: Callable[[], Sequence[Trial]]
    alternative: Setting | None = None
    validation: Validation | None = None


@dataclass(frozen=True)
class Paper:
    """A paper whose figures and tables are reproduced.

    `name` is its name on the command line, `title` its reference. `items` are the setting of its
    simulations with all plausible values, and `artefacts` are in the order of the paper. `changes` are
    claims and tolerances that changed after they had been run, each with its reason. `inference` tells
    what takes part when settings are tried, `conditions` is what the paper states of
    its simulations and runs can confirm, `inferred` is the result of trying settings, and `ns2` has what
    ns-2 measures by artefact and claim. `main_claims` has the main claim of each artefact, and
    `unknown_code` the controls that the paper does not describe completely and whose code is not public.
    `matrix` reads the cells of the matrix of readings.
    `planned` are the runs of each case of a full reproduction, by artefact and label, where they are planned,
    and `planned_quick` those of a quick one. `home` is its directory; there is none in memory.
    Raises LookupError when a claim asks for a number that its artefact does not supply, the chosen value
    is not one of its item's, or an artefact that is left out does not exist.
    """

    name: str
    title: str
    items: Sequence[Item]
    artefacts: Sequence[Artefact]
    changes: Sequence[str] = ()
    inference: Inference | None = None
    conditions: Artefact | None = None
    inferred: Chosen | None = None
    ns2: Mapping[tuple[str, str], InNs2] = field(default_factory=dict)
    main_claims: Mapping[str, MainClaim] = field(default_factory=dict)
    unknown_code: Sequence[str] = ()
    planned: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    planned_quick: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    matrix: Callable[[], Sequence[Cell]] = tuple
    home: Path | None = None

    def __post_init__(self) -> None:
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
        """The other setting, where there are two that cannot be distinguished."""
        other = self.inferred.alternative if self.inferred else None
        return None if other is None else declared(self.items) | dict(other)

    def differs(self, artefact: Artefact, here: Setting, there: Setting) -> bool:
        """Return whether an artefact, or what its claims ask for, is not the same at two settings."""
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
        key = artefact.name, claim.name
        if key not in self._known_reads:
            watched = _Watched(self.setting)
            numbers = replace(artefact.example(QUICK.at(self.setting)), setting=watched)
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                self._known_reads[key] = set(map(str, numbers.read_by(claim.judge))), watched.read_names
        return self._known_reads[key]

    def _changed_cases(self, artefact: Artefact) -> Mapping[str, set[str]]:
        """Return the labels of the cases of which an item changes the scenario, by item."""
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
    def _known_reads(self) -> dict[tuple[str, str], tuple[set[str], set[str]]]:
        """Results of `_read`, which are asked for once per claim and item."""
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
        # A search writes the matrix, too, and only there says what is undecided.
        return [*(trial for trial in tables if not matrix or trial.stage != tried.MATRIX), *matrix]


PACKAGE = "ackclock_papers"
"""The package of the papers, which the laboratory knows by its name alone."""


def every() -> dict[str, Paper]:
    """Import all papers, which takes seconds, and return them by their names."""
    papers: dict[str, Paper] = import_module(PACKAGE).PAPERS
    return papers


def load(package: str) -> Paper:
    """Collect the paper of a package such as ``ackclock_papers.bic``.

    It has every artefact that a module of the package defines, by itself or in a tuple: figures by
    number, then tables. Raises LookupError when a claim asks for a number that its artefact does not
    supply, or a finding refers to an unknown claim; TypeError or TOMLDecodeError when the data file has
    unknown keys or is not TOML; ValueError when two artefacts have the same name, or a claim has two
    findings.
    """
    module = import_module(package)
    modules = [import_module(f"{package}.{submodule.name}") for submodule in iter_modules(module.__path__)]
    artefacts = sorted({id(artefact): artefact for artefact in _artefacts(modules)}.values(), key=_as_printed)
    names = [artefact.name for artefact in artefacts]
    if len(set(names)) < len(names):
        raise ValueError(f"{package}: two artefacts have the same name among {names}")
    findings = next((member.FINDINGS for member in modules if hasattr(member, "FINDINGS")), ())
    home = Path(str(resources.files(module)))
    data = tomllib.loads((home / "paper.toml").read_text(encoding="utf-8"))
    bounds = _bounds(data.pop("numbers", {}))
    artefacts = [replace(artefact, bounds=bounds) for artefact in artefacts]
    explained = with_findings(artefacts, _by_claim(findings))
    inference = data.pop("inference", None)
    items = [Item.read(table) for table in data.pop("setting")]
    return Paper(
        name=package.rpartition(".")[2],
        items=items,
        artefacts=[artefact for artefact in explained if artefact.name != CONDITIONS],
        conditions=next((artefact for artefact in explained if artefact.name == CONDITIONS), None),
        inference=None if inference is None else Inference(**inference),
        inferred=chosen_of(home / "inferred", items),
        ns2=ns2.read(home),
        main_claims=main_claims.load(home),
        matrix=lambda: cells.read(home / tried.READINGS),
        planned=_planned(home / PLANNED),
        planned_quick=_planned(home / PLANNED_QUICK),
        home=home,
        **data,
    )


def _planned(file: Traversable) -> dict[str, dict[str, int]]:
    by_artefact: dict[str, dict[str, int]] = {}
    if file.is_file():
        for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
            by_artefact.setdefault(row["artefact"], {})[row["case"]] = int(row["runs"])
    return by_artefact


def _bounds(declared: Mapping[str, Sequence[str]]) -> dict[str, Bounds]:
    unknown = set(declared) - {"shares", "signed"}
    if unknown:
        raise TypeError(f"[numbers] has no {min(unknown)}; it has shares and signed")
    shares, signed = declared.get("shares", ()), declared.get("signed", ())
    return dict.fromkeys(shares, SHARE) | dict.fromkeys(signed, SIGNED)


def chosen_of(directory: Traversable, items: Sequence[Item]) -> Chosen | None:
    """Read what a search has kept in a directory; None when there was none."""
    chosen = tried.setting_of(directory)
    if not chosen:
        return None

    def trials() -> Sequence[Trial]:
        # An item that was declared later had its first value until then.
        first = declared(items)
        return [replace(trial, setting=first | dict(trial.setting)) for trial in tried.read(directory)]

    validation = chosen.get("validation")
    return Chosen(
        chosen["setting"],
        chosen["accepted"],
        chosen.get("scores", {}),
        trials,
        chosen.get("alternative"),
        validation and Validation.read(validation),
    )


def _artefacts(modules: Sequence[ModuleType]) -> Iterator[Artefact]:
    for module in modules:
        for value in vars(module).values():
            some = value if isinstance(value, tuple) else (value,)
            yield from (artefact for artefact in some if isinstance(artefact, Artefact))


def _as_printed(artefact: Artefact) -> tuple[str, int, str]:
    """Order figures before tables; Roman numerals up to viii are in the order of the alphabet."""
    kind, _, number = artefact.name.partition("-")
    return kind, int(number) if number.isdecimal() else 0, number


def _by_claim(findings: Sequence[Finding]) -> dict[str, dict[str, Finding]]:
    by_claim: dict[str, dict[str, Finding]] = {}
    unique: set[str] = set()
    for finding in findings:
        if finding.name in unique or not NAME.fullmatch(finding.name):
            raise ValueError(
                f"{finding.name!r} is not a name of lower-case words with hyphens, or names two findings"
            )
        unique.add(finding.name)
        for artefact, names in finding.claims.items():
            known = by_claim.setdefault(artefact, {})
            for name in names:
                if name in known:
                    raise ValueError(f"{artefact}: {name} has two findings")
                known[name] = finding
    return by_claim


def with_findings(
    artefacts: Sequence[Artefact], findings: Mapping[str, Mapping[str, Finding]]
) -> tuple[Artefact, ...]:
    """Return artefacts whose claims carry their findings.

    `findings` is by artefact and claim; ``*`` stands for every claim of an artefact without a finding of
    its own. Raises KeyError when a finding refers to an unknown claim.
    """
    unknown = set(findings) - {artefact.name for artefact in artefacts}
    result = []
    for artefact in artefacts:
        known = findings.get(artefact.name, {})
        unknown |= set(known) - {claim.name for claim in artefact.claims} - {"*"}
        claims = []
        for claim in artefact.claims:
            finding = known.get(claim.name, known.get("*"))
            claims.append(claim if finding is None else replace(claim, finding=finding))
        result.append(replace(artefact, claims=tuple(claims)))
    if unknown:
        raise KeyError(f"findings refer to unknown claims: {sorted(unknown)}")
    return tuple(result)
