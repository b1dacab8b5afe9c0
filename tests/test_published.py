"""The full results that are published: complete, small, and the same when runs are made again."""

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import publish
from ackclock import StorageError, engine
from ackclock.draw import charts
from ackclock.draw.figure import Axis, Chart, Group, Series
from ackclock.engine import integrity
from ackclock.reproduction import audit, make
from ackclock.reproduction.claims import usual
from ackclock.reproduction.claims.numbers import FULL, QUICK
from ackclock.reproduction.main_claims import MainClaim
from ackclock.reproduction.paper import Chosen, Paper
from ackclock.reproduction.shown import page, published
from ackclock.reproduction.trials.tried import Outcome, Trial
from ackclock.runs import Case
from ackclock_papers import PAPERS
from test_reproduction import artefact, tiny

ROOT = Path(__file__).resolve().parents[1]
MOST_BYTES = 15_000_000
BUDGET_S = 10.0
LEAST_PACKETS = 100_000
"""A control has hardly reacted to anything in a run with fewer."""
EVERY = {name: published.read(place) for name, place in published.folders(PAPERS.values()).items()}
MISSING = [name for name, artefacts in EVERY.items() if not artefacts]


def of_controls(every):
    """Return a run for each control: the cheapest in which the control has something to react to."""
    least_s = audit.START_S + LEAST_PACKETS / audit.PACKETS_PER_S
    chosen = {}
    for run in sorted(every, key=lambda run: (run.cost_s < least_s, abs(run.cost_s - least_s))):
        for control in run.controls:
            chosen.setdefault(control, run)
    return list(dict.fromkeys(chosen.values()))


def figure(_numbers, _traces):
    """Draw a thinned curve, and points with one interval that is not finite."""
    time_s = np.linspace(0, 10, 5001)
    curve = Series("curve", 0, time_s, np.sin(time_s))
    point = Series("point", 1, [1.0, 2.0], [0.5, np.nan], low=[0.4, np.nan], high=[0.6, np.nan])
    return Group([Chart("a", "a, b", Axis("time", "s"), Axis("window", "packets"), [curve, point])])


ONE = artefact(
    "figure-1", {"one": Case(tiny(), 3), "two": Case(tiny("3 s", controller="cubic"))}, draw=figure
)
OTHER = artefact("table-1", {"one": Case(tiny("5 s"), 2)})
MAIN = {"figure-1": MainClaim("words", "page 1", "simulation", "claim", ("rate",))}
TINY = Paper("tiny", "Tiny", (), (ONE, OTHER), main_claims=MAIN)


@pytest.fixture
def results(tmp_path):
    make.reproduce([(TINY, ONE)], tmp_path / "results", FULL, 2)
    return tmp_path / "results"


def files(place):
    return {file.relative_to(place): file.read_bytes() for file in place.rglob("*") if file.is_file()}


def test_a_result_is_published_and_unpacked_as_it_was(results, tmp_path):
    place = tmp_path / "papers" / "published"
    assert publish.publish(results, TINY, place) == ["table-1"]
    published.unpack(published.read(place), tmp_path / "again" / "tiny")
    before, after = (folder / "tiny" / "figure-1" for folder in (results, tmp_path / "again"))
    for name in ("scenarios/one.toml", "scenarios/two.toml"):
        assert (after / name).read_bytes() == (before / name).read_bytes()
    # A published record also has the commit of the code that made it.
    unpacked, made = (json.loads((folder / "artefact.json").read_text()) for folder in (after, before))
    assert re.fullmatch(r"[0-9a-f]{40}", unpacked.pop("commit"))
    assert unpacked == made
    for name in ("numbers.parquet", "runs.parquet"):
        assert pl.read_parquet(after / name).rows() == pl.read_parquet(before / name).rows()
    thinned = charts.dump(charts.load((before / page.FIGURE).read_text()), publish.MOST_ROWS)
    assert charts.dump(charts.load((after / page.FIGURE).read_text())) == thinned
    # The curve has 5001 rows in the run, at most 2000 in the result.
    assert len(thinned) < 0.5 * (before / page.FIGURE).stat().st_size
    # Unpacked results are shown like any result.
    page.write(tmp_path / "again", [TINY])
    assert "Figure 1: what" in (tmp_path / "again" / "index.html").read_text()


