"""Artefacts and verdicts: none missing, wrong controls noticed, nothing lost."""

import html
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import ackclock
import twins
import verdicts
from ackclock import StorageError, engine
from ackclock.draw import charts
from ackclock.draw.figure import Axis, Chart, Diagram, Group, Series, Table
from ackclock.engine import integrity
from ackclock.metrics import Estimate
from ackclock.reproduction import make
from ackclock.reproduction.claims import orders
from ackclock.reproduction.claims import usual as claims
from ackclock.reproduction.claims.artefact import Evidence, Finding, Judged, Probe, Simulated
from ackclock.reproduction.claims.judge import Assignment
from ackclock.reproduction.claims.numbers import FULL, QUICK, Effort, Numbers
from ackclock.reproduction.claims.values import FunctionValue
from ackclock.reproduction.inference import fingerprint
from ackclock.reproduction.library import load
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.shown import outcome, page, words
from ackclock.runs import Case, Store, each, run_all, sources
from ackclock_papers import PAPERS
from conftest import COMMAND
from torture import torture

# The artefacts of the five papers: figures and tables as printed, and what the text of sections
# says next to them.
SECTIONS = {
    "illinois": ("4-5", "2", "3", "4", "5"),
    "fit": ("ii", "v", "vi"),
    "transient": ("b", "3", "4"),
    "bic": ("iv", "ix", "vi", "vi-a", "vii"),
    "africa": ("ii-c", "ii-d", "iii-b", "iv", "v"),
}
FIGURES = {"illinois": 15, "fit": 9, "transient": 38, "bic": 11, "africa": 7}
TABLES = {
    "illinois": (),
    "fit": ("i", "ii", "iii", "iv", "v"),
    "transient": ("1",),
    "bic": ("1", "2", "3"),
    "africa": ("i", "ii"),
}
PRINTED = {
    name: [f"figure-{n}" for n in range(1, figures + 1)]
    + [f"section-{number}" for number in SECTIONS[name]]
    + [f"table-{number}" for number in TABLES[name]]
    for name, figures in FIGURES.items()
}
EVERY = [(paper, artefact) for paper in PAPERS.values() for artefact in paper.artefacts]


def test_every_artefact_of_every_paper_is_there():
    names = {name: [artefact.name for artefact in paper.artefacts] for name, paper in PAPERS.items()}
    assert names == PRINTED
    # 91 figures and tables, and 21 of the text.
    assert len(EVERY) == 112


@pytest.mark.parametrize("effort", [FULL, QUICK], ids=["full", "quick"])
def test_every_scenario_is_accepted(effort):
    for paper, artefact in EVERY:
        assignment = Assignment.of(artefact, effort.at(paper.setting))
        assert not assignment.error, f"{artefact.name}: {assignment.error}"


def test_every_item_of_a_setting_says_what_it_rests_on():
    for paper in PAPERS.values():
        assert paper.items
        names = [item.name for item in paper.items if item.name]
        assert len(set(names)) == len(names)
        for item in paper.items:
            assert item.is_open <= bool(item.name), item.quantity
            values = [value.value for value in item.values]
            assert all(values.count(value) == 1 for value in values), item.quantity
            assert all(value.evidence for value in item.values), item.quantity


def test_titles_are_as_printed():
    assert PAPERS["fit"]["table-iv"].title == "Table IV: environments (simulated)"
    assert PAPERS["bic"]["table-1"].title.startswith("Table 1: ")
    assert PAPERS["transient"]["figure-37"].title.startswith("Figure 37: ")


def test_every_claim_says_what_it_is():
    for paper, artefact in EVERY:
        assert artefact.caption
        assert artefact.about.endswith(".")
        sentences = [claim.sentence for claim in artefact.claims]
        assert sentences, f"{paper.name}/{artefact.name}"
        assert len(set(sentences)) == len(sentences), artefact.name
        for claim in artefact.claims:
            assert claim.paper
            assert claim.tolerance


def test_seeds():
    # At least five, but for runs in which nothing is random and those above 1 Gbit/s.
    for paper, artefact in EVERY:
        effort = FULL.at(paper.setting)
        cases = artefact.cases(effort) if isinstance(artefact, Simulated) else {}
        for name, case in cases.items():
            text = json.dumps(case.scenario)
            random = (
                any(word in text for word in ("bernoulli", "uniform", '"overhead": "', "gaussian"))
                and '"overhead": "0 s"' not in text
            )
            large = any(rate in text for rate in ('"2500 Mbit/s"', '"2400 Mbit/s"'))
            assert case.runs >= 5 or not random or large, (artefact.name, name)


ROWS = {"a": [{"x": 1.0}, {"x": 3.0}], "b": [{"x": 2.0}, {"x": 2.0}]}


