"""The same verbs from Python."""

import json
import tomllib

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import ackclock
from conftest import SCENARIO


def test_path_text_and_mapping_are_the_same_scenario(scenario):
    digests = {
        ackclock.simulate(source).digest
        for source in (scenario, str(scenario), SCENARIO, tomllib.loads(SCENARIO))
    }
    assert len(digests) == 1


def test_json_file_is_the_same_scenario(tmp_path):
    file = tmp_path / "two.json"
    file.write_text(json.dumps(tomllib.loads(SCENARIO)))
    assert ackclock.simulate(file).digest == ackclock.simulate(SCENARIO).digest


def test_tables_have_the_columns_of_the_trace():
    run = ackclock.simulate(SCENARIO)
    assert run.windows.columns[:10] == [
        "time_s",
        "flow",
        "window",
        "ssthresh",
        "rtt_ms",
        "in_flight_packets",
        "sent_bytes",
        "arrived_bytes",
        "delivered_bytes",
        "one_way_delay_ms",
    ]
    assert {"alpha", "beta", "da_s", "dm_s"} <= set(run.windows.columns)
    assert {"time_s", "link", "queue_packets", "min_packets", "max_packets"} <= set(run.queues.columns)
    assert run.events.columns == ["time_s", "flow", "kind", "window_before", "window_after"]
    assert run.flows["controller"].to_list() == ["reno", "illinois"]
    kinds = {"start", "loss", "recovered", "timeout", "undo", "complete", "stop"}
    assert set(run.events["kind"]) <= kinds


def test_the_rows_of_a_flow_and_of_a_link_are_those_of_the_table():
    run = ackclock.simulate(SCENARIO)
    flows, links = range(len(run.summary["flows"])), range(len(run.summary["links"]))
    for flow in flows:
        assert_frame_equal(run.windows_of(flow), run.windows.filter(pl.col("flow") == flow))
    for link in links:
        assert_frame_equal(run.queues_of(link), run.queues.filter(pl.col("link") == link))
    assert sum(run.windows_of(flow).height for flow in flows) == run.windows.height > 0
    assert run.windows_of(len(flows)).is_empty()
    assert run.queues_of(len(links)).columns == run.queues.columns


def test_what_does_not_apply_is_null():
    run = ackclock.simulate(SCENARIO)
    # Reno has no alpha; ssthresh is unlimited until the first loss.
    assert run.windows.filter(pl.col("flow") == 0)["alpha"].null_count() > 0
    assert run.windows.filter(pl.col("flow") == 1)["alpha"].drop_nulls().len() > 0
    assert not run.windows.select(pl.col(pl.Float64).is_nan().any()).row(0).count(True)


def test_bytes_in_the_table_add_up_to_the_goodput():
    run = ackclock.simulate(SCENARIO)
    # Measured from 1 s to 5 s; samples are intervals that end at their time.
    for flow in run.summary["flows"]:
        samples = run.windows.filter((pl.col("flow") == flow["id"]) & (pl.col("time_s") > 1.0001))
        # Samples and the measured time are the same intervals, so that the sums are the same packets.
        for column, key in (("arrived_bytes", "goodput_mbps"), ("delivered_bytes", "in_order_mbps")):
            assert samples[column].sum() * 8e-6 / 4 == pytest.approx(flow[key], rel=1e-12)


def test_save_writes_the_same_as_the_command_line(tmp_path, scenario, ackclock):
    import ackclock as package

    package.simulate(scenario).save(tmp_path / "api")
    assert ackclock("simulate", scenario, "--quiet", "-o", "cli").returncode == 0
    for file in (tmp_path / "cli").iterdir():
        assert file.read_bytes() == (tmp_path / "api" / file.name).read_bytes()


def test_save_sets_another_run_aside_unless_forced(tmp_path, capsys):
    first, second = (ackclock.simulate(SCENARIO, run=run) for run in (0, 1))
    first.save(tmp_path / "out")
    first.save(tmp_path / "out")
    assert not (tmp_path / "out.1").exists()
    second.save(tmp_path / "out")
    aside = f"ackclock: {tmp_path / 'out'} held another result, which is now {tmp_path / 'out.1'}\n"
    assert capsys.readouterr().err == aside
    digests = [ackclock.Run.read(tmp_path / name).digest for name in ("out.1", "out")]
    assert digests == [first.digest, second.digest]
    first.save(tmp_path / "out", force=True)
    assert ackclock.Run.read(tmp_path / "out").digest == first.digest
    assert not (tmp_path / "out.2").exists()


