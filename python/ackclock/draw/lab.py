"""Links into the laboratory, a page in which the simulator itself runs."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from pathlib import Path

__all__ = ["NAME", "fragment", "page"]

NAME = "lab.html"
"""File name of the page in every directory."""


def page() -> str | None:
    """Return the laboratory's page, a single file; None if it was not built (``make lab``)."""
    file = Path(__file__).parents[1] / "templates" / NAME
    return file.read_text("utf-8") if file.exists() else None


def fragment(scenario: Mapping[str, object], files: Mapping[str, str] | None = None) -> str:
    """Return a scenario, and the texts of the files that it names, as the fragment of an address.

    It is ``#`` and JSON, compressed (raw deflate), in base64 for URLs (RFC 4648, section 5, without
    padding).

    >>> fragment({"run": {"duration": "1 s"}}).startswith("#s=")
    True
    """
    carried = {"scenario": scenario} | ({"files": files} if files else {})
    text = json.dumps(carried, separators=(",", ":"), ensure_ascii=False)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(text.encode()) + packer.flush()
    return "#s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")
