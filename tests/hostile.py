"""Bad input by the thousand: users' files, changed at random, are read or refused.

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
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ackclock import ScenarioError, engine, sweeps

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
# Values that replace other values.
NASTY = [
    "nan", "inf", "-inf", "-1", "0", "1e999", "9" * 400, "1e-320", "-0.0", "0x7fffffffffffffff",
    '""', '"' + "a" * 5000 + '"', '"\\u0000"', '"\\u001b[2J"', '"\u202e"', "[]", "{}", "[[]]",
    "true", "null", "1979-05-27T07:32:00Z", '"1 s"', '"-5 ms"', '"1e300 Gbit/s"', '"0 packets"',
    "[" * 3000, "{ a = " * 500, '"flow.0.rtt"', '"/dev/zero"', '"../path.toml"', '"path.toml"',
    "{ from = 1, through = 2 }", "{ from = 0, through = nan, count = 3 }",
    '{ kind = "trace", file = "/" }', '"x:Y"', "\0", "\ufeff", "#", "=", "\n", "\n[[flow]]\n",
]  # fmt: skip


class Kind(NamedTuple):
    """A kind of input.

    Attributes
    ----------
    good : str
        What is changed; as it is, it can be read.
    read : callable
        Reads bytes, given a directory for files.
    refusal : type
        What it may raise.
    """

    good: str
    read: Callable[[Path, bytes], object]
    refusal: type[Exception] = ScenarioError


def _written(file: Path, content: bytes) -> Path:
    file.write_bytes(content)
    return file


def _sweep(home: Path, content: bytes) -> object:
    (home / "path.toml").write_text(PATH)
    return sweeps.read(_written(home / "sweep.toml", content))


def _settings(home: Path, content: bytes) -> object:
    base = engine.read(_written(home / "path.toml", PATH.encode()))
    return engine.read(base, settings=content.decode(errors="replace").splitlines())


def _trace(home: Path, content: bytes) -> object:
    rates = _written(home / "rates", content)
    text = PATH.replace('rate = "10 Mbit/s"', f'rate_trace = "{rates}"')
    return engine.read(_written(home / "traced.toml", text.encode()))


KINDS = {
    "scenario": Kind(PATH, lambda home, content: engine.read(_written(home / "bad.toml", content))),
    "sweep": Kind(SWEEP, _sweep),
    "points": Kind(POINTS, _sweep),
    "settings": Kind(SETTINGS, _settings),
    "trace": Kind(TRACE, _trace),
}
"""The inputs of the core. Campaigns are in `satellites/hostile_campaigns.py`."""

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
    """Replace whole parts of a tree: the result is still TOML, with another meaning."""
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


def attack(kinds: Mapping[str, Kind], seed: int, goes_on: Callable[[int], bool]) -> dict[str, int]:
    """Try changed inputs of each kind in turn while `goes_on` of the round says so.

    Returns
    -------
    dict of str to int
        How many of each kind were refused; the others were understood.
    """
    refused = dict.fromkeys(kinds, 0)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for kind in kinds.values():
            kind.read(home, kind.good.encode())
        number = 0
        while goes_on(number):
            for name, kind in kinds.items():
                content = _changed(kind.good, random.Random(f"{seed} {name} {number}"))  # noqa: S311
                try:
                    kind.read(home, content)
                except kind.refusal as error:
                    refused[name] += 1
                    one_line = "\n" not in str(error)
                    assert one_line, f"seed {seed}, {name} {number}: {error}\n{content!r}"
                except BaseException as error:
                    error.add_note(f"seed {seed}, {name} {number}: {content!r}")
                    raise
            number += 1
    return refused


def main(known: Mapping[str, Kind], description: str | None) -> None:
    """Attack the known kinds as the command line says."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("kinds", nargs="*", default=list(known), help="by default all")
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

    refused = attack({name: known[name] for name in given.kinds}, given.seed, goes_on)
    for kind, count in refused.items():
        print(f"{kind}: {count} of {done} refused in one line, {done - count} understood")
    print(f"seed {given.seed}", file=sys.stderr)


if __name__ == "__main__":
    main(KINDS, __doc__)
