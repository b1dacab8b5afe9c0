"""Response functions: the rate of a control that loses one packet in 1/p."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ackclock.engine import Run, build
from ackclock.metrics import Estimate, of_batches
from ackclock.models import laws, responses
from ackclock.models.laws import Array
from ackclock.predictions import paths
from ackclock.predictions.prediction import PointRow, Prediction, Simulation, check_names, curves, of_subject

BATCHES = 10


@dataclass(frozen=True)
class ResponseModel:
    """The response function of a control, and the control to simulate, if there is one."""

    formula: Callable[[ArrayLike, float], Array]
    """Packets per round trip, from the loss-event rate and the round-trip time in seconds."""
    law: laws.Law | None = None
    """Its window law, for the formula with the round trip of recovery."""
    controller: str | None = None
    """None when the formula is not about periodic loss."""
    params: Mapping[str, float | str] = field(default_factory=dict)
    cycles: int = 40
    """Loss events to measure."""


def _of_p(formula: Callable[..., Array], *arguments: float) -> Callable[[ArrayLike, float], Array]:
    return lambda p, _rtt_s: formula(p, *arguments)


def _at(formula: Callable[[ArrayLike, float], Array], rtt_s: float) -> Callable[[ArrayLike], Array]:
    return lambda p: formula(p, rtt_s)


CONTROLS: dict[str, ResponseModel] = {
    "reno": ResponseModel(_of_p(responses.reno), laws.aimd(1, 0.5), "reno"),
    "gaimd": ResponseModel(_of_p(responses.gaimd), laws.aimd(0.31, 0.125), "gaimd"),
    "multcp": ResponseModel(_of_p(responses.multcp, 4), laws.aimd(4, 1 / 8), "multcp", {"n": 4}),
    "fit": ResponseModel(_of_p(responses.fit, 3), laws.aimd(3, 0.2), "fit", {"n": 3}),
    "aimd": ResponseModel(_of_p(responses.aimd, 32, 0.125), laws.aimd(32, 0.125), "aimd"),
    "hstcp": ResponseModel(_of_p(responses.hstcp), laws.hstcp(), "hstcp"),
    "scalable": ResponseModel(_of_p(responses.scalable), laws.scalable(), "scalable"),
    "bic": ResponseModel(_of_p(responses.bic), laws.bic(), "bic", {"search": "per_rtt"}),
    "cubic": ResponseModel(responses.cubic, None, "cubic", {"fast_convergence": False}, 100),
    "compound": ResponseModel(_of_p(responses.compound), laws.compound(), "compound"),
    "veno": ResponseModel(_of_p(responses.veno), laws.aimd(1, 0.2), "veno"),
    "westwood": ResponseModel(lambda p, rtt_s: responses.westwood(p, rtt_s, 0.0)),
    "tfrc": ResponseModel(_of_p(responses.tfrc), None, "tfrc"),
    "pftk": ResponseModel(_of_p(responses.pftk)),
}


def predict(
    controls: Sequence[str] = tuple(CONTROLS),
    loss: Sequence[float] = (1e-2, 1e-3, 1e-4, 1e-5),
    rtt_s: float = 0.1,
    simulation: Simulation | None = None,
) -> Prediction:
    """Predict packets per round trip at loss-event rates p with the closed formulas of `CONTROLS`.

    Only cubic and westwood depend on the round-trip time. For controls with a window law, the column
    `with_recovery` has its rate with the round trip of recovery included. One loss in exactly 1/p packets is
    simulated on a path without other limits. Nothing is random there: the interval is over ten batches of one
    run. LookupError is raised for a control without a formula; the message lists the controls that have one.
    """
    check_names(controls, CONTROLS, "response function")
    rows = []
    for name in controls:
        control = CONTROLS[name]
        for p in loss:
            law = control.law
            rows.append(
                {
                    "control": name,
                    "p": p,
                    "predicted": float(control.formula(p, rtt_s)),
                    "with_recovery": None if law is None else laws.response(law, p, 1.0),
                }
            )
    estimates = [] if simulation is None else _simulate(rows, rtt_s, simulation)
    fine = np.geomspace(min(loss), max(loss), 200)
    formulas = {name: _at(CONTROLS[name].formula, rtt_s) for name in controls}
    return of_subject("response", rows, estimates, curves("control", "p", fine, formulas), rtt_s=rtt_s)


def _scenario(name: str, p: float, rtt_s: float) -> build.Table | None:
    """Return the scenario that the formula is compared with, with two samples per batch."""
    if CONTROLS[name].controller is None:
        return None
    control = CONTROLS[name]
    expected = float(control.formula(p, rtt_s))
    # Whole microseconds, so that the batches fill the measured time.
    sample_s = round(max(control.cycles / p * rtt_s / expected, 600 * rtt_s) / (2 * BATCHES), 6)
    flow = build.flow(
        control.controller,
        rtt=build.seconds(rtt_s),
        params=dict(control.params),
        initial_ssthresh=paths.rounded(max(2.0, 0.8 * expected)),
    )
    path = paths.UNLIMITED.with_link(loss={"kind": "periodic", "every": round(1 / p)})
    warmup_s = BATCHES / 2 * sample_s
    return path.scenario(
        flow, duration_s=warmup_s + 2 * BATCHES * sample_s, measured_from_s=warmup_s, sample_s=sample_s
    )


def _simulate(rows: Sequence[PointRow], rtt_s: float, simulation: Simulation) -> list[Estimate]:
    def rate(run: Run) -> Estimate:
        summary = run.summary
        length_s = (summary["duration_s"] - summary["measured_from_s"]) / (2 * BATCHES)
        received = run.windows["arrived_bytes"].to_numpy()[-2 * BATCHES :]
        per_trip = received.reshape(BATCHES, 2).mean(axis=1) * 8 / build.PACKET_BITS / length_s
        return of_batches(per_trip * rtt_s)

    return simulation.once([_scenario(row["control"], row["p"], rtt_s) for row in rows], rate)
