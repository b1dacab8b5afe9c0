"""Joins: functions from the numbers of a cell's parts to the numbers of the cell."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from ackclock_evaluate.cell import CellNumbers
from ackclock_evaluate.setting import PACKET_BYTES, STANDARD, Bottleneck

NumbersByPart = Mapping[str, CellNumbers]
"""The numbers of each part, by its name."""

CHANCE_PACKETS_PER_RTT = 0.1
"""Less than a packet in ten round trips is random, and collapses nothing."""
SIZES = {"10kB": 10_000, "100kB": 100_000, "1MB": 1_000_000}
"""Bytes of short transfers."""


def harm_of(numbers: NumbersByPart) -> CellNumbers:
    """Return the metrics of part ``run`` with the harm that is done to the victim.

    Harm is that of Ware, Mukerjee, Seshan and Sherry (HotNets 2019): with x in ``solo``, without the
    control under test, and y in ``run``, next to it, ``harm_goodput`` is (x - y)/x and ``harm_rtt`` (y
    - x)/y. Negative harm is a gain. If there is a part ``alike``, with the victim's control in that
    place, ``stolen`` is 1 - y/z with z in ``alike``.
    """
    shared, alone = numbers["run"], numbers["solo"]
    return (
        shared
        | {
            "harm_goodput": 1 - shared["victim_goodput"] / alone["victim_goodput"],
            "harm_rtt": 1 - alone["victim_rtt_p95"] / shared["victim_rtt_p95"],
        }
        | (stolen(numbers) if "alike" in numbers else {})
    )


def stolen(numbers: NumbersByPart) -> CellNumbers:
    """Return part ``run`` with ``stolen``, relative to the victim's goodput in part ``alike``.

    It is the bandwidth stolen rate of Wang and others (TCP-FIT, INFOCOM 2011, equation 22).
    """
    usual = numbers["alike"]["victim_goodput"]
    share = 1 - numbers["run"]["victim_goodput"] / usual if usual else float("nan")
    return numbers["run"] | {"stolen": share}


def kept(numbers: NumbersByPart) -> CellNumbers:
    """Return part ``run`` with ``kept``, the goodput relative to that of part ``usual``."""
    usual = numbers["usual"]["goodput"]
    share = numbers["run"]["goodput"] / usual if usual else float("nan")
    return numbers["run"] | {"kept": share}


def marks_per_loss(numbers: NumbersByPart) -> CellNumbers:
    """Return part ``run`` with ``marks_per_loss``, relative to the losses of part ``lossy``."""
    marked, lost = numbers["run"], numbers["lossy"]["loss"]
    # Drops in spite of ECN are signals, too.
    signals = marked["marked"] + marked["loss"]
    ratio = signals / lost if lost else float("nan")
    return marked | {"lost": lost, "marks_per_loss": ratio}


def falls(numbers: NumbersByPart) -> CellNumbers:
    """Return ``sent_PART`` of each part, and whether it ``falls`` from each part to the next."""
    sent = [part["sent"] for part in numbers.values()]
    fall = all(more_loss <= max(less, CHANCE_PACKETS_PER_RTT) for less, more_loss in pairwise(sent))
    named = {f"sent_{name}": packets for name, packets in zip(numbers, sent, strict=True)}
    return named | {"falls": float(fall)}


def ideal_s(path: Bottleneck, size_bytes: int, initial_window: int = 10) -> float:
    """Return the time (s) of a transfer by slow start on an empty path, until its last packet arrives.

    The handshake takes a round trip. Then n packets need ceil(log2(n/IW + 1)) rounds, of which the last only
    goes one way, and its own transmission. A window above the bandwidth-delay product adds nothing, so the
    time is at least the transmission of all.
    """
    count = -(-size_bytes // PACKET_BYTES)
    rounds, sent, window = 0, 0, initial_window
    while sent + window < count:
        sent += window
        window *= 2
        rounds += 1
    last_s = (count - sent) / path.packets_per_second
    rtt_s = path.rtt_ms / 1e3
    by_rounds = rtt_s * (rounds + 0.5) + last_s
    return rtt_s + max(by_rounds, 0.5 * rtt_s + count / path.packets_per_second)


def slowdowns(numbers: NumbersByPart) -> CellNumbers:
    """Return part ``run`` with completion times relative to slow start on the empty standard path."""
    cell = dict(numbers["run"])
    for name, size in SIZES.items():
        ideal = ideal_s(STANDARD, size)
        for percent in (50, 95, 99):
            cell[f"slowdown_p{percent}_{name}"] = cell[f"fct_p{percent}_{name}"] / ideal
    return cell


def gain(numbers: NumbersByPart) -> CellNumbers:
    """Return the gain of the control's camp and the loss of the other, compared with equal camps."""
    mixed, alike = numbers["run"], numbers["alike"]
    mine, theirs = "fct_p50_c-100kB", "fct_p50_v-100kB"
    return mixed | {"gain": alike[mine] / mixed[mine] - 1, "camp_loss": 1 - alike[theirs] / mixed[theirs]}


def harm_to_goodput(numbers: NumbersByPart) -> CellNumbers:
    """Return part ``run`` with ``harm_goodput``, relative to the victim's goodput in part ``solo``."""
    left, usual = numbers["run"]["victim_goodput"], numbers["solo"]["victim_goodput"]
    return numbers["run"] | {"harm_goodput": 1 - left / usual}


def in_ranges(numbers: NumbersByPart) -> CellNumbers:
    """Return part ``run`` with the delay range of part ``alone`` and the jitter relative to it."""
    own_ms, jitter_ms = numbers["alone"]["delay_range"], numbers["run"]["jitter"]
    return numbers["run"] | {
        "delay_range": own_ms,
        "jitter_over_range": jitter_ms / own_ms if own_ms else float("inf"),
    }
