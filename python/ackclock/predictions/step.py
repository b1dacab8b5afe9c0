"""Step responses: the rates of protocols after a change of the loss rate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from ackclock.engine import Run, build
from ackclock.metrics import over_runs
from ackclock.models import transients
from ackclock.models.laws import Array
from ackclock.predictions import paths
from ackclock.predictions.prediction import PointRow, Prediction, Simulation, of_subject

RTT_S = 0.1
CHANGE_S = 100.0
"""Time of the change: round trip 1000."""
FLOWS = 100

PROTOCOLS: dict[str, tuple[Callable[[float, float], transients.StepResponse], str]] = {
    "TCP": (lambda before, after: transients.aimd_step(before, after, 1, 0.5), "reno"),
    "GAIMD": (lambda before, after: transients.aimd_step(before, after, 0.31, 0.875), "gaimd"),
    "TFRC": (transients.tfrc_step, "tfrc"),
    "TEAR": (transients.tear_step, "tear"),
}


def predict(
    before: float = 0.01, after: float = 0.04, round_trips: int = 50, simulation: Simulation | None = None
) -> Prediction:
    """Predict rates after a step of the loss rate p, exactly one packet in 1/p (figures 20 and 29).

    The prediction is |T_n - T_0|/|T_inf - T_0| at every round trip after the step, interpolated between loss
    events. It is simulated with the step at round trip 1000. Rates are means over 100 independent flows with
    random starts within 10 s, so that they are in all phases of their cycles. ValueError is raised when the
    loss rate does not change.
    """
    if before == after:
        raise ValueError(f"the loss rates before and after the step must differ; both are {before:g}")
    at = np.arange(0, round_trips + 1, dtype=float)
    rows: list[PointRow] = []
    lines, scenarios = [], []
    for protocol, (model, controller) in PROTOCOLS.items():
        step = model(before, after)
        progress = np.interp(at, step.time, step.progress)
        lines.append(pl.DataFrame({"protocol": protocol, "round_trip": at, "predicted": progress}))
        for trip in at[:: max(1, round_trips // 10)]:
            rows.append(
                {
                    "protocol": protocol,
                    "round_trip": float(trip),
                    "predicted": float(progress[int(trip)]),
                    "settling_round_trips": step.settling_round_trips(),
                }
            )
        scenarios.append(_scenario(controller, before, after))
    estimates = []
    if simulation is not None:
        measured = simulation.each(scenarios, _progress)
        for row in rows:
            runs = measured[list(PROTOCOLS).index(row["protocol"])]
            estimates.append(over_runs([curve[int(row["round_trip"])] for curve in runs], least=0.0))
    return of_subject("step", rows, estimates, pl.concat(lines), before=before, after=after)


def _scenario(controller: str, before: float, after: float) -> build.Table:
    start = {"uniform": ["0 s", "10 s"]}
    rtt = build.seconds(RTT_S)
    flow = build.flow(controller, rtt=rtt, recovery="newreno", start=start, count=FLOWS)
    change = {"at": build.seconds(CHANGE_S), "set": "dumbbell.loss.rate", "to": after}
    path = paths.UNLIMITED.with_link(loss={"kind": "periodic", "rate": before})
    return path.scenario(
        flow, duration_s=2 * CHANGE_S, measured_from_s=CHANGE_S, sample_s=RTT_S, events=(change,)
    )


def _progress(run: Run) -> Array:
    """Return the progress in every round trip after the change."""
    each = run.windows.group_by("time_s", maintain_order=True).agg(pl.col("sent_bytes").sum())
    sent = each["sent_bytes"].to_numpy().astype(float)
    change = round(CHANGE_S / RTT_S)
    old, new = sent[change // 2 : change].mean(), sent[change + change // 2 :].mean()
    return np.asarray((sent[change - 1 :] - old) / (new - old))
