"""The command line, from outside: statuses, messages, formats, and nothing half-written."""

import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import click
import polars as pl
import pytest

from ackclock import engine
from ackclock.cli.main import VERBS, app
from ackclock.engine import integrity
from ackclock.runs import alone
from conftest import COMMAND, SCENARIO, wait_until

OWN = sorted(verb.name for verb in VERBS if verb.module.startswith("ackclock."))
# The keys in the order of the documentation; exactly these must be present.
SUMMARY_KEYS = [
    "version",
    "rules",
    "digest",
    "seed",
    "run",
    "duration_s",
    "measured_from_s",
    "flows",
    "links",
    "jain",
    "packets_simulated",
    "warnings",
    "notes",
    "wall_s",
]
COUNTERS = [
    "sent_packets",
    "retransmitted_packets",
    "dropped_packets",
    "loss_events",
    "timeouts",
    "duplicate_packets",
    "dropped_acks",
]
FLOW_KEYS = [
    "id",
    "name",
    "controller",
    "kind",
    "rtt_ms",
    "goodput_mbps",
    "in_order_mbps",
    "limited_by",
    "mean_window",
    "max_window",
    "mean_rtt_ms",
    "rtt_p50_ms",
    "rtt_p95_ms",
    "rtt_p99_ms",
    *COUNTERS,
    "completion_s",
    "requests_completed",
    "request_p50_s",
    "request_p95_s",
    "request_p99_s",
    "delay_p50_ms",
    "delay_p95_ms",
    "delay_p99_ms",
    "late",
    "start_s",
    "bytes",
    "whole_run",
    "settings",
]
LINK_KEYS = [
    "id",
    "queue_limit",
    "utilisation",
    "queue_drops",
    "marks",
    "random_losses",
    "mean_queue_packets",
    "max_queue_packets",
    "queue_delay_p50_ms",
    "queue_delay_p95_ms",
    "queue_delay_p99_ms",
]
FILES = [
    "checksums.json",
    "events.parquet",
    "flows.parquet",
    "index.html",
    "queues.parquet",
    "requests.parquet",
    "scenario.toml",
    "summary.json",
    "windows.parquet",
]


def one_line(finished, status):
    """Check a refusal: its status, one line on standard error, nothing on standard output."""
    assert finished.returncode == status, finished
    assert finished.stdout == ""
    lines = finished.stderr.splitlines()
    assert len(lines) == 1, finished.stderr
    return lines[0]


def test_json_has_exactly_the_keys_of_the_format(ackclock, scenario):
    finished = ackclock("simulate", scenario, "--json")
    assert (finished.returncode, finished.stderr) == (0, "")
    (line,) = finished.stdout.splitlines()
    summary = json.loads(line)
    assert list(summary) == SUMMARY_KEYS
    assert [list(flow) for flow in summary["flows"]] == [FLOW_KEYS] * 2
    assert list(summary["flows"][0]["whole_run"]) == COUNTERS
    assert list(summary["links"][0]) == LINK_KEYS
    assert summary["links"][0]["id"] == "bottleneck"
    assert len(summary["digest"]) == 16
    assert int(summary["digest"], 16) >= 0
    assert [flow["name"] for flow in summary["flows"]] == ["a", "b"]


def test_table_names_flows_and_links(ackclock, scenario):
    finished = ackclock("simulate", scenario)
    assert (finished.returncode, finished.stderr) == (0, "")
    for word in ("reno", "illinois", "bottleneck", "goodput Mbit/s", "Jain"):
        assert word in finished.stdout


def test_the_queues_of_dualpi2_are_shown_apart(ackclock):
    queue = 'dumbbell.queue={ kind = "dualpi2", limit = "100 packets" }'
    prague = ["--set", queue, "--set", 'flow.0.controller="prague"']
    (line,) = ackclock("simulate", "-", "--json", *prague, input=SCENARIO).stdout.splitlines()
    link, *plain = json.loads(line)["links"]
    assert list(link) == [*LINK_KEYS, "dualpi2"]
    assert all(list(other_link) == LINK_KEYS for other_link in plain)
    for side in ("low_latency", "classic"):
        *_, p50, p95, p99 = link["dualpi2"][side].values()
        assert list(link["dualpi2"][side]) == ["packets", *LINK_KEYS[-3:]]
        assert 0 <= p50 <= p95 <= p99
    table = ackclock("simulate", "-", *prague, input=SCENARIO).stdout
    shown = [line.split() for line in table.splitlines()]
    for name, side in (("L", "low_latency"), ("C", "classic")):
        measured = link["dualpi2"][side]
        delays = [f"{measured[key]:.2f}" for key in LINK_KEYS[-3:]]
        assert ["bottleneck", name, str(measured["packets"]), *delays] in shown
    assert "DualPI2" not in ackclock("simulate", "-", input=SCENARIO).stdout