def test_the_same_result_gives_the_same_bytes(results, tmp_path):
    for name in ("one", "two"):
        publish.publish(results, TINY, tmp_path / name)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    # Publishing again changes nothing, either.
    publish.publish(tmp_path / "empty", TINY, tmp_path / "one")
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_what_was_not_run_again_stays_published(results, tmp_path):
    place = tmp_path / "published"
    publish.publish(results, TINY, place)
    make.reproduce([(TINY, OTHER)], tmp_path / "later", FULL, 2)
    assert publish.publish(tmp_path / "later", TINY, place) == []
    assert list(published.read(place)) == ["figure-1", "table-1"]
    # Quick runs are not published: two runs of the other artefact, and not the one of the quick result.
    quick = artefact("table-1", {"one": Case(tiny("5 s"))})
    make.reproduce([(TINY, quick)], tmp_path / "quick", QUICK, 2)
    publish.publish(tmp_path / "quick", TINY, place)
    assert published.read(place)["table-1"].tables["runs"].height == 2


def test_what_other_settings_say_is_that_of_the_present_tables(results, tmp_path):
    place = tmp_path / "published"
    publish.publish(results, TINY, place)
    (before,) = published.read(place)["figure-1"].record["claims"]
    # It holds; two settings of the design were tried since then, and at one it does not.
    assert (before["verdict"], before["tried_settings"]) == ("reproduced", 0)
    key = "figure-1", before["id"].rpartition("/")[2]
    trials = [
        Trial({"buffer": size}, "design", 3, 0, True, {}, {key: Outcome(size > 5, 1.0)}) for size in (5, 40)
    ]
    chosen = Chosen({"buffer": 5}, False, {}, lambda: trials)
    publish.publish(tmp_path / "empty", replace(TINY, inferred=chosen), place)
    (after,) = published.read(place)["figure-1"].record["claims"]
    settings = {"holding_settings": 1, "tried_settings": 2, "robust": False}
    assert after == before | settings


def test_claims_that_changed_are_judged_with_the_published_numbers(results, tmp_path):
    place = tmp_path / "published"
    publish.publish(results, TINY, place)
    (before,) = published.read(place)["figure-1"].record["claims"]
    number = usual.mean("one", "rate")
    # Reno fills most of the link, which has 1 Mbit/s; another claim asks for more than it carries.
    changed = replace(
        ONE,
        claims=(
            *ONE.claims,
            usual.between("above", "above", number, 1.1, 2, why="w"),
            usual.between("other", "other", usual.mean("two", "rate"), 0.5, 1, why="w"),
        ),
    )
    publish.publish(tmp_path / "empty", replace(TINY, artefacts=(changed, OTHER)), place)
    same, above, other = published.read(place)["figure-1"].record["claims"]
    assert same == before
    assert (above["measured"], above["holds"]) == (before["measured"], False)
    # 0.45 is half of the range from 1.1 to 2.
    assert above["tolerances_missed"] == pytest.approx(
        (1.1 - float(before["measured"].split()[0])) / 0.45, rel=1e-3
    )
    assert (same["controls"], other["controls"]) == (["reno"], ["cubic"])
    # Numbers that are not published keep all as they were.
    unknown = replace(changed, cases=lambda _effort: {"three": Case(tiny())} | dict(ONE.cases(FULL)))
    publish.publish(tmp_path / "empty", replace(TINY, artefacts=(unknown, OTHER)), place)
    assert published.read(place)["figure-1"].record["claims"] == [same, above, other]


