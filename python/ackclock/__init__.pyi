from . import comparison as comparison
from . import engine as engine
from . import metrics as metrics
from . import models as models
from . import predictions as predictions
from . import runs as runs
from . import sweeps as sweeps
from .engine import Run as Run
from .engine import Scenario as Scenario
from .engine import __version__ as __version__
from .engine import check as check
from .engine import controllers as controllers
from .engine import example as example
from .engine import explain as explain
from .engine import schema as schema
from .engine import simulate as simulate
from .engine.checked import dumbbell as dumbbell
from .engine.checked import flow as flow
from .engine.checked import scenario as scenario
from .engine.controls import Ack as Ack
from .engine.controls import Control as Control
from .engine.controls import Loss as Loss
from .engine.controls import Lost as Lost
from .engine.controls import RateSample as RateSample
from .engine.controls import Start as Start
from .engine.controls import Timeout as Timeout
from .engine.controls import register as register
from .errors import Error as Error
from .errors import ScenarioError as ScenarioError
from .errors import SimulationError as SimulationError
from .errors import StorageError as StorageError
from .sweeps import sweep as sweep
from .verbs import Difference as Difference
from .verbs import compare as compare
from .verbs import diff as diff
from .verbs import evaluate as evaluate
from .verbs import plot as plot
from .verbs import predict as predict
from .verbs import reproduce as reproduce

__all__ = [
    "Ack",
    "Control",
    "Difference",
    "Error",
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
    "comparison",
    "controllers",
    "diff",
    "dumbbell",
    "engine",
    "evaluate",
    "example",
    "explain",
    "flow",
    "metrics",
    "models",
    "plot",
    "predict",
    "predictions",
    "register",
    "reproduce",
    "runs",
    "scenario",
    "schema",
    "simulate",
    "sweep",
    "sweeps",
]
