"""What is published is shown as such, and its audit finds what is false."""

import json
import math
from dataclasses import replace

import polars as pl
import pytest

import publish
from ackclock import engine
from ackclock.engine import integrity
from ackclock.reproduction import audit, library
from ackclock.reproduction.claims.numbers import FULL
from ackclock.reproduction.shown import published
from test_published import OTHER, TINY
from test_published import results as results  # a fixture

HEADLINE = replace(TINY, artefacts=(TINY["figure-1"], replace(OTHER, headline=True)))


def run(number, cost_s):
    return audit.PublishedRun("a", "b", "c", number, (), cost_s)


def draw(costs_s, budget_s, seed="one"):
    return audit.sample([run(number, cost_s) for number, cost_s in enumerate(costs_s)], budget_s, seed)


def test_a_draw_keeps_to_its_budget_and_follows_its_seed():
    costs_s = [0.1 + number % 7 for number in range(50)]
    drawn = draw(costs_s, 30.0)
    assert drawn == draw(costs_s, 30.0)
    assert drawn.chosen != draw(costs_s, 30.0, "two").chosen
    left_s = 30.0 - sum(run.cost_s for run in drawn.chosen)
    # Nothing else would fit.
    assert 0 <= left_s < min(run.cost_s for run in {*draw(costs_s, 1e9).chosen} - {*drawn.chosen})


def test_equal_costs_are_drawn_uniformly_and_others_until_one_does_not_fit():
    # Three of 3 s fit into 10 s; a fourth does not, and nothing that is shorter follows it.
    drawn = draw([3.0] * 50, 10.0)
    assert (len(drawn.chosen), drawn.uniform) == (3, 3)
    # Everything fits: all are uniform.
    assert draw([3.0] * 50, 150.0).uniform == 50
    # Nine of 1 s and one that never fits, at each of ten positions with the same probability: as many are
    # before it, 4.5 on average with a variance of (10² - 1) / 12.
    several = [draw([1.0] * 9 + [100.0], 9.5, str(seed)) for seed in range(400)]
    assert all(len(drawn.chosen) == 9 for drawn in several)
    mean = sum(drawn.uniform for drawn in several) / 400
    assert abs(mean - 4.5) < 4 * math.sqrt(99 / 12 / 400)


@pytest.mark.parametrize(("draws", "share"), [(59, 0.05), (299, 0.01)])
def test_the_share_that_may_be_missed(draws, share):
    # Wilks (1941): 59 are the fewest draws that meet a twentieth with 95 %, and 299 a hundredth.
    def missed(count):
        return audit.Audit(draw([1.0] * 400, count), []).record()["missed_share"]

    assert missed(draws) <= share < missed(draws - 1)
    assert (1 - missed(draws)) ** draws == pytest.approx(0.05)


def test_false_runs_are_missed_as_often_as_is_said():
    # 15 of 300 runs are false, a twentieth. 59 draws without replacement have none of them with probability
    # C(285, 59) / C(300, 59) = 0.034, less than the 0.05 with replacement.
    expected = math.comb(285, 59) / math.comb(300, 59)
    seeds = 1000
    without = sum(all(run.run >= 15 for run in draw([1.0] * 300, 59.5, str(n)).chosen) for n in range(seeds))
    assert abs(without / seeds - expected) < 4 * math.sqrt(expected * (1 - expected) / seeds)


@pytest.fixture
def place(results, tmp_path, monkeypatch):
    """Publish a paper as the only one, and return the folder of its published results."""
    place = tmp_path / "papers" / "tiny" / "published"
    publish.publish(results, TINY, place)
    monkeypatch.setattr(published, "FOLDER", tmp_path / "papers")
    monkeypatch.setattr(library, "every", lambda: {"tiny": HEADLINE})
    return place


def plant(place, table, **columns):
    """Change a published table in the way of somebody who wants to be believed."""
    file = place / f"{table}.parquet"
    pl.read_parquet(file).with_columns(**columns).write_parquet(file)
    integrity.seal_directory(place)


def make_older(place):
    file = place / "records.json"
    records = json.loads(file.read_text("utf-8"))
    records["figure-1"]["record"]["rules"] = engine.RULES - 1
    file.write_text(json.dumps(records), "utf-8")
    integrity.seal_directory(place)


