"""Pictures of a run show its tables, and the metrics are those of the overview."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection

import ackclock
from ackclock.draw import markdown, plots
from ackclock.metrics import overview


@pytest.fixture(scope="module")
def run() -> ackclock.Run:
    return ackclock.simulate(
        ackclock.scenario(
            ackclock.dumbbell("10 Mbit/s", "5 ms", "20 packets"),
            ackclock.flow("reno", rtt="40 ms", name="first"),
            ackclock.flow("cubic", rtt="20 ms", start="2 s", name="second"),
            duration="10 s",
        )
    )


def test_windows_and_round_trips_are_those_of_the_table(run: ackclock.Run) -> None:
    for figure, column in ((run.plot.window(), "window"), (run.plot.rtt(), "rtt_ms")):
        (panel,) = figure.axes
        assert [line.get_label() for line in panel.lines] == ["first", "second"]
        for line, flow in zip(panel.lines, (0, 1), strict=True):
            samples = run.windows.filter(pl.col("flow") == flow)
            expected = samples[column].cast(pl.Float64).to_numpy()
            np.testing.assert_array_equal(np.asarray(line.get_ydata(), float), expected)


def test_shares_add_up_to_what_arrived(run: ackclock.Run) -> None:
    for draw, column in ((run.plot.shares, "arrived_bytes"), (run.plot.in_order, "delivered_bytes")):
        (panel,) = draw().axes
        for line, flow in zip(panel.lines, (0, 1), strict=True):
            # A hundred parts of 0.1 s each, Mbit/s.
            shown = np.asarray(line.get_ydata(), float).sum() * 0.1
            samples = run.windows.filter(pl.col("flow") == flow)
            assert shown == pytest.approx(samples[column].sum() * 8e-6)


def test_the_queue_of_the_bottleneck_is_shown(run: ackclock.Run) -> None:
    (panel,) = run.plot.queue().axes
    queue = run.queues.filter(pl.col("link") == 0)["mean_packets"].to_numpy()
    np.testing.assert_array_equal(np.asarray(panel.lines[0].get_ydata(), float), queue)
    assert queue.max() > 0


def test_metrics_are_the_overview_of_the_run(run: ackclock.Run) -> None:
    assert run.metrics.equals(overview([run]), null_equal=True)


def test_pictures_need_a_recorded_run() -> None:
    scenario = ackclock.scenario(
        ackclock.dumbbell("10 Mbit/s", "5 ms"), ackclock.flow("reno"), duration="1 s"
    )
    with pytest.raises(ValueError, match="simulate with record=True"):
        ackclock.simulate(scenario, record=False).plot.window()


def test_error_bars_end_where_the_intervals_do() -> None:
    for sideways in (False, True):
        _, (panel,) = plots.panels(1)
        at, values = [1.0, 2.0, 3.0], [10.0, 20.0, 30.0]
        x, y = (values, at) if sideways else (at, values)
        # The second has no interval, the third only an upper end.
        low, high = [8.0, np.nan, np.nan], [13.0, np.nan, 31.0]
        plots.errors(panel, x, y, low, high, sideways=sideways)
        (bars,) = panel.collections
        assert isinstance(bars, LineCollection)
        ends = [segment[:, 0 if sideways else 1].tolist() for segment in bars.get_segments()]
        assert ends == [[8.0, 13.0], [20.0, 20.0], [30.0, 31.0]]


def test_a_bar_in_a_cell_of_a_table_does_not_end_it() -> None:
    assert markdown.row(["", "|x|", 2]) == r"| | \|x\| | 2 |"


@pytest.mark.parametrize("ending", ["pdf", "svg", "png"])
def test_the_bytes_of_a_picture_follow_from_its_numbers(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = []
    for second in (1, 2_000_000_000):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(second))
        figure, (panel,) = plots.panels(1)
        panel.plot([1, 2], [3, 4])
        plots.save(figure, tmp_path / "a", ending)
        contents.append((tmp_path / "a").read_bytes())
    assert contents[0] == contents[1]
