"""The training runs of an instrumented extension: the repository's scenarios, every control, QUIC.

usage: train.py EXTENSION
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def scenarios(controls: list[str]) -> Iterator[tuple[str, str, bool]]:
    """Return the runs: name, text, and whether it is JSON."""
    for file in sorted((ROOT / "scenarios").glob("*.toml")):
        yield str(file), file.read_text(encoding="utf-8"), False
    path = {"rate": "20 Mbit/s", "delay": "20 ms", "queue": {"kind": "droptail", "limit": "60 kB"}}
    flows: list[dict[str, Any]] = [{"controller": control} for control in controls]
    flows += [{"transport": "quic", "packet": "1500 B"}, {"count": 200}]
    for flow in flows:
        settings = {"controller": "reno", "rtt": "50 ms"} | flow
        tables = {"run": {"duration": "20 s"}, "dumbbell": path, "flow": [settings]}
        yield "training", json.dumps(tables), True


def main() -> None:
    """Simulate with the extension that the command line names, and print every run's digest."""
    loader = importlib.machinery.ExtensionFileLoader("_native", sys.argv[1])
    spec = importlib.util.spec_from_loader("_native", loader)
    assert spec is not None  # noqa: S101 (for the type checker)
    native = importlib.util.module_from_spec(spec)
    loader.exec_module(native)
    controls = [control["name"] for control in json.loads(native.controllers())]
    for name, text, is_json in scenarios(controls):
        scenario = native.Scenario.read(text, name, is_json=is_json)
        print(scenario.simulate()[0]["digest"])


if __name__ == "__main__":
    main()
