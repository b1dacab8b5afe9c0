"""RFC 9743, sections 5.1.4, 5.1.5 and 5.2: flows beside flows, alike or not, long or short."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from ackclock.engine import Run, build
from ackclock.evaluation import measures
from ackclock.evaluation.cell import (
    GOODPUT,
    JAIN,
    LOSS,
    SHARE,
    Cell,
    Criterion,
    Numbers,
    Part,
    Parts,
    harm_margin,
    one_part,
    time_margin,
)
from ackclock.evaluation.setting import (
    BASELINES,
    LONG_S,
    PACKET_BYTES,
    STANDARD,
    Bottleneck,
    Mode,
    Subject,
    Table,
)
from ackclock.evaluation.verdicts import Limit

SIZES = {"10kB": (10_000, 0.70), "100kB": (100_000, 0.25), "1MB": (1_000_000, 0.05)}
"""Bytes of short transfers, and their shares of all transfers."""
GRID = {
    "standard path": STANDARD,
    "buffer 0.25 BDP": replace(STANDARD, buffer_bdp=0.25),
    "buffer 4 BDP": replace(STANDARD, buffer_bdp=4.0),
    "5 Mbit/s": Bottleneck(5, 40, 1),
    "100 Mbit/s, 160 ms": Bottleneck(100, 160, 1),
}
"""The general grid, quick."""


def general_grid(mode: Mode) -> dict[str, Bottleneck]:
    """Give the paths on which everything ordinary is asked.

    Parameters
    ----------
    mode : str
        ``quick``: 5 of them; ``full``: 27.

    Returns
    -------
    dict
        Paths by name.
    """
    if mode == "quick":
        return GRID
    return {
        f"{rate:g} Mbit/s, {rtt:g} ms, buffer {size:g} BDP": Bottleneck(rate, rtt, size)
        for rate in (5, 50, 200)
        for rtt in (10, 40, 160)
        for size in (0.25, 1.0, 4.0)
    }


def parameters_of(path: Bottleneck) -> dict[str, float | str]:
    """Give what distinguishes a path.

    Parameters
    ----------
    path : Bottleneck
        The path.

    Returns
    -------
    dict
        Rate (Mbit/s), RTT (ms) and buffer (bandwidth-delay products).
    """
    return {"rate_mbps": path.rate_mbps, "rtt_ms": path.rtt_ms, "buffer_bdp": path.buffer_bdp}


def harm_of(found: Mapping[str, Numbers]) -> Numbers:
    """Give the harm that is done to a victim (Ware, Mukerjee, Seshan, Sherry, HotNets 2019).

    Parameters
    ----------
    found : mapping
        Numbers of the parts ``run``, beside the judged control, and ``solo``, without it.

    Returns
    -------
    dict
        Those of ``run``, and ``harm_goodput`` = (x - y)/x and ``harm_rtt`` = (y - x)/y with x alone
        and y beside; negative when the victim gains.
    """
    beside, alone = found["run"], found["solo"]
    return beside | {
        "harm_goodput": 1 - beside["victim_goodput"] / alone["victim_goodput"],
        "harm_rtt": 1 - alone["victim_rtt_p95"] / beside["victim_rtt_p95"],
    }


def _beside(run: Run) -> Numbers:
    return measures.victims(run) | measures.starvation(run)


def harm_cell(
    name: str,
    path: Bottleneck,
    victim: str,
    duration_s: float,
    parameters: Mapping[str, float | str],
    counts: tuple[int, int] = (1, 1),
) -> Cell:
    """Give the cell in which a victim is beside the judged control.

    Parameters
    ----------
    name : str
        Of the cell.
    path : Bottleneck
        Where.
    victim : str
        Its control.
    duration_s : float
        Length of the runs, seconds.
    parameters : mapping
        Of the cell.
    counts : tuple of int
        Flows of the judged control, and of the victim.

    Returns
    -------
    Cell
        Harm to goodput and RTT of the victim, its loss; and whether one of its flows starves.
    """
    mine, others = counts
    rtt_ms = path.rtt_ms

    def parts(subject: Subject) -> Parts:
        left = Subject(victim).flow("v", rtt_ms, count=others)
        beside = path.scenario(subject.flow("c", rtt_ms, count=mine), left, duration_s=duration_s)
        solo = path.scenario(left, duration_s=duration_s)
        return {
            "run": Part(beside, _beside, records=True),
            "solo": Part(solo, measures.victims),
        }

    least_s = max(30.0, 0.1 * rtt_ms)
    return Cell(
        name,
        parts,
        judged=(
            harm_margin("harm_goodput"),
            harm_margin("harm_rtt"),
            replace(LOSS, metric="victim_loss"),
        ),
        limits=(Limit("starved", "s", at_most=least_s),),
        parameters={**parameters, "victim": victim},
        numbers=harm_of,
        drawn=True,
    )


def _mixed_cells(mode: Mode) -> list[Cell]:
    cells = [
        harm_cell(f"{name}, beside {victim}", path, victim, LONG_S[mode], parameters_of(path))
        for name, path in general_grid(mode).items()
        for victim in BASELINES
    ]
    crowds = [(1, 4), (4, 1), (1, 16)]
    if mode == "full":
        crowds += [(k, 10 - k) for k in (1, 3, 5, 7, 9)]
    for mine, others in crowds:
        for victim in BASELINES:
            cells.append(
                harm_cell(
                    f"{mine} beside {others} {victim}",
                    STANDARD,
                    victim,
                    LONG_S[mode],
                    {"mine": mine, "others": others},
                    (mine, others),
                )
            )
    return cells


def _self_cells(mode: Mode) -> list[Cell]:
    paths = {"standard path": STANDARD}
    if mode == "full":
        paths |= {
            "5 Mbit/s": Bottleneck(5, 40, 1),
            "200 Mbit/s": Bottleneck(200, 40, 1),
            "buffer 0.25 BDP": replace(STANDARD, buffer_bdp=0.25),
            "buffer 4 BDP": replace(STANDARD, buffer_bdp=4.0),
        }

    def alike(subject: Subject, path: Bottleneck, count: int) -> Table:
        return path.scenario(
            subject.flow("c", path.rtt_ms, count=count), duration_s=LONG_S[mode] + 20
        )

    cells = [
        Cell(
            f"{count} flows, {name}",
            one_part(
                partial(alike, path=path, count=count),
                measures.fairness,
                records=True,
            ),
            judged=(replace(JAIN, metric="jain_5"), replace(JAIN, metric="jain_20"), SHARE),
            parameters={**parameters_of(path), "flows": count},
            drawn=True,
        )
        for name, path in paths.items()
        for count in ((2, 8) if mode == "quick" else (2, 8, 32))
    ]
    every_s = 20.0

    def in_turn(subject: Subject) -> Table:
        newcomers = [
            subject.flow(
                f"c-{index}",
                STANDARD.rtt_ms,
                start=build.seconds(index * every_s),
                stop=build.seconds((5 + index) * every_s),
            )
            for index in range(5)
        ]
        return STANDARD.scenario(*newcomers, duration_s=200, measured_from_s=20)

    cells.append(
        Cell(
            "5 flows come and go every 20 s",
            one_part(in_turn, partial(measures.joining, every_s=every_s), records=True),
            judged=(time_margin("fair_time"),),
            drawn=True,
        )
    )
    return cells


def _rtt_cells(mode: Mode) -> list[Cell]:
    ratios = (4,) if mode == "quick" else (2, 4, 8)
    shortest_ms = 40.0 if mode == "quick" else 20.0

    def scenario(subject: Subject, rate: float, ratio: int) -> Table:
        path = Bottleneck(rate, shortest_ms, 40.0 / shortest_ms)
        return path.scenario(
            subject.flow("c-short", shortest_ms),
            subject.flow("c-long", ratio * shortest_ms),
            duration_s=120,
        )

    return [
        Cell(
            f"1:{ratio}, {rate:g} Mbit/s",
            one_part(partial(scenario, rate=rate, ratio=ratio), _unfairness),
            judged=(SHARE,),
            parameters={"ratio": ratio, "rate_mbps": rate},
        )
        for rate in (50.0, 200.0)
        for ratio in ratios
    ]


def _unfairness(run: Run) -> Numbers:
    found = measures.general(run)
    short, long = (max(1e-3, flow["goodput_mbps"] or 0.0) for flow in run.summary["flows"])
    return found | {"goodput_ratio": short / long}


def _short_flows(
    path: Bottleneck, long: Subject, short: Subject, load: float, duration_s: float
) -> Table:
    """Put two long flows beside short ones that come at random times.

    Arrivals of a Poisson process are uniform in time, given their number, which is set to its mean.
    """
    mean_bytes = sum(size * share for size, share in SIZES.values())
    arrivals = load * path.rate_mbps * 1e6 / 8 / mean_bytes
    first_s, last_s = duration_s / 6, duration_s - 5
    flows = [long.flow("long", path.rtt_ms, count=2)]
    for name, (size, share) in SIZES.items():
        count = max(1, round(arrivals * share * (last_s - first_s)))
        start = {"uniform": [build.seconds(first_s), build.seconds(last_s)]}
        flows.append(short.flow(name, path.rtt_ms, count=count, bytes=f"{size} B", start=start))
    return path.scenario(*flows, duration_s=duration_s)


def ideal_s(path: Bottleneck, size_bytes: int, initial_window: int = 10) -> float:
    """Give the time of a transfer by slow start on an empty path.

    Parameters
    ----------
    path : Bottleneck
        The path.
    size_bytes : int
        What is sent.
    initial_window : int
        Packets of the first round trip.

    Returns
    -------
    float
        Seconds from the start to the arrival of the last packet: n packets need
        ceil(log2(n/IW + 1)) rounds, of which the last only goes one way, and its own transmission;
        a window above the bandwidth-delay product adds nothing, so the time is at least the
        transmission of all.
    """
    count = -(-size_bytes // PACKET_BYTES)
    rounds, sent, window = 0, 0, initial_window
    while sent + window < count:
        sent += window
        window *= 2
        rounds += 1
    last_s = (count - sent) / path.packets_per_second
    by_rounds = path.rtt_ms / 1e3 * (rounds + 0.5) + last_s
    return max(by_rounds, 0.5 * path.rtt_ms / 1e3 + count / path.packets_per_second)


def _slowdowns(found: Mapping[str, Numbers]) -> Numbers:
    """Divide completion times by those of slow start on the empty path, the same for all."""
    numbers = dict(found["run"])
    for name, (size, _) in SIZES.items():
        ideal = ideal_s(STANDARD, size)
        for percent in (50, 95, 99):
            numbers[f"slowdown_p{percent}_{name}"] = numbers[f"fct_p{percent}_{name}"] / ideal
    return numbers


def _short_cells(mode: Mode) -> list[Cell]:
    duration_s = 30.0 if mode == "quick" else 60.0
    measure = partial(measures.completions, groups=tuple(SIZES))

    def pairing(
        of_long: str | None, of_short: str | None, load: float
    ) -> Callable[[Subject], Parts]:
        def parts(subject: Subject) -> Parts:
            long = subject if of_long is None else Subject(of_long)
            short = subject if of_short is None else Subject(of_short)
            scenario = _short_flows(STANDARD, long, short, load, duration_s)
            return {"run": Part(scenario, measure)}

        return parts

    times = tuple(time_margin(f"fct_p95_{name}") for name in SIZES)
    cells = []
    for load in (0.1, 0.5):
        words = f"load {load:.0%}"
        cells.append(
            Cell(
                f"{words}, beside its own long flows",
                pairing(None, None, load),
                judged=(*times, GOODPUT),
                numbers=_slowdowns,
                parameters={"load": load},
            )
        )
        for victim in BASELINES if mode == "full" else ("cubic",):
            named: dict[str, float | str] = {"load": load, "victim": victim}
            cells += [
                Cell(
                    f"{words}, short {victim} beside its long flows",
                    pairing(None, victim, load),
                    judged=times, numbers=_slowdowns, parameters=named,
                ),
                Cell(
                    f"{words}, beside long flows of {victim}",
                    pairing(victim, None, load),
                    judged=(*times, GOODPUT), numbers=_slowdowns, parameters=named,
                ),
            ]  # fmt: skip
    return cells


def _media(rate: float) -> list[Table]:
    flows = []
    if rate > 2:
        flows.append({"name": "video", "source": "cbr", "rate": "1.5 Mbit/s", "packet": "1200 B"})
    flows.append({"name": "audio", "source": "cbr", "rate": "20 kbit/s", "packet": "100 B"})
    return [{**flow, "rtt": "100 ms"} for flow in flows]


def _real_time(run: Run) -> Numbers:
    media = [flow for flow in run.summary["flows"] if flow["name"] in ("video", "audio")]
    link = measures.bottleneck(run)
    sent = sum(flow["sent_packets"] for flow in media)
    lost = sum(flow["dropped_packets"] for flow in media)
    return measures.victims(run) | {
        "delay_p95": link["queue_delay_p95_ms"] or 0.0,
        "delay_p99": link["queue_delay_p99_ms"] or 0.0,
        "media_loss": lost / sent,
    }


def _real_time_cells(mode: Mode) -> list[Cell]:
    cells = []
    queues_ms = (300.0,) if mode == "quick" else (300.0, 1000.0)
    for rate in (2.0, 5.0):
        for queue_ms in queues_ms:
            path = Bottleneck(rate, 100, queue_ms / 100)
            for count in (1, 2):

                def scenario(
                    subject: Subject, path: Bottleneck = path, count: int = count
                ) -> Table:
                    return path.scenario(
                        subject.flow("c", 100, count=count),
                        Subject("tfrc").flow("v-tfrc", 100),
                        *_media(path.rate_mbps),
                        duration_s=LONG_S[mode],
                    )

                cells.append(
                    Cell(
                        f"{rate:g} Mbit/s, queue {queue_ms:g} ms, beside {count}",
                        one_part(scenario, _real_time),
                        judged=(
                            replace(time_margin("delay_p95", "ms"), difference=1.0),
                            replace(LOSS, metric="media_loss"),
                            replace(GOODPUT, metric="victim_goodput"),
                        ),
                        parameters={"rate_mbps": rate, "queue_ms": queue_ms, "flows": count},
                    )
                )
    return cells


ITSELF = Criterion(
    "self-fairness", "5.1.4", "", "Fairness within the control",
    "Flows of the control alone, alike: Jain's index over 5 and 20 s and the smallest share; and "
    "five that come one after another every 20 s and leave in order: how long newcomers wait until "
    "all shares are 0.1-fair.",
    _self_cells, shown="jain_5",
)  # fmt: skip
ROUND_TRIPS = Criterion(
    "rtt", "5.1.4", "", "Round-trip times",
    "Two flows of the control with unlike round-trip times: the share of the smaller.",
    _rtt_cells, shown="smallest_share",
)  # fmt: skip
SHORT = Criterion(
    "short", "5.1.5, 5.2.3", "MUST", "Short flows",
    "Transfers of 10 kB (70 %), 100 kB (25 %) and 1 MB (5 %) at random times beside two long "
    "flows: completion times of the control's own, of others beside its long flows, and of its own "
    "beside others' long flows. Slowdowns are over the time of slow start on an empty path.",
    _short_cells, shown="fct_p95_100kB",
)  # fmt: skip
MIXED = Criterion(
    "mixed", "5.2, 5.2.1", "MUST", "Beside CUBIC and Reno",
    "The harm that the control does to goodput and delay of a CUBIC or Reno flow, over the general "
    "grid and in crowds, beside the harm that CUBIC and Reno do in its place. No flow may starve "
    "(below a twentieth of its fair share for 30 s and 100 round trips) that would not beside its "
    "own kind.",
    _mixed_cells, shown="harm_goodput",
)  # fmt: skip
REAL_TIME = Criterion(
    "real-time", "5.2.2", "SHOULD", "Real-time traffic",
    "Audio (20 kbit/s), video (1.5 Mbit/s, on the faster link) and one TFRC flow beside the "
    "control: the bottleneck's queueing delay, the media's loss, and what TFRC is left.",
    _real_time_cells, shown="delay_p95",
)  # fmt: skip
