"""A congestion-control laboratory: simulate, compare and explain congestion controls.

>>> import ackclock
>>> run = ackclock.simulate("scenarios/first.toml")  # doctest: +SKIP
>>> run.flows["goodput_mbps"]  # doctest: +SKIP
"""

from ackclock.api import (
    Run,
    ScenarioError,
    SimulationError,
    __version__,
    check,
    controllers,
    example,
    explain,
    schema,
    simulate,
)
from ackclock.storage import StorageError

__all__ = [
    "Run",
    "ScenarioError",
    "SimulationError",
    "StorageError",
    "__version__",
    "check",
    "controllers",
    "example",
    "explain",
    "schema",
    "simulate",
]
