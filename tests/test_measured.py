"""Paths from measurements: what iperf3's reports, series and traces say, and what they become."""

import re
import shutil
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock import engine, sweeps
from ackclock.comparison import options
from ackclock.comparison.path import PathSetup
from ackclock.engine import carried, measured
from ackclock.engine.measured import Fact
from ackclock.engine.paths import PathChoice
from ackclock.sweeps import page, picture

DATA = Path(__file__).parent / "data" / "measured"
Here = Callable[..., Any]


def facts(*names: str, rtt: str | None = None) -> dict[str, Fact]:
    known = measured.facts([DATA / name for name in names], DATA, rtt)
    # Any set of facts gives a valid scenario.
    engine.parse(measured.toml(known), str(DATA / "path.toml"))
    return {fact.key: fact for fact in known}


def check(known: Mapping[str, Fact], expected: Mapping[str, tuple[str, object]]) -> None:
    for key, (standing, value) in expected.items():
        assert (known[key].standing, known[key].value) == (standing, value), known[key]


def test_a_transfer_that_fills_the_path_measures_it() -> None:
    known = facts("tcp.json")
    # The median of the seconds after the first is 19.31 Mbit/s of payload: times 1500/1448 20.003 in all.
    # RTTs rise from 41.2 ms to 73.5 on average and 90.3 at most: a buffer of at least 49.1 ms.
    check(
        known,
        {
            "tcp.packet": ("measured", "1500 B"),
            "dumbbell.rate": ("measured", "20.003 Mbit/s"),
            "dumbbell.delay": ("measured", "20.6 ms"),
            "dumbbell.queue": ("a bound", {"kind": "droptail", "limit": "49.1 ms"}),
            "dumbbell.loss": ("a bound", {"kind": "none"}),
            "dumbbell.delay_noise": ("cannot be known from this", None),
            "flow.controller": ("measured", "cubic-linux"),
            "run.duration": ("assumed", "60 s"),
        },
    )
    # 31 and 12 packets were sent again.
    assert "43 of" in known["dumbbell.loss"].how


def test_a_transfer_that_never_filled_the_path_says_at_least() -> None:
    known = facts("tcp-limited.json")
    # 4.9 Mbit/s times 1500/1448.
    check(known, {"dumbbell.rate": ("a bound", "5.076 Mbit/s"), "dumbbell.delay": ("measured", "20.6 ms")})
    assert known["dumbbell.rate"].how.startswith("at least this")
    assert known["dumbbell.queue"].standing == "cannot be known from this"


def test_datagrams_measure_a_rate_or_losses() -> None:
    # 25 898 packets of 1448 + 28 B in 10 s are 30.58 Mbit/s, of which 8600 do not arrive: 20.425 remain.
    check(
        facts("udp.json"),
        {"dumbbell.rate": ("measured", "20.425 Mbit/s"), "dumbbell.loss": ("a bound", {"kind": "none"})},
    )
    # 13 of 8633 packets at 10.19 Mbit/s, of which 10.178 arrive.
    slow: dict[str, tuple[str, object]] = {"dumbbell.rate": ("a bound", "10.178 Mbit/s")}
    slow["dumbbell.loss"] = ("measured", {"kind": "bernoulli", "rate": 0.001506})
    check(facts("udp-slow.json", rtt="50 ms"), slow | {"dumbbell.delay": ("measured", "25 ms")})


def test_files_complete_each_other_and_the_best_counts() -> None:
    known = facts("udp-slow.json", "tcp.json", rtt="1 s")
    # A measured rate is better than a bound, in any order of the files; so is a measured loss. A round trip
    # in a file is better than a given one.
    expected: dict[str, tuple[str, object]] = {
        "dumbbell.rate": ("measured", "20.003 Mbit/s"),
        "dumbbell.delay": ("measured", "20.6 ms"),
    }
    expected["dumbbell.loss"] = ("measured", {"kind": "bernoulli", "rate": 0.001506})
    check(known, expected)


