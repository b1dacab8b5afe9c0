"""One scenario and one run: read, check, simulate, save. Only this package calls the extension."""

from ackclock import _native
from ackclock._native import ENGINE, RULES
from ackclock.engine.catalogue import ControlEntry, controllers, example, explain, schema
from ackclock.engine.results import holds_result, new_result
from ackclock.engine.run import Run
from ackclock.engine.scenario import (
    Given,
    Scenario,
    ScenarioError,
    check,
    limit,
    parse,
    quantity,
    read,
    shown,
    text_of,
)
from ackclock.engine.simulation import Progress, simulate, summary
from ackclock.errors import SimulationError
from ackclock.summary import FlowSummary, LinkSummary, Summary, columns, empty_table, number

__version__ = _native.VERSION

__all__ = [
    "ENGINE",
    "RULES",
    "ControlEntry",
    "FlowSummary",
    "Given",
    "LinkSummary",
    "Progress",
    "Run",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "Summary",
    "__version__",
    "check",
    "columns",
    "controllers",
    "empty_table",
    "example",
    "explain",
    "holds_result",
    "limit",
    "new_result",
    "number",
    "parse",
    "quantity",
    "read",
    "schema",
    "shown",
    "simulate",
    "summary",
    "text_of",
]
