"""The path of a comparison from options as people write them, or from a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from ackclock import engine
from ackclock.comparison.path import FIXED_RUNS, STARTS_WITHIN_S, PathSetup
from ackclock.comparison.quantities import buffer_packets, duration_s, rate_mbps, share, time_ms
from ackclock.engine import Scenario, build, carried
from ackclock.engine.paths import PathChoice

CAN_MARK = ("red", "ared", "codel", "pie", "fq_codel")
"""Kinds of queues that mark packets in place of dropping them when ``ecn`` is set."""
MUCH_LOSS = 0.2
"""A random loss rate above which the verb names it on standard error."""


class RunOptions(TypedDict, total=False):
    """The fields of `PathSetup` that people choose; the default profile is the path's own."""

    duration_s: float | None
    runs: int | None
    profile: str | None
    flows: int
    ecn: bool
    seed: int | None


class LinkOptions(RunOptions, total=False):
    """Options as people write them, such as ``rate="10mbit"``; None keeps the value of the path."""

    rate: str | None
    rtt: str | None
    loss: str | None


class PathOptions(LinkOptions, total=False):
    """All options of one path; of its queue and its buffer a grid has several."""

    buffer: str | None
    queue: str | None


def of_options(
    path: str | None, scenario: Path | None, duration: str | None, **given: Unpack[PathOptions]
) -> PathSetup:
    """Return a path from options as people write them: a named path, the path of a scenario file, or numbers.

    The options `given` are those of `of_scenario` and take precedence. Raises ValueError if an option cannot
    be read.
    """
    if path is not None and scenario is not None:
        raise ValueError("path and scenario both name a path; use only one")
    if duration is not None:
        given["duration_s"] = seconds = duration_s(duration)
        if seconds <= STARTS_WITHIN_S:
            raise ValueError(
                f"not a duration of more than 1 s: '{duration}'; flows start within the first second"
            )
    if scenario is not None:
        return of_file(scenario, **given)
    return of_numbers(**given) if path is None else of_name(path, **given)


def grid_of_options(
    queues: Sequence[str],
    buffers: Sequence[str],
    path: str | None,
    scenario: Path | None,
    duration: str | None = None,
    **given: Unpack[PathOptions],
) -> dict[tuple[str, str], PathSetup]:
    """Return a setting for each queue and each buffer, by name; other arguments are as in `of_options`.

    Without names the path keeps its queue or its buffer. Raises ValueError if an option cannot be read.
    """
    if not all([*queues, *buffers]):
        raise ValueError("a list has an empty name; write e.g. droptail,codel or 1bdp,4bdp")
    cells = {}
    for queue in dict.fromkeys(queues) or [None]:
        for buffer in dict.fromkeys(buffers) or [None]:
            given["queue"], given["buffer"] = queue, buffer
            setting = of_options(path, scenario, duration, **given)
            named = f"{setting.path.buffer_packets / setting.path.bdp_packets:.2g}bdp"
            cells[queue or setting.kind, buffer or named] = setting
    return cells


def of_numbers(
    rate: str | None = None,
    rtt: str | None = None,
    buffer: str | None = None,
    loss: str | None = None,
    queue: str | None = None,
    **more: Unpack[RunOptions],
) -> PathSetup:
    """Return a path from its numbers as people write them.

    The defaults are 100 Mbit/s, 100 ms, a buffer of the bandwidth-delay product, and no random loss;
    `more` are fields of `PathSetup`. Raises ValueError when a number cannot be read.
    """
    mbps, milliseconds = rate_mbps(rate or "100mbit"), time_ms(rtt or "100ms")
    packets = None if buffer is None else buffer_packets(buffer, mbps, milliseconds)
    path = build.Path(
        mbps,
        milliseconds,
        queue_packets=packets,
        discipline=_marking({"kind": queue} if queue else {}, ecn=more.get("ecn", False)),
        link={"loss": _random_loss(share(loss or "0"))},
    )
    return _setup(path, more, "linux")


def _setup(path: build.Path, options: RunOptions, profile: str) -> PathSetup:
    """Return the setup of a path with the options, and a profile if these have none."""
    return PathSetup(
        path,
        duration_s=options.get("duration_s"),
        runs=options.get("runs", PathSetup.runs),
        profile=options.get("profile") or profile,
        flows=options.get("flows", PathSetup.flows),
        ecn=options.get("ecn", PathSetup.ecn),
        seed=options.get("seed"),
    )


def _marking(discipline: build.Table, *, ecn: bool) -> build.Table:
    """Return a discipline that marks packets if that is wanted and its kind can."""
    can = ecn and discipline.get("kind") in CAN_MARK
    return discipline | {"ecn": True} if can else discipline


def _random_loss(probability: float) -> build.Table:
    return {"kind": "bernoulli", "rate": probability} if probability else {"kind": "none"}


