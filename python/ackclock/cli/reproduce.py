"""The verb for the papers."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ackclock.cli import completion, options, trials

if TYPE_CHECKING:
    from ackclock.reproduction.claims.artefact import Artefact
    from ackclock.reproduction.paper import Paper
    from ackclock.reproduction.record import ArtefactRecord


@click.command()
@click.argument(
    "targets",
    nargs=-1,
    metavar="[PAPER[/ARTEFACT]|FOLDER]...",
    shell_complete=completion.names(completion.artefacts),
    help="Papers or artefacts to reproduce, e.g. illinois/figure-8; by default everything. --published lists "
    "them. FOLDER is a paper of your own.",
)
@options.output("Directory of the page.")
@click.option(
    "--quick/--full",
    default=None,
    help="Reproduce only the headlines, with fewer seeds and shorter runs, or everything.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=2),
    metavar="N",
    help="Number of seeds of each scenario; by default the planned number, or 5 without a plan (3 with "
    "--quick). A paper with runs of several minutes may use fewer.",
)
@click.option(
    "--undecided",
    is_flag=True,
    help="Reproduce only claims that are undecided in DIR; combine this with more --runs.",
)
@click.option(
    "--infer",
    is_flag=True,
    help="Infer the settings of papers, and how robust their claims are, instead of reproducing them.",
)
@click.option(
    "--settings",
    type=click.IntRange(min=2),
    metavar="N",
    help="Number of settings that --infer draws; by default 16.",
)
@click.option(
    "--readings",
    is_flag=True,
    help="Judge the claims at every other value of every open item, one at a time, instead of reproducing.",
)
@click.option(
    "--exchange",
    is_flag=True,
    help="Judge every claim with Reno in the place of the paper's control, instead of reproducing.",
)
@click.option(
    "--plan",
    is_flag=True,
    help="Plan how many runs each scenario needs, by pilot runs, instead of reproducing.",
)
@click.option(
    "--published", is_flag=True, help="List the full results published with the project, and run nothing."
)
@click.option(
    "--audit",
    "budget_s",
    type=options.quantity("time_s", 1, 1e7, "100s"),
    metavar="BUDGET",
    help="Show published results of all but what --quick reproduces, and make a sample of their runs again "
    "within BUDGET of processor time, e.g. 100s.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Seed of the sample of --audit; by default another one each time.",
)
@options.cluster
@options.jobs
@options.pictures
@options.dry_run
@options.live
@options.as_json
def reproduce(
    targets: tuple[str, ...],
    output: Path,
    quick: bool | None,
    runs: int | None,
    undecided: bool,
    infer: bool,
    settings: int | None,
    readings: bool,
    exchange: bool,
    plan: bool,
    published: bool,
    budget_s: float | None,
    seed: int | None,
    cluster: str | None,
    jobs: int | None,
    pictures: bool,
    dry_run: bool,
    live: bool,
    as_json: bool,
) -> None:
    """Reproduce figures and tables of papers, with a verdict for every claim.

    An artefact is a figure, table or section of a paper. The page is DIR/index.html. Finished runs are
    kept in DIR/.cache, but for short ones: rerun the same command to resume. --dry-run estimates the time.

    An open item is a part of a paper's setting that has several plausible values, such as the buffer.
    --infer searches the plausible settings of a paper: the best one is accepted if it is better than the
    declared one in cross-validation over artefacts; otherwise both are kept. The result and tables of all
    trials are written to DIR/PAPER/inferred, and the table of --readings to DIR/PAPER/readings.csv.

    --readings judges the claims at the paper's setting, and at settings in which one open item has another
    value, or several where a claim holds at none of these. The table is written to DIR/PAPER/readings.csv;
    rows of artefacts that were not judged are kept.

    --exchange asks whether claims can fall. Reno, which does nothing new, gets the flows of the paper's own
    control, which paper.toml names, and CUBIC gets those of claims about Reno alone. A claim that holds then
    falls, stands, is undecided or cannot be exchanged. Runs are quick, and with --quick only headlines are
    judged. The table is written to DIR/PAPER/exchange.csv; rows of artefacts that were not judged are kept.

    --plan makes five pilot runs, or as many as --runs says, and estimates how many runs decide each claim
    with a probability of 80 %. No verdict uses the pilot runs. The table is written to
    DIR/PAPER/runs.csv; --full uses the table next to the paper's data file. With --quick, --plan does the
    same for the quick reproduction, and the table is DIR/PAPER/quick_runs.csv.

    --published lists class, main claim and claims of every artefact as the project has published them in
    papers/PAPER/published. --audit shows them on the page, marked as published, and makes some of their
    runs again, whose digests and numbers must be equal: with a run that differs the exit status is 1. It
    lists the runs, and says which share of false runs it may have missed; DIR/audit.json has them all.

    \b
    Examples:
      ackclock reproduce --quick --live
      ackclock reproduce --quick --audit 100s
      ackclock reproduce illinois bic/table-2 -o results
      ackclock reproduce illinois/figure-8 --pictures
      ackclock reproduce --full --undecided --runs 20
      ackclock reproduce --infer bic --settings 32
      ackclock reproduce --readings transient/figure-11
      ackclock reproduce --exchange illinois/figure-8
      ackclock reproduce --plan africa
      ackclock reproduce --plan transient --runs 20
      ackclock reproduce --published illinois
      ackclock reproduce my-paper --quick
    """
    _refuse_unknown(targets)
    import secrets

    from ackclock.reproduction import audit, library, make
    from ackclock.reproduction.claims import numbers
    from ackclock.reproduction.shown import outcome
    from ackclock.runs import progress

    tell = progress.Lines()
    papers, named = library.of_targets(targets)
    modes = infer or readings or exchange or plan
    others = quick or runs is not None or undecided or modes or live or pictures or dry_run
    for is_wrong, refusal in (
        (settings is not None and not infer, "--settings needs --infer"),
        (infer and (runs is not None or undecided), "--infer cannot be combined with --runs or --undecided"),
        (readings and (infer or undecided), "--readings cannot be combined with --infer or --undecided"),
        (
            exchange and (infer or readings or plan or undecided or live or pictures),
            "--exchange cannot be combined with --infer, --readings, --plan, --undecided, --live or "
            "--pictures",
        ),
        (
            plan and (infer or readings or undecided),
            "--plan cannot be combined with --infer, --readings or --undecided",
        ),
        (
            live and (infer or readings or plan),
            "--live cannot be combined with --infer, --readings or --plan",
        ),
        (
            published and (others or budget_s is not None),
            "--published can only be combined with targets and --json",
        ),
        (seed is not None and budget_s is None, "--seed needs --audit"),
        (
            budget_s is not None and (quick is False or undecided or modes or dry_run),
            "--audit cannot be combined with --full, --undecided, --infer, --readings, --exchange, --plan or "
            "--dry-run",
        ),
        (
            (published or budget_s is not None) and any(map(library.folder_of, targets)),
            "only papers of the product are published; results of a folder are where -o wrote them",
        ),
    ):
        if is_wrong:
            raise click.UsageError(refusal, click.get_current_context())
    with options.estimated(dry_run, as_json):
        try:
            if published:
                _published(make.select(papers, named), as_json)
                return
            if infer:
                chosen_papers = [papers[name] for name in make.papers(papers, named)]
                trials.infer(chosen_papers, output, jobs, tell, settings, cluster, as_json)
                return
            chosen = make.select(papers, named, headlines=bool(quick))
            if budget_s is not None:
                shown = make.select(papers, named)
                chosen = chosen if quick else []
            if readings:
                trials.readings(chosen, output, jobs, tell, runs, cluster)
                return
            if exchange:
                effort = numbers.FULL if quick is False else numbers.QUICK
                effort = effort if runs is None else replace(effort, runs=runs)
                trials.exchange(
                    chosen, papers.values(), output, jobs, _say, effort, runs is None, cluster, as_json
                )
                return
            if plan:
                trials.plan(chosen, output, jobs, tell, cluster, bool(quick), runs)
                return
            if undecided:
                chosen = make.undecided(chosen, output)
                if not chosen:
                    print("[]" if as_json else f"Nothing in this selection is undecided in {output}.")
                    return
        except LookupError as error:
            raise click.ClickException(str(error.args[0])) from error
        known = audit.show(shown, chosen, output, _say) if budget_s is not None else {}
        effort = numbers.QUICK if quick else numbers.FULL
        if runs is not None:
            effort = replace(effort, runs=runs)
        with options.watched(
            live, output / "reproduction", "Reproduction of papers", output / "index.html"
        ) as page:
            records = make.reproduce(
                chosen,
                output,
                effort,
                jobs,
                _say,
                papers.values(),
                cluster,
                page,
                pictures=pictures,
                planned=runs is None,
            )
        audited = None
        if budget_s is not None:
            sample = audit.draw(known, budget_s, secrets.randbelow(10**9) if seed is None else seed)
            audited = audit.audit(sample, papers, known, output, jobs, _say)
        if as_json:
            described = [_described(record, papers, records) for record in records]
            whole = {"artefacts": described, "audit": audited.record()} if audited else described
            print(json.dumps(whole, indent=2, ensure_ascii=False))
        else:
            print()
            for line in outcome.screen(records, papers, output) if chosen else ():
                print(line)
            for line in audited.words() if audited else ():
                print(line)
        if any(record["error"] for record in records) or (audited and audited.is_false):
            raise click.exceptions.Exit(1)


def _say(line: str) -> None:
    """Write a line about an artefact to standard error, whether or not that is a terminal."""
    print(line, file=sys.stderr, flush=True)


def _published(chosen: Sequence[tuple[Paper, Artefact]], as_json: bool) -> None:
    from ackclock.cli import tables
    from ackclock.reproduction.shown import published

    papers = {paper.name: paper for paper, _ in chosen}.values()
    rows = published.overview(papers, published.folders(papers))
    wanted = {f"{paper.name}/{artefact.name}" for paper, artefact in chosen}
    rows = [row for row in rows if row["artefact"] in wanted]
    if as_json:
        print(json.dumps({"artefacts": rows}, indent=2, ensure_ascii=False))
    else:
        tables.print_published(rows)


def _described(
    record: ArtefactRecord, papers: Mapping[str, Paper], records: Sequence[ArtefactRecord]
) -> dict[str, object]:
    """Return a record with its class and its group, and with its main claim as the records decide it."""
    from ackclock.reproduction.shown import classes, telling
    from ackclock.reproduction.trials import exchanges

    known = papers[record["paper"]].exchanges
    classified = classes.classify(papers[record["paper"]], records)[record["name"]]
    main = None
    if classified.main is not None:
        ids = [claim["id"] for claim in classified.stated]
        main = {"claim": classified.main.claim, "ids": ids, "holds": classified.holds}
        main["exchange"] = telling.of_main(known, classified) or None
    claims = [{**claim, "exchange": exchanges.record(known, claim["id"])} for claim in record["claims"]]
    return {
        **record,
        "claims": claims,
        "class": classified.name,
        "group": classified.group,
        "main_claim": main,
    }


def _refuse_unknown(targets: tuple[str, ...]) -> None:
    """Refuse unknown papers before the known ones are imported, which takes seconds."""
    from ackclock.names import hint
    from ackclock.reproduction import library

    names = library.product()
    for target in targets:
        name = target.partition("/")[0]
        if names and name not in names and library.folder_of(target) is None:
            unknown = f"unknown paper {name or target}: {hint(name, names)}"
            problem = f"there is no {library.DATA} in {target}" if Path(target).is_dir() else unknown
            raise click.ClickException(problem if "/" not in target else f"{problem}, or a folder")
