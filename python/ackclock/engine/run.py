"""A finished run: its summary, its tables over time, and metrics and pictures of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock import summary as summaries
from ackclock.engine.results import MEASURED, PAGE, TABLES, names_of_run, new_result
from ackclock.summary import Summary, as_json, columns, flows_table

if TYPE_CHECKING:
    import polars as pl

    from ackclock.draw.run import Pictures

MOST_ROWS = 20
"""Largest number of flows that a notebook shows of a run."""


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run.

    Attributes
    ----------
    summary : dict
        The output of ``ackclock simulate --json`` without `wall_s`.
    scenario : str
        The scenario as run, every default filled in, as TOML.
    tables : dict
        Columns by table, from the engine or from disk; empty if the run was not recorded.
    files : mapping of str to bytes
        Files that the scenario needs, by their names in the folder of the result: traces, and those of
        controls of one's own.
    """

    summary: Summary
    scenario: str
    tables: Mapping[str, Any]
    files: Mapping[str, bytes] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Run of {self._about()}, digest {self.digest}>"

    def _about(self) -> str:
        from collections import Counter

        counts = Counter(self.flows["controller"])
        flows = ", ".join(f"{count} {name}" for name, count in list(counts.items())[:4])
        more = ", ..." if len(counts) > 4 else ""
        return f"{self.summary['duration_s']:g} s: {flows}{more}"

    def _repr_html_(self) -> str:
        """Return the card that a notebook shows: the flows and the available pictures."""
        from ackclock.draw.card import card

        shown = ("name", "controller", "goodput_mbps", "mean_window", "mean_rtt_ms", "loss_events")
        flows = self.summary["flows"]
        rows = [[flow.get(key) for key in shown] for flow in flows[:MOST_ROWS]]
        left = len(flows) - len(rows)
        lines = [f"{left} more flows are in run.flows"] if left else []
        if self.tables:
            lines.append("run.plot.overview() draws it; run.metrics has every metric")
        heads = ["flow", "control", "Mbit/s", "mean window", "mean RTT, ms", "loss events"]
        return card(f"Run of {self._about()}", lines, heads, rows)

    def to_latex(self) -> str:
        """Write the flows as a table for LaTeX, with the rules of booktabs.

        Returns
        -------
        str
            A tabular with goodput (Mbit/s), mean window (packets), mean RTT (ms), loss
            events, and the profile of the senders.
        """
        from ackclock.draw import latex
        from ackclock.summary import profiles

        shown = ("name", "controller", "goodput_mbps", "mean_window", "mean_rtt_ms", "loss_events")
        heads = ["flow", "control", "Mbit/s", "window", "RTT (ms)", "loss events"]
        rows = [[flow.get(key) for key in shown] for flow in self.summary["flows"]]
        return latex.table(heads, rows, profile=profiles(self.summary["flows"]))

    def to_html(self) -> str:
        """Return the run as a page that can be mailed: interactive curves, and numbers.

        Returns
        -------
        str
            HTML that needs no other file and no network.
        """
        from ackclock.draw.run_page import page
        from ackclock.engine import controls

        names = self.flows["controller"].unique(maintain_order=True).to_list()
        return page(self, self._about(), controls.follows(names))

    @property
    def digest(self) -> str:
        """Fingerprint of all events of the run: 16 hexadecimal digits."""
        return str(self.summary["digest"])

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow: the summary, with `limited_by_*`, and counters from time 0, `whole_run_*`."""
        return flows_table(self.summary["flows"])

    @cached_property
    def windows(self) -> pl.DataFrame:
        """Per flow and sampling time: window (packets), ssthresh, rtt_ms, control internals."""
        return self._table("windows")

    @cached_property
    def queues(self) -> pl.DataFrame:
        """Per link and sampling time: queue (packets), drops, marks, utilisation."""
        return self._table("queues")

    def windows_of(self, flow: int) -> pl.DataFrame:
        """Return the rows of `windows` of a flow.

        Parameters
        ----------
        flow : int
            Number of the flow, ``id`` in the summary.

        Returns
        -------
        polars.DataFrame
            Its samples in the order of time; empty without any.
        """
        return self._windows_by_flow.get((flow,), self.windows.clear())

    def queues_of(self, link: int) -> pl.DataFrame:
        """Return the rows of `queues` of a link.

        Parameters
        ----------
        link : int
            Number of the link, ``link`` in the table.

        Returns
        -------
        polars.DataFrame
            Its samples in the order of time; empty without any.
        """
        return self._queues_by_link.get((link,), self.queues.clear())

    # Divided once: a query for each flow reads all rows again and costs as much as thousands of packets.
    @cached_property
    def _windows_by_flow(self) -> dict[tuple[Any, ...], pl.DataFrame]:
        return self.windows.partition_by("flow", as_dict=True)

    @cached_property
    def _queues_by_link(self) -> dict[tuple[Any, ...], pl.DataFrame]:
        return self.queues.partition_by("link", as_dict=True)

    @cached_property
    def events(self) -> pl.DataFrame:
        """Loss events, timeouts, starts and ends of flows, with the window before and after."""
        return self._table("events")

    @cached_property
    def requests(self) -> pl.DataFrame:
        """Requests, pages and finite transfers: flow, start_s, bytes, completion_s."""
        return self._table("requests")

    @cached_property
    def changes(self) -> pl.DataFrame:
        """Every change of a window, for a run that was measured in the kernel."""
        return self._table("changes")

    @cached_property
    def metrics(self) -> pl.DataFrame:
        """Every standard metric with its 95 % interval over batches: `metrics.overview`."""
        from ackclock.metrics import overview

        return overview([self])

    @cached_property
    def plot(self) -> Pictures:
        """Pictures of the run: ``run.plot.window()`` gives a Matplotlib figure."""
        from ackclock.draw.run import Pictures

        return Pictures(self)

    def _table(self, name: str) -> pl.DataFrame:
        import polars as pl

        if name not in self.tables:
            raise ValueError(f"the run has no table of {name}: simulate with record=True")
        return pl.DataFrame(self.tables[name]).fill_nan(None)

    @classmethod
    def read(cls, directory: Path | str, *, checked: bool = True) -> Run:
        """Read a run that `save` or ``ackclock simulate -o`` wrote, as Parquet or CSV.

        Parameters
        ----------
        directory : Path or str
            Directory of the result.
        checked : bool
            Whether every file must match its checksum; False reads results without checksums.

        Returns
        -------
        Run
            The run, without tables if it was not recorded.

        Raises
        ------
        OSError
            If a file cannot be read.
        DamagedError
            If a file is missing or was changed, or there are no checksums.
        """
        import polars as pl

        from ackclock.engine import elsewhere, integrity

        directory = Path(directory)
        if checked:
            integrity.check(directory)
        # Right checksums do not say that this program wrote the files.
        damage = (ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException)
        tables = {}
        try:
            for name in (*TABLES[1:], MEASURED):
                parquet, csv = (directory / f"{name}.{ending}" for ending in ("parquet", "csv"))
                if parquet.exists():
                    tables[name] = pl.read_parquet(elsewhere.read(parquet))
                elif csv.exists():
                    tables[name] = _read_csv(elsewhere.read(csv), name)
            summary = summaries.checked(elsewhere.parsed(elsewhere.read(directory / "summary.json")))
            every = {
                file.relative_to(directory).as_posix(): file
                for file in sorted(directory.rglob("*"))
                if file.is_file()
            }
            files = {name: elsewhere.read(every[name]) for name in every if name not in names_of_run()}
            scenario = elsewhere.read(directory / "scenario.toml").decode()
            tomllib.loads(scenario)
        except (*damage, RecursionError) as error:
            problem = " ".join(f"{error}".split()) or type(error).__name__
            raise integrity.DamagedError(f"{directory} holds no result of this program: {problem}") from error
        return cls(summary, scenario, tables, files)

    def write(self, directory: Path, *, csv: bool = False, tables: bool = True) -> None:
        """Write the files of the run into `directory`, which is created if necessary.

        Parameters
        ----------
        directory : Path
            Directory to write to.
        csv : bool
            Write CSV instead of Parquet.
        tables : bool
            False omits the tables over time.

        Raises
        ------
        OSError
            If a file cannot be written; files written before remain.
        """
        from ackclock.engine import storage

        directory.mkdir(exist_ok=True)
        measured = (MEASURED,) if MEASURED in self.tables else ()
        for name in (*TABLES, *measured) if tables else ("flows",):
            storage.write_table(getattr(self, name), directory, name, csv=csv)
        with (directory / "summary.json").open("w", encoding="utf-8") as file:
            file.writelines(as_json(self.summary, indent=2))
            file.write("\n")
        (directory / "scenario.toml").write_text(self.scenario, encoding="utf-8")
        storage.write_files(directory, self.files)

    def write_page(self, directory: Path) -> None:
        """Write the page of the run, ``index.html``, next to the files of `write`.

        Parameters
        ----------
        directory : Path
            Directory to write to.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        (directory / PAGE).write_text(self.to_html(), encoding="utf-8")

    def save(self, directory: Path | str, *, csv: bool = False, force: bool = False) -> None:
        """Write the tables, summary.json, scenario.toml and the page index.html, or nothing.

        Parameters
        ----------
        directory : Path or str
            Directory to write to.
        csv : bool
            Write CSV instead of Parquet.
        force : bool
            Replace any previous result. Without it only that of the same run is replaced, and another one
            is set aside as ``NAME.1`` and so on.

        Raises
        ------
        StorageError
            If the directory holds other files or cannot be written.
        """
        with new_result(Path(directory), force=force) as temporary:
            self.write(temporary, csv=csv)
            self.write_page(temporary)


def _read_csv(file: bytes, name: str) -> pl.DataFrame:
    """Read a table with the column types of Parquet, even where a column is empty."""
    import polars as pl

    if name == MEASURED:
        return pl.read_csv(file, infer_schema_length=None)
    kinds = {float: pl.Float64(), str: pl.String(), int: pl.Int64()}
    known = {column: kinds[kind] for column, kind in columns(name).items()}
    text = pl.read_csv(file, infer_schema=False)
    # Unknown columns are internals of a control.
    return text.cast({column: known.get(column, pl.Float64()) for column in text.columns})
