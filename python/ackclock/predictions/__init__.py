"""Predictions of the models beside the simulation: one file per subject.

Each module has a function `predict` (or several) that gives a `Prediction`: numbers of the formulas
and, with a `Simulation`, of runs at the same points with their 95 % intervals.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
