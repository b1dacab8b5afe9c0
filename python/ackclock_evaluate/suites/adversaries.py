"""Paths that hurt some controls and not others, and that no control is designed for.

Wrong base RTTs, jitter, ACKs in bunches, policers, capacity that comes and goes, pulses in step with
timeouts, handovers of satellites, and queues of many round trips.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ackclock.engine import Run, build
from ackclock.engine.build import Table
from ackclock_evaluate import measures
from ackclock_evaluate.cell import (
    DELAY,
    GOODPUT,
    LOSS,
    Cell,
    CellNumbers,
    Criterion,
    Part,
    Parts,
    harm_margin,
    one_part,
    time_margin,
)
from ackclock_evaluate.criteria.changes import pulses
from ackclock_evaluate.criteria.queueing import alone
from ackclock_evaluate.setting import BASELINES, CUBIC, STANDARD, Bottleneck, Mode, Subject, change
from ackclock_evaluate.suites.starvation import LENGTH_S, apart, range_cells, starvation_cells

FEW_ACKS = Bottleneck(20, 20, 4)
"""The path on which ACKs come in bunches: with 20 ms bunches every 40 ms are two round trips apart,
and its queue holds the burst that a bunch releases, so that losses do not decide."""
SHORT_PATH = Bottleneck(10, 20, 1)
"""The path with pulses: that of Kuzmanovic and Knightly (2003), with a minimum timeout of 1 s."""
POLICED = Bottleneck(100, 40, 1)
TOKENS_MBPS = 10.0


def _usual_cell(name: str, path: Bottleneck, length_s: float = LENGTH_S, **parameters: float | str) -> Cell:
    return Cell(
        name,
        one_part(alone(path, 1, length_s), measures.general),
        judged=(GOODPUT, DELAY, LOSS),
        parameters=parameters,
    )


def _jitter_cells(mode: Mode) -> list[Cell]:
    noises: dict[str, Table] = {
        "up to 20 ms": {"kind": "uniform", "range": "20 ms"},
        "as of Wi-Fi, mean 7 ms": {"kind": "wifi", "mean": "7 ms"},
    }
    if mode == "full":
        noises |= {
            "up to 5 ms": {"kind": "uniform", "range": "5 ms"},
            "Gaussian, 5 ms": {"kind": "gaussian", "sigma": "5 ms"},
            "Gaussian, 20 ms": {"kind": "gaussian", "sigma": "20 ms"},
        }
    return [
        _usual_cell(name, STANDARD.with_link(delay_noise=noise), noise=name) for name, noise in noises.items()
    ]


def bunched(path: Bottleneck, every_ms: float) -> Bottleneck:
    """Return the path with ACKs that arrive only at multiples of `every_ms`."""
    return path.with_link(reverse={"aggregation": {"every": build.milliseconds(every_ms)}})


def _rarely_acknowledged(subject: Subject, packets: int) -> Table:
    flow = subject.flow("c", FEW_ACKS.rtt_ms, delayed_ack=packets)
    return FEW_ACKS.scenario(flow, duration_s=LENGTH_S)


def _aggregation_cells(mode: Mode) -> list[Cell]:
    cells = [
        _usual_cell(f"ACKs every {every:g} ms", bunched(FEW_ACKS, every), every_ms=every)
        for every in ((40.0,) if mode == "quick" else (5.0, 20.0, 40.0, 80.0))
    ]
    # At the full rate receivers otherwise send an ACK per two packets.
    for kept in () if mode == "quick" else (4, 16, 32):
        cells.append(
            Cell(
                f"one ACK of {kept}",
                one_part(partial(_rarely_acknowledged, packets=2 * kept), measures.general),
                judged=(GOODPUT, DELAY, LOSS),
                parameters={"packets_per_ack": 2 * kept},
            )
        )
    return cells


def policed(path: Bottleneck, rate_mbps: float, bucket_s: float) -> Bottleneck:
    """Return the path with a policer in front of its queue.

    The bucket holds the tokens of `bucket_s` seconds, at least two packets.
    """
    return path.with_link(policer=_tokens(rate_mbps, bucket_s, path.packet_bytes))


def _tokens(rate_mbps: float, bucket_s: float, packet_bytes: int) -> Table:
    burst = max(2 * packet_bytes, round(rate_mbps * 1e6 / 8 * bucket_s))
    return {"rate": build.mbps(rate_mbps), "burst": f"{burst} B"}


def _policed_alone(run: Run) -> CellNumbers:
    numbers = measures.general(run)
    return numbers | {"of_tokens": numbers["goodput"] / TOKENS_MBPS}


def _policer_cells(mode: Mode) -> list[Cell]:
    cells = []
    for bucket_ms in (100,) if mode == "quick" else (10, 100, 1000):
        bucket_s = bucket_ms / 1e3
        path = policed(POLICED, TOKENS_MBPS, bucket_s)
        named: dict[str, float | str] = {"bucket_ms": bucket_ms}
        cells.append(
            Cell(
                f"bucket {bucket_ms} ms, alone",
                one_part(alone(path, 1, 60), _policed_alone),
                judged=(GOODPUT, DELAY, LOSS),
                parameters=named,
                drawn=True,
            )
        )
        for victim in BASELINES:
            cells.append(
                _policed_with_victim(f"bucket {bucket_ms} ms, shared with {victim}", path, victim, named)
            )
        if mode == "full":
            own = {"policer": _tokens(TOKENS_MBPS, bucket_s, POLICED.packet_bytes)}
            for victim in BASELINES:
                cells.append(
                    _policed_with_victim(
                        f"bucket {bucket_ms} ms each, next to {victim}",
                        POLICED,
                        victim,
                        named,
                        {"a": own, "b": own},
                    )
                )
    return cells


def _policed_with_victim(
    name: str,
    path: Bottleneck,
    victim: str,
    parameters: Mapping[str, float | str],
    access: Mapping[str, Mapping[str, Any]] | None = None,
) -> Cell:
    def parts(subject: Subject) -> Parts:
        flows = {"a": subject.flow("c", path.rtt_ms), "b": Subject(victim).flow("v", path.rtt_ms)}
        shared = apart(path, flows, duration_s=60, access=access)
        solo = apart(path, {"b": flows["b"]}, duration_s=60, access=access)
        return {"run": Part(shared, measures.victims), "solo": Part(solo, measures.victims)}

    return Cell(
        name,
        parts,
        judged=(harm_margin("harm_goodput"), replace(LOSS, metric="victim_loss"), GOODPUT),
        parameters={**parameters, "victim": victim},
        numbers=_harm,
    )


def _harm(numbers: Mapping[str, CellNumbers]) -> CellNumbers:
    left, usual = numbers["run"]["victim_goodput"], numbers["solo"]["victim_goodput"]
    return numbers["run"] | {"harm_goodput": 1 - left / usual}


def _square_cells(mode: Mode) -> list[Cell]:
    return [
        _usual_cell(
            f"50 and 5 Mbit/s, period {period:g} s",
            STANDARD.with_link(square={"rate": "5 Mbit/s", "period": build.seconds(period)}),
            period_s=period,
        )
        for period in ((1.0,) if mode == "quick" else (0.1, 1.0, 20.0))
    ]


def shrew(subject: Subject, period_s: float, tcp: Mapping[str, Any] | None = None) -> Table:
    """Return a flow next to pulses of datagrams that may come in step with its timeouts.

    The scenario has 60 s and a minimum timeout of 1 s (Kuzmanovic and Knightly, SIGCOMM 2003); `tcp`
    overrides settings of the sender.
    """
    return SHORT_PATH.scenario(
        subject.flow("c", SHORT_PATH.rtt_ms),
        *pulses(SHORT_PATH, period_s, 60),
        duration_s=60,
        tcp={"min_rto": "1 s", "min_rto_bounds": "timeout", **(tcp or {})},
    )


def _shrew_cells(mode: Mode) -> list[Cell]:
    periods = (1.0, 1.2, 2.0) if mode == "quick" else (0.5, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0)
    return [
        Cell(
            f"pulses every {period:g} s",
            one_part(partial(shrew, period_s=period), measures.general),
            judged=(GOODPUT,),
            parameters={"period_s": period},
        )
        for period in periods
    ]


def _satellite(subject: Subject) -> Table:
    """Change the satellite every 15 s: another rate, another delay, and an outage of 120 ms."""
    # The handovers are the same for every control and every run; only the times of losses differ.
    random = np.random.default_rng(15)
    path = Bottleneck(100, 30, 1).with_link(
        loss={"kind": "bernoulli", "rate": "0.05 %"}, delay_noise={"kind": "uniform", "range": "6.7 ms"}
    )
    events: list[Table] = []
    for at in range(15, int(LENGTH_S), 15):
        # The access link has half of the shortest round trip, each direction of the link the rest.
        delay = build.milliseconds((round(random.uniform(30, 70)) - 15) / 2)
        events += [
            change(at, "dumbbell.rate", build.mbps(round(random.uniform(40, 160)))),
            change(at, "dumbbell.delay", delay),
            change(at, "dumbbell.reverse.delay", delay),
            change(at, "dumbbell.loss.rate", "100 %"),
            change(at + 0.12, "dumbbell.loss.rate", "0.05 %"),
        ]
    return path.scenario(subject.flow("c", 30), duration_s=LENGTH_S, events=tuple(events))


def _satellite_cells(_: Mode) -> list[Cell]:
    parts = one_part(_satellite, measures.general)
    return [Cell("another satellite every 15 s", parts, judged=(GOODPUT, DELAY, LOSS), drawn=True)]


def _crowded(subject: Subject, control: str) -> Table:
    path = Bottleneck(50, 40, 16)
    return path.scenario(
        subject.flow("c", path.rtt_ms, count=8),
        Subject(control).flow("short", path.rtt_ms, bytes="100 kB", start="20 s"),
        duration_s=60,
    )


def _bloat_cells(_: Mode) -> list[Cell]:
    measure = partial(measures.completions, groups=("short",))
    return [
        Cell(
            f"100 kB of {CUBIC} after 20 s of 8 flows",
            one_part(partial(_crowded, control=CUBIC), measure),
            judged=(time_margin("fct_p50_short"),),
        )
    ]


ADVERSARIES: tuple[Criterion, ...] = (
    Criterion(
        "starvation", "starvation", "", "Starvation",
        "Two flows of the control on the standard path, one of them disturbed: its path was shorter in "
        "its first two seconds, so that its base RTT is wrong (Arun, Alizadeh and Balakrishnan, SIGCOMM "
        "2022), or its ACKs come in bunches; in full mode also a longer path, jitter or loss. The "
        "smaller share, and whether a flow starves.",
        starvation_cells, axis="error_ms", shown="smallest_share",
    ),
    Criterion(
        "delay-range", "starvation", "", "Jitter beyond the own delay range",
        "Two flows of the control, one of them with a varying delay. The range d of the control's own "
        "delay is measured with one flow alone. According to Arun, Alizadeh and Balakrishnan (SIGCOMM "
        "2022) a flow may starve once the jitter is more than 2 d. The jitter is either the same for all "
        "controls, or d, 2 d and 4 d of each.",
        range_cells, axis="jitter_ms", shown="smallest_share",
    ),
    Criterion(
        "jitter", "jitter", "", "Jitter",
        "The standard path with delays that vary from packet to packet without reordering, also like "
        "those of Wi-Fi: goodput, queueing delay, loss.",
        _jitter_cells, shown="goodput",
    ),
    Criterion(
        "aggregation", "aggregation", "", "Bunches of ACKs",
        "20 Mbit/s, 20 ms, with ACKs that arrive only at multiples of a time; in full mode also with "
        "receivers that send one ACK for 8, 32 or 64 packets: goodput, queueing delay, loss.",
        _aggregation_cells, axis="every_ms", shown="goodput",
    ),
    Criterion(
        "policer", "policer", "", "Policers",
        "100 Mbit/s, policed to 10 Mbit/s with a bucket of a tenth of a second (in full mode also 10 ms "
        "and 1 s): goodput, loss, and harm to a flow that shares the policer, in full mode also to a flow "
        "with a policer of its own.",
        _policer_cells, axis="bucket_ms", shown="goodput",
    ),
    Criterion(
        "on-off", "on-off", "", "Capacity that comes and goes",
        "The standard path with a rate of 5 Mbit/s in the second half of every period: goodput, "
        "queueing delay, loss.",
        _square_cells, axis="period_s", shown="goodput",
    ),
    Criterion(
        "shrew", "shrew", "", "Pulses in step with timeouts",
        "Goodput next to pulses of datagrams at twice the rate of the link for 100 ms, with a minimum "
        "retransmission timeout of 1 s (Kuzmanovic and Knightly, SIGCOMM 2003).",
        _shrew_cells, axis="period_s", shown="goodput",
    ),
    Criterion(
        "leo", "leo", "", "Satellites in low orbits",
        "A handover every 15 s, with an outage of 120 ms and then a rate of 40 to 160 Mbit/s and a round "
        "trip of 30 to 70 ms; loss of 0.05 % and jitter of up to 6.7 ms between handovers, as Huston "
        "measured Starlink (APNIC, 2024): goodput, queueing delay, loss.",
        _satellite_cells, shown="goodput",
    ),
    Criterion(
        "bloat", "bloat", "", "A short flow behind a long queue",
        "The completion time of 100 kB under CUBIC after 20 s of eight flows of the control, with a "
        "buffer of sixteen bandwidth-delay products.",
        _bloat_cells, shown="fct_p50_short",
    ),
)  # fmt: skip
"""The criteria in the order of the documentation."""
