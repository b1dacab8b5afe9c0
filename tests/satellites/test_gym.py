"""The environments: Gymnasium's own checks, the built-in controls, and counts of the run itself."""

import math
import re
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import ackclock
import ackclock_gym
from ackclock.engine import controls
from ackclock_gym import QUANTITIES, Cubic, Linear, Reno, WindowEnv, WindowVectorEnv


def path(control="reno", *, rate="10 Mbit/s", rtt="100 ms", queue="60 packets", **more):
    flow = more.pop("flow", {})
    duration = more.pop("duration", "60 s")
    return ackclock.scenario(
        ackclock.dumbbell(rate=rate, delay="10 ms", queue=queue, **more),
        ackclock.flow(control, rtt=rtt, recovery="sack", **flow),
        warmup="15 s" if duration == "60 s" else None,
        duration=duration,
        # An ACK per packet, two packets at first, no handshake: the arithmetic below is about single steps.
        tcp={"profile": "ns2", "handshake": False},
    )


def play(environment, policy, **options):
    """Play one episode; return the observations, a row per step, the rewards, and the run's summary."""
    observation, _ = environment.reset(seed=3, options=options)
    rows, rewards, ended = [observation], [], False
    while not ended:
        observation, reward, terminated, ended, info = environment.step(policy(observation))
        assert not terminated
        rows.append(observation)
        rewards.append(reward)
    return np.array(rows), np.array(rewards), info["summary"]


def column(rows, name):
    return rows[:, QUANTITIES[name]]


@pytest.mark.parametrize("step", ["rtt", "100 ms", "20 ms"])
def test_gymnasium_finds_no_fault(step):
    check_env(WindowEnv(path(duration="3 s"), step=step), skip_render_check=True)


# A policy grows at the end of a step by what was acknowledged in it, so that its window lags behind
# by a step; the environment promises 5 %. Slow start ends below the capacity of the path: if it
# overshoots, bursts decide the first cycle, which lasts half a minute with a deep queue.
@pytest.mark.parametrize("step", ["rtt", "100 ms", "50 ms"])
@pytest.mark.parametrize(("name", "policy"), [("reno", Reno), ("cubic", Cubic)], ids=["reno", "cubic"])
@pytest.mark.parametrize(
    "settings",
    [
        {"queue": "60 packets"},
        {"queue": "200 packets"},
        {"rate": "40 Mbit/s", "queue": "250 packets"},
        {"loss": {"kind": "periodic", "every": 2000}},
    ],
    ids=["half a product", "deep", "fast", "periodic loss"],
)
def test_policies_give_the_windows_of_the_built_in_controls(name, policy, step, settings):
    scenario = path(name, flow={"initial_ssthresh": 50}, **settings)
    (expected,) = ackclock.simulate(scenario, record=False).summary["flows"]
    _, _, summary = play(WindowEnv(scenario, step=step), policy(ssthresh=50), run=0)
    (flow,) = summary["flows"]
    assert flow["mean_window"] == pytest.approx(expected["mean_window"], rel=0.05)
    assert flow["goodput_mbps"] == pytest.approx(expected["goodput_mbps"], rel=0.05)


def test_observations_add_up_to_the_counts_of_the_run():
    scenario = path(loss={"kind": "bernoulli", "rate": "1 %"}, duration="10 s")
    rows, rewards, summary = play(WindowEnv(scenario, step="70 ms"), Reno(), run=5)
    counted = summary["flows"][0]["whole_run"]
    assert column(rows, "length_s").sum() == pytest.approx(10.0, rel=1e-5)
    assert column(rows, "sent").sum() == counted["sent_packets"]
    assert column(rows, "retransmitted").sum() == counted["retransmitted_packets"] > 0
    assert column(rows, "loss_events").sum() == counted["loss_events"] > 0
    assert column(rows, "timeouts").sum() == counted["timeouts"]
    # Every packet that is neither lost nor in the network was delivered once.
    lost = counted["dropped_packets"]
    assert column(rows, "delivered").sum() <= counted["sent_packets"] - lost
    # 100 ms of propagation and 0.8 ms for 1000 bytes at 10 Mbit/s.
    assert np.all(column(rows, "rtt_s") >= 0.1008 - 1e-6)
    assert column(rows, "rtt_min_s")[-1] == pytest.approx(0.1008, rel=0.01)
    power = np.log(np.maximum(column(rows, "delivered"), 1) / column(rows, "length_s"))
    assert rewards == pytest.approx((power - np.log(column(rows, "rtt_s")))[1:], rel=1e-4)


