"""Papers, read from packages of the product or from anybody's folder.

A paper is a directory. `paper.toml` in it has

- ``title``: the reference;
- ``controls``: the paper's own controls, by the engine's names, in whose place
  `ackclock reproduce --exchange` puts Reno;
- ``[[setting]]``: an item of the one setting of all simulations, as in `Item`;
- ``[numbers]``: possible ranges: ``shares`` lie between 0 and 1, ``signed`` may be negative, and all others
  are positive or 0;
- ``changes``: claims and tolerances that were changed after they had been run, each with its
  reason; a claim whose check was changed keeps the former one (`ackclock.reproduction.claims.usual.changed`);
- ``[losses]``: the paper's ``words`` against phase effects and their ``source``, with the ``cases`` in which
  losses must fall in proportion to packets, as in `ackclock.reproduction.claims.losses.Condition`;
- ``[inference]``: ``left_out``, artefacts that cost too much to be judged at every setting drawn; ``runs``,
  the number of seeds where one item after the other takes each of its values (2); and ``fit`` and
  ``held_out``, names of claims by artefact, where ``*`` is every claim, that were written down before any
  setting was tried, the first to choose the setting, the others to test it. They are one fold of the
  cross-validation, which is reported and decides nothing. All other claims were written later, or were not
  named then.

`claims.toml` has the claims (`ackclock.reproduction.claims.records`). Of a package the modules have the
artefacts, the functions that claims name, and in the module ``findings``, if there is one, `FINDINGS`: what
else is known of claims that do not hold, each a `Finding`. In a folder the artefacts are in `paper.toml`
(`ackclock.reproduction.folder`) and the functions in `functions.py`.

The artefact called ``conditions``, if there is one, has what the paper states of its simulations
and what can be measured in them: it is checked before any setting is tried, and is not a figure or
table.

What `ackclock reproduce --infer` has found is next to the data file, in ``inferred``, and what
`ackclock reproduce --readings` has, in ``readings.csv``. The first value of an item that is declared after
a search is the one that the search had without it. What ns-2 gives for claims is in ``ns2.csv``
(`ackclock.reproduction.ns2`), what became of claims with another control in ``exchange.csv``, and the runs
that `ackclock reproduce --plan` planned in ``runs.csv``, with ``--quick`` in ``quick_runs.csv``.
"""

from __future__ import annotations

import csv
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module, resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from pkgutil import iter_modules
from types import FunctionType, ModuleType
from typing import Any

from ackclock.engine import ScenarioError, shown, text_of
from ackclock.names import NAME
from ackclock.reproduction import folder, main_claims, ns2
from ackclock.reproduction.claims import records
from ackclock.reproduction.claims.artefact import Artefact, Claim, Finding, matching
from ackclock.reproduction.claims.losses import Condition
from ackclock.reproduction.claims.numbers import SHARE, SIGNED, Bounds
from ackclock.reproduction.paper import Chosen, Inference, Paper
from ackclock.reproduction.trials import cells, exchanges, tried
from ackclock.reproduction.trials.crossvalidation import Validation
from ackclock.reproduction.trials.settings import Item, declared
from ackclock.reproduction.trials.tried import Trial
from ackclock.suites.formulas import ProblemError

DATA = "paper.toml"
"""The data file in the directory of a paper."""
SENTENCES = "sentences.toml"
"""The sentences of a paper with their sections, and the claims that test them."""
PLANNED = "runs.csv"
"""Table of the planned runs (`ackclock.reproduction.inference.plan`)."""
PLANNED_QUICK = "quick_runs.csv"
"""Table of the planned runs of a quick reproduction."""
PACKAGE = "ackclock_papers"
"""The package of the papers, which the laboratory knows by its name alone."""


def every() -> dict[str, Paper]:
    """Import all papers, which takes seconds, and return them by their names."""
    papers: dict[str, Paper] = import_module(PACKAGE).PAPERS
    return papers


