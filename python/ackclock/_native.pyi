"""The engine (Rust, crates/ackclock-py)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, final, overload

import numpy as np
from numpy.typing import NDArray

from ackclock.summary import FlowSummary, Summary

_Column = NDArray[np.float64] | NDArray[np.uint64] | NDArray[np.uint32] | list[str]

__all__ = [
    "ENGINE",
    "FILE_KEYS",
    "QUIC",
    "RULES",
    "VERSION",
    "Ack",
    "Episodes",
    "Flows",
    "Loss",
    "Lost",
    "RateSample",
    "Scenario",
    "Start",
    "Timeout",
    "beta_quantile",
    "chi_squared_above",
    "columns",
    "controllers",
    "did_you_mean",
    "example",
    "gamma_quantiles",
    "is_built_in",
    "limit",
    "load_library",
    "normal_below",
    "observed",
    "page",
    "quantity",
    "register",
    "schema",
    "student_below",
    "student_quantile",
    "summary_schema",
]

ENGINE: str
"""Hash of the sources that determine the results of a run: 16 hexadecimal digits."""
FILE_KEYS: list[str]
"""Names of the keys of a scenario whose values name files."""
QUIC: bool
"""Whether flows may have ``transport = "quic"``."""
RULES: int
"""Number of the rules by which a summary counts and measures."""
VERSION: str

@final
class Ack:
    """The argument of `on_ack` of a control written in Python: an acknowledgement."""

    @property
    def now_s(self) -> float:
        """Time, seconds."""

    @property
    def growth(self) -> float:
        """Packets that count for growth: none in recovery, or when something else limits sending."""

    @property
    def credit(self) -> float:
        """Packets that it acknowledges, in recovery or not."""

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
        """Whether the window limited sending."""

    @property
    def recovering(self) -> bool:
        """Whether a loss event is being repaired: measure, but do not grow."""

    @property
    def delivery_rate(self) -> float | None:
        """Packets per second, for a class with ``wants_rate``."""

    @property
    def rate(self) -> RateSample | None:
        """The sample from which the delivery rate was measured, for a class with ``wants_rate``."""

    @property
    def lost(self) -> int:
        """Packets considered lost since the previous `Ack`, with ``wants_losses``, else 0."""

    @property
    def marked(self) -> int:
        """Packets newly reported as marked (RFC 9768), for a class with ``wants_marks``, else 0."""

    @property
    def round_limited(self) -> bool:
        """Whether the window limited sending at some time in this round trip or the previous one."""

@final
class RateSample:
    """A measured delivery rate (draft-cheng-iccrg-delivery-rate-estimation)."""

    @property
    def delivered(self) -> int:
        """Packets delivered over the interval."""

    @property
    def interval_s(self) -> float:
        """The longer of the times that sending and acknowledging them took, seconds."""

    @property
    def application_limited(self) -> bool:
        """Whether the application did not always have data to send."""

    @property
    def prior_delivered(self) -> int:
        """Packets delivered in total when the newest packet of the sample was sent."""

    @property
    def tx_in_flight(self) -> int:
        """Packets in flight when it was sent, itself included."""

    @property
    def lost(self) -> int:
        """Packets considered lost since it was sent, for a class with ``wants_losses``, else 0."""

@final
class Lost:
    """The argument of `on_lost` of a control written in Python: a packet that is considered lost."""

    @property
    def now_s(self) -> float:
        """Time, seconds."""

    @property
    def tx_in_flight(self) -> int:
        """Packets in flight when it was sent last, itself included."""

    @property
    def lost_since_sent(self) -> int:
        """Packets considered lost since then, itself included."""

    @property
    def application_limited(self) -> bool:
        """Whether the application was the limit when it was sent."""

@final
class Loss:
    """The argument of `on_loss` of a control written in Python: the beginning of a loss event."""

    @property
    def now_s(self) -> float:
        """Time, seconds."""

    @property
    def ecn(self) -> bool:
        """Whether the sign was an ECN mark, not a lost packet."""

@final
class Timeout:
    """The argument of `on_timeout` of a control written in Python: the retransmission timer has expired."""

    @property
    def now_s(self) -> float:
        """Time, seconds."""

    @property
    def first(self) -> bool:
        """Whether this is the first timeout of the packet."""

@final
class Start:
    """The initial state of a connection, for a control written in Python."""

    @property
    def window(self) -> float:
        """Initial window, packets."""

    @property
    def ssthresh(self) -> float:
        """Initial slow-start threshold, packets; infinite if there is none."""

    @property
    def hystart(self) -> bool:
        """Whether slow start is to end on rising delay."""

    @property
    def rules(self) -> Literal["standard", "linux"]:
        """The rules that hold where standards and Linux differ: those of Linux with ``recovery = "rack"``."""

    @property
    def seed(self) -> int:
        """Seed that a control hashes instead of drawing random numbers; each flow has its own."""

@final
class Flows(Sequence[FlowSummary]):
    """The flows of a finished run, each summarised whenever it is read; pickling makes a list."""

    @overload
    def __getitem__(self, place: int, /) -> FlowSummary: ...
    @overload
    def __getitem__(self, places: slice, /) -> list[FlowSummary]: ...
    def __len__(self) -> int: ...
    def firsts(self) -> list[FlowSummary]:
        """Return the first flow of every ``[[flow]]``; all others have the settings of one of these."""

    def columns(self, first: int, end: int) -> dict[str, Any]:
        """Return the columns of the flows from `first` to before `end` as the table ``flows`` has them."""

    def json(self, first: int, end: int, indent: int | None, depth: int) -> str:
        """Return these flows as ``json.dumps`` writes them, with commas between them."""

@final
class Scenario:
    """A scenario that was read once and accepted. It never changes, and threads may share it.

    Two scenarios are equal if the same would be run, however they are written. Pickling keeps the
    text; controls that are not built in must be registered before it is read again.
    """

    @staticmethod
    def read(
        text: str,
        file: str,
        settings: Sequence[str] = (),
        is_json: bool = False,
        prepare: Callable[[list[str]], Mapping[str, str]] | None = None,
        files: Mapping[str, str] | None = None,
    ) -> Scenario:
        """Read and check a scenario.

        Parameters
        ----------
        text : str
            TOML, or JSON of the same shape.
        file : str
            Its name in messages; files that it names are looked up relative to it.
        settings : sequence of str
            Changes such as ``"flow.0.rtt=80ms"``, applied in order.
        is_json : bool
            Whether the text is JSON.
        prepare : callable, optional
            Called before the check, and before that of `with_`, with the controls that the flows
            name, each once, so that they can be registered. Returns the references that labels among
            them stand for; its exceptions propagate.
        files : mapping of str to str, optional
            Texts of the files that it names, by name, instead of those on disk. Pickling leaves them out.

        Returns
        -------
        Scenario
            The scenario.

        Raises
        ------
        ScenarioError
            When it is refused: file, line, key and what is allowed, in one line.
        """

    def with_(self, *settings: str) -> Scenario:
        """Apply changes to the text of the scenario, so that defaults follow them.

        Parameters
        ----------
        *settings : str
            Changes such as ``"flow.0.rtt=80ms"``, applied in order.

        Returns
        -------
        Scenario
            Another scenario; this one stays as it is.

        Raises
        ------
        ScenarioError
            As `read`.

        Examples
        --------
        >>> import ackclock
        >>> path = ackclock.dumbbell("10 Mbit/s", "20 ms")
        >>> scenario = ackclock.read(ackclock.scenario(path, ackclock.flow("reno"), duration="10 s"))
        >>> scenario.with_("run.duration=5s", "dumbbell.rate=1mbit").duration_s
        5.0
        """

    @property
    def duration_s(self) -> float:
        """Simulated time, seconds."""

    @property
    def warmup_s(self) -> float:
        """Time from which metrics are measured, seconds."""

    @property
    def seed(self) -> int:
        """Seed of the random streams."""

    @property
    def flows(self) -> list[tuple[str, str]]:
        """Name of every flow, and its control, or its source if it has no control."""

    @property
    def rtts_s(self) -> list[float]:
        """Propagation round trip of every flow, seconds, in the order of `flows`."""

    @property
    def packet_bytes(self) -> list[int]:
        """Size of a full packet of every flow, bytes, in the order of `flows`."""

    @property
    def bottleneck(self) -> str:
        """Name of the slowest link on the way of the first flow with a control, by its rate at the start."""

    def mean_rate_mbps(
        self, link: str | None = None, *, from_s: float | None = None, to_s: float | None = None, run: int = 0
    ) -> float | None:
        """Return the mean rate at which a link can send over an interval.

        It follows the link's rate or trace, square waves and events, and is 0 while the link is down. A
        policer is not counted.

        Parameters
        ----------
        link : str, optional
            Name of the link; by default the `bottleneck`.
        from_s, to_s : float, optional
            The interval in seconds; by default the measured part of the run.
        run : int
            Number of the run, for events that are drawn at random.

        Returns
        -------
        float or None
            Mbit/s. None if flows decide when the rate changes (events at round trips), or if the interval
            is empty.

        Raises
        ------
        ValueError
            When there is no such link.
        """

    @property
    def loss_rate(self) -> float:
        """Share of packets that the bottleneck loses independently of each other.

        It is the mean where a file says it; 0 for losses of other kinds.
        """

    @property
    def bdp_packets(self) -> float | None:
        """Bandwidth-delay product of the first flow with a control, in its packets.

        It is of the `bottleneck` with its mean rate over the measured part of run 0; None where that is.
        """

    @property
    def files(self) -> dict[str, str]:
        """Texts of the rate traces and loss traces as they were read, by the names that are written."""

    @property
    def flow_tables(self) -> int:
        """Number of ``[[flow]]`` tables; each may stand for several flows."""

    @property
    def controls(self) -> list[str]:
        """The controls of the flows, each once, in the order of the flows."""

    @property
    def digest(self) -> str:
        """Fingerprint of the scenario: a version such as ``s1:`` and 32 hexadecimal digits.

        It is the same however the scenario is written, and in later versions, whose new keys have
        defaults. Files that it names count by content.
        """

    @property
    def file(self) -> str:
        """Its name in messages."""

    def toml(self) -> str:
        """Write it as TOML with every default filled in.

        The form stays: a dumbbell is a dumbbell, flows with a count are one table. What flows do
        not set for themselves is in ``[tcp]``. Reading it gives an equal scenario, and this text.

        Returns
        -------
        str
            TOML.
        """

    def tables(self) -> dict[str, Any]:
        """Return it as nested tables with every default filled in.

        Returns
        -------
        dict
            The data of `toml`.
        """

    def written(self) -> dict[str, Any]:
        """Return the nested tables that were written, changes applied, without any defaults.

        Returns
        -------
        dict
            Reading it gives an equal scenario.
        """

    def simulate(
        self,
        run: int = 0,
        record: bool = False,
        progress: Callable[[float, int], None] | None = None,
        pcap: str | None = None,
        qlog: str | None = None,
        lazy: bool = False,
    ) -> tuple[Summary, dict[str, dict[str, _Column]]]:
        """Simulate the scenario; it can be called repeatedly, and from several threads at once.

        Parameters
        ----------
        run : int
            Number of the run: other random streams of the same seed.
        record : bool
            Whether the tables of windows and queues over time are kept, too.
        progress : callable, optional
            Called with simulated seconds and packets every few hundredths of a second; an
            exception ends the run.
        pcap : str, optional
            File for a packet capture.
        qlog : str, optional
            Directory for a file ``NAME.sqlog`` of every QUIC flow.
        lazy : bool
            Whether each flow is summarised when it is read: the flows are `Flows`, not a list.

        Returns
        -------
        tuple
            The summary, and the tables by name (`columns`); their arrays cannot be written to.

        Raises
        ------
        SimulationError, OSError
            When the simulation fails, or the capture cannot be written. Exceptions of a control
            written in Python propagate unchanged.
        """

@final
class Episodes:
    """Several runs side by side, each with a flow whose window is set from outside."""

    def __new__(cls, count: int) -> Episodes: ...
    def start(self, place: int, scenario: Scenario, flow: int, run: int) -> list[float]:
        """Start a run, up to the first RTT that the flow measures.

        Parameters
        ----------
        place : int
            Index of the place, from 0; a run that is there is abandoned.
        scenario : Scenario
            The scenario to run.
        flow : int
            Index of the flow; its own control is left out.
        run : int
            Number of the run: other random streams of the same seed.

        Returns
        -------
        list
            The observations until then, in the order of `observed`.

        Raises
        ------
        ValueError, SimulationError
            When there is no such place or flow, or it has no window or measures no RTT.
        """

    def step(
        self, actions: NDArray[np.float64], length_s: float, observed: NDArray[np.float32]
    ) -> list[bool]:
        """Advance all runs. A place without a run is left alone.

        Parameters
        ----------
        actions : array
            Two numbers per place: the window, packets, at least 1, which takes effect at the next
            acknowledgement; and the share of the window that a loss event keeps, 0 to 1.
        length_s : float
            Seconds; 0 advances each run by its smoothed round trip.
        observed : array
            Receives a row per place, in the order of `observed`.

        Returns
        -------
        list
            Whether each run has ended, by place.

        Raises
        ------
        ValueError, SimulationError
            When an action or the length is refused, or another thread advances the same runs.
        """

    def finish(self, place: int) -> Summary | None:
        """Finish a run that has ended.

        Parameters
        ----------
        place : int
            Index of the run.

        Returns
        -------
        Summary or None
            None when there is no run in that place.
        """

def observed() -> list[tuple[str, str]]:
    """Describe the observations of a step of `Episodes`.

    Returns
    -------
    list
        Name and meaning of each column.
    """

def register(
    name: str,
    source: str,
    class_: type[object],
    parameters: list[tuple[str, object, list[str]]],
    internals: list[str],
) -> None: ...
def controllers() -> str: ...
def is_built_in(controller: str) -> bool: ...
def load_library(path: str, prefix: str) -> list[str]: ...
def page(controller: str) -> str | None: ...
def quantity(
    text: str, kind: Literal["time_s", "rate_bps", "size_bytes", "packets", "fraction", "number"]
) -> float:
    """Read a quantity by the rules of scenarios.

    Parameters
    ----------
    text : str
        Such as ``"80 ms"``, ``"100 Mbit/s"``, ``"2 MB"``, ``"50 packets"`` or ``"1 %"``.
    kind : str
        What it measures, with the unit of the result. A ``fraction`` is a bare number or in per
        cent, from 0 to 1; a ``number`` is the same without an upper end.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ValueError
        When it cannot be read, with the message of a refused scenario; or when the kind is unknown.
    """

def limit(text: str) -> tuple[int, Literal["packets", "B"]]:
    """Read the size of a queue.

    Parameters
    ----------
    text : str
        Such as ``"100 packets"`` or ``"125 kB"``.

    Returns
    -------
    tuple
        The number, and whether it counts packets or bytes.

    Raises
    ------
    ValueError
        When it cannot be read.
    """

def summary_schema() -> str:
    """Describe the summary of a run.

    Returns
    -------
    str
        A JSON schema.
    """

def columns() -> dict[str, list[tuple[str, str, str]]]:
    """Describe the tables of a run.

    Returns
    -------
    dict
        By table, for each column: its name, type (``float64``, ``uint64``, ``uint32`` or
        ``string``) and meaning. Controls add real columns of their own to ``windows``; ``flows``
        is made from the summary.
    """

def did_you_mean(wrong: str, names: list[str]) -> str:
    """Suggest the names most like a wrong one.

    Parameters
    ----------
    wrong : str
        A name that does not exist.
    names : list of str
        Those that do.

    Returns
    -------
    str
        A question with three names at most; empty if none is similar.
    """

def student_quantile(degrees: float, probability: float) -> float: ...
def student_below(degrees: float, number: float) -> float: ...
def chi_squared_above(degrees: float, number: float) -> float: ...
def gamma_quantiles(shape: float, probabilities: Sequence[float]) -> NDArray[np.float64]: ...
def beta_quantile(first: float, second: float, probability: float) -> float: ...
def normal_below(numbers: bytes) -> NDArray[np.float64]: ...
def schema() -> str: ...
def example() -> str: ...
