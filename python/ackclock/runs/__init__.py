"""Many runs: the only driver and the only store of all verbs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.runs.child import Limits
    from ackclock.runs.drive import each, measure_all, run_all
    from ackclock.runs.jobs import Answer, Case, Job
    from ackclock.runs.store import Store
else:
    from ackclock._lazy import on_demand

    __getattr__, __dir__ = on_demand(
        __name__,
        (),
        {
            "ackclock.runs.drive": ("each", "measure_all", "run_all"),
            "ackclock.runs.jobs": ("Answer", "Case", "Job"),
            "ackclock.runs.child": ("Limits",),
            "ackclock.runs.store": ("Store",),
        },
    )

__all__ = ["Answer", "Case", "Job", "Limits", "Store", "each", "measure_all", "run_all"]
