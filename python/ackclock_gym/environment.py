"""The environments: one window on one path, or many next to each other."""

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
"""A function from observations, with their quantities along the last axis, to a reward for each."""
Scenarios = engine.Given | Sequence[engine.Given] | Plan
"""A scenario, several, or a sweep, each point of which is a scenario."""

_WINDOW = QUANTITIES["window"]
_DELIVERED, _LENGTH_S, _RTT_S = (QUANTITIES[name] for name in ("delivered", "length_s", "rtt_s"))
MOST_RUNS = 2**31
"""The number of runs of a scenario that a reset chooses from."""


def log_power(observation: Observation) -> Any:
    """Return the logarithm of the power: throughput over delay.

    It is the objective ``log(throughput) - log(delay)`` with which Winstein and Balakrishnan train
    (SIGCOMM 2013, section 3.3, with alpha = beta = 1 and delta = 1). A fixed share of throughput
    gained and the same share of delay lost cancel, on a path of any rate.

    Parameters
    ----------
    observation : array
        Observations with their quantities along the last axis.

    Returns
    -------
    float or array
        ``ln(packets per second) - ln(RTT in seconds)``; a step without delivery counts as if one
        packet had been delivered.
    """
    if observation.ndim == 1:
        # Python's numbers take a tenth of the time of NumPy's, which matters in a step.
        item = observation.item
        return math.log((item(_DELIVERED) or 1.0) / (item(_LENGTH_S) * item(_RTT_S)))
    delivered, length_s = observation[..., _DELIVERED], observation[..., _LENGTH_S]
    return np.log(np.maximum(delivered, 1.0) / (length_s * observation[..., _RTT_S]))


def scenarios_of(given: Scenarios) -> list[engine.Scenario]:
    """Read the scenarios that episodes are chosen from, at least one."""
    if isinstance(given, Plan):
        return [engine.read(given.scenario, settings=point.settings) for point in given.points]
    several = isinstance(given, Sequence) and not isinstance(given, str)
    scenarios = [engine.read(source) for source in given] if several else [engine.read(given)]  # type: ignore[arg-type, union-attr]
    if not scenarios:
        raise ValueError("scenario: must be at least one, is an empty list")
    return scenarios


def _length_s(step: str) -> float:
    """Read the length of a step in seconds, 0 for a round trip."""
    if step == "rtt":
        return 0.0
    try:
        length_s = engine.quantity(step, "time_s")
    except ValueError as error:
        raise ValueError(f'step: {error}; or write "rtt" for one round trip') from None
    if length_s <= 0.0:
        raise ValueError('step: must be a time above 0 such as "100 ms", or "rtt" for one round trip')
    return length_s


