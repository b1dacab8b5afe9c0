"""Texts of a suite with formulas in braces, the names that they use, and grids of values."""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ackclock.names import slug

TomlValue = Any
"""A value of a suite, of any type of TOML."""
TomlTable = Mapping[str, TomlValue]
GridPoint = dict[str, TomlValue]
LONGEST_FORMULA = 300
LONGEST_TEXT = 10_000
LARGEST_NUMBER = 1e30
LARGEST_TABLE = 1000
"""The largest number of values in a table or list that stands for a name."""
MOST_DIGITS = 12
MOST_POINTS = 2000
"""The largest number of points of a grid, of flows of a scenario, and of its events."""
_BRACES = re.compile(r"\{([^{}:]*)(?::([^{}]*))?\}")
_DOUBLED = re.compile(r"\{\{(.*?)\}\}")
_FORMAT = re.compile(r"(\.\d)?[efg%]|d|slug")
_OPERATORS: dict[type[ast.operator], Callable[[TomlValue, TomlValue], TomlValue]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., TomlValue]] = {
    "min": min,
    "max": max,
    "round": lambda value, *digits: round(value, *(_digits(number) for number in digits)),
    "floor": math.floor,
    "pick": lambda index, *values: values[index],
}


def _digits(number: int) -> int:
    # Python calculates the power of ten.
    if not 0 <= number <= MOST_DIGITS:
        raise ValueError(f"round takes 0 to {MOST_DIGITS} digits")
    return number