def test_a_window_stays_as_it_was_set():
    environment = WindowEnv(path(duration="5 s"), step="rtt")
    environment.reset(seed=1)
    windows = [environment.step(np.array([a, 0.5], np.float32))[0][1] for a in (1.0, 1.0, 0.0, -1.0)]
    # The initial window is 2 packets.
    assert windows == [4.0, 8.0, 8.0, 4.0]
    # With 4 packets per round trip of 100.8 ms nothing queues.
    observation, *_ = environment.step(np.zeros(2, np.float32))
    assert observation[QUANTITIES["delivered"]] == pytest.approx(4, abs=1)


def test_places_of_a_vector_are_environments_of_their_own():
    scenarios = [path(duration="2 s"), path(rtt="40 ms", duration="2 s")]
    vector = WindowVectorEnv(scenarios, 3, step="50 ms")
    rows, _ = vector.reset(seed=10)
    singles = [WindowEnv(scenarios, step="50 ms") for _ in range(3)]
    alone = [single.reset(seed=10 + place)[0] for place, single in enumerate(singles)]
    assert np.array_equal(rows, alone)
    random, waiting = np.random.default_rng(1), [False] * 3
    for _ in range(100):
        actions = random.uniform((-1, 0), (1, 1), (3, 2)).astype(np.float32)
        rows, rewards, _, ended, _ = vector.step(actions)
        for place, single in enumerate(singles):
            if waiting[place]:
                row, reward, truncated = single.reset()[0], 0.0, False
            else:
                row, reward, _, truncated, _ = single.step(actions[place])
            waiting[place] = truncated
            assert np.array_equal(rows[place], row)
            assert (rewards[place], ended[place]) == (pytest.approx(reward), truncated)


def test_the_names_that_gymnasium_knows():
    name = "ackclock_gym:ackclock/Window-v0"
    with gymnasium.make(name, scenario=path(duration="1 s")) as environment:
        assert environment.reset(seed=1)[1]["scenario"] == 0
    vector = gymnasium.make_vec("ackclock/Window-v0", num_envs=2, scenario=path(duration="1 s"))
    assert vector.reset(seed=1)[0].shape == (2, len(QUANTITIES))


def test_every_point_of_a_sweep_is_an_episode(tmp_path):
    (tmp_path / "base.toml").write_text(ackclock.check(path(duration="2 s")))
    (tmp_path / "rates.toml").write_text(
        'scenario = "base.toml"\n[parameters.rate]\nset = "dumbbell.rate"\nunit = "Mbit/s"\nto = [1, 10]\n'
    )
    environment = WindowEnv(ackclock.sweeps.read(tmp_path / "rates.toml"), step="200 ms")
    drawn = {environment.reset(seed=seed)[1]["scenario"] for seed in range(20)}
    assert drawn == {0, 1}
    # 8 ms and 0.8 ms for 1000 bytes, in addition to 100 ms.
    least = [environment.reset(options={"scenario": index})[0][-1] for index in (0, 1)]
    assert least == pytest.approx([0.108, 0.1008], rel=0.01)


def test_a_trained_policy_beats_reno_where_losses_mean_nothing():
    scenario = path(loss={"kind": "bernoulli", "rate": "1 %"}, duration="10 s")
    trained = ackclock_gym.train(scenario, generations=25)
    # The best of the last generations beats the best of the first.
    assert np.mean(trained.rewards[-5:]) > np.mean(trained.rewards[:5])
    environment = WindowEnv(scenario)
    # Runs that it was not trained on.
    rewards = {
        name: np.mean([play(environment, make(), run=run)[1].mean() for run in (100, 101, 102)])
        for name, make in {"reno": Reno, "trained": lambda: trained.policy}.items()
    }
    # Mathis et al.: at 1 % Reno's window is about 12 packets of the 126 that the path holds, so that
    # a control can have ten times its power; three times is plenty for four weights.
    assert rewards["trained"] > rewards["reno"] + math.log(3)


@pytest.mark.parametrize(("name", "policy"), [("reno", Reno), ("cubic", Cubic)])
def test_a_policy_is_a_control_of_every_scenario(name, policy):
    ackclock.register(f"{name}-policy", ackclock_gym.control(policy(ssthresh=50)))
    flows = {}
    for control in (name, f"{name}-policy"):
        scenario = path(control, flow={"initial_ssthresh": 50})
        (flows[control],) = ackclock.simulate(scenario, record=False).summary["flows"]
    for number in ("mean_window", "goodput_mbps"):
        assert flows[f"{name}-policy"][number] == pytest.approx(flows[name][number], rel=0.05)


