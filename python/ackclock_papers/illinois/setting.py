"""The one setting of the paper's simulations, with every value that the paper leaves open."""

from __future__ import annotations

from typing import Any

CONTROLLERS = {
    "Reno": "reno",
    "HS-TCP": "hstcp",
    "Illinois": "illinois",
    "BIC": "bic-linux",
    "C-TCP": "compound-linux",
    "Vegas": "vegas",
}
"""Congestion controls of the engine, by the paper's names."""

RECOVERIES = {
    "Reno": "newreno",
    "Illinois": "newreno",
    "BIC": "linux-2.6",
    "C-TCP": "linux-2.6",
}
"""Loss recovery of the controls that do not run on SACK."""

PACKET_BITS = 8000
"""Packets have 1000 bytes, headers included."""

MEASURED_FROM_S = 200.0
SAMPLE_S = 0.02
OVERHEAD = "80 us"

SETTING = (
    (
        "initial window, minimum RTO, delayed ACKs",
        "2 packets, 200 ms, none",
        "ns-2's defaults (profile ns2)",
    ),
    ("initial ssthresh", "unlimited", "the usual choice in ns-2 scripts for these algorithms"),
    (
        "recovery of Reno and Illinois",
        "NewReno",
        "the paper keeps 'all the features of TCP-NewReno' in Illinois; Reno is given the same",
    ),
    (
        "recovery of BIC and C-TCP",
        "linux-2.6",
        "footnote 9: SACK; the paper ran the Linux implementation for ns-2, whose recovery this is",
    ),
    (
        "recovery of HS-TCP",
        "SACK; in figure 8 also Reno and NewReno",
        "section 6.1 and footnote 9",
    ),
    ("HS-TCP", "hstcp: the closed form of RFC 3649", "ns-2's own agent uses the closed form"),
    ("BIC", "bic-linux", "the paper ran the Linux implementation for ns-2"),
    ("C-TCP", "compound-linux", "the paper ran the Linux implementation for ns-2"),
    ("Vegas", "mean RTT of a round trip; 1, 3, 1 packets in figure 11", "as ns-2's own agent"),
    (
        "alpha while Illinois waits theta round trips",
        "holds its last value, as in Linux; the flow's own backoff ends the wait",
        "the low delay after the flow's own backoff is not a chance event; the text says nothing",
    ),
    ("ACKs", "40 bytes, reverse queue never full", "ns-2's default size"),
    ("access links", "unlimited", "one bottleneck is all that the text names"),
    (
        "random delay before a send (overhead), one flow",
        "none",
        "a single flow cannot fall into step with others",
    ),
    (
        "random delay before a send (overhead), four flows",
        f"uniform up to {OVERHEAD}, one packet time of the bottleneck; also 10 us and 500 us",
        "without it the shares on a droptail link are an accident of phases",
    ),
    ("starts, four flows", "uniform over the first 10 s", "not simultaneous by accident"),
    (
        "length of runs",
        "one flow: 200 s left out, then 1000 s (figure 10: 1800 s); four flows: 100 s, then 300 s",
        "'tens to hundreds of cycles' of 40-68 s for Illinois and Reno with one flow at 100 Mbit/s",
    ),
    (
        "buffer",
        "includes the packet in transmission",
        "whether ns-2's limit includes it depends on the queue; it is 1 % of B = 100",
    ),
)


def scenario(
    flows: list[dict[str, Any]],
    *,
    rate_mbps: int = 100,
    rtt_ms: int = 100,
    buffer: int = 100,
    duration_s: float = 1200.0,
    warmup_s: float = MEASURED_FROM_S,
    sample_s: float = SAMPLE_S,
) -> dict[str, Any]:
    """Make a scenario of the paper: a dumbbell with one droptail bottleneck, 1000-byte packets.

    Parameters
    ----------
    flows : list of dict
        As `flow` gives them.
    rate_mbps : int
        Rate of the bottleneck, Mbit/s.
    rtt_ms : int
        Propagation round trip of every flow that has none of its own, ms.
    buffer : int
        Buffer of the bottleneck, packets.
    duration_s, warmup_s, sample_s : float
        Length of the run, what is left out at its start, and the sampling interval, s.

    Returns
    -------
    dict
        The scenario, as in a scenario file.
    """
    return {
        "run": {
            "duration": f"{duration_s:g} s",
            "warmup": f"{warmup_s:g} s",
            "sample": f"{sample_s * 1000:g} ms",
            "seed": 1,
        },
        "tcp": {"profile": "ns2", "packet": f"{PACKET_BITS // 8} B"},
        "dumbbell": {
            "rate": f"{rate_mbps} Mbit/s",
            "delay": f"{rtt_ms / 2:g} ms",
            "queue": {"kind": "droptail", "limit": f"{buffer} packets"},
        },
        "flow": [{"rtt": f"{rtt_ms} ms"} | flow for flow in flows],
    }


def capacity(rate_mbps: float) -> float:
    """Convert a rate to packets per second.

    Parameters
    ----------
    rate_mbps : float
        Rate, Mbit/s.

    Returns
    -------
    float
        Packets per second.
    """
    return rate_mbps * 1e6 / PACKET_BITS


def flow(control: str, *, recovery: str | None = None, beta: float | None = None) -> dict[str, Any]:
    """Make a flow of the paper.

    Parameters
    ----------
    control : str
        Its congestion control, by the paper's name.
    recovery : str, optional
        Its loss recovery; by default as in `SETTING`.
    beta : float, optional
        Both beta_min and beta_max of Illinois.

    Returns
    -------
    dict
        An entry of ``[[flow]]``.
    """
    made: dict[str, Any] = {
        "controller": CONTROLLERS[control],
        "recovery": recovery or RECOVERIES.get(control, "sack"),
    }
    if beta is not None:
        made["params"] = {"beta_min": beta, "beta_max": beta}
    if control == "Vegas":
        made["params"] = {"rtt": "mean"}
    return made


CHANGES = (
    "Figure 8: 'straight' allows a change of slope of 2 % (1 % before): a queue of two packets in "
    "place of one halves alpha for a round trip.",
    "Figure 8: BIC's shares are weighted by the length of the epochs (plain means before): its "
    "first epochs are short.",
    "Figure 11: Vegas takes the mean RTT of a round trip (the minimum before), as in figure 15.",
    "Figure 10: the queue in its square is counted from the smallest RTT (from the propagation "
    "delay before), which includes the packet's own transmission.",
)
"""Changed after the first data were seen."""
