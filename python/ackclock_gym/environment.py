"""The environments: one window on one path, or many beside each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ackclock import engine
from ackclock.engine.episodes import QUANTITIES, Episodes
from ackclock.sweeps import Plan

Observation = NDArray[np.float32]
Action = NDArray[np.float32]
Reward = Callable[[Observation], Any]
"""From observations, their quantities along the last axis, to a reward for each."""
Scenarios = engine.Given | Sequence[engine.Given] | Plan
"""A scenario, several, or a sweep, each of whose points is one."""

_WINDOW = QUANTITIES["window"]
_DELIVERED, _LENGTH_S, _RTT_S = (QUANTITIES[name] for name in ("delivered", "length_s", "rtt_s"))
MOST_RUNS = 2**31
"""Runs of a scenario that a reset chooses from."""


def log_power(observation: Observation) -> Any:
    """Give the logarithm of the power: throughput over delay.

    It is the objective ``log(throughput) - log(delay)`` with which Winstein and Balakrishnan train
    (SIGCOMM 2013, section 3.3, with alpha = beta = 1 and delta = 1). A fixed share of throughput
    gained and the same share of delay lost cancel, on a path of any rate.

    Parameters
    ----------
    observation : array
        Quantities along the last axis.

    Returns
    -------
    float or array
        ``ln(packets per second) - ln(RTT in seconds)``; a step in which nothing was delivered
        counts as if one packet had been.
    """
    if observation.ndim == 1:
        # Plain numbers take a tenth of the time of NumPy's, which matters in a step.
        item = observation.item
        return math.log((item(_DELIVERED) or 1.0) / (item(_LENGTH_S) * item(_RTT_S)))
    delivered, length_s = observation[..., _DELIVERED], observation[..., _LENGTH_S]
    return np.log(np.maximum(delivered, 1.0) / (length_s * observation[..., _RTT_S]))


def scenarios_of(given: Scenarios) -> list[engine.Scenario]:
    """Read what episodes are chosen from.

    Parameters
    ----------
    given : scenario, sequence of them, or Plan
        As an environment is given it.

    Returns
    -------
    list of Scenario
        At least one.

    Raises
    ------
    ScenarioError
        When one is refused.
    ValueError
        When there is none.
    """
    if isinstance(given, Plan):
        return [engine.read(given.scenario, settings=one.settings) for one in given.points]
    several = isinstance(given, Sequence) and not isinstance(given, str)
    found = [engine.read(one) for one in given] if several else [engine.read(given)]  # type: ignore[arg-type, union-attr]
    if not found:
        raise ValueError("give at least one scenario")
    return found


def _length_s(step: str) -> float:
    """Read the length of a step: seconds, 0 for a round trip."""
    if step == "rtt":
        return 0.0
    try:
        length_s = engine.quantity(step, "time_s")
    except ValueError as error:
        raise ValueError(f'step: {error}; or write "rtt" for one round trip') from None
    if length_s <= 0.0:
        raise ValueError('step: give a time above 0 such as "100 ms", or "rtt" for one round trip')
    return length_s


class _Paths:
    """What both environments are made of: scenarios, spaces, and how a step is taken."""

    def __init__(
        self, scenario: Scenarios, flow: int, step: str, reward: Reward, largest_window: float
    ) -> None:
        if not 2.0 <= largest_window < float("inf"):
            raise ValueError("largest_window: give packets, at least 2")
        self.scenarios = scenarios_of(scenario)
        self.flow = flow
        self.length_s = _length_s(step)
        self.reward = reward
        self.largest_window = largest_window
        many = (len(QUANTITIES),)
        self.observation_space = gymnasium.spaces.Box(0.0, np.inf, many, np.float32)
        least, most = np.array([-1.0, 0.0], np.float32), np.ones(2, np.float32)
        self.action_space = gymnasium.spaces.Box(least, most, dtype=np.float32)

    def start(
        self, episodes: Episodes, place: int, random: np.random.Generator, options: dict[str, Any] | None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode: scenario and run are drawn, unless `options` names them."""
        given = options or {}
        unknown = sorted(set(given) - {"scenario", "run"})
        if unknown:
            raise ValueError(f"unknown option {unknown[0]}; allowed: scenario, run")
        drawn = (int(random.integers(len(self.scenarios))), int(random.integers(MOST_RUNS)))
        which, run = given.get("scenario", drawn[0]), given.get("run", drawn[1])
        if not 0 <= which < len(self.scenarios):
            raise ValueError(f"there is no scenario {which} among {len(self.scenarios)}")
        row = episodes.start(place, self.scenarios[which], self.flow, run)
        return row, {"scenario": which, "run": run}