FALSE = pl.when(pl.col("run") == 2).then(pl.lit("0" * 16)).otherwise("digest")
OTHER_RATE = pl.when(pl.col("run") == 2).then(pl.col("value") * (1 + 1e-6)).otherwise("value")


@pytest.mark.usefixtures("place")
def test_what_is_true_passes(ackclock_here, tmp_path):
    done = ackclock_here("reproduce", "--audit", "100s", "--seed", "7", "-o", "out", "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["artefacts"] == []
    # Three runs of one case and one of the other, which all fit.
    assert [said["audit"][key] for key in ("seed", "published_runs", "uniform_runs")] == [7, 4, 4]
    assert {row["run"] for row in said["audit"]["runs"]} == {0, 1, 2}
    assert all(row["problem"] == row["older"] == "" for row in said["audit"]["runs"])
    # The same seed draws the same, and the file has what was printed.
    again = ackclock_here("reproduce", "--audit", "100s", "--seed", "7", "-o", "out", "--json")
    assert json.loads(again.stdout) == said
    assert json.loads((tmp_path / "out" / audit.FILE).read_text("utf-8")) == said["audit"]


@pytest.mark.parametrize(
    ("table", "columns"),
    [("runs", {"digest": FALSE}), ("numbers", {"value": OTHER_RATE})],
    ids=["digest", "number"],
)
def test_a_false_run_fails_and_one_that_is_older_does_not(place, ackclock_here, table, columns):
    plant(place, table, **columns)
    done = ackclock_here("reproduce", "--audit", "100s", "-o", "out")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[-2] == "1 of these runs is false."
    assert lines[-1].startswith("  tiny/figure-1, one, run 2: ")
    make_older(place)
    done = ackclock_here("reproduce", "--audit", "100s", "-o", "out")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "None of these runs is false."
    # Other rules count otherwise, so that numbers are not compared, and say nothing of a digest.
    assert ("older than the code differ" in done.stdout) == (table == "runs")


@pytest.mark.usefixtures("place")
def test_a_case_that_has_changed_is_older(monkeypatch, ackclock_here):
    figure = TINY["figure-1"]
    cases = {key: case for key, case in figure.cases(FULL).items() if str(key) == "one"}
    other = replace(TINY, artefacts=(replace(figure, cases=lambda _: cases), OTHER))
    monkeypatch.setattr(library, "every", lambda: {"tiny": other})
    done = ackclock_here("reproduce", "--audit", "100s", "-o", "out", "--json")
    assert done.returncode == 0
    runs = json.loads(done.stdout)["audit"]["runs"]
    assert [(row["case"], row["older"]) for row in runs if row["problem"]] == [("two", "its case is gone")]


@pytest.mark.usefixtures("place")
def test_quick_judges_headlines_and_shows_the_rest_as_published(ackclock_here, tmp_path):
    done = ackclock_here("reproduce", "--quick", "--audit", "100s", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "tiny: 1 result as published" in done.stderr
    assert "audit of tiny/figure-1: " in done.stderr
    folder = tmp_path / "out" / "tiny"
    records = {
        name: json.loads((folder / name / "artefact.json").read_text("utf-8"))
        for name in ("figure-1", "table-1")
    }
    assert records["table-1"]["quick"]
    assert "published" not in records["table-1"]
    assert records["figure-1"]["published"].startswith("published: a full result of commit ")
    for page, mark in (("tiny/index.html", records["figure-1"]["published"]), ("index.html", "published")):
        assert (tmp_path / "out" / page).read_text("utf-8").count(f"<small>{mark}</small>") == 1
    # A reproduction makes it anew, and from then on it is no longer replaced.
    assert ackclock_here("reproduce", "-o", "out").returncode == 0
    own = (folder / "figure-1" / "artefact.json").read_text("utf-8")
    assert "published" not in json.loads(own)
    done = ackclock_here("reproduce", "--quick", "--audit", "100s", "-o", "out")
    assert "as published" not in done.stderr
    assert (folder / "figure-1" / "artefact.json").read_text("utf-8") == own


def test_an_audit_refuses_what_it_does_not_go_with(ackclock_here):
    for other in ("--full", "--dry-run", "--infer", "--published"):
        assert ackclock_here("reproduce", "--audit", "100s", other).returncode == 2
    assert ackclock_here("reproduce", "--seed", "7").returncode == 2
    assert ackclock_here("reproduce", "--audit", "100").returncode == 2
