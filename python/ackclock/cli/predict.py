"""The verb predict: a table of subjects, and the commands generated from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli import completion, options
from ackclock.engine import build, quantity, storage
from ackclock.predictions.subjects import function_of

if TYPE_CHECKING:
    from ackclock.predictions import Prediction

predict = options.Verbs(
    no_args_is_help=False,
    help="Predict with the papers' formulas; --simulate adds simulated values.",
    epilog="Start with: ackclock predict response reno cubic --simulate",
)
PICTURES = (".svg", ".pdf", ".png")
NUMBERS = (".csv", ".parquet")


@dataclass(frozen=True)
class PredictedSubject:
    """A subject of ``ackclock predict``."""

    name: str
    summary: str
    """First sentence of its --help."""
    examples: tuple[str, ...]
    """Arguments to ``ackclock predict NAME``."""
    options: tuple[options.Decorator, ...] = ()
    """Its own options, named for parameters of the function; without a value the function's default holds."""
    about: str = ""
    """Further sentences of its --help."""
    runs: int | None = 5
    """Default of --runs; 1 when nothing is random, None when nothing is simulated."""
    refuses: tuple[type[Exception], ...] = ()
    """Exceptions that the function raises for bad input."""


def _number(low: float, high: float) -> Callable[[str], float]:
    """Return a parser of numbers; 1 % is 0.01."""

    def read(text: str) -> float:
        try:
            number = quantity(text.strip(), "number")
        except ValueError:
            number = float("nan")
        if not low <= number <= high:
            raise click.BadParameter(f"not a number from {low:g} to {high:g}: {text.strip()!r}")
        return number

    return read


def _numbers(
    parameter: str, metavar: str, about: str, low: float, high: float, default: str | None = None
) -> options.Decorator:
    """Return an option that takes numbers separated by commas."""
    number = _number(low, high)

    def read(text: str) -> list[float]:
        return [number(word) for word in text.split(",")]

    return click.option(f"--{parameter}", type=read, metavar=metavar, help=about, default=default)


def _loss_rate(parameter: str, flag: str, about: str, default: str) -> options.Decorator:
    read = _number(1e-4, 0.2)
    return click.option(flag, parameter, type=read, metavar="SHARE", help=about, default=default)


CONTROLS = click.argument(
    "controls",
    nargs=-1,
    metavar="[CONTROL]...",
    shell_complete=completion.names(completion.controls),
    help="Controls to predict; by default the usual ones.",
)
LOSS = _numbers("loss", "SHARE,...", "Loss rates, e.g. 1%,0.001 or 1e-4.", 1e-9, 0.5)

