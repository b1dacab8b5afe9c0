"""The verb that opens the laboratory."""

from __future__ import annotations

import json
import re
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock import engine
from ackclock.cli import options, paths
from ackclock.draw.page import html
from ackclock.engine import lab as links
from ackclock.engine import storage

if TYPE_CHECKING:
    from ackclock.engine.paths import PathChoice

ARTEFACT = re.compile(r"(.*/)?[a-z0-9.-]+/(figure|table|section)-[a-z0-9.-]+")
"""PAPER/ARTEFACT, such as illinois/figure-11."""
ONE_FLOW = {"run": {"duration": "30 s"}, "tcp": {"profile": "linux"}, "flow": [{"controller": "cubic"}]}
"""The scenario that is put on a path where none is named."""


def _read(file: Path) -> engine.Scenario:
    from_pipe = str(file) == "-"
    text = sys.stdin.read() if from_pipe else engine.text_of(file)
    # An invalid scenario is reported here, in the engine's words, before a browser opens.
    return engine.parse(text, str(file), is_json=text.lstrip().startswith("{"))


def _of_artefact(named: Path) -> engine.Scenario | None:
    """Return the scenario of PAPER/ARTEFACT; None if a file has this name or it is not an artefact."""
    if named.exists() or not ARTEFACT.fullmatch(str(named)):
        return None
    # The papers take seconds to import.
    from ackclock.reproduction import library, make
    from ackclock.reproduction.shown import in_lab

    try:
        papers, names = library.of_targets([str(named)])
        ((of_paper, artefact),) = make.select(papers, names)
    except LookupError as error:
        raise click.ClickException(str(error.args[0])) from error
    scenario = in_lab.scenario(of_paper, artefact)
    if scenario is None:
        raise engine.ScenarioError(f"{named} is computed from formulas, and has no scenario to open")
    return scenario


def _chosen(file: Path | None, path: PathChoice | None) -> engine.Scenario | None:
    own = None if file is None else _of_artefact(file) or _read(file)
    if path is None:
        return own
    return path.put(ONE_FLOW) if own is None else path.put(own.written(), own.file)


@click.command()
@click.argument(
    "file",
    type=options.PATH,
    metavar="[SCENARIO|PAPER/ARTEFACT]",
    required=False,
    help="Scenario to open (- is standard input), or a figure, table or section of a paper.",
)
@click.option(
    "-o", "--output", type=options.PATH, metavar="FILE", help="Write the page to FILE instead of opening it."
)
@paths.on_path
@click.option("--no-open", is_flag=True, help="Print the address without opening the page.")
@options.as_json
def lab(
    file: Path | None, path: PathChoice | None, output: Path | None, no_open: bool, as_json: bool
) -> None:
    """Open the laboratory, a web page that contains the simulator, in a browser.

    It needs no server. If the page is missing, build it once with make lab-deps lab in a checkout of the
    repository.

    \b
    Examples:
      ackclock lab
      ackclock lab first.toml
      ackclock lab first.toml --no-open
      ackclock lab illinois/figure-11
      ackclock lab --path starlink.csv --rtt 40ms
      ackclock lab -o lab.html
    """
    page = links.page()
    if page is None:
        raise engine.SimulationError(
            "the page was not built; run make lab-deps lab in a checkout of the repository"
        )
    scenario = _chosen(file, path)
    fragment = "" if scenario is None else links.fragment(scenario)
    target = output
    if target is None:
        target = storage.own_folder() / f"ackclock-{engine.__version__}-{links.NAME}"
    (storage.write_text if output is None else storage.write_sealed)(target, page)
    address = target.resolve().as_uri() + fragment
    print(json.dumps({"address": address}) if as_json else address)
    if output is None and not no_open:
        webbrowser.open(_redirect(target, address) if fragment else address)


def _redirect(page: Path, address: str) -> str:
    """Write a page that redirects to an address: many systems open files without their fragments."""
    redirect = page.with_name(f"{page.stem}-open.html")
    storage.write_text(redirect, html("open.html", address=address))
    return redirect.resolve().as_uri()
