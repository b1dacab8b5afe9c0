"""The verb for the papers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ackclock.cli.options import AsJson, Cluster, Jobs

if TYPE_CHECKING:
    from ackclock.reproduction.paper import Paper


def reproduce(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PAPER[/ARTEFACT]]...", help="What to reproduce; by default everything."
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Where the page goes.")
    ] = Path("results"),
    quick: Annotated[
        bool,
        typer.Option(
            "--quick/--full",
            help="Only headlines, with fewer seeds and shorter runs; or everything.",
        ),
    ] = False,
    infer: Annotated[
        bool,
        typer.Option(
            "--infer", help="Instead find the settings that papers had, and how robust claims are."
        ),
    ] = False,
    settings: Annotated[
        int | None,
        typer.Option(min=2, metavar="N", help="With --infer: how many settings to draw. [16]"),
    ] = None,
    cluster: Cluster = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce figures and tables of papers, with a verdict for every claim.

    Finished runs are kept in DIR/.cache: rerun the same command to resume.

    With --infer, whole papers are tried at many plausible settings: some claims choose, the others
    test the choice. The setting found and the tables of everything tried go to DIR/PAPER/inferred.

    \b
    Examples:
      ackclock reproduce --quick
      ackclock reproduce illinois bic/table-2 -o results
      ackclock reproduce --infer bic --settings 32
    """
    from ackclock.cli import tables
    from ackclock.reproduction import make, numbers
    from ackclock_papers import PAPERS

    def tell(line: str) -> None:
        if sys.stderr.isatty():
            print(line, file=sys.stderr)

    if settings is not None and not infer:
        raise typer.BadParameter("--settings belongs to --infer")
    try:
        if infer:
            papers = [PAPERS[one] for one in make.papers(PAPERS, targets or [])]
            _infer(papers, output, jobs, tell, settings, cluster, as_json)
            return
        chosen = make.select(PAPERS, targets or [], headlines=quick)
    except LookupError as error:
        raise typer.TyperException(str(error.args[0])) from error
    effort = numbers.QUICK if quick else numbers.FULL
    records = make.reproduce(chosen, output, effort, jobs, tell, PAPERS.values(), cluster)
    if as_json:
        print(json.dumps(records, indent=2, ensure_ascii=False))
    else:
        tables.print_verdicts(records)
    if any(record["verdict"] == "failed" for record in records):
        raise typer.Exit(1)


def _infer(
    papers: list[Paper],
    output: Path,
    jobs: int | None,
    tell: Callable[[str], None],
    settings: int | None,
    cluster: str | None,
    as_json: bool,
) -> None:
    from ackclock.cli import tables
    from ackclock.engine import storage
    from ackclock.reproduction import infer, make

    found = {}
    count = settings or infer.SETTINGS
    for paper in papers:
        place = output / paper.name / infer.DIRECTORY

        def keep(result: infer.Inferred, place: Path = place) -> None:
            with storage.new_directory(place, force=True, is_result=infer.is_kept) as directory:
                infer.keep(result, directory)

        result = infer.infer(paper, output / make.CACHE, jobs, tell, count, cluster, keep)
        keep(result)
        found[paper.name] = {"setting": dict(result.setting), "accepted": result.accepted}
        found[paper.name] |= {"scores": {name: dict(one) for name, one in result.scores.items()}}
        if not as_json:
            tables.print_setting(paper, result)
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
