"""Self-induced congestion: the round trips between two loss events of a flow alone on its link."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from ackclock.engine import Run, build
from ackclock.metrics import Estimate, epochs, over_runs, round_trips
from ackclock.models import laws, periods
from ackclock.models.laws import Array
from ackclock.predictions import paths
from ackclock.predictions.prediction import PointRow, Prediction, Simulation, check_names, curves, of_subject

RTT_S = 0.1
BUFFER_SHARE = 0.1
"""Buffer as a share of W_max: the link is full at windows above 0.9 W_max."""
EPOCHS = 12


@dataclass(frozen=True)
class PeriodModel:
    """The formula of a control's period, from W_max, and the control to simulate, if there is one."""

    formula: Callable[[ArrayLike], Array]
    controller: str | None
    params: Mapping[str, object] = field(default_factory=dict)


def _of_law(law: laws.Law) -> Callable[[ArrayLike], Array]:
    return np.vectorize(lambda window: laws.cycle(law, window).round_trips, otypes=[float])


CONTROLS: dict[str, PeriodModel] = {
    "reno": PeriodModel(periods.aimd, "reno"),
    "hstcp": PeriodModel(periods.hstcp, "hstcp"),
    "scalable": PeriodModel(lambda window: np.full(np.shape(window), periods.mimd()), "scalable"),
    # TCP-Africa enters its slow mode when a queue builds up, at 0.9 of W_max.
    "africa": PeriodModel(_of_law(laws.africa(1 - BUFFER_SHARE)), "africa"),
    "two-mode": PeriodModel(lambda window: periods.two_mode(window, 1 - BUFFER_SHARE), None),
    "bic": PeriodModel(_of_law(laws.bic()), "bic", {"search": "per_rtt"}),
    "aimd": PeriodModel(lambda window: periods.aimd(window, 32, 0.125), "aimd"),
}


def predict(
    controls: Sequence[str] = ("reno", "hstcp", "scalable", "africa", "two-mode"),
    windows: Sequence[float] = (100, 300, 1000, 3000),
    simulation: Simulation | None = None,
) -> Prediction:
    """Predict the round trips between two self-induced congestion events, for controls of `CONTROLS`.

    `windows` are the largest windows W_max in packets. Each flow is simulated alone with an RTT of 0.1 s and
    a buffer of a tenth of W_max. Nothing is random there: the interval is over the epochs of one run.
    LookupError is raised for a control without a formula; the message lists the controls that have one.
    """
    check_names(controls, CONTROLS, "period")
    rows: list[PointRow] = [
        {"control": name, "window": window, "predicted": float(CONTROLS[name].formula(window))}
        for name in controls
        for window in windows
    ]
    estimates: list[Estimate] = []
    if simulation is not None:
        estimates = simulation.once([_scenario(**row) for row in rows], _period)
    fine = np.geomspace(min(windows), max(windows), 100)
    formulas = {name: CONTROLS[name].formula for name in controls}
    return of_subject("period", rows, estimates, curves("control", "window", fine, formulas))


def _scenario(control: str, window: float, predicted: float) -> build.Table | None:
    """Return the scenario that the formula is compared with; the period determines its length."""
    if CONTROLS[control].controller is None:
        return None
    buffer = round(BUFFER_SHARE * window)
    rate_mbps = (window - buffer) / RTT_S * build.PACKET_BITS / 1e6
    flow = build.flow(
        CONTROLS[control].controller,
        rtt=build.seconds(RTT_S),
        params=dict(CONTROLS[control].params),
        initial_ssthresh=paths.rounded(max(2.0, 0.6 * window)),
    )
    length_s = (predicted + 5) * RTT_S * (1 + BUFFER_SHARE)
    # Whole microseconds: further digits of a computed length are noise.
    return paths.limited(rate_mbps, buffer).scenario(
        flow,
        duration_s=round((2 + EPOCHS) * length_s, 6),
        measured_from_s=round(2 * length_s, 6),
        sample_s=RTT_S / 4,
    )


def _period(run: Run) -> Estimate:
    losses = run.events.filter(pl.col("kind").is_in(["loss", "timeout"]))["time_s"].to_numpy()
    windows = run.windows.filter(pl.col("rtt_ms").is_not_null())
    time, rtt_s = windows["time_s"].to_numpy(), windows["rtt_ms"].to_numpy() / 1000
    intervals = epochs(losses, 1.5 * RTT_S, run.summary["measured_from_s"])
    return over_runs([round_trips(time, rtt_s, epoch) for epoch in intervals], least=0.0)
