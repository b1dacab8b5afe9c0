"""Policies: Reno and CUBIC step by step, a law to be learned, and a policy as a control.

The two that are known are what the environment is held against: with them it must give the windows
that the built-in controls give.
"""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ackclock.engine import storage
from ackclock.engine.controls import Ack, Control, Loss, Start, Timeout
from ackclock.engine.episodes import QUANTITIES

Observation = NDArray[np.float32]
Action = NDArray[np.float32]


class Policy(Protocol):
    """What acts: called once per step of an episode, and copied at the start of the next."""

    def __call__(self, observation: Observation) -> Action:
        """Choose the action of `WindowEnv` for what was observed."""


def _action(window: float, wanted: float, kept: float) -> Action:
    """Give the action that turns one window into another, packets, as far as one step may."""
    factor = math.log2(max(wanted, 1.0) / window)
    return np.array([min(max(factor, -1.0), 1.0), kept], np.float32)


class _Law:
    """Slow start and the reactions to loss that Reno and CUBIC share.

    Slow start grows at the end of a step by all that was acknowledged in it, in one burst, so that
    it overshoots a queue by more than the built-in controls do, which grow packet by packet.

    Parameters
    ----------
    ssthresh : float
        Initial slow-start threshold, packets: the scenario's ``initial_ssthresh``.
    """

    beta: ClassVar[float]

    def __init__(self, ssthresh: float = math.inf) -> None:
        self.ssthresh = ssthresh
        self._asked = 0.0

    def __call__(self, observation: Observation) -> Action:
        """Choose the action for what was observed.

        Parameters
        ----------
        observation : array
            Of a step that is no longer than a round trip: slow start doubles the window in one.

        Returns
        -------
        array
            For `WindowEnv.step`.
        """
        seen = {name: float(observation[column]) for name, column in QUANTITIES.items()}
        window = seen["window"]
        self.measure(seen)
        wanted = window
        # What the window was before the environment lowered it.
        before = max(self._asked, window)
        if seen["timeouts"]:
            self.ssthresh = max(2.0, self.beta * before)
            self.lose(before, timeout=True)
        elif seen["loss_events"]:
            self.ssthresh = window
            self.lose(before, timeout=False)
        elif window < self.ssthresh:
            wanted = min(window + seen["growth"], self.ssthresh)
        else:
            wanted = self.avoid(window, seen["growth"])
        self._asked = wanted
        return _action(window, wanted, self.beta)

    def measure(self, seen: dict[str, float]) -> None:
        """Take note of a step."""

    def lose(self, window: float, *, timeout: bool) -> None:
        """Take note of a loss event at a window of this many packets."""

    def avoid(self, window: float, growth: float) -> float:
        """Give the next window of congestion avoidance, packets."""
        raise NotImplementedError


class Reno(_Law):
    """Reno (RFC 5681), a step at a time: a packet more per window acknowledged, half at a loss."""

    beta = 0.5

    def avoid(self, window: float, growth: float) -> float:
        """Grow by a packet per window.

        Parameters
        ----------
        window, growth : float
            Packets.

        Returns
        -------
        float
            Packets.
        """
        return window + growth / window


