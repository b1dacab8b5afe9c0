"""Move the lines of changes/ into CHANGELOG.md: `python docs/changes.py 0.2.0 2026-12-01`.

Without arguments it prints them. `make release` refuses to build while there are any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG, FOLDER = ROOT / "CHANGELOG.md", ROOT / "changes"
GROUPS = ("Added", "Physics", "Results", "Names", "Fixed")
"""The parts of a version, in this order; a fragment names its part in lower case."""
MOST_LETTERS = 400


def fragments(folder: Path = FOLDER) -> dict[str, list[str]]:
    """Return the lines of all fragments by group.

    Raises ValueError for a file whose name has no group, and for one that is not a single short line.
    """
    lines: dict[str, list[str]] = {}
    for file in sorted(folder.iterdir()):
        if file.name == "README.md":
            continue
        named = re.fullmatch(r"[a-z0-9-]+\.([a-z]+)\.md", file.name)
        if named is None or named[1].capitalize() not in GROUPS:
            groups = ", ".join(group.lower() for group in GROUPS)
            raise ValueError(f"{file.name}: a fragment is called NAME.GROUP.md, with a group of {groups}")
        text = file.read_text(encoding="utf-8").strip()
        if not text or "\n" in text or text.startswith("-") or len(text) > MOST_LETTERS:
            raise ValueError(f"{file.name}: write one line of {MOST_LETTERS} letters at most, without a dash")
        lines.setdefault(named[1].capitalize(), []).append(f"- {text}")
    return lines


def released(text: str, version: str, date: str, lines: Mapping[str, Sequence[str]]) -> str:
    """Return a changelog with the lines under a version and its date, below those that it already has."""
    heading = f"## {version}, {date}\n"
    open_heading = f"## {version}, unreleased\n"
    if open_heading not in text:
        before, mark, rest = text.partition("\n## ")
        text = f"{before}\n{open_heading}{mark}{rest}" if mark else f"{text.rstrip()}\n\n{open_heading}"
    before, rest = text.split(open_heading, 1)
    own, mark, older = rest.partition("\n## ")
    for group in GROUPS:
        added = "\n".join(lines.get(group, []))
        if not added:
            continue
        head = f"### {group}\n"
        if head not in own:
            own = f"{own.rstrip()}\n\n{head}{added}\n".lstrip("\n")
            continue
        above, below = own.split(head, 1)
        entries, next_mark, others = below.partition("\n### ")
        own = f"{above}{head}{entries.rstrip()}\n{added}\n{next_mark}{others}"
    return f"{before}{heading}{own}{mark}{older}"


def main() -> None:
    """Do what the arguments say."""
    try:
        lines = fragments()
    except ValueError as error:
        sys.exit(str(error))
    match sys.argv[1:]:
        case []:
            for group, entries in lines.items():
                print("\n".join([f"### {group}", *entries]))
        case [version, date] if re.fullmatch(r"\d+\.\d+\.\d+", version) and re.fullmatch(
            r"\d{4}-\d\d-\d\d", date
        ):
            text = CHANGELOG.read_text(encoding="utf-8")
            CHANGELOG.write_text(released(text, version, date, lines), encoding="utf-8")
            for file in FOLDER.glob("*.*.md"):
                file.unlink()
        case _:
            sys.exit("write a version and a date, as in: python docs/changes.py 0.2.0 2026-12-01")


if __name__ == "__main__":
    main()
