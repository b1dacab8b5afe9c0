"""What the command line does, as functions: their values show themselves in a notebook.

>>> import ackclock
>>> ackclock.predict("response", ["reno"], loss=[0.01]).points.columns
['control', 'p', 'predicted', 'with_recovery']
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ackclock.engine.difference import Difference, diff

if TYPE_CHECKING:
    import polars as pl

    from ackclock.comparison import Comparison
    from ackclock.draw.plots import Picture
    from ackclock.predictions import Prediction

__all__ = ["Difference", "compare", "diff", "evaluate", "plot", "predict", "reproduce"]

SUBJECTS = {
    "response": "response.predict",
    "unfairness": "unfairness.predict",
    "divergence": "unfairness.diverge",
    "period": "period.predict",
    "curves": "illinois.predict_curves",
    "gain": "illinois.predict_gain",
    "noise": "illinois.predict_noise",
    "share": "share.predict",
    "matrix": "matrix.predict",
    "fit": "fit.predict",
    "smoothness": "smoothness.predict",
    "processes": "smoothness.predict_processes",
    "timeouts": "timeouts.predict",
    "step": "step.predict",
}
"""What can be predicted: module and function of `ackclock.predictions`."""


class Evaluated(Protocol):
    """An evaluation, as a notebook shows it.

    Attributes
    ----------
    table : polars.DataFrame
        One row per criterion: section, criterion, verdict, the cell that decides it, and the metric
        there with its value and the ends of its interval.
    failed : int
        Number of cells in which a run of the candidate failed.
    """

    @property
    def table(self) -> pl.DataFrame: ...

    @property
    def failed(self) -> int: ...


def compare(
    *controls: str,
    rate: str | None = None,
    rtt: str | None = None,
    buffer: str | int | None = None,
    loss: str | None = None,
    queue: str | None = None,
    path: str | None = None,
    scenario: Path | str | None = None,
    profile: str | None = None,
    flows: int = 1,
    duration: str | None = None,
    runs: int = 5,
    jobs: int | None = None,
    cache: Path | str | None = None,
) -> Comparison:
    """Compare congestion controls on one path: the questions that everybody asks.

    Parameters
    ----------
    *controls : str
        Names; one's own as ``module:Class``, ``library.so:name``, or as registered.
    rate, rtt, loss : str, optional
        Of the bottleneck, as on the command line; by default 100 Mbit/s, 100 ms and no loss, or
        those of `path` or `scenario`.
    buffer : str or int, optional
        Such as ``"2bdp"``, ``"100ms"``, ``"3MB"`` or packets of 1000 bytes; by default the
        bandwidth-delay product.
    queue : str, optional
        Its discipline, such as ``"codel"``.
    path : str, optional
        A named path, such as ``"geo"``.
    scenario : Path or str, optional
        A scenario file with a dumbbell.
    profile : str, optional
        ``"linux"``, unless told otherwise, or ``"ns2"``.
    flows : int
        How many where a question has one.
    duration : str, optional
        Length of a run; by default four cycles of Reno.
    runs : int
        How many; each uses different random streams.
    jobs : int, optional
        Runs at once; by default one per core.
    cache : Path or str, optional
        Where finished runs are kept, for the next time.

    Returns
    -------
    Comparison
        The answers: `table` is a frame, `to_latex` a table for a paper.

    Raises
    ------
    ValueError
        When the path cannot be read, or there is no control.
    ScenarioError, SimulationError
        As `simulate`.
    """
    from ackclock import comparison
    from ackclock.comparison import path as paths
    from ackclock.comparison import quantities

    if not controls:
        raise ValueError('name at least one control, as in compare("reno", "cubic")')
    if path is not None and scenario is not None:
        raise ValueError("path and scenario are two paths; give one of them")
    given: dict[str, Any] = {
        "rate": rate,
        "rtt": rtt,
        "buffer": None if buffer is None else str(buffer),
        "loss": loss,
        "queue": None if queue is None else {"kind": queue},
        "profile": profile,
        "flows": flows,
        "runs": runs,
        "duration_s": None if duration is None else quantities.duration_s(duration),
    }
    if scenario is not None:
        setting = paths.of_file(Path(scenario), **given)
    elif path is not None:
        setting = paths.of_scenario({"path": path}, path, **given)
    else:
        setting = paths.of_numbers(**given)
    return comparison.compare(setting, controls, jobs, None if cache is None else Path(cache))


def evaluate(
    control: str,
    *,
    params: Mapping[str, object] | None = None,
    against: Sequence[str] = (),
    suites: Sequence[str] = ("rfc9743",),
    only: Sequence[str] = (),
    full: bool = False,
    seed: int = 1,
    output: Path | str = "results",
    jobs: int | None = None,
    cluster: str | None = None,
) -> Evaluated:
    """Judge a congestion control by what RFC 9743 asks of a new one, next to cubic-linux and Reno.

    Parameters
    ----------
    control : str
        A name; one's own as ``module:Class``, ``library.so:name``, or as registered.
    params : mapping, optional
        Its parameters where they are not the defaults.
    against : sequence of str
        Further controls to show beside it.
    suites : sequence of str
        What is asked: see ``ackclock evaluate --help``.
    only : sequence of str
        Only these criteria.
    full : bool
        The long version.
    seed : int
        Of the random streams.
    output : Path or str
        Where the page goes, and the numbers that are kept for the next time.
    jobs : int, optional
        Runs at once; by default one per core.
    cluster : str, optional
        Address of a Dask scheduler.

    Returns
    -------
    Evaluated
        Verdicts and numbers: `table` is a frame. What was asked before with the same settings and
        stands on the page, too, is in it.

    Raises
    ------
    KeyError
        When there is no such suite or criterion.
    ScenarioError, SimulationError, StorageError
        When a run fails or the results cannot be written.
    """
    # By its name: the laboratory knows no satellite.
    written: Evaluated = importlib.import_module("ackclock_evaluate.verb").evaluate(
        control,
        params=params or {},
        against=against,
        suites=suites,
        only=only,
        full=full,
        seed=seed,
        output=Path(output),
        jobs=jobs,
        cluster=cluster,
    )
    return written


def plot(
    results: Path | str, x: str, y: str, hue: str | None = None, where: Mapping[str, object] | None = None
) -> Picture:
    """Draw the results of a sweep: a metric against a parameter, with 95 % intervals over runs.

    Parameters
    ----------
    results : Path or str
        A dataset or part of one.
    x, y : str
        Columns; a name may be shortened, ``goodput`` for ``goodput_mbps``.
    hue : str, optional
        One curve per value of this column.
    where : mapping, optional
        Use only the rows in which these columns have these values.

    Returns
    -------
    Figure
        Which a notebook shows.

    Raises
    ------
    ValueError
        When there are no results, or a column or value is not in them.
    """
    from ackclock.sweeps import picture

    picture.refuse_damaged(results)
    table = picture.scan(results)
    across, up = picture.column(table, x), picture.column(table, y)
    kept = None if hue is None else picture.column(table, hue)
    if not table.collect_schema()[up].is_numeric():
        raise ValueError(f"not a column of numbers: {up}; choose another y")
    chosen = {name: str(value) for name, value in (where or {}).items()}
    drawn: Picture = picture.draw(picture.chosen(table, chosen), across, up, kept)
    return drawn


def predict(subject: str, *arguments: object, simulate: int = 0, **settings: object) -> Prediction:
    """Predict by the papers' formulas, beside the simulation if it is asked for.

    Parameters
    ----------
    subject : str
        One of `SUBJECTS`; the arguments are those of its function in `ackclock.predictions`.
    *arguments
        Of that function.
    simulate : int
        Runs of each point beside the formula; 0 simulates nothing.
    **settings
        Of that function.

    Returns
    -------
    Prediction
        Its points are a frame; a notebook shows the picture.

    Raises
    ------
    ValueError
        When there is no such subject.
    """
    if subject not in SUBJECTS:
        raise ValueError(f"there is no subject {subject}; there are {', '.join(SUBJECTS)}")
    module, function = SUBJECTS[subject].split(".")
    calculate = getattr(importlib.import_module(f"ackclock.predictions.{module}"), function)
    if simulate:
        from ackclock.predictions import Simulation

        settings["simulation"] = Simulation(simulate)
    made: Prediction = calculate(*arguments, **settings)
    return made


def reproduce(
    *targets: str, quick: bool = True, output: Path | str = "results", jobs: int | None = None
) -> pl.DataFrame:
    """Reproduce figures and tables of papers, with a verdict for every claim.

    Parameters
    ----------
    *targets : str
        As ``"bic"`` or ``"fit/table-iii"``; by default everything.
    quick : bool
        Only headlines, with fewer seeds and shorter runs; or everything in full.
    output : Path or str
        Where the page goes, and the runs that are kept for the next time.
    jobs : int, optional
        Runs at once; by default one per core.

    Returns
    -------
    polars.DataFrame
        One row per claim: artefact, verdict of the artefact, claim, verdict of the claim.

    Raises
    ------
    LookupError
        When there is no such paper or artefact; the message suggests one.
    """
    import polars as pl

    from ackclock.reproduction import make, numbers, paper

    papers = paper.every()
    chosen = make.select(papers, targets, headlines=quick)
    effort = numbers.QUICK if quick else numbers.FULL
    records = make.reproduce(chosen, Path(output), effort, jobs, papers=papers.values())
    rows = [
        {
            "artefact": f"{record['paper']}/{record['name']}",
            "verdict": record["verdict"],
            "claim": claim.get("claim"),
            "claim_verdict": claim.get("verdict"),
        }
        for record in records
        for claim in record.get("claims") or [{}]
    ]
    texts = dict.fromkeys(("artefact", "verdict", "claim", "claim_verdict"), pl.String)
    return pl.DataFrame(rows, schema=texts)
