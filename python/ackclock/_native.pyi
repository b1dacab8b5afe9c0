"""The engine (Rust, crates/ackclock-py)."""

from collections.abc import Callable
from typing import final

import numpy as np
from numpy.typing import NDArray

_Column = NDArray[np.float64] | NDArray[np.uint64] | NDArray[np.uint32] | list[str]

__all__ = [
    "VERSION",
    "Ack",
    "Loss",
    "ScenarioError",
    "SimulationError",
    "Start",
    "Timeout",
    "check",
    "controllers",
    "example",
    "load_library",
    "page",
    "register",
    "schema",
    "simulate",
]

VERSION: str

class ScenarioError(ValueError): ...
class SimulationError(RuntimeError): ...

@final
class Ack:
    """What a control written in Python is told when an acknowledgement arrives."""

    @property
    def now_s(self) -> float:
        """Time, seconds."""

    @property
    def growth(self) -> float:
        """Packets to grow by per window: none in recovery or when something else limits sending."""

    @property
    def credit(self) -> float:
        """Packets that it stands for, recovering or not."""

    @property
    def delivered(self) -> int:
        """Packets that it newly reports as received."""

    @property
    def rtt_s(self) -> float | None:
        """The round-trip time that it measures, seconds; never of a retransmission."""

    @property
    def in_flight(self) -> int:
        """Packets in the network after it."""

    @property
    def round(self) -> int:
        """Round trips since the start of the connection."""

    @property
    def window_limited(self) -> bool:
        """Whether the window was what limited sending."""

    @property
    def recovering(self) -> bool:
        """Whether a loss event is being repaired: measure, but do not grow."""

    @property
    def delivery_rate(self) -> float | None:
        """Packets per second, for a class with ``wants_rate``."""

@final
class Loss:
    """What a control written in Python is told when a loss event begins."""

    @property
    def now_s(self) -> float:
        """Time, seconds."""

    @property
    def ecn(self) -> bool:
        """Whether the sign was an ECN mark, not a lost packet."""

@final
class Timeout:
    """What a control written in Python is told when the retransmission timer expires."""

    @property
    def now_s(self) -> float:
        """Time, seconds."""

    @property
    def first(self) -> bool:
        """False when the same packet timed out before."""

@final
class Start:
    """Where a connection starts, for a control written in Python."""

    @property
    def window(self) -> float:
        """Initial window, packets."""

    @property
    def ssthresh(self) -> float:
        """Initial slow-start threshold, packets; infinite if there is none."""

    @property
    def hystart(self) -> bool:
        """Whether slow start is to end on rising delay."""

def register(
    name: str,
    source: str,
    class_: type[object],
    parameters: list[tuple[str, object, list[str]]],
    internals: list[str],
) -> None: ...
def check(text: str, file: str, settings: list[str], is_json: bool = False) -> str: ...
def controllers() -> str: ...
def load_library(path: str) -> list[str]: ...
def page(controller: str) -> str | None: ...
def schema() -> str: ...
def example() -> str: ...
def simulate(
    text: str,
    file: str,
    settings: list[str],
    is_json: bool = False,
    run: int = 0,
    record: bool = False,
    progress: Callable[[float, int], None] | None = None,
    pcap: str | None = None,
    qlog: str | None = None,
) -> tuple[str, dict[str, dict[str, _Column]]]: ...
