from . import fit as fit
from . import illinois as illinois
from . import matrix as matrix
from . import period as period
from . import response as response
from . import share as share
from . import smoothness as smoothness
from . import step as step
from . import timeouts as timeouts
from . import unfairness as unfairness
from .prediction import Prediction as Prediction
from .prediction import Simulation as Simulation

__all__ = [
    "Prediction",
    "Simulation",
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
]
