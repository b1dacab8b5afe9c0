"""Scenarios of the paper; paper.toml lists every item of its setting with the values it may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, TypedDict

import polars as pl

from ackclock.engine import Run, build
from ackclock.reproduction.trials.settings import Setting

PACKET_BITS = 12_000
LEAST_BUFFER = 50
"""Packets; dummynet's default."""

VARIANTS: dict[str, build.Table] = {
    "FIT": {"controller": "fit"},
    "Reno": {"controller": "reno"},
    "CUBIC": {"controller": "cubic", "params": {"beta": 819 / 1024}},
    "CTCP": {"controller": "compound-linux"},
    "Westwood": {"controller": "westwood-linux"},
    "Veno": {"controller": "veno", "params": {"base_rtt": "connection"}},
    "HSTCP": {"controller": "hstcp-table"},
    "Illinois": {"controller": "illinois-linux"},
    "FAST": {"controller": "fast"},
}
"""The variants of Linux 2.6.31, CTCP as the Linux port, FAST as in ns-2."""

AS_PUBLISHED: dict[str, build.Table] = {
    "CTCP": {"controller": "compound"},
    "Westwood": {"controller": "westwood"},
    "HSTCP": {"controller": "hstcp"},
    "Illinois": {"controller": "illinois"},
}
"""Other variants where the item ``variants`` is not `OF_LINUX`."""
OF_LINUX = "as Linux 2.6.31 has them"

KERNEL = {"initial_window": 3, "recovery": "linux-2.6"}
SENDERS: dict[str, build.Table] = {
    "Linux 2.6.31": {**KERNEL, "growth": "per_ack"},
    "Linux 2.6.31 with an ACK per packet": {**KERNEL, "delayed_ack": 1},
    "SACK as in RFC 6675": {"recovery": "sack", "overhead": "100 us"},
    "Linux of today": {"overhead": "100 us"},
}
"""Keys of ``[tcp]`` by the item ``sender``. ``linux-2.6`` has a random delay of its own."""

FIT_RTT: dict[str, build.Table] = {
    "samples": {},
    "smoothed": {"rtt": "smoothed"},
    "smoothed, but samples in alpha": {"rtt": "mixed"},
    "samples, but rtt_min the least mean of a period": {"rtt_min": "period"},
}
"""Parameters of FIT by the item ``fit_rtt``."""

FIT_ALPHA: dict[str | float, build.Table] = {
    "estimated from the session": {},
    "estimated from each period": {"extremes": "period"},
    0.25: {"alpha": 0.25},
}
"""Parameters of FIT by the item ``fit_alpha``."""

NOISE: dict[str, build.Table] = {
    "for each packet": {},
    "every 0.5 s": {"hold": "0.5 s"},
    "every 2 s": {"hold": "2 s"},
}
"""Keys of ``delay_noise`` by the item ``noise``."""
ON_SAMPLES = "for each RTT sample, not on the path"
"""The other value of the item ``noise``."""


def flow(
    setting: Setting,
    variant: str,
    *,
    fast_alpha: float = 20,
    params: Mapping[str, object] | None = None,
    **more: Any,
) -> build.Table:
    """Describe a flow of a variant that starts at random in the first second, as an entry of ``[[flow]]``.

    Only FAST reads `fast_alpha`, the packets that it keeps queued; `params` are other parameters of the
    control, and `more` other keys of the flow.
    """
    known = {
        "FIT": {
            **FIT_RTT[setting["fit_rtt"]],
            **FIT_ALPHA[setting["fit_alpha"]],
            **({} if setting["fit_timeout"] == "kept" else {"timeout_resets_n": True}),
        },
        "FAST": {"alpha": fast_alpha, "loss": setting["fast_loss"]},
    }.get(variant, {})
    control = VARIANTS[variant]
    if setting["variants"] != OF_LINUX:
        control = AS_PUBLISHED.get(variant, control)
    entry = {"start": {"uniform": ["0 s", "1 s"]}, "name": variant, **control, **more}
    chosen = {**entry.pop("params", {}), **known, **(params or {})}
    return {**entry, "params": chosen} if chosen else entry


