"""The extension itself: a scenario that is read once."""

import collections.abc
import json
import pickle
import re
import threading
import types
import typing
from pathlib import Path

import jsonschema
import pytest
from polars.testing import assert_frame_equal

from ackclock import _native
from ackclock.errors import ScenarioError
from ackclock.summary import (
    Counters,
    DualPi2Summary,
    FlowSummary,
    LinkSummary,
    Settings,
    SideSummary,
    Summary,
    as_json,
    flows_table,
)
from conftest import BOTTLENECK

SCENARIOS = sorted((Path(__file__).parents[1] / "scenarios").glob("*.toml"))
TEXT = f"""\
[run]
duration = "3 s"
warmup = "1 s"
{BOTTLENECK}
[[flow]]
controller = "reno"
[[flow]]
controller = "cubic"
count = 2
"""


def read(*settings):
    return _native.Scenario.read(TEXT, "two.toml", list(settings))


def test_a_scenario_says_what_it_is():
    scenario = read()
    assert (scenario.duration_s, scenario.warmup_s, scenario.seed) == (3.0, 1.0, 1)
    assert scenario.controls == ["reno", "cubic"]
    assert scenario.file == "two.toml"
    assert repr(scenario) == "<Scenario two.toml: reno, cubic; 3 s>"
    assert re.fullmatch("s1:[0-9a-f]{32}", scenario.digest)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_complete_text_is_the_same_scenario(path):
    settings = ["run.duration=35 s", "run.warmup=1 s"]
    scenario = _native.Scenario.read(path.read_text(), str(path), settings)
    again = _native.Scenario.read(scenario.toml(), str(path))
    assert again == scenario
    assert again.toml() == scenario.toml()
    assert hash(again) == hash(scenario)
    for tables in (scenario.tables(), scenario.written()):
        assert _native.Scenario.read(json.dumps(tables), str(path), is_json=True) == scenario
    assert again.simulate() == scenario.simulate()


def test_equality_is_of_the_meaning():
    assert read("run.duration=3000 ms") == read()
    assert read("run.seed=2") != read()
    assert len({read(), read("run.duration=3000 ms"), read("run.seed=2")}) == 2


def test_settings_are_applied_to_what_was_written():
    # The rate of the other direction follows that of the link, for the file does not give it.
    changed = read().with_("dumbbell.rate=5 Mbit/s", "tcp.profile=linux")
    data = changed.tables()
    assert data["dumbbell"]["reverse"]["rate"] == "5 Mbit/s"
    assert data["tcp"]["recovery"] == "rack"
    assert changed == read("dumbbell.rate=5 Mbit/s", "tcp.profile=linux")
    with pytest.raises(ScenarioError) as caught:
        read().with_("flow.0.rtt=1 ms")
    assert str(caught.value).startswith("--set flow.0.rtt=1 ms: flow.0.rtt: must be at least")


def test_prepare_is_told_the_controls_before_the_check():
    prepared = []

    def prepare(names):
        prepared.append(names)
        return {}

    setting = "flow.1.controller=no.module:Class"
    with pytest.raises(ScenarioError, match="unknown control"):
        _native.Scenario.read(TEXT, "two.toml", [setting], prepare=prepare)
    assert prepared == [["reno", "no.module:Class"]]

    def fail(names):
        raise LookupError(names[0])

    with pytest.raises(LookupError, match="reno"):
        _native.Scenario.read(TEXT, "two.toml", prepare=fail)
    prepared.clear()
    # A changed scenario is prepared as the first one was.
    _native.Scenario.read(TEXT, "two.toml", prepare=prepare).with_("flow.0.controller=fit")
    assert prepared == [["reno", "cubic"], ["fit", "cubic"]]


