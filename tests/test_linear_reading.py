"""Reading takes as many instructions as a file is long: every list, table and file at N, 2 N and 4 N."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ackclock import engine

N = 40
MOST = 2.5
"""(c(4N) - c(2N)) / (c(2N) - c(N)) is 2 for a linear count c and 4 for a quadratic one. A list that is copied
when it is full, or one that is sorted, adds up to a fifth at these sizes."""

HEAD = '[run]\nduration = "100000 s"\nsample = "1 s"\n'
LINK = 'rate = "10 Mbit/s"\ndelay = "10 us"\nqueue = { kind = "droptail", limit = "50 packets" }\n'
BELL = f"{HEAD}[dumbbell]\n{LINK}"
RENO = '[[flow]]\ncontroller = "reno"\n'


def each(count: int, text: str, between: str = "") -> str:
    """Return a text for each number; ``{}`` is the number and ``{next}`` the one after it."""
    return between.join(text.replace("{}", str(i)).replace("{next}", str(i + 1)) for i in range(count))


def in_turn(key: str, value: str) -> Callable[[int], str]:
    event = f'{RENO}[[event]]\nat = "0 s"\nevery = "1 s"\nset = "dumbbell.{key}"\n'
    return lambda n: f"{BELL}{event}to = [{each(n, value, ', ')}]\n"


def events(event: str) -> Callable[[int], str]:
    rates = 'set = "dumbbell.rate"\nto = "{next} Mbit/s"\n'
    return lambda n: BELL + RENO + each(n, f"[[event]]\n{event}\n{rates}")


def links(n: int, more: str = "", link: str = LINK) -> str:
    ends = '[[link]]\nname = "l{}"\nfrom = "n{}"\nto = "n{next}"\n'
    return f'{HEAD}{each(n, ends + link)}{RENO}from = "n0"\nto = "n{n}"\n{each(n, more)}'


def file(key: str) -> Callable[[int], str]:
    word = key.partition("_")[0]
    kept = "".join(line + "\n" for line in BELL.splitlines() if not line.startswith(f"{word} ="))
    return lambda _: f"{kept}{key}\n{RENO}"


def application(key: str, value: str) -> Callable[[int], str]:
    """Return a scenario whose application changes in turn."""
    flow = (
        "controller = 'reno'\nlimit = '1 Mbit/s'" if key == "limit" else "source = 'requests'\nsize = '9 B'"
    )
    every = "\nevery = '9 s'" if key == "every" else "\nthink = '9 s'" if key == "think" else ""
    event = f'[[event]]\nat = "0 s"\nevery = "1 s"\nset = "flow.a.{key}"\n'
    return lambda n: f"{BELL}[[flow]]\nname = 'a'\n{flow}{every}\n{event}to = [{each(n, value, ', ')}]\n"


HOPS = BELL.replace("[dumbbell]", "[parking_lot]\nhops = {}")
SETS_ONE = '[[event]]\nat = "1 s"\nset = "link.l{}.rate"\nto = "5 Mbit/s"\n'
SHARE = "[[flow]]\nsource = 'requests'\nevery = '1 s'\nsize = [{}]\n"
APPLICATION = "[[flow]]\nname = 'a'\nsource = 'requests'\nsize = '9 B'\nevery = '9 s'\n"
SETS_SIZE = "[[event]]\nat = '{} s'\nset = 'flow.a.size'\nto = '{next} kB'\n"
IN_TURN = '[[event]]\nat = "0 s"\nevery = "1 s"\nset = "flow.a.size"\nto = { in_turn = [{}] }\n'
SCHEDULE = "[[flow]]\nsource = 'requests'\nschedule = [{}]\n"
SCENARIOS: dict[str, Callable[[int], str]] = {
    "rates": in_turn("rate", '"{next} Mbit/s"'),
    "delays": in_turn("delay", '"{next} ms"'),
    "limits": in_turn("queue.limit", '"{next} packets"'),
    "buffers": in_turn("queue.limit", '"{next} ms"'),
    "queues": in_turn("queue", '{ kind = "codel", limit = "{next} packets" }'),
    "losses": in_turn("loss", '{ kind = "bernoulli", rate = "0.{next} %" }'),
    "events": events('at = "{} s"'),
    "repeating events": events('at = "{} s"\nevery = "90000 s"'),
    "events at round trips": events('at = { flow = "reno-0", rtt = {next} }'),
    "flows": lambda n: BELL + RENO * n,
    "named flows": lambda n: BELL + each(n, RENO + 'name = "f{}"\n'),
    "counted flows": lambda n: f"{BELL}{RENO}count = {100 * n}\n",
    "arrivals": lambda n: (
        BELL.replace("100000", "10") + (RENO + 'arrivals = { load = "0.1 %", sizes = "10 kB" }\n') * n
    ),
    "sizes": lambda n: BELL + SHARE.replace("{}", each(n, f"['{{next}} B', {1 / n!r}]", ", ")),
    "schedule": lambda n: BELL + SCHEDULE.replace("{}", each(n, '["{} s", "{next} B"]', ", ")),
    "requests of a file": lambda _: f"{BELL}[[flow]]\nsource = 'requests'\nfile = 'f'\n",
    "limits of an application": application("limit", '"{next} Mbit/s"'),
    "intervals of requests": application("every", '"{next} s"'),
    "times between requests": application("think", '"{next} s"'),
    "sizes of requests in turn": lambda n: f"{BELL}{APPLICATION}{IN_TURN}".replace(
        "{}", each(n, '"{next} kB"', ", ")
    ),
    "sizes of requests": lambda n: BELL + APPLICATION + each(n, SETS_SIZE),
    "a table of netem": lambda _: (
        f"{BELL}delay_noise = {{ kind = 'table', sigma = '1 us', file = 'f' }}\n{RENO}"
    ),
    "links": links,
    "nodes": lambda n: links(n) + each(n + 1, '[[node]]\nname = "n{}"\n'),
    "links with an event each": lambda n: links(n, SETS_ONE),
    "links with one file": lambda n: links(n, link=LINK.replace('rate = "10 Mbit/s"', 'rate_trace = "f"')),
    "hops": lambda n: HOPS.replace("{}", str(n)) + RENO,
    "hops with an event": lambda n: (
        HOPS.replace("{}", str(n))
        + f'{RENO}[[event]]\nat = "1 s"\nset = "parking_lot.rate"\nto = "5 Mbit/s"\n'
    ),
    "trace": file('rate_trace = "f"'),
    "series": file('rate_series = { file = "f" }'),
    "straight lines": file('delay_series = { file = "f", between = "linear", step = "1 s" }'),
    "losses over time": file('loss_series = { file = "f", unit = "%" }'),
    "marks": file('loss = { kind = "trace", file = "f" }'),
    "bursts": file('loss = { kind = "bursts", file = "f" }'),
}
FILES: dict[str, Callable[[int], str]] = {
    "requests of a file": lambda n: each(10 * n, "{},{next}\n"),
    "a table of netem": lambda n: each(10 * n, "{}\n"),
    "trace": lambda n: each(10 * n, "{next}\n"),
    "links with one file": lambda n: each(10 * n, "{next}\n"),
    "series": lambda n: each(10 * n, "{},{next}.5\n"),
    "straight lines": lambda n: each(10 * n, "{},{next}.5\n"),
    "losses over time": lambda n: each(10 * n, "{},0.{next}\n"),
    "marks": lambda n: "01" * (100 * n),
    "bursts": lambda n: each(10 * n, "{},{}.5\n"),
}

# As in benches/instructions.py: the extension alone, and each scenario is read by a copy of the process.
READ = """
import importlib.machinery, importlib.util, json, posix, sys
loader = importlib.machinery.ExtensionFileLoader("_native", sys.argv[1])
native = importlib.util.module_from_spec(importlib.util.spec_from_loader("_native", loader))
loader.exec_module(native)
for text, files in json.load(open(sys.argv[2])):
    if posix.fork() == 0:
        native.Scenario.read(text, "a.toml", [], False, None, files).toml()
        posix._exit(0)
    if posix.wait()[1] != 0:
        sys.exit(1)
