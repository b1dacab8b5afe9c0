"""Notebooks: values with a representation of their own, and the verbs as functions."""

import inspect
import json
import runpy
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import ackclock
from ackclock.cli import predict as command
from ackclock.draw.plots import Picture
from ackclock.engine.build import flow
from ackclock.verbs import SUBJECTS
from conftest import SCENARIO

PNG = b"\x89PNG\r\n\x1a\n"
EXAMPLES = Path(__file__).parents[1] / "examples" / "notebooks"


@pytest.fixture(scope="module")
def run() -> ackclock.Run:
    return ackclock.simulate(SCENARIO)


def test_a_run_is_one_line_and_a_card(run: ackclock.Run) -> None:
    assert repr(run) == f"<Run of 5 s: 1 reno, 1 illinois, digest {run.digest}>"
    card = run._repr_html_()
    assert card.count("<tr>") == 3
    assert f"{run.flows['goodput_mbps'][0]:.4g}" in card


def test_a_card_escapes_what_a_scenario_says() -> None:
    given = SCENARIO.replace('name = "a"', 'name = "<b>"')
    card = ackclock.simulate(given, record=False)._repr_html_()
    assert "<b>" not in card
    assert "&lt;b&gt;" in card


def test_pictures_show_themselves(run: ackclock.Run) -> None:
    for figure in (run.plot.window(), run.plot.overview(), run.plot):
        assert figure._repr_png_().startswith(PNG)
    assert repr(run.plot) == "<Pictures: window, rtt, shares, in_order, queue, overview>"


def test_a_picture_can_be_one_panel_of_another(run: ackclock.Run) -> None:
    figure = Picture()
    left, right = figure.subplots(1, 2)
    assert run.plot.window(ax=left, flows="b", time=(1, 3)) is figure
    run.plot.rtt(ax=right)
    assert [line.get_label() for line in left.lines] == ["b"]
    assert left.get_xlim() == (1, 3)
    assert len(right.lines) == 2
    with pytest.raises(ValueError, match="unknown flow c: choose from a, b"):
        run.plot.window(flows=["a", "c"])


def test_an_overview_has_the_same_time_everywhere(run: ackclock.Run) -> None:
    panels = run.plot.overview(time=(1, 2)).axes
    labels = [panel.get_ylabel() for panel in panels]
    assert labels == ["window (packets)", "RTT (ms)", "queue (packets)", "goodput (Mbit/s)"]
    assert {panel.get_xlim() for panel in panels} == {(1.0, 2.0)}


def test_tables_for_latex_have_a_row_per_flow(run: ackclock.Run) -> None:
    lines = run.to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{lrrrrr}"
    assert [line.split(" & ")[0] for line in lines[4:6]] == ["a", "b"]
    assert all(line.count(" & ") == 5 and line.endswith(r"\\") for line in lines[4:6])


def test_every_key_of_a_flow_can_be_completed() -> None:
    schema = ackclock.schema()
    keys = set(schema["properties"]["flow"]["items"]["properties"])
    # from is a word of Python.
    assert set(inspect.signature(flow).parameters) - {"more"} == keys - {"from"}
    assert flow("reno", rtt="80 ms", pacing=False, **{"from": "a"}) == {
        "controller": "reno",
        "rtt": "80 ms",
        "pacing": False,
        "from": "a",
    }


def test_what_can_be_predicted_is_what_the_command_line_predicts() -> None:
    assert list(command.predict.commands) == list(SUBJECTS)


def test_a_prediction_shows_itself() -> None:
    prediction = ackclock.predict("response", ["reno"], loss=[0.01, 0.001])
    # sqrt(1.5/p): 12.2 and 38.7 packets per round trip.
    assert prediction.points["predicted"].to_list() == pytest.approx([12.25, 38.73], rel=1e-3)
    assert repr(prediction).endswith("2 points>")
    assert prediction._repr_png_().startswith(PNG)
    assert r"\toprule" in prediction.to_latex()
    with pytest.raises(ValueError, match='unknown subject responses: did you mean "response"'):
        ackclock.predict("responses")


def test_a_comparison_shows_itself() -> None:
    comparison = ackclock.compare("reno", "vegas", rate="5mbit", rtt="20ms", buffer=10, duration="5s", runs=2)
    assert repr(comparison).startswith("<Comparison of reno, vegas: ")
    # A head and a row per question; LaTeX also has a line with the profile.
    rows = len(ackclock.comparison.QUESTIONS)
    assert comparison._repr_html_().count("<tr>") == rows + 1
    assert comparison.to_latex().count(r"\\") == rows + 2
    with pytest.raises(ValueError, match="name at least one control"):
        ackclock.compare()


