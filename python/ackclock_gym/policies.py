"""Policies: Reno and CUBIC step by step, a law to be learned, and a policy as a control.

Reno and CUBIC validate the environment: with them it must produce the windows of the built-in
controls.
"""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ackclock.engine import storage
from ackclock.engine.controls import Ack, Control, Loss, Start, Timeout
from ackclock.engine.episodes import QUANTITIES
from ackclock_gym.environment import Action, Observation


class Policy(Protocol):
    """A policy, called once per step of an episode, and copied for every flow that it controls."""

    def __call__(self, observation: Observation) -> Action:
        """Choose the action of `WindowEnv` for an observation."""


def _action(window: float, wanted: float, kept: float) -> Action:
    """Return the action that turns a window into another, packets, as far as a step may change it."""
    factor = math.log2(max(wanted, 1.0) / window)
    return np.array([min(max(factor, -1.0), 1.0), kept], np.float32)


class _Law:
    """Slow start and the reactions to loss that Reno and CUBIC share.

    At the end of a step slow start grows by all packets acknowledged in it, in one burst, and so
    overshoots a queue by more than the built-in controls, which grow packet by packet.

    Parameters
    ----------
    ssthresh : float
        Initial slow-start threshold, packets: the scenario's ``initial_ssthresh``.
    """

    beta: ClassVar[float]

    def __init__(self, ssthresh: float = math.inf) -> None:
        self.ssthresh = ssthresh
        self._target = 0.0

    def __call__(self, observation: Observation) -> Action:
        """Choose the action for an observation.

        Parameters
        ----------
        observation : array
            The observation of a step of at most a round trip, in which slow start doubles the window.

        Returns
        -------
        array
            The action for `WindowEnv.step`.
        """
        observed = {name: float(observation[column]) for name, column in QUANTITIES.items()}
        window = observed["window"]
        self.measure(observed)
        wanted = window
        # The window before the environment lowered it.
        before = max(self._target, window)
        if observed["timeouts"]:
            self.ssthresh = max(2.0, self.beta * before)
            self.lose(before, timeout=True)
        elif observed["loss_events"]:
            self.ssthresh = window
            self.lose(before, timeout=False)
        elif window < self.ssthresh:
            wanted = min(window + observed["growth"], self.ssthresh)
        else:
            wanted = self.avoid(window, observed["growth"])
        self._target = wanted
        return _action(window, wanted, self.beta)

    def measure(self, observed: dict[str, float]) -> None:
        """Record the quantities of a step."""

    def lose(self, window: float, *, timeout: bool) -> None:
        """Record a loss event at a window of this many packets."""

    def avoid(self, window: float, growth: float) -> float:
        """Return the next window of congestion avoidance, packets."""
        raise NotImplementedError


class Reno(_Law):
    """Reno (RFC 5681), step by step: a packet more per window acknowledged, half at a loss."""

    beta = 0.5

    def avoid(self, window: float, growth: float) -> float:
        """Return the window after a growth of a packet per window, packets."""
        return window + growth / window


class Cubic(_Law):
    """CUBIC (RFC 9438) with its standard constants, step by step."""

    beta = 0.7
    scale = 0.4
    """C, packets per second cubed."""
    gain = 1 / 8
    """Weight of a sample in the smoothed RTT."""

    def __init__(self, ssthresh: float = math.inf) -> None:
        super().__init__(ssthresh)
        self._now_s = self._length_s = self._rtt_s = 0.0
        self._w_max = self._prior = 0.0
        self._epoch: tuple[float, float, float] | None = None
        self._friendly = 0.0

    def measure(self, observed: dict[str, float]) -> None:
        """Advance the time, and smooth the RTT."""
        self._length_s = observed["length_s"]
        self._now_s += self._length_s
        samples = observed["delivered"]
        kept = (1.0 - self.gain) ** samples if self._rtt_s else 0.0
        self._rtt_s = kept * self._rtt_s + (1.0 - kept) * observed["rtt_s"]

    def lose(self, window: float, *, timeout: bool) -> None:
        """Set W_max from the window before a loss event (packets), with fast convergence (section 4.7).

        After a timeout there is no W_max (section 4.8).
        """
        converges = window < self._w_max
        lowered = window * (1.0 + self.beta) / 2.0 if converges else window
        self._w_max = 0.0 if timeout else lowered
        self._prior = window
        self._epoch = None

    def avoid(self, window: float, growth: float) -> float:
        """Return the window on the cubic, or Reno's with the same decrease if that is larger, packets."""
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
        # Each acknowledgement closes 1/window of the distance to the target.
        return window + (target - window) * (1.0 - math.exp(-growth / window))