def test_series_and_traces_are_named() -> None:
    series = facts("satellite.csv")
    assert series["dumbbell.rate_series"].standing == "a bound"
    value = series["dumbbell.delay_series"].value
    assert isinstance(value, Mapping)
    assert (value["file"], value["scale"]) == ("satellite.csv", 0.5)
    assert "dumbbell.rate" not in series
    trace = facts("cellular.trace", rtt="60 ms")
    check(
        trace,
        {"dumbbell.rate_trace": ("measured", "cellular.trace"), "dumbbell.delay": ("measured", "30 ms")},
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not JSON"),
        ("{}", "not a finished test of iperf3 --json: it has no 'start'"),
        ('{"error": "unable to connect"}', "not a finished test of iperf3 --json: unable to connect"),
        ("a,b\n1,2\n", "has no column of rates"),
        ("", "has no line"),
    ],
)
def test_other_files_are_refused(content: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(content)
    with pytest.raises(engine.ScenarioError, match=r"^[^\n]*a\.txt: ") as refused:
        measured.facts([tmp_path / "a.txt"], tmp_path)
    assert problem in str(refused.value)


def test_the_verb_writes_a_scenario_in_which_every_line_says_what_is_known(
    ackclock_here: Here, tmp_path: Path
) -> None:
    shutil.copy(DATA / "satellite.csv", tmp_path)
    path = tmp_path / "path.toml"
    ackclock_here("path", tmp_path / "satellite.csv", DATA / "tcp.json", "-o", path)
    text = path.read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("[")]
    assert all(
        any(f"# {word}" in line or f": {word}" in line for word in measured.STANDINGS) for line in lines
    )
    assert ackclock.simulate(path).summary["links"][0]["utilisation"] is not None
    assert tomllib.loads(text)["flow"] == [{"controller": "cubic-linux"}]


def test_a_result_carries_its_series(tmp_path: Path) -> None:
    shutil.copy(DATA / "satellite.csv", tmp_path)
    text = 'path = "satellite.csv"\n[run]\nduration = "2 s"\n[[flow]]\ncontroller = "reno"\n'
    (tmp_path / "a.toml").write_text(text)
    scenario = engine.read(tmp_path / "a.toml")
    moved = carried.of(scenario)
    assert set(moved.files) == {"traces/satellite.csv"}
    assert moved.scenario.written()["path"] == "traces/satellite.csv"
    assert moved.scenario.digest == scenario.digest
    complete = carried.renamed(scenario.tables(), {"satellite.csv": "x.csv"})
    assert {complete["dumbbell"][f"{key}_series"]["file"] for key in ("rate", "delay", "loss")} == {"x.csv"}


def compared(path: str, **given: Any) -> PathSetup:
    return options.of_options(path, None, "10s", runs=1, **given)


def test_compare_takes_a_file_in_place_of_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # 12 and 8 Mbit/s in turn, of which a run of 10 s without its first 2 has four seconds each; 40 ms.
    Path("a.csv").write_text("".join(f"{s},{8 if s % 2 else 12},40\n" for s in range(20)))
    setting = compared("a.csv")
    assert (setting.name, setting.path.rtt_ms) == ("a", 40)
    assert setting.path.rate_mbps == pytest.approx(10)
    # One bandwidth-delay product: 10 Mbit/s for 40 ms in packets of 8000 bits.
    assert setting.path.buffer_packets == 50
    assert compared("a.csv", buffer="2bdp").path.buffer_packets == 100
    # A given RTT replaces the RTT of the file.
    assert compared("a.csv", rtt="80ms").path.rtt_ms == 80
    assert (
        "delay_series"
        not in compared("a.csv", rtt="80ms").scenario(ackclock.flow("reno")).tables()["dumbbell"]
    )
    # A trace without an ending: an opportunity of 12 000 bits each 2 ms.
    Path("trace").write_text("2\n")
    assert compared("trace", rtt="40ms").path.rate_mbps == pytest.approx(6)
    with pytest.raises(ValueError, match=r"trace says nothing of delays; write e\.g\. --rtt 40ms"):
        compared("trace")
    with pytest.raises(ValueError, match="has a rate_series; leave out --rate"):
        compared("a.csv", rate="5mbit")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"rtt": "40"}, "not a time from 1 us to 100 s: '40'; write 40ms if that is meant"),
        ({"rate": "20M"}, "not a rate: '20M'; write 20mbit if that is meant"),
        ({"rate": "5"}, "not a rate: '5'; write 5mbit if that is meant"),
        ({"rate": "fast"}, "not a rate: 'fast'; write e.g. 100mbit"),
    ],
)
def test_a_number_without_its_unit_is_answered(given: dict[str, str], meant: str) -> None:
    with pytest.raises(ValueError) as refused:
        options.of_options(None, None, None, **given)  # type: ignore[arg-type]
    assert str(refused.value) == meant


def test_the_summary_has_the_packets_of_a_buffer() -> None:
    path = ackclock.dumbbell("10 Mbit/s", "20 ms", queue="2 bdp")
    scenario = ackclock.scenario(path, ackclock.flow("reno", rtt="40 ms"), duration="1 s")
    # 10 Mbit/s for 80 ms in packets of 1000 B.
    assert ackclock.simulate(scenario).summary["links"][0]["queue_limit"] == "100 packets"


