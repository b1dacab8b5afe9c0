"""The verb kernel: controls in the kernel's TCP, and traces of them."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, cast

import click

from ackclock import engine
from ackclock.cli import completion, options
from ackclock.cli.options import Verbs
from ackclock_paths.cli.programs import Program, program

kernel = Verbs(
    no_args_is_help=False,
    help="Run congestion controls in the Linux kernel's TCP as eBPF programs; unloading removes them.\n\n"
    "A connection selects one by its name, as in iperf3 -C ack_fit. These commands need root and a kernel "
    "with BTF.",
    epilog="Start with: sudo ackclock kernel load fit; iperf3 -c HOST -C ack_fit",
)
PROGRAM = "ackclock-kernel"


def _loadable() -> list[str]:
    suffix = "@kernel"
    return [name.removesuffix(suffix) for name in completion.controls() if name.endswith(suffix)]


for _verb, _about, _named in (
    ("list", "List the available controls, and mark those that are loaded.", tuple),
    (
        "load",
        "Load controls by name; they stay loaded until they are unloaded or the machine restarts.",
        _loadable,
    ),
    ("unload", "Unload controls, by default all; connections keep their controls until they end.", _loadable),
    (
        "status",
        "Show the loaded controls, the number of connections that use them, and running traces.",
        tuple,
    ),
):
    kernel.add_command(Program(_verb, _about, PROGRAM, _verb, named=_named))


@kernel.command()
@click.option(
    "-o", "--output", type=options.PATH, required=True, metavar="DIR", help="Directory of the result."
)
@click.option(
    "--duration",
    "duration_s",
    type=options.quantity("time_s", 0.1, 1e7, "30s"),
    metavar="TIME",
    help="Length of the trace, e.g. 30s; by default until Ctrl-C.",
)
@click.option(
    "--sample",
    "sample_s",
    type=options.quantity("time_s", 1e-3, 1e7, "10ms"),
    default="100ms",
    metavar="TIME",
    help="Sampling interval of the table of windows, e.g. 10ms.",
)
@click.option(
    "--warmup",
    "warmup_s",
    type=options.quantity("time_s", 0.0, 1e7, "5s"),
    default="0s",
    metavar="TIME",
    help="Time at the start, e.g. 5s, that the metrics leave out.",
)
@click.option("--csv", is_flag=True, help="Write the tables as CSV instead of Parquet.")
@click.option(
    "--force", is_flag=True, help="Replace any earlier result in DIR, which is otherwise set aside as DIR.1."
)
@options.as_json
def trace(
    output: Path,
    duration_s: float | None,
    sample_s: float,
    warmup_s: float,
    csv: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Record every change of a window in the kernel, as a result like that of a simulation.

    Every connection of this machine with a control of ackclock becomes a flow. changes.parquet has
    every change of its window, in packets; windows.parquet and the other files are those of ackclock
    simulate -o, for every metric and picture.

    \b
    Examples:
      sudo ackclock kernel trace -o fit --duration 30s
      sudo ackclock kernel trace -o fit --sample 10ms      # until Ctrl-C
    """
    from ackclock_paths import kernel as traces

    with engine.new_result(output, force=force) as directory:
        text, status = _record(duration_s)
        if not text.count("\n") > 1:
            raise engine.SimulationError("no window changed: no connection used a control of ackclock")
        changes = traces.read_changes(text)
        try:
            measured = traces.run_of(changes, sample_s=sample_s, warmup_s=warmup_s)
        except ValueError as error:
            raise engine.SimulationError(str(error)) from error
        measured.write(directory, csv=csv)
    flows = len(measured.summary["flows"])
    if as_json:
        print(json.dumps({"directory": str(output), "changes": changes.height, "flows": flows}))
    else:
        print(f"{changes.height} changes of {flows} flows in {output}")
    if status:
        print("ackclock: the recorder was killed: the result ends there", file=sys.stderr)
        raise click.exceptions.Exit(status)


def _record(duration_s: float | None) -> tuple[str, int]:
    """Run the recorder until its time is over or Ctrl-C.

    Return its output, and the status of a killed program in a shell, else 0.
    """
    limit = [] if duration_s is None else ["--duration-s", str(duration_s)]
    command = [str(program(PROGRAM)), "trace", *limit]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listener:  # noqa: S603
        pipe, lines = cast("IO[str]", listener.stdout), list[str]()
        # Ctrl-C is for the recorder: it writes the changes that it has received.
        with contextlib.suppress(KeyboardInterrupt):
            _read(pipe, lines)
        listener.send_signal(signal.SIGINT)
        _read(pipe, lines)
    if listener.returncode > 0:
        raise click.exceptions.Exit(listener.returncode)
    if listener.returncode == 0:
        return "".join(lines), 0
    # The recorder was killed while it wrote: the last line may be incomplete.
    return "".join(line for line in lines if line.endswith("\n")), 128 - listener.returncode


def _read(pipe: IO[str], lines: list[str]) -> None:
    began = last = time.monotonic()
    for line in pipe:
        lines.append(line)
        now = time.monotonic()
        if sys.stderr.isatty() and now - last > 1.0:
            last = now
            print(f"\r{now - began:.0f} s, {len(lines)} changes ", end="", file=sys.stderr)
    if sys.stderr.isatty() and last > began:
        print(file=sys.stderr)