class _Paths:
    """The scenarios, spaces and options that both environments share."""

    def __init__(
        self, scenario: Scenarios, flow: int, step: str, reward: Reward, largest_window: float
    ) -> None:
        if not 2.0 <= largest_window < float("inf"):
            raise ValueError(f"largest_window: must be at least 2 packets, is {largest_window:g}")
        self.scenarios = scenarios_of(scenario)
        self.flow = flow
        self.length_s = _length_s(step)
        self.reward = reward
        self.largest_window = largest_window
        shape = (len(QUANTITIES),)
        self.observation_space = gymnasium.spaces.Box(0.0, np.inf, shape, np.float32)
        least, most = np.array([-1.0, 0.0], np.float32), np.ones(2, np.float32)
        self.action_space = gymnasium.spaces.Box(least, most, dtype=np.float32)

    def start(
        self, episodes: Episodes, place: int, random: np.random.Generator, options: dict[str, Any] | None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; scenario and run are drawn unless `options` names them."""
        given = options or {}
        unknown = sorted(set(given) - {"scenario", "run"})
        if unknown:
            raise ValueError(f"unknown option {unknown[0]}; allowed: scenario, run")
        drawn = (int(random.integers(len(self.scenarios))), int(random.integers(MOST_RUNS)))
        index, run = given.get("scenario", drawn[0]), given.get("run", drawn[1])
        if not 0 <= index < len(self.scenarios):
            raise ValueError(f"unknown scenario {index}: there are {len(self.scenarios)}")
        row = episodes.start(place, self.scenarios[index], self.flow, run)
        return np.array(row, np.float32), {"scenario": index, "run": run}


class WindowEnv(gymnasium.Env[Observation, Action]):
    """One flow of a scenario, whose congestion window the agent sets.

    **Action**: two numbers. The first, from -1 to 1, multiplies the window by ``2**action[0]``,
    between 1 packet and `largest_window`; it takes effect at the next acknowledgement. The second,
    from 0 to 1, is the share of the window that is kept at a loss event or an ECN mark within the
    step: a reaction at the end of the step would be too late, because most packets sent in the
    meantime are lost as well. The sender recovers from losses as the scenario says; a retransmission
    timeout sets the window to 1 packet.

    **Observation**: the quantities of `MEANINGS` over the step, in its order: packets and seconds.

    **Episode**: one run of a scenario, from the first RTT that the flow measures to the end of the
    run, where it is truncated; ``info["summary"]`` then is the summary of the run, as in
    `ackclock.simulate`. A reset draws scenario and run from its seed; ``options={"scenario": 0,
    "run": 3}`` selects them.

    Parameters
    ----------
    scenario : scenario, sequence of them, or Plan
        The scenarios that episodes are chosen from, as for `ackclock.simulate`, or a plan as returned
        by `ackclock.sweeps.read`.
    flow : int
        Index of the flow; the agent replaces its control.
    step : str
        Length of a step: a time such as ``"100 ms"``, or ``"rtt"`` for the smoothed round trip. The
        last step of a run is up to twice as long.
    reward : callable
        Function from an observation to its reward; quantities are along the last axis.
    largest_window : float
        Largest window that an action can set, packets.

    Raises
    ------
    ScenarioError
        When a scenario is refused.
    ValueError
        When another argument is refused.
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
        self._request, self._row = self._action[0], self._observed[0]
        self._window = float("nan")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            Seed of the generator that draws scenario and run; None continues the previous one.
        options : dict, optional
            ``scenario`` (index) and ``run`` (number), each drawn when it is missing.

        Returns
        -------
        tuple
            The observation until the first RTT, and a dict with the scenario and the run.

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
            Observation, reward, False, whether the run has ended, and its summary at the end.

        Raises
        ------
        ResetNeeded
            When no episode has started.
        """
        if not self._window >= 1.0:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        paths, request = self._paths, self._request
        # Instead of min and max: it takes a third of the time, and leaves NaN as it is.
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
        request[0], request[1] = window, action[1]
        [ended] = self._episodes.step(self._action, paths.length_s, self._observed)
        observation = self._row.copy()
        info = {}
        if ended:
            info["summary"] = self._episodes.finish(0)
            self._window = float("nan")
        else:
            self._window = observation.item(_WINDOW)
        return observation, float(paths.reward(observation)), False, ended, info


class WindowVectorEnv(gymnasium.vector.VectorEnv[Observation, Action, NDArray[Any]]):
    """Many `WindowEnv` next to each other, advanced in one call, without a lock on Python.

    The step after the end of an episode starts the next one in its place and ignores the action
    (``AutoresetMode.NEXT_STEP``). With the seed ``s`` the place ``i`` has the episodes that a
    `WindowEnv` has with the seed ``s + i``.

    Parameters
    ----------
    scenario : scenario, sequence of them, or Plan
        The same as for `WindowEnv`.
    num_envs : int
        Number of environments, at least 1.
    **settings
        ``flow``, ``step``, ``reward`` and ``largest_window`` as for `WindowEnv`; the reward is
        called with all observations at once.

    Raises
    ------
    ScenarioError, ValueError
        The same as for `WindowEnv`.
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
            raise ValueError(f"num_envs: must be at least 1, is {num_envs}")
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
            Seed of the first place, with the next seed for each further place; or a seed per place.
        options : dict, optional
            The same as for `WindowEnv.reset`, for all places.

        Returns
        -------
        tuple
            Observations, a row per place, and a dict with the arrays ``scenario`` and ``run``.
        """
        count = self.num_envs
        seeds = [None] * count if seed is None else seed
        each = [seeds + index for index in range(count)] if isinstance(seeds, int) else list(seeds)
        if len(each) != count:
            raise ValueError(f"seed: must be one seed or {count} seeds, is {len(each)}")
        randoms = [gymnasium.utils.seeding.np_random(value)[0] for value in each]
        if self._randoms:
            pairs = zip(randoms, self._randoms, each, strict=True)
            randoms = [old if value is None else new for new, old, value in pairs]
        self._randoms = randoms
        self._ended[:] = False
        infos = [self._begin(index, options) for index in range(count)]
        return self._observed.copy(), {key: np.array([info[key] for info in infos]) for key in infos[0]}

    def _begin(self, index: int, options: dict[str, Any] | None = None) -> dict[str, Any]:
        random = self._randoms[index]
        self._observed[index], info = self._paths.start(self._episodes, index, random, options)
        return info

    def step(
        self, actions: Action
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Set all windows and let the step pass.

        Parameters
        ----------
        actions : array
            The actions of `WindowEnv.step`, a row per place.

        Returns
        -------
        tuple
            Observations, rewards, an array of False, whether each run has ended, and an empty dict.

        Raises
        ------
        ResetNeeded
            When no episode has started.
        """
        if not self._randoms:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        finished = np.flatnonzero(self._ended)
        commands = np.array(actions, np.float64)
        windows = commands[:, 0]
        windows[:] = self._observed[:, _WINDOW] * np.exp2(np.clip(windows, -1.0, 1.0))
        np.clip(windows, 1.0, self._paths.largest_window, out=windows)
        self._ended[:] = self._episodes.step(commands, self._paths.length_s, self._observed)
        for index in finished:
            self._begin(int(index))
            self._ended[index] = False
        rewards = np.asarray(self._paths.reward(self._observed), np.float64)
        rewards[finished] = 0.0
        ended = self._ended.copy()
        return self._observed.copy(), rewards, np.zeros_like(ended), ended, {}