def test_quiet_prints_nothing(ackclock, scenario):
    finished = ackclock("simulate", scenario, "--quiet")
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")


def test_standard_input_is_the_same_scenario(ackclock, scenario):
    from_file = json.loads(ackclock("simulate", scenario, "--json").stdout)
    from_input = json.loads(ackclock("simulate", "-", "--json", input=SCENARIO).stdout)
    assert from_input["digest"] == from_file["digest"]


def test_set_changes_a_key(ackclock, scenario):
    finished = ackclock("simulate", scenario, "--json", "--set", "flow.0.rtt=80ms")
    rtts = [flow["rtt_ms"] for flow in json.loads(finished.stdout)["flows"]]
    assert rtts == [80.0, 60.0]


def test_seed_is_run_seed(ackclock, scenario):
    by_option = json.loads(ackclock("simulate", scenario, "--json", "--seed", 9).stdout)
    by_key = json.loads(ackclock("simulate", scenario, "--json", "--set", "run.seed=9").stdout)
    before = json.loads(ackclock("simulate", scenario, "--json").stdout)
    assert by_option["seed"] == 9
    assert by_option["digest"] == by_key["digest"] != before["digest"]


def test_runs_come_in_order_and_differ(ackclock, scenario):
    finished = ackclock("simulate", scenario, "--json", "--runs", 6)
    summaries = [json.loads(line) for line in finished.stdout.splitlines()]
    assert [summary["run"] for summary in summaries] == list(range(6))
    assert len({summary["digest"] for summary in summaries}) == 6


def test_output_holds_the_files_of_the_format(ackclock, scenario, tmp_path):
    finished = ackclock("simulate", scenario, "--json", "-o", "out")
    assert finished.returncode == 0
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == FILES
    stored = json.loads((out / "summary.json").read_text())
    printed = json.loads(finished.stdout)
    del printed["wall_s"]
    assert stored == printed
    # 5 s sampled every 50 ms: 100 or 101 samples of each of two flows.
    assert pl.read_parquet(out / "windows.parquet").height in range(199, 203)
    assert pl.read_parquet(out / "flows.parquet")["name"].to_list() == ["a", "b"]
    # The written scenario gives the same run.
    again = json.loads(ackclock("simulate", "out/scenario.toml", "--json").stdout)
    assert again["digest"] == stored["digest"]


def test_output_is_the_same_bytes_each_time(ackclock, scenario, tmp_path):
    for name in ("one", "two"):
        assert ackclock("simulate", scenario, "--quiet", "-o", name).returncode == 0
    for file in FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_csv_has_the_same_rows(ackclock_here, scenario, tmp_path):
    ackclock_here("simulate", scenario, "--quiet", "-o", "parquet")
    ackclock_here("simulate", scenario, "--quiet", "-o", "csv", "--csv")
    of_csv = pl.read_csv(tmp_path / "csv" / "windows.csv")
    of_parquet = pl.read_parquet(tmp_path / "parquet" / "windows.parquet")
    assert of_csv.shape == of_parquet.shape
    assert of_csv["window"].to_list() == of_parquet["window"].to_list()


def test_several_runs_are_one_output(ackclock_here, scenario, tmp_path):
    assert ackclock_here("simulate", scenario, "--quiet", "-o", "out", "--runs", 3).returncode == 0
    out = tmp_path / "out"
    runs = ["run-0000", "run-0001", "run-0002"]
    assert sorted(path.name for path in out.iterdir()) == ["checksums.json", *runs]
    for run in out.glob("run-*"):
        assert sorted(path.name for path in run.iterdir()) == FILES
    assert ackclock_here("simulate", scenario, "--quiet", "-o", "out", "--force").returncode == 0
    assert sorted(path.name for path in out.iterdir()) == FILES


