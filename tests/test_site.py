"""The site: every link of it leads somewhere, and it shows what is published."""

import importlib.util
import re
import runpy
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import publish
from ackclock.engine import lab
from ackclock.reproduction import make
from ackclock.reproduction.claims.numbers import FULL
from ackclock.reproduction.shown import in_lab, published
from ackclock_papers import PAPERS
from test_lab import unpacked
from test_published import ONE, TINY

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "docs" / "site"
ARTEFACTS = runpy.run_path(str(SCRIPTS / "artefacts.py"))
broken = runpy.run_path(str(SCRIPTS / "links.py"))["broken"]
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")


@pytest.fixture
def build(monkeypatch):
    """Return the names that the script for building the site defines."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return runpy.run_path(str(SCRIPTS / "build.py"))


def test_a_link_that_leads_nowhere_is_noticed(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "a file.toml").write_text("")
    (tmp_path / "lab.html").write_text("")
    (tmp_path / "below" / "index.html").write_text('<h1 id="here"></h1><a href="../a%20file.toml">')
    right = ("below/index.html#here", "below/#here", "below/", "#top", "a%20file.toml", "lab.html#s=abc")
    right += ("https://example.org/none", "mailto:nobody", "data:,x")
    wrong = {
        "none.html": "leads to no file",
        "below/index.html#there": "leads to no place in it",
        "#bottom": "leads to no place in it",
        "/below/index.html": "leads out of the folder",
        "../x.html": "leads out of the folder",
    }
    links = "".join(f'<a href="{target}"></a>' for target in (*right, *wrong))
    (tmp_path / "index.html").write_text(f'<h1 id="top"></h1>{links}<img src="none.png">')
    assert list(broken(tmp_path)) == [
        *(f"index.html: {target} {why}" for target, why in wrong.items()),
        "index.html: none.png leads to no file",
    ]


def test_what_is_published_becomes_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "page", lambda: "<title>lab</title>")
    make.reproduce([(TINY, ONE)], tmp_path / "results", FULL, 2)
    publish.publish(tmp_path / "results", TINY, tmp_path / "published")
    ARTEFACTS["write"](tmp_path / "pages", {"tiny": TINY}, {"tiny": tmp_path / "published"})
    text = (tmp_path / "pages" / "artefacts.md").read_text()
    (figure,) = (line for line in text.splitlines() if "figure-1" in line)
    assert "| holds | holds | 1 of 1 |" in figure
    assert "[laboratory](artefacts/lab.html)" in text
    assert "| table-1 | what | not run |" in text
    shown = (tmp_path / "pages" / "artefacts" / "tiny" / "index.html").read_text()
    for part in ("data-charts", "figure-1/scenarios/one.toml", "numbers.parquet", "lab.html#s="):
        assert part in shown
    place = tmp_path / "pages" / "artefacts" / "tiny" / "figure-1"
    numbers = pl.read_csv(place / "numbers.csv")
    assert numbers.equals(pl.read_parquet(place / "numbers.parquet").cast(numbers.schema))
    assert numbers.height > 0
    drawn = pl.read_csv(place / "figure.csv")
    assert drawn.columns[:4] == ["chart", "series", "x axis", "y axis"]
    assert {"x", "y"} <= set(drawn.columns)
    assert '<a href="figure-1/figure.csv" download>' in shown
    assert "[figure.csv](artefacts/tiny/figure-1/figure.csv)" in text
    # Every command names a file from the folder of the site.
    assert str(tmp_path) not in shown
    assert "| not run | it has no result | 1 | 1 |" in (tmp_path / "pages" / "reproduction.md").read_text()
    assert list(broken(tmp_path / "pages")) == []


def test_an_author_finds_figure_11_of_tcp_illinois_in_two_clicks_and_opens_it_in_the_laboratory(
    tmp_path, monkeypatch, build
):
    monkeypatch.setattr(lab, "page", lambda: "<title>lab</title>")
    monkeypatch.setitem(build["linked"].__globals__, "PAGES", tmp_path)
    illinois = PAPERS["illinois"]
    build["artefacts"].write(tmp_path, {"illinois": illinois}, published.folders([illinois]))
    build["copy"]()
    readme = (tmp_path / "index.md").read_text("utf-8")
    (first,) = (target for words, target in LINK.findall(readme) if words == "TCP-Illinois")
    paper = tmp_path / first
    row, *_ = re.findall(r"^\| Figure 11 \|.*$", paper.read_text("utf-8"), re.MULTILINE)
    links = dict(LINK.findall(row))
    shown, _, place = links["picture"].partition("#")
    figure = paper.parent / shown
    text = figure.read_text("utf-8")
    # The script of the page opens the artefact that the address names.
    (artefact,) = re.findall(rf'<details class="artefact[^>]* id="{place}".*?</details>\n', text, re.DOTALL)
    assert place == "figure-11"
    third = re.search(r'<a href="([^"]*)">Open in the laboratory: 2 Reno \+ 2 Illinois</a>', artefact)[1]
    for page, target in ((figure, third), (paper, links["open"])):
        file, _, fragment = target.partition("#")
        assert (page.parent / file).read_text("utf-8") == "<title>lab</title>"
        flows = unpacked(f"#{fragment}")["scenario"]["flow"]
        assert [flow["controller"] for flow in flows] == ["reno", "illinois"]
    expected = in_lab.scenario(illinois, illinois["figure-11"])
    assert unpacked(f"#{fragment}")["scenario"] == expected.written()


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="scripts/setup site installs MkDocs")
def test_the_site_is_built_and_all_of_its_links_lead_somewhere():
    built = subprocess.run(
        [sys.executable, SCRIPTS / "build.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    site = ROOT / "target" / "site" / "html"
    assert list(broken(site)) == []
    names = {file.relative_to(site).as_posix() for file in site.rglob("*.html")}
    assert {
        "index.html",
        "artefacts.html",
        "artefacts/index.html",
        "claims.html",
        "reproduction.html",
    } <= names
    listed = (site / "artefacts.html").read_text("utf-8")
    assert sum(listed.count(artefact.name) for artefact in PAPERS["illinois"].artefacts) >= 20


def test_the_navigation_has_the_shelves_of_the_index(build, tmp_path):
    # mkdocs, which is strict, reports a page that no entry names.
    (tmp_path / "controllers").mkdir()
    for name in ("index", "bic"):
        (tmp_path / "controllers" / f"{name}.md").write_text("")
    build["navigation"].__globals__["PAGES"] = tmp_path
    first, index, *shelves, papers = build["navigation"](tmp_path)
    assert (first, index) == ("index.md", "documentation.md")
    assert [name for shelf in shelves for name in shelf] == list(build["shelves"]())
    reference = shelves[-1]["Reference"]
    assert {"Glossary": "glossary.md"} in reference
    assert {"Congestion controls": ["controllers/index.md", "controllers/bic.md"]} in reference
    assert {"Keys": "schema.md"} in reference
    assert papers == {"Papers": []}
