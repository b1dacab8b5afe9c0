"""The files that a user's control depends on: when one of them changes, cached numbers are recomputed."""

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
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType

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
OF_OTHERS = ("site-packages", "dist-packages")
LDD_S = 30


def of_class(control: type[object], brought_in: Iterable[str] = ()) -> list[Path]:
    """Return the files that a class depends on, sorted; none for a class without a file.

    These are the modules of the class and its bases, those in `brought_in` (modules that its import
    loaded), and every module that these import from outside the standard library and site-packages.
    """
    bases = {base.__module__ for base in control.__mro__}
    files: dict[str, Path] = {}
    waiting = sorted(bases | set(brought_in))
    while waiting:
        name = waiting.pop()
        file = None if name in files else file_of(name)
        is_base = name == BASE and name in bases
        if file is None or not (is_base or _is_own(name, file)):
            continue
        files[name] = file
        if not is_base:
            waiting += _imported(name, file)
    return sorted(set(files.values()))


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
    module = sys.modules.get(name)
    if module is not None:
        file = getattr(module, "__file__", None)
    else:
        spec = _spec_of(name)
        file = spec.origin if spec is not None and spec.has_location else None
    return Path(file).resolve() if file else None


def _spec_of(name: str) -> ModuleSpec | None:
    parent = name.rpartition(".")[0]
    if not parent:
        return PathFinder.find_spec(name)
    module = sys.modules.get(parent)
    above = _spec_of(parent) if module is None else None
    locations = getattr(module, "__path__", None) or (above and above.submodule_search_locations)
    return PathFinder.find_spec(name, list(locations)) if locations else None


def _is_own(name: str, file: Path) -> bool:
    """Return whether a module is the user's, and not from Python, an installed package or the engine."""
    if name.partition(".")[0] in OWN_PACKAGES or set(file.parts) & set(OF_OTHERS):
        return False
    standard = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    return not any(file.is_relative_to(Path(location).resolve()) for location in standard)


def _imported(name: str, file: Path) -> Iterator[str]:
    """Yield the modules that a module's source imports anywhere, with their packages."""
    yield from with_packages(name)
    if file.suffix != ".py":
        return
    for module, attribute in imports(name, file):
        # A name imported from a package may be one of its modules.
        yield from with_packages(module if attribute is None else f"{module}.{attribute}")


def with_packages(name: str) -> Iterator[str]:
    """Yield the packages of a module from the outermost to the innermost, then the module."""
    parts = name.split(".")
    yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def imports(name: str, file: Path, *, typing: bool = True) -> Iterator[tuple[str, str | None]]:
    """Yield each module that a source imports at its top or in functions, with the imported name if any.

    Without `typing`, imports that only type checkers see are left out. A file with a syntax error yields
    nothing.
    """
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:
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