@pytest.mark.parametrize("stray", ["notes.txt", "run-0000"])
def test_force_spares_what_is_not_a_result(ackclock_here, scenario, tmp_path, stray):
    assert ackclock_here("simulate", scenario, "--quiet", "-o", "out").returncode == 0
    (tmp_path / "out" / stray).write_text("mine")
    refusal = one_line(ackclock_here("simulate", scenario, "-o", "out", "--force"), 1)
    assert "did not write" in refusal
    assert (tmp_path / "out" / stray).read_text() == "mine"
    assert not list(tmp_path.glob(".*partial"))


def test_unwritable_directory_is_one_line(ackclock, scenario):
    refusal = one_line(ackclock("simulate", scenario, "-o", f"{scenario}/out"), 1)
    assert refusal.startswith(f"ackclock: cannot write {scenario}/out: Not a directory")


@pytest.mark.parametrize("runs", [1, 3])
def test_full_disk_leaves_nothing(ackclock, scenario, tmp_path, runs):
    # Files of at most 2000 bytes: writes fail as on a full disk, with another errno.
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    finished = ackclock("simulate", scenario, "-o", "out", "--runs", runs, preexec_fn=limit)
    assert one_line(finished, 1) == "ackclock: cannot write out: File too large; nothing was written"
    assert [path.name for path in tmp_path.iterdir()] == ["two.toml"]


def test_full_standard_output_is_one_line(scenario):
    with Path("/dev/full").open("w") as full:
        finished = subprocess.run(
            [*COMMAND, "simulate", str(scenario), "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert finished.returncode == 1
    assert finished.stderr == "ackclock: cannot write: No space left on device\n"


@pytest.mark.parametrize("runs", [1, 4])
def test_interrupt_leaves_nothing(scenario, tmp_path, runs):
    endless = scenario.read_text().replace("5 s", "100000 s").replace('"1 s"', '"2 s"')
    scenario.write_text(endless)
    process = subprocess.Popen(
        [*COMMAND, "simulate", "two.toml", "-o", "out", "--runs", str(runs)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: list(tmp_path.glob(".out.*")))
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, output) == (130, "")
    assert errors == "ackclock: interrupted\n"
    assert [path.name for path in tmp_path.iterdir()] == ["two.toml"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(("controllers",), 0), (("simulate", "two.toml", "--runs", "2"), 0), (("explain", "cubik"), 2)],
)
def test_a_reader_that_leaves_does_not_change_the_status(scenario, arguments, status):
    reader, writer = os.pipe()
    os.close(reader)
    finished = subprocess.run(
        [*COMMAND, *arguments],
        cwd=scenario.parent,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert finished.returncode == status
    assert status or finished.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["simulat", "two.toml"], 'did you mean "simulate"?'),
        (["simulate", "two.toml", "--jsn"], "--json"),
        (["simulate", "two.toml", "--runs", "0"], "--runs"),
        (["simulate", "two.toml", "--runs", "2", "--pcap", "x.pcap"], "leave out --runs"),
        (["simulate"], "FILE"),
        (["reproduce", "illinois/figure-88"], 'did you mean "figure-8"'),
    ],
)
@pytest.mark.usefixtures("scenario")
def test_bad_options_are_bad_input(ackclock, arguments, hint):
    assert hint in one_line(ackclock(*arguments), 2)


@pytest.mark.parametrize("command", ["simulate", "check"])
def test_missing_file_is_bad_input(ackclock, command):
    refusal = one_line(ackclock(command, "none.toml"), 2)
    assert refusal == "none.toml: cannot be read: No such file or directory"


@pytest.mark.parametrize("command", ["simulate", "check"])
def test_refusal_names_file_line_and_key(ackclock, scenario, command):
    # The delay of the link is in line 9 of the scenario.
    scenario.write_text(SCENARIO.replace('"10 ms"', '"-10 ms"'))
    refusal = one_line(ackclock(command, "two.toml"), 2)
    assert refusal.startswith("two.toml:9: dumbbell.delay: ")


