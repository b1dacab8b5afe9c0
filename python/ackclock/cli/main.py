"""The command line: a verb is imported when it is called, and an error is one line."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
import sys
import threading
from typing import Any, NamedTuple

import click

import ackclock
from ackclock.cli.options import COMPLETE, Verbs


class Entry(NamedTuple):
    """A verb in the table."""

    group: str
    """Heading under which ``ackclock --help`` lists it."""
    module: str
    """Module of the command, imported when the verb is called."""
    name: str
    """The verb, and the name of its command in the module."""
    about: str
    """First sentence of the verb's own ``--help``."""

    @property
    def resumes(self) -> bool:
        """Whether it keeps finished runs, so that the same command continues after an interrupt."""
        return self.name in ("compare", "sweep", "reproduce", "evaluate", "search")


_TABLE = {
    "Start": {
        "ackclock.cli.simulate": {
            "simulate": "Simulate a scenario packet by packet.",
            "check": "Check a scenario without running it.",
        },
        "ackclock.cli.catalogue": {
            "example": "Print a commented scenario.",
            "controllers": "List the congestion controls and their parameters.",
            "explain": "Explain a congestion control or a term of the field.",
            "cite": "Print how to cite ackclock, as BibTeX.",
            "schema": "Print the JSON schema of scenarios.",
        },
        "ackclock.cli.measured": {"path": "Make a scenario of measurements of a path."},
        "ackclock.cli.lab": {
            "lab": "Open the laboratory, a web page that contains the simulator, in a browser."
        },
        "ackclock.cli.completion": {
            "completion": "Print the script that completes verbs, options and names in a shell."
        },
    },
    "Study": {
        "ackclock.cli.compare": {
            "compare": "Compare congestion controls on one path, and show the usual metrics on one page."
        },
        "ackclock.cli.predict": {
            "predict": "Predict with the papers' formulas; --simulate adds simulated values."
        },
        "ackclock.cli.studies": {
            "sweep": "Run a scenario for many values of its keys, on all cores or a cluster.",
            "plot": "Draw the results of a sweep: a metric against a parameter, "
            "with 95 % intervals over runs.",
        },
        "ackclock.cli.difference": {
            "diff": "Show how the scenarios, numbers and windows of two results differ."
        },
        "ackclock.cli.verify": {
            "verify": "Check that results of any verb have not changed since they were written."
        },
        "ackclock.cli.pack": {"pack": "Pack a result into an archive that runs again on another machine."},
    },
    "Papers": {
        "ackclock.cli.reproduce": {
            "reproduce": "Reproduce figures and tables of papers, with a verdict for every claim."
        }
    },
    "Evaluate": {
        "ackclock_evaluate.cli": {
            "evaluate": "Evaluate a congestion control against the criteria of RFC 9743."
        },
        "ackclock_search.cli": {
            "search": "Search for scenarios in which a congestion control does worse than CUBIC and Reno."
        },
    },
    "Real paths": {
        "ackclock_paths.cli.programs": {
            "link": "Set up an emulated path between two network namespaces, in real time."
        },
        "ackclock_paths.cli.kernel": {
            "kernel": "Run congestion controls in the Linux kernel's TCP as eBPF programs; unloading "
            "removes them."
        },
        "ackclock_paths.cli.measure": {
            "measure": "Measure real paths in campaigns: the server switches congestion control every "
            "period, and the client fetches data and logs."
        },
    },
}
VERBS = tuple(
    Entry(group, module, name, about)
    for group, modules in _TABLE.items()
    for module, verbs in modules.items()
    for name, about in verbs.items()
)
"""The verbs in the order of ``ackclock --help``."""
ENTRY_POINTS = "ackclock.verbs"
"""Group of entry points with which other distributions add verbs: a name and its Click command."""


