"""Bad input by the thousand: files that a person gives, changed at random, are read or refused.

``python tests/hostile.py --count 1000`` tries that many of each kind, and with ``--seconds 20`` the
kinds take turns until the time is over. What fails is printed with the seed that makes it again.
"""

import argparse
import json
import math
import random
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ackclock import ScenarioError, engine, sweeps
from ackclock.engine import integrity
from ackclock_paths import campaign

PATH = """\
[run]
duration = "5 s"
seed = 7
[dumbbell]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "25 packets" }
loss = { kind = "bernoulli", rate = "0.1 %" }
[[flow]]
name = "a"
controller = "reno"
rtt = "40 ms"
[[flow]]
controller = "illinois"
start = "500 ms"
"""
SWEEP = """\
name = "loss"
scenario = "path.toml"
[parameters]
p = { set = "dumbbell.loss.rate", to = [0, 0.001, 0.01] }
rtt = { set = "flow.*.rtt", unit = "ms", to = { from = 40, through = 80, count = 3, log = true } }
control = { set = ["flow.0.controller"], to = ["reno", "fit"] }
[runs]
within = 0.05
metric = "goodput_mbps"
least = 3
most = 9
"""
POINTS = """\
scenario = "path.toml"
[parameters]
p = { set = "dumbbell.loss.rate" }
[[points]]
p = 0.001
[[points]]
p = 0.01
[runs]
count = 3
"""
SETTINGS = """\
dumbbell.rate=20 Mbit/s
flow.0.rtt=80 ms
flow.1.controller=fit
dumbbell.loss={ kind = "bernoulli", rate = 0.01 }
tcp.recovery=sack
run.seed=3
"""
TRACE = "1\n2\n2\n5\n11\n"
PLAN = {"server": "here", "controls": ["reno", "fit"], "period_s": 1, "slots": 2, "references": 0}
RECORDS = [
    {"slot": 0, "try": 1, "event": "begin", "unix_s": 1000.0, "elapsed_s": 0.0},
    {"slot": 0, "try": 1, "event": "sample", "control": "reno", "second": 1.0, "flow": 0},
    {
        "slot": 0,
        "try": 1,
        "event": "end",
        "control": "reno",
        "seconds": 1.0,
        "received_bytes": [125000],
        "complete": True,
    },
]
# What stands where something else should.
NASTY = [
    "nan", "inf", "-inf", "-1", "0", "1e999", "9" * 400, "1e-320", "-0.0", "0x7fffffffffffffff",
    '""', '"' + "a" * 5000 + '"', '"\\u0000"', '"\\u001b[2J"', '"\u202e"', "[]", "{}", "[[]]",
    "true", "null", "1979-05-27T07:32:00Z", '"1 s"', '"-5 ms"', '"1e300 Gbit/s"', '"0 packets"',
    "[" * 3000, "{ a = " * 500, '"flow.0.rtt"', '"/dev/zero"', '"../path.toml"', '"path.toml"',
    "{ from = 1, through = 2 }", "{ from = 0, through = nan, count = 3 }",
    '{ kind = "trace", file = "/" }', '"x:Y"', "\0", "\ufeff", "#", "=", "\n", "\n[[flow]]\n",
]  # fmt: skip


def _kinds(home: Path) -> dict[str, Callable[[bytes], object]]:
    """Give what reads each kind of input."""
    (home / "path.toml").write_text(PATH)
    base = engine.read(home / "path.toml")

    def written(name: str, content: bytes) -> Path:
        (home / name).write_bytes(content)
        return home / name

    def settings(content: bytes) -> object:
        return engine.read(base, settings=content.decode(errors="replace").splitlines())

    def trace(content: bytes) -> object:
        written("rates", content)
        text = PATH.replace('rate = "10 Mbit/s"', f'rate_trace = "{home / "rates"}"')
        return engine.read(written("traced.toml", text.encode()))

    def log(content: bytes) -> object:
        written("log.jsonl", content)
        written("campaign.json", json.dumps(PLAN, indent=2).encode() + b"\n")
        return campaign.read(home)

    def plan(content: bytes) -> object:
        written("log.jsonl", b"".join(map(integrity.seal, RECORDS)))
        written("campaign.json", content)
        return campaign.read(home)

    return {
        "scenario": lambda content: engine.read(written("bad.toml", content)),
        "sweep": lambda content: sweeps.read(written("sweep.toml", content)),
        "points": lambda content: sweeps.read(written("points.toml", content)),
        "settings": settings,
        "trace": trace,
        "log": log,
        "plan": plan,
    }


