"""Predictions compared with the simulation: where theory is exact, the simulation must agree."""

import json

import numpy as np
import polars as pl
import pytest

import ackclock
from ackclock.engine import build
from ackclock.models import fit as fit_model
from ackclock.predictions import (
    Simulation,
    fit,
    illinois,
    matrix,
    period,
    response,
    share,
    smoothness,
    step,
    timeouts,
    unfairness,
)

TWO = Simulation(runs=2)


def ratios(points, column="predicted"):
    return (points["simulated"] / points[column]).to_numpy()


def test_response_functions_with_recovery():
    # The law with its round trip of recovery: 2 % at 1e-4 (half a packet of a window of 120 and
    # less); BI-TCP halves its gap in steps: 4 %.
    names = ["reno", "gaimd", "multcp", "fit", "aimd", "hstcp", "scalable", "veno", "compound"]
    points = response.predict(names, (1e-4,), 0.1, TWO).points
    np.testing.assert_allclose(ratios(points, "with_recovery"), 1, atol=0.02)
    bic = response.predict(["bic"], (1e-4,), 0.1, TWO).points
    np.testing.assert_allclose(ratios(bic, "with_recovery"), 1, atol=0.04)
    # TFRC has no such round trip.
    tfrc = response.predict(["tfrc"], (1e-3, 1e-4), 0.1, TWO).points
    np.testing.assert_allclose(ratios(tfrc), 1, atol=0.005)


def test_synchronised_shares_of_aimd():
    # The window law with recovery, 10 % (the ratio goes with the square of few round trips); the
    # interval is over two runs. A capacity of 500 Mbit/s keeps the run short.
    points = unfairness.predict(["gaimd"], [1.0, 2.0], 0.02, 12_500.0, TWO).points
    assert points["power_law"].to_list() == [1.0, 4.0]
    np.testing.assert_allclose(ratios(points), 1, atol=0.1)


def test_scalable_drifts_apart_as_predicted():
    # 1.01^(25 - 8.3) per epoch of 1 s: 1.18; after 12 epochs 7.3, within 4 %.
    points = unfairness.diverge(simulation=TWO).points
    assert points["predicted"][12] == pytest.approx(1.01 ** (12 * 50 / 3), rel=1e-9)
    np.testing.assert_allclose(ratios(points), 1, atol=0.04)


def test_palm_inversion_is_what_the_simulation_does():
    # The formula knows the loss times and the time of recovery: one per cent, for any process.
    points = smoothness.predict_processes(TWO).points
    np.testing.assert_allclose(ratios(points), 1, atol=0.01)
    # The processes do differ: from 0.2 to 0.5 for Reno.
    reno = points.filter(control="Reno")["predicted"]
    assert reno.max() > 2.2 * reno.min()


def test_periods_are_two_to_three_round_trips_longer():
    points = period.predict(["reno", "hstcp", "scalable"], (100, 1000), TWO).points
    longer = (points["simulated"] - points["predicted"]).to_numpy()
    assert np.all((longer > 1.5) & (longer < 3.5)), longer


def test_curves_of_illinois_are_read_from_the_trace():
    points = illinois.predict_curves(simulation=TWO).points
    # Away from where alpha is steepest a hundredth of dm around a position changes it by 5 %.
    away = points.filter((pl.col("position") >= 0.2) & pl.col("simulated").is_not_null())
    assert away.height > 10
    np.testing.assert_allclose(ratios(away), 1, atol=0.05)


def test_vegas_falls_where_its_threshold_is():
    points = illinois.predict_noise([5], [0, 4, 16], TWO).points
    quiet, below, above = points["simulated"]
    assert quiet == pytest.approx(10, rel=0.01)
    assert below == pytest.approx(10, rel=0.01)
    assert above < 9
    assert points["threshold_ms"].to_list() == [8.0, 8.0, 8.0]


def test_losses_go_to_who_grows():
    # Assumption 2 fails on an ACK-clocked droptail link, less so with random variation.
    points = share.predict(TWO).points
    np.testing.assert_allclose(points["measured_alpha"][0], points["predicted"][0] ** 2, rtol=0.15)
    assert points["simulated"][0] > 4 * points["predicted"][0]
    assert points["simulated"][2] < 0.3 * points["simulated"][0]


def test_theorem_1_of_fit():
    points = fit.predict((0.001, 0.003), (0.1,), TWO).points
    # State (b): a queue in more than a quarter of the time, near full use, N as equation 17 has it.
    assert (points["simulated"] > 9).all()
    assert (points["full"] > 0.25).all()
    sessions = (points["measured_sessions"] / points["sessions_at_q"]).to_numpy()
    np.testing.assert_allclose(sessions, 1, atol=0.3)
    # Without random losses nothing changes N before the buffer overflows: state (c).
    scenario = fit.scenario(0.0, 0.1)
    link = ackclock.simulate(scenario, record=False).summary["links"][0]
    assert link["queue_drops"] > 0
    # With the paper's own alpha a link that is too large for a queue stays in state (a), however
    # far N climbs.
    scenario = fit.scenario(0.001, 0.1)
    scenario["dumbbell"] = scenario["dumbbell"] | {"rate": "10 Gbit/s"}
    scenario["flow"] = [build.flow("fit", rtt="100 ms")]
    run = ackclock.simulate(scenario, record=False)
    rate = run.summary["flows"][0]["goodput_mbps"] * 1e6 / build.PACKET_BITS
    assert fit_model.link_state(rate * 0.1, 1.25e6, 0.1, 100) == "a"