def folder_of(target: str) -> Path | None:
    """Return the folder of a paper that a target names, as itself or before an artefact; None for a name."""
    path = Path(target)
    homes = (home for home in (path, path.parent) if home != Path() and (home / DATA).is_file())
    return None if target.partition("/")[0] in product() else next(homes, None)


def product() -> list[str]:
    """Return the names of the papers of the product, without importing them."""
    package = find_spec(PACKAGE)
    places = [] if package is None else package.submodule_search_locations or []
    return sorted(file.parent.name for place in places for file in Path(place).glob(f"*/{DATA}"))


def of_targets(targets: Sequence[str]) -> tuple[dict[str, Paper], list[str]]:
    """Return the papers among which targets choose, and the targets with names in place of folders.

    They are those of the product unless every target is in a folder. Raises ScenarioError when a folder is
    wrong, or two of the papers have the same name.
    """
    homes = {target: folder_of(target) for target in targets}
    papers = every() if not targets or None in homes.values() else {}
    named = []
    for target, home in homes.items():
        if home is None:
            named.append(target)
            continue
        own = papers.get(home.resolve().name)
        if own is None:
            own = load_folder(home)
            papers = {**papers, own.name: own}
        elif own.home != home.resolve():
            raise ScenarioError(f"{home}: another paper is called {own.name}, too; rename the folder")
        named.append(own.name if Path(target) == home else f"{own.name}/{Path(target).name}")
    return papers, named


def load(package: str) -> Paper:
    """Collect the paper of a package such as ``ackclock_papers.bic``.

    It has every artefact that a module of the package defines, by itself or in a tuple: figures by
    number, then tables. Raises LookupError when a claim asks for a number that its artefact does not
    supply; TypeError or TOMLDecodeError when the data file has
    unknown keys or is not TOML; ValueError when two artefacts have the same name, or two findings.
    """
    module = import_module(package)
    modules = [import_module(f"{package}.{submodule.name}") for submodule in iter_modules(module.__path__)]
    artefacts = sorted({id(artefact): artefact for artefact in _artefacts(modules)}.values(), key=_as_printed)
    names = [artefact.name for artefact in artefacts]
    if len(set(names)) < len(names):
        raise ValueError(f"{package}: two artefacts have the same name among {names}")
    findings = next((member.FINDINGS for member in modules if hasattr(member, "FINDINGS")), ())
    home = Path(str(resources.files(module)))
    data = tomllib.loads((home / DATA).read_text(encoding="utf-8"))
    artefacts = _with_claims(home, data, artefacts, _functions(modules), findings)
    artefacts = _with_sources(home / SENTENCES, artefacts)
    return _collected(package.rpartition(".")[2], home, data, artefacts)


def _with_sources(file: Path, artefacts: Sequence[Artefact]) -> list[Artefact]:
    """Return artefacts with the paper's section in each claim, also if its record does not name one."""
    sections: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for said in tomllib.loads(text_of(file))["sentence"] if file.is_file() else ():
        for artefact in artefacts:
            for pattern in said.get("claims", {}).get(artefact.name, ()):
                for claim in matching(artefact, pattern):
                    place = said["section"]
                    word = place.lower() if place == "Abstract" else f"section {place}"
                    sections[artefact.name, claim.name][word] = None

    def placed(artefact: Artefact, claim: Claim) -> Claim:
        return replace(claim, source=claim.source or ", ".join(sections[artefact.name, claim.name]))

    return [
        replace(artefact, claims=tuple(placed(artefact, claim) for claim in artefact.claims))
        for artefact in artefacts
    ]


def _functions(modules: Sequence[ModuleType]) -> dict[str, Callable[..., Any]]:
    """Return the public functions of the numbers of artefacts that modules of a paper define."""
    functions: dict[str, Callable[..., Any]] = {}
    for module in modules:
        for name, value in vars(module).items():
            own = isinstance(value, FunctionType) and value.__module__ == module.__name__
            if own and not name.startswith("_") and next(iter(signature(value).parameters), "") == "numbers":
                if name in functions:
                    raise ValueError(f"{module.__name__}: another module has a function {name}, too")
                functions[name] = value
    return functions


