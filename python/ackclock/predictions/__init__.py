"""Predictions of the models beside the simulation: one file per subject.

Each module has a function `predict` (or several) that gives a `Prediction`: numbers of the formulas
and, with a `Simulation`, of runs at the same points with their 95 % intervals.
"""

from ackclock.predictions.prediction import Prediction, Simulation

__all__ = ["Prediction", "Simulation"]
