"""Every public metric of nothing, one value, unknown values and zeros: a documented value or an error.

No NumPy warning is printed: pytest makes each of them an error here.
"""

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ackclock import metrics
from ackclock.metrics import Epoch

NAN, INF = math.nan, math.inf
ODD = {"nothing": [], "one": [1.0], "not known": [NAN, 1.0], "zeros": [0.0, 0.0]}
"""Arguments; the samples of a series are at 0 s, 1 s and so on."""
SAME = (NAN, 1.0, NAN, 0.0)
"""A mean, for instance: NaN of nothing and of what is not known."""


def at(values: list[float]) -> range:
    return range(len(values))


Case = tuple[Callable[[list[float]], Any], tuple[Any, ...]]
CASES: dict[str, Case] = {
    "bandwidth_stolen_rate": (lambda v: metrics.bandwidth_stolen_rate(sum(v), 1.0), (NAN, 0.0, NAN, NAN)),
    # NaN does not count.
    "bootstrap": (lambda v: metrics.bootstrap(v).value, (NAN, 1.0, 1.0, 0.0)),
    "congestion_events": (
        lambda v: [time for time, _ in metrics.congestion_events(v, [0] * len(v), 0.1)],
        ([], [1.0], [1.0], [0.0]),
    ),
    "cov": (lambda v: float(metrics.cov(v)), (NAN, 0.0, NAN, NAN)),
    "cumulative": (lambda v: metrics.cumulative(at(v), v).tolist(), ([0.0], [0.0], [0.0, NAN], [0.0, 0.0])),
    "curvature": (
        lambda v: (
            metrics.curvature(
                at(v),
                v,
                [1.0] * len(v),
                Epoch(0, 10),
                skip_round_trips=0,
                span_round_trips=0.1,
                tolerance=0.1,
                whole_tolerance=0.1,
                opposite=0.1,
            ).straight
        ),
        (NAN, NAN, NAN, 1.0),
    ),
    # NaN does not count; a sample below the propagation delay is a negative delay.
    "delay_percentiles_ms": (
        lambda v: metrics.delay_percentiles_ms(v, 1.0, [50]).tolist(),
        ([NAN], [0.0], [0.0], [-1.0]),
    ),
    # Infinite: they never are.
    "delta_fair_time": (
        lambda v: metrics.delta_fair_time(at(v), np.reshape([v, v], (len(v), 2)), 0.1, -1.0),
        (INF, 1.0, INF, INF),
    ),
    "difference": (
        lambda v: metrics.difference(metrics.over_runs(v), metrics.over_runs(v)).value,
        (NAN, 0.0, 0.0, 0.0),
    ),
    "drops_over_packets": (
        lambda v: [ratio.value for ratio in metrics.drops_over_packets(v, v)],
        ([], [1.0], [NAN, NAN], [NAN, NAN]),
    ),
    "epochs": (lambda v: metrics.epochs(v, 0.1), ([], [], [], [])),
    # Nothing arrives in (0 s, 1 s] but what the second sample has.
    "goodput": (lambda v: metrics.goodput(at(v), v, 0, 1), (0.0, 0.0, 8e-6, 0.0)),
    "halving_round_trips": (
        lambda v: metrics.halving_round_trips(at(v), v, 0, 0.1, before=1.0),
        (INF, INF, INF, 10.0),
    ),
    "increase_per_round_trip": (
        lambda v: metrics.increase_per_round_trip(at(v), v, 0, 1, 0.1),
        (NAN, NAN, NAN, 0.0),
    ),
    "integral": (lambda v: metrics.integral(at(v), v, 0, 1), SAME),
    "jain": (lambda v: float(metrics.jain(v)), (NAN, 1.0, NAN, NAN)),
    "losing_flows": (lambda v: metrics.losing_flows(v, at(v), 2, 0, 2).tolist(), ([], [1], [1], [2])),
    "loss_rate": (lambda v: metrics.loss_rate(0.0, sum(v)), (NAN, 0.0, NAN, NAN)),
    "of_batches": (lambda v: metrics.of_batches(v).value, (NAN, 1.0, 1.0, 0.0)),
    "of_ratios": (lambda v: metrics.of_ratios(v).value, (NAN, 1.0, 1.0, 0.0)),
    "over_batches": (lambda v: metrics.over_batches(v).value, SAME),
    "over_intervals": (lambda v: metrics.over_intervals(at(v), v, 1, 0, 1)[1].tolist(), ([0], [0], [1], [0])),
    "over_runs": (lambda v: metrics.over_runs(v).value, (NAN, 1.0, 1.0, 0.0)),
    "round_trips": (lambda v: metrics.round_trips(at(v), v, Epoch(0, 1)), (NAN, 1.0, NAN, NAN)),
    "rtt_unfairness_exponent": (lambda v: metrics.rtt_unfairness_exponent(v, v), (NAN, NAN, NAN, NAN)),
    "settling_round_trips": (
        lambda v: metrics.settling_round_trips(at(v), v, -1, 0.1, before=1.0, after=2.0),
        (NAN, INF, NAN, INF),
    ),
    "sign": (lambda v: metrics.sign(metrics.over_runs(v)), (None, None, None, 0)),
    "smooth": (lambda v: metrics.smooth(at(v), v, [0.5], 1).tolist(), ([NAN], [NAN], [NAN], [0.0])),
    "synchronisation": (lambda v: float(metrics.synchronisation(v, 1)), (NAN, 1.0, NAN, 0.0)),
    "throughput_degradation": (lambda v: metrics.throughput_degradation(sum(v), 1.0), (NAN, 0.0, NAN, NAN)),
    "throughput_ratio": (lambda v: metrics.throughput_ratio(v, v), (NAN, 1.0, NAN, NAN)),
    "time_mean": (lambda v: metrics.time_mean(at(v), v, 0, 1), SAME),
    "used_share": (lambda v: metrics.used_share(at(v), v, 10, 0, 1), (NAN, 0.1, NAN, 0.0)),
    "utilisation": (lambda v: metrics.utilisation(at(v), v, 0, 1), (NAN, NAN, 1.0, 0.0)),
    "within": (lambda v: metrics.within(metrics.over_runs(v), 0, 1).value, (NAN, 1.0, 1.0, 0.0)),
    "worst_mean": (lambda v: metrics.worst_mean(v, 0.5), SAME),
}


def test_every_public_metric_is_in_the_table() -> None:
    functions = {name for name in metrics.__all__ if inspect.isfunction(getattr(metrics, name))}
    assert functions - {"overview"} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_an_odd_argument_has_the_documented_value(name: str) -> None:
    measure, expected = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        measured = [measure(values) for values in ODD.values()]
    for what, value, wanted in zip(ODD, measured, expected, strict=True):
        assert value == pytest.approx(wanted, nan_ok=True), what


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: metrics.goodput([1], [1], 1, 1), "end_s: 1 must come after start_s, 1"),
        (lambda: metrics.time_mean([1], [1], 2, 1), "end_s: 1 must come after start_s, 2"),
        (lambda: metrics.used_share([1], [1], 1, 1, 1), "end_s: 1 must come after start_s, 1"),
        (lambda: metrics.losing_flows([1], [1], 1, 1, math.nan), "end_s: nan must come after start_s, 1"),
        (lambda: metrics.of_ratios([1, -1]), "values: a ratio must not be negative"),
        (lambda: metrics.overview([]), "runs: there must be at least one"),
    ],
)
def test_what_has_no_meaning_is_refused(call: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        call()
