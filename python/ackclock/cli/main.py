"""The command line: a verb is imported when it is called, and an error is one line."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import threading
import traceback
from typing import Any

import click

import ackclock
from ackclock.cli.options import Verbs

VERBS = {
    "simulate": {
        "simulate": "Simulate a scenario packet by packet.",
        "check": "Check a scenario without running it.",
    },
    "catalogue": {
        "example": "Print a commented scenario.",
        "controllers": "List the congestion controls and their parameters.",
        "explain": "Explain a congestion control: equations, sources, deviations, parameters.",
        "schema": "Print the JSON schema of scenarios.",
    },
    "reproduce": {"reproduce": "Reproduce figures and tables of papers, with a verdict for every claim."},
    "evaluate": {"evaluate": "Judge a congestion control by what RFC 9743 asks of a new one."},
    "studies": {
        "compare": "Compare congestion controls on one path: the questions that everybody asks, on one page.",
        "sweep": "Run a scenario for many values of its settings, on all cores or a cluster.",
        "plot": "Draw the results of a sweep: a metric against a parameter, with 95 % intervals over runs.",
    },
    "lab": {"lab": "Open the laboratory in a browser: the simulator in a web page, without a server."},
    "difference": {"diff": "Say what is different between two results: scenarios, numbers, windows."},
    "verify": {"verify": "Check whether results are as they were written, whatever verb wrote them."},
    "programs": {
        "link": "Set up an emulated path between two network namespaces, in real time (link --help)."
    },
    "predict": {"predict": "Predict by the papers' formulas; --simulate adds simulated values."},
    "kernel": {"kernel": "Congestion controls in the Linux kernel's TCP, as eBPF: gone when unloaded."},
    "measure": {
        "measure": "Measuring campaigns over real paths: the server switches congestion control "
        "every period, the client fetches and logs."
    },
}
"""The verbs by module of `ackclock.cli`, each with the first sentence of its own --help."""


class Verb(click.Command):
    """A verb of which --help shows one line; its module is imported when it is called.

    Parameters
    ----------
    name : str
        The verb, and the name of its command in the module.
    module : str
        Where it is, in `ackclock.cli`.
    about : str
        Its line.
    """

    def __init__(self, name: str, module: str, about: str) -> None:
        super().__init__(name, short_help=about)
        self._module = module

    def load(self) -> click.Command:
        """Import the command.

        Returns
        -------
        click.Command
            With its options; a group has its verbs.
        """
        module = importlib.import_module(f"ackclock.cli.{self._module}")
        command: click.Command = getattr(module, str(self.name))
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Let the command itself read its arguments, so that it is what is called."""
        return self.load().make_context(info_name, args, parent, **extra)


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        print(f"ackclock {ackclock.__version__}")
        context.exit()


app = Verbs(
    no_args_is_help=False,
    commands={
        name: Verb(name, module, about) for module, verbs in VERBS.items() for name, about in verbs.items()
    },
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_version,
            help="Show the version and exit.",
        )
    ],
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    help="A congestion-control laboratory: simulate, compare and explain congestion controls.",
    epilog="Start with: ackclock example > first.toml; ackclock simulate first.toml",
)


def main() -> None:
    """Run the command line; exit 0 when done, 1 failed, 2 bad input, 128 + signal when ended."""
    status = 0
    ended: int | None = None
    try:
        _end_politely()
        # Not app.main, which writes of its own on an interrupt and ends at a closed pipe.
        with app.make_context("ackclock", sys.argv[1:]) as context:
            app.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        status = exit_.exit_code
    except click.ClickException as error:
        status = _complain(f"ackclock: {_usage(error)}", 2)
    except ackclock.ScenarioError as error:
        status = _complain(str(error), 2)
    except (ackclock.StorageError, ackclock.SimulationError) as error:
        # Where in the code of a control it was raised, in a process of its own.
        for note in getattr(error, "__notes__", ()):
            print(note, file=sys.stderr)
        status = _complain(f"ackclock: {error}", 1)
    except ValueError as error:
        # What the engine refuses of a control of one's own has no line of its code.
        if not _is_of_engine(error):
            raise
        status = _complain(f"ackclock: {error}", 1)
    except MemoryError:
        status = _complain("ackclock: out of memory; shorten the run or sample less often", 1)
    except _EndedError as error:
        ended = error.signal
    except KeyboardInterrupt:
        ended = signal.SIGINT
    except BrokenPipeError:
        # The reader has closed the pipe. Nothing more can be flushed at exit.
        sys.stdout = None
        status = 1
    except OSError as error:
        sys.stdout = None
        status = _complain(f"ackclock: cannot write: {error.strerror or error}", 1)
    except Exception as error:
        from ackclock.engine import controls

        trace = controls.trace(error)
        if not trace:
            raise
        # The program's own frames say nothing to the author of the control.
        print(trace, file=sys.stderr)
        status = 1
    if ended is not None:
        status = 128 + ended
        word = "interrupted" if ended == signal.SIGINT else f"ended by {signal.Signals(ended).name}"
        _complain(f"ackclock: {word}", status)
        with contextlib.suppress(OSError, AttributeError):
            sys.stdout.flush()
        # A control that hangs would keep its thread, and its thread the process.
        os._exit(status)
    sys.exit(status)


def _is_of_engine(error: BaseException) -> bool:
    from ackclock.engine import simulation

    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename == simulation.__file__


class _EndedError(KeyboardInterrupt):
    """A signal asks the process to end: what an interrupt tidies is tidied."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.signal = number


def _end_politely() -> None:
    """Let SIGTERM and SIGHUP end the process as an interrupt does, unless they are ignored."""
    if threading.current_thread() is not threading.main_thread():
        return
    process = os.getpid()

    def end(number: int, _frame: object) -> None:
        if os.getpid() != process:
            # A worker that inherited this.
            os._exit(128 + number)
        raise _EndedError(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


def _usage(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    if not isinstance(error, click.UsageError):
        return message
    command = error.ctx.command_path if error.ctx else "ackclock"
    return f"{message.rstrip('.')} (see {command} --help)"


def _complain(message: str, status: int) -> int:
    # Names of files and of what they name may hold anything; a terminal obeys control characters.
    shown = "".join(one if one.isprintable() else f"\\u{{{ord(one):x}}}" for one in message)
    with contextlib.suppress(OSError):
        print(shown, file=sys.stderr)
    return status
