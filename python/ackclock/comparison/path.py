"""The path on which controls are compared, and the scenarios on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ackclock.engine import build, quantity

CYCLES = 4
"""Cycles of Reno that are measured, if they fit."""
SHORTEST_S, LONGEST_S = 60.0, 600.0
WARMUP = 0.2
"""Share of a run before measuring starts."""
SAMPLE_S = 0.05
STEP = (0.4, 0.6)
"""When a datagram flow takes half of the link: shares of the run."""


@dataclass(frozen=True)
class Setting:
    """A path, and how long and how often it is simulated.

    Attributes
    ----------
    rate_mbps : float
        Rate of the bottleneck, Mbit/s.
    rtt_ms : float
        Propagation round trip, milliseconds.
    buffer : int, optional
        Packets of 1000 bytes; by default the bandwidth-delay product.
    loss : float
        Probability of a random loss, per packet.
    duration_s : float, optional
        Length of a run, seconds; by default four cycles of Reno and a fifth for the start, from
        60 to 600.
    runs : int
        Number of runs; each uses different random streams.
    """

    rate_mbps: float
    rtt_ms: float
    buffer: int | None = None
    loss: float = 0.0
    duration_s: float | None = None
    runs: int = 5

    @property
    def product_packets(self) -> float:
        """The bandwidth-delay product."""
        return self.rate_mbps * 1e6 * self.rtt_ms / 1e3 / build.PACKET_BITS

    @property
    def buffer_packets(self) -> int:
        """The buffer, given or not."""
        return max(2, round(self.product_packets)) if self.buffer is None else self.buffer

    @property
    def reno_cycle_s(self) -> float:
        """One cycle of Reno alone: half of its largest window, a packet per round trip."""
        largest = self.product_packets + self.buffer_packets
        # The round trip grows with the queue, from half of the window on.
        rtt_s = self.rtt_ms / 1e3 * max(1.0, 0.75 * largest / self.product_packets)
        return largest / 2 * rtt_s

    @property
    def run_s(self) -> float:
        """Length of a run, given or not; whole seconds."""
        if self.duration_s is not None:
            return self.duration_s
        wanted = CYCLES * self.reno_cycle_s / (1 - WARMUP)
        return float(round(min(LONGEST_S, max(SHORTEST_S, wanted))))

    @property
    def warmup_s(self) -> float:
        """When measuring starts, seconds."""
        return WARMUP * self.run_s

    def describe(self) -> str:
        """Give the path in words.

        Returns
        -------
        str
            Rate, RTT, buffer, loss, duration and runs.
        """
        share = self.buffer_packets / self.product_packets
        loss = f", random loss {self.loss:g}" if self.loss else ""
        return (
            f"{self.rate_mbps:g} Mbit/s, RTT {self.rtt_ms:g} ms, droptail buffer "
            f"{self.buffer_packets} packets of 1000 bytes ({share:.2g} of the bandwidth-delay "
            f"product){loss}; {self.runs} runs of {self.run_s:g} s, measured from "
            f"{self.warmup_s:g} s; starts within the first second, up to a packet's time of "
            "random delay before each send"
        )

    def scenario(self, *flows: dict[str, Any]) -> dict[str, Any]:
        """Put flows on the path.

        Parameters
        ----------
        *flows : dict
            As `build.flow` gives them.

        Returns
        -------
        dict
            A scenario, in which something is random.
        """
        loss: dict[str, Any] = {"kind": "none"}
        if self.loss:
            loss = {"kind": "bernoulli", "rate": self.loss}
        packet_s = build.PACKET_BITS / (self.rate_mbps * 1e6)
        return build.scenario(
            build.dumbbell(
                build.mbps(self.rate_mbps),
                build.milliseconds(self.rtt_ms / 4),
                build.packets(self.buffer_packets),
                loss=loss,
            ),
            *flows,
            duration=build.seconds(self.run_s),
            warmup=build.seconds(self.warmup_s),
            sample=build.seconds(SAMPLE_S),
            tcp={"overhead": build.milliseconds(packet_s * 1e3)},
        )

    def flow(self, controller: str, name: str, rtt: float = 1.0) -> dict[str, Any]:
        """Describe a flow on the path.

        Parameters
        ----------
        controller : str
            Its control.
        name : str
            Its name.
        rtt : float
            Its round trip over that of the path.

        Returns
        -------
        dict
            A flow that starts within the first second.
        """
        return build.flow(
            controller,
            rtt=build.milliseconds(rtt * self.rtt_ms),
            name=name,
            start={"uniform": ["0 s", "1 s"]},
        )


def _read(
    text: str,
    kind: Literal["rate_bps", "time_s", "fraction"],
    low: float,
    high: float,
    refusal: str,
) -> float:
    try:
        value = quantity(text, kind)
    except ValueError as error:
        raise ValueError(refusal) from error
    if not low <= value <= high:
        raise ValueError(refusal)
    return value


def rate_mbps(text: str) -> float:
    """Read a rate as people write it.

    Parameters
    ----------
    text : str
        Such as ``100mbit``, ``100 Mbit/s`` or ``1Gbit``.

    Returns
    -------
    float
        Mbit/s.

    Raises
    ------
    ValueError
        When it is not a rate from 1 kbit/s to 1 Tbit/s.
    """
    return _read(text, "rate_bps", 1e3, 1e12, f"not a rate: {text!r}; write e.g. 100mbit") / 1e6


def time_ms(text: str) -> float:
    """Read a time as people write it.

    Parameters
    ----------
    text : str
        Such as ``80ms`` or ``0.1 s``.

    Returns
    -------
    float
        Milliseconds.

    Raises
    ------
    ValueError
        When it is not a time from 1 us to 100 s.
    """
    return _read(text, "time_s", 1e-6, 100.0, f"not a time: {text!r}; write e.g. 80ms") * 1e3


def share(text: str) -> float:
    """Read a probability as people write it.

    Parameters
    ----------
    text : str
        Such as ``1%`` or ``0.01``.

    Returns
    -------
    float
        From 0 to below 1.

    Raises
    ------
    ValueError
        When it is not such a probability.
    """
    below_one = 1.0 - 2.0**-53
    refusal = f"not a loss rate: {text!r}; write e.g. 1% or 0.01"
    return _read(text, "fraction", 0.0, below_one, refusal)