class Verb(click.Command):
    """A verb that shows one line in --help and imports its module when it is called."""

    def __init__(self, name: str, module: str, about: str) -> None:
        super().__init__(name, short_help=about)
        self._module = module

    def load(self) -> click.Command:
        """Import the command; a SimulationError says that its package is not installed."""
        try:
            module = importlib.import_module(self._module)
        except ImportError as error:
            package = self._module.partition(".")[0]
            # The missing module may also be a dependency of the package itself.
            if error.name != package:
                raise
            raise ackclock.SimulationError(
                f"{self.name} needs the package {package}, which is not installed"
            ) from error
        command: click.Command = getattr(module, str(self.name))
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Let the command itself parse its arguments, so that it is called directly."""
        return self.load().make_context(info_name, args, parent, **extra)


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        print(f"ackclock {ackclock.__version__}")
        context.exit()


class App(Verbs):
    """The command line: the verbs of the table in groups, and the verbs of other distributions."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a verb; entry points are read only for verbs that are not in the table."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        # A third of the time that all of this needs until a verb is called.
        from importlib.metadata import entry_points

        for point in entry_points(group=ENTRY_POINTS, name=cmd_name):
            added: click.Command = point.load()
            return added
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the verbs under the headings of their groups."""
        width = max(len(verb.name) for verb in VERBS)
        for group in dict.fromkeys(verb.group for verb in VERBS):
            with formatter.section(group):
                formatter.write_dl(
                    [(verb.name.ljust(width), verb.about) for verb in VERBS if verb.group == group]
                )


app = App(
    no_args_is_help=False,
    commands={verb.name: Verb(verb.name, verb.module, verb.about) for verb in VERBS},
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
    """Run the command line; exit with 0 when done, 1 failed, 2 bad input, 128 + signal when ended."""
    status = 0
    ended: int | None = None
    _open_streams()
    if instruction := os.environ.get(COMPLETE):
        from ackclock.cli import completion

        sys.exit(completion.answer(app, instruction))
    try:
        _end_politely()
        _outlive_readers()
        # app.main would print messages of its own on an interrupt and exit at a closed pipe.
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
        # Notes name the line in a control's code that raised it in another process.
        for note in getattr(error, "__notes__", ()):
            _print_lines(note)
        status = _complain(f"ackclock: {error}", 1)
    except ValueError as error:
        # A value that the engine refuses from a user's control has no line in the control's code.
        is_engines = _is_of_engine(error)
        status = _complain(f"ackclock: {error}", 1) if is_engines else _print_trace(error)
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
        status = _print_trace(error)
    if ended is not None:
        status = 128 + ended
        word = "interrupted" if ended == signal.SIGINT else f"ended by {signal.Signals(ended).name}"
        resumes = sys.argv[1:2] and sys.argv[1] in (verb.name for verb in VERBS if verb.resumes)
        _complain(f"ackclock: {word}{'; run the same command to continue' if resumes else ''}", status)
        with contextlib.suppress(OSError, AttributeError):
            sys.stdout.flush()
        # A control that hangs would keep its thread, and so the process, alive.
        os._exit(status)
    sys.exit(status)


class _Unread(io.FileIO):
    """Standard output whose reader may close the pipe, as ``head`` does: the rest goes nowhere."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            return len(data)


def _outlive_readers() -> None:
    """Let a verb finish when nobody reads its output any more: its status must not depend on the reader."""
    stream = sys.stdout
    # Another one, for a stream that was closed, would end with its object.
    if stream is sys.__stdout__ and isinstance(stream, io.TextIOWrapper) and not stream.isatty():
        binary = io.BufferedWriter(_Unread(stream.fileno(), "w", closefd=False))
        sys.stdout = io.TextIOWrapper(binary, stream.encoding, stream.errors)


def _open_streams() -> None:
    """Open an empty file for each standard stream that is closed, as by some supervisors."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # It gets the lowest free number, so that no file of a result does.
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def _is_of_engine(error: BaseException) -> bool:
    import traceback

    from ackclock.engine import simulation

    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename == simulation.__file__


class _EndedError(KeyboardInterrupt):
    """A signal asks the process to end; it gets the same clean-up as an interrupt."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.signal = number


def _end_politely() -> None:
    """Make SIGTERM and SIGHUP end the process as an interrupt does, unless they are ignored."""
    if threading.current_thread() is not threading.main_thread():
        return
    process = os.getpid()

    def end(number: int, _frame: object) -> None:
        if os.getpid() != process:
            # A worker process inherits this handler.
            os._exit(128 + number)
        raise _EndedError(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


def _usage(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    if not isinstance(error, click.UsageError):
        return message
    if isinstance(error, (click.NoSuchOption, click.exceptions.NoSuchCommand)):
        message = _unknown(error)
    command = error.ctx.command_path if error.ctx else "ackclock"
    return f"{message.rstrip('.')} (see {command} --help)"


def _unknown(error: click.NoSuchOption | click.exceptions.NoSuchCommand) -> str:
    from ackclock.names import hint

    context = error.ctx
    known: list[str] = []
    if isinstance(error, click.NoSuchOption):
        wrong = error.option_name
        if context is not None:
            known = [flag for parameter in context.command.get_params(context) for flag in parameter.opts]
    else:
        wrong = error.command_name
        if context is not None and isinstance(context.command, click.Group):
            known = context.command.list_commands(context)
    return f"{error.message.rstrip('.')}: {hint(wrong, (name for name in known if len(name) > 2))}"


def _print_trace(error: Exception) -> int:
    """Print the traceback of a control; an error of the program itself is raised again."""
    from ackclock.engine import controls

    trace = controls.trace(error)
    if not trace:
        raise error
    # The program's own frames do not help the author of the control.
    _print_lines(trace)
    return 1


def _print_lines(text: str) -> None:
    from ackclock.names import printable

    print(*map(printable, text.splitlines()), sep="\n", file=sys.stderr)


def _complain(message: str, status: int) -> int:
    from ackclock.names import printable

    # A file name may contain control characters.
    with contextlib.suppress(OSError):
        print(printable(message), file=sys.stderr)
    return status
