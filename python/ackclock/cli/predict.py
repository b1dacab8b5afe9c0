"""The verb `predict` of the command line: what theory says, beside the simulation if wanted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ackclock.engine import storage

if TYPE_CHECKING:
    from ackclock.predictions import Prediction, Simulation

app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Predict by the papers' formulas; --simulate puts runs beside them.",
    epilog="Start with: ackclock predict response reno cubic --simulate",
)

Simulate = Annotated[
    bool, typer.Option("--simulate", help="Simulate the same points, with 95 % intervals.")
]
Runs = Annotated[
    int, typer.Option("--runs", min=2, help="Runs per point, each with other random streams.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Runs at once; by default one per core.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE",
        help="Write a picture (.svg, .pdf, .png) or the numbers (.csv, .parquet).",
    ),
]  # fmt: skip
Losses = Annotated[
    str | None,
    typer.Option("--loss", metavar="RATES", help="Loss rates, as in 1%,0.001 or 1e-4."),
]
Controls = Annotated[
    list[str] | None, typer.Argument(metavar="[CONTROL]...", help="Which; by default the usual.")
]

PICTURES = (".svg", ".pdf", ".png")
NUMBERS = (".csv", ".parquet")


def _numbers(text: str, key: str, *, low: float, high: float) -> list[float]:
    """Read numbers between commas; 1 % is 0.01."""
    found = []
    for word in text.split(","):
        match = re.fullmatch(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*(%?)\s*", word, re.IGNORECASE)
        try:
            number = float(match[1]) / (100 if match[2] else 1) if match else None
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            raise typer.TyperException(
                f"{key}: {word.strip()!r} is no number from {low:g} to {high:g}"
            )
        found.append(number)
    return found


def _losses(text: str | None, default: tuple[float, ...]) -> list[float]:
    return list(default) if text is None else _numbers(text, "--loss", low=1e-9, high=0.5)


def _simulation(simulate: bool, runs: int, jobs: int | None) -> Simulation | None:
    from ackclock.predictions import Simulation

    return Simulation(runs, jobs) if simulate else None


def _refuse_unwritable(output: Path | None) -> None:
    """Say so before the work, not after it."""
    if output is not None and output.suffix not in (*PICTURES, *NUMBERS):
        endings = ", ".join((*PICTURES, *NUMBERS))
        raise typer.TyperException(f"--output: {output} must end in one of {endings}")


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


@app.command()
def response(
    controls: Controls = None,
    loss: Losses = None,
    rtt_ms: Annotated[
        float, typer.Option("--rtt-ms", min=0.001, max=1e5, help="Round-trip time, ms.")
    ] = 100.0,
    simulate: Simulate = False,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Rates where one packet in 1/p is lost.

    \b
    Examples:
      ackclock predict response
      ackclock predict response reno cubic bic --loss 1e-2,1e-3,1e-4 --simulate
      ackclock predict response hstcp --rtt-ms 50 -o hstcp.svg
    """
    from ackclock.predictions import response

    _refuse_unwritable(output)
    losses = _losses(loss, (1e-2, 1e-3, 1e-4, 1e-5))
    try:
        found = response.predict(
            controls or list(response.CONTROLS), losses, rtt_ms / 1000,
            _simulation(simulate, 2, jobs),
        )  # fmt: skip
    except LookupError as error:
        raise typer.TyperException(str(error.args[0])) from error
    _show(found, output, as_json)


