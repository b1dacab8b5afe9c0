"""A congestion-control laboratory: simulate, compare and explain congestion controls.

>>> import ackclock
>>> scenario = ackclock.scenario(
...     ackclock.dumbbell(rate="10 Mbit/s", delay="20 ms", queue="50 packets"),
...     ackclock.flow("reno", rtt="50 ms"),
...     ackclock.flow("illinois", rtt="50 ms"),
...     duration="20 s",
... )
>>> run = ackclock.simulate(scenario)
>>> run.flows["controller"].to_list()
['reno', 'illinois']
>>> run.windows.columns[:4]
['time_s', 'flow', 'window', 'ssthresh']
>>> figure = run.plot.window()

`metrics`, `models`, `predictions`, `comparison`, `runs` and `sweep` are imported when they are
first used:

>>> float(ackclock.metrics.jain([1.0, 1.0]))
1.0
"""

from typing import TYPE_CHECKING

from ackclock import engine
from ackclock.engine import (
    Run,
    Scenario,
    ScenarioError,
    SimulationError,
    check,
    controllers,
    example,
    explain,
    schema,
    simulate,
)
from ackclock.engine.build import dumbbell, flow, scenario
from ackclock.engine.controls import Ack, Control, Loss, Start, Timeout, register
from ackclock.engine.storage import StorageError

__version__ = engine.VERSION

if TYPE_CHECKING:
    from ackclock import comparison as comparison
    from ackclock import metrics as metrics
    from ackclock import models as models
    from ackclock import predictions as predictions
    from ackclock import runs as runs
    from ackclock import sweep as sweep
else:
    from ackclock._lazy import submodules

    __getattr__, __dir__ = submodules(
        __name__, "comparison", "metrics", "models", "predictions", "runs", "sweep"
    )

__all__ = [
    "Ack",
    "Control",
    "Loss",
    "Run",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "Start",
    "StorageError",
    "Timeout",
    "__version__",
    "check",
    "controllers",
    "dumbbell",
    "example",
    "explain",
    "flow",
    "register",
    "scenario",
    "schema",
    "simulate",
]
