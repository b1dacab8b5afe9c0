"""The links of a folder of pages, checked without a server and without the network."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The targets of a page's links, and the anchors in the page that other links may target."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect links and names of a tag."""
        for name, value in attrs:
            if name in ("href", "src") and value and not (tag == "link" and value.startswith("http")):
                self.targets.append(value)
            elif name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")


@cache
def _read(file: Path) -> _Page:
    page = _Page()
    page.feed(file.read_text("utf-8"))
    return page


def broken(folder: Path) -> Iterator[str]:
    """Yield a line for each link of a page in a folder that leads to no file there, or to no place in it.

    A link to the root of the server is broken, too: the folder may be anywhere on it. Fragments of the
    laboratory are scenarios and no places.
    """
    for file in sorted(folder.rglob("*.html")):
        for target in _read(file).targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            goal = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            goal = goal / "index.html" if goal.is_dir() else goal
            where = f"{file.relative_to(folder)}: {target[:100]}"
            if parts.path.startswith("/") or not goal.is_relative_to(folder.resolve()):
                yield f"{where} leads out of the folder"
            elif not goal.is_file():
                yield f"{where} leads to no file"
            elif not _is_place(unquote(parts.fragment), goal):
                yield f"{where} leads to no place in it"


def _is_place(fragment: str, file: Path) -> bool:
    is_free = not fragment or file.suffix != ".html" or fragment.startswith("s=")
    return is_free or fragment in _read(file).anchors
