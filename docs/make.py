"""Draw the pictures of the documentation and write its measured tables; `make docs` runs it."""

from __future__ import annotations

import importlib
import io
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from PIL import Image

from ackclock import engine, predictions
from ackclock.draw import glossary, markdown, plots, printed
from ackclock.predictions import Prediction, Simulation
from ackclock.reproduction.paper import Paper
from ackclock.reproduction.shown import classes, in_lab, outcome, published, telling
from ackclock_papers import PAPERS

DOCS = Path(__file__).resolve().parent
CURVES = DOCS.parent / "target" / "site" / "pages" / "images" / "controllers"
"""Only the site shows the window curves as pictures."""
SAMPLE_S = 0.5
"""Spacing of the window curves: `run.sample` of scenarios/reference-path.toml."""
PACKETS_FILLING_PATH = 625
"""100 Mbit/s times 50 ms in packets of 8000 bits."""


def draw_curve(name: str, folder: Path = CURVES) -> None:
    """Draw the window curve of one control from its file of whole packets."""
    text = (DOCS / "curves" / f"{name}.txt").read_text(encoding="ascii")
    window = np.array(text.split(), float)
    figure, (panel,) = plots.panels(1, height=2.2)
    panel.axhline(PACKETS_FILLING_PATH, color="#999999", linewidth=0.6)
    panel.plot(SAMPLE_S * np.arange(1, len(window) + 1), window, **plots.style(0))
    panel.set(xlabel="time (s)", ylabel="window (packets)", xlim=(0, None), ylim=(0, 1300))
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


RESPONSES = (
    *("reno", "gaimd", "multcp", "fit", "aimd", "hstcp", "scalable", "bic", "cubic"),
    *("compound", "veno", "tfrc"),
)
RATES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
FIVE = Simulation(runs=5)

Row = dict[str, Any]


def _measured(row: Row) -> str:
    """Return a simulated value with its interval, as text."""
    if row["simulated"] is None:
        return "-"
    if row["low"] is None:
        return f"{row['simulated']:.4g}"
    half = (row["high"] - row["low"]) / 2
    return f"{row['simulated']:.4g} ± {half:.2g}"


def _response_table(prediction: Prediction) -> list[str]:
    rows = []
    for name in RESPONSES:
        cells = [name]
        for row in prediction.points.filter(control=name).iter_rows(named=True):
            ratios = [row["simulated"] / row["predicted"]]
            if row["with_recovery"] is not None:
                ratios.append(row["simulated"] / row["with_recovery"])
            words = ", ".join(f"{ratio:.3f}" for ratio in ratios)
            cells.append(f"{_measured(row)} ({words})")
        rows.append(cells)
    return markdown.table(["", *(f"p = {p:g}" for p in RATES)], rows)