class WindowEnv(gymnasium.Env[Observation, Action]):
    """One flow of a scenario, whose congestion window the agent sets.

    **Action**: two numbers. The first, from -1 to 1, multiplies the window by ``2**action[0]``,
    between 1 packet and `largest_window`; it takes effect at the next acknowledgement. The second,
    from 0 to 1, is the share of the window that is kept when a loss event or an ECN mark comes
    within the step: a reaction that waited for the end of the step would come too late, because
    what is sent meanwhile is mostly lost as well. Loss recovery is the sender's, as the scenario
    sets it; a retransmission timeout sets the window to 1 packet.

    **Observation**: the quantities of `MEANINGS` over the step, in its order: packets and seconds.

    **Episode**: one run of a scenario, from the first RTT that the flow measures to the end of the
    run, where it is truncated; ``info["summary"]`` then is the summary of the run, as of
    `ackclock.simulate`. A reset draws scenario and run from its seed; ``options={"scenario": 0,
    "run": 3}`` names them.

    Parameters
    ----------
    scenario : scenario, sequence of them, or Plan
        What episodes are chosen from: as for `ackclock.simulate`, or `ackclock.sweeps.read`'s plan.
    flow : int
        Index of the flow; its own control is left out.
    step : str
        How long a step is: a time such as ``"100 ms"``, or ``"rtt"`` for the smoothed round trip.
        The last step of a run also takes the rest, less than one more.
    reward : callable
        From an observation to its reward; quantities are along the last axis.
    largest_window : float
        Packets.

    Raises
    ------
    ScenarioError
        When a scenario is refused.
    ValueError
        When another argument is.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenarios,
        *,
        flow: int = 0,
        step: str = "rtt",
        reward: Reward = log_power,
        largest_window: float = 1e5,
    ) -> None:
        self._paths = _Paths(scenario, flow, step, reward, largest_window)
        self.observation_space = self._paths.observation_space
        self.action_space = self._paths.action_space
        self._episodes = Episodes(1)
        self._action = np.ones((1, 2))
        self._observed = np.zeros((1, len(QUANTITIES)), np.float32)
        self._ended = np.zeros(1, np.bool_)
        self._asked, self._row = self._action[0], self._observed[0]
        self._window = float("nan")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            Of the generator that draws scenario and run; None goes on with the one before.
        options : dict, optional
            ``scenario`` (index) and ``run`` (number), each drawn when it is missing.

        Returns
        -------
        tuple
            What was observed until the first RTT, and which scenario and run it is.

        Raises
        ------
        SimulationError
            When the flow has no window, or measures no RTT.
        """
        super().reset(seed=seed)
        observation, info = self._paths.start(self._episodes, 0, self.np_random, options)
        self._window = float(observation[_WINDOW])
        return observation, info

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Set the window and let the step pass.

        Parameters
        ----------
        action : array
            The logarithm of the window's factor to the base 2, and the share kept at a loss event.

        Returns
        -------
        tuple
            Observation, reward, False, whether the run has ended, and at its end its summary.

        Raises
        ------
        ResetNeeded
            When no episode has begun.
        """
        if not self._window >= 1.0:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        paths, asked = self._paths, self._asked
        # In place of min and max: it takes a third of the time, and leaves NaN as it is.
        change = float(action[0])
        if change > 1.0:
            change = 1.0
        elif change < -1.0:
            change = -1.0
        window = self._window * 2.0**change
        if window < 1.0:
            window = 1.0
        elif window > paths.largest_window:
            window = paths.largest_window
        asked[0], asked[1] = window, action[1]
        self._episodes.step(self._action, paths.length_s, self._observed, self._ended)
        observation = self._row.copy()
        info = {}
        if ended := self._ended.item():
            info["summary"] = self._episodes.finish(0)
            self._window = float("nan")
        else:
            self._window = observation.item(_WINDOW)
        return observation, float(paths.reward(observation)), False, ended, info


class WindowVectorEnv(gymnasium.vector.VectorEnv[Observation, Action, NDArray[Any]]):
    """Many `WindowEnv` beside each other, advanced in one call, without a lock on Python.

    The next step after the end of an episode begins another one in its place and ignores the
    action (``AutoresetMode.NEXT_STEP``). With the seed ``s`` the place ``i`` has the episodes that
    a `WindowEnv` has with the seed ``s + i``.

    Parameters
    ----------
    scenario : scenario, sequence of them, or Plan
        As for `WindowEnv`.
    num_envs : int
        How many.
    **settings
        ``flow``, ``step``, ``reward`` and ``largest_window`` as for `WindowEnv`; the reward is
        called with all observations at once.

    Raises
    ------
    ScenarioError, ValueError
        As `WindowEnv`.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenarios,
        num_envs: int = 1,
        *,
        flow: int = 0,
        step: str = "rtt",
        reward: Reward = log_power,
        largest_window: float = 1e5,
    ) -> None:
        if num_envs < 1:
            raise ValueError("num_envs: give at least 1")
        self._paths = _Paths(scenario, flow, step, reward, largest_window)
        self.num_envs = num_envs
        self.single_observation_space = self._paths.observation_space
        self.single_action_space = self._paths.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._episodes = Episodes(num_envs)
        self._observed = np.zeros((num_envs, len(QUANTITIES)), np.float32)
        self._ended = np.zeros(num_envs, np.bool_)
        self._randoms: list[np.random.Generator] = []

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in every place.

        Parameters
        ----------
        seed : int or sequence, optional
            Of the first place, each further place having the next; or one per place.
        options : dict, optional
            As of `WindowEnv.reset`, for all places.

        Returns
        -------
        tuple
            Observations, a row per place, and arrays ``scenario`` and ``run``.
        """
        count = self.num_envs
        seeds = [None] * count if seed is None else seed
        each = [seeds + place for place in range(count)] if isinstance(seeds, int) else list(seeds)
        if len(each) != count:
            raise ValueError(f"seed: give one, or {count}")
        made = [gymnasium.utils.seeding.np_random(one)[0] for one in each]
        if self._randoms:
            kept = zip(made, self._randoms, each, strict=True)
            made = [old if one is None else new for new, old, one in kept]
        self._randoms = made
        self._ended[:] = False
        begun = [self._begin(place, options) for place in range(count)]
        info = {key: np.array([one[key] for one in begun]) for key in ("scenario", "run")}
        return self._observed.copy(), info

    def _begin(self, place: int, options: dict[str, Any] | None = None) -> dict[str, Any]:
        random = self._randoms[place]
        self._observed[place], info = self._paths.start(self._episodes, place, random, options)
        return info

    def step(
        self, actions: Action
    ) -> tuple[Observation, NDArray[Any], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Set all windows and let the step pass.

        Parameters
        ----------
        actions : array
            A row per place, as for `WindowEnv.step`.

        Returns
        -------
        tuple
            Observations, rewards, nothing but False, which runs have ended, and no more.

        Raises
        ------
        ResetNeeded
            When no episode has begun.
        """
        if not self._randoms:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        again = np.flatnonzero(self._ended)
        given = np.array(actions, np.float64)
        windows = given[:, 0]
        windows[:] = self._observed[:, _WINDOW] * np.exp2(np.clip(windows, -1.0, 1.0))
        np.clip(windows, 1.0, self._paths.largest_window, out=windows)
        self._episodes.step(given, self._paths.length_s, self._observed, self._ended)
        for place in again:
            self._begin(int(place))
            self._ended[place] = False
        rewards = np.asarray(self._paths.reward(self._observed), np.float64)
        rewards[again] = 0.0
        ended = self._ended.copy()
        return self._observed.copy(), rewards, np.zeros_like(ended), ended, {}
