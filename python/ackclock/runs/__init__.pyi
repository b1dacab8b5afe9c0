from .child import Limits as Limits
from .drive import each as each
from .drive import measure_all as measure_all
from .drive import run_all as run_all
from .jobs import Answer as Answer
from .jobs import Case as Case
from .jobs import Job as Job
from .store import Store as Store

__all__ = ["Answer", "Case", "Job", "Limits", "Store", "each", "measure_all", "run_all"]