class Linear:
    """A law to be learned: the window follows the queueing delay, and a loss event keeps a share.

    ``action = (tanh(w0 + w1 ln(RTT / least RTT) + w2 [recovering]), logistic(w3))``

    Parameters
    ----------
    weights : array-like
        The weights w0 to w3, `count` numbers.

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
            raise ValueError(f"weights: must be {self.count} numbers, is {self.weights.size}")

    def __call__(self, observation: Observation) -> Action:
        """Choose the action.

        Parameters
        ----------
        observation : array
            Observations with their quantities along the last axis; any number of steps at once.

        Returns
        -------
        array
            The action for `WindowEnv.step`, or a row per place for `WindowVectorEnv.step`.
        """
        return self.of(self.weights, observation)

    def save(self, file: Path | str) -> None:
        """Write the weights as JSON, whole or not at all.

        Parameters
        ----------
        file : Path or str
            Path of the new file.

        Raises
        ------
        StorageError
            When it cannot be written.
        """
        text = json.dumps({"policy": "linear", "weights": self.weights.tolist()})
        storage.write_text(Path(file), f"{text}\n")

    @classmethod
    def load(cls, file: Path | str) -> Linear:
        """Read the weights that `save` wrote.

        Parameters
        ----------
        file : Path or str
            Path of the file.

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
            policy = json.loads(Path(file).read_text("utf-8"))
            weights = policy["weights"]
            if policy["policy"] != "linear" or not np.isfinite(np.asarray(weights, float)).all():
                raise ValueError("no finite weights")
            return cls(weights)
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise ValueError(f"{file} is not a policy that Linear.save wrote: {error}") from error

    @classmethod
    def of(cls, weights: NDArray[np.float64], observation: Observation) -> Action:
        """Choose actions with separate weights for each observation.

        Parameters
        ----------
        weights, observation : array
            Weights and quantities along the last axes.

        Returns
        -------
        array
            An action per observation.
        """
        rtt, least = (observation[..., QUANTITIES[name]] for name in ("rtt_s", "rtt_min_s"))
        recovering = observation[..., QUANTITIES["recovering"]]
        factor = weights[..., 0] + weights[..., 1] * np.log(rtt / least)
        factor = np.tanh(factor + weights[..., 2] * recovering)
        kept = np.broadcast_to(1.0 / (1.0 + np.exp(-weights[..., 3])), factor.shape)
        return np.stack([factor, kept], axis=-1).astype(np.float32)


UNSEEN = ("sent", "retransmitted")
"""Quantities that the sender counts and does not report to a control."""


def control(policy: Policy, *, step_s: float | None = None) -> type[Control]:
    """Turn a policy into a control for scenarios, comparisons and everything else that runs controls.

    Parameters
    ----------
    policy : callable
        Function from observations to actions; each flow has a copy. The quantities `UNSEEN` are NaN,
        because they are not reported to a control.
    step_s : float, optional
        Length of a step, seconds; by default one smoothed round trip. A step ends with the first
        acknowledgement after that.

    Returns
    -------
    type
        The class of the control, for `ackclock.register` or a name in a module.
    """
    # The key of a cached run contains the source of its control: here the policy, not this file.
    try:
        followed = pickle.dumps((policy, step_s), 4)
    except (pickle.PicklingError, AttributeError, TypeError):
        # The code of a function without a name cannot be compared: it is never the same twice.
        followed = repr((policy, id(policy))).encode()

    class Acting(Control):
        """A control that calls the policy with its observations."""

        follows_from: ClassVar[bytes] = followed

        def __init__(self, start: Start) -> None:
            super().__init__(start)
            self._policy = copy.deepcopy(policy)
            self._observed = dict.fromkeys(QUANTITIES, 0.0) | dict.fromkeys(UNSEEN, math.nan)
            self._until_s = 0.0
            self._began_s: float | None = None
            self._smoothed_s = 0.0
            self._kept = 1.0
            self._rtts: list[float] = []

        def on_ack(self, ack: Ack) -> None:
            observed = self._observed
            observed["delivered"] += ack.delivered
            observed["growth"] += ack.growth
            observed["recovering"] = float(ack.recovering)
            observed["in_flight"] = ack.in_flight
            if ack.rtt_s is not None:
                self._rtts.append(ack.rtt_s)
                self._smoothed_s += (ack.rtt_s - self._smoothed_s) * (1 / 8 if self._smoothed_s else 1.0)
                least = observed["rtt_min_s"] or ack.rtt_s
                observed["rtt_min_s"] = min(least, ack.rtt_s)
            if self._smoothed_s and ack.now_s >= self._until_s:
                self._act(ack.now_s)

        def on_loss(self, loss: Loss) -> None:  # noqa: ARG002
            self._observed["loss_events"] += 1.0
            self._observed["recovering"] = 1.0
            self.window = max(self._kept * self.window, 2.0)

        def on_timeout(self, timeout: Timeout) -> None:  # noqa: ARG002
            self._observed["timeouts"] += 1.0
            self.window = 1.0

        def on_idle(self, now_s: float) -> None:
            """Keep the window, like the environment."""

        def _act(self, now_s: float) -> None:
            observed = self._observed
            # The first step began with the flow, a round trip ago.
            began = now_s - self._smoothed_s if self._began_s is None else self._began_s
            observed["length_s"], observed["window"] = now_s - began, self.window
            if self._rtts:
                observed["rtt_s"] = sum(self._rtts) / len(self._rtts)
            action = self._policy(np.array([observed[name] for name in QUANTITIES], np.float32))
            self.window = max(1.0, self.window * 2.0 ** float(action[0]))
            self._kept = float(action[1])
            for name in ("delivered", "growth", "loss_events", "timeouts"):
                observed[name] = 0.0
            self._rtts.clear()
            self._began_s = now_s
            self._until_s = now_s + (step_s or self._smoothed_s)

    return Acting
