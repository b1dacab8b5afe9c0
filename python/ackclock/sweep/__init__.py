"""Many scenarios: on all cores, kept on disk, and on a cluster when there is one.

`Case` and `measure_all` make the runs that a program wants to measure; `read` and `run` make a
sweep from a file, whose results are a dataset.
"""

from ackclock.sweep.drive import Outcome, run
from ackclock.sweep.plan import Parameter, Plan, Point, Replication, read
from ackclock.sweep.tasks import Case, Task, each, engine, measure_all, run_all

__all__ = [
    "Case",
    "Outcome",
    "Parameter",
    "Plan",
    "Point",
    "Replication",
    "Task",
    "each",
    "engine",
    "measure_all",
    "read",
    "run",
    "run_all",
]
