"""Links into the laboratory, and the verb that opens it."""

import base64
import json
import runpy
import zlib
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import click
import pytest

from ackclock import ScenarioError, engine
from ackclock.draw.page import html
from ackclock.engine import lab
from conftest import SCENARIO

ROOT = Path(__file__).parents[1]
Command = Callable[..., CompletedProcess[str]]


def unpacked(fragment: str) -> dict[str, object]:
    """Decode a link as the page does, whose own code is tested in a browser."""
    assert fragment.startswith("#s=")
    packed = fragment.removeprefix("#s=")
    data = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -15)
    carried: dict[str, object] = json.loads(data)
    return carried


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Use a page in place of the one that `make lab` builds."""
    page = tmp_path / "templates" / lab.NAME
    page.parent.mkdir()
    page.write_text("<title>lab</title>", "utf-8")
    monkeypatch.setattr(lab, "__file__", str(tmp_path / "engine" / "lab.py"))
    return page


def test_a_fragment_carries_everything_and_nothing_that_an_address_cannot(tmp_path: Path) -> None:
    (tmp_path / "a.trace").write_text("1\n2\n", "utf-8")
    queue = {"kind": "droptail", "limit": "9 packets"}
    described = {
        "run": {"duration": "1 s"},
        "dumbbell": {"rate_trace": "a.trace", "delay": "1 ms", "queue": queue},
        "flow": [{"name": "größer?&#", "controller": "reno"}],
    }
    file = tmp_path / "own.json"
    file.write_text(json.dumps(described), "utf-8")
    fragment = lab.fragment(engine.read(file))
    assert unpacked(fragment) == {"scenario": described, "files": {"a.trace": "1\n2\n"}}
    assert set(fragment[3:]) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def test_without_the_page_the_verb_says_how_it_is_built(ackclock: Command, scenario: Path) -> None:
    if lab.page() is not None:
        pytest.skip("the page was built (make lab)")
    finished = ackclock("lab", scenario, "--no-open")
    assert (finished.returncode, finished.stdout) == (1, "")
    assert finished.stderr == (
        "ackclock: the page was not built; run make lab-deps lab in a checkout of the repository\n"
    )


@pytest.mark.usefixtures("built")
def test_the_verb_puts_a_scenario_on_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ackclock.cli.lab import lab as verb

    monkeypatch.chdir(tmp_path)
    series = "time_s,rate_mbps\n0,20\n10,5\n"
    Path("measured.csv").write_text(series, "utf-8")
    Path("own.toml").write_text(
        '[run]\nduration = "9 s"\n[dumbbell]\nrate = "1 Mbit/s"\ndelay = "1 ms"\n'
        'queue = { kind = "droptail", limit = "9 packets" }\n[[flow]]\ncontroller = "fit"\nrtt = "5 ms"\n',
        "utf-8",
    )
    on_path = ("--path", "measured.csv", "--rtt", "40ms", "-o", "page.html", "--json")
    for words, controls, duration_s in ((on_path, ["cubic"], 30.0), (("own.toml", *on_path), ["fit"], 9.0)):
        verb.main(list(words), standalone_mode=False)
        address = json.loads(capsys.readouterr().out)["address"]
        carried = unpacked("#" + address.partition("#")[2])
        assert carried["files"] == {"measured.csv": series}
        Path("again").mkdir(exist_ok=True)
        Path("again/measured.csv").write_text(series, "utf-8")
        Path("again/scenario.json").write_text(json.dumps(carried["scenario"]), "utf-8")
        read = engine.read(Path("again/scenario.json"))
        assert (list(read.controls), read.duration_s, read.rtts_s) == (controls, duration_s, [0.04])
        # 20 Mbit/s for ten seconds, and 5 for the rest of the duration.
        mean_mbps = (10 * 20 + 5 * (duration_s - 10)) / duration_s if duration_s > 10 else 20
        assert read.mean_rate_mbps(from_s=0.0, to_s=duration_s) == pytest.approx(mean_mbps)


def test_the_verb_writes_the_page_and_gives_the_address(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ackclock.cli.lab import lab as verb

    output = tmp_path / "there.html"
    verb.main([str(ROOT / "scenarios/cellular.toml"), "-o", str(output)], standalone_mode=False)
    assert output.read_text("utf-8") == built.read_text("utf-8")
    address = capsys.readouterr().out.strip()
    assert address.startswith(output.as_uri())
    carried = unpacked(address.removeprefix(output.as_uri()))
    trace = (ROOT / "scenarios/cellular.trace").read_text("utf-8")
    assert carried["files"] == {"cellular.trace": trace}


@pytest.mark.usefixtures("built")
def test_the_verb_opens_an_artefact_of_a_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ackclock.cli.lab import lab as verb

    output = tmp_path / "there.html"
    verb.main(["illinois/figure-11", "-o", str(output)], standalone_mode=False)
    carried = unpacked(capsys.readouterr().out.strip().removeprefix(output.as_uri()))
    scenario = carried["scenario"]
    assert isinstance(scenario, dict)
    # Figure 11, left: two Reno flows and two of another control on 100 Mbit/s; the paper's own is Illinois.
    flows = [(flow["controller"], flow["count"]) for flow in scenario["flow"]]
    assert flows == [("reno", 2), ("illinois", 2)]
    with pytest.raises(ScenarioError, match="illinois/figure-1 is computed from formulas"):
        verb.main(["illinois/figure-1"], standalone_mode=False)
    with pytest.raises(click.ClickException, match='illinois/figure-16: did you mean "figure-1", "figure-6"'):
        verb.main(["illinois/figure-16"], standalone_mode=False)


@pytest.mark.parametrize("name", ["papers", "paths"])
def test_the_verdicts_and_scenarios_of_the_page_are_those_of_today(name: str) -> None:
    # `make lab-data` writes them again.
    data = runpy.run_path(str(ROOT / "lab" / "data.py"))
    assert (ROOT / "lab" / "src" / "data" / f"{name}.json").read_text("utf-8") == data["text"](data[name]())


def test_the_page_that_leads_there_quotes_its_address() -> None:
    assert 'url=a&amp;b&#34;"' in html("open.html", address='a&b"')


@pytest.mark.usefixtures("built")
def test_what_is_refused_is_refused_before_a_browser_opens(tmp_path: Path) -> None:
    from ackclock.cli.lab import lab as verb

    wrong = tmp_path / "wrong.toml"
    wrong.write_text(SCENARIO.replace("reno", "renoo"), "utf-8")
    with pytest.raises(ScenarioError, match="renoo"):
        verb.main([str(wrong)], standalone_mode=False)
