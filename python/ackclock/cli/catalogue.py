"""The verbs that describe what exists: controllers, explain, example, schema, cite."""

from __future__ import annotations

import json
import sys

import click

from ackclock import engine, names
from ackclock.cli import completion, options
from ackclock.draw import glossary


@click.command()
@options.as_json
def example(as_json: bool) -> None:
    """Print a commented scenario.

    It has three flows on one bottleneck. docs/scenario.md in the repository explains every key. JSON has
    the same keys, without the comments.

    \b
    Examples:
      ackclock example > first.toml
      ackclock simulate first.toml
    """
    text = engine.example()
    if as_json:
        print(json.dumps(engine.parse(text, "example").written(), indent=2))
    else:
        print(text, end="")


@click.command()
@options.as_json
def controllers(as_json: bool) -> None:
    """List the congestion controls and their parameters.

    Parameters are listed with their defaults. A scenario sets others in a [[flow]]: params = { beta = 0.7 }.

    \b
    Examples:
      ackclock controllers
      ackclock controllers --json
    """
    if as_json:
        print(json.dumps(engine.controllers(), indent=2))
    else:
        heads = ("name", "kind", "parameters", "source")
        rows = [_cells(entry) for entry in engine.controllers()]
        if sys.stdout.isatty():
            from ackclock.cli import tables

            tables.print_rows(heads, rows, texts=4, fold=True)
        else:
            # A line per control. Loading Rich would take longer than everything else.
            widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
            for row in (heads, *rows):
                print("  ".join(map(str.ljust, row, widths)).rstrip())


def _cells(entry: engine.ControlEntry) -> tuple[str, str, str, str]:
    parameters = ", ".join(f"{item['name']}={item['default']}" for item in entry["parameters"])
    return entry["name"], entry["kind"], parameters or "-", entry["source"]


@click.command()
@click.argument(
    "name",
    metavar="NAME",
    shell_complete=completion.names(completion.explained),
    help="Name of a control (`ackclock controllers`) or a term of the field, such as slow-start.",
)
@options.as_json
def explain(name: str, as_json: bool) -> None:
    """Explain a congestion control or a term of the field.

    For a control, it prints equations, sources, deviations from them, and parameters. The text is in
    Markdown, also in JSON.

    \b
    Examples:
      ackclock explain illinois
      ackclock explain slow-start
      ackclock explain bic > bic.md
    """
    try:
        term = glossary.find(name)
        text = glossary.explained(term) if term else engine.explain(name)
    except LookupError as error:
        hint = names.hint(name, completion.explained())
        hint = (
            hint
            if "?" in hint
            else "see ackclock controllers, and for terms docs/glossary.md in the repository"
        )
        raise click.ClickException(f"no control or term is named {name!r}; {hint}") from error
    if as_json:
        kind = "term" if term else "control"
        print(json.dumps({"name": term or name, "kind": kind, "text": text}, indent=2))
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        print(text, end="")


AUTHOR = "The ackclock authors"
TITLE = "ackclock: a congestion-control laboratory"


@click.command()
@options.as_json
def cite(as_json: bool) -> None:
    """Print how to cite ackclock, as BibTeX.

    Cite the version that you used, and state the digest of the run with every number. JSON is in the
    format of CSL, which reference managers import.

    \b
    Examples:
      ackclock cite >> references.bib
      ackclock cite --json > ackclock.json
    """
    if as_json:
        item = {
            "id": "ackclock",
            "type": "software",
            "author": [{"literal": AUTHOR}],
            "title": TITLE,
            "version": engine.__version__,
        }
        print(json.dumps([item], indent=2))
        return
    print(
        "@software{ackclock,\n"
        f"  author = {{{{{AUTHOR}}}}},\n"
        f"  title = {{{TITLE}}},\n"
        f"  version = {{{engine.__version__}}},\n"
        "}"
    )


@click.command()
@click.option("--suite", is_flag=True, help="Print the schema of suites, the files of evaluate --suite.")
def schema(suite: bool) -> None:
    """Print the JSON schema of scenarios.

    Editors can use it to check and complete a file.

    \b
    Examples:
      ackclock schema > scenario.schema.json
      ackclock schema --suite > suite.schema.json
    """
    if suite:
        from ackclock.suites.reader import schema as of_suites

        described = of_suites()
    else:
        described = engine.schema()
    print(json.dumps(described, indent=2))
