"""The verb for two results."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ackclock.cli import options


@click.command()
@click.argument("first", type=Path, metavar="A", help="Directory of a result.")
@click.argument("second", type=Path, metavar="B", help="Directory of another.")
@click.option("-o", "--output", type=Path, metavar="FILE", help="Draw the windows of both.")
@options.as_json
def diff(first: Path, second: Path, output: Path | None, as_json: bool) -> None:
    """Say what is different between two results: scenarios, numbers, windows.

    Results are directories that simulate -o wrote, of one run or several. With several runs of both
    a change has its 95 % interval. Flows are matched by their place.

    \b
    Examples:
      ackclock simulate first.toml -o results/a
      ackclock simulate first.toml --set flow.0.rtt=80ms -o results/b
      ackclock diff results/a results/b
      ackclock diff results/a results/b -o windows.png
    """
    from ackclock.cli import tables
    from ackclock.engine import difference, storage

    kinds = (".pdf", ".png", ".svg")
    if output is not None and output.suffix not in kinds:
        raise click.ClickException(f"{output}: choose a name that ends with .pdf, .png or .svg")
    found = difference.diff(first, second)
    if output is not None:
        try:
            figure = found.draw()
        except ValueError as error:
            raise click.ClickException(str(error)) from error
        with storage.new_file(output) as file:
            figure.savefig(file, format=output.suffix[1:], dpi=200)
    if as_json:
        scenario, numbers = found.scenario.to_dicts(), found.numbers.to_dicts()
        print(json.dumps({"same": found.same, "scenario": scenario, "numbers": numbers}))
        return
    if found.scenario.height:
        tables.print_rows(["key", "A", "B"], [[_word(one) for one in row] for row in found.scenario.rows()])
        print()
    changed = [row for row in found.numbers.rows() if row[4] != 0.0]
    if changed:
        heads = ["flow", "quantity", "A", "B", "change", "from", "to"]
        tables.print_rows(heads, [[_word(one) for one in row] for row in changed])
        print()
    print(f"different: {found.words()}")
    if output is not None:
        print(output)


def _word(cell: object) -> str:
    if cell is None:
        return "-"
    return f"{cell:.5g}" if isinstance(cell, float) else str(cell)
