"""The matrix of readings by claims, with an artificial paper whose runs take milliseconds."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from ackclock.draw import plots
from ackclock.reproduction.claims import judge
from ackclock.reproduction.claims.artefact import Probe, Simulated
from ackclock.reproduction.claims.numbers import QUICK
from ackclock.reproduction.claims.usual import between, mean
from ackclock.reproduction.inference import readings
from ackclock.reproduction.inference.fingerprint import fingerprint
from ackclock.reproduction.inference.search import Search
from ackclock.reproduction.paper import Chosen, Inference, Paper
from ackclock.reproduction.trials import cells as matrix
from ackclock.reproduction.trials import tried
from ackclock.reproduction.trials.cells import CHOSEN, THE_SETTING, Cell
from ackclock.reproduction.trials.settings import Item
from ackclock.reproduction.trials.tried import Trial
from ackclock.runs import Case
from ackclock_papers import PAPERS


def is_of(paper: Paper, cell: Cell) -> bool:
    """Return whether a cell is of the paper as it is: its claims, its items and its chosen setting."""
    if cell.claim == THE_SETTING:
        # An item that came later had its first value until then.
        return isinstance(cell.value, Mapping) and all(
            paper.setting.get(name) == value for name, value in cell.value.items()
        )
    known = {(artefact.name, claim.name) for artefact in paper.artefacts for claim in artefact.claims}
    if (cell.artefact, cell.claim) not in known:
        return False
    if cell.item == CHOSEN:
        return True
    item = next((item for item in paper.items if item.name == cell.item), None)
    return item is not None and any(value.value == cell.value for value in item.values)


def item(name, *values):
    return Item.read(
        {
            "name": name,
            "quantity": name,
            "choice": "{} units",
            "values": [{"value": value, "basis": "open", "evidence": "ours"} for value in values],
        }
    )


def scenario(setting, rate_mbps):
    return {
        "run": {"duration": "10 s", "warmup": "2 s"},
        "dumbbell": {
            "rate": f"{rate_mbps} Mbit/s",
            "delay": "10 ms",
            "queue": {"kind": "droptail", "limit": f"{setting['buffer']} packets"},
            **({"loss": {"kind": "bernoulli", "rate": setting["loss"]}} if rate_mbps == 4 else {}),
        },
        "flow": [{"controller": "reno", "overhead": "1 ms", "rtt": "20 ms"}],
    }


def artefact(name, rate_mbps):
    return Simulated(
        name=name,
        caption="what",
        about="About.",
        draw=lambda _numbers, _traces: plots.panels(1)[0],
        probe=Probe(("queue",), lambda run: {"queue": run.summary["links"][0]["mean_queue_packets"]}),
        cases=lambda effort: {"one": Case(scenario(effort.setting, rate_mbps), effort.runs)},
        claims=(
            between("short", "the queue is short", mean("one", "queue"), 0, 12, why="w", unit="packets"),
            between("any", "there is a queue", mean("one", "queue"), 0, 1000, why="w", unit="packets"),
        ),
    )


@pytest.fixture(scope="module")
def paper():
    """Return a paper at a buffer of 10 packets; the queue of figure 1 is loss-free and 40 packets fill it."""
    fixed = Item.read({"quantity": "rate", "choice": "3 or 4", "basis": "stated", "evidence": "ours"})
    items = [fixed, item("buffer", 5, 10, 40), item("loss", 0.0001, 0.2), item("axis", 1, 2)]
    chosen = Chosen({"buffer": 10, "loss": 0.0001}, True, {}, lambda: [])
    artefacts = [artefact("figure-1", 3), artefact("figure-2", 4)]
    inference = Inference({"figure-1": ["*"]}, {"figure-2": ["*"]})
    return Paper("made", "A paper of ours", items, artefacts, inference=inference, inferred=chosen)


def search(paper):
    return Search(paper, None, 1, lambda _: None)


@pytest.fixture(scope="module")
def cells(paper):
    return readings.judged(search(paper), paper.artefacts, 2)


def test_every_other_value_is_judged_where_it_changes_a_scenario(cells):
    # Two other buffers for both figures, another loss for figure 2 alone; the axis is read by nothing.
    seen = [(cell.artefact, cell.item, cell.value) for cell in cells if cell.claim == "any"]
    setting = {"buffer": 10, "loss": 0.0001, "axis": 1}
    told = [(cell.artefact, cell.value) for cell in cells if cell.claim == THE_SETTING]
    assert told == [("figure-1", setting), ("figure-2", setting)]
    assert sorted(seen, key=str) == sorted(
        [
            ("figure-1", CHOSEN, None), ("figure-2", CHOSEN, None),
            ("figure-1", "buffer", 5), ("figure-2", "buffer", 5),
            ("figure-1", "buffer", 40), ("figure-2", "buffer", 40),
            ("figure-2", "loss", 0.2),
        ],
        key=str,
    )  # fmt: skip


def test_a_cell_is_what_the_judge_says_at_that_setting(paper, cells):
    effort = replace(QUICK, runs=2)
    for cell in (cell for cell in cells if cell.claim != THE_SETTING):
        setting = paper.setting | ({} if cell.item == CHOSEN else {cell.item: cell.value})
        assignment = judge.Assignment.of(paper[cell.artefact], effort.at(setting))
        ((_, judgement),) = judge.judge([assignment])
        ((_, said),) = [some for some in judgement.claims if some[0].name == cell.claim]
        assert (cell.holds, cell.undecided, cell.measured) == (said.holds, said.undecided, said.value)


def test_a_table_shows_what_a_value_turns(paper, cells):
    # Reno fills nearly all of a droptail buffer, at 40 packets more than 12 on average, at 5 and 10 less.
    text = "\n".join(readings.tables(paper, cells))
    settings = "the chosen one and 2 that differ in one item, each with 2 quick runs"
    assert f"Claims: 2; settings: {settings}. Claims with the same outcome at all of them: 1." in text
    assert "| reading | the queue is short |" in text
    assert "| as chosen | yes (" in text
    assert "| buffer: 40 units | no (" in text
    assert "buffer: 5 units" not in text
    assert "there is a queue" not in text


def test_cells_are_kept_and_replaced_by_artefact(paper, cells, tmp_path):
    file = tmp_path / tried.READINGS
    assert matrix.read(file) == []
    matrix.write(file, cells)
    again = matrix.read(file)
    assert [cell[:8] for cell in again] == [cell[:8] for cell in cells]
    assert [cell.measured for cell in again] == pytest.approx(
        [cell.measured for cell in cells], rel=1e-3, nan_ok=True
    )
    first = [cell for cell in cells if cell.artefact == "figure-1"]
    merged = matrix.merge(again, [first[0]])
    assert [cell for cell in merged if cell.artefact == "figure-1"] == [first[0]]
    assert len(merged) == 1 + len(cells) - len(first)
    assert all(is_of(paper, cell) for cell in again)
    other = replace(paper, inferred=paper.inferred._replace(setting={"buffer": 5, "loss": 0.0001}))
    stale = [cell for cell in again if not is_of(other, cell)]
    assert [(cell.artefact, cell.claim) for cell in stale] == [
        ("figure-1", THE_SETTING),
        ("figure-2", THE_SETTING),
    ]


def test_the_matrix_counts_among_what_was_tried(paper, cells):
    """A claim that several runs decide with one other value depends on it; where they do not, chance may."""
    told = Cell("figure-1", THE_SETTING, CHOSEN, {"buffer": 10}, 2, True, True, False, 0.0)

    def tries(*, holds, undecided):
        cell = Cell("figure-1", "claim", "buffer", 50, 2, True, holds, undecided, 1.0)
        chosen = cell._replace(item=CHOSEN, value=None, holds=True)
        return matrix.trials({"buffer": 5, "loss": 0.01}, [told, chosen, cell])

    (trial,) = tries(holds=True, undecided=False)
    assert (trial.setting, trial.runs) == ({"buffer": 50, "loss": 0.01}, 2)
    kinds = [
        tried.judge(("figure-1", "claim"), False, tries(holds=holds, undecided=undecided)).kind
        for holds, undecided in ((True, False), (True, True), (False, False))
    ]
    assert kinds == ["depends", "not found", "not found"]
    # Trials of the matrix that a search kept have no undecided outcomes, and are not counted twice.
    kept = Trial({"buffer": 40}, tried.MATRIX, 2, 0)
    searched = replace(paper, inferred=paper.inferred._replace(trials=lambda: [kept]))
    assert searched.trials == [kept]
    others = {(cell.item, cell.value) for cell in cells if cell.item != CHOSEN}
    both = replace(searched, matrix=lambda: cells).trials
    assert kept not in both
    assert len(both) == len(others)


def test_a_fingerprint_of_sources_that_are_not_there_is_refused():
    from ackclock.reproduction.inference import fingerprint as module

    assert {len(module._sources((part,))) for part in module.SHOWING} == {64}
    with pytest.raises(LookupError, match=r"ackclock\.moved has no source"):
        module._sources(("ackclock.moved",))


def test_what_readings_gave_is_no_part_of_a_fingerprint(tmp_path):
    # Otherwise a table that is kept would make every outcome that is known old.
    assignment = judge.Assignment.of(PAPERS["bic"]["figure-4"], QUICK.at(PAPERS["bic"].setting))
    from ackclock.reproduction.inference import fingerprint as module

    (tmp_path / "paper.toml").write_text("", encoding="utf-8")
    before = fingerprint(assignment, tmp_path)
    (tmp_path / tried.READINGS).write_text("changed", encoding="utf-8")
    module._of_paper.cache_clear()
    assert fingerprint(assignment, tmp_path) == before
    (tmp_path / "paper.toml").write_text("# changed", encoding="utf-8")
    module._of_paper.cache_clear()
    assert fingerprint(assignment, tmp_path) != before


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_the_tables_of_the_papers_are_of_their_claims_and_their_setting(paper):
    from importlib import resources

    file = resources.files(f"ackclock_papers.{paper.name}") / tried.READINGS
    cells = matrix.read(file)
    assert [cell for cell in cells if not is_of(paper, cell)] == []


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_a_trial_from_before_an_item_has_its_first_value(paper):
    for trial in paper.trials:
        assert set(trial.setting) >= {item.name for item in paper.items if item.name}
        assert json.dumps(dict(trial.setting))


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_what_a_simulator_had_may_also_have_been_something_else(paper):
    from ackclock.reproduction.trials.settings import Basis

    defaults = [item for item in paper.items if item.values[0].basis is Basis.DEFAULT]
    assert [item.quantity for item in defaults if not item.is_open] == []


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.name)
def test_every_value_can_be_run_and_changes_something(paper):
    changing = {
        artefact.name: {item.name for item in paper.relevant(artefact)} for artefact in paper.artefacts
    }
    for item in paper.items:
        if item.is_open:
            artefact = next(artefact for artefact in paper.artefacts if item.name in changing[artefact.name])
            for value in item.values:
                assignment = judge.Assignment.of(
                    artefact, QUICK.at(dict(paper.setting) | {item.name: value.value})
                )
                assert not assignment.error, (item.name, value.value)