def test_numbers():
    numbers = Numbers(ROWS)
    assert numbers.of("a", "x").value == 2.0
    assert numbers.ratio(("a", "x"), ("b", "x")).value == 1.0
    own = Estimate(5.0, 4.0, 6.0, 20)
    assert Numbers({"c": [{"x": own}]}).of("c", "x") == replace(own, least=0.0)


def test_claims_hold_or_do_not():
    numbers = Numbers(ROWS)

    def holds(claim):
        return claim.judge(numbers).holds

    a, b = claims.mean("a", "x"), claims.mean("b", "x")
    assert holds(claims.near("s", "s", a, 2.1, within=0.05, why="w"))
    assert not holds(claims.near("s", "s", a, 2.2, within=0.05, why="w"))
    assert holds(claims.near("s", "s", a, 2.2, within=0.3, absolute=True, why="w"))
    unknown = FunctionValue(lambda _: Estimate(float("nan"), 0, 0, 0), [])
    assert not holds(claims.near("s", "s", unknown, 1, within=9, why=""))
    assert holds(claims.between("s", "s", a, 1, 2, why="w"))
    assert not holds(claims.between("s", "s", a, 2.01, 3, why="w"))
    order = partial(orders.ordered, "s", "s", why="any")
    assert not holds(order([("a", a), ("b", b)], margin=0.0))
    three = FunctionValue(lambda _: Estimate(3, 3, 3, 1), [])
    assert holds(order([("a", three), ("b", b)], margin=0.0))
    assert not holds(order([("a", three), ("b", b)], margin=0.6))


def tiny(duration="2 s", **changes):
    return {
        "run": {"duration": duration},
        "dumbbell": {
            "rate": "1 Mbit/s",
            "delay": "10 ms",
            "queue": {"kind": "droptail", "limit": "10 packets"},
        },
        "flow": [{"controller": "reno", "overhead": "1 ms", **changes}],
    }


def draw(_numbers, _traces):
    return Table(["rate"], [["1 Mbit/s"]])


def artefact(name, cases, measure=None, **more):
    simulated = Simulated(
        name=name,
        caption="what",
        about="About.",
        draw=draw,
        cases=lambda _effort: cases,
        probe=Probe(("rate",), measure or (lambda run: {"rate": run.summary["flows"][0]["goodput_mbps"]})),
        claims=(claims.between("rate", "rate", claims.mean("one", "rate"), 0.5, 1, why="w"),),
    )
    return replace(simulated, **more)


ONE = Paper("tiny", "Tiny", (), ())


def reproduce(tmp_path, *artefacts):
    return make.reproduce([(ONE, one) for one in artefacts], tmp_path, FULL, 2)


def test_failures_do_not_stop_the_others(tmp_path):
    def broken(_run):
        raise KeyError("no such column")

    good = artefact("good", {"one": Case(tiny(), 2)})
    refused = artefact("refused", {"one": Case(tiny(controller="nothing"))})
    unmeasured = artefact("unmeasured", {"one": Case(tiny(), 2)}, measure=broken)
    undrawn = artefact("undrawn", {"one": Case(tiny(), 2)}, draw=lambda *_: 1 / 0)
    records = reproduce(tmp_path, good, refused, unmeasured, undrawn)
    assert [bool(record["error"]) for record in records] == [False, True, True, True]
    assert "nothing" in records[1]["error"]
    assert "no such column" in records[2]["error"]
    assert "ZeroDivisionError" in records[3]["error"]
    assert (tmp_path / "tiny" / "good" / page.FIGURE).exists()


def test_runs_that_are_all_alike_are_said_to_prove_nothing(tmp_path):
    # Nothing is random without an overhead: two runs are the same, packet by packet.
    random, same = Case(tiny(), 2), Case(tiny(overhead="0 s"), 2)
    once = Case(tiny(overhead="0 s"), 1)
    cases = ({"one": random}, {"one": same, "two": random}, {"one": once})
    some = [artefact(f"figure-{number}", each) for number, each in enumerate(cases, start=1)]
    paper = replace(ONE, artefacts=tuple(some))
    records = make.reproduce([(paper, each) for each in some], tmp_path, FULL, 2)
    alike = [[case["alike"] for case in record["cases"].values()] for record in records]
    assert alike == [[False], [True, False], [False]]
    said = "All runs of one are alike, because nothing in the scenario is random"
    assert (tmp_path / "tiny" / "index.html").read_text().count(said) == 1
    lines = [" ".join(outcome.lines(paper, record, records)) for record in records]
    assert [said in " ".join(line.split()) for line in lines] == [False, True, False]


