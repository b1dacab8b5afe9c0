"""Every key of the format does something: a changed value changes the packets or their record.

The keys are those of the engine's own schema, so that a key without a case fails. Keys of a table that occurs
in several places, such as those of a queue, are tried in the first; in the others the table is tried as a
whole.
"""

import copy
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import ackclock
from ackclock import _native, engine

FILES = {
    "fast.trace": "1\n",
    "slow.trace": "4\n",
    "every.txt": "0\n0\n0\n1\n",
    "never.txt": "0\n0\n0\n0\n",
    "rates.csv": "0,2,20,0\n1,8,60,2\n2,4,30,3\n3,6,50,4\n",
    "other.csv": "0,8,60,0\n1,2,20,2\n2,6,50,3\n3,4,30,4\n",
    "shares.csv": "0,0.01,0.3,0\n1,0.2,0,2\n",
    "others.csv": "0,0.2,0,0\n1,0.01,0.3,2\n",
    "early.csv": "0.5,0.7\n",
    "late.csv": "2.5,2.7\n",
    "narrow.dist": "-100 0 100\n",
    "wide.dist": "-20000 0 20000\n",
    "few.csv": "0,5000\n",
    "many.csv": "0,5000\n1,500000\n",
}
Tables = Mapping[str, Any]
Case = tuple[Tables, Any, Any]
"""Keys that the case needs, and two values of the key; None leaves it out."""
BASE = {
    "run": {"duration": "4 s"},
    "dumbbell": {"rate": "5 Mbit/s", "delay": "20 ms", "queue": {"kind": "droptail", "limit": "20 packets"}},
    "flow": [{"controller": "reno"}],
}
RATE, QUEUE, LOSS = "dumbbell.rate", "dumbbell.queue", "dumbbell.loss"
NOISE, SERIES = "dumbbell.delay_noise", "dumbbell.rate_series"


def lossy(rate: float) -> dict[str, Any]:
    return {"dumbbell.loss": {"kind": "bernoulli", "rate": rate}}


RED = {QUEUE: {"kind": "red", "limit": "60 packets", "min_threshold": 3}, "tcp.initial_window": 30}
ARED = {QUEUE: {"kind": "ared", "limit": "60 packets"}}
CODEL = {QUEUE: {"kind": "codel", "limit": "60 packets"}}
PIE = {QUEUE: {"kind": "pie", "limit": "60 packets"}}
STEP = {QUEUE: {"kind": "step", "limit": "60 packets"}, "tcp.ecn": True, "flow.0.controller": "dctcp"}
FQ = {
    QUEUE: {"kind": "fq_codel", "limit": "60 packets"},
    "flow.1": {"source": "cbr", "rate": "3 Mbit/s"},
    "flow.2": {"controller": "cubic", "packet": "300 B"},
}
DUAL = {
    QUEUE: {"kind": "dualpi2", "limit": "60 packets"},
    "flow.0.controller": "prague",
    "tcp.ecn": True,
    "flow.1": {"controller": "cubic", "ecn": False},
}
OVERLOADED = DUAL | {"flow.2": {"source": "cbr", "rate": "9 Mbit/s", "codepoint": "ect1"}}
BAD = lossy(0.25)
GILBERT = {LOSS: {"kind": "gilbert_elliott", "to_bad": "1 %", "to_good": "30 %"}}
TIMED = {LOSS: {"kind": "gilbert_elliott", "good_time": "400 ms", "bad_time": "50 ms"}}
UNIFORM = {NOISE: {"kind": "uniform", "range": "10 ms"}}
GAUSSIAN = {NOISE: {"kind": "gaussian", "sigma": "5 ms"}}
WIFI = {NOISE: {"kind": "wifi", "mean": "5 ms"}}
TABLE = {NOISE: {"kind": "table", "sigma": "5 ms", "file": "wide.dist"}}
OVER_TIME = {RATE: None, SERIES: {"file": "rates.csv"}}
CBR = {"flow.0": {"source": "cbr", "rate": "4 Mbit/s"}}
MEDIA = {"flow.0": {"source": "media", "rate": "4 Mbit/s"}}
ONOFF = {"flow.0": {"source": "onoff", "rate": "4 Mbit/s", "on": "300 ms", "off": "300 ms"}}
WEB = {"flow.0": {"source": "web", "think": "200 ms"}}
REQUESTS = {"flow.0": {"source": "requests", "size": "20 kB", "every": "500 ms"}}
ARRIVALS = {"flow.0.arrivals": {"load": 0.5, "sizes": "20 kB"}}
DOWN = {
    "event.0": {"at": "1 s", "set": "dumbbell.up", "to": False},
    "event.1": {"at": "2 s", "set": "dumbbell.up", "to": True},
}
BACK_DOWN = {
    "event.0": {"at": "1 s", "set": "dumbbell.reverse.up", "to": False},
    "event.1": {"at": "1.5 s", "set": "dumbbell.reverse.up", "to": True},
}
EVENT = {"event.0": {"at": "1 s", "set": "dumbbell.rate", "to": "1 Mbit/s"}}
ROW = {
    "dumbbell": None,
    "parking_lot": {"rate": "5 Mbit/s", "delay": "5 ms", "queue": BASE["dumbbell"]["queue"], "hops": 3},
    "flow.0": {"controller": "reno", "from": "n0", "to": "n2"},
}
LINK = {"rate": "5 Mbit/s", "delay": "5 ms", "queue": BASE["dumbbell"]["queue"]}
MESH = {
    "dumbbell": None,
    "link.0": LINK | {"from": "a", "to": "b"},
    "link.1": LINK | {"from": "b", "to": "c"},
    "link.2": LINK | {"from": "a", "to": "c", "rate": "1 Mbit/s"},
    "flow.0": {"controller": "reno", "from": "a", "to": "c"},
}

