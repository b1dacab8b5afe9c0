"""The comparison: its numbers are those of the runs, and its errors are one line."""

import html
import json
import math
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ackclock
from ackclock import comparison, engine, runs, simulate
from ackclock.comparison import conclusion, options, page, quantities, questions, ranking, words, work
from ackclock.comparison.charts import charts
from ackclock.engine import build, integrity
from ackclock.metrics import Estimate
from ackclock.runs import Answer, Job
from conftest import Finished

SETTING = comparison.PathSetup(
    build.Path(10.0, 40.0, queue_packets=30), duration_s=30.0, runs=3, profile="ns2"
)


@pytest.fixture(scope="module")
def compared() -> comparison.Comparison:
    return comparison.compare(SETTING, ["reno", "cubic-linux", "constant"])


def _runs(name: str, control: str) -> list[dict[str, Any]]:
    scenario = questions.scenarios(SETTING, control)[name]
    return [simulate(scenario, run=run, record=False).summary for run in range(3)]


def test_answers_are_means_over_runs(compared: comparison.Comparison) -> None:
    alone = [run["flows"][0] for run in _runs("alone", "reno")]
    goodput = sum(flow["goodput_mbps"] for flow in alone) / 3
    delay = sum(flow["mean_rtt_ms"] for flow in alone) / 3 - 40.0
    assert compared.estimates["goodput"]["reno"].value == pytest.approx(goodput)
    assert compared.estimates["delay"]["reno"].value == pytest.approx(delay)
    shared = [run["flows"] for run in _runs("next to Reno", "cubic-linux")]
    usual = [run["flows"][1]["goodput_mbps"] for run in _runs("next to Reno", "reno")]
    stolen = [1 - flows[1]["goodput_mbps"] / reno for flows, reno in zip(shared, usual, strict=True)]
    estimate = compared.estimates["stolen_reno"]["cubic-linux"]
    assert estimate.value == pytest.approx(100 * sum(stolen) / 3)


def test_every_scenario_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def counted(text: str, file: str, **options: Any) -> engine.Scenario:
        texts.append(text)
        return original(text, file, **options)

    original = engine.parse
    monkeypatch.setattr(engine, "parse", counted)
    monkeypatch.setattr("ackclock.engine.scenario.parse", counted)
    short = replace(SETTING, duration_s=3.0, runs=2)
    comparison.compare(short, ["reno", "cubic"])
    # Six for each control, but Reno next to Reno is also its scenario against itself; one more has two flows
    # of CUBIC of Linux, as the reference for the loss of such a flow.
    assert len(texts) == len(set(texts)) == 6 + 6 - 1 + 1


def test_what_must_be_true_of_any_run(compared: comparison.Comparison) -> None:
    # Reno takes no more from Reno than another Reno flow would, and cannot exceed the link.
    assert compared.estimates["stolen_reno"]["reno"].value == 0.0
    assert compared.estimates["stolen_cubic-linux"]["cubic-linux"].value == 0.0
    for control in compared.controls:
        assert 0 < compared.estimates["goodput"][control].value <= 10.0
        # 30 packets of 8000 bits at 10 Mbit/s take 24 ms, one more is in transmission.
        assert compared.estimates["delay_p95"][control].value <= 24.0 + 2 * 0.8
        assert 0.5 <= compared.estimates["itself"][control].value <= 1.0
        assert compared.estimates["worse"][control].value <= 50.0
    # A constant window regains its rate with the link; earlier losses cost a second or two.
    assert 1.0 <= compared.estimates["recovery"]["constant"].value <= 3.0


def test_reno_next_to_reno_is_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulated: list[Job] = []

    def counted(*arguments: Any, **options: Any) -> Generator[tuple[Job, Answer], None, None]:
        for job, answer in runs.each(*arguments, **options):
            simulated.append(job)
            yield job, answer

    monkeypatch.setattr(work, "each", counted)
    short = comparison.PathSetup(build.Path(2.0, 40.0, queue_packets=10), duration_s=5.0, runs=2)
    comparison.compare(short, ["reno", "cubic-linux"], cache=tmp_path)
    # Six scenarios of two controls are twelve; Reno against itself is Reno next to Reno, and CUBIC
    # against itself is CUBIC next to CUBIC: ten, run twice.
    assert len(simulated) == len(set(simulated)) == 20
    assert len(list(tmp_path.rglob("summary.json"))) == 20