def test_a_sweep_is_a_call_and_its_results_a_picture(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(SCENARIO)
    (tmp_path / "rtts.toml").write_text(
        'scenario = "base.toml"\n[runs]\ncount = 2\n'
        '[parameters.rtt]\nset = "flow.0.rtt"\nunit = "ms"\nto = [40, 80]\n'
    )
    outcome = ackclock.sweep(tmp_path / "rtts.toml", tmp_path / "out", shown=False)
    assert outcome.runs == 4
    figure = ackclock.plot(outcome.directory, "rtt", "goodput", where={"flow": 0})
    (panel,) = figure.axes
    assert panel.get_xlabel() == "rtt"
    assert figure._repr_png_().startswith(PNG)


def test_a_typing_error_in_a_target_is_told(tmp_path: Path) -> None:
    # The notebook about a paper reproduces a figure.
    with pytest.raises(LookupError, match='did you mean "bic"'):
        ackclock.reproduce("bicc", output=tmp_path)


def test_a_result_differs_from_itself_in_nothing(run: ackclock.Run) -> None:
    difference = ackclock.diff(run, ackclock.simulate(SCENARIO))
    assert difference.same
    assert difference.scenario.is_empty()
    assert difference.numbers["change"].to_list() == [0.0] * difference.numbers.height
    assert repr(difference) == "<Difference: nothing: the same, packet by packet>"


def test_a_difference_names_the_key_and_the_numbers(run: ackclock.Run) -> None:
    other = ackclock.simulate(SCENARIO, settings=["flow.1.rtt=120ms"])
    difference = ackclock.diff(run, other)
    assert difference.scenario.rows() == [("flow.1.rtt", "60 ms", "120ms")]
    assert not difference.same
    goodput = difference.numbers.filter(pl.col("subject") == "b", pl.col("quantity") == "goodput_mbps")
    expected = [result.flows["goodput_mbps"][1] for result in (run, other)]
    assert goodput.select("a", "b", "change").row(0) == (*expected, expected[1] - expected[0])
    # One run each has no interval.
    assert goodput["low"].null_count() == 1
    assert [len(panel.lines) for panel in difference.draw().axes] == [2, 2]
    assert "flow.1.rtt" in difference._repr_html_()


def test_a_change_over_several_runs_has_the_interval_of_welch() -> None:
    from ackclock.engine.difference import change as change_of

    change = change_of([1.0, 2.0, 3.0], [4.0, 6.0, 8.0])
    # Means 2 and 6; variances 1 and 4 over 3: standard error sqrt(5/3) = 1.29099; degrees of
    # freedom (5/3)^2 / ((1/9 + 16/9) / 2) = 2.9412, whose t at 97.5 % is 3.22 (3.1824 at 3): 4.155.
    assert change["change"] == 4.0
    assert change["high"] - 4.0 == pytest.approx(4.155, abs=0.01)
    assert 4.0 - change["low"] == pytest.approx(change["high"] - 4.0)


def test_diff_on_the_command_line(ackclock_here, scenario: Path, tmp_path: Path) -> None:
    for name, rtt in (("a", "60ms"), ("b", "120ms")):
        ackclock_here("simulate", scenario, "--quiet", "--set", f"flow.1.rtt={rtt}", "-o", name)
    done = ackclock_here("diff", "a", "b", "-o", "windows.png")
    assert done.returncode == 0, done.stderr
    assert "flow.1.rtt" in done.stdout
    assert (tmp_path / "windows.png").read_bytes().startswith(PNG)
    told = json.loads(ackclock_here("diff", "a", "b", "--json").stdout)
    assert told["scenario"] == [{"key": "flow.1.rtt", "a": "60ms", "b": "120ms"}]
    refused = ackclock_here("diff", "a", "c")
    assert refused.returncode == 2
    assert refused.stderr.startswith("c: holds no result")
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda file: file.stem)
def test_notebooks_run_and_show_pictures(file: Path, tmp_path: Path, monkeypatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(file, as_version=4)
    # What is kept in the repository has no outputs, so that it cannot be stale.
    assert not any(cell.get("outputs") for cell in notebook.cells)
    monkeypatch.chdir(tmp_path)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path}}).execute()
    shown = [
        kind for cell in notebook.cells for one in cell.get("outputs", []) for kind in one.get("data", {})
    ]
    assert "image/png" in shown


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.stem)
def test_marimo_applications_run(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("marimo")
    done = subprocess.run([sys.executable, file], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    app = runpy.run_path(str(file))["app"]
    _, values = app.run()
    assert values["run"].flows.height == 1
