"""A scenario from any source: read once, by the engine, and frozen."""

from __future__ import annotations

import copyreg
import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ackclock._native import Scenario, limit, quantity
from ackclock.engine import controls
from ackclock.errors import ScenarioError

__all__ = ["Given", "Scenario", "ScenarioError", "check", "limit", "parse", "quantity", "read", "text_of"]

Given = Path | str | Mapping[str, Any] | Scenario
"""A path, TOML text (it contains a line break), nested mappings, or a scenario read before."""


def read(given: Given, *, settings: Sequence[str] = ()) -> Scenario:
    """Read and check a scenario; controls that it names by module or library are loaded.

    Parameters
    ----------
    given : Path, str, mapping or Scenario
        A path, TOML text (it contains a line break), nested mappings, or a scenario read
        before.
    settings : sequence of str
        Changes such as ``"flow.0.rtt=80ms"``.

    Returns
    -------
    Scenario
        The checked scenario, which is immutable.

    Raises
    ------
    ScenarioError
        If the file cannot be read or the scenario is refused: file, line, key and the allowed
        values.
    """
    if isinstance(given, Scenario):
        return given.with_(*settings) if settings else given
    if isinstance(given, Mapping):
        try:
            text = json.dumps(given)
        except RecursionError:
            raise ScenarioError("scenario: is nested too deeply") from None
        return parse(text, "scenario", is_json=True, settings=settings)
    if isinstance(given, str) and "\n" in given:
        return parse(given, "<text>", settings=settings)
    path = Path(given)
    return parse(text_of(path), str(path), is_json=path.suffix == ".json", settings=settings)


def parse(text: str, file: str, *, is_json: bool = False, settings: Sequence[str] = ()) -> Scenario:
    """Read and check the text of a scenario.

    Parameters
    ----------
    text : str
        TOML or JSON text.
    file : str
        Name of the file in messages.
    is_json : bool
        Parse JSON instead of TOML.
    settings : sequence of str
        Changes such as ``"flow.0.rtt=80ms"``.

    Returns
    -------
    Scenario
        The checked scenario, which is immutable.

    Raises
    ------
    ScenarioError
        For the same reasons as `read`.
    """
    return Scenario.read(text, file, list(settings), is_json, controls.load_missing)


def text_of(path: Path) -> str:
    """Read a text file that a person has named.

    Parameters
    ----------
    path : Path
        The file to read.

    Returns
    -------
    str
        Content of the file.

    Raises
    ------
    ScenarioError
        If it cannot be read or is not text in UTF-8.
    """
    name = shown(str(path))
    try:
        content = _content_of(path)
    except OSError as error:
        raise ScenarioError(f"{name}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        # A null byte cannot occur in the name of a file.
        raise ScenarioError(f"{name}: cannot be read: {error}") from error
    if len(content) > LARGEST_FILE:
        raise ScenarioError(f"{name}: must be at most {LARGEST_FILE} B")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{name}: not a text file; expected TOML in UTF-8") from error


def shown(text: str) -> str:
    """Return a text on one line, without control sequences for a terminal.

    Parameters
    ----------
    text : str
        Any text, such as a name from a file.

    Returns
    -------
    str
        The same text, with escapes for unprintable characters.
    """
    return "".join(
        character if character.isprintable() else f"\\u{{{ord(character):x}}}" for character in text
    )


LARGEST_FILE = 100_000_000
"""Largest size of a file named by a user, bytes; the same as in the engine."""


def _content_of(path: Path) -> bytes:
    """Read a file until its end, or one byte more than is allowed."""
    # Opening a pipe without a writer would block; reading some system files, like /proc/kmsg,
    # would, too. A pipe with a writer, such as a shell's, may deliver the text later.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.set_blocking(descriptor, True)
        return file.read(LARGEST_FILE + 1) or b""


def check(scenario: Given, *, settings: Sequence[str] = ()) -> str:
    """Check a scenario without running it.

    Parameters
    ----------
    scenario : Path, str, mapping or Scenario
        A scenario as for `read`.
    settings : sequence of str
        Changes as for `read`.

    Returns
    -------
    str
        The scenario as it would run, every default filled in, as TOML.

    Raises
    ------
    ScenarioError
        For the same reasons as `read`.

    Examples
    --------
    >>> import ackclock
    >>> path = ackclock.dumbbell("10 Mbit/s", "20 ms", queue="50 packets")
    >>> print(ackclock.check(ackclock.scenario(path, ackclock.flow("reno"))).splitlines()[1])
    duration = "100 s"
    """
    return read(scenario, settings=settings).toml()


def _reduce(scenario: Scenario) -> tuple[Callable[[str, str], Scenario], tuple[str, str]]:
    # Unpickling, even in another process, first loads the controls that the scenario names.
    return parse, scenario.__reduce__()[1]  # type: ignore[return-value]


copyreg.pickle(Scenario, _reduce)