def test_the_default_length_is_four_cycles_of_reno() -> None:
    # 10 Mbit/s and 40 ms are 50 packets; with as many in the buffer Reno climbs from 50 to 100, a
    # packet per round trip of 40 to 80 ms, 60 on average: 3 s. The shortest run is 60 s.
    small = comparison.PathSetup(build.Path(10.0, 40.0))
    assert small.path.buffer_packets == 50
    assert small.reno_cycle_s == pytest.approx(3.0)
    assert small.run_s == 60.0
    # 100 Mbit/s and 100 ms: 25 times the packets in 2.5 times the round trip, 187.5 s, too long.
    assert comparison.PathSetup(build.Path(100.0, 100.0)).reno_cycle_s == pytest.approx(187.5)
    assert comparison.PathSetup(build.Path(100.0, 100.0)).run_s == 600.0


def test_a_page_has_all_answers_and_needs_no_network(compared: comparison.Comparison, tmp_path: Path) -> None:
    page.write(compared, tmp_path, "ackclock compare reno")
    text = (tmp_path / "index.html").read_text()
    assert "://" not in text
    assert len(text) < 1_500_000
    for question in comparison.QUESTIONS:
        assert question.title.replace("'", "&#39;") in text
    table = pl.read_parquet(tmp_path / "answers.parquet")
    assert table.height == len(comparison.QUESTIONS) * 3
    scenario = tmp_path / "scenarios" / "alone-constant.json"
    assert scenario.name in text
    again = simulate(scenario).flows["goodput_mbps"].item()
    assert again == _runs("alone", "constant")[0]["flows"][0]["goodput_mbps"]


def test_pictures_are_drawn_on_request_and_never_belong_to_another_page(
    compared: comparison.Comparison, tmp_path: Path
) -> None:
    page.write(compared, tmp_path, "ackclock compare reno", pictures=True)
    first = {file: (tmp_path / file).read_bytes() for file in page.PICTURES}
    assert sorted(first) == sorted(
        f"{place}.{ending}" for place in charts(compared) for ending in ("pdf", "png")
    )
    assert integrity.problem_of(tmp_path) is None
    page.write(compared, tmp_path, "ackclock compare reno", pictures=True)
    assert {file: (tmp_path / file).read_bytes() for file in page.PICTURES} == first
    page.write(compared, tmp_path, "ackclock compare reno")
    assert not any((tmp_path / file).exists() for file in page.PICTURES)
    assert integrity.problem_of(tmp_path) is None


@given(
    st.one_of(
        st.tuples(st.integers(1, 10**6), st.sampled_from(["ms", "s"])),
        st.tuples(st.integers(1, 1000), st.sampled_from(["min", "h"])),
    ),
    st.sampled_from(["", " "]),
)
def test_a_comparison_takes_every_duration_that_a_scenario_takes(
    given_time: tuple[int, str], space: str
) -> None:
    number, unit = given_time
    text = f"{number}{space}{unit}"
    seconds = quantities.duration_s(text)
    queue = {"kind": "droptail", "limit": "9 packets"}
    checked = engine.read(
        {
            "run": {"duration": text, "warmup": "0 s", "sample": "100 h"},
            "dumbbell": {"rate": "1 Mbit/s", "delay": "1 ms", "queue": queue},
            "flow": [{"controller": "reno", "rtt": "10 ms"}],
        }
    )
    assert seconds == pytest.approx(checked.duration_s)


def test_a_duration_that_no_scenario_takes_is_refused_with_its_bound() -> None:
    for text in ("181 days", "5000 h", "0s", "-1s", "soon"):
        with pytest.raises(ValueError, match="at most 180 days"):
            quantities.duration_s(text)


def test_a_comparison_of_two_minutes_and_of_a_scenario_that_is_as_long() -> None:
    setting = options.of_numbers(rate="1mbit", rtt="20ms", duration_s=quantities.duration_s("2min"))
    assert setting.run_s == 120