def test_it_knows_its_path(tmp_path):
    # A way over two links, of which the second is slower, and one flow against it.
    (tmp_path / "slow.trace").write_text("10\n20\n40\n")
    (tmp_path / "lost.txt").write_text("0 1\n")
    scenario = _native.Scenario.read(
        """\
[run]
duration = "10 s"
warmup = "2 s"
[[link]]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "droptail", limit = "9 packets" }
[[link]]
name = "second"
from = "b"
to = "c"
rate_trace = "slow.trace"
delay = "5 ms"
queue = { kind = "droptail", limit = "9 packets" }
[[flow]]
source = "cbr"
rate = "1 Mbit/s"
from = "a"
to = "b"
rtt = "12 ms"
[[flow]]
controller = "reno"
from = "a"
to = "c"
rtt = "40 ms"
packet = "1250 B"
[[event]]
at = "6 s"
set = "link.a-b.rate"
to = "2 Mbit/s"
[[event]]
at = "7 s"
set = "link.a-b.loss"
to = { kind = "trace", file = "lost.txt" }
""",
        str(tmp_path / "two.toml"),
    )
    # The trace sends 3 times 1500 bytes in 40 ms: 36 000 bit / 0.04 s.
    assert (scenario.bottleneck, scenario.mean_rate_mbps()) == ("second", 0.9)
    # 0.9 Mbit/s for 40 ms are 4500 bytes, 3.6 packets of 1250 bytes.
    assert scenario.bdp_packets == 3.6
    assert scenario.rtts_s == [0.012, 0.04]
    assert scenario.packet_bytes == [1000, 1250]
    # Of the 8 s that are measured, 4 s at 10 Mbit/s and 4 s at 2 Mbit/s.
    assert scenario.mean_rate_mbps("a-b") == 6.0
    assert scenario.mean_rate_mbps("a-b", from_s=0.0, to_s=8.0) == 8.0
    assert scenario.mean_rate_mbps("a-b", from_s=7.0, to_s=7.0) is None
    with pytest.raises(ValueError, match='no link "b-a"; there are: a-b, a-b-reverse, second'):
        scenario.mean_rate_mbps("b-a")
    assert scenario.files == {"slow.trace": "10\n20\n40\n", "lost.txt": "0 1\n"}


def event(at, key, to, more=""):
    return f'[[event]]\nat = "{at}"\nset = "dumbbell.{key}"\nto = {to}\n{more}'


