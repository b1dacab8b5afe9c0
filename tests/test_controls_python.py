"""Controls written in Python: they decide as their twins in Rust, and fail as Python fails."""

import json
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import ackclock
from conftest import Finished


class OwnReno:
    """RFC 5681, or Linux's Reno, without the base class: slow start carries what is left into avoidance."""

    internals = ("losses",)
    idle_timeouts = 0

    def __init__(self, start: ackclock.Start) -> None:
        self.window = self.initial = start.window
        self.ssthresh = start.ssthresh
        self.losses = 0
        self.is_linux = start.rules == "linux"
        self.acknowledged = 0.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        growth = ack.growth
        if self.window < self.ssthresh:
            used = min(growth, self.ssthresh - self.window)
            self.window += used
            growth -= used
        if growth > 0.0 and self.is_linux:
            # tcp_cong_avoid_ai: after an idle time more may have been acknowledged than the window is large.
            each = self.window
            if self.acknowledged >= each:
                self.acknowledged = 0.0
                self.window += 1.0
            self.acknowledged += growth
            self.window += self.acknowledged // each
            self.acknowledged %= each
        elif growth > 0.0:
            self.window += growth / self.window

    def half(self) -> float:
        self.acknowledged = 0.0
        return max(2.0, self.window // 2 if self.is_linux else self.window / 2)

    def on_loss(self, _loss: ackclock.Loss) -> None:
        self.losses += 1
        self.window = self.ssthresh = self.half()

    def on_timeout(self, timeout: ackclock.Timeout) -> None:
        half = self.half()
        if timeout.first:
            self.ssthresh = half
        self.window = 1.0

    def on_idle(self, _now_s: float) -> None:
        if self.is_linux:
            self.ssthresh = max(self.ssthresh, self.window // 2 + self.window // 4)
            for _ in range(self.idle_timeouts):
                if self.window > self.initial:
                    self.window = max(self.window // 2, self.initial)
        else:
            self.window = min(self.window, self.initial)


def _path(controller: str, **more: Any) -> ackclock.Scenario:
    loss = {"kind": "bernoulli", "rate": more.pop("loss", 0.0)}
    return ackclock.scenario(
        ackclock.dumbbell("10 Mbit/s", "10 ms", "20 packets", loss=loss),
        ackclock.flow(controller, rtt="40 ms", **more),
        ackclock.flow("cubic", rtt="50 ms", start="1 s"),
        duration="8 s",
    )


@settings(max_examples=20, deadline=None)
@given(
    loss=st.sampled_from([0.0, 0.001, 0.02, 0.2]),
    recovery=st.sampled_from(["reno", "newreno", "sack", "rack"]),
    window=st.integers(1, 20),
    delayed_ack=st.sampled_from([1, 2]),
)
def test_a_twin_in_python_makes_the_same_packets(
    loss: float, recovery: str, window: int, delayed_ack: int
) -> None:
    ackclock.register("own-reno", OwnReno)
    more = {"recovery": recovery, "initial_window": window, "delayed_ack": delayed_ack}
    runs = [ackclock.simulate(_path(name, loss=loss, **more)) for name in ("reno", "own-reno")]
    # The digest covers every packet, loss and window of the two flows, to the last bit.
    assert runs[0].digest == runs[1].digest


def test_its_internals_are_in_the_trace() -> None:
    ackclock.register("own-reno", OwnReno)
    run = ackclock.simulate(_path("own-reno"))
    events = run.events.filter((run.events["flow"] == 0) & (run.events["kind"] == "loss"))
    last = run.windows.filter(run.windows["flow"] == 0)["losses"][-1]
    assert last == events.height > 0


def test_an_acknowledgement_is_one_call_into_python() -> None:
    calls: Counter[str] = Counter()

    class Watched(ackclock.Control):
        """A window of 20 packets, which no call changes, so that only the engine reads attributes."""

        def __init__(self, start: ackclock.Start) -> None:
            super().__init__(start)
            self.window, self.acks = 20.0, 0

        def __getattribute__(self, name: str) -> Any:
            calls[name] += 1
            return object.__getattribute__(self, name)

        def on_ack(self, _ack: ackclock.Ack) -> None:
            calls["called"] += 1

        def on_loss(self, _loss: ackclock.Loss) -> None:
            raise AssertionError

    ackclock.register("watched", Watched)
    # 20 packets per RTT of 40 ms are 4 of the 10 Mbit/s: no packet is lost.
    scenario = ackclock.scenario(
        ackclock.dumbbell("10 Mbit/s", "10 ms", "20 packets"),
        ackclock.flow("watched", rtt="40 ms", delayed_ack=1),
        duration="8 s",
    )
    run = ackclock.simulate(scenario)
    # 20 per 41.2 ms, of which 1500 bytes take 1.2 ms, are 3883 in 8 s, less the last round trip.
    assert 3883 - 25 <= calls["called"] <= 3883
    assert calls["called"] <= run.summary["flows"][0]["sent_packets"]
    # The engine reads only these decisions after each call, and looks no method up again.
    for decided in ("window", "ssthresh", "pacing_rate", "quantum"):
        assert calls.pop(decided) == pytest.approx(calls["called"], abs=10), decided
    del calls["called"]
    assert calls.total() < 20, calls


class Scaled(ackclock.Control):
    """Reno with parameters of every kind."""

    def __init__(
        self,
        start: ackclock.Start,
        factor: float = 1.0,
        halve: bool = True,
        mode: Literal["slow", "fast"] = "slow",
    ) -> None:
        super().__init__(start)
        self.step = factor * (10.0 if mode == "fast" else 1.0)
        self.kept = 0.5 if halve else 0.8

    def on_ack(self, ack: ackclock.Ack) -> None:
        if not self.slow_start(ack):
            self.window += self.step * ack.growth / self.window

    def on_loss(self, _loss: ackclock.Loss) -> None:
        self.window = self.ssthresh = max(2.0, self.kept * self.window)


def test_parameters_are_read_checked_and_listed() -> None:
    ackclock.register("scaled", Scaled)
    entry = next(control for control in ackclock.controllers() if control["name"] == "scaled")
    assert [parameter["default"] for parameter in entry["parameters"]] == [1.0, True, "slow"]
    given = {"factor": 0.1, "mode": "fast", "halve": True}
    # 0.1 times 10 is 1 packet per round trip.
    fast = ackclock.simulate(_path("scaled", params=given))
    assert fast.digest == ackclock.simulate(_path("scaled")).digest
    kept = ackclock.simulate(_path("scaled", params={"halve": False}))
    assert kept.digest != fast.digest
    for wrong, message in (
        ({"factor": "much"}, "expected a number"),
        ({"mode": "medium"}, 'one of "slow" "fast"'),
        ({"speed": 1}, "no such parameter"),
    ):
        with pytest.raises(ackclock.ScenarioError, match=message):
            ackclock.check(_path("scaled", params=wrong))


class Paced(Scaled):
    """Sends at a rate of its own, and reads delivery rates."""

    wants_rate = True
    pacing_rate = 500.0
    seen = 0.0
    internals = ("seen",)

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.window = 1000.0
        self.seen = ack.delivery_rate or self.seen


class LatePacing(ackclock.Control):
    """A window of 60 packets that is paced at 50 packets per second from the first ACK on."""

    rate: float | None = 50.0

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.window = 60.0

    def on_ack(self, ack: ackclock.Ack) -> None:  # noqa: ARG002
        self.pacing_rate = self.rate

    def on_loss(self, loss: ackclock.Loss) -> None:
        pass


class LatePacingAlone:
    """The same without the base class: the attribute does not exist at the start."""

    def __init__(self, start: ackclock.Start) -> None:  # noqa: ARG002
        self.window = 60.0

    def on_ack(self, ack: ackclock.Ack) -> None:  # noqa: ARG002
        self.pacing_rate = 50.0

    def on_loss(self, loss: ackclock.Loss) -> None:
        pass

    def on_timeout(self, timeout: ackclock.Timeout) -> None:
        pass


@pytest.mark.parametrize("control", [LatePacing, LatePacingAlone])
def test_a_pacing_rate_that_comes_later_is_obeyed(control: type) -> None:
    ackclock.register("late", control)
    run = ackclock.simulate(
        ackclock.scenario(
            ackclock.dumbbell("10 Mbit/s", "20 ms"),
            ackclock.flow("late", rtt="40 ms"),
            duration="20 s",
            warmup="5 s",
        )
    )
    # 50 packets of 1000 bytes per second are 0.4 Mbit/s; without pacing 60 packets fill the link.
    assert run.flows["goodput_mbps"].item() == pytest.approx(0.4, rel=0.01)


@pytest.mark.parametrize("rate", [float("nan"), -5.0, 0.0, float("inf")])
def test_a_pacing_rate_that_is_none_is_refused_whenever_it_comes(rate: float) -> None:
    class Wrong(LatePacing):
        pass

    Wrong.rate = rate
    ackclock.register("wrong-rate", Wrong)
    scenario = ackclock.scenario(
        ackclock.dumbbell("10 Mbit/s", "20 ms"), ackclock.flow("wrong-rate"), duration="1 s"
    )
    with pytest.raises(ValueError, match="pacing_rate: give packets per second above 0, or None"):
        ackclock.simulate(scenario)


class TutorialReno(ackclock.Control):
    """Reno as in the tutorial: on_ack and on_loss, everything else from the base class."""

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.whole_packets = start.rules == "linux"

    def on_ack(self, ack: ackclock.Ack) -> None:
        growth = self.grow(ack)
        self.window += self.packets_for(growth, self.window)

    def on_loss(self, loss: ackclock.Loss) -> None:  # noqa: ARG002
        self.cut_to(self.window / 2)


@pytest.mark.parametrize("recovery", ["sack", "rack", "newreno"])
@pytest.mark.parametrize(
    "hard",
    [
        # Reordering by a noise as long as the RTT, idle periods, and timeouts by a tiny buffer.
        {"dumbbell.delay_noise": '{ kind = "uniform", range = "20 ms", reorder = true }'},
        {"dumbbell.queue.limit": "3 packets"},
        {"dumbbell.loss": '{ kind = "bernoulli", rate = "5 %" }'},
    ],
)
def test_reno_on_the_base_class_is_reno(hard: dict[str, str], recovery: str) -> None:
    ackclock.register("tutorial-reno", TutorialReno)
    digests = {}
    for name in ("reno", "tutorial-reno"):
        scenario = ackclock.scenario(
            ackclock.dumbbell("10 Mbit/s", "20 ms", queue="50 packets"),
            ackclock.flow(name, rtt="50 ms"),
            ackclock.flow("cubic", rtt="60 ms"),
            duration="20 s",
        )
        settings = [f"{key}={value}" for key, value in hard.items()]
        settings.append(f'tcp.recovery="{recovery}"')
        digests[name] = ackclock.simulate(scenario, settings=settings).digest
    assert digests["reno"] == digests["tutorial-reno"]


@pytest.mark.parametrize("quantum", [0, -1, 1.5, "two"])
def test_a_quantum_that_is_none_is_refused(quantum: Any) -> None:
    class Wrong(LatePacing):
        rate = 50.0

        def __init__(self, start: ackclock.Start) -> None:
            super().__init__(start)
            self.quantum = quantum

    ackclock.register("wrong-quantum", Wrong)
    scenario = ackclock.scenario(
        ackclock.dumbbell("10 Mbit/s", "20 ms"), ackclock.flow("wrong-quantum"), duration="1 s"
    )
    with pytest.raises(ValueError, match=r"quantum: give a whole number of packets, at least 1"):
        ackclock.simulate(scenario)


def test_a_codepoint_that_is_none_is_refused() -> None:
    class Wrong(LatePacing):
        ecn = "ect2"

    with pytest.raises(ValueError, match='ecn is "ect2"; give "ect0", "ect1" or None'):
        ackclock.register("wrong-codepoint", Wrong)


class Losing(ackclock.Control):
    """Reno that notes the signals of a control with `wants_losses`."""

    wants_rate = wants_losses = True
    told: ClassVar[list[Any]] = []

    def on_ack(self, ack: ackclock.Ack) -> None:
        self.told.append(ack)
        growth = self.grow(ack)
        self.window += growth / self.window

    def on_loss(self, loss: ackclock.Loss) -> None:  # noqa: ARG002
        self.cut_to(self.window / 2)

    def on_lost(self, lost: ackclock.Lost) -> None:
        self.told.append(lost)

    def on_restart(self, now_s: float) -> None:
        self.told.append(now_s)


def test_losses_are_told_one_by_one_and_restarts() -> None:
    ackclock.register("losing", Losing)
    Losing.told.clear()
    scenario = ackclock.scenario(
        ackclock.dumbbell("10 Mbit/s", "20 ms", "20 packets"),
        ackclock.flow("losing", rtt="40 ms", source="requests", size="250 kB", every="1 s"),
        duration="10 s",
    )
    run = ackclock.simulate(scenario)
    lost = [signal for signal in Losing.told if isinstance(signal, ackclock.Lost)]
    acks = [signal for signal in Losing.told if isinstance(signal, ackclock.Ack)]
    restarts = [signal for signal in Losing.told if isinstance(signal, float)]
    # All losses of a droptail queue without a timeout are found by SACK, each once.
    assert run.flows["timeouts"].item() == 0
    assert len(lost) == run.flows["dropped_packets"].item() > 0
    assert all(signal.tx_in_flight >= signal.lost_since_sent >= 1 for signal in lost)
    assert sum(signal.lost for signal in acks) == len(lost)
    # A request per second, the first of which begins the connection.
    assert len(restarts) == 10
    rates = [signal.rate for signal in acks if signal.rate is not None]
    # 10 Mbit/s are 1250 packets of 1000 bytes.
    assert max(rate.delivered / rate.interval_s for rate in rates) <= 1250 * 1.001


def test_its_pacing_rate_is_obeyed_and_measured() -> None:
    ackclock.register("paced", Paced)
    scenario = ackclock.scenario(
        ackclock.dumbbell("10 Mbit/s", "10 ms"), ackclock.flow("paced"), duration="10 s"
    )
    run = ackclock.simulate(scenario)
    # 500 packets of 1000 bytes per second are 4 Mbit/s; the first round trip is missing.
    assert run.flows["goodput_mbps"].item() == pytest.approx(4.0, rel=0.01)
    assert run.windows["seen"][-1] == pytest.approx(500.0, rel=0.01)


class Broken(Scaled):
    """Fails at the first loss."""

    def on_loss(self, _loss: ackclock.Loss) -> None:
        missing: dict[str, float] = {}
        self.window = missing["beta"]


def test_an_exception_comes_out_with_the_users_own_lines() -> None:
    ackclock.register("broken", Broken)
    with pytest.raises(KeyError, match="beta") as caught:
        ackclock.simulate(_path("broken"))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.name) == (__file__, "on_loss")


@pytest.mark.parametrize("window", [0.5, float("nan"), float("inf"), -3.0])
def test_an_impossible_window_is_refused(window: float) -> None:
    class Wild(Scaled):
        def on_loss(self, _loss: ackclock.Loss) -> None:
            self.window = window

    ackclock.register("wild", Wild)
    with pytest.raises(ValueError, match=r"wild.window is .*; a window is a finite number"):
        ackclock.simulate(_path("wild"))


def test_every_new_connection_begins_afresh() -> None:
    ackclock.register("own-reno", OwnReno)
    pages = {"source": "web", "think": "100 ms", "rtt": "40 ms"}
    runs = [
        ackclock.simulate(
            ackclock.scenario(
                ackclock.dumbbell("10 Mbit/s", "10 ms"), ackclock.flow(name, **pages), duration="20 s"
            )
        )
        for name in ("reno", "own-reno")
    ]
    assert runs[0].digest == runs[1].digest


def test_what_is_no_control_is_refused() -> None:
    class Empty:
        pass

    class Needy(Scaled):
        def __init__(self, start: ackclock.Start, factor: float) -> None:
            super().__init__(start, factor)

    class Odd(Scaled):
        def __init__(self, start: ackclock.Start, factor: object = None) -> None:
            super().__init__(start)
            self.factor = factor

    with pytest.raises(TypeError, match="lacks on_ack, on_loss, on_timeout"):
        ackclock.register("empty", Empty)
    with pytest.raises(TypeError, match="factor needs a default"):
        ackclock.register("needy", Needy)
    with pytest.raises(TypeError, match="factor: its default must be a number"):
        ackclock.register("odd", Odd)
    with pytest.raises(ValueError, match="reno is a built-in control"):
        ackclock.register("reno", Scaled)


@pytest.mark.parametrize(
    ("module", "reference", "message"),
    [
        ("", "nowhere:Mine", "module not found: nowhere; run in the directory of nowhere.py"),
        ("import nothing_there", "m1:Mine", "m1:Mine: cannot be imported: No module named"),
        ("1 +", "m2:Mine", "m2:Mine: cannot be imported: SyntaxError"),
        ("class Other: pass", "m3:Mine", "m3 has no class Mine; it has Other"),
        ("class Mine: pass", "m4:Mine", "m4:Mine: the class Mine lacks on_ack"),
    ],
)
def test_a_module_that_cannot_be_used_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, reference: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if module:
        Path(reference.split(":")[0] + ".py").write_text(module + "\n")
    with pytest.raises(ackclock.ScenarioError, match=message) as caught:
        ackclock.check(_path(reference))
    assert "\n" not in str(caught.value)


def test_a_module_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = Path(__file__).read_text()
    Path("own_module.py").write_text(text)
    run = ackclock.simulate(_path("own_module:OwnReno"), settings=["flow.1.controller=reno"])
    twin = ackclock.simulate(_path("reno"), settings=["flow.1.controller=reno"])
    assert run.digest == twin.digest
    by_setting = ["flow.0.controller=own_module:OwnReno", "flow.1.controller=reno"]
    assert ackclock.simulate(_path("cubic"), settings=by_setting).digest == twin.digest


TYPO = """
import ackclock

class Typo(ackclock.Control):
    def on_ack(self, ack):
        self.helper(ack)

    def helper(self, ack):
        self.window += ack.growht

    def on_loss(self, loss):
        pass

class Broken(Typo):
    def on_ack(self, ack):
        self.window = float("nan")
"""


def test_the_traceback_of_a_control_has_its_own_lines_alone(
    tmp_path: Path, ackclock: Callable[..., Finished]
) -> None:
    (tmp_path / "typo.py").write_text(TYPO)
    written = _path("reno").written()
    written["flow"][0]["controller"] = "typo:Typo"
    (tmp_path / "one.json").write_text(json.dumps(written))
    done = ackclock("simulate", "one.json")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith("AttributeError: ")
    files = [line.split('"')[1] for line in lines if line.strip().startswith("File ")]
    assert files == [str(tmp_path / "typo.py")] * 2
    done = ackclock("simulate", "one.json", "--set", "flow.0.controller=typo:Broken")
    assert (done.returncode, done.stderr) == (
        1,
        "ackclock: typo:Broken.window is NaN; a window is a finite number of packets, at least 1\n",
    )
