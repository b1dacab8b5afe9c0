"""Claims as records: a table per claim says what is measured, what the paper says, and what counts.

`claims.toml` in the directory of a paper has a table for every artefact and, in it, one for every claim: the
key is the name of the claim. `schema.json` next to this file has the other keys. A record with ``each``
stands for a claim per point of that grid, whose values are names for formulas in braces.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import resources
from types import MappingProxyType
from typing import Any

from ackclock.decision import Estimate
from ackclock.names import NAME
from ackclock.reproduction.claims import least, orders, usual
from ackclock.reproduction.claims.artefact import Claim, Finding
from ackclock.reproduction.claims.values import Extreme, FunctionValue, Mean, MeanDifference, Number, Ratio
from ackclock.suites import shape
from ackclock.suites.formulas import Names, ProblemError, TomlTable, TomlValue, fill, points

FILE = "claims.toml"
CONDITIONS = "conditions"
"""Name of the artefact with the conditions that a paper states of its simulations; it has no main claim."""
JudgingFunction = Callable[..., object]
MARGINS = {"much": (least.MUCH, least.MUCH_MORE), "plain": (least.PLAIN, least.PLAINLY)}
"""Least differences by the word that records have for them, each with its reason."""
BOUNDS = ("near", "between", "at_least", "at_most", "order", "function")
"""A record has exactly one of these keys: a bound for its number, an order, or a function."""
NUMBERS = ("case", "ratio", "difference", "least", "largest", "estimate")
"""A record with bounds has exactly one of these keys: the source of its number."""
PICKS: Mapping[str, Callable[..., Estimate]] = {"least": min, "largest": max}
CHECKS = ("within", "within_absolute", "factor", "margin", "absolute", "reaches", "why")
"""Keys that belong to the bound of a record: a former check has its own."""
FUNCTIONS = ("given", "reads", "items")
"""Keys that belong to a function of a record."""


def schema() -> TomlTable:
    """Return the JSON schema (draft 2020-12) of `claims.toml`."""
    content: TomlTable = json.loads((resources.files(__package__) / "schema.json").read_text("utf-8"))
    return content


def is_claim(value: TomlValue) -> bool:
    """Return whether an entry of the table of an artefact is a claim, and not a property of its own."""
    return isinstance(value, Mapping) and "sentence" in value


def check(tables: TomlTable) -> None:
    """Raise a ProblemError if the tables of all artefacts do not have the shape of the schema."""
    whole = schema()
    shape.check(tables, whole, whole)


def read(
    table: TomlTable,
    artefact: str,
    names: Mapping[str, TomlValue],
    functions: Mapping[str, JudgingFunction],
    findings: Mapping[str, Finding] = MappingProxyType({}),
) -> list[Claim]:
    """Return the claims of the table of an artefact, in order.

    `names` are values for formulas. `functions` has the functions that records may name. A `function` takes
    the numbers and returns the measured result in words and whether the claim holds; an `estimate` takes the
    numbers and returns an estimate. Both also take the arguments in `given`. `findings` has the findings that
    records may name. A ProblemError names the key.
    """
    claims: dict[str, Claim] = {}
    for pattern, record in table.items():
        if not is_claim(record):
            continue
        where = f"{artefact}.{pattern}"
        for point in points(record.get("each", {}), Names(names), f"{where}.each"):
            scope = Names({**names, **point})
            name = str(fill(pattern, scope, where))
            filled = fill({key: value for key, value in record.items() if key != "each"}, scope, where)
            if not NAME.fullmatch(name):
                raise ProblemError(where, f"{name!r:.60} is not a name of lower-case words with hyphens")
            if name in claims:
                raise ProblemError(where, f"two claims are named {name}")
            claim = _ClaimReader(where, filled, functions).claim(name)
            claims[name] = replace(
                claim,
                source=str(filled.get("from", "")),
                finding=_finding(filled.get("finding", table.get("finding")), findings),
            )
    return list(claims.values())


def _finding(name: str | None, findings: Mapping[str, Finding]) -> Finding | None:
    if name and name not in findings:
        raise ProblemError("finding", f"unknown {name!r:.40}; there are {', '.join(findings) or 'none'}")
    return findings[name] if name else None


def main_names(table: TomlTable) -> list[str]:
    """Return the names of the claims of an artefact that state its main claim."""
    return [
        str(fill(pattern, Names(point), pattern))
        for pattern, record in table.items()
        if is_claim(record) and record.get("main")
        for point in points(record.get("each", {}), Names({}), f"{pattern}.each")
    ]


def measured(tables: TomlTable, artefact: str) -> set[str]:
    """Return the quantities of the main claim of an artefact: keys of numbers, and functions of several.

    `tables` are those of all artefacts of the paper, because others may have claims that state it.
    """
    own = tables[artefact]
    stated = [f"{artefact}/{name}" for name in main_names(own)] + [*own.get("id", ())]
    return {
        number
        for other, _, wanted in (name.partition("/") for name in stated)
        for name, record in _filled(tables[other])
        if fnmatchcase(name, wanted)
        for number in _measured(record)
    }


def _filled(table: TomlTable) -> Iterator[tuple[str, TomlTable]]:
    """Yield the claims of an artefact by name, as far as formulas without names of the paper say."""
    for pattern, record in table.items():
        if is_claim(record):
            kept = {key: record[key] for key in ("function", "key", *NUMBERS, "order") if key in record}
            for point in points(record.get("each", {}), Names({}), f"{pattern}.each"):
                yield str(fill(pattern, Names(point), pattern)), fill(kept, Names(point), pattern)


def _measured(record: TomlTable) -> set[str]:
    """Return the keys and functions of a record, or of a number in it."""
    if "function" in record or "estimate" in record:
        return {str(record.get("function") or record["estimate"])}
    numbers: set[str] = set()
    for item in next((record[kind] for kind in ("order", *NUMBERS[1:]) if kind in record), ["case"]):
        if isinstance(item, Mapping):
            numbers |= _measured({"key": record.get("key"), **item})
        else:
            numbers.add(str(item[1] if isinstance(item, list) else record["key"]))
    return numbers


class _ClaimReader:
    """Reads one record."""

    def __init__(self, where: str, record: TomlTable, functions: Mapping[str, JudgingFunction]) -> None:
        self.where, self.record, self.functions = where, record, functions

    def claim(self, name: str) -> Claim:
        """Return the claim, with the check that it had before it was changed."""
        claim = self._checked(name)
        if "former" not in self.record:
            return claim
        former: TomlTable = self.record["former"]
        own = {*FUNCTIONS, *NUMBERS, "key"} if any(key in former for key in NUMBERS) else set()
        own |= {*BOUNDS, *CHECKS, "labels"} if any(key in former for key in BOUNDS) else {"why"}
        if "order" in {**self.record, **former} and former.get("margin") == 0:
            former = {"why": "the order of the means", **former}
        kept = {key: value for key, value in self.record.items() if key not in {*own, "former"}}
        return usual.changed(
            claim, _ClaimReader(f"{self.where}.former", {**kept, **former}, self.functions)._checked(name)
        )

    def _checked(self, name: str) -> Claim:
        """Return the claim with its present check."""
        bound = self._only(BOUNDS)
        paper, why, unit = (str(self.record.get(key, "")) for key in ("paper", "why", "unit"))
        sentence = self.record["sentence"]
        if bound == "order":
            return self._order(name, sentence, paper, why, unit)
        if bound == "function":
            self._needs("paper", "why")
            return usual.holds(name, sentence, paper, self._function(self.record, "function"), why=why)
        self._needs("why")
        number = self._number(self.record)
        ends = [self._amount(bound, end) for end in self._list(bound)]
        value = ends[0]
        rest: dict[str, Any] = {"why": why, "unit": unit, "paper": paper or None}
        if bound == "near":
            how = self._only(("within", "within_absolute", "factor"))
            if how == "factor":
                claim = usual.times(name, sentence, number, value, factor=self._amount(how), **rest)
            else:
                absolute = how == "within_absolute"
                claim = usual.near(
                    name, sentence, number, value, within=self._amount(how), absolute=absolute, **rest
                )
            return self._reaching(claim, number)
        low = -math.inf if bound == "at_most" else value
        high = math.inf if bound == "at_least" else ends[-1]
        if low > high:
            raise ProblemError(f"{self.where}.{bound}", f"{low} is above {high}")
        return self._reaching(usual.between(name, sentence, number, low, high, **rest), number)

    def _reaching(self, claim: Claim, number: Number) -> Claim:
        """Return a claim that holds only if the interval of its number reaches a range, where it has one."""
        if "reaches" not in self.record:
            return claim
        low, high = (self._amount("reaches", end) for end in self.record["reaches"])
        return usual.reaching(claim, number, low, high)

    def _order(self, name: str, sentence: str, paper: str, why: str, unit: str) -> Claim:
        margin = self.record.get("margin", "plain")
        reason = ""
        if isinstance(margin, str):
            if margin not in MARGINS:
                raise ProblemError(f"{self.where}.margin", f"write a number, {' or '.join(MARGINS)}")
            margin, reason = MARGINS[margin]
        numbers = [self._item("order", index) for index in range(len(self.record["order"]))]
        labels = self.record.get("labels") or [_label(number) for number in numbers]
        if len(labels) != len(numbers):
            raise ProblemError(f"{self.where}.labels", "needs a label for every number of the order")
        return orders.ordered(
            name,
            sentence,
            list(zip(labels, numbers, strict=True)),
            margin=margin,
            why="; ".join(filter(None, (why, reason))),
            absolute=self.record.get("absolute", False),
            unit=unit,
            paper=paper or "in this order, falling",
        )

    def _number(self, table: TomlTable, where: str = "") -> Number:
        """Return the number of a record, or of a table in it."""
        kind = self._only(NUMBERS, table, where)
        if kind == "case":
            return Mean(table["case"], self._key(table, where))
        if kind == "estimate":
            return self._function(table, "estimate")
        items = [self._item(kind, index, table) for index in range(len(table[kind]))]
        if kind in PICKS:
            return Extreme(PICKS[kind], items)
        if len(items) != 2 or not all(isinstance(item, Mean) for item in items):
            raise ProblemError(f"{self.where}{where}.{kind}", "needs two numbers of cases")
        first, second = ((item.case, item.key) for item in items if isinstance(item, Mean))
        return Ratio(first, second) if kind == "ratio" else MeanDifference(first, second)

    def _item(self, kind: str, index: int, table: TomlTable | None = None) -> Number:
        """Return a number of a list: a case with the number `key`, a pair of case and number, or a table."""
        item = (self.record if table is None else table)[kind][index]
        where = f".{kind}.{index}"
        if isinstance(item, Mapping):
            return self._number(item, where)
        if isinstance(item, list):
            return Mean(*item)
        return Mean(item, self._key(table or {}, where))

    def _key(self, table: TomlTable, where: str) -> str:
        """Return the name of the number of a case, which a table in a record may leave to the record."""
        key = table.get("key", self.record.get("key"))
        if key is None:
            problem = "key is missing" if "case" in table else "needs a number: [CASE, NUMBER], or key"
            raise ProblemError(f"{self.where}{where}", problem)
        return str(key)

    def _list(self, key: str) -> list[TomlValue]:
        value = self.record[key]
        return value if isinstance(value, list) else [value]

    def _amount(self, key: str, value: TomlValue = None) -> float:
        """Return a number of the record after all formulas are filled in."""
        amount = self.record[key] if value is None else value
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            raise ProblemError(f"{self.where}.{key}", f"{amount!r:.40} is not a number")
        return amount

    def _function(self, table: TomlTable, key: str) -> FunctionValue:
        name = table[key]
        if name not in self.functions:
            known = ", ".join(self.functions) or "none"
            raise ProblemError(f"{self.where}.{key}", f"unknown function {name!r:.40}; there are {known}")
        # The inputs of several functions of a record are written once.
        shared = {**self.record, **table}
        if "reads" not in shared:
            raise ProblemError(self.where, "reads is missing: the cases whose numbers the function reads")
        return FunctionValue(
            self.functions[name], shared["reads"], shared.get("items", ()), table.get("given", {})
        )

    def _only(self, keys: Sequence[str], table: TomlTable | None = None, where: str = "") -> str:
        table = self.record if table is None else table
        present = [key for key in keys if key in table]
        if len(present) != 1:
            are = f"has {' and '.join(present)}" if present else "has none of them"
            raise ProblemError(self.where + where, f"needs one of {', '.join(keys)}; it {are}")
        return present[0]

    def _needs(self, *keys: str) -> None:
        missing = [key for key in keys if key not in self.record]
        if missing:
            raise ProblemError(self.where, f"{missing[0]} is missing")


def _label(number: Number) -> str:
    """Return the name of a number without its own label in the sentence of an order."""
    return str(number.reads[0][0]) if number.reads else "calculated"
