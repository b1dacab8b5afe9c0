"""A scenario for many values of its settings, whose results are a dataset."""

from ackclock.sweeps.drive import Outcome, sweep
from ackclock.sweeps.plan import Parameter, Plan, Point, Replication, read

__all__ = ["Outcome", "Parameter", "Plan", "Point", "Replication", "read", "sweep"]
