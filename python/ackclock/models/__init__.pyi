from . import convergence as convergence
from . import fit as fit
from . import fluid as fluid
from . import illinois as illinois
from . import laws as laws
from . import matrix as matrix
from . import periods as periods
from . import responses as responses
from . import smoothness as smoothness
from . import timeouts as timeouts
from . import transients as transients
from . import unfairness as unfairness

__all__ = [
    "convergence",
    "fit",
    "fluid",
    "illinois",
    "laws",
    "matrix",
    "periods",
    "responses",
    "smoothness",
    "timeouts",
    "transients",
    "unfairness",
]
