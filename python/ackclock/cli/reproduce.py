"""The verb for the papers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ackclock.cli.options import AsJson, Jobs
from ackclock.engine import storage


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
    vary: Annotated[
        bool, typer.Option("--vary", help="Then try other settings on what differs from the paper.")
    ] = False,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Reproduce figures and tables of papers, with a verdict for every claim.

    Finished runs are kept in DIR/.cache: rerun the same command to resume. What --vary finds is
    written to DIR/variations.json and DIR/variations.md.

    \b
    Examples:
      ackclock reproduce --quick
      ackclock reproduce illinois bic/table-2 -o results
    """
    from ackclock.cli import tables
    from ackclock.reproduction import make, numbers
    from ackclock.reproduction import vary as variations
    from ackclock_papers import PAPERS

    try:
        chosen = make.select(PAPERS, targets or [], headlines=quick)
    except LookupError as error:
        raise typer.TyperException(str(error.args[0])) from error

    def tell(line: str) -> None:
        if sys.stderr.isatty():
            print(line, file=sys.stderr)

    effort = numbers.QUICK if quick else numbers.FULL
    records = make.reproduce(chosen, output, effort, jobs, tell, PAPERS.values())
    if as_json:
        print(json.dumps(records, indent=2, ensure_ascii=False))
    else:
        tables.print_verdicts(records)
    if vary:
        different = [
            one
            for one, record in zip(chosen, records, strict=True)
            if record["verdict"] == "differs"
        ]
        rows = variations.try_all(different, output / make.CACHE, jobs, tell)
        with storage.new_file(output / "variations.json") as file:
            file.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")
        with storage.new_file(output / "variations.md") as file:
            file.write_text(variations.markdown(rows), "utf-8")
    if any(record["verdict"] == "failed" for record in records):
        raise typer.Exit(1)
