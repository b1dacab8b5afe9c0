"""Predictions of the models next to the simulation, one module per subject.

Each module has a function `predict` (or several) that returns a `Prediction`: the numbers of formulas
and, with a `Simulation`, those of runs at the same points with 95 % intervals.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
