"""Predictions of the models beside the simulation: one file per subject.

Each module has a function `predict` (or several) that gives a `Prediction`: numbers of the formulas
and, with a `Simulation`, of runs at the same points with their 95 % intervals.
"""

from typing import TYPE_CHECKING

from ackclock.predictions.prediction import Prediction, Simulation

if TYPE_CHECKING:
    from ackclock.predictions import fit as fit
    from ackclock.predictions import illinois as illinois
    from ackclock.predictions import matrix as matrix
    from ackclock.predictions import period as period
    from ackclock.predictions import response as response
    from ackclock.predictions import share as share
    from ackclock.predictions import smoothness as smoothness
    from ackclock.predictions import step as step
    from ackclock.predictions import timeouts as timeouts
    from ackclock.predictions import unfairness as unfairness
else:
    from ackclock._lazy import on_demand

    __getattr__, __dir__ = on_demand(
        __name__,
        (
            "fit",
            "illinois",
            "matrix",
            "period",
            "response",
            "share",
            "smoothness",
            "step",
            "timeouts",
            "unfairness",
        ),
    )

__all__ = ["Prediction", "Simulation"]