CASES: dict[str, Case] = {
    "run.duration": ({}, "4 s", "5 s"),
    "run.seed": (lossy(0.02), 1, 2),
    "tcp.profile": ({}, "ns2", "linux"),
    "tcp.packet": ({}, "1000 B", "500 B"),
    "tcp.ack": ({"dumbbell.reverse.rate": "1 Mbit/s"}, "40 B", "400 B"),
    "tcp.initial_window": ({}, 2, 10),
    "tcp.initial_ssthresh": ({}, "unlimited", 4),
    "tcp.receive_window": ({}, "unlimited", 5),
    "tcp.recovery": (lossy(0.02), "reno", "sack"),
    "tcp.min_rto": (BAD, "200 ms", "1 s"),
    "tcp.min_rto_bounds": (BAD, "timeout", "variance"),
    "tcp.max_rto": (lossy(0.6) | {"run.duration": "30 s"}, "64 s", "1 s"),
    "tcp.initial_rto": (lossy(0.6), "1 s", "300 ms"),
    "tcp.handshake": ({}, False, True),
    "tcp.clock": (BAD, "1 ms", "1 s"),
    "tcp.rtt_sampling": (BAD, "every_ack", "one_per_window"),
    "tcp.delayed_ack": ({}, 1, 2),
    "tcp.delayed_ack_timer": ({"tcp.delayed_ack": 2, "tcp.initial_window": 1}, "100 ms", "10 ms"),
    "tcp.limited_transmit": (lossy(0.05) | {"tcp.recovery": "reno"}, True, False),
    "tcp.max_burst": ({"tcp.delayed_ack": 8}, 0, 1),
    "tcp.overhead": ({}, "0 s", "1 ms"),
    "tcp.growth": ({"tcp.delayed_ack": 2}, "per_ack", "per_packet"),
    "tcp.pacing": ({}, False, True),
    "tcp.pacing_gain": ({"tcp.pacing": True, "tcp.initial_ssthresh": 4}, 1.2, 3),
    "tcp.slow_start_gain": ({"tcp.pacing": True}, 2, 1),
    "tcp.min_window": (BAD, 1, 4),
    "tcp.slow_start_after_idle": (
        {"flow.0": {"source": "requests", "size": "30 kB", "every": "2 s"}},
        True,
        False,
    ),
    "tcp.hystart": ({QUEUE: {"kind": "droptail", "limit": "100 packets"}}, False, True),
    "tcp.ecn": (RED | {"dumbbell.queue.ecn": True}, False, True),
    "tcp.ace_bits": (
        STEP | {"dumbbell.queue.threshold": 1, "tcp.initial_window": 60, "tcp.delayed_ack": 30},
        11,
        3,
    ),
    "path": ({"dumbbell": None}, "dsl", "geo"),
    "dumbbell.rate": ({}, "5 Mbit/s", "3 Mbit/s"),
    "dumbbell.rate_trace": ({RATE: None}, "fast.trace", "slow.trace"),
    "dumbbell.delay": ({}, "20 ms", "50 ms"),
    "dumbbell.up": ({}, True, False),
    "dumbbell.outage": (DOWN, "hold", "drop"),
    "dumbbell.reverse.rate": ({}, None, "100 kbit/s"),
    "dumbbell.reverse.rate_trace": ({}, "fast.trace", "slow.trace"),
    "dumbbell.reverse.delay": ({}, None, "60 ms"),
    "dumbbell.reverse.up": ({}, None, False),
    "dumbbell.reverse.outage": (BACK_DOWN, None, "drop"),
    "dumbbell.reverse.rate_series": ({}, None, {"file": "rates.csv", "scale": 0.01}),
    "dumbbell.reverse.delay_series": ({}, None, {"file": "rates.csv", "column": 3}),
    "dumbbell.reverse.loss_series": ({}, None, {"file": "others.csv"}),
    "dumbbell.reverse.square": (
        {"dumbbell.reverse.rate": "100 kbit/s"},
        None,
        {"rate": "1 Mbit/s", "period": "1 s"},
    ),
    "dumbbell.reverse.queue": (
        {"dumbbell.reverse.rate": "100 kbit/s"},
        None,
        {"kind": "droptail", "limit": "2 packets"},
    ),
    "dumbbell.reverse.loss": ({}, None, {"kind": "bernoulli", "rate": 0.2}),
    "dumbbell.reverse.delay_noise": ({}, None, {"kind": "uniform", "range": "10 ms"}),
    "dumbbell.reverse.policer": ({}, None, {"rate": "50 kbit/s", "burst": "100 B"}),
    "dumbbell.reverse.aggregation": ({}, None, {"every": "20 ms"}),
    "dumbbell.square.rate": ({"dumbbell.square": {"period": "1 s"}}, "1 Mbit/s", "2 Mbit/s"),
    "dumbbell.square.period": ({"dumbbell.square": {"rate": "1 Mbit/s"}}, "1 s", "2 s"),
    "dumbbell.policer.rate": ({"dumbbell.policer": {"burst": "10 kB"}}, "1 Mbit/s", "2 Mbit/s"),
    "dumbbell.policer.burst": ({"dumbbell.policer": {"rate": "1 Mbit/s"}}, "10 kB", "20 kB"),
    "dumbbell.aggregation.every": ({}, "5 ms", "20 ms"),
    "dumbbell.aggregation.thin_acks": (
        {"dumbbell.aggregation": {"every": "20 ms"}, "flow.0.direction": "reverse"},
        False,
        True,
    ),
    "dumbbell.queue.kind": ({}, "droptail", "codel"),
    "dumbbell.queue.limit": ({}, "20 packets", "5 packets"),
    "dumbbell.queue.ecn": (RED | {"tcp.ecn": True}, False, True),
    "dumbbell.queue.min_threshold": (RED, 3, 9),
    "dumbbell.queue.max_threshold": (RED, 6, 30),
    "dumbbell.queue.weight": (RED, 0.002, 0.2),
    "dumbbell.queue.max_p": (RED | {"dumbbell.queue.weight": 0.1}, 0.1, 0.9),
    "dumbbell.queue.gentle": (RED | {"dumbbell.queue.weight": 0.1}, True, False),
    "dumbbell.queue.spacing": (RED | {"dumbbell.queue.weight": 0.1}, "wait", "none"),
    "dumbbell.queue.mean_packet": (RED | {"dumbbell.queue.weight": 0.1}, "1000 B", "100 B"),
    "dumbbell.queue.uniform": (DUAL, True, False),
    "dumbbell.queue.least_max_p": (ARED, 0.01, 0.4),
    "dumbbell.queue.target": (CODEL, "5 ms", "20 ms"),
    "dumbbell.queue.interval": (CODEL, "100 ms", "20 ms"),
    "dumbbell.queue.burst": (PIE, "150 ms", "10 ms"),
    "dumbbell.queue.threshold": (STEP, 1, 20),
    "dumbbell.queue.sojourn": (STEP, "1 ms", "20 ms"),
    "dumbbell.queue.quantum": (FQ, "1514 B", "300 B"),
    "dumbbell.queue.queues": (FQ, 1024, 1),
    "dumbbell.queue.update": (DUAL, "15 ms", "100 ms"),
    "dumbbell.queue.alpha": (DUAL, 0.15, 2),
    "dumbbell.queue.beta": (DUAL, 3, 30),
    "dumbbell.queue.coupling": (DUAL, 2, 8),
    "dumbbell.queue.ramp_from": (DUAL | {"dumbbell.queue.ramp_to": "30 ms"}, "1 ms", "25 ms"),
    "dumbbell.queue.ramp_to": (DUAL, "1.2 ms", "30 ms"),
    "dumbbell.queue.scheduler": (DUAL, "wrr", "ts-fifo"),
    "dumbbell.queue.classic_share": (DUAL, "10 %", "60 %"),
    "dumbbell.queue.time_shift": (DUAL | {"dumbbell.queue.scheduler": "ts-fifo"}, "50 ms", "1 ms"),
    "dumbbell.queue.overload": (OVERLOADED, "drop", "overflow"),
    "dumbbell.loss.kind": ({LOSS: {"rate": 0.05}}, "bernoulli", "periodic"),
    "dumbbell.loss.rate": ({LOSS: {"kind": "bernoulli"}}, 0.01, 0.1),
    "dumbbell.loss.every": ({LOSS: {"kind": "periodic"}}, 100, 10),
    "dumbbell.loss.to_bad": (GILBERT, "1 %", "5 %"),
    "dumbbell.loss.to_good": (GILBERT, "30 %", "90 %"),
    "dumbbell.loss.good_time": (TIMED, "400 ms", "100 ms"),
    "dumbbell.loss.bad_time": (TIMED, "50 ms", "200 ms"),
    "dumbbell.loss.loss_good": (GILBERT, "0 %", "5 %"),
    "dumbbell.loss.loss_bad": (GILBERT, "100 %", "20 %"),
    "dumbbell.loss.file": ({LOSS: {"kind": "trace"}}, "never.txt", "every.txt"),
    "dumbbell.delay_noise.kind": (
        {},
        {"kind": "uniform", "range": "10 ms"},
        {"kind": "gaussian", "sigma": "3 ms"},
    ),
    "dumbbell.delay_noise.sigma": (GAUSSIAN, "5 ms", "1 ms"),
    "dumbbell.delay_noise.file": (TABLE, "narrow.dist", "wide.dist"),
    "dumbbell.delay_noise.correlation": (UNIFORM, "0 %", "90 %"),
    "dumbbell.delay_noise.range": (UNIFORM, "10 ms", "1 ms"),
    "dumbbell.delay_noise.mean": (WIFI, "5 ms", "20 ms"),
    "dumbbell.delay_noise.reorder": (UNIFORM, False, True),
    "dumbbell.delay_noise.hold": (UNIFORM, None, "500 ms"),
    "dumbbell.rate_series.file": (OVER_TIME, "rates.csv", "other.csv"),
    "dumbbell.rate_series.column": (OVER_TIME, 2, 3),
    "dumbbell.rate_series.time": (OVER_TIME, 1, 4),
    "dumbbell.rate_series.every": (OVER_TIME, None, "500 ms"),
    "dumbbell.rate_series.unit": (OVER_TIME, "Mbit/s", "kbit/s"),
    "dumbbell.rate_series.time_unit": (OVER_TIME, "s", "ms"),
    "dumbbell.rate_series.scale": (OVER_TIME, 1, 0.5),
    "dumbbell.rate_series.between": (OVER_TIME, "hold", "linear"),
    "dumbbell.rate_series.step": (OVER_TIME | {"dumbbell.rate_series.between": "linear"}, "100 ms", "500 ms"),
    "dumbbell.rate_series.repeat": (OVER_TIME | {"run.duration": "7 s"}, False, True),
    "parking_lot.hops": (ROW, 2, 3),
    "link.from": (MESH, "a", "d"),
    "link.to": (MESH, "c", "d"),
    "flow.controller": ({}, "reno", "vegas"),
    "flow.source": ({"flow.0": {"rate": "4 Mbit/s"}}, "cbr", "poisson"),
    "flow.rate": (CBR, "4 Mbit/s", "2 Mbit/s"),
    "flow.codepoint": (
        CBR | {QUEUE: {"kind": "red", "limit": "60 packets", "ecn": True}, "flow.0.rate": "6 Mbit/s"},
        "not-ect",
        "ect0",
    ),
    "flow.pulse.on": (CBR | {"flow.0.pulse": {"every": "1 s"}}, "300 ms", "600 ms"),
    "flow.pulse.every": (CBR | {"flow.0.pulse": {"on": "300 ms"}}, "1 s", "500 ms"),
    "flow.frame_rate": (MEDIA, 30, 10),
    "flow.key_every": (MEDIA, 60, 10),
    "flow.key_ratio": (MEDIA, 4, 8),
    "flow.on": (ONOFF, "300 ms", "100 ms"),
    "flow.off": (ONOFF, "300 ms", "100 ms"),
    "flow.shape": (ONOFF, None, 1.5),
    "flow.think": (WEB, "200 ms", "2 s"),
    "flow.objects": (WEB, 4, 20),
    "flow.object": (WEB, "12 kB", "100 kB"),
    "flow.size": (REQUESTS, "20 kB", "50 kB"),
    "flow.schedule": ({"flow.0": {"source": "requests"}}, [["0 s", "5 kB"]], [["1 s", "500 kB"]]),
    "flow.file": ({"flow.0": {"source": "requests"}}, "few.csv", "many.csv"),
    "flow.every": (REQUESTS, "500 ms", "1 s"),
    "flow.spacing": (REQUESTS, "fixed", "exponential"),
    "flow.requests": (REQUESTS, None, 2),
    "flow.params": ({"flow.0.controller": "aimd"}, {"beta": 0.5}, {"beta": 0.1}),
    "flow.transport": ({"tcp.packet": "1250 B"}, "tcp", "quic"),
    "flow.count": ({}, 1, 2),
    "flow.rtt": ({}, "40 ms", "90 ms"),
    "flow.access": ({}, "unlimited", "1 Mbit/s"),
    "flow.direction": ({"dumbbell.reverse.rate": "1 Mbit/s"}, "forward", "reverse"),
    "flow.from": (ROW, "n0", "n1"),
    "flow.to": (ROW, "n2", "n3"),
    "flow.start": ({}, "0 s", "2 s"),
    "flow.stop": ({}, None, "2 s"),
    "flow.bytes": ({}, None, "100 kB"),
    "flow.arrivals.load": (ARRIVALS, 0.5, 0.9),
    "flow.arrivals.sizes": (ARRIVALS, "20 kB", "5 kB"),
    "flow.limit": ({}, None, "1 Mbit/s"),
    "flow.delay_noise": ({}, None, {"kind": "uniform", "range": "10 ms"}),
    "flow.reverse_noise": ({}, None, {"kind": "uniform", "range": "10 ms"}),
    "flow.receiver.split": ({}, 1, 4),
    "flow.receiver.advance": (lossy(0.02), False, True),
    "flow.receiver.ignore_marks": (
        STEP | {"dumbbell.queue.threshold": 3, "flow.0.controller": "dctcp"},
        False,
        True,
    ),
    "flow.rtt_noise": ({"flow.0.controller": "vegas"}, "0 s", "10 ms"),
    "event.at": (EVENT, "1 s", "2 s"),
    "event.set": (EVENT, "dumbbell.rate", "dumbbell.reverse.rate"),
    "event.to": (EVENT, "1 Mbit/s", "2 Mbit/s"),
    "event.every": (EVENT | {"event.0.to": ["1 Mbit/s", "5 Mbit/s"]}, "500 ms", "1 s"),
    "event.until": (
        EVENT | {"event.0.to": ["1 Mbit/s", "5 Mbit/s"], "event.0.every": "500 ms"},
        None,
        "1.2 s",
    ),
}
for name, column, first, then in [
    ("delay", 3, "rates.csv", "other.csv"),
    ("loss", 2, "shares.csv", "others.csv"),
]:
    table = f"dumbbell.{name}_series"
    given = ({"dumbbell.delay": None} if name == "delay" else {}) | {table: {"file": first, "column": column}}
    longer = given | {"run.duration": "7 s"}
    CASES |= {
        f"{table}.file": (given, first, then),
        f"{table}.column": (given, column, 5 - column),
        f"{table}.time": (given, 1, 4),
        f"{table}.every": (given, None, "500 ms"),
        f"{table}.unit": (given, "ms" if column == 3 else "1", "us" if column == 3 else "%"),
        f"{table}.time_unit": (given, "s", "ms"),
        f"{table}.scale": (given, 1, 0.5),
        f"{table}.between": (given, "hold", "linear"),
        f"{table}.step": (given | {f"{table}.between": "linear"}, "100 ms", "500 ms"),
        f"{table}.repeat": (longer, False, True),
    }