def test_only_pictures_need_matplotlib(tmp_path: Path) -> None:
    script = (
        "import sys; from ackclock.cli.main import main\n"
        "try: main()\n"
        "finally: print('matplotlib' in sys.modules)"
    )
    command = [sys.executable, "-c", script, "compare", "reno", "--rate", "2mbit"]
    command += ["--rtt", "20ms", "--duration", "5s", "--runs", "2"]
    outputs = [
        subprocess.run([*command, *more], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
        for more in ([], ["--pictures"])
    ]
    first, again = (output.splitlines() for output in outputs)
    assert (first.pop(), again.pop()) == ("False", "True")
    assert first == again


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(12.3456, 12.0, 12.6912, 5), "12.35 ± 0.35"),
        (Estimate(1234.5, 1100.0, 1369.0, 5), "1234 ± 134"),
        (Estimate(0.5, float("nan"), float("nan"), 1), "0.5"),
        (Estimate(float("nan"), float("nan"), float("nan"), 1), "-"),
        (Estimate(float("inf"), float("nan"), float("nan"), 3, "in 2 of 3 runs"), "never (in 2 of 3 runs)"),
        (Estimate(100.0, 100.0, 100.0, 5), "100 ± 0"),
    ],
)
def test_estimates_in_words(estimate: Estimate, text: str) -> None:
    assert page.words(estimate) == text


