"""Options and arguments shared by several verbs, and the order in which a group lists its verbs."""

from __future__ import annotations

import contextlib
import functools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

import click

if TYPE_CHECKING:
    from ackclock.runs import Limits
    from ackclock.runs.live import Live

Decorator = Callable[[Callable[..., None]], Callable[..., None]]
"""Adds an option or argument to a function, as `click.option` does."""
COMPLETE = "_ACKCLOCK_COMPLETE"
"""Environment variable by which the script of `ackclock completion` asks for names."""
PATH = click.Path(path_type=Path, readable=False)
"""Type of a file or directory, which shells complete; whether it can be read is found out later."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
jobs = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of parallel runs; by default one per core.",
)
cluster = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Run on a Dask cluster; ADDRESS is its scheduler, e.g. tcp://HOST:8786.",
)
pictures = click.option("--pictures", is_flag=True, help="Also draw every picture as PDF and PNG.")
live = click.option("--live", is_flag=True, help="Write a live progress page next to the results.")


def quantity(
    kind: Literal["time_s", "rate_bps"], low: float, high: float, example: str
) -> Callable[[str], float]:
    """Return a type of options: a quantity with its unit as in scenarios, from `low` to `high`."""

    def read(text: str) -> float:
        from ackclock import engine

        try:
            value = engine.quantity(text, kind)
        except ValueError as error:
            raise click.BadParameter(f"{error}; write e.g. {example}") from error
        if not low <= value <= high:
            unit = kind.rpartition("_")[2]
            raise click.BadParameter(f"{text!r} is not from {low:g} {unit} to {high:g} {unit}")
        return value

    return read


dry_run = click.option(
    "--dry-run", is_flag=True, help="Count the runs and estimate their time, but run nothing."
)

memory = click.option(
    "--memory",
    metavar="SIZE",
    help="Fail a run that needs more memory, e.g. 2GB; by default 4.3GB, for your own controls only.",
)
limit = click.option(
    "--limit",
    metavar="TIME",
    help="Fail a run that takes longer, e.g. 1h; by default 10min, for your own controls only.",
)


_seed = click.option(
    "--seed", type=click.IntRange(min=0), default=1, metavar="N", help="Seed of the random streams."
)
_set = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a parameter of CONTROL, e.g. beta=0.7; may be repeated.",
)


def output(help: str, default: str = "results") -> Decorator:  # noqa: A002
    """Return the option of the directory that a verb writes to."""
    return click.option("-o", "--output", type=PATH, default=Path(default), metavar="DIR", help=help)


def runs(default: int) -> Decorator:
    """Return the option of the number of runs."""
    text = "Number of runs; each uses different random streams."
    return click.option("--runs", type=click.IntRange(min=1), default=default, metavar="N", help=text)


class Places(TypedDict):
    """Arguments of the functions that make runs: the place of the runs, and the limits of each."""

    jobs: int | None
    cluster: str | None
    limits: Limits | None


def places(*between: Decorator) -> Decorator:
    """Add --jobs, --cluster, the options `between` and --limit and --memory: the argument `places`."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def called(
            *, jobs: int | None, cluster: str | None, limit: str | None, memory: str | None, **others: object
        ) -> None:
            command(places=Places(jobs=jobs, cluster=cluster, limits=_limits(limit, memory)), **others)

        return _added(called, jobs, cluster, *between, limit, memory)

    return decorated


def judged(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of verbs that judge a control: --set, --seed, --output, and those of `places`."""
    return _added(places()(command), _set, _seed, output("Directory of results."))


def _added(command: Callable[..., None], *given: Decorator) -> Callable[..., None]:
    for option in reversed(given):
        command = option(command)
    return command


def _limits(limit: str | None, memory: str | None) -> Limits | None:
    """Return the limits for a time and a size, or None if neither is given."""
    if limit is None and memory is None:
        return None
    from ackclock import engine
    from ackclock.runs import Limits

    usual = Limits()
    try:
        time_s = usual.time_s if limit is None else engine.quantity(limit, "time_s")
        if not 0 < time_s < 1e7:
            raise ValueError("expected more than 0 s and less than 1e7 s")
    except ValueError as error:
        raise click.ClickException(f"--limit: {error}") from error
    try:
        size = usual.memory_bytes if memory is None else engine.quantity(memory, "size_bytes")
        if not size >= LEAST_MEMORY_BYTES:
            raise ValueError(f"expected at least {LEAST_MEMORY_BYTES / 1e6:g} MB")
    except ValueError as error:
        raise click.ClickException(f"--memory: {error}") from error
    return Limits(time_s, int(size))


LEAST_MEMORY_BYTES = 200_000_000
"""Memory that Python and the engine need before the first packet."""


@contextlib.contextmanager
def estimated(wanted: bool, as_json: bool) -> Iterator[None]:
    """If wanted, print the cost of the runs in the block instead of making them, and leave the block."""
    if not wanted:
        yield
        return
    from dataclasses import asdict

    from ackclock.names import counted
    from ackclock.runs import estimate, progress

    try:
        with estimate.dry():
            yield
    except estimate.DryRunError as stopped:
        cost = stopped.cost
        if as_json:
            print(json.dumps(asdict(cost)))
            return
        kept = f", {cost.kept} of them kept" if cost.kept else ""
        time = f"about {progress.duration(cost.estimated_s)}".replace("about less", "less")
        runs = counted(cost.runs, "run")
        budget = (
            ""
            if cost.most_s is None
            else (f"; at most {progress.duration(cost.most_s)} for the whole budget")
        )
        print(f"{runs}{kept}; {cost.simulated_s:g} s simulated, {time} on this machine{budget}")


def command() -> str:
    """Return the command that was called, for the pages that it writes.

    The number of runs in parallel is left out, because results do not depend on it.
    """
    import shlex

    words = ["ackclock"]
    given = iter(sys.argv[1:])
    for word in given:
        if word == "--jobs":
            next(given, None)
        elif not word.startswith("--jobs="):
            words.append(word)
    return shlex.join(words)


def watched(wanted: bool, result: Path, title: str, shown: Path) -> Live:
    """Return the live page ``RESULT.live.html``, a context that writes nothing unless it is wanted.

    `title` names the work, and the finished page links to `shown`.
    """
    from ackclock.runs.live import Live

    file = result.with_name(f"{result.name}.live.html")
    return Live(file if wanted else None, title, shown, command())


class Verbs(click.Group):
    """A group of verbs in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names for --help."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs with a whole sentence each, which Click would cut."""
        verbs = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.get_short_help_str(limit=1000)) for name, verb in verbs if verb])
