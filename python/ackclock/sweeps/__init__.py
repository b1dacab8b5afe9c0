"""Runs of a scenario for many values of its keys; the results are a dataset."""

from ackclock.sweeps.drive import SweepResult, sweep
from ackclock.sweeps.plan import Parameter, Plan, Point, Replication, read

__all__ = ["Parameter", "Plan", "Point", "Replication", "SweepResult", "read", "sweep"]
