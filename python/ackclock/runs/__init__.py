"""Many runs on all cores, each simulated once and kept on disk."""

from ackclock.runs.tasks import Case, Task, each, measure_all, run_all

__all__ = ["Case", "Task", "each", "measure_all", "run_all"]
