"""The verb measure: campaigns over real paths, and their reports."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ackclock import engine
from ackclock.cli import options
from ackclock.cli.options import Verbs
from ackclock.engine import storage
from ackclock_paths.cli.programs import Program

measure = Verbs(
    no_args_is_help=False,
    help="Measure real paths in campaigns: the server switches congestion control every "
    "period, and the client fetches data and logs.\n\n"
    "A slot is a period with one control; its default length is 5 min, and that of a campaign 1 h.",
    epilog="Start with: ackclock measure token secret; ackclock measure serve --token secret; "
    "on the other machine ackclock measure run HOST --token secret -o campaign. "
    "--quic after serve and run uses QUIC in user space.",
)
PROGRAM = "ackclock-measure"
REPORT = frozenset(
    {"table.csv", "table.md", "throughput.png", "throughput.pdf", "slots.parquet", "samples.parquet"}
)


for _verb, _about in (
    ("token", "Create a token, a file that client and server share."),
    ("serve", "Send data to every client that knows the token, until Ctrl-C."),
    ("run", "Fetch data from a server, slot after slot, and log every second; rerun it to resume."),
):
    measure.add_command(Program(_verb, _about, PROGRAM, _verb))


@measure.command()
@click.argument(
    "directories",
    nargs=-1,
    type=options.PATH,
    required=True,
    metavar="DIR...",
    help="Directories of campaigns, one per path.",
)
@click.option(
    "-o", "--output", type=options.PATH, metavar="DIR", help="Write tables, samples and a picture to DIR."
)
@click.option(
    "--control", metavar="NAME", help="Show the speed-up of this control; by default that of the best one."
)
@click.option(
    "--force",
    is_flag=True,
    help="Replace any earlier report in DIR; another one is otherwise set aside as DIR.1.",
)
@click.option("--leave-out", is_flag=True, help="Leave out lines that were changed on disk.")
@options.as_json
def report(
    directories: tuple[Path, ...],
    output: Path | None,
    control: str | None,
    force: bool,
    leave_out: bool,
    as_json: bool,
) -> None:
    """Compare the controls of campaigns: throughput, speed-up and stolen bandwidth.

    The table has a row per path and control, with the goodput in Mbit/s and its 95 % interval over slots.
    The speed-up is a control's mean divided by the mean of all others. The stolen bandwidth is the share
    that Reno flows lose next to a control, compared with Reno in its place (measure run --references).
    With -o, DIR holds table.csv, table.md, the throughput over time as PNG and PDF, and all samples as
    Parquet.

    \b
    Examples:
      ackclock measure report campaign
      ackclock measure report zurich beijing --control ack_fit -o report
    """
    from ackclock.cli import tables
    from ackclock.draw import markdown, plots
    from ackclock_paths import campaign

    try:
        campaigns = [campaign.read(directory, leave_out=leave_out) for directory in directories]
        compared = campaign.table(campaigns, control)
    except ValueError as error:
        raise engine.SimulationError(str(error)) from error
    heads = ("path", "control", "Mbit/s", "95 % interval", "slots", "speed-up", "stolen")
    rows = [
        (
            row["path"],
            row["control"],
            f"{row['goodput_mbps']:.3g}",
            "-" if row["low"] is None else f"{row['low']:.3g} to {row['high']:.3g}",
            str(row["slots"]),
            "" if row["speed_up"] is None else f"{row['speed_up']:.2f}",
            "" if row["stolen"] is None else f"{row['stolen']:.2f}",
        )
        for row in compared.iter_rows(named=True)
    ]
    if as_json:
        print(json.dumps(compared.to_dicts()))
    else:
        tables.print_rows(heads, rows)
        kinds = dict.fromkeys(campaign.senders(each) for each in campaigns)
        print(f"\nSenders: {' and '.join(kinds)}; a real path has no profile.")
    if output is None:
        return
    import polars as pl

    def is_report(directory: Path) -> bool:
        return storage.holds_only(directory, REPORT, "table.csv")

    with storage.new_directory(output, force=force, is_result=is_report) as folder:
        lines = markdown.table(heads, rows)
        (folder / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        storage.write_table(compared, folder, "table", csv=True)
        for name in ("slots", "samples"):
            frames = [getattr(each, name).with_columns(path=pl.lit(each.name)) for each in campaigns]
            storage.write_table(pl.concat(frames, how="diagonal_relaxed"), folder, name)
        with plots.in_style():
            storage.write_files(folder, plots.rendered(campaign.picture(campaigns), "throughput"))
