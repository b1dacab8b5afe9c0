"""Suites as files: the reader, its errors, its schema and its digest."""

import hashlib
import inspect
import json
import re
import textwrap
import tomllib
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock import engine
from ackclock.decision import margins
from ackclock.suites import reader
from ackclock.suites.formulas import Names, ProblemError, calculate, fill, points
from ackclock_evaluate import report, suite, vocabulary
from ackclock_evaluate.evaluate import evaluate
from ackclock_evaluate.results import Request
from ackclock_evaluate.setting import Subject
from ackclock_evaluate.suites import SUITES, criteria

FILES = sorted(file for file in suite.HOME.iterdir() if file.name.endswith(".toml"))
SMALL = """
title = "one question"
[[criterion]]
id = "alone"
section = "1"
title = "Alone"
[[criterion.cell]]
name = "{rate_mbps:g} Mbit/s"
grid.rate_mbps = [10, 20]
path.rate_mbps = "{rate_mbps}"
flows = [{ name = "c" }]
judge = ["goodput", "time of recovery"]
measure = { name = "recovery", at_s = 0, least_mbps = "{0.9 * rate_mbps}" }
length_s = 20
"""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_schema_describes_every_suite(file) -> None:
    jsonschema.Draft202012Validator.check_schema(reader.schema())
    jsonschema.validate(tomllib.loads(file.read_text("utf-8")), reader.schema())


def test_a_suite_is_cited_by_the_digest_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(SMALL)
    (criterion,) = criteria(str(file))
    assert criterion.suite == str(file)
    assert criterion.digest == hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    assert len({criterion.digest for name in SUITES for criterion in SUITES[name]}) == len(SUITES) == 8


