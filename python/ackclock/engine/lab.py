"""Links into the laboratory, a page in which the simulator itself runs."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

from ackclock.engine.scenario import Scenario

__all__ = ["NAME", "fragment", "page"]

NAME = "lab.html"
"""File name of the page in every directory."""


def page() -> str | None:
    """Return the laboratory's page, a single file; None if it was not built (``make lab``)."""
    file = Path(__file__).parents[1] / "templates" / NAME
    return file.read_text("utf-8") if file.exists() else None


def fragment(scenario: Scenario) -> str:
    """Return a scenario as it was written, and the texts of its files, as the fragment of an address.

    It is ``#`` and JSON, compressed (raw deflate), in base64 for URLs (RFC 4648, section 5, without
    padding).

    >>> import ackclock
    >>> path = ackclock.dumbbell("10 Mbit/s", "20 ms")
    >>> fragment(ackclock.scenario(path, ackclock.flow("reno"))).startswith("#s=")
    True
    """
    files = scenario.files
    carried = {"scenario": scenario.written()} | ({"files": files} if files else {})
    text = json.dumps(carried, separators=(",", ":"), ensure_ascii=False)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(text.encode()) + packer.flush()
    return "#s=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")
