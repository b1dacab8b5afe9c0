"""The verb predict: a command for each subject of ``predictions/subjects.toml``."""

from __future__ import annotations

import click

from ackclock.cli import completion, options
from ackclock.cli.prediction import Show, number, numbers, rate, shown

predict = options.Verbs(
    no_args_is_help=False,
    help="Predict with the papers' formulas; --simulate adds simulated values.\n\n"
    "Each command prints a table of one prediction; its --help has examples.",
    epilog="Start with: ackclock predict response reno cubic --simulate",
)
CONTROLS = click.argument(
    "controls",
    nargs=-1,
    metavar="[CONTROL]...",
    shell_complete=completion.names(completion.controls),
    help="Controls to predict, e.g. reno cubic; by default a selection.",
)
LOSS_RATES = click.option(
    "--loss",
    type=numbers(1e-9, 0.5),
    metavar="SHARE,...",
    help="Loss rates, e.g. 1%,0.001 or 1e-4; by default several.",
)


@predict.command()
@CONTROLS
@LOSS_RATES
@click.option(
    "--rtt",
    "rtt_s",
    type=options.quantity("time_s", 1e-06, 100, "80ms"),
    default="100ms",
    metavar="TIME",
    help="Propagation round trip.",
)
@shown(runs=1)
def response(show: Show, controls: tuple[str, ...], loss: list[float] | None, rtt_s: float) -> None:
    """Predict response functions, the rate over the loss rate p.

    \b
    Examples:
      ackclock predict response
      ackclock predict response reno cubic bic --loss 1e-2,1e-3,1e-4 --simulate
      ackclock predict response hstcp --rtt 50ms -o hstcp.svg
    """
    show("response", LookupError, controls=controls, loss=loss, rtt_s=rtt_s)


@predict.command()
@CONTROLS
@click.option(
    "--ratios",
    type=numbers(1, 20),
    default="1,2,3,6",
    metavar="R,...",
    help="Ratios of the long to the short RTT.",
)
@click.option(
    "--rate",
    "capacity",
    type=rate(1e06, 1e11, "100mbit"),
    default="2500mbit",
    metavar="RATE",
    help="Rate of the bottleneck.",
)
@shown(runs=3)
def unfairness(show: Show, controls: tuple[str, ...], ratios: list[float], capacity: float) -> None:
    """Predict the RTT unfairness of flows that lose together.

    Prints the throughput of a flow with an RTT of 40 ms over that of a flow with a longer RTT.

    \b
    Examples:
      ackclock predict unfairness
      ackclock predict unfairness aimd bic --ratios 1,3 --simulate
    """
    show("unfairness", LookupError, ValueError, controls=controls, ratios=ratios, capacity=capacity)


@predict.command()
@click.option(
    "--ratio",
    type=click.FloatRange(1, 20),
    default=3.0,
    metavar="R",
    help="Ratio of the long to the short RTT.",
)
@shown()
def divergence(show: Show, ratio: float) -> None:
    """Predict how two Scalable flows drift apart.

    Prints the ratio of the windows of two flows with different RTTs that lose together.

    \b
    Example:
      ackclock predict divergence --ratio 2 --simulate
    """
    show("divergence", ratio=ratio)


@predict.command()
@CONTROLS
@click.option(
    "--windows",
    type=numbers(20, 1e06),
    default="100,300,1000,3000",
    metavar="W,...",
    help="Largest windows, packets.",
)
@shown(runs=1)
def period(show: Show, controls: tuple[str, ...], windows: list[float]) -> None:
    """Predict the RTTs between self-induced loss events.

    \b
    Examples:
      ackclock predict period
      ackclock predict period reno africa --windows 100,83000
    """
    show("period", LookupError, controls=controls, windows=windows)


@predict.command()
@shown()
def share(show: Show) -> None:
    """Predict the share of Illinois next to Reno.

    \b
    Example:
      ackclock predict share --simulate
    """
    show("share")


