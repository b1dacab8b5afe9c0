"""Paths that hurt some controls and not others, and on which nobody designs one.

A wrong base RTT, jitter, ACKs in bunches, policers, capacity that comes and goes, pulses in step
with timeouts, satellites that hand over, and queues of many round trips.
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
"""Where ACKs come in bunches: 20 ms, so that those of 40 ms are two round trips, and a queue that
holds what a bunch sets free, so that a loss is not what decides."""
SHORT_PATH = Bottleneck(10, 20, 1)
"""Where pulses come: the path of Kuzmanovic and Knightly (2003) with its least timeout of 1 s."""
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
    """Give a path whose ACKs come in bunches.

    Parameters
    ----------
    path : Bottleneck
        The path.
    every_ms : float
        ACKs arrive at multiples of this time only, milliseconds.

    Returns
    -------
    Bottleneck
        The path.
    """
    return path.with_link(reverse={"aggregation": {"every": build.milliseconds(every_ms)}})


def _sparing(subject: Subject, packets: int) -> Table:
    flow = subject.flow("c", FEW_ACKS.rtt_ms, delayed_ack=packets)
    return FEW_ACKS.scenario(flow, duration_s=LENGTH_S)


def _aggregation_cells(mode: Mode) -> list[Cell]:
    cells = [
        _usual_cell(f"ACKs every {every:g} ms", bunched(FEW_ACKS, every), every_ms=every)
        for every in ((40.0,) if mode == "quick" else (5.0, 20.0, 40.0, 80.0))
    ]
    # At the full rate there is an ACK per two packets otherwise.
    for kept in () if mode == "quick" else (4, 16, 32):
        cells.append(
            Cell(
                f"one ACK of {kept}",
                one_part(partial(_sparing, packets=2 * kept), measures.general),
                judged=(GOODPUT, DELAY, LOSS),
                parameters={"packets_per_ack": 2 * kept},
            )
        )
    return cells


def policed(path: Bottleneck, rate_mbps: float, bucket_s: float) -> Bottleneck:
    """Give a path with a policer before its queue.

    Parameters
    ----------
    path : Bottleneck
        The path.
    rate_mbps : float
        Rate of its tokens, Mbit/s.
    bucket_s : float
        Size of its bucket as a time at that rate, seconds; at least two packets.

    Returns
    -------
    Bottleneck
        The path.
    """
    return path.with_link(policer=_tokens(rate_mbps, bucket_s, path.packet_bytes))


def _tokens(rate_mbps: float, bucket_s: float, packet_bytes: int) -> Table:
    burst = max(2 * packet_bytes, round(rate_mbps * 1e6 / 8 * bucket_s))
    return {"rate": build.mbps(rate_mbps), "burst": f"{burst} B"}


def _policed_alone(run: Run) -> CellNumbers:
    found = measures.general(run)
    return found | {"of_tokens": found["goodput"] / TOKENS_MBPS}


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
            cells.append(_policed_beside(f"bucket {bucket_ms} ms, shared with {victim}", path, victim, named))
        if mode == "full":
            own = {"policer": _tokens(TOKENS_MBPS, bucket_s, POLICED.packet_bytes)}
            for victim in BASELINES:
                cells.append(
                    _policed_beside(
                        f"bucket {bucket_ms} ms each, next to {victim}",
                        POLICED,
                        victim,
                        named,
                        {"a": own, "b": own},
                    )
                )
    return cells


def _policed_beside(
    name: str,
    path: Bottleneck,
    victim: str,
    parameters: Mapping[str, float | str],
    access: Mapping[str, Mapping[str, Any]] | None = None,
) -> Cell:
    def parts(subject: Subject) -> Parts:
        flows = {"a": subject.flow("c", path.rtt_ms), "b": Subject(victim).flow("v", path.rtt_ms)}
        beside = apart(path, flows, duration_s=60, access=access)
        only = apart(path, {"b": flows["b"]}, duration_s=60, access=access)
        return {"run": Part(beside, measures.victims), "solo": Part(only, measures.victims)}

    return Cell(
        name,
        parts,
        judged=(harm_margin("harm_goodput"), replace(LOSS, metric="victim_loss"), GOODPUT),
        parameters={**parameters, "victim": victim},
        numbers=_harm,
    )


def _harm(found: Mapping[str, CellNumbers]) -> CellNumbers:
    left, usual = found["run"]["victim_goodput"], found["solo"]["victim_goodput"]
    return found["run"] | {"harm_goodput": 1 - left / usual}


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
    """Put a flow beside pulses of datagrams that may come in step with its timeouts.

    Parameters
    ----------
    subject : Subject
        Its control.
    period_s : float
        From one pulse to the next, seconds.
    tcp : mapping, optional
        Settings of the sender that differ.

    Returns
    -------
    dict
        A scenario of 60 s with a least timeout of 1 s (Kuzmanovic and Knightly, SIGCOMM 2003).
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
    """Change the satellite every 15 s: another rate, another delay, and nothing for 120 ms."""
    # The same slots for every control and every run: what differs is when losses come.
    chance = np.random.default_rng(15)
    path = Bottleneck(100, 30, 1).with_link(
        loss={"kind": "bernoulli", "rate": "0.05 %"}, delay_noise={"kind": "uniform", "range": "6.7 ms"}
    )
    events: list[Table] = []
    for at in range(15, int(LENGTH_S), 15):
        # The access has half of the shortest round trip, each direction of the link the rest.
        delay = build.milliseconds((round(chance.uniform(30, 70)) - 15) / 2)
        events += [
            change(at, "dumbbell.rate", build.mbps(round(chance.uniform(40, 160)))),
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
        "Two flows of the control on the standard path, of which one has something wrong: its path "
        "was shorter in its first two seconds, so that its base RTT is wrong (Arun, Alizadeh and "
        "Balakrishnan, SIGCOMM 2022), or its ACKs come in bunches; in full a longer path, jitter, "
        "or loss, too. The smaller share, and whether one starves.",
        starvation_cells, axis="error_ms", shown="smallest_share",
    ),
    Criterion(
        "delay-range", "starvation", "", "Jitter beyond its own",
        "Two flows of the control, the delay of one of which varies; and one alone, from the RTTs "
        "of which the range d of the control's own delay is measured. By Arun, Alizadeh and "
        "Balakrishnan (SIGCOMM 2022) a flow may starve once the jitter is more than 2 d. Some is "
        "the same for all, some is d, 2 d and 4 d of each control.",
        range_cells, axis="jitter_ms", shown="smallest_share",
    ),
    Criterion(
        "jitter", "jitter", "", "Jitter",
        "The standard path with delays that vary from packet to packet without reordering, also as "
        "those of Wi-Fi do: goodput, queueing delay, loss.",
        _jitter_cells, shown="goodput",
    ),
    Criterion(
        "aggregation", "aggregation", "", "Bunches of ACKs",
        "20 Mbit/s, 20 ms, with ACKs that arrive at multiples of some time only; in full also with "
        "receivers that send one ACK for 8, 32 or 64 packets: goodput, queueing delay, loss.",
        _aggregation_cells, axis="every_ms", shown="goodput",
    ),
    Criterion(
        "policer", "policer", "", "Policers",
        "100 Mbit/s, policed to 10 Mbit/s with a bucket of a tenth of a second (in full 10 ms and "
        "1 s, too): goodput, loss, and harm to a flow that shares the policer; in full also where "
        "each has a policer of its own.",
        _policer_cells, axis="bucket_ms", shown="goodput",
    ),
    Criterion(
        "on-off", "on-off", "", "Capacity that comes and goes",
        "The standard path, whose rate is 5 Mbit/s in every second half of a period: goodput, "
        "queueing delay, loss.",
        _square_cells, axis="period_s", shown="goodput",
    ),
    Criterion(
        "shrew", "shrew", "", "Pulses in step with timeouts",
        "Pulses of datagrams, twice the rate of the link for 100 ms, with a least retransmission "
        "timeout of 1 s (Kuzmanovic and Knightly, SIGCOMM 2003): the goodput that is left.",
        _shrew_cells, axis="period_s", shown="goodput",
    ),
    Criterion(
        "leo", "leo", "", "Satellites in low orbits",
        "Every 15 s another satellite: a rate of 40 to 160 Mbit/s, a round trip of 30 to 70 ms, "
        "nothing for 120 ms; loss of 0.05 % and jitter of up to 6.7 ms between. Goodput, queueing "
        "delay, loss. As Huston measured Starlink (APNIC, 2024).",
        _satellite_cells, shown="goodput",
    ),
    Criterion(
        "bloat", "bloat", "", "A short flow behind a long queue",
        "Sixteen bandwidth-delay products of buffer, 20 s of eight flows of the control, then "
        "100 kB under CUBIC: the completion time.",
        _bloat_cells, shown="fct_p50_short",
    ),
)  # fmt: skip
"""In the order of the table."""