def _with_claims(
    home: Path,
    data: Mapping[str, Any],
    artefacts: Sequence[Artefact],
    functions: Mapping[str, Callable[..., Any]],
    findings: Sequence[Finding] = (),
) -> list[Artefact]:
    """Return artefacts with the claims of `claims.toml`; `data` are those of `paper.toml`.

    Raises ValueError when two findings have the same name or no claim names one, and ProblemError when a
    record is wrong.
    """
    explained: dict[str, Finding] = {}
    for finding in findings:
        if finding.name in explained or not NAME.fullmatch(finding.name):
            raise ValueError(
                f"{finding.name!r} is not a name of lower-case words with hyphens, or names two findings"
            )
        explained[finding.name] = finding
    tables = tomllib.loads(text_of(home / records.FILE))
    records.check(tables)
    unknown = set(tables) - {artefact.name for artefact in artefacts}
    if unknown:
        raise ProblemError(min(unknown), f"{DATA} has no artefact of this name")
    names = declared([Item.read(table) for table in data.get("setting", ())])
    claims = {
        artefact.name: records.read(tables.get(artefact.name, {}), artefact.name, names, functions, explained)
        for artefact in artefacts
    }
    named = {claim.finding.name for some in claims.values() for claim in some if claim.finding}
    if named != set(explained):
        raise ValueError(f"no claim names the finding {min(set(explained) - named)}")
    return [replace(artefact, claims=claims[artefact.name]) for artefact in artefacts]


def load_folder(home: Path) -> Paper:
    """Read the paper of a folder, which need not be part of the product.

    Its artefacts are those of `paper.toml` (`ackclock.reproduction.folder`), its claims those of
    `claims.toml`.
    Raises ScenarioError, in one line with the file and the key, when something in it is wrong.
    """
    name = home.resolve().name
    if not NAME.fullmatch(name):
        raise ScenarioError(f"{home}: a paper is named after its folder, in lower-case words with hyphens")
    file = home / DATA
    try:
        data = tomllib.loads(text_of(file))
        data.setdefault("inference", {})
        functions = folder.functions_of(home)
        drawn = folder.artefacts(home, data.pop("artefact", {}), functions)
        for place, table in enumerate(data.get("setting", ())):
            try:
                Item.read(table)
            except (LookupError, TypeError, ValueError) as error:
                raise ProblemError(f"setting.{place}", f"is incomplete or wrong: {error}") from error
        file = home / records.FILE
        artefacts = _with_claims(home, data, drawn, functions)
        return _collected(name, home.resolve(), data, artefacts)
    except ScenarioError:
        raise
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        problem = error.args[0] if isinstance(error, LookupError) and error.args else error
        raise ScenarioError(shown(f"{file}: {problem}")) from error


def _collected(name: str, home: Path, data: dict[str, Any], artefacts: Sequence[Artefact]) -> Paper:
    """Return a paper from its artefacts and the tables of its data file."""
    bounds = _bounds(data.pop("numbers", {}))
    artefacts = [replace(artefact, bounds=bounds) for artefact in artefacts]
    inference = data.pop("inference", None)
    losses = Condition(**data.pop("losses")) if "losses" in data else None
    conditions = next((artefact for artefact in artefacts if artefact.name == records.CONDITIONS), None)
    artefacts = [artefact for artefact in artefacts if artefact is not conditions]
    if losses is not None:
        conditions = losses.joined(conditions, artefacts, records.CONDITIONS)
    items = [Item.read(table) for table in data.pop("setting", ())]
    return Paper(
        name=name,
        items=items,
        artefacts=artefacts,
        conditions=conditions,
        losses=losses,
        inference=None if inference is None else Inference(**inference),
        inferred=chosen_of(home / "inferred", items),
        ns2=ns2.read(home),
        main_claims=main_claims.load(home),
        matrix=lambda: cells.read(home / tried.READINGS),
        exchanges=exchanges.read(home / exchanges.EXCHANGE),
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
    """Read the files of a search from a directory; None without a search."""
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
        {name: Validation.read(test) for name, test in chosen.get("own", {}).items()},
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