FLOWS = """
[run]
duration = "4 s"
[dumbbell]
rate = "100 Mbit/s"
delay = "100 ms"
queue = { kind = "red", limit = "10 packets" }
[[flow]]
controller = "reno"
rtt = "300 ms"
"""


def the_path(scenario: engine.Scenario) -> tuple[Any, ...]:
    link = scenario.tables()["dumbbell"]
    kinds = tuple(key for key in ("rate_series", "rate_trace", "delay_series") if key in link)
    queue = link["queue"]
    return kinds, queue["kind"], queue["limit"], scenario.rtts_s, scenario.mean_rate_mbps(from_s=0.0)


def test_simulate_and_sweep_take_a_file_as_compare_does(
    ackclock_here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path)
    # Files are found from where the command was typed, and not from the folder of the scenario.
    Path("own/a.toml").write_text(FLOWS)
    Path("own/s.toml").write_text(
        'scenario = "a.toml"\n[parameters]\nloss = { set = "dumbbell.loss.rate", to = [0.01, 0.02] }\n'
        "[runs]\ncount = 1\n"
    )
    # 12 and 8 Mbit/s in turn, with round trips of 40 ms.
    Path("a.csv").write_text("".join(f"{s},{8 if s % 2 else 12},40\n" for s in range(20)))
    # 12 000 bits each 2 ms are 6 Mbit/s.
    Path("trace").write_text("2\n")
    loss = ["--set", "dumbbell.loss.kind=bernoulli", "--set", "dumbbell.loss.rate=0"]
    results = [
        # One bandwidth-delay product is 10 Mbit/s for 40 ms, in packets of 8000 bits; 20 ms hold 25.
        ("a.csv", [], (("rate_series", "delay_series"), "droptail", "50 packets", 0.04, 10)),
        (
            "a.csv",
            ["--buffer", "20ms"],
            (("rate_series", "delay_series"), "droptail", "25 packets", 0.04, 10),
        ),
        ("a.csv", ["--rtt", "80ms"], (("rate_series",), "droptail", "100 packets", 0.08, 10)),
        ("trace", ["--rtt", "40ms", "--buffer", "77"], (("rate_trace",), "droptail", "77 packets", 0.04, 6)),
        # A name has the queue of its path.
        ("dsl", ["--buffer", "12"], ((), "droptail", "12 packets", None, None)),
    ]
    for name, options_of, (kinds, kind, limit, rtt_s, mbps) in results:
        arguments = ["--path", name, *options_of]
        ackclock_here("simulate", "own/a.toml", *arguments, *loss, "--quiet", "-o", "out", "--force")
        (scenario,) = [engine.read(file) for file in Path("out").glob("scenario.*")]
        assert the_path(scenario)[:3] == (kinds, kind, limit), (name, options_of)
        if rtt_s is not None:
            assert scenario.rtts_s == [rtt_s]
            # The last opportunity, 12 000 bits in 4 s, is at the end.
            assert scenario.mean_rate_mbps(from_s=0.0) == pytest.approx(mbps, abs=0.0031)
        swept = sweeps.read("own/s.toml", PathChoice(name, *chosen_of(options_of)))
        assert the_path(swept.scenario) == the_path(scenario)
    # What compare measures on the same path.
    assert compared("a.csv", rtt="80ms").path.buffer_packets == 100


def chosen_of(arguments: list[str]) -> tuple[float | None, str | None]:
    values = dict(zip(arguments[::2], arguments[1::2], strict=True))
    rtt = values.get("--rtt")
    return None if rtt is None else float(rtt.removesuffix("ms")), values.get("--buffer")


