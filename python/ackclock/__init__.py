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
"""

from ackclock import engine
from ackclock._native import Ack, Loss, Start, Timeout
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
from ackclock.engine.controls import Control, register
from ackclock.engine.storage import StorageError

__version__ = engine.VERSION

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
