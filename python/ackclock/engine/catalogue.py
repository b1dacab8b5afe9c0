"""The choices: congestion controls, the keys of a scenario, an example."""

# Without annotations from __future__, as in `ackclock.summary`.

import json
from typing import Literal, NotRequired, TypedDict

from ackclock import _native


class ParameterEntry(TypedDict):
    """A parameter of a control: a number from `minimum` to `maximum`, or one of `choices`."""

    name: str
    default: float | str | bool
    minimum: float | None
    maximum: float | None
    meaning: str
    choices: NotRequired[list[str | bool]]


class ControlEntry(TypedDict):
    """A congestion control."""

    name: str
    kind: Literal["window", "rate"]
    source: str
    parameters: list[ParameterEntry]


def controllers() -> list[ControlEntry]:
    """List the congestion controls: name, kind, source and parameters with their domains.

    Returns
    -------
    list of dict
        One entry per control.

    Examples
    --------
    >>> import ackclock
    >>> [entry["name"] for entry in ackclock.controllers()][:2]
    ['reno', 'gaimd']
    """
    listed: list[ControlEntry] = json.loads(_native.controllers())
    return listed


def explain(controller: str) -> str:
    """Return the page of a control: its behaviour, equations, deviations and parameters.

    Parameters
    ----------
    controller : str
        Name of the control.

    Returns
    -------
    str
        The page in Markdown.

    Raises
    ------
    LookupError
        If there is no control of that name; the message lists the nearest names.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.explain("reno").splitlines()[0]
    '# Reno (`reno`)'
    """
    entries = {entry["name"]: entry for entry in controllers()}
    if controller not in entries:
        hint = _native.did_you_mean(controller, list(entries)) or "see ackclock controllers"
        raise LookupError(f"no control is named {controller!r}; {hint}")
    entry = entries[controller]
    lines = [_native.page(controller) or "", f"Source: {entry['source']}", "", "## Parameters"]
    if not entry["parameters"]:
        lines.append("None.")
    else:
        lines += ["| name | default | allowed | meaning |", "| --- | --- | --- | --- |"]
    for parameter in entry["parameters"]:
        if "choices" in parameter:
            words = ", ".join(map(json.dumps, parameter["choices"]))
        else:
            words = f"{json.dumps(parameter['minimum'])} to {json.dumps(parameter['maximum'])}"
        default = json.dumps(parameter["default"])
        lines.append(f"| {parameter['name']} | {default} | {words} | {parameter['meaning']} |")
    return "\n".join(lines) + "\n"


def example() -> str:
    """Return a commented scenario.

    Returns
    -------
    str
        The scenario in TOML.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.check(ackclock.example()).splitlines()[0]
    '[run]'
    """
    return _native.example()


def schema() -> dict[str, object]:
    """Return the JSON schema of scenarios.

    Returns
    -------
    dict
        The JSON schema.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.schema()["type"]
    'object'
    """
    described: dict[str, object] = json.loads(_native.schema())
    return described


def words(*key: str) -> list[str]:
    """Return the words that a key of scenarios takes, such as ``words("dumbbell", "queue", "kind")``."""
    entry = json.loads(_native.schema())
    for name in key:
        entry = entry["properties"][name]
    # Some keys take other texts, too.
    allowed: list[str] = entry["enum"] if "enum" in entry else entry["anyOf"][0]["enum"]
    return allowed
