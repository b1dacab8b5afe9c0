"""Charts inside pages: their numbers are those of the tables; no name and no network gets in."""

import base64
import hashlib
import json
import re
import tomllib
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ackclock
from ackclock.draw import charts
from ackclock.draw import page as page_module
from ackclock.draw.figure import SECONDS, Axis, Chart, Group, Series

ROOT = Path(__file__).parents[1]
OWN = ("data:image/png;base64,", "#")
HOSTILE = "</script><script>alert(1)</script><!-- &amp; \"'"


def shown(page: str) -> Any:
    """Read the numbers of a page as a browser does: up to the first end of a script."""
    (text,) = re.findall(r'<script type="application/json" id="charts-data">(.*?)</script', page)
    return json.loads(text)


def curve(page: Any, group: str, chart: str, name: str) -> tuple[list[float], list[float]]:
    (shown_chart,) = [candidate for candidate in page["groups"][group]["charts"] if candidate["key"] == chart]
    (series,) = [candidate for candidate in shown_chart["series"] if candidate["name"] == name]
    return page["columns"][series["x"]], page["columns"][series["y"]]


@pytest.fixture(scope="module")
def run() -> ackclock.Run:
    return ackclock.simulate(
        ackclock.scenario(
            ackclock.dumbbell("10 Mbit/s", "5 ms", "20 packets"),
            ackclock.flow("reno", rtt="40 ms", name=HOSTILE),
            ackclock.flow("cubic", rtt="20 ms", name="second"),
            duration="10 s",
        )
    )


@pytest.fixture(scope="module")
def page(run: ackclock.Run) -> str:
    return run.to_html()


def test_the_script_is_what_its_sources_build() -> None:
    # The check of `make charts` without Node: fingerprints of the sources, and of the script.
    first, rest = charts.script().split("\n", 1)
    digests = re.search(r"sources ([0-9a-f]{64}), rest ([0-9a-f]{64})$", first)
    assert digests is not None
    package = json.loads((ROOT / "lab/package.json").read_text("utf-8"))
    tools = f"uplot {package['dependencies']['uplot']}, esbuild {package['devDependencies']['esbuild']}"
    files = sorted((ROOT / "lab/src/charts").iterdir(), key=lambda file: file.name)
    sources = [f"{file.name}\n{file.read_text('utf-8')}" for file in files]
    of_sources = hashlib.sha256("\n".join([tools, *sources]).encode()).hexdigest()
    assert digests[1] == of_sources, "lab/src/charts has changed: make charts"
    assert digests[2] == hashlib.sha256(rest.encode()).hexdigest(), "was edited: make charts"
    assert len(charts.script()) < 100_000


def test_the_curves_of_a_page_are_the_tables_of_the_run(run: ackclock.Run, page: str) -> None:
    document = shown(page)
    for chart, column in (("window", "window"), ("rtt_ms", "rtt_ms")):
        for flow, name in enumerate([HOSTILE, "second"]):
            samples = run.windows.filter(pl.col("flow") == flow)
            x, y = curve(document, "run", chart, name)
            # Six digits: half a unit of the last is at most 5e-6 of the value.
            np.testing.assert_allclose(x, samples["time_s"].to_numpy(), rtol=5e-6)
            expected = samples[column].cast(pl.Float64).to_numpy()
            np.testing.assert_allclose(np.array(y, float), expected, rtol=5e-6)
    queue = run.queues.filter(pl.col("link") == 0)["mean_packets"].to_numpy()
    np.testing.assert_allclose(curve(document, "run", "queue", "bottleneck")[1], queue, rtol=5e-6)
    # 100 parts of 0.1 s: Mbit/s times 0.1 s are Mbit.
    samples = run.windows.filter(pl.col("flow") == 1)
    for chart, column in (("goodput", "arrived_bytes"), ("in-order", "delivered_bytes")):
        rates = curve(document, "run", chart, "second")[1]
        assert sum(rates) * 0.1 == pytest.approx(samples[column].sum() * 8e-6, rel=5e-6)


def test_nothing_in_a_name_gets_out_and_nothing_comes_in(page: str) -> None:
    # The page's own scripts and their ends alone: data and code.
    assert len(re.findall("<script", page)) == 2 + charts.script().count("<script")
    assert page.count("</script") == 2
    assert "alert(1)</script>" not in page
    # A browser fetches nothing from outside of the page; "#" is a link within the page.
    sources = re.findall(r"""(?:src|href|srcset|action)\s*=\s*["']?([^"'\s>]*)""", page)
    assert [source for source in sources if not source.startswith(OWN)] == []
    assert not re.search(r"url\(|@import|\bfetch\(|XMLHttpRequest|WebSocket|\son\w+=\"", page)
    assert len(page) < 1_500_000
    # No curve of 10 s is long enough to be thinned, so the page says nothing of it.
    assert "thinned" not in page.partition('id="charts-data"')[0]


