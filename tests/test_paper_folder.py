"""Papers in folders: records of claims with known answers, refusals in one line, and the examples."""

import json
import math
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock import ScenarioError
from ackclock.decision import over_runs
from ackclock.reproduction import library, make
from ackclock.reproduction.claims import records
from ackclock.reproduction.claims.artefact import Claim
from ackclock.reproduction.claims.numbers import FULL, QUICK, Numbers
from ackclock.reproduction.trials import tried
from ackclock.suites.formulas import ProblemError
from conftest import COMMAND

EXAMPLES = Path(__file__).parent.parent / "examples" / "papers"
NAMES = sorted(file.parent.name for file in EXAMPLES.glob(f"*/{library.DATA}"))
NUMBERS = Numbers(
    {
        "fast": [{"rate": 10.0, "queue": 4.0}, {"rate": 12.0, "queue": 6.0}],
        "slow": [{"rate": 5.0, "queue": 1.0}, {"rate": 5.0, "queue": 1.0}],
    }
)
FAST = {"case": "fast", "key": "rate"}


def claim(**keys: object) -> Claim:
    record = {"sentence": "It is so", "why": "by definition"} | keys
    (only,) = records.read({"it-is-so": record}, "figure-1", {}, {})
    return only


# The mean of fast is (10 + 12)/2 = 11, of slow 5; the ratio of the means is 11/5 = 2.2, and the differences
# of the two runs are 5 and 7.
@pytest.mark.parametrize(
    ("keys", "holds", "value"),
    [
        (FAST | {"near": 10, "within": 0.1}, True, 11.0),
        (FAST | {"near": 10, "within": 0.09}, False, 11.0),
        (FAST | {"near": 8, "within_absolute": 3}, True, 11.0),
        (FAST | {"near": 8, "within_absolute": 2.9}, False, 11.0),
        (FAST | {"near": 5.5, "factor": 2}, True, 11.0),
        (FAST | {"near": 5.4, "factor": 2}, False, 11.0),
        (FAST | {"between": [11, 12]}, True, 11.0),
        (FAST | {"between": [11.1, 12]}, False, 11.0),
        (FAST | {"between": [11, 11]}, True, 11.0),
        (FAST | {"at_least": 11}, True, 11.0),
        (FAST | {"at_least": 11.1}, False, 11.0),
        (FAST | {"at_most": 11}, True, 11.0),
        (FAST | {"at_most": 10.9}, False, 11.0),
        ({"ratio": ["fast", "slow"], "key": "rate", "at_least": 2.2}, True, 2.2),
        ({"ratio": ["fast", "slow"], "key": "rate", "at_least": 2.21}, False, 2.2),
        ({"ratio": [["fast", "queue"], ["slow", "rate"]], "near": 1, "within": 0}, True, 1.0),
        ({"difference": ["fast", "slow"], "key": "rate", "near": 6, "within": 0}, True, 6.0),
        ({"difference": ["slow", "fast"], "key": "rate", "near": 6, "within": 0}, False, -6.0),
    ],
)
def test_a_record_with_bounds_is_judged_by_them(keys: dict[str, object], holds: bool, value: float) -> None:
    judged = claim(**keys).judge(NUMBERS)
    assert (judged.holds, judged.value) == (holds, pytest.approx(value))


# 11 is above 5 by 120 %, so a margin of 1.19 holds and one of 1.21 does not; in packets it is above by 6.
@pytest.mark.parametrize(
    ("keys", "holds"),
    [
        ({}, True),
        ({"margin": 1.19}, True),
        ({"margin": 1.21}, False),
        ({"margin": "much"}, True),
        ({"margin": 5.9, "absolute": True}, True),
        ({"margin": 6.1, "absolute": True}, False),
        ({"order": ["slow", "fast"]}, False),
        ({"order": [["fast", "rate"], ["fast", "queue"], ["slow", "queue"]]}, True),
        ({"order": [["fast", "rate"], ["slow", "queue"], ["fast", "queue"]]}, False),
    ],
)
def test_an_order_holds_when_each_is_above_the_next_by_the_margin(
    keys: dict[str, object], holds: bool
) -> None:
    assert claim(**{"order": ["fast", "slow"], "key": "rate"} | keys).judge(NUMBERS).holds == holds


