"""The subjects of predictions by name, for the verb and the function `predict`."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.predictions import Prediction

SUBJECTS: dict[str, dict[str, Any]] = tomllib.loads(
    (resources.files("ackclock.predictions") / "subjects.toml").read_text("utf-8")
)
"""The description of each subject, from ``subjects.toml``."""
PROFILE = "ns2"
"""Profile of simulated senders: the formulas describe the senders of the papers."""


def function_of(subject: str) -> Callable[..., Prediction]:
    """Return the function that predicts a subject; with a `simulation` its result names the profile."""
    module, name = SUBJECTS[subject]["function"].split(".")
    function: Callable[..., Prediction] = getattr(
        importlib.import_module(f"ackclock.predictions.{module}"), name
    )

    @wraps(function)
    def named(*arguments: object, **settings: object) -> Prediction:
        prediction = function(*arguments, **settings)
        return prediction if settings.get("simulation") is None else replace(prediction, profile=PROFILE)

    return named