def test_a_path_that_cannot_be_taken_is_refused(
    ackclock_here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.toml").write_text(FLOWS)
    Path("trace").write_text("2\n")
    row = FLOWS.replace("[dumbbell]", "[parking_lot]\nhops = 2").replace("300 ms", "500 ms")
    Path("row.toml").write_text(row)
    for arguments, problem in [
        (["a.toml", "--path", "trace"], "trace says nothing of delays; write e.g. --rtt 40ms"),
        (["a.toml", "--path", "none.csv"], "none.csv"),
        (["a.toml", "--rtt", "40ms"], "--rtt and --buffer belong to --path"),
        (["a.toml", "--path", "trace", "--rtt", "40"], "write 40ms if that is meant"),
        (["a.toml", "--path", "trace", "--rtt", "40ms", "--buffer", "many"], "dumbbell.queue.limit"),
        (["row.toml", "--path", "dsl"], "row.toml: a path takes the place of a [dumbbell]"),
    ]:
        refused = ackclock_here("simulate", *arguments)
        assert refused.returncode == 2 and problem in refused.stderr, (arguments, refused)


def text_of(page: Path) -> str:
    return re.sub(r"<[^>]*>", " ", page.read_text())


def test_every_page_has_the_packets_of_a_buffer(
    ackclock_here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # 10 Mbit/s for 40 ms in packets of 8000 bits are 50, so one and a half products are 75.
    own = FLOWS.replace("100 ms", "20 ms").replace("300 ms", "40 ms").replace("100 Mbit/s", "10 Mbit/s")
    Path("a.toml").write_text(
        own.replace('kind = "red", limit = "10 packets"', 'kind = "droptail", limit = "1.5 bdp"')
    )
    ackclock_here("simulate", "a.toml", "-o", "run")
    assert re.search(r"\bbuffer\b.*\b75 packets\b", text_of(Path("run/index.html")), re.DOTALL)
    path = ["--rate", "10mbit", "--rtt", "40ms", "--duration", "2s", "--runs", "1"]
    ackclock_here("compare", *path, "--buffer", "1.5bdp", "reno", "-o", "one")
    assert "buffer 75 packets" in text_of(Path("one/index.html"))
    ackclock_here("compare", *path, "--buffer", "1.5bdp,60ms,2bdp", "reno", "-o", "grid")
    assert "buffer of 75 (1.5bdp), 75 (60ms) or 100 (2bdp) packets" in text_of(Path("grid/index.html"))


@pytest.mark.parametrize(
    ("parameters", "shown", "cells"),
    [
        # 40 ms of 10 Mbit/s are 50 packets, and of 20 twice as many.
        (
            'rate = { set = "dumbbell.rate", unit = "Mbit/s", to = [10, 20] }',
            "",
            {"50 packets", "100 packets"},
        ),
        (
            'loss = { set = "dumbbell.queue.limit", unit = "packets", to = [30] }',
            "Buffer: 30 packets.",
            set(),
        ),
        # Averaged over the sizes, or with a curve for each.
        (
            'control = { set = "flow.0.controller", to = ["reno", "cubic"] }\n'
            'size = { set = "dumbbell.queue.limit", unit = "ms", to = [16, 80] }',
            "Buffer: 20 packets to 100 packets.",
            {"20 packets", "100 packets"},
        ),
    ],
)
def test_the_page_of_a_sweep_has_the_packets_of_a_buffer(
    parameters: str, shown: str, cells: set[str], tmp_path: Path
) -> None:
    own = FLOWS.replace('duration = "4 s"', 'duration = "1 s"').replace("100 ms", "20 ms")
    own = own.replace("300 ms", "40 ms").replace("100 Mbit/s", "10 Mbit/s")
    (tmp_path / "a.toml").write_text(
        own.replace('kind = "red", limit = "10 packets"', 'kind = "droptail", limit = "1 bdp"')
    )
    (tmp_path / "s.toml").write_text(f'scenario = "a.toml"\n[parameters]\n{parameters}\n[runs]\ncount = 1\n')
    plan = sweeps.read(tmp_path / "s.toml")
    sweeps.sweep(plan, tmp_path, jobs=1)
    table = picture.scan(tmp_path / "experiment=s")
    x = plan.parameters[0].name
    page.write(tmp_path / "page.html", table, x, "goodput_mbps", None, "ackclock sweep s.toml")
    text = (tmp_path / "page.html").read_text()
    assert set(re.findall(r"<td>([^<]* packets)</td>", text)) == cells
    assert shown in text and ("<th>buffer</th>" in text) == bool(cells)


def test_an_hour_over_a_satellite(tmp_path: Path) -> None:
    # As Starlink is measured: other rates and delays each 15 s, losses at each change, and outages.
    rows = [
        (s, 0 if s % 500 == 499 else 60 + 7 * (s // 15 % 20), 30 + s // 15 % 9, 2 if s % 15 == 0 else 0.1)
        for s in range(3600)
    ]
    (tmp_path / "hour.csv").write_text(
        "time_s,rate_mbps,rtt_ms,loss_percent\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    )
    flow = {"source": "cbr", "rate": "1 Mbit/s"}
    written = {"run": {"duration": "1 h"}, "flow": [flow]}
    scenario = PathChoice(str(tmp_path / "hour.csv")).put(written)
    rate, loss = (sum(row[column] for row in rows) / len(rows) for column in (1, 3))
    assert scenario.mean_rate_mbps(from_s=0.0) == pytest.approx(rate)
    assert scenario.loss_rate == pytest.approx(loss / 100)
    link = ackclock.simulate(scenario).summary["links"][0]
    # 1 Mbit/s for an hour are 450 000 packets of 8000 bits, of which each is lost by itself: five deviations.
    expected = 450_000 * loss / 100
    assert abs(link["random_losses"] - expected) < 5 * expected**0.5
