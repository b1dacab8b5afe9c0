"""The one setting of the paper's simulations, with every value that the paper leaves open."""

from __future__ import annotations

from typing import Any

RECOVERIES = {
    "reno": "newreno",
    "illinois": "newreno",
    "bic-linux": "linux-2.6",
    "compound-linux": "linux-2.6",
}
"""Of the controls that do not run on SACK."""

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
        "the low delay after an own backoff is no chance event; the text says nothing",
    ),
    ("ACKs", "40 bytes, reverse queue never full", "ns-2's default size"),
    ("access links", "unlimited", "one bottleneck is all that the text names"),
    (
        "random delay before a send (overhead), one flow",
        "none",
        "one flow meets no phases of others",
    ),
    (
        "random delay before a send (overhead), four flows",
        f"uniform up to {OVERHEAD}, one packet time of the bottleneck; also 10 us and 500 us",
        "without it a droptail link's shares are an accident of phases",
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
        "ns-2's limit has one packet in transmission beside it or in it, by queue; 1 % of B = 100",
    ),
)


def scenario(
    flows: list[dict[str, Any]],
    *,
    rate: str = "100 Mbit/s",
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
    rate : str
        Of the bottleneck.
    rtt_ms : int
        Propagation round trip of every flow, ms.
    buffer : int
        Packets.
    duration_s, warmup_s, sample_s : float
        Length of the run, what is left out of it, and the sampling interval, s.

    Returns
    -------
    dict
        As in a scenario file.
    """
    return {
        "run": {
            "duration": f"{duration_s:g} s",
            "warmup": f"{warmup_s:g} s",
            "sample": f"{sample_s * 1000:g} ms",
            "seed": 1,
        },
        "tcp": {"profile": "ns2", "packet": "1000 B"},
        "dumbbell": {
            "rate": rate,
            "delay": f"{rtt_ms / 2:g} ms",
            "queue": {"kind": "droptail", "limit": f"{buffer} packets"},
        },
        "flow": [{"rtt": f"{rtt_ms} ms"} | flow for flow in flows],
    }


def flow(
    controller: str, *, recovery: str | None = None, beta: float | None = None
) -> dict[str, Any]:
    """Make a flow of the paper.

    Parameters
    ----------
    controller : str
        Its congestion control.
    recovery : str, optional
        Its loss recovery; by default as in `SETTING`.
    beta : float, optional
        Illinois' beta_min and beta_max both.

    Returns
    -------
    dict
        An entry of ``[[flow]]``.
    """
    made: dict[str, Any] = {
        "controller": controller,
        "recovery": recovery or RECOVERIES.get(controller, "sack"),
    }
    if beta is not None:
        made["params"] = {"beta_min": beta, "beta_max": beta}
    if controller == "vegas":
        made["params"] = {"rtt": "mean"}
    return made


CHANGES = (
    "Figure 8: 'straight' allows a change of slope of 2 % (1 % before): a queue of two packets in "
    "place of one halves alpha for a round trip.",
    "Figure 8: BIC's shares are weighted by the length of the epochs (plain means before): its "
    "first epochs are short.",
    "Figure 11: Vegas takes the mean RTT of a round trip (the minimum before), as in figure 15.",
    "Figure 10: the queue in its square is counted from the smallest RTT (from the propagation "
    "delay before), which holds the packet's own transmission.",
)
"""Changed after the first data were seen."""
