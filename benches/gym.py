"""Steps per second of the learning environments: one flow at 10 Mbit/s, steps of 100 ms."""

import math
import os
import time

import numpy as np

import ackclock
import ackclock_gym

PLACES = 64
STEPS = 2000


def scenario() -> ackclock.Scenario:
    """Return the path, which carries 125 packets of 1000 bytes in a step."""
    return ackclock.scenario(
        ackclock.dumbbell(rate="10 Mbit/s", delay="20 ms", queue="60 packets"),
        ackclock.flow("reno", rtt="100 ms"),
        duration="200 s",
    )


def vector() -> float:
    """Return the steps per second of CPU time of many environments advanced together."""
    environment = ackclock_gym.WindowVectorEnv(scenario(), PLACES, step="100 ms")
    observation, _ = environment.reset(seed=1)
    # The window stays near the path's capacity, so that every step carries as much as it can.
    actions = np.zeros((PLACES, 2), np.float32)
    actions[:, 1] = 0.7
    before = time.process_time()
    for _ in range(STEPS // 10):
        actions[:, 0] = np.clip(np.log2(150.0 / observation[:, 1]), -1.0, 1.0)
        observation, *_ = environment.step(actions)
    return PLACES * (STEPS // 10) / (time.process_time() - before)


def single() -> float:
    """Return the same for one environment."""
    environment = ackclock_gym.WindowEnv(scenario(), step="100 ms")
    observation, _ = environment.reset(seed=1)
    action = np.array([0.0, 0.7], np.float32)
    count, before, ended = 0, time.process_time(), False
    while not ended and count < STEPS:
        action[0] = math.log2(150.0 / observation.item(1))
        observation, _, _, ended, _ = environment.step(action)
        count += 1
    return count / (time.process_time() - before)


def engine() -> float:
    """Return the same for the engine alone: a whole run, under a constant window."""
    run = scenario()
    run["flow"] = [ackclock.flow("constant", rtt="100 ms", params={"window": 150})]
    checked = ackclock.engine.read(run)
    before = time.process_time()
    for number in range(6):
        ackclock.engine.summary(checked, run=number)
    return 6 * STEPS / (time.process_time() - before)


if __name__ == "__main__":
    print(f"load average {os.getloadavg()[0]:.1f}; steps per second of CPU time, one core")
    print(f"{PLACES} together: {max(vector() for _ in range(5)):,.0f}")
    print(f"the engine alone: {max(engine() for _ in range(5)):,.0f}")
    print(f"one: {max(single() for _ in range(5)):,.0f}")
