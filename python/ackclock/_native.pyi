"""The engine (Rust, crates/ackclock-py)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_Column = NDArray[np.float64] | NDArray[np.uint64] | NDArray[np.uint32] | list[str]

__all__ = [
    "VERSION",
    "ScenarioError",
    "SimulationError",
    "check",
    "controllers",
    "example",
    "page",
    "schema",
    "simulate",
]

VERSION: str

class ScenarioError(ValueError): ...
class SimulationError(RuntimeError): ...

def check(text: str, file: str, settings: list[str], is_json: bool = False) -> str: ...
def controllers() -> str: ...
def page(controller: str) -> str | None: ...
def schema() -> str: ...
def example() -> str: ...
def simulate(
    text: str,
    file: str,
    settings: list[str],
    is_json: bool = False,
    run: int = 0,
    record: bool = False,
    progress: Callable[[float, int], None] | None = None,
    pcap: str | None = None,
) -> tuple[str, dict[str, dict[str, _Column]]]: ...
