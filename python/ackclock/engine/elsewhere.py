"""The reader of files that may come from elsewhere: regular, of bounded size, and below their folder.

Every problem is an `OSError`; its `strerror` completes a sentence about the file.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any

MOST_BYTES = 1 << 36
"""Largest file that is read through, piece by piece."""
MOST_HELD_BYTES = 1 << 31
"""Largest file that is held in memory."""
MOST_LISTED_BYTES = 1 << 26
"""Largest list of checksums, and longest line of records."""


def opened(file: Path, most: int = MOST_BYTES) -> BufferedReader:
    """Open a regular file of at most `most` bytes; a pipe or a device is not even waited for."""
    number = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    status = os.fstat(number)
    if not stat.S_ISREG(status.st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "it is not a regular file", str(file))
    if status.st_size > most:
        os.close(number)
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", str(file))
    return os.fdopen(number, "rb")


def read(file: Path, most: int = MOST_HELD_BYTES) -> bytes:
    """Return the content of a file of at most `most` bytes."""
    with opened(file, most) as stream:
        # Some systems have files that are longer than they say.
        content = stream.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", str(file))
    return content


def below(directory: Path, name: str) -> Path:
    """Return a file of a directory by its relative name, which must not lead out of it."""
    path = Path(name)
    is_relative = "\0" not in name and not path.is_absolute() and ".." not in path.parts
    if not is_relative or not (directory / path).resolve().is_relative_to(directory.resolve()):
        raise OSError(errno.EINVAL, "it lies outside of the folder", name)
    return directory / path


def parsed(content: bytes | str) -> Any:
    """Return the value of a JSON text; raise ValueError also if it is nested too deeply."""
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