def test_a_picture_without_a_single_value_is_a_failure(tmp_path):
    empty = Group([Chart("a", "a", Axis("x"), Axis("y"), [Series("a", 0, [], [])])])
    (record,) = reproduce(tmp_path, artefact("empty", {"one": Case(tiny(), 1)}, draw=lambda *_: empty))
    assert "the figure is empty" in record["error"]


def test_finished_runs_are_not_run_again(tmp_path, monkeypatch):
    one = artefact("one", {"one": Case(tiny(), 3)})
    first = reproduce(tmp_path, one)

    def no_more(*_arguments, **_settings):
        raise AssertionError("it was in the cache")

    monkeypatch.setattr(engine, "simulate", no_more)
    assert reproduce(tmp_path, one) == first
    # Another scenario is another run.
    other = artefact("one", {"one": Case(tiny("3 s"), 3)})
    assert "in the cache" in reproduce(tmp_path, other)[0]["error"]


def test_what_was_changed_on_disk_is_made_again_and_told(tmp_path, capsys):
    one, other = (artefact(name, {"one": Case(tiny(), 2)}) for name in ("one", "other"))
    paper = replace(ONE, artefacts=(one, other))

    def make_again(*chosen):
        return make.reproduce([(paper, each) for each in chosen], tmp_path, FULL, 2)

    first = make_again(one, other)
    place = tmp_path / "tiny" / "one"
    whole = {file: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    shown = (tmp_path / "index.html").read_text()
    assert len(whole) == 6
    for file, content in whole.items():
        for changed in (b"", content[:-3] + bytes([content[-3] ^ 1]) + content[-2:]):
            file.write_bytes(changed)
            # A request for another artefact does not show what this one lacks.
            make_again(other)
            assert f"{file.name} was changed or damaged; it is left" in capsys.readouterr().err
            assert make_again(one, other) == first
            assert f"{file.name} was changed or damaged; it is made" in capsys.readouterr().err
            assert json.loads((place / "artefact.json").read_text()) == first[0]
    assert (tmp_path / "index.html").read_text() == shown
    # What is found is all that is asked: a thousand changed bits.
    bits = [(file, bit) for file, content in whole.items() for bit in range(8 * len(content))]
    for file, bit in random.Random(4).choices(bits, k=1000):  # noqa: S311
        changed = bytearray(whole[file])
        changed[bit // 8] ^= 1 << (bit % 8)
        file.write_bytes(changed)
        name = file.relative_to(place)
        assert integrity.problem_of(place) == f"{name} was changed or damaged"
        file.write_bytes(whole[file])
    assert integrity.problem_of(place) is None
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("keeps_short_runs")
def test_a_reproduction_on_a_failing_disk_is_whole_or_told(tmp_path, failing):
    """Each write, sync, rename and removal fails once: this is reported, and the next attempt succeeds."""
    one = artefact("one", {"one": Case(tiny("200 ms"))}, draw=None)

    def make_it(output):
        (record,) = make.reproduce([(ONE, one)], output, FULL, 1)
        return record

    def contents(output):
        return {
            file.relative_to(output): file.read_bytes()
            for place in (output / "tiny", output / ".cache")
            for file in place.rglob("*")
            if file.is_file() and not file.name.startswith("runs.sqlite")
        }

    expected = make_it(tmp_path / "whole")
    whole = contents(tmp_path / "whole")
    output = tmp_path / "out"

    def work():
        record = make_it(output)
        # A run that cannot be kept is a failure of its artefact.
        assert record == expected or "Input/output error" in record["error"]

    def check():
        assert make_it(output) == expected
        assert contents(output) == whole

    # Two directories, of the run and of the artefact, and the page: each of their files is written
    # and synced, and their names, too.
    assert torture(failing, output, work, check) > 2 * (3 + 2) + 3


@pytest.mark.parametrize(
    ("file", "shown", "measured"),
    [
        ("runs.py", True, True),
        ("paper.toml", True, True),
        ("sentences.toml", False, False),
        ("claims.toml", True, True),
        ("inferred/settings.csv", True, False),
        ("ns2.csv", True, False),
    ],
)
def test_what_a_paper_has_changed_is_judged_again(tmp_path, file, shown, measured):
    place = tmp_path / file
    place.parent.mkdir(exist_ok=True)
    assignment = Assignment.of(artefact("one", {"one": Case(tiny())}), FULL)

    def sign(text, parts):
        place.write_text(text)
        sources.of_file.cache_clear()
        fingerprint._of_paper.cache_clear()
        return fingerprint.fingerprint(assignment, tmp_path, parts)

    for parts, again in ((fingerprint.SHOWING, shown), (fingerprint.MEASURING, measured)):
        assert sign("a", parts) == sign("a", parts)
        assert (sign("a", parts) != sign("b", parts)) == again


def test_another_engine_judges_an_artefact_without_runs_again(monkeypatch):
    assignment = Assignment.of(artefact("one", {}), FULL)
    before = fingerprint.fingerprint(assignment, None)
    monkeypatch.setattr(fingerprint.engine, "ENGINE", "another")
    assert fingerprint.fingerprint(assignment, None) != before


def test_a_cached_run_is_the_run(tmp_path):
    both = []
    for _ in range(2):
        with Store(tmp_path).opened() as store:
            list(each(Case(tiny()).jobs(), lambda _, run: both.append(run), store=store))
    fresh, again = both
    assert again.summary == fresh.summary
    for name in ("windows", "queues", "events", "requests"):
        assert getattr(again, name).equals(getattr(fresh, name))


def test_the_same_scenario_runs_once():
    case = Case(tiny())
    first, second = run_all([case, case])
    assert first[0] is second[0]


def test_page_has_everything_and_loads_nothing(tmp_path):
    one = artefact("figure-1", {"a, b": Case(tiny(), 2), "one": Case(tiny(), 2)})
    paper = replace(ONE, artefacts=(one,))
    records = make.reproduce([(paper, one)], tmp_path, FULL, 2)
    place = tmp_path / "tiny" / "figure-1"
    assert {file.name for file in place.iterdir()} == {
        "figure.json",
        "artefact.json",
        "checksums.json",
        "numbers.parquet",
        "runs.parquet",
        "scenarios",
    }
    map_text, page_text = ((tmp_path / file).read_text() for file in ("index.html", "tiny/index.html"))
    for text in (map_text, page_text):
        assert "http://" not in text
        assert "https://" not in text
        # It may be mailed: nothing says where it was made, or by which path the command was called.
        assert str(tmp_path) not in text
        assert str(Path.cwd()) not in text
        assert str(Path.home()) not in text
        assert not re.search(r"(?<![\w.)\d])/(?:home|root|tmp|usr|work|var|Users)/", text)
    # An address of the whole page as it once was leads to the tile, and the tile to the artefact.
    assert 'id="tiny/figure-1" href="tiny/index.html#figure-1"' in map_text
    assert 'id="figure-1"' in page_text
    for link in ("numbers.parquet", "scenarios/a-b.toml"):
        assert f'href="figure-1/{link}"' in page_text
        assert (place / link).exists()
    assert json.loads((place / "artefact.json").read_text()) == records[0]


def test_pictures_are_drawn_on_request_from_the_figure_that_the_page_shows(tmp_path):
    one = artefact("figure-1", {"one": Case(tiny(), 2)})
    paper = replace(ONE, artefacts=(one,))
    place = tmp_path / "tiny" / "figure-1"
    make.reproduce([(paper, one)], tmp_path, FULL, 2)
    verdict = (place / "artefact.json").read_bytes()
    assert "figure-1.pdf" not in (tmp_path / "tiny" / "index.html").read_text()
    drawings = []
    for again in range(2):
        # The second time the artefact is there, and its pictures are not.
        for file in ("figure-1.pdf", "figure-1.png") if again else ():
            (place / file).unlink()
        make.reproduce([(paper, one)], tmp_path, FULL, 2, pictures=True)
        assert integrity.problem_of(place) is None
        drawings.append([(place / file).read_bytes() for file in ("figure-1.pdf", "figure-1.png")])
    assert drawings[0] == drawings[1]
    assert drawings[0][1].startswith(b"\x89PNG")
    assert (place / "artefact.json").read_bytes() == verdict
    assert "figure-1/figure-1.pdf" in (tmp_path / "tiny" / "index.html").read_text()


@pytest.mark.parametrize(
    ("drawing", "shown"),
    [
        (Table(["a", "<b>"], [[1, "two & 3"]]), ["<th>&lt;b&gt;</th>", "<td>two &amp; 3</td>"]),
        (
            Diagram({"in": (0, 0.5), "<out>": (1, 0.5)}, [("in", "<out>", "10 ms"), ("<out>", "in", "")]),
            [
                '<text class="label" text-anchor="middle" x="320.0" y="107.0">10 ms</text>',
                "&lt;out&gt;</text>",
            ],
        ),
    ],
)
def test_a_figure_without_axes_is_on_the_page_and_in_print(tmp_path, drawing, shown):
    one = artefact("figure-1", {"one": Case(tiny(), 2)}, draw=lambda *_: drawing)
    paper = replace(ONE, artefacts=(one,))
    make.reproduce([(paper, one)], tmp_path, FULL, 2, pictures=True)
    page_text = (tmp_path / "tiny" / "index.html").read_text()
    for text in shown:
        assert text in page_text
    assert (tmp_path / "tiny" / "figure-1" / "figure-1.png").stat().st_size > 1000
    written = (tmp_path / "tiny" / "figure-1" / page.FIGURE).read_text()
    assert charts.dump(charts.load(written)) == written


def test_a_command_of_the_page_works_as_printed(tmp_path, monkeypatch):
    one = artefact("figure-1", {"one": Case(tiny(), 2)})
    make.reproduce([(replace(ONE, artefacts=(one,)), one)], tmp_path / "my results", FULL, 2)
    page = (tmp_path / "my results" / "tiny" / "index.html").read_text()
    # The page says where: in the folder of the map.
    monkeypatch.chdir(tmp_path / "my results")
    printed = re.findall(r'<code class="command">(\S+ simulate .*?)</code>', page)
    words = shlex.split(html.unescape(printed[0]))
    assert words[1:] == ["simulate", "tiny/figure-1/scenarios/one.toml", "--runs", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "ackclock", *words[1:]], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_what_was_undecided_is_run_again_with_more_seeds(tmp_path):
    each = [(PAPERS["bic"], PAPERS["bic"][f"table-{n}"]) for n in (1, 2, 3)]
    assert make.undecided(each, tmp_path) == []
    for (_, one), verdict in zip(each[:2], ("reproduced", "undecided"), strict=True):
        place = tmp_path / "bic" / one.name
        place.mkdir(parents=True)
        claims = [{"verdict": "depends"}, {"verdict": verdict}]
        (place / "artefact.json").write_text(json.dumps({"claims": claims}))
    assert make.undecided(each, tmp_path) == [each[1]]


def test_the_command_line_chooses_the_seeds(ackclock_here, tmp_path):
    def run(*options):
        return ackclock_here("reproduce", "transient/figure-3", "--quick", "-o", "out", *options)

    assert run("--runs", "2").returncode == 0
    record = json.loads((tmp_path / "out/transient/figure-3/artefact.json").read_text())
    assert {case["runs"] for case in record["cases"].values()} == {2}
    # Figure 3's claims are far from their tolerances, so that two seeds decide them.
    again = run("--undecided", "--runs", "4")
    assert again.stdout == "Nothing in this selection is undecided in out.\n"
    assert run("--infer", "--runs", "4").returncode == 2


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_run(tmp_path, monkeypatch):
    monkeypatch.setattr(make, "judge", lambda *_: pytest.fail("something was run"))
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nothing")):
        with pytest.raises(StorageError, match="nothing was written"):
            make.reproduce(make.select(PAPERS, ["illinois/figure-8"]), place, FULL)


def test_nothing_else_is_lost(tmp_path):
    place = tmp_path / "illinois" / "figure-1"
    place.mkdir(parents=True)
    (place / "notes.txt").write_text("mine")
    with pytest.raises(Exception, match="did not write"):
        make.reproduce(make.select(PAPERS, ["illinois/figure-1"]), tmp_path, FULL)
    assert (place / "notes.txt").read_text() == "mine"


def test_markdown_has_a_row_for_every_artefact(tmp_path):
    text = verdicts.markdown(tmp_path, PAPERS.values())
    rows = [line for line in text.splitlines() if line.startswith(("| figure-", "| table-"))]
    assert len(rows) == 91
    assert "| no main claim | not run | it has no result | 112 | 91 |" in text


def test_markdown_gives_a_finding_of_several_claims_once(tmp_path):
    known = {"measured": "2", "paper": "1", "holds": False, "verdict": "not found"}
    known |= {"holding_settings": 0, "tried_settings": 7, "depends_on": ""}
    findings = {"a": "By arithmetic.", "b": "", "c": "By arithmetic.", "d": "In one run."}
    known |= {"id": "bic/table-1/any"}
    claims = [known | {"claim": one, "finding": finding} for one, finding in findings.items()]
    place = tmp_path / "bic" / "table-1"
    place.mkdir(parents=True)
    record = {"paper": "bic", "name": "table-1", "claims": claims, "error": ""}
    (place / "artefact.json").write_text(json.dumps(record))
    integrity.seal_directory(place)
    text = verdicts.markdown(tmp_path, [PAPERS["bic"]])
    expected = """\
- b: 2 (1). Not found at 7 settings.
- Of 2 claims: By arithmetic.
  - a: 2 (1). Not found at 7 settings.
  - c: 2 (1). Not found at 7 settings.
- d: 2 (1). Not found at 7 settings. In one run.
"""
    assert expected in text
    assert text.count("By arithmetic.") == 1


def test_markdown_says_of_every_claim_in_how_many_single_runs_it_holds(tmp_path):
    def claim(name, hold, runs):
        count = {"hold": hold, "runs": runs, "low": 0.0, "high": 1.0}
        known = {"id": f"bic/table-1/{name}", "claim": name, "measured": "2", "paper": "1", "holds": True}
        known |= {"tried_settings": 0, "robust": False, "finding": ""}
        return known | {"verdict": "reproduced", "single_runs": count}

    claims = [claim("a", 5, 5), claim("b", 5, 5), claim("c", 7, 7), claim("d", 4, 5)]
    place = tmp_path / "bic" / "table-1"
    place.mkdir(parents=True)
    record = {"paper": "bic", "name": "table-1", "claims": claims, "error": ""}
    (place / "artefact.json").write_text(json.dumps(record))
    integrity.seal_directory(place)
    text = verdicts.markdown(tmp_path, [PAPERS["bic"]])
    assert "| table-1 | 4 | 2 in all 5 runs; 1 in all 7 runs; d: 4 of 5 |" in text
    assert "About 0.0 of the 4 decided claims are expected to be decided wrongly." in text


def test_selection():
    assert len(make.select(PAPERS)) == 112
    quick = make.select(PAPERS, headlines=True)
    assert {paper.name for paper, _ in quick} == set(PRINTED)
    assert len(make.select(PAPERS, ["bic", "bic/table-2"])) == 19
    with pytest.raises(LookupError, match='did you mean "bic/table-2"'):
        make.select(PAPERS, ["bic/tabel-2"])


def test_killed_and_gone_on(tmp_path):
    """Kills at random moments, ACKCLOCK_KILLS times: complete runs are used again, and nothing differs."""
    command = [*COMMAND, "reproduce", "transient/figure-30", "--quick", "--json", "-o"]

    def whole(place):
        began = time.monotonic()
        done = subprocess.run([*command, "out"], cwd=place, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)[0]["error"] == ""
        return time.monotonic() - began

    def contents(place):
        every = (place / "out").rglob("*")
        files = [file for file in every if file.is_file() and not file.name.startswith("runs.sqlite")]
        return {file.relative_to(place): file.read_bytes() for file in files}

    seed = int(os.environ.get("ACKCLOCK_TEST_SEED", random.randrange(2**32)))  # noqa: S311
    print(f"ACKCLOCK_TEST_SEED={seed}")
    draw = random.Random(seed)  # noqa: S311
    # The page's commands name the directory, so both have one name.
    control = tmp_path / "control"
    control.mkdir()
    lasts = whole(control)
    undisturbed = contents(control)
    cache = tmp_path / "out" / ".cache"
    for _ in range(int(os.environ.get("ACKCLOCK_KILLS", "2"))):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        killed = subprocess.Popen(
            [*command, "out"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(draw.uniform(0, lasts))
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait(timeout=60)
        kept = {file: file.stat().st_mtime_ns for file in cache.glob("*/[!.]*/summary.json")}
        print(f"killed with {len(kept)} runs kept", flush=True)
        whole(tmp_path)
        assert all(Path(file).stat().st_mtime_ns == written for file, written in kept.items())
        assert contents(tmp_path) == undisturbed


def test_effort():
    assert Effort(quick=True, runs=2).pick(10, 3) == 3
    assert FULL.pick(10, 3) == 10


def finding(text, holds=True, contradiction=False, **numbers):
    return Finding("sums", text, lambda _numbers: Evidence(holds, numbers), contradiction)


def test_a_finding_is_said_with_its_numbers_or_not_at_all(tmp_path):
    # Of a claim that does not hold, the proof that it cannot counts only while its numbers bear it out.
    (plain,) = artefact("figure-1", {"one": Case(tiny())}).claims
    for holds, sentence, verdict in ((True, "By 1.50 packets.", "contradicted"), (False, "", "differs")):
        proof = finding("By {packets:.2f} packets.", holds, True, packets=1.5)
        claim = replace(plain, judge=lambda _: Judged("1", False), finding=proof)
        tested = replace(artefact(f"figure-{holds:d}", {"one": Case(tiny())}), claims=(claim,))
        (record,) = reproduce(tmp_path, tested)
        (known,) = record["claims"]
        assert (known["finding"], known["verdict"]) == (sentence, verdict)
        assert bool(known["finding_id"]) == holds


def test_a_changed_check_shows_the_verdict_of_the_former_one(tmp_path):
    # 0.9 Mbit/s and more are measured: the claim holds from 0.5 on, and from 2 on it did not.
    rate = claims.mean("one", "rate")
    now = claims.between("rate", "the rate is high", rate, 0.5, 1, why="half")
    claim = claims.changed(now, claims.between("", "", rate, 2, 3, why="twice"))
    tested = replace(artefact("figure-1", {"one": Case(tiny())}), claims=(claim,))
    paper = replace(ONE, artefacts=(tested,))
    (record,) = make.reproduce([(paper, tested)], tmp_path, FULL, 2)
    (known,) = record["claims"]
    assert known["verdict"] == "reproduced"
    assert known["former"] == {
        "tolerance": "twice",
        "measured": known["measured"],
        "holds": False,
        "undecided": False,
    }
    said = f"Under the former check: does not hold ({known['measured']}; twice)."
    assert said in html.unescape((tmp_path / "tiny" / "index.html").read_text())
    assert f"- figure-1, the rate is high: holds. {said}" in verdicts.markdown(tmp_path, [paper])
    assert words.former_check(known | {"former": None}) == ""


def test_a_former_check_that_asks_for_nothing_measured_is_refused():
    claim = claims.changed(
        claims.between("rate", "s", claims.mean("one", "rate"), 0, 1, why="w"),
        claims.between("", "", claims.mean("one", "queue"), 0, 1, why="w"),
    )
    with pytest.raises(LookupError, match="queue"):
        replace(ONE, artefacts=(replace(artefact("figure-1", {"one": Case(tiny())}), claims=(claim,)),))


MODULE = """
from ackclock.reproduction.claims.artefact import Computed

def made(name, compute=lambda effort: ({}, {})):
    return Computed(name=name, caption="what", about="", draw=None, compute=compute, numbers={"one": ("x",)})

"""
RECORDS = """
[table-ii]
finding = "by-chance"

[table-ii."{name}"]
each.name = ["low", "high"]
sentence = "{name}"
case = "one"
key = "x"
between = [0, 2]
why = "w"

[figure-10.low]
sentence = "low"
case = "one"
key = "x"
between = [0, 2]
why = "w"
finding = "by-chance"

[figure-10.high]
sentence = "high"
case = "one"
key = "x"
at_most = 2
why = "w"
"""
DATA = """
title = "A paper"
changes = ["Figure 2: another seed."]

[[setting]]
quantity = "buffer"
choice = "10 packets"
basis = "open"
evidence = "nothing says it"
"""
FINDINGS = """
from ackclock.reproduction.claims.artefact import Finding

FINDINGS = [Finding("by-chance", "chance", None)]
"""
AGAIN = "FINDINGS.append(Finding({!r}, 'again', None))\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes a paper and loads it; each has a name of its own."""
    monkeypatch.syspath_prepend(tmp_path)

    def load_it(name, modules, data=DATA, findings=FINDINGS, records=RECORDS):
        (tmp_path / name).mkdir()
        for file, text in {"__init__": "", "findings": findings, **modules}.items():
            (tmp_path / name / f"{file}.py").write_text(text)
        (tmp_path / name / "paper.toml").write_text(data)
        # A main claim has words; what it is about is not tested here.
        words = 'words = "w"\nfrom = "section 1"\nkind = "setting"\n'
        for artefact in ("table-ii", "figure-10"):
            head = f"[{artefact}]\n"
            records = records.replace(head, head + words) if head in records else head + words + records
        (tmp_path / name / "claims.toml").write_text(records)
        return load(name)

    return load_it


def test_a_paper_is_what_its_files_have(written):
    one = MODULE + "FIGURE_10 = made('figure-10')\nFIGURE_9 = made('figure-9')\n"
    two = "from whole.one import FIGURE_9, made\nTABLES = tuple(map(made, ('table-ii', 'table-i')))\n"
    paper = written("whole", {"one": one, "two": two})
    assert (paper.name, paper.title, paper.changes) == ("whole", "A paper", ["Figure 2: another seed."])
    (item,) = paper.items
    assert (item.quantity, item.words(None)) == ("buffer", "10 packets")
    assert item.values == ((None, "open", "nothing says it"),)
    assert paper.setting == {}
    names = ["figure-9", "figure-10", "table-i", "table-ii"]
    assert [artefact.name for artefact in paper.artefacts] == names
    chance = Finding("by-chance", "chance", None)
    claimed = {artefact.name: artefact.claims for artefact in paper.artefacts}
    assert {name: [claim.name for claim in claims] for name, claims in claimed.items()} == {
        "figure-9": [],
        "figure-10": ["low", "high"],
        "table-i": [],
        "table-ii": ["low", "high"],
    }
    assert [claim.finding for claim in claimed["figure-10"]] == [chance, None]
    assert [claim.finding for claim in claimed["table-ii"]] == [chance, chance]


BOTH = "T, F = made('table-ii'), made('figure-10')\n"


@pytest.mark.parametrize(
    ("module", "change", "error", "words"),
    [
        (BOTH + "A, B = made('figure-1'), made('figure-1')", {}, ValueError, "same name"),
        ("A = made('figure-10')", {}, ValueError, r"table-ii: paper\.toml has no artefact of this name"),
        (BOTH, {"evidence": "reason"}, KeyError, "evidence"),
        (BOTH, {"changes": "changed"}, TypeError, "changed"),
        (BOTH, {'"low", "high"]': '"low", "low"]'}, ValueError, "two claims are named low"),
        (BOTH, {'"low", "high"]': '"low", "High"]'}, ValueError, "'High' is not a name"),
        (BOTH, {'finding = "by-chance"': 'finding = "by-luck"'}, ValueError, "unknown 'by-luck'.*by-chance"),
    ],
)
def test_a_paper_with_a_mistake_is_refused(written, request, module, change, error, words):
    data, records = DATA, RECORDS
    for before, after in change.items():
        data, records = data.replace(before, after), records.replace(before, after)
    with pytest.raises(error, match=words):
        name = "_".join(map(str, request.node.callspec.indices.values()))
        written(f"wrong_{name}", {"one": MODULE + module}, data, records=records)


@pytest.mark.parametrize(
    ("again", "words"),
    [
        ("other", "no claim names the finding other"),
        ("by-chance", "or names two findings"),
        ("By chance", "or names two findings"),
    ],
)
def test_a_paper_with_a_wrong_finding_is_refused(written, request, again, words):
    name = f"again_{request.node.callspec.indices['again']}"
    with pytest.raises(ValueError, match=words):
        written(name, {"one": MODULE + BOTH}, findings=FINDINGS + AGAIN.format(again))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"claims": (claims.between("s", "s", claims.mean("two", "rate"), 0, 1, why="w"),)}, "two"),
        ({"claims": (claims.between("s", "s", claims.mean("one", "queue"), 0, 1, why="w"),)}, "queue"),
        ({"cases": lambda effort: {} if effort.quick else {"one": Case(tiny())}}, "quick"),
    ],
)
def test_a_claim_that_asks_for_nothing_measured_is_refused_when_it_is_declared(wrong, words):
    with pytest.raises(LookupError, match=words):
        replace(ONE, artefacts=(replace(artefact("figure-1", {"one": Case(tiny())}), **wrong),))


