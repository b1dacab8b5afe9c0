"""The fingerprint of the code that a number depends on, in addition to the engine and the control.

The code that measures a run is every module that the measure imports, directly or indirectly. The fingerprint
covers the syntax tree of each module without docstrings and comments: an edited docstring makes nothing
stale, and no module can be forgotten. Modules that draw, print or wait change no number and are left out.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FunctionType

from ackclock.engine import followed

SHOWING = ("ackclock.cli", "ackclock.draw", "ackclock.runs.live", "ackclock.runs.progress")
"""Packages and modules that change no number."""


def fingerprint(measure: object) -> str:
    """Return a digest of the code and the arguments of a measure.

    A measure is a function, a `functools.partial` or an object that can be pickled.
    """
    content = io.BytesIO()
    pickler = _Modules(content)
    pickler.dump(measure)
    code = of_modules(pickler.modules)
    return hashlib.sha256(content.getvalue() + code.encode()).hexdigest()[:32]


class _Modules(pickle.Pickler):
    """Notes the modules of the functions and classes that a pickle names."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=4)
        self.modules: set[str] = set()

    def persistent_id(self, value: object) -> None:
        if isinstance(value, FunctionType | type):
            self.modules.add(value.__module__)


def of_modules(names: Iterable[str], without: Iterable[str] = SHOWING) -> str:
    """Return a digest of modules and of everything that they import from this project, except `without`.

    A package stands for its ``__init__``.
    """
    return _of_modules(frozenset(names), tuple(without))


@functools.cache
def _of_modules(names: frozenset[str], without: tuple[str, ...]) -> str:
    waiting = sorted(names)
    files: dict[str, Path] = {}
    while waiting:
        name = waiting.pop()
        left_out = any(name == prefix or name.startswith(f"{prefix}.") for prefix in without)
        file = None if name in files or left_out else followed.file_of(name)
        if file is None or file.suffix != ".py":
            continue
        files[name] = file
        waiting += _imports(name, file)
    words = "".join(f"{name} {of_file(file)}\n" for name, file in sorted(files.items()))
    return hashlib.sha256(words.encode()).hexdigest()[:32]


@functools.cache
def of_file(file: Path) -> str:
    """Return a digest of the syntax tree of a Python file, without docstrings and comments."""
    tree = ast.parse(file.read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        # A string as a statement is a docstring, or documents the constant before it.
        if isinstance(body, list):
            node.body = [child for child in body if not _is_text(child)]  # type: ignore[attr-defined]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:32]


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


@functools.cache
def _imports(name: str, file: Path) -> tuple[str, ...]:
    """Return the modules of this project that a module imports when its functions run."""
    own = tuple(f"{package}." for package in followed.OWN_PACKAGES)
    return tuple(dict.fromkeys(module for module in _needed(name, file) if f"{module}.".startswith(own)))


def _needed(name: str, file: Path) -> Iterator[str]:
    for module, attribute in followed.imports(name, file, typing=False):
        yield from followed.with_packages(module)
        if attribute is None:
            continue
        inner = f"{module}.{attribute}"
        if followed.file_of(inner) is not None:
            yield inner
        else:
            yield from _on_demand(module).get(attribute, ())


@functools.cache
def _on_demand(package: str) -> dict[str, list[str]]:
    """Return the modules of the names that a package imports when they are first used.

    Such a package has a stub next to it, and ``lazy_loader`` reads the names there.
    """
    file = followed.file_of(package)
    stub = None if file is None else file.with_suffix(".pyi")
    if stub is None or stub.name != "__init__.pyi" or not stub.exists():
        return {}
    names: dict[str, list[str]] = {}
    for module, attribute in followed.imports(package, stub, typing=True):
        if attribute is not None:
            names.setdefault(attribute, []).append(module)
    return names
