"""Ctrl-C in the verbs that keep their runs: they stop at once, and say that the same command continues."""

import signal
import subprocess

import pytest

from ackclock.cli.main import VERBS
from conftest import COMMAND, wait_until

# Each takes at least half a minute.
COMMANDS = {
    "compare": ("reno", "cubic", "bbr", "--path", "cable"),
    "sweep": ("loss.toml",),
    "reproduce": ("--quick", "illinois/figure-8"),
    "evaluate": ("bbr", "--own-baselines"),
    "search": ("copa", "starvation"),
}
SWEEP = """
scenario = "long.toml"
[parameters]
p = { set = "dumbbell.loss.rate", to = [1e-4, 1e-3] }
[runs]
count = 500
"""
SCENARIO = """
[run]
duration = "100 s"
[dumbbell]
rate = "100 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "250 packets" }
loss = { kind = "bernoulli", rate = 0 }
[[flow]]
controller = "cubic"
rtt = "40 ms"
"""


def test_all_verbs_that_resume_are_interrupted_here():
    assert set(COMMANDS) == {verb.name for verb in VERBS if verb.resumes}


@pytest.mark.parametrize("verb", COMMANDS)
def test_an_interrupted_verb_says_that_the_same_command_continues(verb, tmp_path):
    (tmp_path / "loss.toml").write_text(SWEEP)
    (tmp_path / "long.toml").write_text(SCENARIO)
    process = subprocess.Popen(
        [*COMMAND, verb, *COMMANDS[verb], "-o", "out"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: (tmp_path / "out/.cache/runs.sqlite").exists())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert errors.splitlines()[-1:] == ["ackclock: interrupted; run the same command to continue"], errors
    assert process.returncode == 130