SUBJECTS = (
    PredictedSubject(
        "response", "Response functions: rates by loss rate p.",
        (
            "", "reno cubic bic --loss 1e-2,1e-3,1e-4 --simulate", "hstcp --rtt 50ms -o hstcp.svg",
        ),
        (
            CONTROLS, LOSS,
            click.option("--rtt", "rtt_s", type=options.quantity("time_s", 1e-6, 100.0, "80ms"),
                         default="100ms", metavar="TIME", help="Propagation round trip."),
        ),
        runs=1, refuses=(LookupError,),
    ),
    PredictedSubject(
        "unfairness", "RTT unfairness of flows that lose together.",
        ("", "aimd bic --ratios 1,3 --simulate"),
        (
            CONTROLS, _numbers("ratios", "R,...", "Ratios of the long to the short RTT.", 1, 20, "1,2,3,6"),
            click.option("--rate", "capacity", type=options.quantity("rate_bps", 1e6, 1e11, "100mbit"),
                         default="2500mbit", metavar="RATE", help="Rate of the bottleneck.",
                         callback=lambda _, __, bps: bps / build.PACKET_BITS),
        ),
        "Prints the throughput of a flow with an RTT of 40 ms over that of a flow with a longer RTT.",
        runs=3, refuses=(LookupError, ValueError),
    ),
    PredictedSubject(
        "divergence", "Scalable flows that never converge.",
        ("--ratio 2 --simulate",),
        (
            click.option("--ratio", type=click.FloatRange(1, 20), default=3.0, metavar="R",
                         help="Ratio of the long to the short RTT."),
        ),
        "Prints the ratio of the windows of two flows with different RTTs that lose together.",
    ),
    PredictedSubject(
        "period", "Round trips between self-induced losses.",
        ("", "reno africa --windows 100,83000"),
        (
            CONTROLS,
            _numbers("windows", "W,...", "Largest windows, packets.", 20, 1e6, "100,300,1000,3000"),
        ),
        runs=1, refuses=(LookupError,),
    ),
    PredictedSubject("share", "Illinois next to Reno on one link.", ("--simulate",)),
    PredictedSubject(
        "curves", "Alpha and beta of Illinois over delay.",
        ("--simulate -o curves.svg",),
        (
            click.option("--eta1", type=click.FloatRange(0, 0.99), default=0.01, metavar="SHARE",
                         help="Threshold d1 as a share of the largest delay dm."),
        ), runs=2,
    ),
    PredictedSubject(
        "gain", "Window of Illinois over Reno's on a lossy link.",
        ("--loss 0.1%,1% --simulate",), (LOSS,),
    ),
    PredictedSubject(
        "noise", "Throughput of Vegas with noise in its RTT.",
        ("--gamma 5 --simulate",),
        (_numbers("gamma", "G,...", "Packets that Vegas keeps in the queue.", 0.1, 100, "2,5,10"),),
    ),
    PredictedSubject(
        "matrix", "Shares in the stochastic matrix model.",
        ("--flows 4,10 -o matrix.svg",),
        (
            _numbers("flows", "N,...", "Numbers of flows on the link.", 2, 100, "4,10"),
            click.option("--seed", type=click.IntRange(min=0), default=1, metavar="N",
                         help="Seed of the random streams."),
        ),
        runs=None,
    ),
    PredictedSubject(
        "fit", "TCP-FIT on a lossy link.", ("--loss 0.1%,1% --simulate",), (LOSS,),
        "Prints its throughput, its sessions and its queue.",
    ),
    PredictedSubject(
        "smoothness", "CoV of TCP, GAIMD, TFRC and TEAR.",
        ("--loss 1%,5% --simulate",), (LOSS,),
    ),
    PredictedSubject(
        "processes", "CoV of AIMD under any loss process.",
        ("--simulate",),
    ),
    PredictedSubject(
        "timeouts", "CoV where timeouts dominate.",
        ("--loss 20% --timeout 4",),
        (
            LOSS,
            click.option("--timeout", type=click.IntRange(1, 1000), default=4, metavar="N",
                         help="RTO in round trips."),
        ),
        "Prints the CoV as printed in the study, and the CoV of its Markov chain.",
        runs=None,
    ),
    PredictedSubject(
        "step", "Rates after a step of the loss rate.",
        ("--simulate", "--from 4% --to 1% --round-trips 100"),
        (
            _loss_rate("before", "--from", "Loss rate before the step.", "1%"),
            _loss_rate("after", "--to", "Loss rate after the step.", "4%"),
            click.option("--round-trips", type=click.IntRange(10, 900), default=50, metavar="N",
                         help="Round trips to follow after the step."),
        ),
        refuses=(ValueError,),
    ),
)  # fmt: skip

SIMULATE = "Also simulate the same points, with 95 % intervals."
RUNS = "Runs per point; each uses different random streams."
OUTPUT = "Write a picture (.svg, .pdf, .png) or the numbers (.csv, .parquet)."


def _common(subject: PredictedSubject) -> Iterator[options.Decorator]:
    """Yield the options that many subjects share."""
    if subject.runs is not None:
        yield click.option("--simulate", is_flag=True, help=SIMULATE)
        if subject.runs > 1:
            least = click.IntRange(min=2)
            yield click.option("--runs", type=least, default=subject.runs, metavar="N", help=RUNS)
        yield options.jobs
        yield options.cluster
        yield options.dry_run
    yield options.as_json
    yield click.option("-o", "--output", type=options.PATH, metavar="FILE", help=OUTPUT)


def _add(subject: PredictedSubject) -> None:
    """Add the command of a subject."""

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
        values = {name: value for name, value in given.items() if value not in (None, ())}
        if simulate:
            values["simulation"] = Simulation(runs, jobs, cluster)
        try:
            with options.estimated(dry_run, as_json):
                prediction = function_of(subject.name)(**values)
        except subject.refuses as error:
            raise click.ClickException(str(error.args[0])) from error
        if dry_run:
            return
        _show(prediction, output, as_json)

    examples = "\n".join(
        f"  ackclock predict {subject.name} {example}".rstrip() for example in subject.examples
    )
    heading = "Examples" if len(subject.examples) > 1 else "Example"
    paragraphs = (subject.summary, subject.about, f"\b\n{heading}:\n{examples}")
    decorated: Callable[..., None] = command
    # The decorator that is applied last is the first in --help.
    for option in reversed([*subject.options, *_common(subject)]):
        decorated = option(decorated)
    predict.command(subject.name, help="\n\n".join(filter(None, paragraphs)))(decorated)


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


for _subject in SUBJECTS:
    _add(_subject)