def test_refused_scenario_writes_nothing(ackclock, scenario, tmp_path):
    scenario.write_text(SCENARIO.replace('"reno"', '"rneo"'))
    assert "reno" in one_line(ackclock("simulate", "two.toml", "-o", "out"), 2)
    assert [path.name for path in tmp_path.iterdir()] == ["two.toml"]


@pytest.mark.usefixtures("scenario")
def test_check_tells_what_would_run(ackclock):
    finished = ackclock("check", "two.toml")
    assert finished.stdout == "two.toml: ok\n2 flows (1 reno, 1 illinois), 5 s\n"


def test_example_is_a_scenario(ackclock):
    finished = ackclock("check", "-", input=ackclock("example").stdout)
    assert finished.stdout.startswith("standard input: ok\n")


def test_controllers_have_the_fields_of_the_format(ackclock):
    listed = json.loads(ackclock("controllers", "--json").stdout)
    assert {"reno", "hstcp", "illinois", "bic-linux", "compound-linux"} <= {entry["name"] for entry in listed}
    for entry in listed:
        assert set(entry) == {"name", "kind", "source", "parameters"}
        for parameter in entry["parameters"]:
            assert {"name", "default", "minimum", "maximum", "meaning"} <= set(parameter)
    head, *lines = ackclock("controllers").stdout.splitlines()
    assert head.split() == ["name", "kind", "parameters", "source"]
    for line, entry in zip(lines, listed, strict=True):
        assert line.startswith(f"{entry['name']} ")
        assert line.endswith(f" {entry['source']}")
        assert all(f"{parameter['name']}=" in line for parameter in entry["parameters"])


@pytest.mark.parametrize("verb", [verb for verb in OWN if verb not in ("completion", "schema")])
def test_every_verb_has_json(verb):
    """A script for a shell has no other form, and a schema is JSON without asking."""
    command = app.commands[verb].load()
    subjects = command.commands.values() if isinstance(command, click.Group) else [command]
    for subject in subjects:
        assert "--json" in [flag for parameter in subject.params for flag in parameter.opts], subject.name


def test_json_says_the_same_as_the_text(ackclock):
    example = json.loads(ackclock("example", "--json").stdout)
    assert [flow["controller"] for flow in example["flow"]] == ["reno", "illinois", "bic-linux"]
    # The same scenario, whether it is written with comments, in JSON, or with every default.
    complete = ackclock("check", "-", "--json", input=json.dumps(example)).stdout
    assert complete == ackclock("check", "-", "--json", input=ackclock("example").stdout).stdout
    assert complete == ackclock("check", "-", "--json", input=complete).stdout
    explained = json.loads(ackclock("explain", "cov", "--json").stdout)
    assert (explained["name"], explained["kind"]) == ("coefficient-of-variation", "term")
    assert explained["text"] == ackclock("explain", "cov").stdout
    assert json.loads(ackclock("explain", "bic", "--json").stdout)["kind"] == "control"
    (item,) = json.loads(ackclock("cite", "--json").stdout)
    assert f"title = {{{item['title']}}}" in ackclock("cite").stdout
    assert f"author = {{{{{item['author'][0]['literal']}}}}}" in ackclock("cite").stdout


def test_schema_is_json(ackclock):
    assert "$schema" in json.loads(ackclock("schema").stdout)


def test_pcap_is_whole_or_not_there(ackclock, scenario, tmp_path):
    assert ackclock("simulate", scenario, "--quiet", "--pcap", "packets.pcap").returncode == 0
    # Magic number of pcap, either byte order, microseconds or nanoseconds.
    magic = (tmp_path / "packets.pcap").read_bytes()[:4]
    assert magic.hex() in ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d")
    refusal = one_line(ackclock("simulate", scenario, "--pcap", "none/packets.pcap"), 1)
    assert refusal.startswith("ackclock: cannot write none/packets.pcap: No such file")


