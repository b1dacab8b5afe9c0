"""What a package has, imported when it is first used, so that the package itself starts fast."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def on_demand(
    package: str, submodules: Sequence[str], names: Mapping[str, Sequence[str]] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the `__getattr__` and `__dir__` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    submodules : sequence of str
        Submodules that can be used after an import of the package alone.
    names : mapping, optional
        What else can be, by the module that has it.

    Returns
    -------
    tuple of callable
        To be bound to these two names in the package.
    """
    module_of = {name: module for module, some in (names or {}).items() for name in some}

    def get(name: str) -> Any:
        if name in submodules:
            return importlib.import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(module_of[name]), name)
        # The next use finds it without being asked here.
        setattr(sys.modules[package], name, found)
        return found

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *submodules, *module_of})

    return get, listed