class Cubic(_Law):
    """CUBIC (RFC 9438) with its standard constants, a step at a time."""

    beta = 0.7
    scale = 0.4
    """C, packets per second cubed."""
    gain = 1 / 8
    """Of the smoothed RTT."""

    def __init__(self, ssthresh: float = math.inf) -> None:
        super().__init__(ssthresh)
        self._now_s = self._length_s = self._rtt_s = 0.0
        self._w_max = self._prior = 0.0
        self._epoch: tuple[float, float, float] | None = None
        self._friendly = 0.0

    def measure(self, seen: dict[str, float]) -> None:
        """Keep time, and smooth the RTT.

        Parameters
        ----------
        seen : dict
            What was observed.
        """
        self._length_s = seen["length_s"]
        self._now_s += self._length_s
        samples = seen["delivered"]
        kept = (1.0 - self.gain) ** samples if self._rtt_s else 0.0
        self._rtt_s = kept * self._rtt_s + (1.0 - kept) * seen["rtt_s"]

    def lose(self, window: float, *, timeout: bool) -> None:
        """Remember W_max, with fast convergence (section 4.7), none after a timeout (4.8).

        Parameters
        ----------
        window : float
            Before the loss event, packets.
        timeout : bool
            Whether it was a timeout.
        """
        converges = window < self._w_max
        lowered = window * (1.0 + self.beta) / 2.0 if converges else window
        self._w_max = 0.0 if timeout else lowered
        self._prior = window
        self._epoch = None

    def avoid(self, window: float, growth: float) -> float:
        """Follow the cubic, or Reno's window with the same decrease where that is larger.

        Parameters
        ----------
        window, growth : float
            Packets.

        Returns
        -------
        float
            Packets.
        """
        if growth == 0.0:
            return window
        if self._epoch is None:
            began = self._now_s - self._length_s
            above = max(self._w_max - window, 0.0)
            self._epoch = (began, math.cbrt(above / self.scale), max(self._w_max, window))
            self._friendly = window
        began, k, origin = self._epoch
        t = self._now_s - began
        alpha = 3.0 * (1.0 - self.beta) / (1.0 + self.beta)
        alpha = 1.0 if self._friendly >= self._prior else alpha
        self._friendly += alpha * growth / window
        if self.scale * (t - k) ** 3 + origin < self._friendly:
            return max(window, self._friendly)
        target = self.scale * (t + self._rtt_s - k) ** 3 + origin
        target = min(max(target, window), 1.5 * window)
        # Each acknowledgement closes 1/window of what is left to the target.
        return window + (target - window) * (1.0 - math.exp(-growth / window))


class Linear:
    """A law to be learned: the window follows the queueing delay, and a loss event keeps a share.

    ``action = (tanh(w0 + w1 ln(RTT / least RTT) + w2 [recovering]), logistic(w3))``

    Parameters
    ----------
    weights : array-like
        As many as `count`.

    Raises
    ------
    ValueError
        When there are more or fewer.
    """

    count: ClassVar[int] = 4
    """Number of weights."""

    def __init__(self, weights: ArrayLike) -> None:
        self.weights = np.asarray(weights, np.float64)
        if self.weights.shape != (self.count,):
            raise ValueError(f"weights: give {self.count} numbers")

    def __call__(self, observation: Observation) -> Action:
        """Choose the action.

        Parameters
        ----------
        observation : array
            Quantities along the last axis; any number of steps at once.

        Returns
        -------
        array
            For `WindowEnv.step`, or a row per place for `WindowVectorEnv.step`.
        """
        return self.of(self.weights, observation)

    def save(self, file: Path | str) -> None:
        """Keep the weights as JSON, whole or not at all.

        Parameters
        ----------
        file : Path or str
            Where to.

        Raises
        ------
        StorageError
            When it cannot be written.
        """
        text = json.dumps({"policy": "linear", "weights": self.weights.tolist()})
        with storage.new_file(Path(file)) as place:
            place.write_text(f"{text}\n", encoding="utf-8")

    @classmethod
    def load(cls, file: Path | str) -> Linear:
        """Read what `save` wrote.

        Parameters
        ----------
        file : Path or str
            Its file.

        Returns
        -------
        Linear
            The same policy, to the last bit.

        Raises
        ------
        ValueError
            When the file holds something else.
        OSError
            When it cannot be read.
        """
        try:
            found = json.loads(Path(file).read_text("utf-8"))
            weights = found["weights"]
            if found["policy"] != "linear" or not np.isfinite(np.asarray(weights, float)).all():
                raise ValueError("no finite weights")
            return cls(weights)
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise ValueError(f"{file} holds no policy that Linear.save wrote: {error}") from error

    @classmethod
    def of(cls, weights: NDArray[Any], observation: Observation) -> Action:
        """Choose actions by weights of their own for each observation.

        Parameters
        ----------
        weights, observation : array
            Weights and quantities along the last axes.

        Returns
        -------
        array
            As for a call.
        """
        rtt, least = (observation[..., QUANTITIES[name]] for name in ("rtt_s", "rtt_min_s"))
        recovering = observation[..., QUANTITIES["recovering"]]
        factor = weights[..., 0] + weights[..., 1] * np.log(rtt / least)
        factor = np.tanh(factor + weights[..., 2] * recovering)
        kept = np.broadcast_to(1.0 / (1.0 + np.exp(-weights[..., 3])), factor.shape)
        return np.stack([factor, kept], axis=-1).astype(np.float32)