class ProblemError(ValueError):
    """A mistake in a suite: its key, and a line that says how to correct it."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}" if where else problem)


class Names:
    """The values that formulas may use: given ones, and defaults, which are formulas or functions."""

    def __init__(
        self, given: Mapping[str, TomlValue], defaults: Mapping[str, TomlValue] | None = None
    ) -> None:
        self.given = dict(given)
        self._defaults = dict(defaults or {})
        self._pending: set[str] = set()

    def value(self, name: str) -> TomlValue:
        """Return the value of a name; an unknown or circular name raises a ProblemError."""
        if name in self.given:
            return self.given[name]
        if name not in self._defaults:
            known = ", ".join(sorted({*self.given, *self._defaults})) or "none"
            raise ProblemError(
                "", f"unknown name {name[:40]}; known are {known}; braces of the text are doubled"
            )
        if name in self._pending:
            raise ProblemError("", f"{name} is defined by itself")
        self._pending.add(name)
        default = self._defaults[name]
        self.given[name] = default(self) if callable(default) else fill(default, self, name)
        self._pending.discard(name)
        return self.given[name]

    def within(
        self, point: Mapping[str, TomlValue], defaults: Mapping[str, TomlValue] | None = None
    ) -> Names:
        """Return these names together with the names of a point of a grid, and further defaults."""
        return Names({**self.given, **point}, {**self._defaults, **(defaults or {})})


def calculate(formula: str, names: Names) -> TomlValue:
    """Return the value of a formula: numbers, names, + - * / %, min, max, round, floor and pick."""

    def number(node: ast.expr) -> float:
        value = of(node)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ProblemError("", f"{formula} calculates with {value!r:.40}, which is not a number")
        if abs(value) > LARGEST_NUMBER:
            raise ProblemError("", f"{formula} calculates with a number beyond {LARGEST_NUMBER:g}")
        return value

    def of(node: ast.expr) -> TomlValue:
        match node:
            case ast.Constant(int() | float() as value):
                return value
            case ast.Name(name):
                return names.value(name)
            case ast.UnaryOp(ast.USub(), operand):
                return -number(operand)
            case ast.BinOp(left, kind, right) if type(kind) in _OPERATORS:
                return _OPERATORS[type(kind)](number(left), number(right))
            case ast.Call(ast.Name(name), arguments, []) if name in _FUNCTIONS:
                return _FUNCTIONS[name](*(number(argument) for argument in arguments))
        raise ProblemError("", f"{formula!r:.60} is not a formula of numbers, names, + - * / % and functions")

    if len(formula) > LONGEST_FORMULA:
        raise ProblemError("", f"a formula has at most {LONGEST_FORMULA} characters")
    try:
        return of(ast.parse(formula.strip(), mode="eval").body)
    except ProblemError:
        raise
    except (
        SyntaxError,
        ArithmeticError,
        ValueError,
        TypeError,
        IndexError,
        RecursionError,
        MemoryError,
    ) as error:
        text = " ".join(str(error).split())
        raise ProblemError("", f"{formula!r:.60} cannot be calculated: {text:.80}") from error


def _shown(value: TomlValue, style: str | None) -> str:
    if style is not None:
        if not _FORMAT.fullmatch(style):
            raise ProblemError("", f"unknown format {style[:20]!r}; write g, d, .2f, .0% or slug")
        return slug(value) if style == "slug" else format(value, style)
    if isinstance(value, float):
        return f"{value:.9f}".rstrip("0").rstrip(".")
    return str(value)


def fill(value: TomlValue, names: Names, where: str = "") -> TomlValue:
    """Return a value of a suite with its formulas replaced.

    A text that is a single formula becomes the value itself; otherwise the values are written into
    the text, in the format after a colon, if any; ``slug`` writes lower-case words with hyphens.
    Doubled braces are braces of the text.
    """
    if isinstance(value, Mapping):
        return {key: fill(item, names, f"{where}.{key}".lstrip(".")) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, names, f"{where}.{index}") for index, item in enumerate(value)]
    if not isinstance(value, str) or "{" not in value:
        return value
    parts = _DOUBLED.split(value)
    if len(parts) > 1:
        return "".join(
            f"{{{part}}}" if place % 2 else str(fill(part, names, where)) for place, part in enumerate(parts)
        )
    try:
        alone = _BRACES.fullmatch(value)
        if alone and alone[2] is None:
            return _of_size(calculate(alone[1], names))
        text = _BRACES.sub(lambda braces: _shown(calculate(braces[1], names), braces[2]), value)
        if len(text) > LONGEST_TEXT:
            raise ProblemError("", f"the text has more than {LONGEST_TEXT} characters")
        return text
    except ProblemError as error:
        raise ProblemError(where, str(error)) from error
    except (ValueError, TypeError, OverflowError) as error:
        raise ProblemError(where, f"{value[:60]!r} cannot be written: {error}") from error


def _of_size(value: TomlValue) -> TomlValue:
    """Return a value; a table that refers to larger and larger ones raises a ProblemError."""
    waiting, count = [value], 0
    while waiting:
        item = waiting.pop()
        count += 1
        if count > LARGEST_TABLE:
            raise ProblemError("", f"the table has more than {LARGEST_TABLE} values")
        if isinstance(item, Mapping | list):
            waiting += item.values() if isinstance(item, Mapping) else item
    return value


def _values(axis: TomlValue, names: Names, where: str) -> list[TomlValue]:
    if isinstance(axis, Mapping):
        if set(axis) != {"from", "to"}:
            raise ProblemError(where, "expected a list of values, or a range of from and to")
        ends = [fill(axis[end], names, f"{where}.{end}") for end in ("from", "to")]
        if not all(isinstance(end, int) for end in ends):
            raise ProblemError(where, "from and to are whole numbers")
        if ends[1] - ends[0] >= MOST_POINTS:
            raise ProblemError(where, f"has more than {MOST_POINTS} values")
        return list(range(ends[0], ends[1] + 1))
    values = axis if isinstance(axis, list) else [axis]
    return [fill(value, names, where) for value in values]


def points(grid: Mapping[str, TomlValue], names: Names, where: str = "grid") -> Iterator[GridPoint]:
    """Yield all combinations of the values of a grid, the last name varying fastest.

    An axis is a value, a list of values, or a range ``{from = 0, to = 4}``; a value that is a table
    stands for several names.
    """
    axes = {name: _values(axis, names, f"{where}.{name}") for name, axis in grid.items()}
    if math.prod(map(len, axes.values())) > MOST_POINTS:
        raise ProblemError(where, f"has more than {MOST_POINTS} points")
    for values in itertools.product(*axes.values()):
        point: GridPoint = {}
        for name, value in zip(axes, values, strict=True):
            point |= value if isinstance(value, Mapping) else {name: value}
        yield point


def each(
    items: Sequence[TomlValue], names: Names, where: str
) -> Iterator[tuple[str, dict[str, TomlValue], Names]]:
    """Yield place, keys and names of every item; an item with ``each`` comes once per point of that grid."""
    count = 0
    for index, item in enumerate(items):
        keys = {key: value for key, value in item.items() if key not in ("each", "let")}
        location = f"{where}.{index}"
        for point in points(item.get("each", {}), names, f"{location}.each"):
            count += 1
            if count > MOST_POINTS:
                raise ProblemError(where, f"has more than {MOST_POINTS} entries")
            yield location, keys, names.within(point, item.get("let"))


def of_mode(value: TomlValue, mode: str) -> TomlValue:
    """Return a value of a suite in a mode: tables ``{quick = ..., full = ...}`` are replaced."""
    if isinstance(value, Mapping):
        if set(value) == {"quick", "full"}:
            return of_mode(value[mode], mode)
        return {key: of_mode(item, mode) for key, item in value.items()}
    return [of_mode(item, mode) for item in value] if isinstance(value, list) else value
