"""What a paper is made of: its artefacts, one file or more of them, and a data file.

A paper is a package. Its modules have the artefacts; `paper.toml` beside them has

- ``title``: the reference;
- ``[[setting]]``: an item of the one setting of all simulations, as in `Item`;
- ``changes``: claims and tolerances that were changed after they had been run, each with its
  reason;
- ``[[reason]]``: why claims differ, found by trying, as ``text``, and ``claims``, which are lists
  of sentences by artefact; ``*`` is every claim of the artefact without a reason of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module, resources
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple

from ackclock.reproduction.artefact import Artefact


class Item(NamedTuple):
    """A part of the setting of a paper's simulations.

    Attributes
    ----------
    quantity : str
        What is set.
    choice : str
        To what, with its unit.
    basis : str
        Where the paper says so, or why it was chosen.
    """

    quantity: str
    choice: str
    basis: str


@dataclass(frozen=True)
class Paper:
    """A paper whose figures and tables are made again.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
        Its reference.
    setting : sequence of Item
        The one setting of its simulations.
    artefacts : sequence of Artefact
        In the order of the paper.
    changes : sequence of str
        Claims and tolerances that were changed after they had been run, each with its reason.

    Raises
    ------
    LookupError
        When a claim asks for a number that its artefact does not supply.
    """

    name: str
    title: str
    setting: Sequence[Item]
    artefacts: Sequence[Artefact]
    changes: Sequence[str] = ()

    def __post_init__(self) -> None:
        for one in self.artefacts:
            one.check()

    def __getitem__(self, name: str) -> Artefact:
        """Find an artefact by its name."""
        return next(one for one in self.artefacts if one.name == name)


def load(package: str) -> Paper:
    """Collect a paper.

    Parameters
    ----------
    package : str
        Dotted name of its package, whose last part is the name of the paper.

    Returns
    -------
    Paper
        Every artefact that a module of the package has, by itself or in a tuple: figures by
        number, then tables.

    Raises
    ------
    LookupError
        When a claim asks for a number that its artefact does not supply, or a reason is for no
        claim.
    TypeError, tomllib.TOMLDecodeError
        When the data file has other keys than it should, or is no TOML.
    ValueError
        When two artefacts have the same name, or a claim has two reasons.
    """
    found = import_module(package)
    modules = [import_module(f"{package}.{one.name}") for one in iter_modules(found.__path__)]
    artefacts = sorted({id(one): one for one in _artefacts(modules)}.values(), key=_as_printed)
    names = [one.name for one in artefacts]
    if len(set(names)) < len(names):
        raise ValueError(f"{package}: two artefacts have the same name among {names}")
    file = resources.files(found) / "paper.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return Paper(
        name=package.rpartition(".")[2],
        setting=[Item(**one) for one in data.pop("setting")],
        artefacts=with_reasons(artefacts, _by_claim(data.pop("reason"))),
        **data,
    )


def _artefacts(modules: Sequence[ModuleType]) -> Iterator[Artefact]:
    for module in modules:
        for value in vars(module).values():
            some = value if isinstance(value, tuple) else (value,)
            yield from (one for one in some if isinstance(one, Artefact))


def _as_printed(artefact: Artefact) -> tuple[str, int, str]:
    """Order figures before tables; Roman numerals up to viii are in the order of the alphabet."""
    kind, _, number = artefact.name.partition("-")
    return kind, int(number) if number.isdecimal() else 0, number


def _by_claim(reasons: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for reason in reasons:
        for artefact, sentences in reason["claims"].items():
            known = found.setdefault(artefact, {})
            for sentence in sentences:
                if sentence in known:
                    raise ValueError(f"{artefact}: {sentence!r} has two reasons")
                known[sentence] = reason["text"]
    return found


def with_reasons(
    artefacts: Sequence[Artefact], reasons: Mapping[str, Mapping[str, str]]
) -> tuple[Artefact, ...]:
    """Give artefacts whose claims know why they differ.

    Parameters
    ----------
    artefacts : sequence of Artefact
        As declared.
    reasons : mapping
        By artefact and claim; ``*`` is for every claim of an artefact without a reason of its own.

    Returns
    -------
    tuple of Artefact
        In the same order.

    Raises
    ------
    KeyError
        When a reason is for no claim.
    """
    unknown = set(reasons) - {one.name for one in artefacts}
    found = []
    for one in artefacts:
        known = reasons.get(one.name, {})
        unknown |= set(known) - {claim.sentence for claim in one.claims} - {"*"}
        claims = tuple(
            replace(claim, reason=claim.reason or known.get(claim.sentence, known.get("*", "")))
            for claim in one.claims
        )
        found.append(replace(one, claims=claims))
    if unknown:
        raise KeyError(f"reasons for what is not there: {sorted(unknown)}")
    return tuple(found)
