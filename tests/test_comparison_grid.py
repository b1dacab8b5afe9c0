"""Grids of queues and buffers: a cell is the comparison of its path; the first sentence says which suit."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ackclock import comparison, engine
from ackclock.comparison import conclusion, grid, grid_page, heat, path, questions
from conftest import Finished

SHORT = {"rate": "10mbit", "rtt": "40ms", "loss": None, "profile": None, "flows": 1, "runs": 3}
CONTROLS = ("cubic", "vegas")


@pytest.fixture(scope="module")
def compared() -> comparison.Grid:
    settings = path.grid_of_options(["droptail", "codel"], ["1bdp", "8bdp"], None, None, "30s", **SHORT)
    return comparison.compare_grid(settings, CONTROLS)


def test_a_cell_is_the_comparison_of_its_path(compared: comparison.Grid) -> None:
    assert list(compared.cells) == [
        (queue, size) for queue in ("droptail", "codel") for size in ("1bdp", "8bdp")
    ]
    # 10 Mbit/s times 40 ms are 50 packets of 1000 bytes.
    buffers = [compared.cells["droptail", size].setting.path.buffer_packets for size in ("1bdp", "8bdp")]
    assert buffers == [50, 400]
    alone = path.of_options(None, None, "30s", **SHORT, queue="codel", buffer="8bdp")
    assert comparison.compare(alone, CONTROLS).values == compared.cells["codel", "8bdp"].values
    table = compared.table.filter(queue="codel", buffer="8bdp").drop("queue", "buffer")
    assert table.equals(compared.cells["codel", "8bdp"].table)


def test_the_first_sentence_says_which_queue_and_buffer(compared: comparison.Grid) -> None:
    """CUBIC fills a droptail buffer of 8 BDPs, up to 320 ms; CoDel keeps its delay near 5 ms."""
    first = grid.grid_sentences(compared)[0]
    assert first.startswith("On this path codel with any buffer suit cubic and vegas best")
    assert "the longest queue is that of cubic behind droptail with 8bdp" in first
    delay = compared.cells["droptail", "8bdp"].estimates["delay"]["cubic"].value
    assert 40.0 < delay < 320.0
    assert f"({delay:.3g} ms)" in first
    places = grid.rank_cells(compared, questions.BY_KEY["delay"], "cubic")
    assert places["droptail", "8bdp"] == "behind"


def test_a_queue_that_does_not_matter_is_said_not_to() -> None:
    """A window of 5 packets on 100 packets of path never queues, so that all buffers are alike."""
    settings = path.grid_of_options([], ["1bdp", "4bdp"], None, None, "20s", **SHORT | {"rate": "20mbit"})
    compared = comparison.compare_grid(settings, ["constant"])
    assert grid.grid_sentences(compared)[0].startswith(
        "On this path the buffer does not matter to constant alone"
    )


def test_heat_maps_have_the_numbers_of_the_table(compared: comparison.Grid) -> None:
    for question in questions.QUESTIONS:
        drawn = heat.heat_map(compared, question)
        assert [len(row) for row in drawn.cells] == [2] * 4
        _, rows = grid.rows(compared, question)
        for row, cells in zip(rows, drawn.cells, strict=True):
            for text, cell in zip(row[2:], cells, strict=True):
                assert text.startswith(cell.text)
                assert cell.shade is None or 0.0 <= cell.shade <= 1.0
    delay = heat.heat_map(compared, questions.BY_KEY["delay"])
    shades = {
        (name, column): cell.shade
        for name, row in zip(delay.rows, delay.cells, strict=True)
        for column, cell in zip(delay.columns, row, strict=True)
    }
    # The shorter the queue the darker; the longest of all is the lightest.
    assert shades["cubic droptail", "8bdp"] == min(shade for shade in shades.values() if shade is not None)


def test_the_page_has_every_sentence_and_map(compared: comparison.Grid, tmp_path: Path) -> None:
    grid_page.write_grid(compared, tmp_path, "ackclock compare", pictures=True)
    text = (tmp_path / "index.html").read_text("utf-8")
    for sentence in grid.grid_sentences(compared):
        assert re.sub(r"[<>&\"']", "", sentence)[:60] in re.sub(r"&#?\w+;", "", text)
    for question in questions.QUESTIONS:
        assert f'id="{question.key}"' in text
        assert (tmp_path / f"heat-{question.key}.png").stat().st_size > 0
    written = pl.read_parquet(tmp_path / "answers.parquet")
    assert written.equals(compared.table)
    # 2 queues, 2 buffers, 2 controls.
    assert written.height == 2 * 2 * 2 * len(questions.QUESTIONS)
    scenarios = sorted(tmp_path.glob("scenarios/*.json"))
    assert {file.name for file in scenarios} == set(re.findall(r'scenarios/([\w.-]+\.json)"', text))
    for file in scenarios:
        engine.check(json.loads(file.read_text("utf-8")))


def test_marks_are_asked_for_where_the_queue_can_make_them() -> None:
    settings = path.grid_of_options(["droptail", "codel"], [], None, None, "30s", **SHORT, ecn=True)
    marks = {queue: setting.marks for (queue, _), setting in settings.items()}
    assert marks == {"droptail": False, "codel": True}
    scenario = questions.scenarios(settings["codel", "1bdp"], "dctcp")["alone"]
    assert scenario["dumbbell"]["queue"]["ecn"] is True
    run = engine.simulate(scenario, record=False).summary
    assert run["links"][0]["marks"] > 0
    assert run["links"][0]["queue_drops"] == 0


def test_another_seed_gives_other_runs() -> None:
    given = SHORT | {"queue": None, "buffer": None}
    setting = [path.of_options(None, None, "20s", **given, seed=seed) for seed in (1, 2)]
    first, second = (comparison.compare(each, ["cubic"]).values["worse"]["cubic"] for each in setting)
    assert first != second


def test_one_command_makes_the_grid(ackclock_here: Callable[..., Finished], tmp_path: Path) -> None:
    words = ("compare", "--rate", "10mbit", "--rtt", "40ms", "--duration", "20s", "--runs", "2")
    grids = ("--queue", "droptail,codel", "--buffer", "1bdp,4bdp", "cubic")
    dry = json.loads(ackclock_here(*words, *grids, "--dry-run", "--json").stdout)
    done = ackclock_here(*words, *grids, "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {(row["queue"], row["buffer"]) for row in rows} == {
        (queue, size) for queue in ("droptail", "codel") for size in ("1bdp", "4bdp")
    }
    assert dry["runs"] > 0
    shown = ackclock_here(*words, *grids)
    assert "suit" in shown.stdout.splitlines()[2]
    assert (tmp_path / "results" / "comparison" / "index.html").exists()
    # A single cell has been simulated, so nothing is left to do.
    single = (*words, "--queue", "codel", "--buffer", "4bdp", "cubic")
    assert json.loads(ackclock_here(*single, "--dry-run", "--json").stdout)["kept"] > 0
    wrong = ackclock_here(*words, "--queue", "codle,droptail", "cubic")
    assert wrong.returncode == 2
    assert "codel" in wrong.stderr


def test_the_basis_is_that_of_a_comparison(compared: comparison.Grid) -> None:
    assert grid.grid_sentences(compared)[-1] == conclusion.basis(compared.any.setting)
