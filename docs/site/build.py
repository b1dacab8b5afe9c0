"""Collect the pages of the documentation site and build it; `make site` runs it.

The pages are those of docs/ and of the root of the repository, in the order of docs/index.md; the list of
controls and the keys of scenarios are made from the registry and the schema, the reference from the
docstrings, and the results of the papers from what is published of them.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ackclock
import artefacts
import links
from ackclock.draw import markdown
from ackclock.engine import lab
from ackclock.reproduction.shown import in_lab
from ackclock.reproduction.trials import tried
from ackclock_papers import PAPERS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = ROOT / "target" / "site" / "pages"
SITE = PAGES.parent / "html"
FROM_ROOT = {"README.md": "index.md"} | {
    name: name.lower() for name in ("CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md")
}
INDEX = ROOT / "docs" / "index.md"
"""The shelves of the documentation; the first page of the site is the README."""
MODULES = (
    "ackclock",
    "ackclock.verbs",
    "ackclock.engine",
    "ackclock.engine.build",
    "ackclock.engine.controls",
    "ackclock.engine.run",
    "ackclock.engine.difference",
    "ackclock.metrics",
    "ackclock.models",
    "ackclock.predictions",
    "ackclock.comparison",
    "ackclock.sweeps",
    "ackclock.runs",
    "ackclock_gym",
    "ackclock_gym.environment",
    "ackclock_gym.policies",
    "ackclock_gym.training",
    "ackclock.draw.run",
)
PICTURE = re.compile(r"`results/index\.html#([a-z]+/[a-z0-9-]+)`")
LABORATORY = re.compile(r"`ackclock lab ([a-z]+)/([a-z]+-[a-z0-9-]+)`")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def placed(file: Path) -> Path | None:
    """Return the path of a repository's file on the site, None if it is not on the site."""
    if file.parent.parent == ROOT / "papers":
        return PAGES / "papers" / f"{file.parent.name}.md"
    if file.name == tried.READINGS:
        return PAGES / artefacts.READINGS / f"{file.parent.name}.md"
    if file.parent == ROOT:
        return PAGES / FROM_ROOT[file.name] if file.name in FROM_ROOT else None
    if file == INDEX:
        return PAGES / "documentation.md"
    docs = ROOT / "docs"
    inside = docs in file.parents and file.suffix in (".md", ".svg", ".png")
    return PAGES / file.relative_to(docs) if inside else None


def linked(text: str, page: Path, target: Path) -> str:
    """Make links lead to the site's pages; targets that are not on the site lose their links."""
    up = Path(*[".."] * len(target.parent.relative_to(PAGES).parts))

    def picture(match: re.Match[str]) -> str:
        is_there = (PAGES / artefacts.FOLDER / match[1]).is_dir()
        return f"[picture]({(up / artefacts.address(match[1])).as_posix()})" if is_there else match[0]

    def laboratory(match: re.Match[str]) -> str:
        page_of_lab = PAGES / artefacts.FOLDER / lab.NAME
        scenario = in_lab.scenario(PAPERS[match[1]], PAPERS[match[1]][match[2]])
        if scenario is None or not page_of_lab.exists():
            return match[0]
        return f"[open]({(up / page_of_lab.relative_to(PAGES)).as_posix()}{lab.fragment(scenario)})"

    def one(match: re.Match[str]) -> str:
        mark, words, path, anchor = match.groups(default="")
        if not path or "://" in path or path.startswith("mailto:"):
            return match[0]
        goal = (page.parent / path).resolve()
        there: Path | None
        if goal.parent == ROOT / "docs" / "curves":
            # The site shows the picture of a window curve, and the repository has its numbers.
            mark, there = "!", PAGES / "images" / "controllers" / f"{goal.stem}.svg"
        elif goal.is_dir():
            goal = next((goal / name for name in ("index.md", "README.md")), goal)
            there = PAGES / "controllers" / "index.md"
            if goal.parent.name != "controllers":
                there = None
        else:
            there = placed(goal)
        if there is None:
            return words
        return f"{mark}[{words}]({(up / there.relative_to(PAGES)).as_posix()}{anchor})"

    # Code blocks stay as they are.
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if index % 2 else LABORATORY.sub(laboratory, PICTURE.sub(picture, LINK.sub(one, part)))
        for index, part in enumerate(parts)
    )


def copy() -> None:
    """Copy pages and pictures."""
    files = [*(ROOT / name for name in FROM_ROOT), *(ROOT / "papers").glob("*/README.md")]
    files += [file for file in (ROOT / "docs").rglob("*") if file.is_file()]
    for file in files:
        target = placed(file)
        if target is None:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            text = file.read_text(encoding="utf-8")
            target.write_text(linked(text, file, target), encoding="utf-8")
        else:
            shutil.copyfile(file, target)


