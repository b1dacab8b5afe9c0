"""Metrics of a finished run: pure functions of columns of its trace.

Times are in seconds, windows in packets. `overview` computes all the standard metrics.

A metric of nothing, or of values that are not known (NaN), is NaN, unless its description says that NaN does
not count. An interval that does not end after it begins raises ValueError.
"""

from ackclock.decision.intervals import (
    Estimate,
    bootstrap,
    difference,
    of_batches,
    over_batches,
    over_runs,
    sign,
    within,
)
from ackclock.decision.ratios import of_ratios
from ackclock.metrics.comparison import (
    bandwidth_stolen_rate,
    drops_over_packets,
    rtt_unfairness_exponent,
    throughput_degradation,
    throughput_ratio,
)
from ackclock.metrics.congestion import (
    Curvature,
    Epoch,
    congestion_events,
    curvature,
    epochs,
    losing_flows,
    round_trips,
    synchronisation,
    used_share,
)
from ackclock.metrics.overview import overview
from ackclock.metrics.rates import (
    cov,
    delay_percentiles_ms,
    delta_fair_time,
    goodput,
    jain,
    loss_rate,
    over_intervals,
    utilisation,
    worst_mean,
)
from ackclock.metrics.series import FloatArray, cumulative, integral, smooth, time_mean
from ackclock.metrics.transients import halving_round_trips, increase_per_round_trip, settling_round_trips

__all__ = [
    "Curvature",
    "Epoch",
    "Estimate",
    "FloatArray",
    "bandwidth_stolen_rate",
    "bootstrap",
    "congestion_events",
    "cov",
    "cumulative",
    "curvature",
    "delay_percentiles_ms",
    "delta_fair_time",
    "difference",
    "drops_over_packets",
    "epochs",
    "goodput",
    "halving_round_trips",
    "increase_per_round_trip",
    "integral",
    "jain",
    "losing_flows",
    "loss_rate",
    "of_batches",
    "of_ratios",
    "over_batches",
    "over_intervals",
    "over_runs",
    "overview",
    "round_trips",
    "rtt_unfairness_exponent",
    "settling_round_trips",
    "sign",
    "smooth",
    "synchronisation",
    "throughput_degradation",
    "throughput_ratio",
    "time_mean",
    "used_share",
    "utilisation",
    "within",
    "worst_mean",
]
