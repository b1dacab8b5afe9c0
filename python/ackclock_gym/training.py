"""A policy trained by CMA-ES: no gradients, a handful of weights, minutes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ackclock.runs.imports import import_whole
from ackclock_gym.environment import Reward, Scenarios, WindowVectorEnv, log_power, scenarios_of
from ackclock_gym.policies import Linear


@dataclass(frozen=True)
class Trained:
    """The result of a training.

    Attributes
    ----------
    policy : Linear
        The mean of the last generation.
    rewards : tuple of float
        Mean reward of the best candidate of each generation, in order.
    steps : int
        Number of steps that were simulated.
    """

    policy: Linear
    rewards: tuple[float, ...]
    steps: int


def train(
    scenario: Scenarios,
    *,
    flow: int = 0,
    step: str = "rtt",
    reward: Reward = log_power,
    generations: int = 40,
    population: int = 16,
    seed: int = 1,
) -> Trained:
    """Train a `Linear` policy by CMA-ES (Hansen, arXiv:1604.00772).

    All candidates of a generation run next to each other on the same scenarios with the same random
    streams, so that they differ by their weights alone; each generation has another run.

    Parameters
    ----------
    scenario, flow, step, reward
        The same as for `WindowEnv`; a generation runs every scenario once.
    generations, population : int
        Number of generations, and of candidates in each.
    seed : int
        Seed of CMA-ES, at least 1: the same arguments produce the same weights.

    Returns
    -------
    Trained
        The policy, with the rewards of all generations.

    Raises
    ------
    ModuleNotFoundError
        When `cma` is not installed.
    ValueError
        When a number is out of range.
    """
    try:
        cma = import_whole("cma")
    except ModuleNotFoundError as error:
        message = "training needs cma: pip install cma"
        raise ModuleNotFoundError(message, name=error.name) from None
    if generations < 1 or population < 4 or seed < 1:
        raise ValueError("need at least 1 generation, a population of 4 and a seed of 1")
    scenarios = scenarios_of(scenario)
    environment = WindowVectorEnv(scenarios, population, flow=flow, step=step, reward=reward)
    # At first the window stays as it is; weights of about 1 use the whole range of the action.
    settings = {"popsize": population, "seed": seed, "verbose": -9}
    search = cma.CMAEvolutionStrategy(np.zeros(Linear.count), 1.0, settings)
    best, steps = [], 0
    for run in range(generations):
        weights = np.array(search.ask())
        total = np.zeros(population)
        for index in range(len(scenarios)):
            rewards, count = _episode(environment, weights, {"scenario": index, "run": run})
            total += rewards
            steps += count
        search.tell(list(weights), list(-total))
        best.append(float(total.max()) / len(scenarios))
    return Trained(Linear(search.result.xfavorite), tuple(best), steps)


def _episode(
    environment: WindowVectorEnv, weights: np.ndarray, options: dict[str, int]
) -> tuple[np.ndarray, int]:
    """Return the mean reward per step of each candidate, and the number of steps."""
    observation, _ = environment.reset(seed=0, options=options)
    running = np.ones(environment.num_envs, np.bool_)
    total, count = np.zeros(environment.num_envs), np.zeros(environment.num_envs, np.int64)
    while running.any():
        actions = Linear.of(weights, observation)
        observation, rewards, _, ended, _ = environment.step(actions)
        total[running] += rewards[running]
        count += running
        running &= ~ended
    return total / count, int(count.sum())
