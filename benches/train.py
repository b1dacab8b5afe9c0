"""Runs every scenario of the repository once, so that an instrumented extension can learn from it.

usage: train.py EXTENSION
"""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Simulate the scenarios with the extension that the command line names."""
    loader = importlib.machinery.ExtensionFileLoader("_native", sys.argv[1])
    spec = importlib.util.spec_from_loader("_native", loader)
    assert spec is not None  # noqa: S101 (for the type checker)
    native = importlib.util.module_from_spec(spec)
    loader.exec_module(native)
    for file in sorted((ROOT / "scenarios").glob("*.toml")):
        native.Scenario.read(file.read_text(encoding="utf-8"), str(file)).simulate()


if __name__ == "__main__":
    main()