def test_a_family_is_a_claim_for_every_point() -> None:
    record = {
        "each": {"kind": ["fast", "slow"], "row": [{"least": 4}, {"least": 8}]},
        "sentence": "{kind} is at least {least}",
        "case": "{kind}",
        "key": "rate",
        "at_least": "{least}",
        "why": "so",
        "main": True,
    }
    table = {"{kind}-at-least-{least}": record, "words": "no claim"}
    claims = records.read(table, "figure-1", {}, {})
    assert [claim.name for claim in claims] == [
        f"{kind}-at-least-{n}" for kind in ("fast", "slow") for n in (4, 8)
    ]
    assert [claim.judge(NUMBERS).holds for claim in claims] == [True, True, True, False]
    assert claims[3].sentence == "slow is at least 8"
    assert claims[3].target is not None
    assert claims[3].target.high == math.inf
    # Not those of another family whose names are alike.
    assert records.main_names(table | {"both-at-least-1": {"sentence": "s"}}) == [
        claim.name for claim in claims
    ]


def test_a_function_and_an_estimate_get_what_is_given() -> None:
    functions = {
        "twice": lambda numbers, of: numbers.of(of, "rate"),
        "seen": lambda numbers, of: (f"{of} is there", of in numbers.rows),
    }
    record = {"sentence": "S", "paper": "p", "why": "w", "reads": ["fast"], "given": {"of": "fast"}}
    table = {"a": record | {"function": "seen"}, "b": record | {"estimate": "twice", "at_least": 11}}
    measured, estimated = records.read(table, "figure-1", {}, functions)
    assert (measured.judge(NUMBERS).measured, measured.judge(NUMBERS).holds) == ("fast is there", True)
    assert estimated.judge(NUMBERS).holds
    assert estimated.cases(NUMBERS.rows) == ["fast"]
    # A function does not get numbers that its record does not declare.
    lying = {"c": record | {"estimate": "twice", "given": {"of": "slow"}, "at_least": 11}}
    (claim,) = records.read(lying, "figure-1", {}, functions)
    with pytest.raises(LookupError, match="reads slow, which its record does not declare"):
        claim.judge(NUMBERS)


def test_a_function_that_reads_no_case_needs_no_run() -> None:
    functions = {"pi": lambda numbers: over_runs([math.pi] * (not numbers.rows))}
    bounds = {"estimate": "pi", "reads": [], "near": 3.14, "within_absolute": 0.005}
    record = {"sentence": "S", "why": "rounded"} | bounds
    records.check({"figure-1": {"a": record}})
    (formula,) = records.read({"a": record}, "figure-1", {}, functions)
    assert formula.judge(NUMBERS).holds
    assert formula.cases(NUMBERS.rows) == []
    order = {"sentence": "S", "order": ["fast", {"estimate": "pi", "reads": []}], "key": "rate"}
    (claim,) = records.read({"a": order}, "figure-1", {}, functions)
    assert "calculated 3.14" in claim.judge(NUMBERS).measured


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({}, "needs one of near, between, at_least, at_most, order, function; it has none of them"),
        (FAST | {"near": 1, "at_least": 1, "within": 1}, "it has near and at_least"),
        (FAST | {"near": 1}, "needs one of within, within_absolute, factor"),
        ({"case": "fast", "at_least": 1}, "key is missing"),
        ({"ratio": ["fast", "slow"], "at_least": 1}, "needs a number: [CASE, NUMBER], or key"),
        (FAST | {"between": [2, 1]}, "2 is above 1"),
        ({"order": ["fast", "slow"], "key": "rate", "margin": "some"}, "write a number, much or plain"),
        ({"estimate": "none", "reads": ["fast"], "at_least": 1}, "unknown function 'none'"),
    ],
)
def test_a_wrong_record_is_refused_with_its_key(keys: dict[str, object], problem: str) -> None:
    with pytest.raises(ProblemError, match=r"^figure-1\.it-is-so") as refused:
        claim(**keys)
    assert problem in str(refused.value)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a paper with one figure that runs in an instant."""
    home = tmp_path / "my-paper"
    home.mkdir()
    (home / "path.toml").write_text(
        '[run]\nduration = "5 s"\n[dumbbell]\nrate = "5 Mbit/s"\ndelay = "5 ms"\n'
        'queue = { kind = "droptail", limit = "20 packets" }\n'
        '[[flow]]\nname = "a"\ncontroller = "reno"\nrtt = "40 ms"\n'
    )
    (home / library.DATA).write_text("""\