@predict.command()
@click.option(
    "--eta1",
    type=click.FloatRange(0, 0.99),
    default=0.01,
    metavar="SHARE",
    help="Threshold d1 as a share of the largest delay dm.",
)
@shown(runs=2)
def curves(show: Show, eta1: float) -> None:
    """Predict alpha and beta of Illinois over queueing delay.

    \b
    Example:
      ackclock predict curves --simulate -o curves.svg
    """
    show("curves", eta1=eta1)


@predict.command()
@LOSS_RATES
@shown()
def gain(show: Show, loss: list[float] | None) -> None:
    """Predict the window of Illinois over Reno's on a lossy link.

    \b
    Example:
      ackclock predict gain --loss 0.1%,1% --simulate
    """
    show("gain", loss=loss)


@predict.command()
@click.option(
    "--gamma",
    type=numbers(0.1, 100),
    default="2,5,10",
    metavar="G,...",
    help="Packets that Vegas keeps in the queue.",
)
@shown()
def noise(show: Show, gamma: list[float]) -> None:
    """Predict the throughput of Vegas with noise in its RTT.

    \b
    Example:
      ackclock predict noise --gamma 5 --simulate
    """
    show("noise", gamma=gamma)


@predict.command()
@click.option(
    "--flows", type=numbers(2, 100), default="4,10", metavar="N,...", help="Numbers of flows on the link."
)
@click.option("--seed", type=click.IntRange(0), default=1, metavar="N", help="Seed of the random streams.")
@shown(runs=0)
def matrix(show: Show, flows: list[float], seed: int) -> None:
    """Predict shares by the stochastic matrix model.

    \b
    Example:
      ackclock predict matrix --flows 4,10 -o matrix.svg
    """
    show("matrix", flows=flows, seed=seed)


@predict.command()
@LOSS_RATES
@shown()
def fit(show: Show, loss: list[float] | None) -> None:
    """Predict TCP-FIT's throughput on a lossy link.

    Prints its throughput, its sessions and its queue.

    \b
    Example:
      ackclock predict fit --loss 0.1%,1% --simulate
    """
    show("fit", loss=loss)


@predict.command()
@LOSS_RATES
@shown()
def smoothness(show: Show, loss: list[float] | None) -> None:
    """Predict the CoV of TCP, GAIMD, TFRC and TEAR.

    \b
    Example:
      ackclock predict smoothness --loss 1%,5% --simulate
    """
    show("smoothness", loss=loss)


@predict.command()
@shown()
def processes(show: Show) -> None:
    """Predict the CoV of AIMD under any loss process.

    \b
    Example:
      ackclock predict processes --simulate
    """
    show("processes")


@predict.command()
@LOSS_RATES
@click.option("--timeout", type=click.IntRange(1, 1000), default=4, metavar="N", help="RTO in round trips.")
@shown(runs=0)
def timeouts(show: Show, loss: list[float] | None, timeout: int) -> None:
    """Predict the CoV where timeouts dominate.

    Prints the CoV as printed in the study, and the CoV of its Markov chain.

    \b
    Example:
      ackclock predict timeouts --loss 20% --timeout 4
    """
    show("timeouts", loss=loss, timeout=timeout)


@predict.command()
@click.option(
    "--from",
    "before",
    type=number(1e-4, 0.2),
    default="1%",
    metavar="SHARE",
    help="Loss rate before the step.",
)
@click.option(
    "--to", "after", type=number(1e-4, 0.2), default="4%", metavar="SHARE", help="Loss rate after the step."
)
@click.option(
    "--round-trips",
    type=click.IntRange(10, 900),
    default=50,
    metavar="N",
    help="Round trips to follow after the step.",
)
@shown()
def step(show: Show, before: float, after: float, round_trips: int) -> None:
    """Predict rates after a step of the loss rate.

    \b
    Examples:
      ackclock predict step --simulate
      ackclock predict step --from 4% --to 1% --round-trips 100
    """
    show("step", ValueError, before=before, after=after, round_trips=round_trips)
