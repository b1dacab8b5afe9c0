"""The foundation of everything that writes results: complete writes, syncs, and one kind of error."""

from __future__ import annotations

import os
from pathlib import Path

CHECKSUMS = "checksums.json"
"""The file of a result with the checksums of all others (`integrity.seal_directory`)."""


def write(file: Path, content: bytes) -> None:
    """Write a file that no process reads before it is renamed or listed somewhere."""
    opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    try:
        write_all(opened, content)
    finally:
        os.close(opened)


def write_all(opened: int, content: bytes) -> None:
    """Write all of some bytes to a file descriptor."""
    left = memoryview(content)
    while left:
        left = left[os.write(opened, left) :]


def sync(path: Path) -> None:
    """Return once a file, or the names in a directory, survive a power cut."""
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