@pytest.mark.long
@pytest.mark.parametrize("name", EVERY)
def test_every_published_claim_is_what_the_published_numbers_say(name, capsys):
    for artefact_name, known in EVERY[name].items():
        again = publish.judged_again(known, PAPERS[name], PAPERS[name][artefact_name])
        before, after = (
            {claim["id"]: (claim["claim"], claim["measured"], claim["holds"]) for claim in of["claims"]}
            for of in (known.record, again.record)
        )
        assert before == after, f"papers/publish.py: {name}/{artefact_name}"
    # It says so where numbers are missing and nothing was judged.
    assert capsys.readouterr().out == ""


def test_a_change_of_what_is_published_is_noticed(results, tmp_path):
    place = tmp_path / "published"
    publish.publish(results, TINY, place)
    for file in sorted(place.iterdir()):
        content = file.read_bytes()
        file.write_bytes(content[:20] + bytes([content[20] ^ 1]) + content[21:])
        with pytest.raises(StorageError, match=rf"{file.name} was changed or damaged"):
            published.read(place)
        file.write_bytes(content)
    assert integrity.problem_of(place) is None


def test_a_result_without_digests_is_not_published(results, tmp_path):
    place = results / "tiny" / "figure-1"
    (place / "runs.parquet").unlink()
    integrity.seal_directory(place)
    with pytest.raises(StorageError, match="reproduce --full tiny/figure-1 makes it again"):
        publish.publish(results, TINY, tmp_path / "published")


def test_the_overview_lists_every_artefact(results, tmp_path):
    publish.publish(results, TINY, tmp_path / "published")
    holds = json.loads((results / "tiny/figure-1/artefact.json").read_text())["claims"][0]["holds"]
    assert published.overview([TINY], {"tiny": tmp_path / "published"}) == [
        {
            "artefact": "tiny/figure-1",
            "class": "reproduced",
            "group": "holds",
            "main_claim": {"id": "tiny/figure-1/rate", "holds": holds, "exchange": "not asked yet"},
            "holds": 1,
            "claims": 1,
            "commit": published.read(tmp_path / "published")["figure-1"].record["commit"],
            "is_older": False,
        },
        {
            "artefact": "tiny/table-1",
            "class": "not run",
            "group": "not run",
            "main_claim": {"id": None, "holds": None, "exchange": None},
            "holds": 0,
            "claims": 0,
            "commit": None,
            "is_older": False,
        },
    ]


def test_results_of_other_rules_are_older():
    made = {"cases": {"one": {"file": "one.toml", "runs": 3}}, "rules": engine.RULES, "commit": "a" * 40}
    # Results published before there were rules have none; a formula has no runs to measure.
    older = [made | {"rules": engine.RULES - 1, "commit": "b" * 40}, {"cases": made["cases"]}]
    formula = made | {"cases": {}, "rules": 1}
    assert [published.is_older(record) for record in (made, formula, *older)] == [False, False, True, True]
    assert published.age([made, formula]) == []
    (_, line) = published.age([made, formula, *older])
    assert "made at bbbbbbbbbb, ?, before" in line
    many = published.commits_in_words([*"abcda", None])
    assert many == "a, b, c and 2 more commits"


def test_the_verb_lists_all_artefacts(ackclock_here):
    listed = json.loads(ackclock_here("reproduce", "--published", "--json").stdout)
    assert list(listed) == ["artefacts"]
    names = [f"{name}/{artefact.name}" for name, paper in PAPERS.items() for artefact in paper.artefacts]
    assert [row["artefact"] for row in listed["artefacts"]] == names
    for row in listed["artefacts"]:
        columns = ["artefact", "class", "group", "main_claim", "holds", "claims", "commit", "is_older"]
        assert list(row) == columns
        assert list(row["main_claim"]) == ["id", "holds", "exchange"]
    some = ackclock_here("reproduce", "--published", "illinois/figure-8").stdout
    assert some.splitlines()[1].startswith("illinois/figure-8")
    assert ackclock_here("reproduce", "--published", "--quick").returncode == 2