title = "A paper of one figure"

[[setting]]
name = "rate"
quantity = "rate of the link"
choice = "{}"
values = [
    { value = "5 Mbit/s", basis = "stated", evidence = "section 2" },
    { value = "8 Mbit/s", basis = "open", evidence = "a usual value" },
]

[artefact.figure-1]
caption = "goodput"
about = "One flow alone."
headline = true
numbers = { mbps = "flow.a.goodput_mbps", window = "a: mean window" }

[[artefact.figure-1.case]]
scenario = "path.toml"
label = "{control}"
grid.control = ["reno", "cubic"]
set."flow.0.controller" = "{control}"
set."dumbbell.rate" = "{rate}"
""")
    (home / records.FILE).write_text("""\
[figure-1]
claim = "Reno uses the link."
words = "uses the link"
from = "section 1"
kind = "simulation"

[figure-1.reno-uses-the-link]
sentence = "Reno has at least 4 Mbit/s"
from = "the second paragraph"
case = "reno"
key = "mbps"
at_least = 4
why = "four fifths of the link"
unit = "Mbit/s"
main = true
""")
    return home


def test_a_folder_is_a_paper_with_all_that_the_others_have(own: Path, tmp_path: Path) -> None:
    output = tmp_path / "results"
    done = subprocess.run(
        [*COMMAND, "reproduce", str(own), "--full", "--runs", "2", "-o", str(output), "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (record,) = json.loads(done.stdout)
    assert (record["class"], record["group"]) == ("reproduced", "holds")
    assert record["main_claim"]["holds"] is True
    assert record["claims"][0]["id"] == "my-paper/figure-1/reno-uses-the-link"
    page = (output / "index.html").read_text()
    assert "A paper of one figure" in page
    assert "(the second paragraph)" in (output / "my-paper" / "index.html").read_text()
    # The scenario of a case is complete: it is the one that the laboratory opens.
    kept = (output / "my-paper" / "figure-1" / "scenarios" / "reno.toml").read_text()
    assert "5 Mbit/s" in kept


def test_quick_takes_all_artefacts_of_a_paper_without_a_headline(own: Path) -> None:
    (own / library.DATA).write_text((own / library.DATA).read_text().replace("headline = true\n", ""))
    papers, named = library.of_targets([str(own)])
    chosen = make.select(papers, named, headlines=True)
    assert [artefact.name for _, artefact in chosen] == ["figure-1"]


def test_readings_judge_the_claims_of_a_folder_at_other_values(own: Path, tmp_path: Path) -> None:
    output = tmp_path / "results"
    command = [*COMMAND, "reproduce", str(own), "--readings", "--runs", "2", "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = (output / "my-paper" / "readings.csv").read_text()
    assert "8 Mbit/s" in table and f"Table: {output / 'my-paper' / 'readings.csv'}\n" in done.stderr
    shutil.copy(output / "my-paper" / "readings.csv", own)
    paper = library.load_folder(own)
    assert {trial.setting["rate"] for trial in paper.trials} == {"8 Mbit/s"}
    # The other value counts for a claim that holds, too.
    judged = tried.judge(("figure-1", "reno-uses-the-link"), True, paper.trials)
    assert (judged.kind, judged.holding, judged.tried) == ("reproduced", 1, 1)
    (trial,) = paper.trials
    fails = {key: outcome._replace(holds=False) for key, outcome in trial.outcomes.items()}
    judged = tried.judge(("figure-1", "reno-uses-the-link"), True, [replace(trial, outcomes=fails)])
    assert (judged.kind, judged.holding, judged.tried) == ("reproduced", 0, 1)


def test_a_setting_with_a_mistake_is_named_in_its_file(own: Path) -> None:
    data = (own / library.DATA).read_text()
    (own / library.DATA).write_text(data.replace("evidence", "evidnce", 1))
    with pytest.raises(ScenarioError, match=r"paper\.toml: setting\.0: is incomplete or wrong: .*evid"):
        library.load_folder(own)


def test_doubled_braces_of_a_quotation_are_braces() -> None:
    quoted = {**FAST, "near": 10, "within": 0.1, "paper": "beta_{{ecn}} of 0.85"}
    assert claim(**quoted).paper == "beta_{ecn} of 0.85"
    with pytest.raises(ProblemError, match=r"unknown name ecn.*braces of the text are doubled"):
        claim(**quoted | {"paper": "beta_{ecn} of 0.85"})


def test_a_changed_file_of_a_folder_is_judged_again(own: Path, tmp_path: Path) -> None:
    def told() -> list[str]:
        command = [*COMMAND, "reproduce", str(own), "--runs", "2", "-o", str(tmp_path / "results"), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [claim["measured"] for claim in json.loads(done.stdout)[0]["claims"]]

    first = told()
    assert told() == first
    scenario = own / "path.toml"
    scenario.write_text(scenario.read_text().replace("20 packets", "2 packets"))
    assert told() != first


@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        (
            library.DATA,
            'label = "{control}"',
            'label = "x"',
            "paper.toml: artefact.figure-1.case.0.label: two cases",
        ),
        (library.DATA, "caption", "captoin", "paper.toml: figure-1: caption is missing"),
        (library.DATA, "mbps = ", "mbsp = ", "figure-1, full: the claim reno-uses-the-link asks for"),
        (library.DATA, 'value = "5 Mbit/s"', 'value = "5 furlongs"', "furlongs"),
        (
            records.FILE,
            "at_least = 4",
            "at_leest = 4",
            "claims.toml: figure-1.reno-uses-the-link.at_leest: unknown",
        ),
        (records.FILE, "[figure-1.reno", "[figure-2.reno", "figure-2"),
        (records.FILE, 'case = "reno"', 'case = "{tahoe}"', "unknown name tahoe"),
        (records.FILE, "at_least = 4", 'at_least = "four"', "four"),
    ],
)
def test_a_mistake_in_a_folder_is_one_line(own: Path, file: str, old: str, new: str, line: str) -> None:
    text = (own / file).read_text()
    assert old in text
    (own / file).write_text(text.replace(old, new))
    done = subprocess.run(
        [*COMMAND, "reproduce", str(own), "-o", str(own / "r")], capture_output=True, text=True, check=False
    )
    said = [line for line in done.stderr.splitlines() if line]
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert any(line in text for text in said), said


@given(st.data())
def test_any_change_of_the_records_is_a_claim_or_a_refusal(data: st.DataObject) -> None:
    values = st.one_of(
        st.integers(-3, 3), st.floats(-2, 2), st.text("a{}:gx", max_size=4), st.booleans(), st.just([]),
        st.lists(st.one_of(st.integers(0, 2), st.just("fast")), max_size=3), st.just({"a": [1, 2]}),
    )  # fmt: skip
    keys = sorted(records.schema()["$defs"]["claim"]["properties"])
    record = data.draw(st.dictionaries(st.sampled_from(keys), values, max_size=6))
    tables = {"figure-1": {"words": "w", "from": "f", "kind": "setting", "a": {"sentence": "s"} | record}}
    try:
        records.check(tables)
        records.read(tables["figure-1"], "figure-1", {}, {})
    except ProblemError as error:
        assert "\n" not in str(error)


def lines(home: Path) -> int:
    files = [file for file in home.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return sum(file.read_text().count("\n") for file in files)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_short_complete_and_accepted(name: str) -> None:
    paper = library.load_folder(EXAMPLES / name)
    assert lines(EXAMPLES / name) <= 150
    for artefact in paper.artefacts:
        assert paper.main_claims[artefact.name].claim
        for effort in (FULL, QUICK):
            assert artefact.cases(effort.at(paper.setting))  # type: ignore[attr-defined]


def test_a_name_of_the_product_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bic").mkdir()
    (tmp_path / "bic" / library.DATA).touch()
    monkeypatch.chdir(tmp_path)
    assert library.folder_of("bic") is None
    assert library.folder_of("./bic") == Path("bic")
    assert library.folder_of("bic/figure-1") is None
    assert library.folder_of("reno") is None
    with pytest.raises(ScenarioError, match="another paper is called bic"):
        library.of_targets(["bic", "./bic"])
