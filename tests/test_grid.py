"""The grid of queues and buffers: one call, one page, and a sentence that names the queue and the buffer."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from ackclock import comparison
from ackclock.comparison import grid, grid_page, heat, options
from ackclock.comparison.questions import BY_KEY, QUESTIONS
from ackclock.engine import integrity
from conftest import Finished

OPTIONS = ["--rate", "10mbit", "--rtt", "40ms", "--duration", "20s", "--runs", "3"]
Numbers = dict[tuple[str, str], tuple[float, float]]
"""Goodput in Mbit/s and queueing delay in ms, by queue and buffer."""


def _settings(queues: list[str], buffers: list[str]) -> dict[grid.Cell, comparison.PathSetup]:
    return options.grid_of_options(queues, buffers, None, None, "20s", rate="10mbit", rtt="40ms", runs=3)


def _grid(**controls: Numbers) -> grid.Grid:
    """Return a grid whose runs all have the numbers given, and 50 for everything else."""
    some = next(iter(controls.values()))
    cells = {}
    for (queue, buffer), setting in _settings(
        list(dict.fromkeys(queue for queue, _ in some)), list(dict.fromkeys(buffer for _, buffer in some))
    ).items():
        values = {question.key: dict.fromkeys(controls, [50.0] * 3) for question in QUESTIONS}
        for place, key in enumerate(("goodput", "delay")):
            values[key] = {name: [of_it[queue, buffer][place]] * 3 for name, of_it in controls.items()}
        estimates = {
            question.key: {name: question.estimate(runs) for name, runs in values[question.key].items()}
            for question in QUESTIONS
        }
        cells[queue, buffer] = comparison.Comparison(setting, tuple(controls), estimates, values, (), {}, {})
    return grid.Grid(cells)


def test_the_first_sentence_names_the_queue_and_the_buffer() -> None:
    # 9.5 is 5 % less than 10, within a tenth; 8 is not. 5 ms and 5.5 ms differ by less than 1 ms.
    numbers = {
        ("droptail", "1bdp"): (10.0, 30.0),
        ("droptail", "4bdp"): (10.0, 140.0),
        ("codel", "1bdp"): (9.5, 5.0),
        ("codel", "4bdp"): (9.5, 5.5),
    }
    text = grid.grid_answer(_grid(a=numbers))
    assert text.startswith("On this path codel with any buffer suit a best")
    assert "(9.5 of 10 Mbit/s, 5 to 5.5 ms)" in text
    assert "a has the longest queue behind droptail with 4bdp (140 ms)" in text
    sentences = grid.grid_sentences(_grid(a=numbers))
    assert sentences[1].startswith("If the queue must be droptail, a buffer of 1bdp suits a best")
    lossy = numbers | {("codel", "1bdp"): (8.0, 5.0), ("codel", "4bdp"): (8.0, 5.0)}
    text = grid.grid_answer(_grid(a=lossy))
    assert text.startswith("On this path droptail with 1bdp suits a best")
    assert "a has the lowest goodput behind codel with 1bdp (8)" in text
    # Controls that need different cells get a clause each.
    text = grid.grid_answer(_grid(a=numbers, b=lossy))
    assert text.startswith("On this path codel with any buffer suit a best")
    assert "; droptail with 1bdp suits b best" in text


def test_a_grid_without_a_difference_says_that_nothing_matters() -> None:
    numbers = {(queue, buffer): (10.0, 5.0) for queue in ("codel", "pie") for buffer in ("1bdp", "2bdp")}
    assert grid.grid_answer(_grid(a=numbers)).startswith(
        "On this path neither the queue nor the buffer matters to a alone (10 of 10 Mbit/s, 5 ms)"
    )
    assert "the buffer does not matter" in grid.grid_answer(
        _grid(a={cell: value for cell, value in numbers.items() if cell[0] == "pie"})
    )


def test_shades_follow_the_scale_of_the_margin() -> None:
    numbers = {
        ("droptail", "1bdp"): (10.0, 100.0),
        ("droptail", "4bdp"): (10.0, 10.0),
        ("codel", "1bdp"): (9.8, 1.0),
        ("codel", "4bdp"): (9.8, 0.5),
    }
    some = _grid(a=numbers)
    delay = heat.heat_map(some, BY_KEY["delay"])
    # 100, 10 and 1 ms are evenly apart in their logarithm, and what is below 1 ms counts as 1 ms.
    assert [[round(cell.shade or 0, 6) for cell in row] for row in delay.cells] == [[0.0, 0.5], [1.0, 1.0]]
    assert [[cell.is_best for cell in row] for row in delay.cells] == [[False, False], [True, True]]
    # A difference of 2 % has nearly one shade.
    goodput = heat.heat_map(some, BY_KEY["goodput"])
    assert all((cell.shade or 0) > 0.9 for row in goodput.cells for cell in row)


def test_one_call_answers_for_every_cell_and_shares_its_runs(
    tmp_path: Path, ackclock_here: Callable[..., Finished]
) -> None:
    many = ["compare", "cubic", *OPTIONS, "--queue", "droptail,codel", "--buffer", "0.5bdp,2bdp"]
    planned = json.loads(ackclock_here(*many, "--dry-run", "--json").stdout)
    # Six scenarios of CUBIC, Reno next to Reno and cubic-linux next to itself: 8, in 4 cells, run 3 times.
    assert (planned["runs"], planned["kept"]) == (96, 0)
    done = ackclock_here(*many, "--json")
    assert done.returncode == 0
    rows = json.loads(done.stdout)
    assert {(row["queue"], row["buffer"]) for row in rows} == {
        (queue, buffer) for queue in ("droptail", "codel") for buffer in ("0.5bdp", "2bdp")
    }
    assert len(rows) == 4 * len(QUESTIONS)
    home = tmp_path / "results" / "comparison"
    assert pl.read_csv(home / "answers.csv").height == len(rows)
    text = (home / "index.html").read_text()
    assert text.count('<table class="heat">') == len(QUESTIONS)
    assert "Which queue and buffer for cubic? 10 Mbit/s, 40 ms" in text
    assert len(re.findall(r'href="scenarios/[^"]+"', text)) == len(list((home / "scenarios").iterdir())) == 32
    assert integrity.problem_of(home) is None
    single = ["compare", "cubic", *OPTIONS, "--queue", "codel", "--buffer", "2bdp"]
    planned = json.loads(ackclock_here(*single, "--dry-run", "--json").stdout)
    assert (planned["runs"], planned["kept"]) == (24, 24)
    again = json.loads(ackclock_here(*single, "--json").stdout)
    same = [row for row in rows if (row.pop("queue"), row.pop("buffer")) == ("codel", "2bdp")]
    assert again == same


def test_maps_are_drawn_on_request(tmp_path: Path) -> None:
    numbers = {(queue, buffer): (10.0, 5.0) for queue in ("codel", "pie") for buffer in ("1bdp", "2bdp")}
    small = _grid(a=numbers)
    for cell in small.cells.values():
        cell.scenarios["alone", "a"] = comparison.questions.scenarios(cell.setting, "reno")["alone"]
    grid_page.write_grid(small, tmp_path, "ackclock compare a", pictures=True)
    assert (tmp_path / "heat-goodput.png").read_bytes().startswith(b"\x89PNG")
    grid_page.write_grid(small, tmp_path, "ackclock compare a")
    assert not list(tmp_path.glob("heat-*"))


def test_ecn_reaches_flows_and_the_queues_that_can_mark() -> None:
    cells = options.grid_of_options(
        ["droptail", "codel", "dualpi2"], [], None, None, "20s", rate="10mbit", rtt="40ms", ecn=True
    )
    scenarios = [
        comparison.questions.scenarios(setting, "cubic")["alone"].written() for setting in cells.values()
    ]
    assert [scenario["tcp"]["ecn"] for scenario in scenarios] == [True, True, True]
    marking = [scenario["dumbbell"]["queue"].get("ecn", False) for scenario in scenarios]
    assert marking == [False, True, False]
    assert [setting.marks for setting in cells.values()] == [False, True, True]
    named = options.of_options(
        "wifi", None, None, rate=None, rtt=None, buffer=None, loss=None, queue=None, profile=None, ecn=True
    )
    alone = comparison.questions.scenarios(named, "cubic")["alone"].tables()
    assert alone["dumbbell"]["queue"]["ecn"] is True


def test_dctcp_without_marks_is_named() -> None:
    done = comparison.compare(
        options.of_numbers(rate="5mbit", rtt="20ms", duration_s=5.0, runs=2), ["dctcp", "reno"]
    )
    from ackclock.comparison import conclusion

    assert any(
        "marks no packets here, so dctcp only follows Reno" in line for line in conclusion.warned(done)
    )


@pytest.mark.parametrize(
    "option", [["--queue", "droptail,"], ["--queue", "codel,cake"], ["--buffer", "1bdp,x"]]
)
def test_a_wrong_list_is_one_line(
    ackclock_here: Callable[..., Finished], tmp_path: Path, option: list[str]
) -> None:
    done = ackclock_here("compare", "reno", *option)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "results").exists()


def test_a_seed_is_that_of_the_option_then_of_the_scenario_then_1(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        'path = "wifi"\nrun = { duration = "9 s", seed = 7 }\n[[flow]]\ncontroller = "reno"\nrtt = "50 ms"\n'
    )
    given: dict[str, None] = dict.fromkeys(("rate", "rtt", "buffer", "loss", "queue", "profile"))
    seeds = [
        comparison.questions.scenarios(options.of_options(name, scenario, None, **given, seed=seed), "cubic")[
            "alone"
        ].seed
        for name, scenario, seed in (
            (None, file, 3),
            (None, file, None),
            ("wifi", None, 4),
            ("wifi", None, None),
        )
    ]
    assert seeds == [3, 7, 4, 1]
