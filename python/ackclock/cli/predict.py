"""The verb predict: a table of verbs, and the Typer commands that are made of it."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ackclock.cli.options import AsJson, Jobs
from ackclock.engine import build, quantity, storage

if TYPE_CHECKING:
    from ackclock.predictions import Prediction

app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Predict by the papers' formulas; --simulate adds simulated values.",
    epilog="Start with: ackclock predict response reno cubic --simulate",
)
PICTURES = (".svg", ".pdf", ".png")
NUMBERS = (".csv", ".parquet")


@dataclass(frozen=True)
class Option:
    """An option of a verb, or its argument.

    Attributes
    ----------
    parameter : str
        The parameter of the predicting function that it sets; not given when it has no value.
    kind : type
        Annotated for Typer.
    default : object
        Shown in --help; with None the function's own default holds.
    read : callable
        Turns what is given into what the function takes.
    """

    parameter: str
    kind: Any
    default: Any = None
    read: Callable[[Any], Any] = lambda given: given


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
    options : tuple of Option
        Besides those that many verbs have.
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
    options: tuple[Option, ...] = ()
    about: str = ""
    runs: int | None = 5
    refuses: tuple[type[Exception], ...] = ()


def _number(text: str, key: str, low: float, high: float) -> float:
    """Read a number; 1 % is 0.01."""
    try:
        number = quantity(text.strip(), "number")
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        raise typer.TyperException(
            f"{key}: not a number from {low:g} to {high:g}: {text.strip()!r}"
        )
    return number


def _option(
    parameter: str,
    flags: str,
    kind: Any,
    about: str,
    default: Any = None,
    read: Callable[[Any], Any] = lambda given: given,
    **more: Any,
) -> Option:
    """Make an option; `more` goes to Typer, such as min and max."""
    typed = Annotated[kind, typer.Option(*flags.split(), help=about, **more)]
    return Option(parameter, typed, default, read)


def _numbers(
    parameter: str, metavar: str, about: str, low: float, high: float, default: str | None = None
) -> Option:
    """Make an option that takes numbers between commas."""
    flag = f"--{parameter}"

    def read(text: str) -> list[float]:
        return [_number(word, flag, low, high) for word in text.split(",")]

    return _option(parameter, flag, str | None, about, default, read, metavar=metavar)


def _loss_rate(parameter: str, flag: str, about: str, default: str) -> Option:
    def read(text: str) -> float:
        return _number(text, flag, 1e-4, 0.2)

    return _option(parameter, flag, str, about, default, read, metavar="RATE")


CONTROLS = Option(
    "controls",
    Annotated[
        list[str] | None,
        typer.Argument(metavar="[CONTROL]...", help="Which; by default the usual ones."),
    ],
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
            _option("rtt_s", "--rtt-ms", float, "Round-trip time, ms.", 100.0,
                    lambda rtt_ms: rtt_ms / 1000, min=0.001, max=1e5),
        ),
        runs=1, refuses=(LookupError,),
    ),
    Verb(
        "unfairness", "unfairness.predict", "RTT unfairness of flows that lose together.",
        ("", "aimd bic --ratios 1,3 --simulate"),
        (
            CONTROLS, _numbers("ratios", "R,...", "Long over short RTT.", 1, 20, "1,2,3,6"),
            _option("capacity", "--capacity-mbps", float, "Capacity of the link, Mbit/s.", 2500.0,
                    lambda capacity_mbps: capacity_mbps * 1e6 / build.PACKET_BITS, min=1, max=1e5),
        ),
        "The throughput of a flow of 40 ms over that of one with a longer round trip.",
        runs=3, refuses=(LookupError, ValueError),
    ),
    Verb(
        "divergence", "unfairness.diverge", "Scalable flows that never converge.",
        ("--ratio 2 --simulate",),
        (_option("ratio", "--ratio", float, "Long over short RTT.", 3.0, min=1, max=20),),
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
        (_option("eta1", "--eta1", float, "d1 over dm.", 0.01, min=0, max=0.99),), runs=2,
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
            _option("seed", "--seed", int, "Seed of the random numbers.", 1, min=0),
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
        (LOSS, _option("timeout", "--timeout", int, "RTO in round trips.", 4, min=1, max=1000)),
        "As printed in the study, and of its chain.",
        runs=None,
    ),
    Verb(
        "step", "step.predict", "Rates after a step of the loss rate.",
        ("--simulate", "--from 4% --to 1% --round-trips 100"),
        (
            _loss_rate("before", "--from", "Loss rate.", "1%"),
            _loss_rate("after", "--to", "New loss rate.", "4%"),
            _option("round_trips", "--round-trips", int, "How long to follow.", 50,
                    min=10, max=900),
        ),
        refuses=(ValueError,),
    ),
)  # fmt: skip

SIMULATE = "Simulate the same points, with 95 % intervals."
RUNS = "Runs per point, each with other random streams."
OUTPUT = "Write a picture (.svg, .pdf, .png) or the numbers (.csv, .parquet)."


def _common(verb: Verb) -> Iterator[Option]:
    """Give the options that many verbs have."""
    if verb.runs is not None:
        yield _option("simulate", "--simulate", bool, SIMULATE, False)
        if verb.runs > 1:
            yield _option("runs", "--runs", int, RUNS, verb.runs, min=2)
        yield Option("jobs", Jobs)
    yield Option("as_json", AsJson, False)
    yield _option("output", "-o --output", Path | None, OUTPUT, metavar="FILE")


def _command(verb: Verb) -> Callable[..., None]:
    """Make the function whose signature and docstring Typer reads."""

    def command(
        *,
        simulate: bool = False,
        runs: int = 1,
        jobs: int | None = None,
        as_json: bool = False,
        output: Path | None = None,
        **given: Any,
    ) -> None:
        if output is not None and output.suffix not in (*PICTURES, *NUMBERS):
            # Before the work, not after it.
            endings = ", ".join((*PICTURES, *NUMBERS))
            raise typer.TyperException(f"--output: {output} must end in one of {endings}")
        from ackclock.predictions import Simulation

        values = {
            one.parameter: one.read(given[one.parameter])
            for one in verb.options
            if given[one.parameter] is not None
        }
        if simulate:
            values["simulation"] = Simulation(runs, jobs)
        module, function = verb.function.split(".")
        predict = getattr(importlib.import_module(f"ackclock.predictions.{module}"), function)
        try:
            prediction = predict(**values)
        except verb.refuses as error:
            raise typer.TyperException(str(error.args[0])) from error
        _show(prediction, output, as_json)

    options = [*verb.options, *_common(verb)]
    parameters = [
        inspect.Parameter(
            one.parameter, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.kind
        )
        for one in options
    ]
    shown = cast(Any, command)
    shown.__signature__ = inspect.Signature(parameters)
    shown.__annotations__ = {one.parameter: one.kind for one in options}
    examples = "\n".join(f"  ackclock predict {verb.name} {one}".rstrip() for one in verb.examples)
    heading = "Examples" if len(verb.examples) > 1 else "Example"
    paragraphs = (verb.summary, verb.about, f"\b\n{heading}:\n{examples}")
    command.__doc__ = "\n\n".join(filter(None, paragraphs))
    return command


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
    app.command(_verb.name)(_command(_verb))
