"""The verb predict: a table of verbs, and the commands that are made of it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli import options
from ackclock.engine import build, quantity, storage

if TYPE_CHECKING:
    from ackclock.predictions import Prediction

predict = options.Verbs(
    no_args_is_help=False,
    help="Predict by the papers' formulas; --simulate adds simulated values.",
    epilog="Start with: ackclock predict response reno cubic --simulate",
)
PICTURES = (".svg", ".pdf", ".png")
NUMBERS = (".csv", ".parquet")

Decorator = Callable[[Callable[..., None]], Callable[..., None]]
"""Gives a function an option or argument: `click.option`."""


@dataclass(frozen=True)
class Verb:
    """A prediction on the command line.

    Attributes
    ----------
    name : str
        The verb.
    function : str
        What predicts: module and function in `ackclock.predictions`.
    summary : str
        What --help says in the list of verbs.
    examples : tuple of str
        What is written behind ``ackclock predict NAME``.
    options : tuple of decorators
        Besides those that many verbs have. Each sets the parameter of its name of the predicting
        function, whose own default holds when there is no value.
    about : str
        What its own --help says further.
    runs : int, optional
        Default of --runs. With 1 nothing is random, so the option is left out; with None nothing is
        simulated.
    refuses : tuple of exception types
        What the function raises for bad input.
    """

    name: str
    function: str
    summary: str
    examples: tuple[str, ...]
    options: tuple[Decorator, ...] = ()
    about: str = ""
    runs: int | None = 5
    refuses: tuple[type[Exception], ...] = ()


def _number(low: float, high: float) -> Callable[[str], float]:
    """Return what reads a number; 1 % is 0.01."""

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
) -> Decorator:
    """Make an option that takes numbers between commas."""
    number = _number(low, high)

    def read(text: str) -> list[float]:
        return [number(word) for word in text.split(",")]

    return click.option(f"--{parameter}", type=read, metavar=metavar, help=about, default=default)


def _loss_rate(parameter: str, flag: str, about: str, default: str) -> Decorator:
    read = _number(1e-4, 0.2)
    return click.option(flag, parameter, type=read, metavar="RATE", help=about, default=default)


CONTROLS = click.argument(
    "controls", nargs=-1, metavar="[CONTROL]...", help="Which; by default the usual ones."
)
LOSS = _numbers("loss", "RATES", "Loss rates, as in 1%,0.001 or 1e-4.", 1e-9, 0.5)

VERBS = (
    Verb(
        "response", "response.predict", "Rates where one packet in 1/p is lost.",
        (
            "", "reno cubic bic --loss 1e-2,1e-3,1e-4 --simulate", "hstcp --rtt-ms 50 -o hstcp.svg",
        ),
        (
            CONTROLS, LOSS,
            click.option("--rtt-ms", "rtt_s", type=click.FloatRange(0.001, 1e5), default=100.0,
                         metavar="MS", help="Round-trip time, ms.",
                         callback=lambda _, __, rtt_ms: rtt_ms / 1000),
        ),
        runs=1, refuses=(LookupError,),
    ),
    Verb(
        "unfairness", "unfairness.predict", "RTT unfairness of flows that lose together.",
        ("", "aimd bic --ratios 1,3 --simulate"),
        (
            CONTROLS, _numbers("ratios", "R,...", "Long over short RTT.", 1, 20, "1,2,3,6"),
            click.option("--capacity-mbps", "capacity", type=click.FloatRange(1, 1e5),
                         default=2500.0, metavar="MBPS", help="Capacity of the link, Mbit/s.",
                         callback=lambda _, __, mbps: mbps * 1e6 / build.PACKET_BITS),
        ),
        "The throughput of a flow of 40 ms over that of one with a longer round trip.",
        runs=3, refuses=(LookupError, ValueError),
    ),
    Verb(
        "divergence", "unfairness.diverge", "Scalable flows that never converge.",
        ("--ratio 2 --simulate",),
        (
            click.option("--ratio", type=click.FloatRange(1, 20), default=3.0, metavar="R",
                         help="Long over short RTT."),
        ),
        "The windows of two with different round trips that lose together.",
    ),
    Verb(
        "period", "period.predict", "Round trips between self-made losses.",
        ("", "reno africa --windows 100,83000"),
        (
            CONTROLS,
            _numbers("windows", "W,...", "Largest windows, packets.", 20, 1e6, "100,300,1000,3000"),
        ),
        runs=1, refuses=(LookupError,),
    ),
    Verb("share", "share.predict", "Illinois beside Reno on one link.", ("--simulate",)),
    Verb(
        "curves", "illinois.predict_curves", "Alpha and beta of Illinois over delay.",
        ("--simulate -o curves.svg",),
        (
            click.option("--eta1", type=click.FloatRange(0, 0.99), default=0.01, metavar="SHARE",
                         help="d1 over dm."),
        ), runs=2,
    ),
    Verb(
        "gain", "illinois.predict_gain", "Illinois over Reno on a lossy link.",
        ("--loss 0.1%,1% --simulate",), (LOSS,),
    ),
    Verb(
        "noise", "illinois.predict_noise", "Vegas with noise in its RTT.",
        ("--gamma 5 --simulate",),
        (_numbers("gamma", "G,...", "Packets that Vegas queues.", 0.1, 100, "2,5,10"),),
    ),
    Verb(
        "matrix", "matrix.predict", "Shares in the stochastic matrix model.",
        ("--flows 4,10 -o matrix.svg",),
        (
            _numbers("flows", "N,...", "Numbers of flows.", 2, 100, "4,10"),
            click.option("--seed", type=click.IntRange(min=0), default=1, metavar="N",
                         help="Seed of the random numbers."),
        ),
        runs=None,
    ),
    Verb(
        "fit", "fit.predict", "TCP-FIT on a lossy link.", ("--loss 0.1%,1% --simulate",), (LOSS,),
        "Its throughput, its sessions and its queue.",
    ),
    Verb(
        "smoothness", "smoothness.predict", "CoV of TCP, GAIMD, TFRC and TEAR.",
        ("--loss 1%,5% --simulate",), (LOSS,),
    ),
    Verb(
        "processes", "smoothness.predict_processes", "CoV of AIMD under any loss process.",
        ("--simulate",),
    ),
    Verb(
        "timeouts", "timeouts.predict", "CoV where timeouts dominate.",
        ("--loss 20% --timeout 4",),
        (
            LOSS,
            click.option("--timeout", type=click.IntRange(1, 1000), default=4, metavar="N",
                         help="RTO in round trips."),
        ),
        "As printed in the study, and of its chain.",
        runs=None,
    ),
    Verb(
        "step", "step.predict", "Rates after a step of the loss rate.",
        ("--simulate", "--from 4% --to 1% --round-trips 100"),
        (
            _loss_rate("before", "--from", "Loss rate.", "1%"),
            _loss_rate("after", "--to", "New loss rate.", "4%"),
            click.option("--round-trips", type=click.IntRange(10, 900), default=50, metavar="N",
                         help="How long to follow."),
        ),
        refuses=(ValueError,),
    ),
)  # fmt: skip

SIMULATE = "Simulate the same points, with 95 % intervals."
RUNS = "Runs per point, each with other random streams."
OUTPUT = "Write a picture (.svg, .pdf, .png) or the numbers (.csv, .parquet)."


def _common(verb: Verb) -> Iterator[Decorator]:
    """Return the options that many verbs have."""
    if verb.runs is not None:
        yield click.option("--simulate", is_flag=True, help=SIMULATE)
        if verb.runs > 1:
            least = click.IntRange(min=2)
            yield click.option("--runs", type=least, default=verb.runs, metavar="N", help=RUNS)
        yield options.jobs
        yield options.cluster
    yield options.as_json
    yield click.option("-o", "--output", type=Path, metavar="FILE", help=OUTPUT)


def _add(verb: Verb) -> None:
    """Make the command of a verb."""

    def command(
        *,
        simulate: bool = False,
        runs: int = 1,
        jobs: int | None = None,
        cluster: str | None = None,
        as_json: bool,
        output: Path | None,
        **given: Any,
    ) -> None:
        if output is not None and output.suffix not in (*PICTURES, *NUMBERS):
            # Before the work, not after it.
            endings = ", ".join((*PICTURES, *NUMBERS))
            raise click.ClickException(f"--output: {output} must end in one of {endings}")
        from ackclock.predictions import Simulation

        # No controls are the usual ones.
        values = {name: value for name, value in given.items() if value not in (None, ())}
        if simulate:
            values["simulation"] = Simulation(runs, jobs, cluster)
        module, function = verb.function.split(".")
        calculate = getattr(importlib.import_module(f"ackclock.predictions.{module}"), function)
        try:
            prediction = calculate(**values)
        except verb.refuses as error:
            raise click.ClickException(str(error.args[0])) from error
        _show(prediction, output, as_json)

    examples = "\n".join(f"  ackclock predict {verb.name} {one}".rstrip() for one in verb.examples)
    heading = "Examples" if len(verb.examples) > 1 else "Example"
    paragraphs = (verb.summary, verb.about, f"\b\n{heading}:\n{examples}")
    made: Callable[..., None] = command
    # The decorator that is applied last is the first in --help.
    for option in reversed([*verb.options, *_common(verb)]):
        made = option(made)
    predict.command(verb.name, help="\n\n".join(filter(None, paragraphs)))(made)


def _show(prediction: Prediction, output: Path | None, as_json: bool) -> None:
    from ackclock.cli import tables
    from ackclock.draw import plots

    if output is not None:
        with storage.new_file(output) as temporary:
            if output.suffix in PICTURES:
                with plots.in_style():
                    prediction.draw().savefig(temporary, format=output.suffix[1:], dpi=200)
            elif output.suffix == ".csv":
                prediction.points.write_csv(temporary)
            else:
                prediction.points.write_parquet(temporary)
    if as_json:
        print(json.dumps({"title": prediction.title, "points": prediction.points.to_dicts()}))
    else:
        tables.print_prediction(prediction.title, prediction.points, prediction.notes)


for _verb in VERBS:
    _add(_verb)
