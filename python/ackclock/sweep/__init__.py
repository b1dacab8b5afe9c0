"""Many scenarios: on all cores, kept on disk, and on a cluster when there is one.

`Case` and `measure_all` make the runs that a program wants to measure; `read` and `run` make a
sweep from a file, whose results are a dataset.
"""

from ackclock.sweep.drive import Outcome, run
from ackclock.sweep.plan import Parameter, Plan, Point, Replication, read

__all__ = [
    "Outcome",
    "Parameter",
    "Plan",
    "Point",
    "Replication",
    "read",
    "run",
]
