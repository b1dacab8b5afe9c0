"""The dependencies of a user's control: when one of them changes, cached numbers are recomputed."""

from __future__ import annotations

import ast
import hashlib
import inspect
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType

from ackclock.engine import installed

BASE = "ackclock.engine.base"
"""Module of the base class from which a control may inherit."""
OWN_PACKAGES = (
    "ackclock",
    "ackclock_evaluate",
    "ackclock_gym",
    "ackclock_papers",
    "ackclock_paths",
    "ackclock_search",
    "ackclock_suites",
)
"""Packages of this project; the engine has its own digest."""
LDD_S = 30


@dataclass(frozen=True)
class Dependencies:
    """The code that determines the numbers of a control."""

    files: tuple[Path, ...] = ()
    """Files with contents that count, sorted; a module in an archive counts as the archive."""
    packages: tuple[Path, ...] = ()
    """Folders of packages that count with all of their files."""
    installed: tuple[installed.Package, ...] = ()
    """Other installed packages that are imported, and the packages that these require."""

    def digest(self, more: bytes = b"") -> str:
        """Return a digest of the contents of the files, of the installed packages, and of `more`."""
        words = "".join(f"{package.digest}\n" for package in self.installed)
        return digest(self.files, more + words.encode())


def of_class(control: type[object], brought_in: Iterable[str] = ()) -> Dependencies:
    """Return the dependencies of a class; a class without a file has none.

    These are the modules of the class and its bases with all of their top-level packages, wherever these
    lie; the modules in `brought_in`, which its import loaded and which are not installed; and every module
    that any of these imports from outside the standard library. Of other installed packages the version and
    the record count.
    """
    bases = {base.__module__ for base in control.__mro__}
    tops = {name.partition(".")[0] for name in bases if _is_of_another(name)}
    files: set[Path] = set()
    folders: set[Path] = set()
    imported: dict[str, set[Path]] = {}
    mentioned: set[str] = set()
    waiting = [(name, False) for name in sorted(set(brought_in))] + [(name, True) for name in sorted(bases)]
    for top in sorted(tops):
        modules, places = installed.whole(top, _locations(top))
        folders |= places
        files |= {file.resolve() for _, file in modules}
        waiting += [(name, True) for name, _ in modules if name]
    known: set[str] = set()
    while waiting:
        name, is_imported = waiting.pop()
        location = None if name in known else location_of(name)
        if location is None:
            continue
        known.add(name)
        top = name.partition(".")[0]
        if name == BASE and name in bases:
            files.add(location.resolve())
        elif _is_of_another(name) and (top in tops or not installed.is_installed(location)):
            files.add(location.resolve())
            waiting += [(module, True) for module in _imported(name, location)]
            mentioned |= _mentioned(name, location)
        elif _is_of_another(name) and is_imported:
            imported.setdefault(top, set()).add(location)
    # The loaded modules depend on the earlier work of this process; the texts of a source do not.
    located = {name: location_of(name) for name in sorted(mentioned - tops) if _is_of_another(name)}
    loaded = {name: place for name, place in located.items() if place and installed.is_installed(place)}
    packages, lone = installed.packages(imported, loaded)
    files |= {file.resolve() for file in lone}
    return Dependencies(tuple(sorted(files)), tuple(sorted(folders)), packages)


def of_library(file: Path) -> list[Path]:
    """Return a shared library and the libraries of its own folder that it links, directly or not.

    Where ldd is missing, all libraries of the folder are returned.
    """
    folder = file.resolve().parent
    ldd = shutil.which("ldd")
    if ldd is None:
        libraries = {library for library in folder.iterdir() if ".so" in library.suffixes}
        return sorted({file.resolve(), *libraries})
    said = subprocess.run(  # noqa: S603
        [ldd, str(file.resolve())], capture_output=True, text=True, timeout=LDD_S, check=False
    ).stdout
    linked = {Path(word).resolve() for word in said.split() if word.startswith("/")}
    return sorted({file.resolve(), *(library for library in linked if library.parent == folder)})


def digest(files: Iterable[Path], more: bytes = b"") -> str:
    """Return a digest of the contents, not the paths, of files in the given order, and of `more`."""
    content = hashlib.sha256(more)
    for file in files:
        content.update(hashlib.sha256(file.read_bytes()).digest())
    return content.hexdigest()[:16]


def file_of(name: str) -> Path | None:
    """Return the file of a module without importing it: a function may not have imported it yet."""
    location = location_of(name)
    return None if location is None else location.resolve()


