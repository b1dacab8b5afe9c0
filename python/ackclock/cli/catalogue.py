"""The verbs that tell what there is: controllers, explain, example, schema."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from ackclock import engine
from ackclock.cli.options import AsJson


def example() -> None:
    """Print a commented scenario.

    \b
    Example:
      ackclock example > first.toml
    """
    print(engine.example(), end="")


def controllers(as_json: AsJson = False) -> None:
    """List the congestion controls and their parameters.

    \b
    Examples:
      ackclock controllers
      ackclock controllers --json
    """
    if as_json:
        print(json.dumps(engine.controllers(), indent=2))
    else:
        from ackclock.cli import tables

        tables.print_controllers(engine.controllers())


def explain(
    controller: Annotated[
        str, typer.Argument(metavar="NAME", help="A control of `ackclock controllers`.")
    ],
) -> None:
    """Explain a congestion control: equations, sources, deviations, parameters.

    \b
    Examples:
      ackclock explain illinois
      ackclock explain bic > bic.md
    """
    try:
        text = engine.explain(controller)
    except LookupError as error:
        raise typer.TyperException(str(error.args[0])) from error
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        print(text, end="")


def schema() -> None:
    """Print the JSON schema of scenarios.

    \b
    Example:
      ackclock schema > scenario.schema.json
    """
    print(json.dumps(engine.schema(), indent=2))
