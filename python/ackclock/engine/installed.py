"""Packages on disk: all of their files, or the record that an installer wrote about them."""

from __future__ import annotations

import hashlib
import importlib.machinery
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ackclock.engine.disk import CHECKSUMS

FOLDERS = ("site-packages", "dist-packages")
"""Names of the folders into which packages are installed."""
PROJECT = "ackclock"
"""The distribution of this project; the engine has its own digest."""
CODE = tuple(importlib.machinery.all_suffixes())
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"\bextra\s*==")


@dataclass(frozen=True, order=True)
class Package:
    """An installed distribution."""

    name: str
    version: str
    digest: str
    """Digest of the name, the version, the installer's record of all files, and the imported files."""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def is_installed(file: Path) -> bool:
    """Return whether a file is in a folder of installed packages."""
    return bool(set(file.parts) & set(FOLDERS))


def whole(top: str, locations: Sequence[str]) -> tuple[list[tuple[str, Path]], set[Path]]:
    """Return all files of a top-level package with the names of their modules, and its folders.

    Data have an empty name. Without ``__init__`` a folder may hold anything, so that only code counts.
    Hidden files, bytecode that Python keeps, and folders of results are left out.
    """
    folders = {folder for location in locations if (folder := Path(location)).is_dir()}
    is_regular = any((folder / f"__init__{suffix}").exists() for folder in folders for suffix in CODE)
    files = [
        (_module(top, folder, file), file)
        for folder in sorted(folders)
        for file in _below(folder)
        if is_regular or file.name.endswith(CODE)
    ]
    return files, {folder.resolve() for folder in folders}


def _module(top: str, folder: Path, file: Path) -> str:
    inner = file.relative_to(folder)
    if not inner.name.endswith(CODE):
        return ""
    parts = [top, *inner.parent.parts, inner.name.partition(".")[0]]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        here = Path(place)
        is_result = CHECKSUMS in names or ".cache" in folders
        if is_result and here != folder:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if name != "__pycache__" and not name.startswith("."))
        yield from (here / name for name in sorted(names) if name[0] != "." and (here / name).is_file())


def source_of(name: str, file: Path) -> bytes | None:
    """Return the source of a module, also of one in an archive; None for a module without a source."""
    if file.suffix == ".py":
        return file.read_bytes()
    loader = getattr(getattr(sys.modules.get(name), "__spec__", None), "loader", None)
    try:
        source = loader.get_source(name) if file.suffix not in CODE and loader is not None else None
    except (ImportError, AttributeError):
        return None
    return None if source is None else source.encode()


def packages(
    imported: Mapping[str, set[Path]], loaded: Mapping[str, Path]
) -> tuple[tuple[Package, ...], set[Path]]:
    """Return the distributions of top-level packages, and the files of packages without a record.

    `imported` has the files that sources import from each package, and `loaded` a file of each package that
    they name in texts. The result includes the distributions that these require.
    """
    files: dict[str, set[Path]] = {}
    lone: set[Path] = set()
    chosen: dict[str, metadata.Distribution] = {}
    for top in sorted({*imported, *loaded}):
        here = imported.get(top) or {loaded[top]}
        distribution = _of_module(top, here)
        if distribution is None:
            lone |= here.union(*(_below(file.parent) for file in here if file.stem == "__init__"))
        else:
            chosen[_normal(distribution)] = distribution
            files.setdefault(_normal(distribution), set()).update(imported.get(top, ()))
    known = [_package(item, files.get(name, set())) for name, item in _with_required(chosen).items()]
    return tuple(sorted(package for package in known if package.name != PROJECT)), lone


def _with_required(chosen: Mapping[str, metadata.Distribution]) -> dict[str, metadata.Distribution]:
    every = dict(chosen)
    waiting = list(chosen.values())
    while waiting:
        for requirement in waiting.pop().requires or ():
            name = _NAME.match(requirement)
            if name is None or _EXTRA.search(requirement):
                continue
            try:
                distribution = metadata.distribution(name[0])
            except (metadata.PackageNotFoundError, ValueError):
                continue
            if every.setdefault(_normal(distribution), distribution) is distribution:
                waiting.append(distribution)
    return every


def _normal(distribution: metadata.Distribution) -> str:
    return re.sub(r"[-_.]+", "-", distribution.metadata["Name"] or "").lower()


def _record(distribution: metadata.Distribution) -> str | None:
    return distribution.read_text("RECORD") or distribution.read_text("installed-files.txt")


def _of_module(top: str, files: set[Path]) -> metadata.Distribution | None:
    """Return the distribution whose record lists one of the files of a package."""

    def has(distribution: metadata.Distribution) -> bool:
        names = {line.partition(",")[0] for line in (_record(distribution) or "").splitlines()}
        home = Path(str(distribution.locate_file("")))
        return any(file.is_relative_to(home) and file.relative_to(home).as_posix() in names for file in files)

    try:
        # Mostly both have one name; reading all records takes a third of a second.
        if has(likely := metadata.distribution(top)):
            return likely
    except (metadata.PackageNotFoundError, ValueError):
        pass
    return next(filter(has, metadata.distributions()), None)


def _package(distribution: metadata.Distribution, files: set[Path]) -> Package:
    content = hashlib.sha256((_record(distribution) or "").encode())
    # An edit of an installed file does not change the record.
    for file in sorted(files):
        content.update(hashlib.sha256(file.read_bytes()).digest())
    name, version = _normal(distribution), distribution.version
    return Package(name, version, f"{name} {version} {content.hexdigest()}")