def location_of(name: str) -> Path | None:
    """Return the file of a module as Python names it, or the archive in which it lies."""
    module = sys.modules.get(name)
    if module is not None:
        file = getattr(module, "__file__", None)
    else:
        spec = _spec_of(name)
        file = spec.origin if spec is not None and spec.has_location else None
    if not file:
        return None
    path = Path(file)
    return next((above for above in (path, *path.parents) if above.is_file()), None)


def _spec_of(name: str) -> ModuleSpec | None:
    parent = name.rpartition(".")[0]
    if not parent:
        return PathFinder.find_spec(name) or _spec_of_editable(name)
    locations = _locations(parent)
    return PathFinder.find_spec(name, locations) if locations else None


def _spec_of_editable(name: str) -> ModuleSpec | None:
    """Ask the finders that editable installations add; none of them knows a module of this project."""
    if name in OWN_PACKAGES:
        return None
    for finder in sys.meta_path:
        if "editable" in f"{finder!r} {type(finder).__module__}".lower():
            spec = finder.find_spec(name, None)
            if spec is not None:
                return spec
    return None


def _locations(package: str) -> list[str]:
    """Return the folders of a package, or none."""
    module = sys.modules.get(package)
    above = _spec_of(package) if module is None else None
    return list(getattr(module, "__path__", None) or (above and above.submodule_search_locations) or ())


def _is_of_another(name: str) -> bool:
    """Return whether a module is neither Python's nor this project's; the engine has its own digest."""
    location = None if name.partition(".")[0] in OWN_PACKAGES else location_of(name)
    if location is None or installed.is_installed(location):
        return location is not None
    standard = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    return not any(location.resolve().is_relative_to(Path(place).resolve()) for place in standard)


def _imported(name: str, file: Path) -> Iterator[str]:
    """Yield the modules that a module's source imports anywhere, with their packages."""
    yield from with_packages(name)
    source = installed.source_of(name, file)
    if source is None:
        return
    for module, attribute in _imports_of(name, source, is_package=bool(_locations(name))):
        # A name imported from a package may be one of its modules.
        yield from with_packages(module if attribute is None else f"{module}.{attribute}")


def _mentioned(name: str, file: Path) -> set[str]:
    """Return the packages that a module's source may import by a text, as for ``importlib.import_module``."""
    try:
        nodes = ast.walk(ast.parse(installed.source_of(name, file) or b""))
    except (SyntaxError, ValueError):
        return set()
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return {text.partition(".")[0] for text in texts if text.replace(".", "").isidentifier()}


def with_packages(name: str) -> Iterator[str]:
    """Yield the packages of a module from the outermost to the innermost, then the module."""
    parts = name.split(".")
    yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def imports(name: str, file: Path, *, typing: bool = True) -> Iterator[tuple[str, str | None]]:
    """Yield each module that a source imports at its top or in functions, with the imported name if any.

    Without `typing`, imports that only type checkers see are left out. A file with a syntax error yields
    nothing.
    """
    yield from _imports_of(name, file.read_bytes(), is_package=file.stem == "__init__", typing=typing)


def _imports_of(
    name: str, source: bytes, *, is_package: bool, typing: bool = True
) -> Iterator[tuple[str, str | None]]:
    package = name if is_package else name.rpartition(".")[0]
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in _nodes(tree, typing=typing):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            try:
                module = resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:
                continue
            yield from ((module, alias.name) for alias in node.names)


def _nodes(tree: ast.AST, *, typing: bool) -> Iterator[ast.AST]:
    """Walk a syntax tree; without `typing`, skip the blocks under ``if TYPE_CHECKING``."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        is_for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        children = ast.iter_child_nodes(node)
        waiting += node.orelse if isinstance(node, ast.If) and is_for_types and not typing else children


def seen_by(control: type[object], source: bytes) -> set[str]:
    """Return the modules of the objects that the source of a class mentions, as in a notebook."""
    values = vars(sys.modules.get(control.__module__, ModuleType("none")))
    try:
        tree = ast.parse(textwrap.dedent(source.decode()))
    except SyntaxError:
        return set()
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    mentioned = [values[name] for name in sorted(names & values.keys())]
    return {
        value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
        for value in mentioned
    }


def source_of(control: type[object]) -> bytes:
    """Return the source of a class that has no file, as in a notebook.

    Without a source it differs in every call, because changes could not be noticed.
    """
    try:
        return inspect.getsource(control).encode()
    except (OSError, TypeError):
        return repr((control, id(control))).encode()
