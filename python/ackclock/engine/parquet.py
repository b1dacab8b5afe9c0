"""Parquet files with a checksum of their own, in their metadata: a copy can be checked without its store."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.engine import elsewhere
from ackclock.engine.integrity import CHANGED

if TYPE_CHECKING:
    import polars as pl

KEY = "ackclock.sha256"
UNSEALED = "has no checksum, or was changed or damaged"
DIGITS = 64
"""Length of the checksum, which is computed over the file with zeros in its place."""


def sealed(frame: pl.DataFrame) -> bytes:
    """Return a table as a Parquet file; the same table gives the same bytes."""
    # Via memory, so that a full disk is always an OSError.
    content = io.BytesIO()
    frame.write_parquet(content, compression="zstd", compression_level=3, metadata={KEY: "0" * DIGITS})
    zeroed = content.getvalue()
    begin = _digits_at(zeroed)
    assert begin is not None  # noqa: S101
    return zeroed[:begin] + hashlib.sha256(zeroed).hexdigest().encode() + zeroed[begin + DIGITS :]


def _digits_at(content: bytes) -> int | None:
    """Return the place of the checksum: metadata stand at the end, its key before its length and value."""
    key = content.rfind(KEY.encode())
    # The format (Thrift's compact protocol) has the type and the length of the value in two bytes.
    begin = key + len(KEY) + 2
    return begin if key >= 0 and begin + DIGITS <= len(content) else None


def problem_of(file: Path) -> str | None:
    """Return what is wrong with a Parquet file that has a checksum of its own, or None."""
    try:
        content = elsewhere.read(file)
    except OSError as error:
        return f"{file.name} cannot be read: {error.strerror or error}"
    begin = _digits_at(content)
    if begin is None:
        return f"{file.name} {UNSEALED}"
    zeroed = content[:begin] + b"0" * DIGITS + content[begin + DIGITS :]
    digest = hashlib.sha256(zeroed).hexdigest().encode()
    return None if content[begin : begin + DIGITS] == digest else f"{file.name} {CHANGED}"
