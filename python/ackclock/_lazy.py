"""Submodules that are imported when they are first used, so that the package itself starts fast."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType


def submodules(
    package: str, *names: str
) -> tuple[Callable[[str], ModuleType], Callable[[], list[str]]]:
    """Make the `__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    *names : str
        Submodules that can be used after an import of the package alone.

    Returns
    -------
    tuple of callable
        To be bound to these two names in the package.
    """

    def get(name: str) -> ModuleType:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return importlib.import_module(f"{package}.{name}")

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return get, listed
