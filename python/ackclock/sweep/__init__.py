"""Many scenarios: on all cores, kept on disk, and on a cluster when there is one.

`Case` and `measure_all` make the runs that a program wants to measure; `read` and `run` make a
sweep from a file, whose results are a dataset.
"""

import sys
from types import ModuleType
from typing import Any

from ackclock.sweep.drive import Outcome, run
from ackclock.sweep.plan import Parameter, Plan, Point, Replication, read

__all__ = ["Outcome", "Parameter", "Plan", "Point", "Replication", "read", "run"]


class _Callable(ModuleType):
    """The package as a function, so that ``ackclock.sweep("loss.toml")`` is `run`."""

    def __call__(self, *arguments: Any, **settings: Any) -> Outcome:
        return run(*arguments, **settings)


sys.modules[__name__].__class__ = _Callable