def test_packets_on_standard_output_are_those_of_the_file(ackclock, scenario, tmp_path):
    assert ackclock("simulate", scenario, "--quiet", "--pcap", "packets.pcap").returncode == 0
    piped = subprocess.run(
        [*COMMAND, "simulate", str(scenario), "--pcap", "-"], capture_output=True, check=True, cwd=tmp_path
    )
    assert piped.stdout == (tmp_path / "packets.pcap").read_bytes()
    assert piped.stderr == b""
    assert not (tmp_path / "-").exists()
    for option in ("--json", "--metrics"):
        assert "nothing else" in one_line(ackclock("simulate", scenario, "--pcap", "-", option), 2)


@pytest.mark.parametrize("runs", ["1", "2"])
def test_intervals_of_metrics_hold_nothing_impossible(ackclock, scenario, runs):
    done = ackclock("simulate", scenario, "--metrics", "--json", "--runs", runs)
    rows = json.loads(done.stdout.splitlines()[-1])["metrics"]
    with_ends = [row for row in rows if row["low"] is not None]
    assert {"loss rate", "utilisation"} <= {row["metric"] for row in rows}
    assert len(with_ends) > 5
    for row in with_ends:
        assert 0 <= row["low"] <= row["value"] <= row["high"], row
        if row["metric"] in ("loss rate", "loss-event rate", "utilisation"):
            assert row["high"] <= 1, row


def test_a_rate_of_losses_alone_means_independent_ones(ackclock, tmp_path):
    scenario = tmp_path / "without.toml"
    scenario.write_text(
        '[run]\nduration = "5 s"\n[dumbbell]\nrate = "10 Mbit/s"\ndelay = "10 ms"\n'
        'queue = { kind = "droptail", limit = "2500 packets" }\n[[flow]]\ncontroller = "constant"\n'
    )
    both = [
        json.loads(ackclock("simulate", scenario, "--json", *settings).stdout)
        for settings in (
            ["--set", "dumbbell.loss.rate=1%"],
            ["--set", "dumbbell.loss.rate=1%", "--set", "dumbbell.loss.kind=bernoulli"],
        )
    ]
    assert both[0]["digest"] == both[1]["digest"]
    assert both[0]["links"][0]["random_losses"] > 0


# Verbs of a satellite are tested with the satellite; `predict` is a group of verbs.


@pytest.mark.parametrize("verb", [name for name in OWN if name != "predict"])
def test_help_has_an_example(verb):
    # The output of --help, without a process for each verb.
    assert f"  ackclock {verb}" in app.commands[verb].load().help


def says_first_what_the_list_says(verb):
    first = app.commands[verb].load().help.split("\n\n")[0]
    return app.commands[verb].short_help == " ".join(first.split())


@pytest.mark.parametrize("verb", OWN)
def test_the_list_says_of_a_verb_what_its_help_says_first(verb):
    assert says_first_what_the_list_says(verb)


def test_a_dry_run_says_what_runs_would_cost(ackclock_here, scenario):
    done = ackclock_here("simulate", scenario, "--runs", "3", "--dry-run", "--json")
    cost = json.loads(done.stdout)
    assert (done.returncode, cost["runs"], cost["kept"]) == (0, 3, 0)
    # Three runs as long as the scenario says.
    assert cost["simulated_s"] == 3 * seconds_of(scenario)
    done = ackclock_here("compare", "reno", "--path", "dsl", "--duration", "20s", "--runs", "2", "--dry-run")
    assert " runs; " in done.stdout
    assert done.stdout.endswith(" on this machine\n")
    assert not list(scenario.parent.glob("results/comparison/*.html"))


def seconds_of(file):
    return engine.read(file).duration_s


def test_a_dry_run_of_a_formula_needs_its_simulation(ackclock_here):
    done = ackclock_here("predict", "response", "reno", "--loss", "1e-2", "--dry-run")
    assert "--dry-run needs --simulate" in done.stderr
    done = ackclock_here("predict", "response", "reno", "--loss", "1e-2", "--simulate", "--dry-run")
    assert (done.returncode, done.stdout.startswith("1 run; ")) == (0, True)


def test_a_dry_run_of_a_reproduction_writes_nothing(ackclock_here, tmp_path):
    done = ackclock_here("reproduce", "--quick", "illinois/figure-8", "--dry-run", "--json")
    assert json.loads(done.stdout)["runs"] > 1
    assert not list(tmp_path.glob("results/illinois/*"))


def test_version(ackclock):
    assert ackclock("--version").stdout.startswith("ackclock ")