OBSERVES: dict[str, Case] = {
    "run.warmup": ({}, "0 s", "1 s"),
    "run.sample": ({}, "100 ms", "200 ms"),
    "link.name": (MESH, "first", "second"),
    "flow.name": ({}, "first", "second"),
    "flow.deadline": (CBR, None, "21 ms"),
}
"""Keys that change no packet, and only what is recorded, measured or called."""
INDEX = {
    NOISE + ".kind": NOISE,
    "link.from": "link.2.from",
    "link.to": "link.2.to",
    "node.name": "node.3.name",
}
"""Where a key is changed, if it is not in the first of its list; no two kinds of noise have the same keys."""


def keys(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of the schema by their places; a table that occurs again counts once."""
    links = schema["properties"]["dumbbell"]["properties"]
    senders = schema["properties"]["tcp"]["properties"]
    inherited = {"parking_lot": links, "link": links, "flow": senders}
    known: set[str] = set()

    def within(properties: Mapping[str, Any], place: str) -> Iterator[str]:
        for key, described in properties.items():
            name = f"{place}.{key}" if place else key
            inner = described.get("items", described).get("properties")
            if inner is None:
                yield name
                continue
            own = {each: inner[each] for each in inner if each not in inherited.get(name, ())}
            table = json.dumps(own, sort_keys=True)
            if table in known:
                yield name
            else:
                known.add(table)
                yield from within(own, name)

    yield from within(schema["properties"], "")


def put(tables: dict[str, Any], key: str, value: Any) -> None:
    """Set a key such as ``flow.0.rtt``; None removes it, and a table is merged."""
    *before, last = [int(step) if step.isdigit() else step for step in key.split(".")]
    at: Any = tables
    for step, following in itertools.pairwise([*before, last]):
        at = entry(at, step, [] if isinstance(following, int) else {})
    if value is None:
        at.pop(last, None)
    else:
        entry(at, last, None)
        at[last] = copy.deepcopy(value)


def entry(tables: Any, step: int | str, default: Any) -> Any:
    """Return an entry of a table or list, which is filled up to it."""
    if isinstance(step, str):
        return tables.setdefault(step, default)
    tables.extend({} for _ in range(step + 1 - len(tables)))
    return tables[step]


ECHOES = {"id", "name", "controller", "kind", "rtt_ms", "start_s", "bytes", "settings", "queue_limit"}
"""Entries of a summary that describe the scenario and not the run."""
OF_PACKETS = ("utilisation", "queue_drops", "marks", "random_losses")


def run(key: str, given: Tables, value: Any) -> engine.Run:
    tables: dict[str, Any] = copy.deepcopy(BASE)
    for place, of_place in given.items():
        put(tables, place, of_place)
    section, _, rest = key.partition(".")
    is_list = section in ("flow", "link", "event", "node")
    put(tables, INDEX.get(key, f"{section}.0.{rest}" if is_list else key), value)
    return engine.simulate(engine.read(tables), record=True)


def happened(result: engine.Run) -> str:
    """Return all measurements of the engine."""
    summary = result.summary
    measured = [
        {name: value for name, value in entry.items() if name not in ECHOES}
        for entry in [*summary["flows"], *summary["links"]]
    ]
    return json.dumps([measured, summary["packets_simulated"]])


@pytest.fixture(autouse=True)
def files(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


def test_every_key_of_the_format_has_a_case() -> None:
    assert sorted([*CASES, *OBSERVES, "node.name"]) == sorted(keys(engine.schema()))


@pytest.mark.parametrize("key", CASES)
def test_a_key_changes_what_happens(key: str) -> None:
    given, first, then = CASES[key]
    if key == "flow.transport" and not _native.QUIC:
        # The satellites' tests have QUIC.
        with pytest.raises(
            ackclock.SimulationError, match=r"^flow \S+: this build has no QUIC: run make quic"
        ):
            run(key, given, then)
        return
    assert happened(run(key, given, first)) != happened(run(key, given, then))


def only_observed(result: engine.Run) -> str:
    return json.dumps(
        [
            result.summary,
            {name: [len(column) for column in table.values()] for name, table in result.tables.items()},
        ],
        default=str,
    )


@pytest.mark.parametrize("key", OBSERVES)
def test_a_key_that_observes_changes_no_packet(key: str) -> None:
    given, first, then = OBSERVES[key]
    results = [run(key, given, value) for value in (first, then)]
    assert len({only_observed(result) for result in results}) == 2
    whole = [json.dumps([flow["whole_run"] for flow in result.summary["flows"]]) for result in results]
    assert whole[0] == whole[1]


def test_links_are_between_the_nodes_that_are_named() -> None:
    given = MESH | {"node": [{"name": name} for name in "abx"]}
    with pytest.raises(engine.ScenarioError, match='unknown node "c"'):
        run("flow.name", given, "a")
