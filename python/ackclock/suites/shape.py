"""Checks a document against a JSON schema, with one-line errors that name the key and what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from ackclock.suites.formulas import ProblemError, TomlValue

Schema = Mapping[str, TomlValue]
_KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
}
_NAMES = {
    "object": "a table",
    "array": "a list",
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}


def check(value: TomlValue, schema: Schema, whole: Schema, where: str = "") -> None:
    """Raise a ProblemError if a value does not have the shape that a schema describes.

    Of JSON schema only what `suites` need is known: ``$ref``, ``type``, ``enum``, ``pattern``,
    ``anyOf``, ``properties``, ``required``, ``additionalProperties``, ``items``, ``minItems`` and
    ``minProperties``. `whole` is the document to which references lead.
    """
    schema = _resolved(schema, whole)
    if "anyOf" in schema:
        _check_any(value, schema["anyOf"], whole, where)
        return
    if not _is(value, schema):
        raise ProblemError(where, f"expected {_NAMES[schema['type']]}, got {value!r:.40}")
    if "enum" in schema and value not in schema["enum"]:
        raise ProblemError(where, f"unknown value {value!r:.40}; choose from {_listed(schema['enum'])}")
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        raise ProblemError(where, f"{value!r:.40} is not {schema.get('description', 'allowed')}")
    if isinstance(value, dict):
        _check_table(value, schema, whole, where)
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            raise ProblemError(where, "is empty")
        for index, item in enumerate(value):
            check(item, schema.get("items", {}), whole, f"{where}.{index}".lstrip("."))


def _check_table(value: dict[str, TomlValue], schema: Schema, whole: Schema, where: str) -> None:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            raise ProblemError(where, f"{name} is missing")
    for name, item in value.items():
        location = f"{where}.{name}".lstrip(".")
        if name in known:
            check(item, known[name], whole, location)
        elif others is False:
            close = difflib.get_close_matches(name, known, 1)
            meant = f"write {close[0]}" if close else f"known are {_listed(known)}"
            raise ProblemError(location, f"unknown key; {meant}")
        elif isinstance(others, Mapping):
            check(item, others, whole, location)


def _check_any(value: TomlValue, choices: list[Schema], whole: Schema, where: str) -> None:
    """Report the problem with the first choice that has the type of the value."""
    fitting = [choice for choice in choices if _is(value, _resolved(choice, whole))]
    if not fitting:
        kinds = dict.fromkeys(_NAMES[_resolved(choice, whole)["type"]] for choice in choices)
        raise ProblemError(where, f"expected {' or '.join(kinds)}, got {value!r:.40}")
    problems = []
    for choice in fitting:
        try:
            check(value, choice, whole, where)
        except ProblemError as error:
            problems.append(error)
        else:
            return
    raise problems[0]


def _is(value: TomlValue, schema: Schema) -> bool:
    if "type" not in schema:
        return True
    kinds = _KINDS[schema["type"]]
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _resolved(schema: Schema, whole: Schema) -> Schema:
    while "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def _listed(names: TomlValue) -> str:
    return ", ".join(str(name) or '""' for name in names)
