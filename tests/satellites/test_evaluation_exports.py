"""The headline, the exports and accepted findings of an evaluation, from results made by hand."""

import datetime
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ackclock import engine
from ackclock.decision.comparisons import Limit, compare
from ackclock.decision.margins import LOSS
from ackclock_evaluate import accepted, conclusion, exports, written
from ackclock_evaluate.cell import Cell
from ackclock_evaluate.results import (
    CANDIDATE,
    CellResult,
    Evaluation,
    MarginResult,
    Measured,
    Request,
    judge,
)
from ackclock_evaluate.setting import BASELINES, Bottleneck, Subject
from ackclock_evaluate.suites import chosen

TODAY = "2026-11-26"
STARVED = Limit("starved", "s", at_most=30)


def cell(
    name: str, loss: list[float], baseline: list[float], starved: list[float] | None = None
) -> CellResult:
    """Return a judged cell with the losses of the candidate and of the two baselines."""
    measured = {CANDIDATE: Measured([{"loss": value} for value in loss])}
    measured |= {control: Measured([{"loss": value} for value in baseline]) for control in BASELINES}
    judged = [MarginResult(LOSS, BASELINES[0], compare(loss, baseline, LOSS))]
    limits = [] if starved is None else [STARVED.judge(starved, [[0.0] * 30, [0.0] * 30])]
    return CellResult(Cell(name, lambda _: {}, judged=(LOSS,)), measured, judged, limits)


@pytest.fixture
def evaluation() -> Evaluation:
    """Return one MUST that is worse in one of two scenarios and starves, and one criterion that is like."""
    mixed, loss = chosen(["rfc9743"], ["mixed", "loss"])[::-1]
    lossy = cell("2 of 100 % {lost} & more", [0.1] * 5, [0.01, 0.011, 0.012, 0.01, 0.011], [45] * 5)
    calm = cell("calm", [0.01] * 5, [0.01, 0.011, 0.009, 0.01, 0.01], [0] * 5)
    results = [judge(mixed, [lossy, calm]), judge(loss, [replace(calm, limits=[])])]
    request = Request(Subject("own"), (mixed, loss))
    return Evaluation(request, results, {}, 1)


def test_the_headline_counts_by_level_and_says_what_was_not_asked(evaluation: Evaluation) -> None:
    first, starves, left_out = conclusion.headline(evaluation).split(". ")
    assert first.startswith(
        "MUST: worse than both cubic-linux and reno or past a limit in 1 of 1 (mixed in 1 of 2 scen"
    )
    assert "other criteria: worse than both cubic-linux and reno in 0 of 1" in first
    assert first.endswith("SHOULD: none asked")
    assert starves == "Starves other flows in 1 of 2 scenarios"
    # 28 criteria of the suite have scenarios; 2 were asked.
    assert left_out == "Not asked: 26 of 28 criteria"


def test_a_doubtful_starvation_is_said(evaluation: Evaluation) -> None:
    (mixed, *others) = evaluation.results
    doubtful = replace(mixed.cells[0], limits=[STARVED.judge([45.0, 0.0, 0.0, 0.0, 0.0], [[0.0] * 30])])
    results = [judge(mixed.criterion, [doubtful, *mixed.cells[1:]]), *others]
    said = conclusion.headline(replace(evaluation, results=results))
    assert "Starves other flows in none of 2 scenarios, and perhaps in 1 more" in said


def test_a_limit_that_a_baseline_breaks_as_often_says_so() -> None:
    # One of five, and two of ten: a share of 20 % each.
    usual = STARVED.judge([45, 0, 0, 0, 0], [[45] * 2 + [0] * 8])
    assert (
        written.evidence(usual)
        == "broken in 1 of 5 runs, at least 1% of all, no more often than by a baseline"
    )
    rare = STARVED.judge([45, 0, 0, 0, 0], [[0] * 10])
    assert written.evidence(rare) == "broken in 1 of 5 runs, at least 1% of all"


def test_nothing_is_said_about_starvation_that_was_not_asked(evaluation: Evaluation) -> None:
    only = replace(evaluation, results=evaluation.results[1:])
    assert "Starvation: not asked" in conclusion.headline(only)
    assert "Starves" not in conclusion.headline(only)


def test_junit_has_a_case_for_every_criterion(evaluation: Evaluation) -> None:
    suite = ElementTree.fromstring(exports.junit(evaluation))  # noqa: S314
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["28", "1", "0", "26"]
    (failure,) = suite.iter("failure")
    assert failure.get("type") == "fails"
    # Five of five: at least 0.025^(1/5) = 47.8 % of all runs.
    assert "broken in 5 of 5 runs, at least 48% of all" in str(failure.get("message"))
    assert len(list(suite.iter("skipped"))) == 26


