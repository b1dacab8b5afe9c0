"""Check a release candidate: `make release` calls it before anything is built and after everything is.

`python docs/candidate.py sources 0.1.0` checks the checkout, `python docs/candidate.py files 0.1.0` what is
in dist/, where it then writes the checksums.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from changes import fragments
from notes import notes

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
IN_A_WHEEL = (
    "ackclock/templates/lab.html",
    "ackclock/draw/charts.js",
    "ackclock/draw/glossary.toml",
    "ackclock_paths/programs/ackclock-link",
    "ackclock_paths/programs/ackclock-measure",
)
"""Files that an installed package needs besides Python: the laboratory, its data and its programs."""
CHECKSUMS = "SHA256SUMS"


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def problems_of_sources(version: str, root: Path = ROOT) -> Iterator[str]:
    """Yield a line for everything in a checkout that does not belong to this version."""
    stated = tomllib.loads((root / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]
    if stated != version:
        yield f"Cargo.toml has version {stated}"
    if f"\nversion: {version}\n" not in (root / "CITATION.cff").read_text("utf-8"):
        yield "CITATION.cff has another version"
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    try:
        notes(version, changelog)
    except LookupError as error:
        yield str(error.args[0])
    if re.search(rf"^## {re.escape(version)}, unreleased$", changelog, re.MULTILINE):
        yield f"CHANGELOG.md calls {version} unreleased; docs/changes.py {version} DATE writes its date"
    try:
        waiting = sum(map(len, fragments(root / "changes").values()))
    except ValueError as error:
        yield str(error)
        return
    if waiting:
        yield f"lines in changes/ and not in CHANGELOG.md: {waiting} (docs/changes.py {version} DATE)"


def problems_of_git(version: str) -> Iterator[str]:
    """Yield a line for each reason why this commit cannot be tagged."""
    if _git("status", "--porcelain"):
        yield "there are changes that are not committed"
    if _git("tag", "--list", f"v{version}"):
        yield f"the tag v{version} exists"
    # The tag is the last step, and git refuses one without a name.
    named = subprocess.run(["git", "var", "GIT_COMMITTER_IDENT"], cwd=ROOT, capture_output=True, check=False)
    if named.returncode:
        yield "git does not know who makes the tag (git config user.name, user.email)"


def problems_of_files(version: str, dist: Path = DIST) -> Iterator[str]:
    """Yield a line for everything that a folder of files to upload lacks."""
    wheels = sorted(dist.glob(f"ackclock-{version}-*.whl"))
    if not any("x86_64" in wheel.name for wheel in wheels):
        yield "there is no wheel for x86-64 (make wheel)"
    if not any("aarch64" in wheel.name for wheel in wheels):
        yield "there is no wheel for aarch64 (make wheel-arm)"
    for wheel in wheels:
        names = set(zipfile.ZipFile(wheel).namelist())
        yield from (f"{wheel.name} lacks {name}" for name in IN_A_WHEEL if name not in names)
        if not any(re.search(r"\.dist-info/.*LICENSE-MIT$", name) for name in names):
            yield f"{wheel.name} lacks its licences"
    sources = dist / f"ackclock-{version}.tar.gz"
    if not sources.exists():
        yield "there is no archive of the sources (make sdist)"
    else:
        with tarfile.open(sources) as archive:
            if f"ackclock-{version}/Cargo.lock" not in archive.getnames():
                yield f"{sources.name} lacks Cargo.lock"
    for part in ("ackclock-python", "ackclock-sim"):
        if not (dist / f"{part}.cdx.json").exists():
            yield f"there is no list of the components of {part} (make sbom)"
    for listed in sorted(dist.glob("*.cdx.json")):
        component = json.loads(listed.read_text("utf-8")).get("metadata", {}).get("component", {})
        if component.get("version") != version:
            yield f"{listed.name} names version {component.get('version')} (make sbom)"
    others = {wheel.name for wheel in dist.glob("*.whl")} - {wheel.name for wheel in wheels}
    yield from (f"{name} is of another version" for name in sorted(others))


def write_checksums(dist: Path) -> None:
    """Write the checksums in the form that `sha256sum --check` reads."""
    files = sorted(file for file in dist.iterdir() if file.is_file() and file.name != CHECKSUMS)
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (dist / CHECKSUMS).write_text("".join(lines), encoding="ascii")


def main() -> None:
    """Check what the arguments name; the exit status is 1 when something is wrong."""
    match sys.argv[1:]:
        case ["sources", version]:
            problems = [*problems_of_sources(version), *problems_of_git(version)]
        case ["files", version]:
            problems = list(problems_of_files(version))
            if not problems:
                write_checksums(DIST)
        case _:
            sys.exit("write `sources` or `files`, and a version")
    if problems:
        sys.exit("\n".join(f"release: {problem}" for problem in problems))


if __name__ == "__main__":
    main()
