"""The verb that compares two results."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ackclock.cli import options


@click.command()
@click.argument("first", type=options.PATH, metavar="A", help="The first result.")
@click.argument("second", type=options.PATH, metavar="B", help="The second result.")
@click.option(
    "-o",
    "--output",
    type=options.PATH,
    metavar="FILE",
    help="Draw the windows of the two results to FILE (.pdf, .png, .svg).",
)
@options.as_json
def diff(first: Path, second: Path, output: Path | None, as_json: bool) -> None:
    """Show how the scenarios, numbers and windows of two results differ.

    Results are directories written by simulate -o, compare, sweep, evaluate, search, or reproduce (of one
    artefact), or tables written by predict -o; A and B are of the same verb. When both have several
    runs, each change is printed with its 95 % interval. Flows are matched by their position in the scenario,
    and all else by its names. Only results of simulate have windows.

    \b
    Examples:
      ackclock simulate first.toml -o results/a
      ackclock simulate first.toml --set flow.0.rtt=80ms -o results/b
      ackclock diff results/a results/b
      ackclock diff results/a results/b -o windows.png
      ackclock diff results/evaluation=old results/evaluation=new
    """
    from ackclock import differences
    from ackclock.cli import tables
    from ackclock.engine import storage

    kinds = (".pdf", ".png", ".svg")
    if output is not None and output.suffix not in kinds:
        raise click.ClickException(f"{output}: choose a name that ends with .pdf, .png or .svg")
    result = differences.diff(first, second)
    if output is not None:
        try:
            figure = result.draw()
        except ValueError as error:
            raise click.ClickException(str(error)) from error
        from ackclock.draw import plots

        with storage.sealed_file(output) as file:
            plots.save(figure, file, output.suffix[1:])
    if as_json:
        scenario, numbers = result.scenario.to_dicts(), result.numbers.to_dicts()
        print(json.dumps({"same": result.same, "scenario": scenario, "numbers": numbers}))
        return
    if result.scenario.height:
        rows = [[_word(cell) for cell in row] for row in result.scenario.rows()]
        tables.print_rows(["key", "A", "B"], rows)
        print()
    changed = [row for row in result.numbers.rows() if row[4] != 0.0]
    if changed:
        heads = ["subject", "quantity", "A", "B", "change", "from", "to"]
        tables.print_rows(heads, [[_word(cell) for cell in row] for row in changed])
        print()
    print(f"different: {result.words()}")
    if output is not None:
        print(output)


def _word(cell: object) -> str:
    if cell is None:
        return "-"
    return f"{cell:.5g}" if isinstance(cell, float) else str(cell)