def test_what_is_measured_is_what_is_declared(tmp_path):
    one = artefact("more", {"one": Case(tiny())}, measure=lambda _run: {"rate": 1.0, "jain": 1.0})
    (record,) = reproduce(tmp_path, one)
    assert "jain" in record["error"]


def test_what_is_measured_may_depend_on_the_case():
    def probe(case, effort):
        return Probe((case, effort.quick), lambda _run: {case: 1.0, effort.quick: 2.0})

    one = artefact("each", {"a": Case(tiny()), "b": Case(tiny())}, probe=probe, claims=())
    assert dict(one.supplied(QUICK)) == {"a": {"a", True}, "b": {"b", True}}
    assert one.measure("b", None) == {"b": 1.0, False: 2.0}
    with pytest.raises(TypeError, match="probe"):
        Simulated(name="none", caption="what", about="About.", draw=draw, cases=lambda _effort: {})


def test_a_case_is_read_once_however_often_it_is_run(tmp_path, monkeypatch):
    read = []
    parse = engine.scenario.parse

    def counted(*arguments, **settings):
        read.append(arguments)
        return parse(*arguments, **settings)

    monkeypatch.setattr(engine.scenario, "parse", counted)
    # Three runs, kept and read again from disk: the scenario is known after the first reading.
    for runs in (3, 0):
        read.clear()
        kept = set(tmp_path.glob("*/*/summary.json"))
        with Store(tmp_path).opened() as store:
            list(each(Case(tiny(), 3).jobs(), lambda _job, _run: None, at_once=2, store=store))
        assert len(read) == 1
        assert len(set(tmp_path.glob("*/*/summary.json")) - kept) == runs


def test_a_run_is_kept_when_it_has_enough_packets_or_a_control_in_python(tmp_path):
    ackclock.register("slow", twins.Reno)
    packets = engine.simulate(tiny()).summary["packets_simulated"]
    in_python = tiny(controller="slow")
    for fewest, scenario, kept in (
        (packets, tiny(), 1),
        (packets + 1, tiny(), 0),
        (packets + 1, in_python, 1),
    ):
        place = tmp_path / f"{fewest}-{kept}"
        with Store(place).opened() as store:
            for _ in range(2):
                answers = list(
                    each(Case(scenario).jobs(), lambda *_: None, store=store, fewest_packets=fewest)
                )
                assert [answer.error for _, answer in answers] == [""]
        assert len(list(place.glob("*/*/summary.json"))) == kept
