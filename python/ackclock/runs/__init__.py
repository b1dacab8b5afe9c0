"""Many runs on all cores, each simulated once and kept on disk."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.runs.tasks import Case, Task, each, measure_all, run_all
else:
    from ackclock._lazy import on_demand

    __getattr__, __dir__ = on_demand(
        __name__, (), {"ackclock.runs.tasks": ("Case", "Task", "each", "measure_all", "run_all")}
    )

__all__ = ["Case", "Task", "each", "measure_all", "run_all"]
