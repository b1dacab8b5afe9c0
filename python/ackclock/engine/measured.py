"""A scenario from measurements of a path, in which every line says how much is known of it.

This module reads reports of iperf3; the engine reads tables of rates and Mahimahi traces, as for ``path`` in
a scenario. The goodput of a TCP transfer is a lower bound of the path's rate; only a transfer that filled the
path measures the rate.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from ackclock.engine import build, scenario
from ackclock.errors import ScenarioError

Knowledge = Literal["measured", "a bound", "assumed", "cannot be known from this"]
STANDINGS: tuple[Knowledge, ...] = "measured", "a bound", "assumed", "cannot be known from this"
"""How well a value is known, the best first."""
IP_AND_TCP_BYTES, IP_AND_UDP_BYTES = 52, 28
"""Headers of a packet of TCP with time stamps, and of UDP, over IPv4."""
FILLED = 1.25
"""RTTs grow by at least a quarter when a transfer fills a buffer; less may be noise."""
MUCH_LOSS = 0.01
"""A UDP test that loses more than this sent more than the path carries."""


@dataclass(frozen=True)
class Fact:
    """The value of one key of the scenario, and how well it is known.

    Attributes
    ----------
    key : str
        The key with its table, such as ``dumbbell.rate``.
    value : object
        Its value; None where the line only says what is not known.
    standing : str
        One of `STANDINGS`.
    how : str
        Origin of the value, or the reason why it is not known.
    """

    key: str
    value: object
    standing: Knowledge
    how: str


def facts(files: Sequence[Path], folder: Path, rtt: str | None = None) -> list[Fact]:
    """Return the facts about a path from files, the best for each key, and assumptions for the other keys.

    Parameters
    ----------
    files : sequence of Path
        iperf3's JSON (TCP or UDP), tables of rates, or Mahimahi traces.
    folder : Path
        The folder of the scenario, from which it will name its files.
    rtt : str, optional
        The round trip without queues, where no file has one.

    Returns
    -------
    list of Fact
        In the order of the keys of a scenario.

    Raises
    ------
    ScenarioError
        If a file cannot be read as one of these.
    """
    known = [fact for file in files for fact in _of(file, folder, rtt)]
    if rtt is not None:
        half = build.milliseconds(scenario.quantity(rtt, "time_s") * 500)
        known.append(Fact("dumbbell.delay", half, "measured", "half of the given round trip"))
    best: dict[str, Fact] = {}
    for fact in [*known, *ASSUMED]:
        key = ONE_OF.get(fact.key, fact.key)
        if key not in best or STANDINGS.index(fact.standing) < STANDINGS.index(best[key].standing):
            best[key] = fact
    order = [ONE_OF.get(fact.key, fact.key) for fact in ASSUMED]
    return sorted(best.values(), key=lambda fact: order.index(ONE_OF.get(fact.key, fact.key)))


ONE_OF = {
    "dumbbell.rate_series": "dumbbell.rate",
    "dumbbell.rate_trace": "dumbbell.rate",
    "dumbbell.delay_series": "dumbbell.delay",
    "dumbbell.loss_series": "dumbbell.loss",
}
"""Keys that exclude each other in a scenario."""
ASSUMED = (
    Fact("run.duration", "60 s", "assumed", "as long as a longer test"),
    Fact("tcp.profile", "linux", "assumed", "senders of today"),
    Fact("tcp.packet", "1500 B", "assumed", "Ethernet"),
    Fact("dumbbell.rate", "100 Mbit/s", "cannot be known from this", "no file has a rate; this is a guess"),
    Fact(
        "dumbbell.delay",
        "20 ms",
        "cannot be known from this",
        "no file has a round trip, and this is a guess: give --rtt",
    ),
    Fact(
        "dumbbell.queue",
        {"kind": "droptail", "limit": "1 bdp"},
        "cannot be known from this",
        "one bandwidth-delay product, first in first out, is a guess",
    ),
    Fact(
        "dumbbell.loss",
        {"kind": "none"},
        "cannot be known from this",
        "whether packets are lost at random; none is a guess",
    ),
    Fact(
        "dumbbell.delay_noise", None, "cannot be known from this", "how much the delay varies without a queue"
    ),
    Fact("flow.controller", "cubic", "assumed", "the usual control of Linux"),
)
"""The lines of a scenario where nothing is known, in the order of the file."""


def _of(file: Path, folder: Path, rtt: str | None) -> Iterable[Fact]:
    text = scenario.text_of(file).removeprefix("\ufeff")
    if not text.lstrip().startswith("{"):
        return _of_series(file, folder, rtt)
    try:
        report = json.loads(text)
    except ValueError as error:
        raise ScenarioError(f"{file}: not JSON: {error}") from error
    try:
        protocol = report["start"]["test_start"]["protocol"]
        return list(_of_udp(report) if protocol == "UDP" else _of_tcp(report))
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        problem = report.get("error", f"it has no {error}")
        raise ScenarioError(f"{file}: not a finished test of iperf3 --json: {problem}") from error


def _of_series(file: Path, folder: Path, rtt: str | None) -> Iterable[Fact]:
    """Return the facts from a table of rates or a Mahimahi trace; the engine reads the file."""
    is_elsewhere = file.is_absolute() and not file.is_relative_to(folder.absolute())
    name = str(file) if is_elsewhere else os.path.relpath(file, folder)
    name = name if "." in name or "/" in name else f"./{name}"
    described: build.Table = {"path": str(file.resolve()), "flow": [{"controller": "reno"}]}
    described["run"] = {"duration": "1 s"}
    try:
        read = scenario.read(described)
    except ScenarioError as error:
        if "says nothing of delays" not in str(error):
            raise ScenarioError(f"{file}: {str(error).rpartition('path: ')[2]}") from error
        half = build.milliseconds(scenario.quantity(rtt or "40 ms", "time_s") * 500)
        read = scenario.read(described | {"dumbbell": {"delay": half}})
    path = read.tables()["dumbbell"]
    words = {
        "rate_trace": "a Mahimahi trace: when 1500 B could be sent",
        "rate_series": "throughput: what was received, which is at least what the path could carry",
        "delay_series": "half of the round trips, or the delays, of the same file",
        "loss_series": "the losses of the same file",
    }
    for key, how in words.items():
        if key in path:
            value = path[key]
            named = name if isinstance(value, str) else _without_defaults(value) | {"file": name}
            standing: Knowledge = "a bound" if key == "rate_series" else "measured"
            yield Fact(f"dumbbell.{key}", named, standing, how)


def _without_defaults(series: Mapping[str, Any]) -> dict[str, Any]:
    usual = {"scale": 1, "between": "hold", "repeat": False}
    return {key: value for key, value in series.items() if usual.get(key) != value}


def _of_tcp(report: Mapping[str, Any]) -> Iterable[Fact]:
    """Return the facts from a TCP test of iperf3."""
    start, end = report["start"], report["end"]
    segment = int(start.get("tcp_mss") or start["tcp_mss_default"])
    packet = segment + IP_AND_TCP_BYTES
    yield Fact(
        "tcp.packet",
        f"{packet} B",
        "measured",
        f"segments of {segment} B and {IP_AND_TCP_BYTES} B of headers",
    )
    # Of the first seconds slow start is left out.
    sums = [each["sum"] for each in report["intervals"] if not each["sum"].get("omitted")]
    rates = [each["bits_per_second"] * packet / segment / 1e6 for each in sums if each["start"] >= 1.0]
    senders = [each["sender"] for each in end["streams"]]
    trips = [(each["min_rtt"], each["mean_rtt"], each["max_rtt"]) for each in senders if each.get("min_rtt")]
    resent = end["sum_sent"].get("retransmits") or 0
    packets = max(1, end["sum_sent"]["bytes"] // segment)
    mbps = median(rates) if rates else end["sum_received"]["bits_per_second"] * packet / segment / 1e6
    least = min((trip[0] for trip in trips), default=0)
    usual = max((trip[1] for trip in trips), default=0)
    most = max((trip[2] for trip in trips), default=0)
    is_filled = least > 0 and usual >= FILLED * least
    of_rate = f"median of seconds, {packet}/{segment} of what iperf3 counts"
    if is_filled:
        rose = f"the RTT rose from {least / 1e3:g} to {usual / 1e3:g} ms"
        how = f"{of_rate}; {rose}, so the transfer filled the path"
        yield Fact("dumbbell.rate", build.mbps(round(mbps, 3)), "measured", how)
    else:
        how = f"at least this: {of_rate}; the RTT did not rise, so the transfer never filled the path"
        yield Fact("dumbbell.rate", build.mbps(round(mbps, 3)), "a bound", how)
    if least:
        half = build.milliseconds(least / 2e3)
        yield Fact("dumbbell.delay", half, "measured", f"half of the smallest RTT, {least / 1e3:g} ms")
    if is_filled:
        limit = build.milliseconds(round((most - least) / 1e3, 3))
        queue = {"kind": "droptail", "limit": limit}
        how = f"at least this: RTTs from {least / 1e3:g} to {most / 1e3:g} ms; the discipline is assumed"
        yield Fact("dumbbell.queue", queue, "a bound", how)
    share = resent / packets
    how = f"at most {share:.2g} at random: {resent} of {packets} packets were sent again, for any reason"
    yield Fact("dumbbell.loss", {"kind": "none"}, "a bound", how)
    control = end.get("sender_tcp_congestion")
    if control in KERNELS:
        yield Fact("flow.controller", KERNELS[control], "measured", f"the sender used {control}")


KERNELS = {"cubic": "cubic-linux", "reno": "reno", "bbr": "bbr-linux", "bic": "bic-linux", "vegas": "vegas"}
"""Controls by their names in Linux."""


def _of_udp(report: Mapping[str, Any]) -> Iterable[Fact]:
    """Return the facts from a UDP test of iperf3."""
    start, total = report["start"], report["end"]["sum"]
    payload = int(start["test_start"]["blksize"])
    packet = payload + IP_AND_UDP_BYTES
    lost, packets = total["lost_packets"], max(1, total["packets"])
    share = lost / packets
    sent = packets * packet * 8 / total["seconds"] / 1e6
    arrived = sent * (1 - share)
    if share > MUCH_LOSS:
        how = f"what arrived of {sent:.4g} Mbit/s, more than the path carries, in packets of {packet} B"
        yield Fact("dumbbell.rate", build.mbps(round(arrived, 3)), "measured", how)
        how = f"at random at most the {share:.2g} of packets that were lost as more was sent than fits"
        yield Fact("dumbbell.loss", {"kind": "none"}, "a bound", how)
    else:
        how = f"at least this, which arrived of {sent:.4g} Mbit/s in packets of {packet} B"
        yield Fact("dumbbell.rate", build.mbps(round(arrived, 3)), "a bound", how)
        loss = {"kind": "bernoulli", "rate": float(f"{share:.4g}")} if lost else {"kind": "none"}
        how = f"{lost} of {packets} packets; that they are independent is assumed"
        yield Fact("dumbbell.loss", loss, "measured", how)
    jitter = total.get("jitter_ms")
    if jitter is not None:
        how = f"iperf3's jitter of {jitter:.3g} ms is of the queue and the path together"
        yield Fact("dumbbell.delay_noise", None, "cannot be known from this", how)


def toml(known: Iterable[Fact]) -> str:
    """Return the scenario of facts; a comment on each line says how well its value is known.

    >>> print(toml([Fact("dumbbell.delay", "20 ms", "measured", "half of the smallest RTT, 40 ms")]))
    [dumbbell]
    delay = "20 ms"  # measured: half of the smallest RTT, 40 ms
    <BLANKLINE>
    """
    lines: list[str] = []
    table = ""
    for fact in known:
        of, _, key = fact.key.partition(".")
        if of != table:
            lines += [*([""] if table else []), f"[[{of}]]" if of == "flow" else f"[{of}]"]
            table = of
        said = f"# {fact.standing}: {fact.how}"
        lines.append(
            f"# {key}: {said[2:]}" if fact.value is None else f"{key} = {_value(fact.value)}  {said}"
        )
    return "\n".join([*lines, ""])


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
