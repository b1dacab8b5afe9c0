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

What the command line does is here as functions, too: `compare`, `evaluate`, `sweep`, `plot`, `predict`,
`reproduce`, `diff`. Everything is imported when it is first used, `metrics`, `models`,
`predictions`, `comparison`, `runs`, `sweeps` and `gym` too:

>>> float(ackclock.metrics.jain([1.0, 1.0]))
1.0
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock import comparison as comparison
    from ackclock import engine as engine
    from ackclock import gym as gym
    from ackclock import metrics as metrics
    from ackclock import models as models
    from ackclock import predictions as predictions
    from ackclock import runs as runs
    from ackclock import sweeps as sweeps
    from ackclock.engine import (
        Run,
        Scenario,
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
    from ackclock.engine.build import dumbbell, flow, scenario
    from ackclock.engine.controls import Ack, Control, Loss, Lost, RateSample, Start, Timeout, register
    from ackclock.engine.storage import StorageError
    from ackclock.sweeps import sweep
    from ackclock.verbs import Difference, compare, diff, evaluate, plot, predict, reproduce
else:
    from ackclock._lazy import on_demand

    __getattr__, __dir__ = on_demand(
        __name__,
        ("comparison", "engine", "gym", "metrics", "models", "predictions", "runs", "sweeps"),
        {
            "ackclock.engine": (
                "Run",
                "Scenario",
                "ScenarioError",
                "SimulationError",
                "__version__",
                "check",
                "controllers",
                "example",
                "explain",
                "schema",
                "simulate",
            ),
            "ackclock.engine.build": ("dumbbell", "flow", "scenario"),
            "ackclock.engine.controls": (
                "Ack",
                "Control",
                "Loss",
                "Lost",
                "RateSample",
                "Start",
                "Timeout",
                "register",
            ),
            "ackclock.engine.storage": ("StorageError",),
            "ackclock.sweeps": ("sweep",),
            "ackclock.verbs": ("Difference", "compare", "diff", "evaluate", "plot", "predict", "reproduce"),
        },
    )

__all__ = [
    "Ack",
    "Control",
    "Difference",
    "Loss",
    "Lost",
    "RateSample",
    "Run",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "Start",
    "StorageError",
    "Timeout",
    "__version__",
    "check",
    "compare",
    "controllers",
    "diff",
    "dumbbell",
    "evaluate",
    "example",
    "explain",
    "flow",
    "plot",
    "predict",
    "register",
    "reproduce",
    "scenario",
    "schema",
    "simulate",
    "sweep",
]