def test_a_grid_makes_a_cell_per_point(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(SMALL)
    (criterion,) = criteria(str(file))
    assert criterion.cells is not None
    cells = criterion.cells("quick")
    assert [cell.name for cell in cells] == ["10 Mbit/s", "20 Mbit/s"]
    part = cells[1].parts(Subject("bbr3"))["run"]
    assert part.scenario["dumbbell"]["rate"] == "20 Mbit/s"
    # One bandwidth-delay product of the usual 40 ms: 20e6 x 0.04/12000 packets.
    assert part.scenario["dumbbell"]["queue"]["limit"] == "67 packets"
    assert [flow["controller"] for flow in part.scenario["flow"]] == ["bbr3"]
    assert part.measure.keywords == {"at_s": 0, "least_mbps": 18.0}  # type: ignore[attr-defined]


LETTERS = "abcdefghijklmnopqrstuvwxyz"
SQUARES = "let.a = 9\n" + "".join(f'let.{b} = "{{{a} * {a}}}"\n' for a, b in pairwise(LETTERS))
DOUBLED = 'let.a = "x"\n' + "".join(f'let.{b} = "{{{a}}}{{{a}}}"\n' for a, b in pairwise(LETTERS))
TABLES = 'let.a = "x"\n' + "".join(f'let.{b} = ["{{{a}}}", "{{{a}}}"]\n' for a, b in pairwise(LETTERS))
MISTAKES = {
    "not TOML": ("title =", "mine.toml: "),
    "nothing": ("", "title is missing"),
    "a misspelt key": (
        SMALL.replace("flows =", "flws ="),
        "criterion.0.cell.0.flws: unknown key; write flows",
    ),
    "a text for a number": (
        SMALL.replace("length_s = 20", "length_s = true"),
        "criterion.0.cell.0.length_s: expected",
    ),
    "no length": (SMALL.replace("length_s = 20", ""), "criterion.0.cell.0: length_s is missing"),
    "no flows": (SMALL.replace('flows = [{ name = "c" }]', ""), "criterion.0.cell.0: flows is missing"),
    "nothing judged": (SMALL.replace('judge = ["goodput", "time of recovery"]', ""), "judge is missing"),
    "an unknown margin": (
        SMALL.replace('"goodput"', '"godput"'),
        "unknown margin 'godput'; choose from goodput",
    ),
    "a margin without a metric": (SMALL.replace("time of recovery", "time"), 'write "time of METRIC"'),
    "an unknown measure": (
        SMALL.replace('"recovery", at', '"recover", at'),
        "unknown name 'recover'; choose from",
    ),
    "a missing argument": (
        SMALL.replace("at_s = 0, ", ""),
        "measure.at_s: is missing; recovery takes at_s, least_mbps",
    ),
    "an unknown argument": (SMALL.replace("at_s", "when_s"), "measure.at_s: is missing"),
    "an unknown name": (
        SMALL.replace('"{rate_mbps}"', '"{rate}"'),
        "path.rate_mbps: unknown name rate; known are",
    ),
    "a circle": (SMALL.replace("grid.rate_mbps = [10, 20]", ""), "rate_mbps is defined by itself"),
    "two cells of one name": (SMALL.replace("{rate_mbps:g} Mbit/s", "a"), "two cells have the id a"),
    "a key that no flow has": (
        SMALL.replace('{ name = "c" }', '{ name = "c", byte = "1 B" }'),
        "flow.0.byte",
    ),
    "a control that is not there": (
        SMALL.replace('{ name = "c" }', '{ name = "c" }, { name = "v", control = "rino" }'),
        "rino",
    ),
    "no queue": (
        SMALL.replace("path.rate", "path.buffer_bdp = -1\npath.rate"),
        "buffer_bdp: must be at least 0",
    ),
    "an unknown template": (
        SMALL.replace("length_s", 'like = "x"\nlength_s'),
        "cell.0.like: unknown template 'x'",
    ),
    "two criteria of one id": (SMALL + SMALL.replace('title = "one question"', ""), "alone occurs twice"),
    "too many cells": (
        SMALL.replace("[10, 20]", "{ from = 1, to = 1000000000 }"),
        "has more than 2000 values",
    ),
    "too many points": (
        SMALL.replace("[10, 20]", "{ from = 1, to = 100 }\ngrid.b = { from = 1, to = 100 }"),
        "has more than 2000 points",
    ),
    "too many flows": (
        SMALL.replace('{ name = "c" }', '{ name = "c-{i}", each.i = { from = 1, to = 9999 } }'),
        "has more than 2000 values",
    ),
    "nested deeply": ("a = " + "[" * 5000, "nested too deeply"),
    "a number that is too long": ("a = " + "9" * 5000, "mine.toml: "),
    "a huge format": (SMALL.replace("{rate_mbps:g}", "{rate_mbps:99999999999g}"), "name: unknown format"),
    "a power": (SMALL.replace("0.9 * rate_mbps", "9 ** 9 ** 9"), "is not a formula"),
    "a call": (SMALL.replace("0.9 * rate_mbps", "__import__(1)"), "is not a formula"),
    "a number for a table in a mode": (
        SMALL.replace("grid.rate_mbps = [10, 20]", "grid = { quick = 5, full = 5 }"),
        "criterion.0.cell.0.grid: expected a table",
    ),
    "a number for a margin": (SMALL.replace('"goodput"', '"{rate_mbps}"'), "expected a margin"),
    "a power of ten": (
        SMALL.replace("0.9 * rate_mbps", "round(7, -999999999)"),
        "round takes 0 to 12 digits",
    ),
    "squares of squares": (
        SMALL.replace("0.9 * rate_mbps", "z").replace("grid.rate", f"{SQUARES}grid.rate"),
        "beyond 1e+30",
    ),
    "a text that doubles": (
        SMALL.replace("{rate_mbps:g}", "{z}").replace("grid.rate", f"{DOUBLED}grid.rate"),
        "more than 10000 characters",
    ),
    "a table that doubles": (
        SMALL.replace("path.rate", 'path.x = "{z}"\npath.rate').replace("grid.rate", f"{TABLES}grid.rate"),
        "more than 1000 values",
    ),
    "a flow of a part without a name": (
        SMALL.replace("length_s", "parts = { run = { flows = [{ count = 1 }] } }\nlength_s"),
        "parts.run.flows.0: name is missing",
    ),
    "not a criterion": (SMALL.replace('section = "1"', 'take = "c4/none"'), "unknown criterion c4/none"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_file_and_key(tmp_path: Path, mistake: str) -> None:
    text, expected = MISTAKES[mistake]
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(engine.ScenarioError) as raised:
        criteria(str(file))
    line = str(raised.value)
    assert line.startswith(f"{file}: ")
    assert expected in line
    assert "\n" not in line
    assert len(line) < 1000


def test_a_suite_takes_a_criterion_from_another(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('title = "a"\n[[criterion]]\nid = "hole"\nsection = "9"\ntake = "c4/c4-blackhole"\n')
    (criterion,) = criteria(str(file))
    (taken,) = [other for other in SUITES["c4"] if other.id == "c4-blackhole"]
    assert (criterion.id, criterion.section, criterion.about) == ("hole", "9", taken.about)
    assert criterion.cells is not None
    assert taken.cells is not None
    assert [cell.name for cell in criterion.cells("quick")] == [cell.name for cell in taken.cells("quick")]


def test_formulas_are_arithmetic() -> None:
    names = Names({"a": 7, "text": "x"}, {"b": "{a - 4}"})
    assert calculate("-a + 2 * b / 4", names) == -5.5
    assert calculate("pick(a % 3, 50, 20, 100)", names) == 20
    assert calculate("max(1, round(a / 2), floor(3.9))", names) == 4
    assert fill("{a}", names) == 7
    assert fill("{a / 2} ms, {b:.1f}, {text}", names) == "3.5 ms, 3.0, x"
    # Whole nanoseconds of a time in seconds are kept.
    assert fill("{1 / 30} s", names) == "0.033333333 s"
    with pytest.raises(ProblemError, match="not a number"):
        calculate("text * 3", names)


def test_the_last_name_of_a_grid_varies_fastest() -> None:
    grid = {"a": [1, {"a": 2, "c": 5}], "b": {"from": 0, "to": "{n}"}}
    assert list(points(grid, Names({"n": 1}))) == [
        {"a": 1, "b": 0},
        {"a": 1, "b": 1},
        {"a": 2, "c": 5, "b": 0},
        {"a": 2, "c": 5, "b": 1},
    ]


def test_the_schema_is_printed(ackclock) -> None:
    assert json.loads(ackclock("schema", "--suite").stdout) == reader.schema()


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(
        ["c", "goodput", "{rate_mbps}", "{x", "{1/0}", "{a.b}", "{[1]}", "candidate", "20 s", ""]
    ),
)
KEYS = st.sampled_from(
    sorted(reader.schema()["$defs"]["situation"]["properties"]) + ["quick", "full", "each", "x"]
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def mutated(document, path, value):
    """Replace the value at a path of indices in nested tables and lists."""
    node = document
    for index in path[:-1]:
        children = list(node.values()) if isinstance(node, dict) else node
        if not isinstance(node, dict | list) or not children:
            return
        child = children[index % len(children)]
        if not isinstance(child, dict | list) or not child:
            break
        node = child
    keys = list(node) if isinstance(node, dict) else range(len(node))
    if keys:
        node[keys[path[-1] % len(keys)]] = value


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["small", "c4.toml", "rfc7928.toml", "rfc8867.toml"]),
    st.lists(st.integers(0, 30), min_size=2, max_size=8),
    TREES,
)
def test_no_document_makes_the_reader_fail_otherwise(name, path, value) -> None:
    text = SMALL if name == "small" else (suite.HOME / name).read_text("utf-8")
    document = tomllib.loads(text)
    mutated(document, path, value)
    schema = reader.schema()
    try:
        jsonschema.validate(document, schema)
        allowed = True
    except jsonschema.ValidationError:
        allowed = False
    try:
        suite.of_document(document, "mine", "mine.toml", "0", rehearsed=True)
    except engine.ScenarioError as error:
        assert "\n" not in str(error)
    else:
        assert allowed


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | st.text("{}[]()\"'=.:0123456789abc*-+/%, \n", max_size=80))
def test_no_text_makes_the_reader_fail_otherwise(text) -> None:
    with pytest.raises(engine.ScenarioError):
        suite.parse(text, "mine", "mine.toml")
    try:
        fill(text, Names({"a": 1, "b": "x"}))
    except ProblemError as error:
        assert len(str(error)) < 400


EXAMPLE = Path(__file__).parents[2] / "examples/suites/train.toml"
PAGE = (Path(__file__).parents[2] / "docs/suites.md").read_text("utf-8")


def test_the_example_on_the_page_is_evaluated_and_cited_by_its_digest(tmp_path: Path) -> None:
    code = textwrap.indent(EXAMPLE.read_text("utf-8").rstrip(), "    ", lambda line: line.strip() != "")
    assert code in PAGE
    asked = criteria(str(EXAMPLE))
    assert len(asked) == 5
    evaluation = evaluate(Request(Subject("bbr"), asked), tmp_path, jobs=2, shown=False)
    verdicts = {result.criterion.id: result.verdict for result in evaluation.results}
    assert list(verdicts) == ["alone", "tunnel", "handover", "passengers", "timetable"]
    # BBR version 1 does not back off for losses: with one product of buffer it takes nine tenths from CUBIC
    # (Ware and others, IMC 2019), and rates that fall by more than half cost it a tenth of its packets.
    assert (verdicts["passengers"], verdicts["handover"]) == ("worse", "worse")
    record = report.verdicts(
        evaluation, "2026-11-26", dict.fromkeys((criterion.key for criterion in asked), "")
    )
    (digest,) = record["suites"].values()
    assert digest == hashlib.sha256(EXAMPLE.read_bytes()).hexdigest()[:16]
    assert f"`{digest}`" in PAGE


def test_the_page_names_the_whole_vocabulary() -> None:
    for name in (*vocabulary.MEASURES, *vocabulary.JOINS, *margins.BY_NAME):
        assert f"`{name}" in PAGE, name
    for key in reader.schema()["$defs"]["situation"]["properties"]:
        assert f"`{key}" in PAGE, key
    for name, measure in vocabulary.MEASURES.items():
        (row,) = [line for line in PAGE.splitlines() if re.match(rf"\| `{name}`( †)? \|", line)]
        for argument in list(inspect.signature(measure).parameters)[1:]:
            assert f"`{argument}`" in row, name


def test_a_judged_metric_that_nothing_measures_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(SMALL.replace("time of recovery", "time of revocery"))
    request = Request(Subject("reno"), criteria(str(file)))
    with pytest.raises(engine.ScenarioError, match="revocery is judged and not measured"):
        evaluate(request, tmp_path, jobs=1, shown=False)
