"""The setting of a paper's simulations: what it states, what its simulator had, what is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

Setting = Mapping[str, Any]
"""A value for every named item of a paper's setting."""


class Basis(StrEnum):
    """What a value rests on, in the order in which equally good values are preferred."""

    STATED = "stated"
    """The paper says so."""
    DEFAULT = "default"
    """The simulator of that year had it unless told otherwise."""
    READING = "reading"
    """One way to read what the paper says of a control."""
    OPEN = "open"
    """Plausible, for a reason that is given."""


class Value(NamedTuple):
    """A value that an item of the setting may have.

    Attributes
    ----------
    value : object
        As the scenarios of the paper need it.
    basis : Basis
        What it rests on.
    evidence : str
        Where the paper says so, the version of the simulator, or the reason.
    """

    value: Any
    basis: Basis
    evidence: str


@dataclass(frozen=True)
class Item:
    """A part of the setting.

    Attributes
    ----------
    quantity : str
        What is set.
    choice : str
        To what, in words with the unit; braces are where the value belongs.
    values : sequence of Value
        Everything that it may be; the first is what one would declare without trying others.
    name : str
        What scenarios call it; empty when nothing else is possible, so that nothing asks.
    """

    quantity: str
    choice: str
    values: Sequence[Value]
    name: str = ""

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> Item:
        """Read an item of the data file of a paper.

        Parameters
        ----------
        table : mapping
            ``quantity``, ``choice``, and either ``name`` and ``values``, or ``basis`` and
            ``evidence`` of the only possibility.

        Returns
        -------
        Item
            The item.

        Raises
        ------
        TypeError
            When a key is unknown or missing.
        ValueError
            When a basis is unknown.
        """
        rest = dict(table)
        some = rest.pop("values", None)
        if some is None:
            some = [{"value": None, "basis": rest.pop("basis"), "evidence": rest.pop("evidence")}]
        values = [Value(**{**one, "basis": Basis(one["basis"])}) for one in some]
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
        """Whether the paper states its value: others only show how much follows from it."""
        return self.values[0].basis is Basis.STATED

    def find(self, value: Any) -> Value:
        """Find what a value rests on.

        Parameters
        ----------
        value : object
            One of its values.

        Returns
        -------
        Value
            The value with its basis.

        Raises
        ------
        LookupError
            When it is none of them.
        """
        for one in self.values:
            if one.value == value:
                return one
        raise LookupError(f"{self.name}: {value!r} is none of the values of {self.quantity}")

    def words(self, value: Any) -> str:
        """Say to what it is set.

        Parameters
        ----------
        value : object
            One of its values.

        Returns
        -------
        str
            As in ``20 ms of the link's rate``.
        """
        some = value if isinstance(value, list) else [value]
        return self.choice.format(" to ".join(map(_plain, some)))


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def declared(items: Sequence[Item]) -> dict[str, Any]:
    """Set every item to its first value.

    Parameters
    ----------
    items : sequence of Item
        The setting of a paper.

    Returns
    -------
    dict
        Values by name.
    """
    return {one.name: one.declared for one in items if one.name}
