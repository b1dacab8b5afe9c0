"""Exports of the verdicts: Markdown, a LaTeX table, and JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from ackclock.decision.comparisons import LimitResult
from ackclock.draw import latex
from ackclock_evaluate import conclusion, written
from ackclock_evaluate.cell import Criterion, words
from ackclock_evaluate.results import CANDIDATE, CellResult, CriterionResult, Evaluation, MarginResult
from ackclock_evaluate.setting import BASELINES

HEADS = ("criterion", "section", "level", "verdict", "worse in", "decided by", "effect")
FAILURES = ("worse", "fails")
NAMES = ("verdicts.md", "verdicts.tex", "verdicts.xml")


def files(evaluation: Evaluation, date: str) -> dict[str, str]:
    """Return the exports by file name."""
    texts = (markdown(evaluation, date), tabular(evaluation), junit(evaluation))
    return dict(zip(NAMES, texts, strict=True))


def rows(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """Return a row of `HEADS` per criterion of the suites; criteria that were not asked for come last."""
    rows = [_row(result) for result in evaluation.results]
    left_out = conclusion.not_asked(evaluation.request)
    return rows + [_without(criterion, "not asked") for criterion in left_out]


def _row(result: CriterionResult) -> tuple[str, ...]:
    criterion = result.criterion
    if not result.decisive:
        return _without(criterion, result.verdict)
    decided, size = "", ""
    if result.worst:
        cell, judged = result.worst
        bound = judged.bound
        value = written.with_unit(bound.metric, bound.unit, cell.measured[CANDIDATE].estimate(bound.metric))
        decided = f"{cell.cell.name}: {words(bound.metric)} {value}"
        size = effect(cell, judged)
    worse = f"{result.worse} of {len(result.decisive)}"
    return (criterion.id, criterion.section, criterion.level, result.verdict, worse, decided, size)


def effect(cell: CellResult, judged: MarginResult | LimitResult) -> str:
    """Return the size of the effect behind a verdict, and a note if a baseline has the same packets."""
    return "; ".join(filter(None, (written.evidence(judged), written.twin(cell))))


def _without(criterion: Criterion, verdict: str) -> tuple[str, ...]:
    return (criterion.id, criterion.section, criterion.level, verdict, "", criterion.not_tested, "")


def markdown(evaluation: Evaluation, date: str) -> str:
    """Return the paragraph to quote and a table of the criteria, for a draft or a pull request."""
    name = evaluation.request.candidate.name
    lines = [f"# Evaluation of {name}", "", conclusion.paragraph(evaluation, date), ""]
    lines += [_line(HEADS), _line(["---"] * len(HEADS))]
    lines += [_line(row) for row in rows(evaluation)]
    return "\n".join(lines) + "\n"


def _line(values: Sequence[str]) -> str:
    return "| " + " | ".join(value.replace("|", "\\|").replace("\n", " ") for value in values) + " |"


def tabular(evaluation: Evaluation) -> str:
    """Return the criteria as a table for documents that load booktabs."""
    shown = [0, 1, 3, 4, 5, 6]
    heads, *cells = ([row[index] for index in shown] for row in (HEADS, *rows(evaluation)))
    about = f"% Evaluation of {evaluation.request.candidate.name}, compared with {' and '.join(BASELINES)}\n"
    profile = conclusion.profile(evaluation)
    return about + latex.table(heads, cells, "l" * len(shown), profile=profile) + "\n"


def junit(evaluation: Evaluation) -> str:
    """Return a test case per criterion, and one more with an earlier version.

    Worse and broken limits are failures, and undecided is skipped.
    """
    cases = [("", row) for row in rows(evaluation)]
    if evaluation.request.earlier is not None:
        about_it = f"compared with {evaluation.request.earlier.name}"
        cases += [(about_it, _row(result)) for result in evaluation.versions]
    verdicts = [row[3] for _, row in cases]
    errors = {result.criterion.id: result.errors for result in evaluation.results}
    suite = ElementTree.Element(
        "testsuite",
        name=f"ackclock evaluate {evaluation.request.candidate.name}",
        tests=str(len(cases)),
        failures=str(sum(verdict in FAILURES for verdict in verdicts)),
        errors=str(sum(verdict == "failed" for verdict in verdicts)),
        skipped=str(sum(_is_skipped(verdict) for verdict in verdicts)),
    )
    about = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(about, "property", name="profile", value=conclusion.profile(evaluation))
    for since, (name, section, level, verdict, worse, decided, effect) in cases:
        heading = since or f"{level or 'other'}, {section}"
        case = ElementTree.SubElement(suite, "testcase", classname=heading, name=name)
        message = "; ".join(filter(None, (decided, effect, f"worse in {worse}" if worse else "")))
        if verdict in FAILURES:
            ElementTree.SubElement(case, "failure", type=verdict, message=message)
        elif verdict == "failed":
            ElementTree.SubElement(case, "error", type=verdict, message="; ".join(errors.get(name, [])))
        elif _is_skipped(verdict):
            ElementTree.SubElement(case, "skipped", message=f"{verdict}: {message}" if message else verdict)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _is_skipped(verdict: str) -> bool:
    return verdict == "undecided" or verdict.startswith("not a") or verdict == "not tested"
