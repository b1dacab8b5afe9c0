"""The verb predict: a command for each subject, generated from ``predictions/subjects.toml``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli import completion, options
from ackclock.engine import build, quantity, storage
from ackclock.predictions.subjects import SUBJECTS, function_of

if TYPE_CHECKING:
    from ackclock.predictions import Prediction

predict = options.Verbs(
    no_args_is_help=False,
    help="Predict with the papers' formulas; --simulate adds simulated values.\n\n"
    "Each command prints a table of one prediction; its --help has examples.",
    epilog="Start with: ackclock predict response reno cubic --simulate",
)
PICTURES = (".svg", ".pdf", ".png")
NUMBERS = (".csv", ".parquet")
REFUSED: dict[str, type[Exception]] = {"LookupError": LookupError, "ValueError": ValueError}
"""Exceptions of bad input by their names in the table."""


def _number(low: float, high: float) -> Callable[[str], float]:
    """Return a parser of a number, which may be a percentage: 1 % is 0.01."""

    def read(text: str) -> float:
        try:
            number = quantity(text.strip(), "number")
        except ValueError:
            number = float("nan")
        if not low <= number <= high:
            raise click.BadParameter(f"not a number from {low:g} to {high:g}: {text.strip()!r}")
        return number

    return read


def _numbers(low: float, high: float) -> Callable[[str], list[float]]:
    """Return a parser of numbers separated by commas."""
    number = _number(low, high)
    return lambda text: [number(word) for word in text.split(",")]


def _rate(low: float, high: float, example: str) -> Callable[[str], float]:
    """Return a parser of rates, in packets per second."""
    read = options.quantity("rate_bps", low, high, example)
    return lambda text: read(text) / build.PACKET_BITS


KINDS: dict[str, Callable[..., Any]] = {
    "number": lambda low, high: click.FloatRange(low, high),
    "whole number": lambda low, high=None: click.IntRange(low, high),
    "numbers": _numbers,
    "loss rate": lambda: _number(1e-4, 0.2),
    "packet rate": _rate,
    "time": lambda low, high, example: options.quantity("time_s", low, high, example),
}
"""Types of options by the kind of value that they take; `low`, `high` and `example` are their arguments."""
CONTROLS = click.argument(
    "controls",
    nargs=-1,
    metavar="[CONTROL]...",
    shell_complete=completion.names(completion.controls),
    help="Controls to predict, e.g. reno cubic; by default a selection.",
)
LOSS_RATES = click.option(
    "--loss",
    type=_numbers(1e-9, 0.5),
    metavar="SHARE,...",
    help="Loss rates, e.g. 1%,0.001 or 1e-4; by default several.",
)
SHARED: dict[str, options.Decorator] = {"controls": CONTROLS, "loss rates": LOSS_RATES}
"""Arguments and options that several subjects have."""


def _option(takes: str, **keys: Any) -> options.Decorator:
    """Return an option of a subject from its keys in ``subjects.toml``."""
    if takes in SHARED:
        return SHARED[takes]
    named = [keys.pop("flag"), *filter(None, [keys.pop("parameter", "")])]
    limits = {name: keys.pop(name) for name in ("low", "high", "example") if name in keys}
    return click.option(*named, type=KINDS[takes](**limits), **keys)


SIMULATE = "Also simulate the same points, and print 95 % intervals."
RUNS = "Number of runs per point; each uses different random streams."
OUTPUT = "Write a picture (.svg, .pdf, .png) or the numbers (.csv, .parquet) to FILE."


def _common(runs: int) -> Iterator[options.Decorator]:
    """Yield the options that many subjects share."""
    if runs:
        yield click.option("--simulate", is_flag=True, help=SIMULATE)
        if runs > 1:
            least = click.IntRange(min=2)
            yield click.option("--runs", type=least, default=runs, metavar="N", help=RUNS)
        yield options.jobs
        yield options.cluster
        yield options.dry_run
    yield options.as_json
    yield click.option("-o", "--output", type=options.PATH, metavar="FILE", help=OUTPUT)


def _add(name: str, subject: Mapping[str, Any]) -> None:
    """Add the command of a subject."""
    refused = tuple(REFUSED[error] for error in subject.get("refuses", ()))

    def command(
        *,
        simulate: bool = False,
        runs: int = 1,
        jobs: int | None = None,
        cluster: str | None = None,
        dry_run: bool = False,
        as_json: bool,
        output: Path | None,
        **given: Any,
    ) -> None:
        if output is not None and output.suffix not in (*PICTURES, *NUMBERS):
            # Refused before the work, not after it.
            endings = ", ".join((*PICTURES, *NUMBERS))
            raise click.ClickException(f"--output: {output} must end in one of {endings}")
        if dry_run and not simulate:
            raise click.ClickException("--dry-run needs --simulate; without it nothing is run")
        from ackclock.predictions import Simulation

        # Without controls the function takes the usual ones.
        values = {key: value for key, value in given.items() if value not in (None, ())}
        if simulate:
            values["simulation"] = Simulation(runs, jobs, cluster)
        try:
            with options.estimated(dry_run, as_json):
                prediction = function_of(name)(**values)
        except refused as error:
            raise click.ClickException(str(error.args[0])) from error
        if dry_run:
            return
        _show(prediction, output, as_json)

    examples = [f"  ackclock predict {name} {example}".rstrip() for example in subject["examples"]]
    heading = "Examples" if len(examples) > 1 else "Example"
    paragraphs = (subject["summary"], subject.get("about"), "\n".join([f"\b\n{heading}:", *examples]))
    own = [_option(**keys) for keys in subject.get("options", ())]
    decorated: Callable[..., None] = command
    # The decorator that is applied last is the first in --help.
    for option in reversed([*own, *_common(subject.get("runs", 5))]):
        decorated = option(decorated)
    predict.command(name, help="\n\n".join(filter(None, paragraphs)))(decorated)


def _show(prediction: Prediction, output: Path | None, as_json: bool) -> None:
    import polars as pl

    from ackclock.cli import tables
    from ackclock.draw import plots

    numbers = prediction.points
    if prediction.profile:
        numbers = numbers.with_columns(profile=pl.lit(prediction.profile))
    if output is not None:
        with storage.new_file(output) as temporary:
            if output.suffix in PICTURES:
                with plots.in_style():
                    prediction.draw().savefig(temporary, format=output.suffix[1:], dpi=200)
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


for _name, _subject in SUBJECTS.items():
    _add(_name, _subject)
