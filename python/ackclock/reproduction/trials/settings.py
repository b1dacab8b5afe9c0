"""The setting of a paper's simulations: stated values, defaults of its simulator, and open items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

Setting = Mapping[str, Any]
"""A value for every named item of a paper's setting."""


class Basis(StrEnum):
    """The basis of a value, in the order in which equally good values are preferred."""

    STATED = "stated"
    """The paper says so."""
    DEFAULT = "default"
    """The default of the simulators of that year."""
    READING = "reading"
    """One way to read the paper's description of a control."""
    OPEN = "open"
    """Plausible, for a reason that is given."""


class Value(NamedTuple):
    """A value that an item of the setting may have.

    `value` has the form that the scenarios of the paper need, `basis` is the kind of its evidence, and
    `evidence` is the place in the paper, the version of the simulator, or the reason.
    """

    value: object
    basis: Basis
    evidence: str


@dataclass(frozen=True)
class Item:
    """A part of the setting.

    `quantity` names the item and `choice` is the value in words with its unit; braces stand for the value. Of
    the plausible `values` the first is declared without trying others. `name` is the key in scenarios; it is
    empty when only one value is possible.
    """

    quantity: str
    choice: str
    values: Sequence[Value]
    name: str = ""

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> Item:
        """Read an item of a paper's data file.

        `table` has ``quantity``, ``choice``, and either ``name`` and ``values``, or ``basis`` and
        ``evidence`` of the only possibility. Raises TypeError when a key is unknown or missing,
        ValueError when a basis is unknown.
        """
        rest = dict(table)
        some = rest.pop("values", None)
        if some is None:
            some = [{"value": None, "basis": rest.pop("basis"), "evidence": rest.pop("evidence")}]
        values = [Value(**{**table, "basis": Basis(table["basis"])}) for table in some]
        return cls(values=tuple(values), **rest)

    @property
    def declared(self) -> Any:
        """The value that one would declare without trying others."""
        return self.values[0].value

    @property
    def is_open(self) -> bool:
        """Whether it may have more than one value."""
        return len(self.values) > 1

    @property
    def is_stated(self) -> bool:
        """Whether the paper states its value; its other values only show how much depends on it."""
        return self.values[0].basis is Basis.STATED

    @property
    def has_readings(self) -> bool:
        """Whether a value of it is a way to read the paper's description of a control."""
        return any(value.basis is Basis.READING for value in self.values)

    def find(self, value: object) -> Value:
        """Return a value of the item with its basis; a LookupError says that it is not one of them."""
        for known in self.values:
            if known.value == value:
                return known
        raise LookupError(f"{self.name}: {value!r} is not a value of {self.quantity}")

    def words(self, value: object) -> str:
        """Return a value of the item in words, as in ``20 ms of the link's rate``."""
        some = value if isinstance(value, list) else [value]
        return self.choice.format(" to ".join(map(_plain, some)))


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def declared(items: Sequence[Item]) -> dict[str, Any]:
    """Return the first value of every named item."""
    return {item.name: item.declared for item in items if item.name}


def name_of(setting: Setting) -> str:
    """Return the same text for the same setting."""
    return json.dumps(dict(setting), sort_keys=True)