"""


def given(name: str, n: int) -> tuple[str, dict[str, str] | None]:
    return SCENARIOS[name](n), {"f": FILES[name](n)} if name in FILES else None


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_is_a_scenario(name: str) -> None:
    text, files = given(name, N)
    engine.Scenario.read(text, "a.toml", [], False, None, files)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="instructions are counted by valgrind")
def test_reading_is_linear(tmp_path: Path) -> None:
    sizes = (N, 2 * N, 4 * N)
    inputs = [given(name, n) for name in SCENARIOS for n in sizes]
    (tmp_path / "inputs.json").write_text(json.dumps(inputs))
    spec = importlib.util.find_spec("ackclock._native")
    assert spec is not None and spec.origin is not None
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={tmp_path}/profile.%p"]
    command += [sys.executable, "-S", "-c", READ, spec.origin, str(tmp_path / "inputs.json")]
    done = subprocess.run(command, capture_output=True, text=True, env={"PYTHONHASHSEED": "0"}, check=False)
    collected = re.findall(r"^==\d+== Collected : (\d+)$", done.stderr, re.MULTILINE)
    assert len(collected) == len(inputs) + 1, done.stderr[-2000:]
    counts = [int(count) for count in collected]
    failed = {}
    for place, name in enumerate(SCENARIOS):
        few, some, many = counts[3 * place : 3 * place + 3]
        growth = (many - some) / (some - few)
        print(
            f"{name:26} {some - few:>12} more instructions from N to 2 N, {growth:.2f} times as many to 4 N"
        )
        if growth > MOST:
            failed[name] = growth
    assert not failed