def test_steps_follow_the_recursions():
    # GAIMD as predicted within 0.06 of the whole change at every tenth of 50 round trips; the
    # receiver-driven ones later, and never ahead by more.
    points = step.predict(0.01, 0.04, 50, Simulation(runs=3)).points
    late = (points["predicted"] - points["simulated"]).to_numpy()
    gaimd = (points["protocol"] == "GAIMD").to_numpy()
    driven = points["protocol"].is_in(["TFRC", "TEAR"]).to_numpy()
    assert np.abs(late[gaimd]).max() < 0.06
    assert late[driven].min() > -0.06
    assert late[driven].max() > 0.1


def test_smoothness_near_its_limit():
    # 4000 packets per loss: AIMD's windows are large enough for its limit, 10 % (1000 s have 700
    # losses, whose CoV is known to a few per cent).
    points = smoothness.predict((0.00025,), Simulation(runs=5)).points
    reno = points.filter(protocol="TCP")
    assert ratios(reno)[0] == pytest.approx(1, abs=0.1)


def test_matrix_and_timeouts_without_simulation():
    points = matrix.predict((4,)).points
    exponents = points["mu"].unique(maintain_order=True).to_list()
    assert exponents == pytest.approx([0.08, 0.18, 0.32], abs=0.03)
    points = timeouts.predict((0.2,), 4).points
    assert points["predicted"].to_list() == pytest.approx([1.87, 2.08], abs=0.005)
    assert points["simulated"][0] == pytest.approx(2.08, abs=0.02)


def test_unknown_controls_are_refused():
    with pytest.raises(LookupError, match=r"; none of the [0-9]+ known names is similar"):
        response.predict(["nothing"])
    with pytest.raises(LookupError, match="choose from aimd"):
        unfairness.predict(["reno"])
    with pytest.raises(LookupError, match="never converges"):
        unfairness.predict(["scalable"])
    with pytest.raises(LookupError, match="choose from reno"):
        period.predict(["fit"])


COMMANDS = [
    "response",
    "unfairness",
    "divergence",
    "period",
    "share",
    "curves",
    "gain",
    "noise",
    "matrix",
    "fit",
    "smoothness",
    "processes",
    "timeouts",
    "step",
]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_prediction_prints_draws_and_is_json(ackclock_here, tmp_path, name):
    finished = ackclock_here("predict", name, "--json", "-o", "picture.svg")
    assert (finished.returncode, finished.stderr) == (0, "")
    points = json.loads(finished.stdout)["points"]
    assert len(points) > 1
    assert all("predicted" in point for point in points)
    assert (tmp_path / "picture.svg").read_text().startswith("<?xml")
    assert "Example" in ackclock_here("predict", name, "--help").stdout


def test_a_prediction_with_simulated_points(ackclock, tmp_path):
    finished = ackclock("predict", "response", "reno", "--loss", "1%", "--simulate", "-o", "r.csv")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "95 % interval" in finished.stdout
    (row,) = pl.read_csv(tmp_path / "r.csv").iter_rows(named=True)
    assert row["low"] < row["simulated"] < row["high"] < row["predicted"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["response", "--loss", "2%,x"], "not a number from 1e-09 to 0.5: 'x'"),
        (["response", "--loss", "0"], "'--loss': not a number from 1e-09 to 0.5: '0'"),
        (["response", "nothing"], "no response function of 'nothing'; none of the"),
        (["period", "-o", "out.gif"], "out.gif must end in one of .svg"),
        (["unfairness", "--rate", "1mbit"], "windows of 1 to 1e9 packets"),
        (["step", "--from", "1%", "--to", "1%"], "must differ"),
        (["nothing"], "No such command 'nothing'"),
        (["share", "--runs", "1"], "1 is not in the range x>=2"),
    ],
)
def test_refusals_are_one_line(ackclock_here, tmp_path, arguments, message):
    finished = ackclock_here("predict", *arguments)
    assert finished.returncode == 2
    assert finished.stdout == ""
    (line,) = finished.stderr.splitlines()
    assert message in line
    assert list(tmp_path.iterdir()) == []


def test_the_table_says_in_which_unit_it_predicts(ackclock_here):
    done = ackclock_here("predict", "response", "reno", "--loss", "1%")
    # Reno's formula: sqrt(1.5 / 0.01) = 12.25.
    assert "12.25" in done.stdout
    assert "packets per round trip" in " ".join(done.stdout.split())
