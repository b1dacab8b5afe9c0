"""Print the notes of a release, its part of CHANGELOG.md: `python docs/notes.py 0.1.0`."""

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parents[1] / "CHANGELOG.md"


def notes(version: str, text: str) -> str:
    """Return the part of a changelog about one version.

    Parameters
    ----------
    version : str
        As in its heading.
    text : str
        The changelog.

    Returns
    -------
    str
        Without the heading.

    Raises
    ------
    LookupError
        When it has none.
    """
    parts = re.split(r"^## (\S+?),? .*$|^## (\S+)$", text, flags=re.MULTILINE)
    names = [first or second for first, second in zip(parts[1::3], parts[2::3], strict=True)]
    if version not in names:
        raise LookupError(f"CHANGELOG.md has no {version}; it has {', '.join(names)}")
    return parts[3::3][names.index(version)].strip() + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("give a version, as in: python docs/notes.py 0.1.0")
    try:
        print(notes(sys.argv[1], CHANGELOG.read_text(encoding="utf-8")), end="")
    except LookupError as error:
        sys.exit(error.args[0])