def test_junit_and_latex_say_which_profile_it_was(
    evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conclusion, "profile", lambda _: "linux and ns2")
    (named,) = ElementTree.fromstring(exports.junit(evaluation)).iter("property")  # noqa: S314
    assert named.attrib == {"name": "profile", "value": "linux and ns2"}
    below = r"\multicolumn{6}{l}{\footnotesize Profile of the senders: linux and ns2} \\"
    assert exports.tabular(evaluation).splitlines()[-2] == below


def test_markdown_is_a_table_of_all_criteria(evaluation: Evaluation) -> None:
    lines = exports.markdown(evaluation, TODAY).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + 28
    assert {line.count(" | ") for line in table} == {len(exports.HEADS) - 1}
    assert f"on {TODAY}" in lines[2]


def test_latex_is_one_that_latex_accepts(evaluation: Evaluation, tmp_path: Path) -> None:
    text = exports.tabular(evaluation)
    assert r"2 of 100 \% \{lost\} \& more" in text
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 1 + 28
    # Six columns: five separators that are not escaped.
    assert {row.count(" & ") for row in rows} == {5}
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    document = rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{text}\end{{document}}"
    (tmp_path / "it.tex").write_text(document)
    command = ["pdflatex", "-interaction=batchmode", "-halt-on-error", "it.tex"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0


def test_an_accepted_finding_ends(tmp_path: Path) -> None:
    file = tmp_path / "accepted.toml"
    file.write_text(
        '[[accept]]\ncriterion = "mixed"\nreason = "known since draft 3"\nuntil = 2027-01-31\n'
        '[[accept]]\ncriterion = "loss"\nreason = "shallow buffers"\nuntil = 2026-01-31\n'
    )
    entries = accepted.read(file, ["mixed", "loss"])
    current, ended = accepted.sort(entries, datetime.date(2027, 1, 31))
    assert current == {"mixed"}
    assert ended == ["the accepted finding loss ended on 2026-01-31: shallow buffers"]
    assert accepted.sort(entries, datetime.date(2027, 2, 1))[0] == set()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("accept = 3", "expected only"),
        ("[[accept]]\ncriterion = 'mixed'", "needs exactly criterion, reason, until"),
        ("[[accept]]\ncriterion = 'mixt'\nreason = 'x'\nuntil = 2027-01-01", "unknown criterion mixt"),
        ("[[accept]]\ncriterion = 'mixed'\nreason = ' '\nuntil = 2027-01-01", "must say why"),
        ("[[accept]]\ncriterion = 'mixed'\nreason = 'x'\nuntil = '2027-01-01'", "must be a date"),
        ("[[accept]", "Expected"),
    ],
)
def test_a_damaged_file_of_accepted_findings_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "accepted.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=words) as caught:
        accepted.read(file, ["mixed"])
    assert "\n" not in str(caught.value)


def test_a_control_without_its_marks_is_noted_to_be_as_reno() -> None:
    marks = {"kind": "codel", "ecn": True}
    notes = []
    for queue in ({"kind": "droptail"}, marks):
        dctcp, reno = (
            engine.read(Bottleneck(discipline=queue).scenario(Subject(name).flow("c", 40), duration_s=2))
            for name in ("dctcp", "reno")
        )
        numbers = [{"loss": 0.01, "goodput": 9.0}, {"goodput": 8.0, "loss": 0.02}]
        measured = {CANDIDATE: Measured(numbers, scenarios={"run": dctcp})}
        # The baseline has more runs, and its numbers may have been shipped in another order.
        shipped = [{"goodput": 9.0, "loss": 0.01}, {"goodput": 8.0, "loss": 0.02}, {"goodput": 7.0}]
        measured |= {name: Measured(shipped, scenarios={"run": reno}) for name in BASELINES}
        measured[BASELINES[0]].numbers = numbers[::-1]
        result = CellResult(Cell("one", lambda _: {}), measured, [], [])
        notes.append(written.twin(result))
        itself = measured | {CANDIDATE: Measured(numbers, scenarios={"run": reno})}
        assert not written.twin(replace(result, measured=itself))
    assert notes == ["as reno: nothing marked here", "as reno: the same packets"]


def test_a_control_that_gets_nothing_next_to_cubic_cannot_compete(evaluation: Evaluation) -> None:
    (compete,) = chosen(["rfc9743"], ["compete"])
    assert compete.cells is not None
    # A fifth of the half of two flows, and of the sixteen seventeenths of one: 0.1, and 0.2/17.
    limits = {cell.id: cell.limits[0] for cell in compete.cells("quick")}
    assert limits["standard-path"].at_least == pytest.approx(0.1)
    assert limits["1-next-to-16"].at_least == pytest.approx(0.2 / 17)
    shy = cell("standard path", [0.01] * 5, [0.01] * 5)
    shy = replace(shy, judged=[], limits=[limits["standard-path"].judge([0.09] * 5, [[0.4] * 30])])
    starving = replace(evaluation, results=[*evaluation.results, judge(compete, [shy])])
    assert "Cannot compete with cubic-linux in 1 of 1 scenarios" in conclusion.headline(starving)
    assert "compete" not in conclusion.headline(evaluation)