@pytest.mark.parametrize(
    ("text", "value"), [("100mbit", 100.0), ("1 Gbit/s", 1000.0), ("56kbps", 0.056), ("1e7bit", 10)]
)
def test_rates_as_people_write_them(text: str, value: float) -> None:
    assert quantities.rate_mbps(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reno", "--rate", "fast"], "not a rate: 'fast'; write e.g. 100mbit"),
        (["reno", "--rtt", "80"], "not a time from 1 us to 100 s: '80'; write 80ms if that is meant"),
        (["reno", "--loss", "150%"], "not a loss rate: '150%'"),
        (["reno", "--loss", "0.5"], "write 50% if that is meant, or 0.5%"),
        (["reno", "--buffer", "2furlongs"], "not a buffer: '2furlongs'; write e.g. 250, 2bdp"),
        (["reno", "--path", "moon"], 'unknown value "moon"'),
        (["reno", "--path", "geo", "--scenario", "a.toml"], "use only one"),
        (["reno", "--duration", "120", "s"], "s is a unit, which belongs to its number: write e.g. 120s"),
        (["reno", "--path", "moon", "--dry-run"], 'unknown value "moon"'),
        (["reno", "illinios"], 'unknown control "illinios", did you mean "illinois"'),
        (["nowhere:Mine"], "module not found: nowhere"),
    ],
)
def test_a_wrong_command_is_one_line(
    ackclock_here: Callable[..., Finished], tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = ackclock_here("compare", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "results").exists()


def test_the_command_prints_every_answer(tmp_path: Path, ackclock_here: Callable[..., Finished]) -> None:
    path_of_it = ["--rate", "2mbit", "--rtt", "20ms", "--loss", "1%"]
    done = ackclock_here("compare", "reno", *path_of_it, "--duration", "20s", "--runs", 2, "--json")
    assert done.returncode == 0
    rows = json.loads(done.stdout)
    assert [row["question"] for row in rows] == [question.key for question in comparison.QUESTIONS]
    assert (tmp_path / "results" / "comparison" / "index.html").exists()


def test_one_run_has_no_interval_and_says_so_quietly(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "ackclock", "compare", "reno", "cubic"]
    command += ["--rate", "2mbit", "--rtt", "20ms", "--duration", "5s", "--runs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stderr == ""
    assert "one run has no interval, so nothing is decided" in done.stdout
    assert "±" not in done.stdout
    # The printed commands work in the directory where the page was made.
    page_text = (tmp_path / "results" / "comparison" / "index.html").read_text()
    printed = re.findall(r'<code class="command">(.*?)</code>', page_text)
    again = [shlex.split(html.unescape(text)) for text in printed]
    assert again[0][1:] == ["simulate", "results/comparison/scenarios/alone-reno.json"]
    assert again[1][1:] == command[5:]
    subprocess.run([*command[:5], *again[0][1:]], capture_output=True, check=True, cwd=tmp_path)


@pytest.mark.parametrize(
    ("text", "packets"),
    [
        # 20 Mbit/s for 600 ms are 12 Mbit: 1500 packets of 8000 bits. 100 ms of it are 250.
        ("1bdp", 1500),
        ("2 BDP", 3000),
        ("0.5bdp", 750),
        ("100ms", 250),
        ("0.1 s", 250),
        ("3MB", 3000),
        ("1500 kB", 1500),
        ("250", 250),
        ("250 packets", 250),
    ],
)
def test_buffers_as_people_write_them(text: str, packets: int) -> None:
    assert quantities.buffer_packets(text, 20.0, 600.0) == packets


def test_a_path_by_its_name(tmp_path: Path) -> None:
    given: dict[str, Any] = dict.fromkeys(("rate", "rtt", "buffer", "loss", "queue", "profile"))
    geo = options.of_name("geo", **given, runs=2)
    assert (geo.path.rate_mbps, geo.path.rtt_ms, geo.path.buffer_packets) == (20.0, 600.0, 1500)
    assert geo.loss == 0.001
    assert geo.profile == "linux"
    # A host tuned for the path would allow 4 * (1500 + 1500) packets; one that is not allows more.
    assert geo.receive_window == 16_777
    assert "random loss 0.1 %" in geo.describe()
    file = tmp_path / "wifi.toml"
    file.write_text(
        'path = "wifi"\nrun = { duration = "30 s" }\n'
        '[[flow]]\ncontroller = "reno"\nrtt = "50 ms"\n'
        '[[flow]]\nsource = "cbr"\nrate = "1 Mbit/s"\n'
    )
    wifi = options.of_file(file, **given | {"buffer": "100ms"}, flows=3)
    scenario = questions.scenarios(wifi, "cubic")["next to Reno"].written()
    # 100 Mbit/s for 100 ms are 1250 packets.
    assert scenario["dumbbell"]["queue"]["limit"] == "1250 packets"
    assert scenario["dumbbell"]["queue"]["kind"] == "fq_codel"
    assert [flow.get("count", 1) for flow in scenario["flow"]] == [3, 3, 1]
    assert (wifi.run_s, wifi.path.rtt_ms) == (30.0, 50.0)


def test_flows_are_counted_together() -> None:
    setting = comparison.PathSetup(build.Path(10.0, 40.0), duration_s=20.0, runs=2, flows=4)
    several = comparison.compare(setting, ["reno"])
    # Four flows fill the link as one does.
    assert 9.0 < several.estimates["goodput"]["reno"].value <= 10.0
    assert 0.5 < several.estimates["itself"]["reno"].value <= 1.0


class Idle(ackclock.Control):
    """A window of two packets, whatever happens."""

    def __init__(self, start: ackclock.Start) -> None:
        super().__init__(start)
        self.window = 2.0

    def on_ack(self, ack: ackclock.Ack) -> None:
        pass

    def on_loss(self, loss: ackclock.Loss) -> None:
        pass


@pytest.mark.parametrize(
    "setting",
    [
        comparison.PathSetup(build.Path(10.0, 100.0), duration_s=20.0, runs=3),
        comparison.PathSetup(build.Path(100.0, 40.0, buffer_bdp=0.1), duration_s=10.0, runs=3),
        options.of_name("geo", duration_s=30.0, runs=3),
    ],
    ids=["plain", "shallow", "geo"],
)
def test_an_idle_control_wins_nothing(setting: comparison.PathSetup) -> None:
    ackclock.register("idle", Idle)
    # Two packets of 1000 bytes per 100 ms are 0.16 Mbit/s, less than a tenth of what Reno carries.
    done = comparison.compare(setting, ["idle", "reno"])
    for question in comparison.QUESTIONS:
        if question.margin is not None:
            assert "idle" not in ranking.rank(done, question).leaders, question.key
    named = [line for line in conclusion.sentences(done) if line.startswith("idle is not ranked")]
    assert len(named) == 1
    assert not any(line.startswith("With ") and "idle" in line for line in conclusion.sentences(done))


def test_a_control_with_a_tenth_of_the_best_is_ranked() -> None:
    ranked = {
        rate: ranking.idle_controls(_compared(a=[10.0] * 5, b=[rate] * 5)) for rate in (0.99, 1.0, 1.01)
    }
    assert ranked == {0.99: ("b",), 1.0: (), 1.01: ()}


def _compared(**goodputs: list[float]) -> comparison.Comparison:
    setting = comparison.PathSetup(build.Path(10.0, 40.0), duration_s=30.0, runs=5)
    values = {question.key: {name: goodputs[name] for name in goodputs} for question in comparison.QUESTIONS}
    estimates = {
        question.key: {name: question.estimate(numbers) for name, numbers in values[question.key].items()}
        for question in comparison.QUESTIONS
    }
    return comparison.Comparison(setting, tuple(goodputs), estimates, values, (), {}, {})


def _first(**goodputs: list[float]) -> str:
    return conclusion.sentences(_compared(**goodputs))[0]


def test_the_first_sentence_says_only_what_runs_decide() -> None:
    # The margin is a tenth, ln 1.1 = 0.095. 9.5 has a standard error of 0.22 (0.024 of it), 5 has none:
    # ln 1.9 - 2.776 * 0.024 = 0.58 is past the margin.
    text = _first(a=[9, 9.5, 10, 9, 10], b=[5, 5, 5, 5, 5])
    assert text.startswith("On this path a has the highest goodput alone (9.5 of 10 Mbit/s); b reaches 5")
    # 9.28 against 9.6, with errors of 0.032 and 0.026: 0.034 + 1.86 * 0.041 = 0.110 reaches past the margin.
    text = _first(a=[9, 10, 10, 9, 10], b=[8.5, 9.5, 10, 8.5, 9.9])
    expected = (
        "On this path the runs do not tell which control has the highest goodput alone (9.28 to 9.6 of 10"
    )
    assert text.startswith(expected)
    assert "more run" in text
    # A third that is far behind: a leads it, and b is open.
    text = _first(a=[9, 10, 10, 9, 10], b=[8.5, 9.5, 10, 8.5, 9.9], c=[1, 1, 1, 1, 1])
    assert text.startswith("On this path a has the highest goodput alone (9.6 of 10 Mbit/s); c reaches 1")
    assert "; b (9.28) is undecided, about" in text
    assert _first(a=[9.9] * 5, b=[9.8] * 5).startswith("On this path a and b have similar goodput alone")


@pytest.mark.parametrize(
    ("goodputs", "expected"),
    [
        # 8.8 of 10 is 12 % less, past a tenth; 9.2 is 8 % less, within it.
        (
            {"a": 10.0, "b": 8.8, "c": 2.0},
            "a has the highest goodput alone (10 of 10 Mbit/s); b and c reach 2 to 8.8",
        ),
        (
            {"c": 1.0, "b": 8.8, "a": 10.0},
            "a has the highest goodput alone (10 of 10 Mbit/s); b reaches 8.8; c reaches 1",
        ),
        (
            {"a": 10.0, "b": 9.2, "c": 2.0},
            "a and b have the highest goodput alone (9.2 to 10 of 10 Mbit/s), though 5 runs may miss a "
            "collapse in up to 45 % of all; c reaches 2",
        ),
        ({"a": 10.0, "b": 9.2}, "a and b have similar goodput alone (9.2 to 10 of 10 Mbit/s)"),
        (
            {"a": 2.0, "b": 10.0, "c": 10.0},
            "b and c have the highest goodput alone (10 of 10 Mbit/s), though 5 runs may miss a collapse in "
            "up to 45 % of all; a reaches 2",
        ),
        ({"a": 4.0}, "a reaches 4 of 10 Mbit/s alone, with 4 ms of queueing delay"),
    ],
)
def test_the_first_sentence_names_ties_and_what_is_behind(goodputs: dict[str, float], expected: str) -> None:
    assert _first(**{name: [value] * 5 for name, value in goodputs.items()}).startswith(
        f"On this path {expected}"
    )


def test_what_is_open_says_about_how_many_runs_would_decide_it_and_their_cost() -> None:
    compared = _compared(a=[9, 10, 10, 9, 10], b=[8.5, 9.5, 10, 8.5, 9.9])
    assert not [line for line in conclusion.sentences(compared) if "million packets" in line]
    more = ranking.rank(compared, questions.BY_KEY["goodput"]).fewest
    assert more is not None
    (line,) = [
        line
        for line in conclusion.sentences(replace(compared, packets=2e6))
        if line.startswith("By the scatter so far")
    ]
    assert more > 1
    number = int(re.findall(r"about (\d+) more runs of every control", line)[0])
    assert number >= more
    # Two million packets for each of them.
    assert f"{words.rounded(2 * number, 2)} million packets" in line


def test_one_run_decides_nothing() -> None:
    compared = _compared(a=[20.0], b=[10.0])
    text = conclusion.sentences(replace(compared, setting=replace(compared.setting, runs=1)))
    assert text[0].startswith("On this path the runs do not tell which control has the highest goodput alone")
    assert text[-1].endswith("so nothing is decided; leave out --runs.")


@pytest.mark.parametrize(
    ("shares", "warns"),
    [
        # 0.391 in six of six runs was a phase lock (39.1 % of the goodput); a fair half is fair queueing.
        ([39.12, 39.09, 39.14], True),
        ([39.1, 39.6, 38.2], False),
        ([50.0, 50.01, 49.99], False),
        ([39.1], False),
        ([39.1, 39.1], False),
    ],
)
def test_a_share_that_is_the_same_in_all_runs_may_be_a_phase_lock(
    shares: list[float], *, warns: bool
) -> None:
    setting = comparison.PathSetup(build.Path(10.0, 40.0), duration_s=30.0, runs=len(shares))
    values = {question.key: {"a": [1.0] * len(shares)} for question in comparison.QUESTIONS}
    values["beside_reno"] = {"a": shares}
    for key in ("worse", "beside_cubic-linux"):
        values[key] = {"a": [50.0] * len(shares)}
    text = conclusion.locks(comparison.Comparison(setting, ("a",), {}, values, (), {}, {}))
    assert [("share next to Reno" in line, "a 39.1" in line) for line in text] == [(True, True)] * warns


def test_a_sample_with_two_modes_has_no_mean_and_no_interval() -> None:
    compared = _compared(a=[10.0, 10.1, 9.9, 1.0, 10.0], b=[10.0, 9.0, 9.5, 9.2, 9.8])
    assert compared.words("goodput", "a") == "10 in 4 runs, 1 in 1"
    # Student's interval of five: 9.5 +- 2.776 * 0.412 / sqrt(5).
    assert compared.words("goodput", "b") == "9.50 ± 0.51"
    assert "10 in 4 runs, 1 in 1" in compared.to_latex()


def test_intervals_hold_nothing_impossible(compared: comparison.Comparison) -> None:
    for question in comparison.QUESTIONS:
        for estimate in compared.estimates[question.key].values():
            for end in (estimate.low, estimate.high):
                assert not end < question.least
                assert not end > question.most
    # Of two runs Student's interval is 12.7 standard errors wide: 0.6 +- 3.8 is more than 0 to 1.
    itself = next(question for question in comparison.QUESTIONS if question.key == "itself")
    assert (itself.estimate([0.3, 0.9]).low, itself.estimate([0.3, 0.9]).high) == (0.0, 1.0)
    assert page.words(itself.estimate([0.3, 0.9])) == "0.60 [0.00, 1.00]"
    # Ratios of 2 and 1/2 are 1 on average, and no interval of them reaches 0.
    ratio = next(question for question in comparison.QUESTIONS if question.is_ratio)
    assert ratio.estimate([2.0, 0.5]).value == pytest.approx(1.0)
    assert ratio.estimate([2.0, 0.5]).low > 0.0


@pytest.mark.parametrize(
    ("runs", "standings", "sentence"),
    [
        # Two of three runs ended before it had recovered: its mean is a bound, and shows nothing.
        (
            {"cubic": [math.inf, 1.0, math.inf], "reno": [2.0, 2.0, 2.0]},
            ["undecided", "undecided"],
            "The runs do not tell who has the fastest recovery after a step: cubic at least 3 s and "
            "reno 2 s.",
        ),
        # A bound that is beyond the others is behind.
        (
            {"cubic": [math.inf] * 3, "reno": [1.0, 1.1, 0.9]},
            ["behind", "best"],
            "With the fastest recovery after a step: reno 1 s; behind: cubic at least 4 s.",
        ),
        # Controls without bounds are compared as before, next to an open one.
        (
            {"cubic": [math.inf, math.inf, 1.0], "reno": [1.0, 1.1, 0.9], "bic": [3.8, 3.9, 3.7]},
            ["undecided", "best", "behind"],
            "With the fastest recovery after a step: reno 1 s; behind: bic 3.8 s; cubic (undecided).",
        ),
        (
            {"cubic": [math.inf] * 3, "reno": [math.inf] * 3},
            ["undecided", "undecided"],
            "No control had recovered after a step by the end of any run: use a longer --duration.",
        ),
    ],
)
def test_runs_that_end_before_the_recovery_are_bounds(
    compared: comparison.Comparison, runs: dict[str, list[float]], standings: list[str], sentence: str
) -> None:
    # Of a run of 10 s four tenths follow the step, and recoveries are alike within two seconds.
    setting = replace(compared.setting, duration_s=10.0, runs=3)
    names = tuple(runs)
    known = dict.fromkeys(names, compared.estimates["recovery"]["reno"])
    changed = replace(
        compared,
        setting=setting,
        controls=names,
        values={key: {name: [1.0] * 3 for name in names} for key in compared.values} | {"recovery": runs},
        estimates=dict.fromkeys(compared.estimates, known),
    )
    ranked = ranking.rank(changed, questions.BY_KEY["recovery"])
    assert list(ranked.standings.values()) == standings
    assert sentence in conclusion.sentences(changed)