def controls() -> None:
    """Write the list of controls from the registry."""
    known = {file.stem for file in (PAGES / "controllers").glob("*.md")}
    rows = []
    for control in ackclock.controllers():
        name = control["name"]
        shown = f"[{name}]({name}.md)" if name in known else name
        rows.append(
            [shown, control["kind"], control["source"], ", ".join(p["name"] for p in control["parameters"])]
        )
    lines = ["# Congestion controls", "", *markdown.table(["control", "sets", "source", "parameters"], rows)]
    (PAGES / "controllers" / "index.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _keys(tree: dict[str, Any], path: str) -> Iterator[list[str]]:
    for name, entry in tree.get("properties", {}).items():
        key = f"{path}.{name}" if path else name
        kind = entry.get("type") or " or ".join(str(word) for word in entry.get("enum", ["several"]))
        yield [f"`{key}`", str(kind), entry.get("description", "")]
        yield from _keys(entry, key)
        if isinstance(entry.get("items"), dict):
            yield from _keys(entry["items"], f"{key}[]")


def schema() -> None:
    """Write the keys of scenarios from the schema."""
    rows = _keys(ackclock.schema(), "")
    lines = ["# Keys of scenarios", "", "The same as JSON: `ackclock schema`.", ""]
    lines += markdown.table(["key", "type", "meaning"], rows)
    (PAGES / "schema.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def reference() -> None:
    """Write a page of docstrings per module."""
    (PAGES / "reference").mkdir()
    for module in MODULES:
        text = f"# {module}\n\n::: {module}\n"
        (PAGES / "reference" / f"{module}.md").write_text(text, encoding="utf-8")


Entry = str | dict[str, "Entry | list[Entry]"]
"""An entry of the navigation, as mkdocs.yml has it."""


def shelves() -> dict[str, list[tuple[str, Path]]]:
    """Return the titles and targets of each shelf of the index."""
    parts = re.split(r"^## (.+)$", INDEX.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    line = re.compile(r"^- \[(.+?)\]\((\S+?)\)", re.MULTILINE)
    return {
        shelf: [(title, (INDEX.parent / target).resolve()) for title, target in line.findall(text)]
        for shelf, text in zip(parts[::2], parts[1::2], strict=True)
    }


def navigation(pages: Path = PAGES) -> list[Entry]:
    """Return the navigation of the site: the shelves, the papers, and pages that only the site has."""

    def below(folder: str, first: str | None = None) -> list[Entry]:
        names = sorted(file.relative_to(pages).as_posix() for file in (pages / folder).glob("*.md"))
        return [*([first] if first in names else []), *(name for name in names if name != first)]

    def entry(title: str, target: Path) -> Entry:
        if target.is_dir() or target.name == "index.md":
            folder = (target if target.is_dir() else target.parent).name
            return {title: below(folder, f"{folder}/index.md")}
        place = placed(target)
        if place is None:
            raise LookupError(f"{INDEX.name} names {target}, which is not on the site")
        return {title: place.relative_to(pages).as_posix()}

    results = [name for name in ("artefacts.md", "reproduction.md", "claims.md") if (pages / name).exists()]
    made: dict[str, list[Entry]] = {"Reference": [{"Keys": "schema.md"}, {"Python": below("reference")}]}
    entries: list[Entry] = ["index.md", "documentation.md"]
    for shelf, lines in shelves().items():
        entries.append({shelf: [*(entry(*line) for line in lines), *made.get(shelf, [])]})
    readings: list[Entry] = [{"Readings": turned}] if (turned := below(artefacts.READINGS)) else []
    return [*entries, {"Papers": [*below("papers"), *results, *readings]}]


def configuration() -> Path:
    """Write the configuration with the navigation, and return its file."""
    keys = {
        "INHERIT": str(HERE / "mkdocs.yml"),
        "docs_dir": str(PAGES),
        "site_dir": str(SITE),
        "nav": navigation(),
    }
    file = PAGES.parent / "mkdocs.yml"
    # JSON is YAML, too.
    file.write_text(json.dumps(keys, indent=1, ensure_ascii=False), encoding="utf-8")
    return file


if __name__ == "__main__":
    shutil.rmtree(PAGES, ignore_errors=True)
    artefacts.write(PAGES)
    copy()
    subprocess.run([sys.executable, ROOT / "docs" / "make.py", "controls"], check=True)
    controls()
    schema()
    reference()
    shutil.copy(HERE / "site.css", PAGES)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean"]
    status = subprocess.run([*command, "--config-file", configuration()], check=False).returncode
    if status != 0:
        sys.exit(status)
    # Its links begin at the root of a server, and this folder may be anywhere on one.
    (SITE / "404.html").unlink()
    wrong = list(links.broken(SITE))
    if wrong:
        sys.exit("\n".join(wrong))
    print(SITE / "index.html")