def test_the_policy_has_no_hash_for_what_a_value_brought_in() -> None:
    injected = "<script>alert(1)</script><style>body { display: none; }</style>"
    policy = page_module._policy(f"<head><style>a</style></head>{injected}", "")
    assert policy == page_module._policy("<head><style>a</style></head>", "")
    assert "script-src 'none'" in policy
    # Every script of every template has one.
    for name in page_module.TEMPLATES:
        text = (ROOT / "python/ackclock/templates" / name).read_text("utf-8")
        own = set(page_module._SCRIPT.findall(text))
        assert own & page_module._own_scripts()


def test_the_policy_lets_only_what_is_in_the_page_run(page: str) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    rules = dict(rule.split(" ", 1) for rule in unescape(policy).split("; "))
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


def test_a_long_curve_keeps_its_peaks() -> None:
    # One needle up and one down among 10 million zeros, and a gap.
    values = np.zeros(10_000_000)
    values[[1_234_567, 7_654_321]] = 5.0, -3.0
    values[4_000_000:4_100_000] = np.nan
    rows = charts.kept(values, 1000)
    assert len(rows) <= 1002
    assert {0, 1_234_567, 7_654_321, 9_999_999} <= set(rows.tolist())
    assert np.isnan(values[rows]).any()


@given(st.lists(st.one_of(st.floats(width=32), st.just(float("nan"))), max_size=300), st.integers(2, 60))
def test_thinning_leaves_rows_in_order_and_their_ends(values: list[float], most: int) -> None:
    rows = charts.kept(values, most)
    assert len(rows) <= max(most + 2, min(len(values), most))
    assert (np.diff(rows) > 0).all()
    known = np.array(values)[~np.isnan(values)] if values else np.array([])
    if known.size:
        left = np.array(values)[rows]
        assert np.nanmin(left) == known.min()
        assert np.nanmax(left) == known.max()


@given(st.text(), st.lists(st.floats(), max_size=5))
def test_any_name_and_any_number_survive(name: str, values: list[float]) -> None:
    chart = Chart(name, name, Axis(name), Axis(name, name), [Series(name, 0, values, values)])
    text, _ = charts.data({name: Group([chart])})
    assert "<" not in text
    document = json.loads(text)
    (series,) = document["groups"][name]["charts"][0]["series"]
    assert series["name"] == name
    column = document["columns"][series["y"]]
    expected = [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]
    assert column == expected


def test_many_long_curves_stay_below_the_size_of_a_mail_and_say_so() -> None:
    generator = np.random.default_rng(1)
    time_s = np.arange(20_000) * 0.01
    series = [Series(f"flow {n}", n, time_s, generator.random(20_000)) for n in range(100)]
    chart = Chart("all", "all", SECONDS, Axis("value"), series)
    text, thinned = charts.data({"run": Group([chart])})
    assert len(text) <= charts.MOST_BYTES
    assert thinned.startswith("Curves are thinned for this page: of each of ")


def test_a_run_without_tables_has_a_page_without_charts(run: ackclock.Run) -> None:
    page = ackclock.Run(run.summary, run.scenario, {}).to_html()
    assert "<script" not in page
    assert "script-src 'none'" in page
    assert "cubic" in page


def test_a_long_scenario_is_left_to_its_file(run: ackclock.Run) -> None:
    page = ackclock.Run(run.summary, "# long\n" * 500_000, {}).to_html()
    assert len(page) < 1_500_000
    assert "see scenario.toml" in page


def test_the_page_is_saved_with_the_run(run: ackclock.Run, tmp_path: Path) -> None:
    run.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "index.html").read_text("utf-8") == run.to_html()
    tomllib.loads((tmp_path / "saved" / "scenario.toml").read_text("utf-8"))
    # A result with its page is a result, which may be replaced when that is asked for.
    run.save(tmp_path / "saved", force=True)


def test_charts_written_down_are_the_same_charts() -> None:
    x = np.array([1.0, 2.0, 3.0])
    first = Series("<one>", 0, x, [1.0, np.nan, 3.0], low=x - 1, high=x + 1)
    second = Series("two", 1, [2.0], [5.0], look="points")
    axes = Axis("p", log=True), Axis("goodput", "Mbit/s", names=["a"], range=(0.0, 1.0))
    group = Group([Chart("key", "title", *axes, [first, second])], linked=False)
    again = charts.load(charts.dump(group))
    assert charts.data({"place": again}) == charts.data({"place": group})
    np.testing.assert_array_equal(again.charts[0].series[0].y, [1.0, np.nan, 3.0])
    assert again.charts[0].series[1].look == "points"


def test_templates_have_no_handlers_inside_tags() -> None:
    for file in (ROOT / "python/ackclock/templates").glob("*.html"):
        if file.name != "lab.html":
            assert not re.search(r"<[^>]*\s(on\w+|style)=", file.read_text("utf-8")), file.name