def test_an_installation_says_where_the_published_results_are(ackclock_here, monkeypatch, tmp_path):
    monkeypatch.setattr(published, "FOLDER", tmp_path / "none")
    done = ackclock_here("reproduce", "--published")
    assert done.returncode == 2
    assert "papers/PAPER/published of the project's repository" in done.stderr


def test_a_run_that_differs_makes_its_number_stale(results, tmp_path):
    publish.publish(results, TINY, tmp_path / "published")
    every = {"tiny": published.read(tmp_path / "published")}
    runs = audit.runs(every)
    # Three runs of Reno and one of CUBIC.
    assert [run.controls for run in runs] == [("reno",)] * 3 + [("cubic",)]

    def differences(paper):
        compared = audit.compare(runs, {"tiny": paper}, every, 2)
        return [f"{each.run}: {each.problem}" for each in compared if each.problem]

    assert differences(TINY) == []
    # Another measure of the same runs, other runs, and a case that is gone.
    measured = artefact("figure-1", ONE.cases(FULL), lambda _run: {"rate": 1.5})
    lines = differences(replace(TINY, artefacts=(measured, OTHER)))
    assert len(lines) == 4
    assert lines[0].startswith("tiny/figure-1, one, run 0: rate is 1.5, and 0.")
    later = artefact("figure-1", {"one": Case(tiny("2100 ms"), 3), "two": ONE.cases(FULL)["two"]})
    lines = differences(replace(TINY, artefacts=(later, OTHER)))
    assert [line.split(": ")[0] for line in lines] == [f"tiny/figure-1, one, run {run}" for run in range(3)]
    assert all("the digest is" in line for line in lines)
    fewer = artefact("figure-1", {"one": Case(tiny(), 3)})
    lines = differences(replace(TINY, artefacts=(fewer, OTHER)))
    assert lines == ["tiny/figure-1, two, run 0: there is no such case any more"]


def test_each_control_has_its_cheapest_run_of_some_length():
    def run(number, cost_s, *controls):
        return audit.PublishedRun("a", "b", "c", number, controls, cost_s)

    short, cheap, dear, other = (
        run(0, 0.03, "reno"),
        run(1, 1, "reno"),
        run(2, 2, "reno", "fit"),
        run(3, 0.1, "bic"),
    )
    # 100 000 packets at six million per second, and 0.02 s to start: 0.037 s.
    assert set(of_controls([short, dear, other, cheap])) == {cheap, dear, other}


def test_what_is_published_is_small_and_full():
    sizes = {
        file: file.stat().st_size
        for place in published.folders(PAPERS.values()).values()
        for file in place.glob("*")
    }
    assert sum(sizes.values()) <= MOST_BYTES
    for artefacts in EVERY.values():
        for known in artefacts.values():
            assert not known.record["quick"]
            runs = sum(case["runs"] for case in known.record["cases"].values())
            assert known.tables["runs"].height == runs


def again(chosen):
    if MISSING and not chosen:
        pytest.skip("nothing is published of any paper")
    # Rules that count otherwise make no other run, so that only a control that has changed excuses a digest.
    excused = {f"{name} has changed" for name in published.CHANGED}
    lines = [
        f"{each.run}: {each.problem}"
        for each in audit.compare(chosen, PAPERS, EVERY)
        if each.problem and each.older not in excused
    ]
    assert not lines, "published results are stale (make reproduction makes them again):\n" + "\n".join(lines)
    if MISSING:
        pytest.skip(
            f"nothing is published of {', '.join(MISSING)}; all {len(chosen)} runs of the others are the same"
        )


def test_a_published_run_of_every_control_is_the_same_again():
    again(of_controls(audit.runs(EVERY)))


@pytest.mark.long
def test_a_sample_of_published_runs_is_the_same_again():
    # Another commit draws other runs, and the same commit the same.
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    seed = git.stdout.strip() if git.returncode == 0 else "no repository"
    again(audit.draw(EVERY, BUDGET_S, seed).chosen)
