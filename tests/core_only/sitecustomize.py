"""Refuse imports of satellites, in every process of the tests: the core must work without them.

`conftest.py` puts this folder on the path of processes, and imports it itself, with ACKCLOCK_CORE=1.
"""

import sys
from importlib.machinery import ModuleSpec

SATELLITES = ("ackclock_evaluate", "ackclock_gym", "ackclock_paths", "ackclock_search")


class Refusal:
    """A finder that fails for satellites and leaves everything else to others."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG004
        """Fail for a satellite."""
        if name.partition(".")[0] in SATELLITES:
            raise ImportError(f"{name} is a satellite, and ACKCLOCK_CORE is set", name=name)
        return None


sys.meta_path.insert(0, Refusal)
