"""One scenario and one run: read, check, simulate, keep."""

from ackclock.engine.run import Run, holds_result, new_result
from ackclock.engine.verbs import (
    Progress,
    Scenario,
    ScenarioError,
    SimulationError,
    Source,
    __version__,
    check,
    controllers,
    example,
    explain,
    schema,
    simulate,
    summary,
)

__all__ = [
    "Progress",
    "Run",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "Source",
    "__version__",
    "check",
    "controllers",
    "example",
    "explain",
    "holds_result",
    "new_result",
    "schema",
    "simulate",
    "summary",
]