UNSEEN = ("sent", "retransmitted")
"""What the sender counts and a control is not told."""


def control(policy: Policy, *, step_s: float | None = None) -> type[Control]:
    """Make a control of a policy, for scenarios, comparisons, and whatever else runs controls.

    Parameters
    ----------
    policy : callable
        From observations to actions; each flow has a copy. The quantities `UNSEEN` are NaN: a
        control is not told of them.
    step_s : float, optional
        Length of a step, seconds; by default one smoothed round trip. A step ends with the first
        acknowledgement after that.

    Returns
    -------
    type
        To be given to `ackclock.register`, or bound to a name in a module.
    """
    # Kept runs are known by what a control follows from: here by the policy, not by this file.
    try:
        followed = pickle.dumps((policy, step_s), 4)
    except (pickle.PicklingError, AttributeError, TypeError):
        # A function without a name of its own, whose code nobody can compare: never the same twice.
        followed = repr((policy, id(policy))).encode()

    class Acting(Control):
        """A policy, told what it would observe."""

        follows_from: ClassVar[bytes] = followed

        def __init__(self, start: Start) -> None:
            super().__init__(start)
            self._policy = copy.deepcopy(policy)
            self._seen = dict.fromkeys(QUANTITIES, 0.0) | dict.fromkeys(UNSEEN, math.nan)
            self._until_s = 0.0
            self._began_s: float | None = None
            self._smoothed_s = 0.0
            self._kept = 1.0
            self._rtts: list[float] = []

        def on_ack(self, ack: Ack) -> None:
            seen = self._seen
            seen["delivered"] += ack.delivered
            seen["growth"] += ack.growth
            seen["recovering"] = float(ack.recovering)
            seen["in_flight"] = ack.in_flight
            if ack.rtt_s is not None:
                self._rtts.append(ack.rtt_s)
                self._smoothed_s += (ack.rtt_s - self._smoothed_s) * (1 / 8 if self._smoothed_s else 1.0)
                least = seen["rtt_min_s"] or ack.rtt_s
                seen["rtt_min_s"] = min(least, ack.rtt_s)
            if self._smoothed_s and ack.now_s >= self._until_s:
                self._act(ack.now_s)

        def on_loss(self, loss: Loss) -> None:  # noqa: ARG002
            self._seen["loss_events"] += 1.0
            self._seen["recovering"] = 1.0
            self.window = max(self._kept * self.window, 2.0)

        def on_timeout(self, timeout: Timeout) -> None:  # noqa: ARG002
            self._seen["timeouts"] += 1.0
            self.window = 1.0

        def on_idle(self, now_s: float) -> None:
            """Keep the window, as the environment does."""

        def _act(self, now_s: float) -> None:
            seen = self._seen
            # The first step began when the flow did, a round trip ago.
            began = now_s - self._smoothed_s if self._began_s is None else self._began_s
            seen["length_s"], seen["window"] = now_s - began, self.window
            if self._rtts:
                seen["rtt_s"] = sum(self._rtts) / len(self._rtts)
            action = self._policy(np.array([seen[name] for name in QUANTITIES], np.float32))
            self.window = max(1.0, self.window * 2.0 ** float(action[0]))
            self._kept = float(action[1])
            for name in ("delivered", "growth", "loss_events", "timeouts"):
                seen[name] = 0.0
            self._rtts.clear()
            self._began_s = now_s
            self._until_s = now_s + (step_s or self._smoothed_s)

    return Acting
