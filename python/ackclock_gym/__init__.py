"""Learning to control: Gymnasium environments over the packet simulator, policies, training.

It needs Gymnasium, and CMA-ES for training: ``pip install gymnasium cma``.

>>> import ackclock
>>> import ackclock_gym
>>> path = ackclock.dumbbell(rate="10 Mbit/s", delay="20 ms", queue="50 packets")
>>> scenario = ackclock.scenario(path, ackclock.flow("reno", rtt="100 ms"), duration="30 s")
>>> environment = ackclock_gym.WindowEnv(scenario, step="100 ms")
>>> observation, info = environment.reset(seed=1)
>>> reno = ackclock_gym.Reno()
>>> observation, reward, terminated, truncated, info = environment.step(reno(observation))
>>> round(float(observation[ackclock_gym.QUANTITIES["length_s"]]), 6)
0.1
"""

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "ackclock_gym needs gymnasium: pip install gymnasium", name=error.name
    ) from None

from ackclock.engine.episodes import MEANINGS, QUANTITIES
from ackclock_gym.environment import WindowEnv, WindowVectorEnv, log_power
from ackclock_gym.policies import Cubic, Linear, Policy, Reno, control
from ackclock_gym.training import Trained, train

__all__ = [
    "MEANINGS",
    "QUANTITIES",
    "Cubic",
    "Linear",
    "Policy",
    "Reno",
    "Trained",
    "WindowEnv",
    "WindowVectorEnv",
    "control",
    "log_power",
    "train",
]

gymnasium.register(
    "ackclock/Window-v0",
    entry_point="ackclock_gym:WindowEnv",
    vector_entry_point="ackclock_gym:WindowVectorEnv",
)