@pytest.mark.parametrize("csv", [False, True])
def test_what_was_saved_is_read_again(tmp_path, csv):
    run = ackclock.simulate(SCENARIO)
    run.save(tmp_path / "out", csv=csv)
    again = ackclock.Run.read(str(tmp_path / "out"))
    assert again.summary == run.summary
    for name in ("windows", "queues", "events", "requests"):
        # CSV knows no width of an integer; a float is written so that it is the same again.
        assert_frame_equal(getattr(again, name), getattr(run, name), check_dtypes=not csv)
    assert_frame_equal(again.metrics, run.metrics)
    again.plot.window()


def test_run_without_record_has_no_tables():
    run = ackclock.simulate(SCENARIO, record=False)
    assert run.flows.height == 2
    with pytest.raises(ValueError, match="record=True"):
        _ = run.windows


def test_scenario_as_run_is_complete_and_runs_the_same():
    run = ackclock.simulate(SCENARIO)
    assert ackclock.simulate(run.scenario).digest == run.digest
    assert ackclock.check(run.scenario) == run.scenario


def test_refusal_is_one_line_with_the_key():
    with pytest.raises(ackclock.ScenarioError, match=r"^<text>:9: dumbbell.delay: ") as refusal:
        ackclock.check(SCENARIO.replace('"10 ms"', '"-10 ms"'))
    assert "\n" not in str(refusal.value)


def test_progress_is_told_and_can_end_the_run():
    class EnoughError(Exception):
        pass

    reports = []

    def tell(simulated_s, packets):
        reports.append((simulated_s, packets))
        if len(reports) == 3:
            raise EnoughError

    long = SCENARIO.replace('"5 s"', '"20000 s"')
    with pytest.raises(EnoughError):
        ackclock.simulate(long, record=False, progress=tell)
    assert reports == sorted(reports)
    assert len(reports) == 3


def test_requests_reach_python_and_disk(tmp_path):
    """Four packets of a request go at once: half a round trip of 100 ms and four times 80 us."""
    scenario = ackclock.scenario(
        ackclock.dumbbell(rate="100 Mbit/s", delay="50 ms", queue="1000 packets"),
        ackclock.flow(source="requests", size="4 kB", every="1 s", initial_window=10),
        ackclock.flow("reno", arrivals={"load": "1 %", "sizes": "10 kB"}),
        duration="5.5 s",
    )
    run = ackclock.simulate(scenario)
    own = run.requests.filter(pl.col("flow") == 0)
    assert own.columns == ["flow", "start_s", "bytes", "completion_s"]
    assert own["start_s"].to_list() == [0, 1, 2, 3, 4, 5]
    assert own["bytes"].to_list() == [4000] * 6
    assert own["completion_s"].min() == pytest.approx(0.05032, abs=1e-6)
    arrived = run.flows.filter(pl.col("name").str.starts_with("reno-arrival-"))
    assert arrived.height == run.requests["flow"].n_unique() - 1 > 10
    run.save(tmp_path / "kept")
    assert ackclock.engine.run.Run.read(tmp_path / "kept").requests.equals(run.requests)


@pytest.mark.parametrize("queue", [2500, 2500.0])
def test_a_queue_without_a_unit_is_told_how_to_write_it(queue):
    with pytest.raises(ValueError, match=f'^queue: the unit is missing; write e.g. "{queue} pack'):
        ackclock.dumbbell("10 Mbit/s", "10 ms", queue=queue)


def test_flows_of_one_group_share_their_settings_and_others_keep_their_own():
    scenario = ackclock.scenario(
        ackclock.dumbbell(rate="10 Mbit/s", delay="20 ms", queue="60 packets"),
        ackclock.flow("reno", rtt="100 ms", count=2),
        ackclock.flow("reno", rtt="100 ms", min_window=2),
        ackclock.flow("illinois", rtt="100 ms"),
        duration="1 s",
    )
    checked = ackclock.engine.read(scenario)
    summary = ackclock.simulate(checked).summary
    settings = [flow["settings"] for flow in summary["flows"]]
    assert settings[0] is settings[1]
    assert [setting["min_window"] for setting in settings] == [1, 1, 2, 1]


def test_a_scenario_without_a_file_is_called_a_scenario():
    with pytest.raises(ackclock.ScenarioError, match=r'^scenario: path: unknown value "4gg", did'):
        ackclock.check({"path": "4gg", "run": {"duration": "1 s"}, "flow": [{"controller": "cubic"}]})
