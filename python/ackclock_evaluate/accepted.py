"""Known findings that are accepted for a time, each with its reason: ``accepted.toml``."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

KEYS = {"criterion", "reason", "until"}


@dataclass(frozen=True)
class Accepted:
    """A criterion with a finding that is accepted until a day."""

    criterion: str
    reason: str
    until: datetime.date


def read(file: Path, known: Sequence[str]) -> list[Accepted]:
    """Read accepted findings; a damaged file raises a ValueError with one line for people.

    `known` are the ids of the criteria that an entry may name.
    """
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ValueError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{file}: {error}") from error
    entries = content.pop("accept", [])
    if content or not isinstance(entries, list):
        raise ValueError(f"{file}: expected only [[accept]] tables")
    return [_entry(f"{file}: accept {number}", entry, known) for number, entry in enumerate(entries, 1)]


def _entry(location: str, entry: object, known: Sequence[str]) -> Accepted:
    if not isinstance(entry, dict) or set(entry) != KEYS:
        raise ValueError(f"{location}: needs exactly {', '.join(sorted(KEYS))}")
    criterion, reason, until = entry["criterion"], entry["reason"], entry["until"]
    if criterion not in known:
        raise ValueError(f"{location}: unknown criterion {criterion}")
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError(f"{location}: reason must say why, in words")
    if not isinstance(until, datetime.date) or isinstance(until, datetime.datetime):
        raise ValueError(f"{location}: until must be a date such as 2027-06-30")
    return Accepted(criterion, reason, until)


def sort(entries: Sequence[Accepted], today: datetime.date) -> tuple[set[str], list[str]]:
    """Return the criteria with findings accepted today, and a line for each entry that has ended."""
    current = {entry.criterion for entry in entries if entry.until >= today}
    ended = [
        f"the accepted finding {entry.criterion} ended on {entry.until}: {entry.reason}"
        for entry in entries
        if entry.criterion not in current
    ]
    return current, ended
