"""The subjects of predictions by name, for the verb and the function `predict`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.predictions import Prediction

SUBJECTS = {
    "response": "response.predict",
    "unfairness": "unfairness.predict",
    "divergence": "unfairness.diverge",
    "period": "period.predict",
    "share": "share.predict",
    "curves": "illinois.predict_curves",
    "gain": "illinois.predict_gain",
    "noise": "illinois.predict_noise",
    "matrix": "matrix.predict",
    "fit": "fit.predict",
    "smoothness": "smoothness.predict",
    "processes": "smoothness.predict_processes",
    "timeouts": "timeouts.predict",
    "step": "step.predict",
}
"""Subjects of predictions: module and function in `ackclock.predictions`."""


PROFILE = "ns2"
"""Profile of simulated senders: the formulas are about those of the papers."""


def function_of(subject: str) -> Callable[..., Prediction]:
    """Return the function that predicts a subject; with a `simulation` its result names the profile."""
    module, name = SUBJECTS[subject].split(".")
    function: Callable[..., Prediction] = getattr(
        importlib.import_module(f"ackclock.predictions.{module}"), name
    )

    @wraps(function)
    def named(*arguments: Any, **settings: Any) -> Prediction:
        prediction = function(*arguments, **settings)
        return prediction if settings.get("simulation") is None else replace(prediction, profile=PROFILE)

    return named