GOOD = {
    "scenario": PATH,
    "sweep": SWEEP,
    "points": POINTS,
    "settings": SETTINGS,
    "trace": TRACE,
    "log": "".join(json.dumps(record) + "\n" for record in RECORDS),
    "plan": integrity.seal(PLAN).decode(),
}
ALLOWED = {"log": ValueError, "plan": ValueError}


ODD = [
    0,
    -1,
    5,
    10**30,
    1.5,
    math.nan,
    math.inf,
    True,
    "",
    "x",
    "p",
    "1 s",
    [],
    [1],
    [[1]],
    [{}],
    {},
    {"p": 1},
    {"a": {"b": []}},
]


def _inline(value: Any) -> str:
    """Write a value as TOML does on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value, default=str).replace("NaN", "nan").replace("Infinity", "inf")


def _replaced(text: str, draw: random.Random) -> str:
    """Replace whole parts of a tree, so that what it says is TOML and something else."""
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError):
        return text
    place: Any = tree
    while place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = draw.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and draw.random() < 0.6:
            place = place[key]
            continue
        if draw.random() < 0.2:
            del place[key]
        else:
            place[key] = draw.choice(ODD)
        break
    return "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in tree.items())


def _changed(text: str, draw: random.Random) -> bytes:
    """Change a text in one to three places."""
    for _ in range(draw.choice([1, 1, 2, 3])):
        lines = text.splitlines(keepends=True) or [""]
        line = draw.randrange(len(lines))
        at, to = sorted(draw.randrange(len(text) + 1) for _ in range(2))
        match draw.randrange(11):
            case 0:
                # A header, too, becomes a key.
                name = lines[line].partition("=")[0].strip("[] \n")
                lines[line] = f"{name} = {draw.choice(NASTY)}\n"
                text = "".join(lines)
            case 1:
                words = lines[line].split(" ")
                words[draw.randrange(len(words))] = draw.choice(NASTY)
                text = "".join([*lines[:line], " ".join(words), *lines[line + 1 :]])
            case 2:
                text = "".join([*lines[:line], lines[draw.randrange(len(lines))], *lines[line:]])
            case 3:
                text = "".join(lines[:line] + lines[line + 1 :])
            case 4:
                text = text[:at] + text[min(to, at + 9) :]
            case 5:
                text = text[:at] + draw.choice(NASTY) + text[at:]
            case 6:
                digits = [place for place, one in enumerate(text) if one.isdigit()] or [0]
                at = draw.choice(digits)
                text = text[:at] + draw.choice("0123456789-.e") + text[at + 1 :]
            case 7:
                text = text[:at]
            case _:
                text = _replaced(text, draw)
    content = bytearray(text.encode())
    if content and draw.random() < 0.2:
        content[draw.randrange(len(content))] = draw.randrange(256)
    return bytes(content)


def attack(kinds: Sequence[str], seed: int, goes_on: Callable[[int], bool]) -> dict[str, int]:
    """Try changed inputs of each kind in turn while `goes_on` of the round says so.

    Returns
    -------
    dict of str to int
        How many of each kind were refused; the others were understood.
    """
    refused = dict.fromkeys(kinds, 0)
    with tempfile.TemporaryDirectory() as folder:
        readers = _kinds(Path(folder))
        for kind in kinds:
            readers[kind](GOOD[kind].encode())
        number = 0
        while goes_on(number):
            for kind in kinds:
                content = _changed(GOOD[kind], random.Random(f"{seed} {kind} {number}"))  # noqa: S311
                try:
                    readers[kind](content)
                except ALLOWED.get(kind, ScenarioError) as error:
                    refused[kind] += 1
                    one_line = "\n" not in str(error)
                    assert one_line, f"seed {seed}, {kind} {number}: {error}\n{content!r}"
                except BaseException as error:
                    error.add_note(f"seed {seed}, {kind} {number}: {content!r}")
                    raise
            number += 1
    return refused


def main() -> None:
    """Attack as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=list(GOOD), help="by default all")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))  # noqa: S311
    given = parser.parse_args()
    end = None if given.seconds is None else time.monotonic() + given.seconds
    done = 0

    def goes_on(number: int) -> bool:
        nonlocal done
        done = number
        return number < given.count if end is None else time.monotonic() < end

    refused = attack(given.kinds, given.seed, goes_on)
    for kind, count in refused.items():
        print(f"{kind}: {count} of {done} refused in one line, {done - count} understood")
    print(f"seed {given.seed}", file=sys.stderr)


if __name__ == "__main__":
    main()