def test_a_saved_policy_is_the_same_policy(tmp_path):
    weights = [0.1, -1 / 3, 1e-17, 2.5]
    Linear(weights).save(tmp_path / "policy.json")
    assert Linear.load(tmp_path / "policy.json").weights.tolist() == weights
    for text in (
        '{"weights": [1, 2, 3, 4]}',
        '{"policy": "linear", "weights": [1]}',
        '{"policy": "linear", "weights": [NaN, 0, 0, 0]}',
        '{"policy": "linear"}',
        "[]",
        "[",
    ):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(ValueError, match=r"other\.json is not a policy"):
            Linear.load(tmp_path / "other.json")


def test_kept_runs_of_a_policy_are_not_those_of_another():
    prints = set()
    for weights, step_s in (([0, 0, 0, 0], None), ([0, 0, 0, 1], None), ([0, 0, 0, 0], 0.1)):
        ackclock.register("mine", ackclock_gym.control(Linear(weights), step_s=step_s))
        prints.add(controls.fingerprint(["mine"]))
    assert len(prints) == 3
    ackclock.register("mine", ackclock_gym.control(Linear([0, 0, 0, 1])))
    assert controls.fingerprint(["mine"]) in prints
    # A function without a name cannot be compared: it counts as another each time.
    classes = [ackclock_gym.control(lambda _: np.array([0.0, 0.5])) for _ in range(2)]
    for policy_control in classes:
        ackclock.register("mine", policy_control)
        assert controls.fingerprint(["mine"]) not in prints
        prints.add(controls.fingerprint(["mine"]))


def test_kept_runs_of_a_policy_follow_from_its_module_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "import ackclock_gym as gym\nLearned = gym.control(gym.Linear([0, 0, 0, 0]))\n"
    prints = []
    for name, more in (("first_policy", ""), ("second_policy", "# another\n")):
        (tmp_path / f"{name}.py").write_text(code + more)
        controls.load(f"{name}:Learned")
        prints.append(controls.fingerprint([f"{name}:Learned"]).partition("=")[2])
    assert prints[0] != prints[1]


def test_a_training_can_be_repeated():
    first, second = (ackclock_gym.train(path(duration="2 s"), generations=2, population=4) for _ in range(2))
    assert np.array_equal(first.policy.weights, second.policy.weights)
    assert first.rewards == second.rewards


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"step": "1 parsec"}, "step: .*or write"),
        ({"step": "0 s"}, "above 0"),
        ({"largest_window": 1.0}, "at least 2"),
    ],
)
def test_bad_settings_are_refused(settings, problem):
    with pytest.raises(ValueError, match=problem):
        WindowEnv(path(), **settings)


def test_bad_use_is_refused():
    environment = WindowEnv(path(duration="1 s"), step="5 s")
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="unknown option runs; allowed: scenario, run"):
        environment.reset(options={"runs": 1})
    with pytest.raises(ValueError, match="unknown scenario 2: there are 1"):
        environment.reset(options={"scenario": 2})
    environment.reset(seed=1)
    with pytest.raises(ValueError, match="at least 1"):
        environment.step(np.array([np.nan, 0.5], np.float32))
    assert environment.step(np.zeros(2, np.float32))[3]
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="there is no flow 1; the scenario has 1"):
        WindowEnv(path(), flow=1).reset()
    with pytest.raises(ValueError, match="must be 4 numbers, is 1"):
        Linear([1.0])
    with pytest.raises(ValueError, match="scenario: must be at least one"):
        WindowEnv([])


def test_a_flow_without_a_window_is_refused():
    scenario = path(duration="1 s").written()
    scenario["flow"][0] = {"source": "cbr", "rate": "1 Mbit/s"}
    with pytest.raises(ackclock.SimulationError, match="has no window"):
        WindowEnv(scenario).reset()


@pytest.mark.parametrize("number", [0, 1])
def test_the_python_of_the_page_runs(number):
    page = (Path(__file__).parents[2] / "docs/learning.md").read_text(encoding="utf-8")
    exec(re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)[number], {})  # noqa: S102


def test_the_page_lists_what_is_observed():
    page = (Path(__file__).parents[2] / "docs/learning.md").read_text(encoding="utf-8")
    step = page.split("\n## A step\n")[1].split("\n## ")[0]
    rows = [row for row in re.findall(r"^\| (.+?) \|", step, re.M) if row.startswith("`")]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert named == list(QUANTITIES)