@app.command()
def unfairness(
    controls: Controls = None,
    ratios: Annotated[
        str, typer.Option("--ratios", metavar="R,...", help="Long over short RTT.")
    ] = "1,2,3,6",
    capacity_mbps: Annotated[
        float, typer.Option("--capacity-mbps", min=1, max=1e5, help="Of the link, Mbit/s.")
    ] = 2500.0,
    simulate: Simulate = False,
    runs: Runs = 3,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """RTT unfairness of flows that lose together.

    The throughput of a flow of 40 ms over that of one with a longer round trip.

    \b
    Examples:
      ackclock predict unfairness
      ackclock predict unfairness aimd bic --ratios 1,3 --simulate
    """
    from ackclock.engine import build
    from ackclock.predictions import unfairness

    _refuse_unwritable(output)
    try:
        found = unfairness.predict(
            controls or ["aimd", "bic", "hstcp"],
            _numbers(ratios, "--ratios", low=1, high=20),
            capacity=capacity_mbps * 1e6 / build.PACKET_BITS,
            simulation=_simulation(simulate, runs, jobs),
        )
    except (LookupError, ValueError) as error:
        raise typer.TyperException(str(error.args[0])) from error
    _show(found, output, as_json)


@app.command()
def divergence(
    ratio: Annotated[
        float, typer.Option("--ratio", min=1, max=20, help="Long over short RTT.")
    ] = 3.0,
    simulate: Simulate = False,
    runs: Runs = 5,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Scalable flows that never converge.

    The windows of two with different round trips that lose together.

    \b
    Example:
      ackclock predict divergence --ratio 2 --simulate
    """
    from ackclock.predictions import unfairness

    _refuse_unwritable(output)
    _show(unfairness.diverge(ratio, simulation=_simulation(simulate, runs, jobs)), output, as_json)


@app.command()
def period(
    controls: Controls = None,
    windows: Annotated[
        str, typer.Option("--windows", metavar="W,...", help="Largest windows, packets.")
    ] = "100,300,1000,3000",
    simulate: Simulate = False,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Round trips between self-made losses.

    \b
    Examples:
      ackclock predict period
      ackclock predict period reno africa --windows 100,83000
    """
    from ackclock.predictions import period

    _refuse_unwritable(output)
    usual = ("reno", "hstcp", "scalable", "africa", "two-mode")
    try:
        found = period.predict(
            controls or usual,
            _numbers(windows, "--windows", low=20, high=1e6),
            _simulation(simulate, 2, jobs),
        )
    except LookupError as error:
        raise typer.TyperException(str(error.args[0])) from error
    _show(found, output, as_json)


@app.command()
def share(
    simulate: Simulate = False,
    runs: Runs = 5,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Illinois beside Reno on one link.

    \b
    Example:
      ackclock predict share --simulate
    """
    from ackclock.predictions import share

    _refuse_unwritable(output)
    _show(share.predict(_simulation(simulate, runs, jobs)), output, as_json)


@app.command()
def curves(
    eta1: Annotated[float, typer.Option("--eta1", min=0, max=0.99, help="d1 over dm.")] = 0.01,
    simulate: Simulate = False,
    runs: Runs = 2,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Alpha and beta of Illinois over delay.

    \b
    Example:
      ackclock predict curves --simulate -o curves.svg
    """
    from ackclock.predictions import illinois

    _refuse_unwritable(output)
    _show(
        illinois.predict_curves(eta1, simulation=_simulation(simulate, runs, jobs)),
        output,
        as_json,
    )


@app.command()
def gain(
    loss: Losses = None,
    simulate: Simulate = False,
    runs: Runs = 5,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Illinois over Reno on a lossy link.

    \b
    Example:
      ackclock predict gain --loss 0.1%,1% --simulate
    """
    from ackclock.predictions import illinois

    _refuse_unwritable(output)
    losses = _losses(loss, (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05))
    found = illinois.predict_gain(losses, _simulation(simulate, runs, jobs))
    _show(found, output, as_json)


@app.command()
def noise(
    gamma: Annotated[
        str, typer.Option("--gamma", metavar="G,...", help="Packets that Vegas queues.")
    ] = "2,5,10",
    simulate: Simulate = False,
    runs: Runs = 5,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Vegas with noise in its RTT.

    \b
    Example:
      ackclock predict noise --gamma 5 --simulate
    """
    from ackclock.predictions import illinois

    _refuse_unwritable(output)
    found = illinois.predict_noise(
        _numbers(gamma, "--gamma", low=0.1, high=100),
        simulation=_simulation(simulate, runs, jobs),
    )
    _show(found, output, as_json)


@app.command()
def matrix(
    flows: Annotated[str, typer.Option("--flows", metavar="N,...", help="Flows.")] = "4,10",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the random numbers.")] = 1,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Shares in the stochastic matrix model.

    \b
    Example:
      ackclock predict matrix --flows 4,10 -o matrix.svg
    """
    from ackclock.predictions import matrix

    _refuse_unwritable(output)
    counts = [round(one) for one in _numbers(flows, "--flows", low=2, high=100)]
    _show(matrix.predict(counts, seed), output, as_json)


@app.command()
def fit(
    loss: Losses = None,
    simulate: Simulate = False,
    runs: Runs = 5,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """TCP-FIT on a lossy link.

    Its throughput, its sessions and its queue.

    \b
    Example:
      ackclock predict fit --loss 0.1%,1% --simulate
    """
    from ackclock.predictions import fit

    _refuse_unwritable(output)
    losses = _losses(loss, (0.0003, 0.001, 0.003, 0.01, 0.03))
    _show(fit.predict(losses, simulation=_simulation(simulate, runs, jobs)), output, as_json)


@app.command()
def smoothness(
    loss: Losses = None,
    simulate: Simulate = False,
    runs: Runs = 5,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """CoV of TCP, GAIMD, TFRC and TEAR.

    \b
    Example:
      ackclock predict smoothness --loss 1%,5% --simulate
    """
    from ackclock.predictions import smoothness

    _refuse_unwritable(output)
    losses = _losses(loss, (0.0005, 0.002, 0.005, 0.01, 0.02, 0.05, 0.08, 0.15, 0.2))
    _show(smoothness.predict(losses, _simulation(simulate, runs, jobs)), output, as_json)


@app.command()
def processes(
    simulate: Simulate = False,
    runs: Runs = 5,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """CoV of AIMD under any loss process.

    \b
    Example:
      ackclock predict processes --simulate
    """
    from ackclock.predictions import smoothness

    _refuse_unwritable(output)
    _show(smoothness.predict_processes(_simulation(simulate, runs, jobs)), output, as_json)


@app.command()
def timeouts(
    loss: Losses = None,
    timeout: Annotated[
        int, typer.Option("--timeout", min=1, max=1000, help="RTO in round trips.")
    ] = 4,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """CoV where timeouts dominate.

    As printed in the study, and of its chain.

    \b
    Example:
      ackclock predict timeouts --loss 20% --timeout 4
    """
    from ackclock.predictions import timeouts

    _refuse_unwritable(output)
    losses = _losses(loss, (0.1, 0.15, 0.2, 0.3, 0.4))
    _show(timeouts.predict(losses, timeout), output, as_json)


@app.command()
def step(
    before: Annotated[str, typer.Option("--from", metavar="RATE", help="Loss rate.")] = "1%",
    after: Annotated[str, typer.Option("--to", metavar="RATE", help="New loss rate.")] = "4%",
    round_trips: Annotated[
        int, typer.Option("--round-trips", min=10, max=900, help="How long to follow.")
    ] = 50,
    simulate: Simulate = False,
    runs: Runs = 5,
    jobs: Jobs = None,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Rates after a step of the loss rate.

    \b
    Examples:
      ackclock predict step --simulate
      ackclock predict step --from 4% --to 1% --round-trips 100
    """
    from ackclock.predictions import step

    _refuse_unwritable(output)
    (old,) = _numbers(before, "--from", low=1e-4, high=0.2)[:1]
    (new,) = _numbers(after, "--to", low=1e-4, high=0.2)[:1]
    if old == new:
        raise typer.TyperException("--from and --to must differ")
    found = step.predict(old, new, round_trips, _simulation(simulate, runs, jobs))
    _show(found, output, as_json)