def table(points: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return a table of predicted points, with the simulated values where there are any."""
    shown = [*columns, *(["simulated"] if "simulated" in points.columns else [])]
    heads = [name.replace("_", " ") for name in shown]
    rows = []
    for row in points.iter_rows(named=True):
        cells = []
        for name in columns:
            value = row[name]
            text = "-" if value is None else value if isinstance(value, str) else f"{value:.4g}"
            cells.append(text)
        if "simulated" in shown:
            cells.append(_measured(row))
        rows.append(cells)
    return markdown.table(heads, rows)


def _columns(*names: str) -> Callable[[Prediction], list[str]]:
    return lambda prediction: table(prediction.points, names)


def _step_table(prediction: Prediction) -> list[str]:
    trips = prediction.points["round_trip"].unique().sort().to_list()[1::2]
    rows = []
    for name in prediction.points["protocol"].unique(maintain_order=True):
        own = prediction.points.filter(protocol=name)
        cells = [name, f"{own['settling_round_trips'][0]:.1f}"]
        for row in own.filter(pl.col("round_trip").is_in(trips)).iter_rows(named=True):
            cells.append(f"{row['predicted']:.2f} / {_measured(row)}")
        rows.append(cells)
    return markdown.table(["", "R", *(f"{trip:g}" for trip in trips)], rows)


def _matrix_table(prediction: Prediction) -> list[str]:
    names = ("case", "mu", "mean_field_mu", "lowest_ratio", "highest_ratio")
    points = prediction.points.unique("case", maintain_order=True)
    return table(points, (*names, "largest_std_over_mean"))


STUDIES: dict[str, tuple[Callable[[], Prediction], Callable[[Prediction], list[str]]]] = {
    "responses": (lambda: predictions.response.predict(RESPONSES, RATES, 0.1, FIVE), _response_table),
    "periods": (
        lambda: predictions.period.predict(simulation=FIVE),
        _columns("control", "window", "predicted"),
    ),
    "unfairness": (
        lambda: predictions.unfairness.predict(simulation=Simulation(runs=3)),
        _columns("control", "rtt_ratio", "power_law", "without_recovery", "predicted"),
    ),
    "divergence": (lambda: predictions.unfairness.diverge(simulation=FIVE), _columns("epoch", "predicted")),
    "share": (
        lambda: predictions.share.predict(FIVE),
        _columns("chance", "predicted", "chain", "measured_alpha", "from_measured_alpha"),
    ),
    "curves": (
        lambda: predictions.illinois.predict_curves(simulation=Simulation(runs=2)),
        _columns("curve", "position", "predicted"),
    ),
    "gain": (
        lambda: predictions.illinois.predict_gain(simulation=FIVE),
        _columns("formula", "p", "predicted"),
    ),
    "noise": (
        lambda: predictions.illinois.predict_noise(simulation=FIVE),
        _columns("gamma", "threshold_ms", "sigma_ms", "predicted"),
    ),
    "matrix": (lambda: predictions.matrix.predict(), _matrix_table),
    "fit": (
        lambda: predictions.fit.predict(simulation=FIVE),
        _columns(
            *("rtt", "p", "q_ms", "measured_q_ms", "sessions", "sessions_at_q"),
            *("measured_sessions", "equation_19", "equation_15", "full"),
        ),
    ),
    "smoothness": (
        lambda: predictions.smoothness.predict(simulation=FIVE),
        _columns("protocol", "p", "predicted", "timeouts"),
    ),
    "processes": (
        lambda: predictions.smoothness.predict_processes(FIVE),
        _columns("control", "intervals", "predicted"),
    ),
    "timeouts": (lambda: predictions.timeouts.predict(), _columns("formula", "p", "predicted")),
    "step-down": (lambda: predictions.step.predict(0.01, 0.04, 50, FIVE), _step_table),
    "step-up": (lambda: predictions.step.predict(0.04, 0.01, 100, FIVE), _step_table),
}


def study(name: str) -> None:
    """Predict and simulate; write the table into docs/theory.md and draw the picture."""
    make, tabulate = STUDIES[name]
    prediction = make()
    write_section(name, tabulate(prediction))
    file = DOCS / "images" / "theory" / f"{name}.svg"
    file.parent.mkdir(exist_ok=True)
    prediction.draw().savefig(file, metadata={"Date": None})


def write_section(name: str, lines: list[str]) -> None:
    """Replace the section of this name in docs/theory.md."""
    marks = f"<!-- {name}: made by `make docs` -->", f"<!-- end of {name} -->"
    page = DOCS / "theory.md"
    page.write_text(_between(page.read_text(encoding="utf-8"), marks, lines), encoding="utf-8")


ARTEFACTS = "<!-- artefacts: made by docs/make.py papers -->", "<!-- end of artefacts -->"
"""The marks around the table in the page of a paper."""
RESULT = "<!-- result: made by docs/make.py papers -->", "<!-- end of result -->"
"""The marks around the main result of a paper, which stands at the top of its page."""
OUTCOME = "<!-- outcome: made by docs/make.py papers -->", "<!-- end of outcome -->"
"""The marks around the outcomes of the main claims."""
PACKAGES = Path("python") / "ackclock_papers"
UNPUBLISHED = (
    "**Main result.** The full reproduction of this paper has not been published yet. "
    "The headlines are reproduced by `make run`, whose last screen says which of their main claims hold."
)
CHANGE = {
    "undecided": "more runs: `ackclock reproduce --full --undecided --runs {runs} {target}`",
    "possible as one run": "the authors' traces, if theirs was such a run",
    "unknown code": "the authors' code",
    "two simulators differ": "the reason why ns-2 gives something else",
    "fails in ns-2, too": "the authors' scripts, or the version of ns-2 in which it holds",
    "the paper contradicts itself": "an erratum",
    "not found": "the authors' scenario, or a reading that was not tried",
    "differs": "the authors' scenario, or another reading of the setting",
    "analogue": "measurements on the same paths",
}
"""What would change the class of an artefact; a setting is named by the items that it depends on."""


def held(module: str) -> list[str]:
    """Return the artefacts of a file by its name: ``figures_9_and_11_to_13``, ``section_iv``."""
    named = re.fullmatch(r"(figure|section|table)s?_(.+)", module)
    if named is None:
        return []
    kind, numbered = named.groups()
    numbers: list[str] = []
    for part in numbered.split("_and_"):
        first, _, last = part.partition("_to_")
        numbers += map(str, range(int(first), int(last) + 1)) if last else [part.replace("_", "-")]
    return [f"{kind}-{number}" for number in numbers]


def _between(text: str, marks: tuple[str, str], lines: Sequence[str]) -> str:
    """Replace what stands between two marks."""
    before, rest = text.split(marks[0], 1)
    return before + "\n".join([marks[0], *lines, marks[1]]) + rest.split(marks[1], 1)[1]


def result(paper: Paper, classified: Mapping[str, classes.Classified]) -> list[str]:
    """Return the main result of a paper in a few sentences."""
    if not classified:
        return [UNPUBLISHED]
    holding, asked, others = outcome.counted(classified)
    formulas = sum(each.name == "verified" for each in classified.values())
    rest = [
        f"*{kind}* ({', '.join(outcome.in_print(paper[name]) for name in names)})"
        for kind, names in others.items()
    ]
    first = (
        f"**Main result.** Of the paper's {asked} main claims that a simulation or a formula can check, "
        f"{holding} hold in the full reproduction: {holding - formulas} in packets and {formulas} as "
        "formulas"
    )
    why = "our numbers, and what would change our mind, are [below](#what-held-what-did-not-and-why)"
    first = "; ".join(filter(None, (first, telling.counts(telling.by_outcome(paper.exchanges, classified)))))
    return [f"{first}. The groups of the others: {', '.join(rest)}; {why}."]


def what_became(paper: Paper, classified: Mapping[str, classes.Classified]) -> list[str]:
    """Return the outcomes of the main claims: a table of those that hold, and one of the others."""
    if not classified:
        return ["The full reproduction has not been published yet."]
    rows = []
    for name, each in classified.items():
        result = outcome.found(paper, each)
        if result is None or each.group == classes.HOLDS:
            continue
        values = {"target": f"{paper.name}/{name}", "runs": 2 * each.runs}
        change = CHANGE.get(each.name, "").format_map(values) or _items(each)
        if reasons := classes.unproven(each):
            change += f"; or ns-2, which proves nothing yet: {'; '.join(reasons)}"
        rows.append([outcome.in_print(paper[name]), result.says, result.find, each.group, change])
    heads = ["", "the paper says", "we find", "group", "what would change our mind"]
    holding = [
        [answer, ", ".join(outcome.in_print(paper[name]) for name in names)]
        for answer, names in telling.by_outcome(paper.exchanges, classified).items()
    ]
    first = markdown.table(["would Reno pass?", "main claims that hold"], holding)
    unit = (
        "A tolerance is half of the range in which a claim holds; of a range with one end, a quarter of it."
    )
    return [*first, "", *markdown.table(heads, rows), "", unit]


def _items(classified: classes.Classified) -> str:
    """Return the items of the setting that a main claim depends on, as what the authors could tell."""
    texts = [claim["depends_on"] for claim in classified.stated if not claim["holds"]]
    # An item with its values: ``FIT's alpha (0.25: 20 of 20, …)``; values may have semicolons, too.
    items = dict.fromkeys(item for text in texts for item in re.findall(r"(?:^|\); )([^();]+) \(", text))
    if items:
        return f"how the authors set {', '.join(items)}"
    return "which of the plausible settings the authors had"


def papers() -> dict[Path, str]:
    """Return the text of every paper's page with its tables made again; this needs no run."""
    places = published.folders(PAPERS.values())
    overview = published.overview(PAPERS.values(), places)
    group_of = {row["artefact"]: row["group"] for row in overview}
    pages = {}
    for name, paper in PAPERS.items():
        files = {
            artefact: file
            for file in (DOCS.parent / PACKAGES / name).glob("*.py")
            for artefact in held(file.stem)
        }
        rows = []
        for artefact in paper.artefacts:
            file = files[artefact.name]
            code = f"[{file.name}](../../{PACKAGES.as_posix()}/{name}/{file.name})"
            target = f"{name}/{artefact.name}"
            picture = f"`results/index.html#{target}`"
            opened = f"`ackclock lab {target}`" if in_lab.scenario(paper, artefact) else "a formula"
            commands = f"`ackclock reproduce {target}`<br>{opened}<br>{picture}"
            rows.append([outcome.in_print(artefact), artefact.caption, group_of[target], commands, code])
        heads = ["", "what it shows", "group", "command, laboratory, figure after the run", "code"]
        file = DOCS.parent / "papers" / name / "README.md"
        text = _between(file.read_text(encoding="utf-8"), ARTEFACTS, markdown.table(heads, rows))
        records = [known.record for known in published.read(places[name]).values()]
        classified = classes.classify(paper, records)
        text = _between(text, RESULT, [*result(paper, classified), *published.age(records)])
        pages[file] = _between(text, OUTCOME, what_became(paper, classified))
    return pages


def write_papers() -> None:
    """Write the tables in the pages of the papers."""
    for file, text in papers().items():
        file.write_text(text, encoding="utf-8")


def draw_adversary(image: Path) -> None:
    """Redraw the picture of a saved adversary from its scenario."""
    # Satellites, which the documents of the core do not need.
    from ackclock_evaluate import saved, timelines
    from ackclock_evaluate.results import CANDIDATE
    from ackclock_evaluate.setting import Subject
    from ackclock_search.figure import charts

    file = DOCS.parent / "scenarios" / "found" / f"{image.stem}.toml"
    objective, table = saved.read_file(file)
    flow = next(flow for flow in table["flow"] if flow["name"].startswith("c"))
    (baseline,) = re.findall(r"^# Beside (\S+): ", file.read_text(encoding="utf-8"), re.MULTILINE)
    judged = Subject(flow["controller"], flow.get("params", {}))
    subjects = {CANDIDATE: judged, baseline: Subject(baseline)}
    curves = {
        name: timelines.curves(engine.simulate(saved.replaced(table, subject)))
        for name, subject in subjects.items()
    }
    names = {name: subject.name for name, subject in subjects.items()}
    content = io.BytesIO()
    with plots.in_style():
        printed.draw(charts(objective, table, names, curves)).savefig(content, dpi=120)
    # A line drawing has few colours: a third of the bytes.
    Image.open(content).convert("RGB").quantize(64).save(image, optimize=True)


def glossary_page() -> str:
    """Return the glossary as a page of the documentation, in the order of titles."""
    lines = [
        "# Glossary",
        "Here you can look up the terms of congestion control that this documentation uses, in a few "
        "sentences each. `ackclock explain slow-start` prints one of them.",
        "",
        "<!-- made by docs/make.py glossary from python/ackclock/draw/glossary.toml -->",
    ]
    for name, term in sorted(glossary.terms().items(), key=lambda item: item[1]["title"].lower()):
        see = ", ".join(f"[{glossary.terms()[other]['title']}](#{other})" for other in term.get("see", []))
        also = f" Also: {', '.join(term['also'])}." if term.get("also") else ""
        source = f" Source: {term['source']}." if term.get("source") else ""
        title = term["title"]
        lines += ["", f'<a id="{name}"></a>', "", f"**{title[0].upper()}{title[1:]}.** {term['text']}{also}"]
        lines[-1] += f"{source} See {see}." if see else source
    return "\n".join(lines) + "\n"


def main() -> None:
    """Make what the arguments name, or everything: pages, tables, README, adversaries and studies."""
    wanted = sys.argv[1:] or ["papers", "glossary", "decisions", "readme", "adversaries", *STUDIES]
    if "papers" in wanted:
        write_papers()
    if "glossary" in wanted:
        (DOCS / "glossary.md").write_text(glossary_page(), encoding="utf-8")
    for name, module in (("decisions", "decided"), ("costs", "costs"), ("readme", "readme")):
        if name in wanted:
            # The module is in this folder, which is not on the path of a program that imports this one.
            importlib.import_module(module).write()
    # The same picture gives the same file.
    with mpl.rc_context(plots.STYLE | {"svg.hashsalt": "ackclock", "svg.fonttype": "path"}):
        if "controls" in wanted:
            CURVES.mkdir(parents=True, exist_ok=True)
            for file in sorted((DOCS / "curves").glob("*.txt")):
                draw_curve(file.stem)
        if "adversaries" in wanted:
            for image in sorted((DOCS / "images" / "adversaries").glob("*.png")):
                draw_adversary(image)
        for name in STUDIES:
            if name in wanted:
                print(f"theory: {name}", flush=True)
                study(name)


if __name__ == "__main__":
    main()