def of_name(path: str, **given: Unpack[PathOptions]) -> PathSetup:
    """Return a named path, such as ``geo``, or the path of a measurement in a file, as `of_scenario` does.

    The file has a series of rates, with or without delays and losses, or a Mahimahi trace. The round trip
    must be given if the file has no delays.
    """
    chosen = PathChoice(path, time_ms(rtt) if (rtt := given.get("rtt")) else None)
    if chosen.is_file and not given.get("buffer"):
        # Of the mean rate in the measured part of a run.
        given["buffer"] = "1bdp"
    scenario = chosen.put({"flow": [{"controller": "reno"}], "run": {"duration": "60 s"}})
    return of_scenario(scenario, Path(path).stem if chosen.is_file else path, **given)


def of_file(file: Path, **given: Unpack[PathOptions]) -> PathSetup:
    """Return the path of a scenario file in TOML or JSON, as `of_scenario` does.

    The comparison uses the file's duration and seed unless others are given.
    """
    scenario = engine.read(file)
    given["duration_s"] = given.get("duration_s") or scenario.duration_s
    if given.get("seed") is None:
        given["seed"] = scenario.written()["run"].get("seed")
    return of_scenario(scenario, file.stem, **given)


def of_scenario(scenario: Scenario, name: str, **given: Unpack[PathOptions]) -> PathSetup:
    """Return the path of a scenario: its dumbbell, ``[tcp]``, events, and flows without control.

    The first of its flows with a control supplies the round trip, and the compared controls replace these
    flows. `given` takes precedence over the scenario: ``rate``, ``rtt``, ``buffer``, ``loss`` and ``queue``
    as people write them, and fields of `PathSetup`. Raises ValueError when it is not a dumbbell or a number
    cannot be read.
    """
    # The scenarios of a comparison are written to another directory.
    folder = Path(scenario.file).parent
    names = {name: str((folder / name).resolve()) for name in scenario.files}
    base, complete = carried.renamed(scenario.written(), names), scenario.tables()
    queue, ecn = given.get("queue"), given.get("ecn", False)
    overridden = {
        "rate": given.get("rate"),
        "delay": given.get("rtt"),
        "queue": queue or given.get("buffer") or ecn,
        "loss": given.get("loss"),
    }
    if "dumbbell" not in complete:
        raise ValueError(f"{name}: compare needs a [dumbbell] or a named path")
    path = complete["dumbbell"]
    over_time = next((key for key in ("rate_trace", "rate_series") if key in path), None)
    if over_time is not None and given.get("rate"):
        raise ValueError(f"{name}: has a {over_time}; leave out --rate")
    own = [flow for flow in complete["flow"] if "source" not in flow]
    rtt = given.get("rtt") or (own[0]["rtt"] if own else None)
    round_trip_ms = time_ms(rtt) if rtt else scenario.rtts_s[0] * 1e3
    packet = int(engine.quantity(complete["tcp"]["packet"], "size_bytes"))
    own_queue = dict(path["queue"])
    own_limit = own_queue.pop("limit")
    loss = share_of(path.get("loss", {})) if (text := given.get("loss")) is None else share(text)

    tcp = {key: value for key, value in base.get("tcp", {}).items() if key != "profile"}
    kept = {key: value for key, value in base.items() if key in ("path", "dumbbell", "event")}
    others = [flow for flow in base.get("flow", []) if "source" in flow]

    def setup(rate: float) -> PathSetup:
        packets = buffer_packets(given.get("buffer") or own_limit, rate, round_trip_ms, packet)
        described = build.Path(
            rate,
            round_trip_ms,
            packet_bytes=packet,
            queue_packets=packets,
            discipline=_marking({"kind": queue} if queue else own_queue, ecn=ecn),
            link={"loss": _random_loss(loss)},
        )
        return replace(
            _setup(described, given, base.get("tcp", {}).get("profile", "linux")),
            base=kept | {"tcp": tcp, "flow": others},
            name=name,
            given=frozenset(key for key, value in overridden.items() if value),
            loss_over_time=scenario.loss_rate if "loss_series" in path and not given.get("loss") else 0.0,
        )

    if (text := given.get("rate")) is not None:
        return setup(rate_mbps(text))
    if not (over_time or "square" in path or "event" in complete):
        return setup(rate_mbps(path["rate"]))
    # The measured time is known only with the length of the runs.
    usual = scenario.mean_rate_mbps(from_s=0.0) or rate_mbps(path["rate"])
    built = setup(usual).scenario(build.flow("reno", rtt=build.milliseconds(round_trip_ms)))
    rates = [built.mean_rate_mbps(run=run) for run in range(given.get("runs") or FIXED_RUNS)]
    known = [rate for rate in rates if rate]
    if len(known) < len(rates):
        return replace(setup(usual), fastest_mbps=float("inf"))
    return replace(setup(float(np.mean(known))), fastest_mbps=max(known))


def share_of(loss: Mapping[str, object]) -> float:
    """Return the loss rate of a path from its table; 0 where there is none or it is not Bernoulli's."""
    return share(str(loss["rate"])) if loss.get("kind") == "bernoulli" else 0.0
