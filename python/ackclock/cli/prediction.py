"""The options that all subjects of the verb predict share, and the way in which it shows a prediction."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock.cli import options
from ackclock.engine import build, quantity, storage
from ackclock.predictions.subjects import function_of

if TYPE_CHECKING:
    from ackclock.predictions import Prediction

PICTURES = (".svg", ".pdf", ".png")
NUMBERS = (".csv", ".parquet")


def number(low: float, high: float) -> Callable[[str], float]:
    """Return a parser of a number, which may be a percentage: 1 % is 0.01."""

    def read(text: str) -> float:
        try:
            value = quantity(text.strip(), "number")
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            raise click.BadParameter(f"not a number from {low:g} to {high:g}: {text.strip()!r}")
        return value

    return read


def numbers(low: float, high: float) -> Callable[[str], list[float]]:
    """Return a parser of numbers separated by commas."""
    read = number(low, high)
    return lambda text: [read(word) for word in text.split(",")]


def rate(low: float, high: float, example: str) -> Callable[[str], float]:
    """Return a parser of rates, in packets per second."""
    read = options.quantity("rate_bps", low, high, example)
    return lambda text: read(text) / build.PACKET_BITS


SIMULATE = "Also simulate the same points, and print 95 % intervals."
RUNS = "Number of runs per point; each uses different random streams."
OUTPUT = "Write a picture (.svg, .pdf, .png) or the numbers (.csv, .parquet) to FILE."


@dataclass(frozen=True)
class Show:
    """Makes a prediction and shows it as the options that all subjects share ask for."""

    as_json: bool
    output: Path | None
    simulate: bool = False
    runs: int = 1
    jobs: int | None = None
    cluster: str | None = None
    dry_run: bool = False

    def __call__(self, subject: str, *refuses: type[Exception], **given: object) -> None:
        """Show the prediction of a subject from the options that were `given`.

        Those without a value keep their defaults; exceptions of bad input, `refuses`, are one line.
        """
        if self.output is not None and self.output.suffix not in (*PICTURES, *NUMBERS):
            # Refused before the work, not after it.
            endings = ", ".join((*PICTURES, *NUMBERS))
            raise click.ClickException(f"--output: {self.output} must end in one of {endings}")
        if self.dry_run and not self.simulate:
            raise click.ClickException("--dry-run needs --simulate; without it nothing is run")
        from ackclock.predictions import Simulation

        # Without controls the function takes the usual ones.
        values = {key: value for key, value in given.items() if value not in (None, ())}
        if self.simulate:
            values["simulation"] = Simulation(self.runs, self.jobs, self.cluster)
        try:
            with options.estimated(self.dry_run, self.as_json):
                prediction = function_of(subject)(**values)
        except refuses as error:
            raise click.ClickException(str(error.args[0])) from error
        if not self.dry_run:
            _print(prediction, self.output, self.as_json)


def _print(prediction: Prediction, output: Path | None, as_json: bool) -> None:
    """Print a prediction, and write it to a file if one is named."""
    import polars as pl

    from ackclock.cli import tables
    from ackclock.draw import plots

    numbers = prediction.points
    if prediction.profile:
        numbers = numbers.with_columns(profile=pl.lit(prediction.profile))
    if output is not None:
        with storage.sealed_file(output) as temporary:
            if output.suffix in PICTURES:
                with plots.in_style():
                    plots.save(prediction.draw(), temporary, output.suffix[1:])
            elif output.suffix == ".csv":
                numbers.write_csv(temporary)
            else:
                numbers.write_parquet(temporary)
    if as_json:
        record = {"title": prediction.title, "profile": prediction.profile or None}
        print(json.dumps(record | {"points": prediction.points.to_dicts()}))
        return
    tables.print_prediction(f"{prediction.title}; {prediction.y_label}", prediction.points, prediction.notes)
    if prediction.profile:
        print(f"Simulated with profile {prediction.profile}, the papers' setting.")


def shown(runs: int = 5) -> options.Decorator:
    """Add the options that all subjects share, as the argument `show`.

    `runs` is the default of --runs, 1 where nothing is random, and 0 where nothing is simulated.
    """
    shared = [options.as_json, click.option("-o", "--output", type=options.PATH, metavar="FILE", help=OUTPUT)]
    if runs:
        shared = [options.jobs, options.cluster, options.dry_run, *shared]
    if runs > 1:
        least = click.IntRange(min=2)
        shared.insert(0, click.option("--runs", type=least, default=runs, metavar="N", help=RUNS))
    if runs:
        shared.insert(0, click.option("--simulate", is_flag=True, help=SIMULATE))
    names = [field for field in Show.__dataclass_fields__ if field not in ("simulate", "runs") or runs]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def called(**given: object) -> None:
            own = {name: given.pop(name) for name in names if name in given}
            command(show=Show(**own), **given)  # type: ignore[arg-type]

        for option in reversed(shared):
            called = option(called)
        return called

    return decorated
