"""The verbs of the command line as functions; their values display themselves in a notebook.

>>> import ackclock
>>> ackclock.predict("response", ["reno"], loss=[0.01]).points.columns
['control', 'p', 'predicted', 'with_recovery']
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ackclock.differences import diff
from ackclock.engine.difference import Difference
from ackclock.predictions.subjects import SUBJECTS, function_of

if TYPE_CHECKING:
    import polars as pl

    from ackclock.comparison import Comparison
    from ackclock.draw.plots import Picture
    from ackclock.predictions import Prediction

__all__ = ["Difference", "compare", "diff", "evaluate", "plot", "predict", "reproduce"]


class Evaluation(Protocol):
    """An evaluation as shown in a notebook.

    Attributes
    ----------
    table : polars.DataFrame
        One row per criterion: section, criterion, verdict, the cell that decides it, and the metric
        of this cell with its value and the ends of its interval.
    failed : int
        Number of cells in which a run of the candidate failed.
    versions : sequence
        With a baseline, a result per criterion: its `verdict` against the earlier version.
    """

    @property
    def table(self) -> pl.DataFrame: ...

    @property
    def failed(self) -> int: ...

    @property
    def versions(self) -> Sequence[Any]: ...


def compare(
    *controls: str,
    rate: str | None = None,
    rtt: str | None = None,
    buffer: str | int | None = None,
    loss: str | None = None,
    queue: str | None = None,
    ecn: bool = False,
    path: str | None = None,
    scenario: Path | str | None = None,
    profile: str | None = None,
    flows: int = 1,
    duration: str | None = None,
    runs: int | None = None,
    budget: float = 4e8,
    seed: int | None = None,
    jobs: int | None = None,
    cache: Path | str | None = None,
) -> Comparison:
    """Compare congestion controls on one path by the usual metrics.

    Parameters
    ----------
    *controls : str
        Names; your own controls as ``module:Class``, ``library.so:name``, or as registered.
    rate, rtt, loss : str, optional
        Rate, RTT and random loss of the bottleneck, as on the command line; by default 100 Mbit/s,
        100 ms and no loss, or the values of `path` or `scenario`.
    buffer : str or int, optional
        Buffer such as ``"2bdp"``, ``"100ms"``, ``"3MB"`` or packets; by default the
        bandwidth-delay product.
    queue : str, optional
        Queue discipline of the bottleneck, such as ``"codel"``. For several queues and buffers see
        `ackclock.comparison.compare_grid`.
    ecn : bool
        Whether all flows can be marked; red, ared, codel, pie and fq_codel then mark and do not drop.
    path : str, optional
        Name of a path, such as ``"geo"``.
    scenario : Path or str, optional
        Scenario file with a dumbbell.
    profile : str, optional
        Defaults of the senders: ``"linux"`` (the default) or ``"ns2"``.
    flows : int
        Number of flows of each control.
    duration : str, optional
        Length of a run; by default four cycles of Reno.
    runs : int, optional
        Number of runs; each uses different random streams. By default they are made in groups until the
        questions of the first sentences are decided or hopeless, and five for a single control.
    budget : float
        Packets that may be simulated without `runs`; the first group of runs is always made.
    seed : int, optional
        Seed of the random streams; by default that of `scenario`, or 1.
    jobs : int, optional
        Runs at once; by default one per core.
    cache : Path or str, optional
        Directory in which finished runs are kept for the next comparison.

    Returns
    -------
    Comparison
        Answers to all questions: `table` is a frame, `to_latex` a table for a paper.

    Raises
    ------
    ValueError
        When the path cannot be read, or no control is given.
    ScenarioError, SimulationError
        The same errors as `simulate`.

    Examples
    --------
    >>> import ackclock
    >>> answers = ackclock.compare("reno", "cubic", rate="10mbit", rtt="20ms", duration="5s", runs=2)
    >>> answers.table["control"].unique(maintain_order=True).to_list()
    ['reno', 'cubic']
    """
    from ackclock import comparison
    from ackclock.comparison import options as paths

    if not controls:
        raise ValueError('name at least one control, as in compare("reno", "cubic")')
    setting = paths.of_options(
        path,
        None if scenario is None else Path(scenario),
        duration,
        rate=rate,
        rtt=rtt,
        buffer=None if buffer is None else str(buffer),
        loss=loss,
        queue=queue,
        ecn=ecn,
        profile=profile,
        flows=flows,
        runs=runs,
        seed=seed,
    )
    folder = None if cache is None else Path(cache)
    return comparison.compare(setting, controls, jobs, folder, budget=budget)


def evaluate(
    control: str,
    *,
    params: Mapping[str, object] | None = None,
    against: Sequence[str] = (),
    suites: Sequence[str] = ("rfc9743",),
    only: Sequence[str] = (),
    full: bool = False,
    seed: int = 1,
    baseline: Path | str | None = None,
    output: Path | str = "results",
    jobs: int | None = None,
    cluster: str | None = None,
) -> Evaluation:
    """Evaluate a congestion control against the criteria of RFC 9743, next to cubic-linux and Reno.

    Parameters
    ----------
    control : str
        Name; your own control as ``module:Class``, ``library.so:name``, or as registered.
    params : mapping, optional
        Parameters of the control that differ from the defaults.
    against : sequence of str
        Further controls for comparison.
    suites : sequence of str
        Suites of criteria: see ``ackclock evaluate --help``.
    only : sequence of str
        Evaluate only these criteria.
    full : bool
        Whether to make the long evaluation.
    seed : int
        Seed of the random streams.
    baseline : Path or str, optional
        An earlier version of the control, against which every criterion is judged as well: a control,
        or the folder of a kept evaluation. The results are in `versions`.
    output : Path or str
        Directory of the page, and of the numbers that are kept for the next evaluation.
    jobs : int, optional
        Runs at once; by default one per core.
    cluster : str, optional
        Address of a Dask scheduler.

    Returns
    -------
    Evaluation
        Verdicts and numbers: `table` is a frame. It includes the results of earlier evaluations with the
        same settings that are on the page.

    Raises
    ------
    KeyError
        When a suite or criterion is unknown.
    ScenarioError, SimulationError, StorageError
        When a run fails or the results cannot be written.

    Examples
    --------
    >>> import ackclock, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     evaluated = ackclock.evaluate("illinois", only=["wired"], output=folder)
    >>> evaluated.table["verdict"].to_list()  # doctest: +SKIP
    ['like']
    """
    # Imported by its name, because the core does not depend on satellites.
    written: Evaluation = importlib.import_module("ackclock_evaluate.verb").evaluate(
        control,
        params=params or {},
        against=against,
        suites=suites,
        only=only,
        full=full,
        seed=seed,
        baseline=baseline,
        output=Path(output),
        jobs=jobs,
        cluster=cluster,
    )
    return written


def plot(
    results: Path | str, x: str, y: str, hue: str | None = None, where: Mapping[str, object] | None = None
) -> Picture:
    r"""Draw the results of a sweep: a metric against a parameter, with 95 % intervals over runs.

    Parameters
    ----------
    results : Path or str
        A dataset, or part of a dataset.
    x, y : str
        Columns of the axes; a name may be shortened, ``goodput`` for ``goodput_mbps``.
    hue : str, optional
        One curve per value of this column.
    where : mapping, optional
        Use only the rows in which these columns have these values.

    Returns
    -------
    Figure
        The picture, which a notebook displays.

    Raises
    ------
    ValueError
        When there are no results, or they have no such column or value.

    Examples
    --------
    >>> import ackclock, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder)
    ...     _ = (path / "a.toml").write_text(ackclock.example())
    ...     text = 'scenario = "a.toml"\nparameters.rtt = { set = "flow.0.rtt", to = ["40 ms", "80 ms"] }\n'
    ...     _ = (path / "rtt.toml").write_text(text)
    ...     _ = ackclock.sweep(path / "rtt.toml", path / "results")
    ...     figure = ackclock.plot(path / "results", "rtt", "goodput")
    """
    from ackclock.sweeps import picture

    drawn: Picture = picture.draw(*picture.selected(results, x, y, hue, where or {}))
    return drawn


def predict(subject: str, *arguments: object, simulate: int = 0, **settings: object) -> Prediction:
    """Predict with the papers' formulas, next to simulated values on request.

    Parameters
    ----------
    subject : str
        One of `SUBJECTS`, which names a function of `ackclock.predictions`.
    *arguments
        Positional arguments of this function.
    simulate : int
        Number of runs of each point; with 0 nothing is simulated.
    **settings
        Keyword arguments of this function.

    Returns
    -------
    Prediction
        Its points are a frame; a notebook displays the picture.

    Raises
    ------
    ValueError
        When the subject is unknown.

    Examples
    --------
    >>> import ackclock
    >>> ackclock.predict("response", ["reno"], loss=[0.01]).points["control"].to_list()
    ['reno']
    """
    if subject not in SUBJECTS:
        from ackclock.names import hint

        raise ValueError(f"unknown subject {subject}: {hint(subject, SUBJECTS)}")
    if simulate:
        from ackclock.predictions import Simulation

        settings["simulation"] = Simulation(simulate)
    return function_of(subject)(*arguments, **settings)


def reproduce(
    *targets: str, quick: bool = True, output: Path | str = "results", jobs: int | None = None
) -> pl.DataFrame:
    """Reproduce figures and tables of papers, with a verdict for every claim.

    Parameters
    ----------
    *targets : str
        Papers or artefacts, as ``"bic"`` or ``"fit/table-iii"``, or folders of papers; by default everything.
    quick : bool
        Whether to make only headlines, with fewer seeds and shorter runs, instead of everything in full.
    output : Path or str
        Directory of the page, and of the runs that are kept for the next time.
    jobs : int, optional
        Runs at once; by default one per core.

    Returns
    -------
    polars.DataFrame
        One row per claim: artefact, its group, claim, verdict: it holds, does not hold, or is undecided.

    Raises
    ------
    LookupError
        When a paper or artefact is unknown; the message suggests one.

    Examples
    --------
    >>> import ackclock, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     claims = ackclock.reproduce("illinois/figure-1", output=folder)
    >>> claims["verdict"][0]
    'holds'
    """
    import polars as pl

    from ackclock.reproduction import library, make
    from ackclock.reproduction.claims import numbers
    from ackclock.reproduction.record import state
    from ackclock.reproduction.shown import classes

    papers, named = library.of_targets(targets)
    chosen = make.select(papers, named, headlines=quick)
    effort = numbers.QUICK if quick else numbers.FULL
    records = make.reproduce(chosen, Path(output), effort, jobs, papers=papers.values(), planned=True)
    classified = {
        f"{paper.name}/{name}": each
        for paper in papers.values()
        for name, each in classes.classify(paper, records).items()
    }
    rows = []
    for record in records:
        name = f"{record['paper']}/{record['name']}"
        artefact = {"artefact": name, "group": classified[name].group}
        claims = [{"claim": claim["claim"], "verdict": state(claim)} for claim in record["claims"]]
        rows += [artefact | claim for claim in claims] or [artefact]
    texts = dict.fromkeys(("artefact", "group", "claim", "verdict"), pl.String)
    return pl.DataFrame(rows, schema=texts)
