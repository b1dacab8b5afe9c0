"""Claims as records: a table per claim says what is measured, what the paper says, and what counts.

`claims.toml` in the directory of a paper has a table for every artefact and, in it, one for every claim: the
key is the name of the claim. `schema.json` next to this file has the other keys. A record with ``each``
stands for a claim per point of that grid, whose values are names for formulas in braces.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any

from ackclock.decision import Estimate
from ackclock.names import NAME
from ackclock.reproduction.claims import least, orders, usual
from ackclock.reproduction.claims.artefact import Claim
from ackclock.reproduction.claims.numbers import Numbers
from ackclock.reproduction.claims.values import CaseNumber, Mean, MeanDifference, Ratio
from ackclock.suites import shape
from ackclock.suites.formulas import Names, ProblemError, TomlTable, TomlValue, fill, points

FILE = "claims.toml"
JudgingFunction = Callable[..., object]
MARGINS = {"much": (least.MUCH, least.MUCH_MORE), "plain": (least.PLAIN, least.PLAINLY)}
"""Least differences by the word that records have for them, each with its reason."""
BOUNDS = ("near", "between", "at_least", "at_most", "order", "function")
"""Keys of which a record has exactly one: what its number is compared with, or an order, or a function."""
NUMBERS = ("case", "ratio", "difference", "estimate")
"""Keys of which a record with bounds has exactly one: what its number is."""


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
    table: TomlTable, artefact: str, names: Mapping[str, TomlValue], functions: Mapping[str, JudgingFunction]
) -> list[Claim]:
    """Return the claims of the table of an artefact, in order.

    `names` are values for formulas. `functions` are those that records may name: of `function`, which takes
    the numbers and returns what was measured in words and whether the claim holds; of `estimate`, which takes
    the numbers and returns an estimate. Both also take what stands in `given`. A ProblemError names the key.
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
            claims[name] = _ClaimReader(where, filled, functions).claim(name)
    return list(claims.values())


def main_names(table: TomlTable) -> list[str]:
    """Return the names of the claims of an artefact that state its main claim."""
    return [
        str(fill(pattern, Names(point), pattern))
        for pattern, record in table.items()
        if is_claim(record) and record.get("main")
        for point in points(record.get("each", {}), Names({}), f"{pattern}.each")
    ]


class _ClaimReader:
    """Reads one record."""

    def __init__(self, where: str, record: TomlTable, functions: Mapping[str, JudgingFunction]) -> None:
        self.where, self.record, self.functions = where, record, functions

    def claim(self, name: str) -> Claim:
        """Return the claim."""
        bound = self._only(BOUNDS)
        paper, why, unit = (str(self.record.get(key, "")) for key in ("paper", "why", "unit"))
        sentence = self.record["sentence"]
        if bound == "order":
            return self._order(name, sentence, paper, why, unit)
        if bound == "function":
            self._needs("paper", "why", "reads")
            judge = self._function("function")
            return usual.holds(name, sentence, paper, judge, why=why)  # type: ignore[arg-type]
        self._needs("why")
        number = self._number()
        ends = [self._amount(bound, end) for end in self._list(bound)]
        value = ends[0]
        rest: dict[str, Any] = {"why": why, "unit": unit, "paper": paper or None}
        if bound == "near":
            how = self._only(("within", "within_absolute", "factor"))
            if how == "factor":
                return usual.times(name, sentence, number, value, factor=self._amount(how), **rest)
            absolute = how == "within_absolute"
            return usual.near(
                name, sentence, number, value, within=self._amount(how), absolute=absolute, **rest
            )
        low = -math.inf if bound == "at_most" else value
        high = math.inf if bound == "at_least" else ends[-1]
        if not low < high:
            raise ProblemError(f"{self.where}.{bound}", f"{low} is not below {high}")
        return usual.between(name, sentence, number, low, high, **rest)

    def _order(self, name: str, sentence: str, paper: str, why: str, unit: str) -> Claim:
        margin = self.record.get("margin", "plain")
        reason = ""
        if isinstance(margin, str):
            if margin not in MARGINS:
                raise ProblemError(f"{self.where}.margin", f"write a number, {' or '.join(MARGINS)}")
            margin, reason = MARGINS[margin]
        if len(self.record.get("labels", self.record["order"])) != len(self.record["order"]):
            raise ProblemError(f"{self.where}.labels", "needs a label for every number of the order")
        named = [
            (self.record["labels"][index] if "labels" in self.record else str(number[0]), Mean(*number))
            for index, number in enumerate(self._named("order"))
        ]
        return orders.ordered(
            name,
            sentence,
            named,
            margin=margin,
            why="; ".join(filter(None, (why, reason))),
            absolute=self.record.get("absolute", False),
            unit=unit,
            paper=paper or "in this order, falling",
        )

    def _number(self) -> Callable[[Numbers], Estimate]:
        kind = self._only(NUMBERS)
        if kind == "case":
            self._needs("key")
            return Mean(self.record["case"], self.record["key"])
        if kind == "estimate":
            self._needs("reads")
            return self._function("estimate")  # type: ignore[return-value]
        first, second = self._named(kind)
        return Ratio(first, second) if kind == "ratio" else MeanDifference(first, second)

    def _named(self, key: str) -> list[CaseNumber]:
        """Return numbers: cases, whose number is `key`, or pairs of case and number."""
        numbers: list[CaseNumber] = []
        for index, item in enumerate(self.record[key]):
            if isinstance(item, list):
                numbers.append((item[0], item[1]))
                continue
            if "key" not in self.record:
                raise ProblemError(f"{self.where}.{key}.{index}", "needs a number: [CASE, NUMBER], or key")
            numbers.append((item, self.record["key"]))
        return numbers

    def _list(self, key: str) -> list[TomlValue]:
        value = self.record[key]
        return value if isinstance(value, list) else [value]

    def _amount(self, key: str, value: TomlValue = None) -> float:
        """Return a number of the record, in which no formula is left."""
        amount = self.record[key] if value is None else value
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            raise ProblemError(f"{self.where}.{key}", f"{amount!r:.40} is not a number")
        return amount

    def _function(self, key: str) -> JudgingFunction:
        name = self.record[key]
        if name not in self.functions:
            known = ", ".join(self.functions) or "none"
            raise ProblemError(f"{self.where}.{key}", f"unknown function {name!r:.40}; there are {known}")
        given: TomlTable = self.record.get("given", {})
        function = self.functions[name]
        return lambda numbers: function(numbers, **given)

    def _only(self, keys: Sequence[str]) -> str:
        present = [key for key in keys if key in self.record]
        if len(present) != 1:
            are = f"has {' and '.join(present)}" if present else "has none of them"
            raise ProblemError(self.where, f"needs one of {', '.join(keys)}; it {are}")
        return present[0]

    def _needs(self, *keys: str) -> None:
        missing = [key for key in keys if key not in self.record]
        if missing:
            raise ProblemError(self.where, f"{missing[0]} is missing")