CHANGES = {
    "constant": ('rate = "5 Mbit/s"', ""),
    "trace": ('rate_trace = "slow.trace"', ""),
    "square": ('rate = "5 Mbit/s"\nsquare = { rate = "1 Mbit/s", period = "700 ms" }', ""),
    "down": ('rate = "5 Mbit/s"', event("3 s", "up", "false") + event("4500 ms", "up", "true")),
    "down at first": ('rate = "5 Mbit/s"\nup = false', event("2 s", "up", "true")),
    "in turn": ('rate = "5 Mbit/s"', event("1 s", "rate", '["2 Mbit/s", "7 Mbit/s"]', 'every = "900 ms"\n')),
    "drawn": (
        'rate = "5 Mbit/s"',
        event("1 s", "rate", '{ uniform = ["1 Mbit/s", "9 Mbit/s"] }', 'every = "800 ms"\n'),
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("run", [0, 1])
def test_its_rate_is_what_a_full_link_carries(kind, run, tmp_path):
    """Datagrams at twice the rate keep the queue full, so that as much arrives as the link can send."""
    (tmp_path / "slow.trace").write_text("10\n20\n40\n")
    link, events = CHANGES[kind]
    text = f"""\
[run]
duration = "9 s"
warmup = "1300 ms"
[dumbbell]
{link}
delay = "0 ms"
reverse = {{ rate = "5 Mbit/s" }}
queue = {{ kind = "droptail", limit = "50 packets" }}
[[flow]]
source = "cbr"
rate = "20 Mbit/s"
rtt = "0 ms"
packet = "250 B"
{events}"""
    scenario = _native.Scenario.read(text, str(tmp_path / "full.toml"))
    summary, _ = scenario.simulate(run=run)
    # Packets of 2 kbit are whole, and six of them leave with one opportunity of the trace: 12 kbit in 7.7 s.
    slack = 12e-3 / 7.7
    goodput = summary["flows"][0]["goodput_mbps"]
    assert goodput == pytest.approx(scenario.mean_rate_mbps(run=run), abs=slack)
    assert kind == "drawn" or scenario.mean_rate_mbps(run=1) == scenario.mean_rate_mbps(run=0)


def test_it_cannot_be_changed_or_made_otherwise():
    scenario = read()
    with pytest.raises(AttributeError):
        scenario.seed = 2
    with pytest.raises(TypeError):
        type(scenario)()


def test_it_can_be_pickled():
    again = pickle.loads(pickle.dumps(read("flow.0.rtt=50 ms")))  # noqa: S301
    assert again == read("flow.0.rtt=50 ms")
    assert again.file == "two.toml"
    # Settings still find the keys as written.
    changed = again.with_("dumbbell.rate=5 Mbit/s")
    assert changed == read("flow.0.rtt=50 ms", "dumbbell.rate=5 Mbit/s")


def test_threads_run_one_scenario_at_once():
    scenario = read()
    alone = [scenario.simulate(run=run)[0] for run in range(4)]
    assert len({summary["digest"] for summary in alone}) == 4
    together = [None] * 4

    def work(run):
        together[run] = scenario.simulate(run=run)[0]

    threads = [threading.Thread(target=work, args=(run,)) for run in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a run of 3 s took more than 60 s"
    assert together == alone


def test_a_run_gives_tables_and_progress():
    seen = []
    summary, tables = read().simulate(record=True, progress=lambda *progress: seen.append(progress))
    assert summary["duration_s"] == 3.0
    assert set(tables) == {"windows", "queues", "events", "requests"}
    # Three flows, sampled every 100 ms of 3 s, first after 100 ms.
    assert len(tables["windows"]["time_s"]) == 3 * 30

    def stop(*_told):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read("run.duration=1 h", "dumbbell.rate=100 Mbit/s").simulate(progress=stop)


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("80 ms", "time_s", 0.08),
        ("0.1s", "time_s", 0.1),
        ("100mbit", "rate_bps", 1e8),
        ("1 Gbit/s", "rate_bps", 1e9),
        ("2 MB", "size_bytes", 2e6),
        ("50 packets", "packets", 50),
        ("1%", "fraction", 0.01),
        ("1e-3", "fraction", 0.001),
        ("250 %", "number", 2.5),
        ("1e6", "number", 1e6),
    ],
)
def test_quantities(text, kind, number):
    assert _native.quantity(text, kind) == number


@pytest.mark.parametrize(
    ("text", "kind", "problem"),
    [
        ("80", "time_s", "the unit is missing; expected a time such as"),
        ("-80 ms", "time_s", "must not be negative; expected a time such as"),
        ("5 ms", "rate_bps", "unknown unit; expected a rate such as"),
        ("0 Mbit/s", "rate_bps", "must be above 0 bit/s"),
        ("150%", "fraction", "must lie between 0 % and 100 %, is 150 %"),
        ("x", "number", "expected a share"),
        ("1 s", "weight", 'unknown kind "weight"; allowed: time_s, rate_bps'),
    ],
)
def test_refused_quantities(text, kind, problem):
    with pytest.raises(ValueError, match=re.escape(problem)):
        _native.quantity(text, kind)


def test_sizes_of_queues():
    assert _native.limit("100 packets") == (100, "packets")
    assert _native.limit("125 kB") == (125_000, "B")
    with pytest.raises(ValueError, match="expected packets, bytes, a time"):
        _native.limit("5 ms")


def test_the_engine_is_named_by_its_sources():
    assert re.fullmatch("[0-9a-f]{16}", _native.ENGINE)


def test_what_a_run_gives_is_described():
    summary, tables = read().simulate(record=True)
    columns = _native.columns()
    assert list(columns) == ["windows", "queues", "events", "requests", "flows", "links"]
    for name, table in tables.items():
        described = [column for column, _, _ in columns[name]]
        # Controls add columns of their own to the windows.
        assert list(table)[: len(described)] == described
        for column, kind, meaning in columns[name]:
            values = table[column]
            assert kind == ("string" if isinstance(values, list) else values.dtype.name)
            assert meaning
    schema = json.loads(_native.summary_schema())
    assert sorted(summary) == sorted(schema["required"])
    assert sorted(summary["flows"][0]) == sorted(schema["$defs"]["FlowSummary"]["required"])
    assert schema["$defs"]["FlowSummary"]["properties"]["goodput_mbps"]["type"] == ["number", "null"]
    kinds = {name: kind for name, kind, _ in columns["flows"]}
    assert (kinds["id"], kinds["name"], kinds["mean_window"]) == ("uint32", "string", "float64")
    assert kinds["whole_run_timeouts"] == "uint64"


def test_the_types_of_a_summary_are_those_that_the_engine_describes() -> None:
    schema = json.loads(_native.summary_schema())
    described = {"Summary": schema, **schema["$defs"]}
    kinds = {"string": str, "integer": int, "number": float, "null": type(None)}
    for typed in (Summary, FlowSummary, LinkSummary, DualPi2Summary, SideSummary, Counters):
        properties = described[typed.__name__]["properties"]
        hints = typing.get_type_hints(typed)
        assert hints.keys() == properties.keys(), typed.__name__
        for name, property_ in properties.items():
            if "enum" in property_:
                assert typing.get_args(hints[name]) == tuple(property_["enum"])
                continue
            words = property_.get("type")
            plain = [words] if isinstance(words, str) else words or []
            if not set(plain) <= kinds.keys() or not plain:
                continue  # Lists and tables: their entries are compared by themselves.
            union = set(typing.get_args(hints[name]) or (hints[name],))
            assert union == {kinds[word] for word in plain}, (typed.__name__, name)


def test_a_summary_with_every_kind_of_flow_has_the_keys_and_values_of_the_schema() -> None:
    schema = json.loads(_native.summary_schema())
    # A key that is not described would be valid, too.
    for described in (schema, *schema["$defs"].values()):
        described["additionalProperties"] = False
    flows = [
        'controller = "reno"',
        'controller = "tfrc"',
        'source = "cbr", rate = "100 kbit/s"',
        'source = "media", rate = "300 kbit/s"',
        'source = "web", think = "100 ms"',
    ]
    tables = ", ".join(f"{{ {flow} }}" for flow in flows)
    queue = 'dumbbell.queue={ kind = "dualpi2", limit = "100 packets" }'
    summary, _ = read(f"flow=[{tables}]", queue).simulate()
    kinds = schema["$defs"]["FlowSummary"]["properties"]["kind"]["enum"]
    assert [flow["kind"] for flow in summary["flows"]] == kinds
    assert "dualpi2" in summary["links"][0]
    jsonschema.validate(summary, schema)


def test_a_summary_is_what_its_types_say() -> None:
    changed = [
        *("flow.0.start={ uniform = ['0 s', '1 s'] }", "flow.0.stop=2 s", "flow.0.limit=1 Mbit/s"),
        *("flow.1.bytes=1 MB", "flow.1.receive_window=64", "flow.1.initial_ssthresh=30"),
    ]
    # Flows of every kind, with numbers that have exponents, and words beyond ASCII.
    every = [
        'flow=[{ controller = "reno", name = "größte \U0001f600", start = "0.00001 s" },'
        ' { controller = "tfrc" }, { source = "cbr", rate = "100 kbit/s" },'
        ' { source = "media", rate = "300 kbit/s" }, { source = "web", think = "100 ms" },'
        ' { controller = "cubic", start = "2.9999 s" }]'
    ]
    for settings in ([], changed, every):
        summary, _ = read(*settings).simulate()
        assert is_of(summary, Summary)
        lazy, _ = read(*settings).simulate(lazy=True)
        assert is_of(lazy, Summary)
        flows = lazy["flows"]
        assert lazy | {"flows": list(flows)} == summary
        assert pickle.loads(pickle.dumps(flows)) == flows[:] == summary["flows"]  # noqa: S301
        assert flows[-1] == summary["flows"][-1]
        assert "".join(as_json(lazy, indent=2)) == json.dumps(summary, indent=2)
        assert "".join(as_json(lazy)) == json.dumps(summary)
        # From arrays as from dictionaries, with the same types where every cell is empty.
        assert_frame_equal(flows_table(lazy["flows"]), flows_table(summary["flows"]))
        # In the order in which both declare the keys.
        assert list(summary) == list(typing.get_type_hints(Summary))
        assert list(summary["flows"][0]["settings"]) == list(typing.get_type_hints(Settings))


def is_of(value: object, hint: object) -> bool:
    """Whether a value is of a type, to the last of its parts."""
    parts = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return value in parts
    if origin in (typing.Union, types.UnionType):
        return any(is_of(value, part) for part in parts)
    if origin in (list, collections.abc.Sequence):
        return isinstance(value, list | _native.Flows) and all(is_of(entry, parts[0]) for entry in value)
    if origin is dict:
        return isinstance(value, dict) and all(is_of(entry, parts[1]) for entry in value.values())
    if typing.is_typeddict(hint):
        hints = typing.get_type_hints(hint)
        # Links that have no such queue leave it out.
        is_whole = isinstance(value, dict) and value.keys() | {"dualpi2"} == hints.keys() | {"dualpi2"}
        return is_whole and all(is_of(entry, hints[key]) for key, entry in value.items())
    return type(value) is hint
