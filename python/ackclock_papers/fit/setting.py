"""Scenarios of the paper's one setting; paper.toml lists every value and its basis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import polars as pl

from ackclock.engine import Run

PACKET_BITS = 12_000

VARIANTS: dict[str, dict[str, Any]] = {
    "FIT": {"controller": "fit"},
    "Reno": {"controller": "reno"},
    "CUBIC": {"controller": "cubic", "params": {"beta": 819 / 1024}},
    "CTCP": {"controller": "compound-linux"},
    "Westwood": {"controller": "westwood-linux"},
    "Veno": {"controller": "veno", "params": {"base_rtt": "connection"}},
    "HSTCP": {"controller": "hstcp-table"},
    "Illinois": {"controller": "illinois-linux"},
    "FAST": {"controller": "fast", "params": {"alpha": 20}},
}
"""The variants of Linux 2.6.31, CTCP as the Linux port, FAST as in ns-2."""


def flow(variant: str, **settings: Any) -> dict[str, Any]:
    """Describe a flow of a variant.

    Parameters
    ----------
    variant : str
        A key of `VARIANTS`.
    **settings
        Other keys of a flow.

    Returns
    -------
    dict
        An entry of ``[[flow]]`` that starts at random within the first second.
    """
    start = {"uniform": ["0 s", "1 s"]}
    return {"start": start, "overhead": "100 us", "name": variant, **VARIANTS[variant], **settings}


def scenario(
    flows: Sequence[Mapping[str, Any]],
    *,
    rate_mbps: float,
    rtt_ms: float,
    loss: float = 0.0,
    noise_ms: float = 0.0,
    measured_s: float = 60.0,
    warmup_s: float = 20.0,
    buffer: int | None = None,
    sample_s: float = 1.0,
) -> dict[str, Any]:
    """Make a scenario of the paper.

    Parameters
    ----------
    flows : sequence of mapping
        Entries of ``[[flow]]``; see `flow`.
    rate_mbps, rtt_ms : float
        Rate and round trip of the path, Mbit/s and ms; a flow may have a longer RTT of its own.
    loss : float
        Share of packets lost at random.
    noise_ms : float
        Standard deviation of the delay, ms.
    measured_s, warmup_s : float
        Time measured, and the time before it that is left out, seconds.
    buffer : int, optional
        Packets, in place of the bandwidth-delay product.
    sample_s : float
        Sampling interval of the trace, seconds.

    Returns
    -------
    dict
        As in a scenario file.
    """
    product = round(rate_mbps * 1e6 / PACKET_BITS * rtt_ms / 1000)
    link: dict[str, Any] = {
        "rate": f"{rate_mbps:g} Mbit/s",
        "delay": f"{rtt_ms / 2:g} ms",
        "queue": {"kind": "droptail", "limit": f"{buffer or max(50, product)} packets"},
    }
    if loss:
        link["loss"] = {"kind": "bernoulli", "rate": loss}
    if noise_ms:
        link["delay_noise"] = {"kind": "gaussian", "sigma": f"{noise_ms:g} ms"}
    return {
        "run": {
            "duration": f"{warmup_s + measured_s:g} s", "warmup": f"{warmup_s:g} s",
            "sample": f"{sample_s:g} s",
        },
        "tcp": {"profile": "linux", "packet": "1500 B"},
        "dumbbell": link,
        "flow": [{"rtt": f"{rtt_ms:g} ms", **one} for one in flows],
    }  # fmt: skip


def goodputs(run: Run, *sizes: int) -> list[float]:
    """Sum the goodput of each group of flows.

    Parameters
    ----------
    run : Run
        A run.
    *sizes : int
        Number of flows of each ``[[flow]]`` of its scenario, in order.

    Returns
    -------
    list of float
        Mbit/s by group.

    Raises
    ------
    ValueError
        When the run has another number of flows.
    """
    flows = run.summary["flows"]
    if len(flows) != sum(sizes):
        raise ValueError(f"{len(flows)} flows, expected {sum(sizes)}")
    found = iter(one["goodput_mbps"] or 0.0 for one in flows)
    return [float(sum(islice(found, size))) for size in sizes]


def over_time(run: Run, length_s: float) -> pl.DataFrame:
    """Average the goodput of every flow over intervals.

    Parameters
    ----------
    run : Run
        A recorded run.
    length_s : float
        Length of an interval, seconds.

    Returns
    -------
    polars.DataFrame
        Columns time_s (end of the interval), name, mbps.
    """
    names = {one["id"]: one["name"] for one in run.summary["flows"]}
    frame = run.windows.with_columns(
        pl.col("flow").replace_strict(names, return_dtype=pl.String).alias("name"),
        ((pl.col("time_s") / length_s).ceil() * length_s).alias("end_s"),
    )
    return (
        frame.group_by("name", "end_s", maintain_order=True)
        .agg(pl.col("delivered_bytes").sum())
        .select(
            pl.col("end_s").alias("time_s"),
            "name",
            (pl.col("delivered_bytes") * 8e-6 / length_s).alias("mbps"),
        )
    )