class PathNumbers(TypedDict, total=False):
    """The path of a `scenario`: its rate, its RTT, its share of lost packets, and the noise of its delay."""

    rate_mbps: float
    rtt_ms: float
    loss: float
    noise_ms: float


def scenario(
    setting: Setting,
    flows: Sequence[Mapping[str, object]],
    *,
    rate_mbps: float,
    rtt_ms: float,
    loss: float = 0.0,
    noise_ms: float = 0.0,
    measured_s: float = 60.0,
    warmup_s: float = 20.0,
    buffer: int | None = None,
    sample_s: float = 1.0,
) -> build.Table:
    """Make a scenario of the paper.

    A flow may have a longer RTT of its own. `noise_ms` is the standard deviation of the delay; a
    `buffer` in packets replaces the item ``buffer``; `warmup_s` is left out before `measured_s`.
    """
    product = packets(rate_mbps, rtt_ms)
    limit = buffer or round(setting["buffer"] * max(LEAST_BUFFER, product))
    link: build.Table = {
        "rate": f"{rate_mbps:g} Mbit/s",
        "delay": f"{rtt_ms / 2:g} ms",
        "queue": {"kind": "droptail", "limit": f"{limit} packets"},
    }
    common: build.Table = {"rtt": f"{rtt_ms:g} ms"}
    if loss:
        link["loss"] = {"kind": "bernoulli", "rate": loss}
        if setting["random_loss"] == "data and ACKs":
            link["reverse"] = {"loss": dict(link["loss"])}
    if noise_ms and setting["noise"] == ON_SAMPLES:
        common["rtt_noise"] = f"{noise_ms:g} ms"
    elif noise_ms:
        how = NOISE[setting["noise"]]
        link["delay_noise"] = {"kind": "gaussian", "sigma": f"{noise_ms:g} ms", **how}
    return {
        "run": {
            "duration": f"{warmup_s + measured_s:g} s",
            "warmup": f"{warmup_s:g} s",
            "sample": f"{sample_s:g} s",
        },
        "tcp": {"profile": "linux", "handshake": False, "packet": "1500 B", **SENDERS[setting["sender"]]},
        "dumbbell": link,
        "flow": [{**common, **entry} for entry in flows],
    }


def packets(rate_mbps: float, time_ms: float) -> int:
    """Count the packets of `PACKET_BITS` that a link sends in a time."""
    return round(rate_mbps * 1e6 / PACKET_BITS * time_ms / 1000)


def packets_per_step(setting: Setting) -> int:
    """Count the packets for which a window grows as for one ACK: 2 where delayed ACKs slow growth."""
    return 2 if SENDERS[setting["sender"]].get("growth") == "per_ack" else 1


def goodputs(run: Run, *sizes: int) -> list[float]:
    """Sum the goodput of each group of flows, Mbit/s; `sizes` are the counts of each ``[[flow]]``."""
    flows = run.summary["flows"]
    if len(flows) != sum(sizes):
        raise ValueError(f"{len(flows)} flows, expected {sum(sizes)}")
    rates = iter(sender["goodput_mbps"] or 0.0 for sender in flows)
    return [float(sum(islice(rates, size))) for size in sizes]


def over_time(run: Run, length_s: float) -> pl.DataFrame:
    """Average the goodput of every flow over intervals; ``time_s`` is the end of an interval."""
    names = {sender["id"]: sender["name"] for sender in run.summary["flows"]}
    frame = run.windows.with_columns(
        pl.col("flow").replace_strict(names, return_dtype=pl.String).alias("name"),
        ((pl.col("time_s") / length_s).ceil() * length_s).alias("end_s"),
    )
    return (
        frame.group_by("name", "end_s", maintain_order=True)
        .agg(pl.col("arrived_bytes").sum())
        .select(
            pl.col("end_s").alias("time_s"), "name", (pl.col("arrived_bytes") * 8e-6 / length_s).alias("mbps")
        )
    )
