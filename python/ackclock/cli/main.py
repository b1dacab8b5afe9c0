"""The command line: an app with a verb per function, and errors of one line."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Annotated

import typer

from ackclock import engine
from ackclock.cli import (
    catalogue,
    kernel,
    measure,
    predict,
    programs,
    reproduce,
    simulate,
    studies,
)
from ackclock.engine import storage

# Plain help and our own error lines: an error is one line on standard error.
app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A congestion-control laboratory: simulate, compare and explain congestion controls.",
    epilog="Start with: ackclock example > first.toml; ackclock simulate first.toml",
)
app.add_typer(predict.app, name="predict")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"ackclock {engine.VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


app.command()(simulate.simulate)
app.command()(simulate.check)
app.command()(catalogue.example)
app.command()(catalogue.controllers)
app.command()(catalogue.explain)
app.command()(catalogue.schema)
app.command()(reproduce.reproduce)
app.command()(studies.compare)
app.command()(studies.sweep)
app.command()(studies.plot)
app.command(context_settings=programs.AS_IT_IS)(programs.link)
app.add_typer(kernel.app, name="kernel")
app.add_typer(measure.app, name="measure")


def main() -> None:
    """Run the command line; exit 0 when done, 1 failed, 2 bad input, 130 interrupted."""
    try:
        status = app(prog_name="ackclock", standalone_mode=False)
        sys.stdout.flush()
    except engine.ScenarioError as error:
        status = _complain(str(error), 2)
    except typer.TyperException as error:
        status = _complain(f"ackclock: {_usage(error)}", 2)
    except (storage.StorageError, engine.SimulationError) as error:
        status = _complain(f"ackclock: {error}", 1)
    except MemoryError:
        status = _complain("ackclock: out of memory; shorten the run or sample less often", 1)
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        # The reader has closed the pipe. Nothing more can be flushed at exit.
        sys.stdout = None
        status = 1
    except OSError as error:
        sys.stdout = None
        status = _complain(f"ackclock: cannot write: {error.strerror or error}", 1)
    if status == 130:
        _complain("ackclock: interrupted", 130)
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        # A control that hangs would keep its thread, and its thread the process.
        os._exit(130)
    sys.exit(status or 0)


def _usage(error: typer.TyperException) -> str:
    message = " ".join(error.format_message().split())
    if not hasattr(error, "ctx"):
        return message
    command = error.ctx.command_path if error.ctx else "ackclock"
    return f"{message.rstrip('.')} (see {command} --help)"


def _complain(message: str, status: int) -> int:
    with contextlib.suppress(OSError):
        print(message, file=sys.stderr)
    return status