def imported(*arguments):
    """Call a verb in a fresh interpreter; give the modules that are there at the end."""
    program = (
        "import sys; from ackclock.cli.main import main\n"
        f"sys.argv = ['ackclock', *{[str(argument) for argument in arguments]!r}]\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    finished = subprocess.run([COMMAND[0], "-c", program], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    return set(finished.stderr.split())


def libraries(modules):
    # The tests refuse satellites by sitecustomize, which is not a library.
    packages = {name.partition(".")[0] for name in modules} - {"sitecustomize"}
    return {name for name in packages - sys.stdlib_module_names if not name.startswith("_")}


# Imports are most of what a short command costs: Click 0.03 s of processor time, Rich 0.03,
# pydantic 0.1, Polars 0.2.
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["check"], ["simulate", "--json"]])
def test_short_commands_import_no_library_but_click(scenario, arguments):
    file = [] if arguments[0].startswith("-") else [scenario]
    assert libraries(imported(*arguments, *file)) == {"ackclock", "click", "lazy_loader"}


def test_a_table_needs_rich_alone(scenario):
    assert libraries(imported("simulate", scenario)) == {"ackclock", "click", "lazy_loader", "rich"}


def test_the_list_of_verbs_imports_none():
    there = imported("--help")
    cli = {"ackclock.cli", "ackclock.cli.main", "ackclock.cli.options"}
    assert {name for name in there if name.startswith("ackclock")} == {"ackclock", *cli}
    # The import of `importlib.metadata`, which reads entry points, costs as much as Click.
    assert "importlib.metadata" not in there


def test_tests_run_this_checkout():
    import ackclock

    assert Path(ackclock.__file__).is_relative_to(Path(__file__).parent.parent)


def test_a_signal_that_arrives_while_the_thread_starts_ends_the_run(monkeypatch):
    start = threading.Thread.start

    def interrupted(thread):
        start(thread)
        raise KeyboardInterrupt

    # 100 hours of this scenario take minutes.
    long = engine.parse(engine.example(), "long.toml", settings=["run.duration=100 h"])
    before = threading.active_count()
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        alone.run(long, record=False, shown=False)
    wait_until(lambda: threading.active_count() == before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_one_line_and_leaves_nothing(
    scenario: Path, tmp_path: Path, number: signal.Signals
) -> None:
    words = ["simulate", str(scenario), "--set", "run.duration=100 h", "-o", "out"]
    # Under nohup the tests ignore SIGHUP, and so would their processes, as they should.
    command = ["env", f"--default-signal={number.name.removeprefix('SIG')}", *COMMAND, *words]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            wait_until(lambda: any(tmp_path.glob(".out.*.partial")))
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 128 + number
    assert errors.splitlines()[-1] == f"ackclock: ended by {number.name}"
    assert "Traceback" not in errors
    assert not list(tmp_path.glob(".out*"))


@pytest.mark.parametrize("closed", ["1", "2", "0", "0 1 2"])
@pytest.mark.parametrize("words", ["simulate two.toml -o out", "check two.toml", "controllers", "verify ."])
def test_a_closed_standard_stream_is_an_empty_one(words: str, closed: str, scenario: Path) -> None:
    # As some supervisors start programs; the first file that is opened must not get its number.
    command = shlex.join([*COMMAND, *words.split()])
    redirected = " ".join(f"{number}>&-" for number in closed.split())
    done = subprocess.run(
        ["sh", "-c", f"{command} {redirected}"],
        cwd=scenario.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (2 if "verify" in words else 0), done.stderr
    assert "Traceback" not in done.stderr
    if "simulate" in words:
        assert integrity.problem_of(scenario.parent / "out") is None


def test_a_disk_that_is_full_of_packets_is_named_once(scenario: Path) -> None:
    # A file of at most 2000 bytes stands for the disk.
    done = subprocess.run(
        [*COMMAND, "simulate", "two.toml", "--quiet", "--pcap", "packets.pcap"],
        cwd=scenario.parent,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )
    assert done.returncode == 1
    assert done.stderr == "ackclock: cannot write packets.pcap: File too large; nothing was written\n"
    assert sorted(file.name for file in scenario.parent.iterdir()) == ["two.toml"]
