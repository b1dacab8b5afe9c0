"""Runs on other machines: the workers of a Dask cluster."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock import engine
from ackclock.engine import controls, storage
from ackclock.runs import progress
from ackclock.runs.live import OFF, Live
from ackclock.runs.tasks import Task, is_kept, keep

CONNECT_S = 10.0
"""How long a cluster may take to answer."""


@dataclass(frozen=True)
class Workers:
    """Where work is sent to.

    Attributes
    ----------
    executor : Executor
        Takes work.
    count : int
        How much is done at once.
    lost : tuple of type
        What an answer raises when its worker has died.
    """

    executor: Executor
    count: int
    lost: tuple[type[Exception], ...]


@contextmanager
def cluster(address: str, names: Sequence[str]) -> Iterator[Workers]:
    """Give the workers of a Dask cluster.

    Parameters
    ----------
    address : str
        Address of its scheduler, such as ``tcp://10.0.0.1:8786``.
    names : sequence of str
        Controls of the sweep; the modules that define them are sent along.

    Yields
    ------
    Workers
        Until the block ends.

    Raises
    ------
    ScenarioError
        When Dask is missing, no scheduler answers, or there are no workers.
    """
    try:
        import distributed
    except ImportError:
        raise engine.ScenarioError("--cluster needs Dask: pip install 'ackclock[cluster]'") from None
    try:
        make: Any = distributed.Client
        client = make(address, timeout=CONNECT_S)
    except (OSError, ValueError, TimeoutError) as error:
        raise engine.ScenarioError(
            f"no Dask scheduler answers at {address} ({type(error).__name__}); "
            "start one with dask scheduler, and give its address as tcp://HOST:PORT"
        ) from error
    with client:
        count = sum(client.nthreads().values())
        if count == 0:
            raise engine.ScenarioError(
                f"the cluster at {address} has no workers; start them with dask worker {address}"
            )
        for file in controls.files(names):
            client.upload_file(str(file))
        with client.get_executor(pure=False, retries=2) as executor:
            yield Workers(executor, count, (distributed.KilledWorker,))


def fetch(tasks: Sequence[Task], cache: Path, address: str, live: Live = OFF) -> None:
    """Make runs on a cluster and keep them here, as if they had been made here.

    Parameters
    ----------
    tasks : sequence of Task
        What to run; what is kept already is not run again, and what fails is left to be run, and to
        fail, here.
    cache : Path
        Directory of earlier runs, to which these are added.
    address : str
        Address of the scheduler.
    live : Live
        A page that shows how far it is.

    Raises
    ------
    ScenarioError
        When the cluster cannot be used; see `cluster`.
    """
    wanted = [task for task in dict.fromkeys(tasks) if not is_kept(task.place(cache))]
    names = sorted({name for task in wanted for name in task.scenario.controls})
    if not wanted:
        return
    bar = progress.Count(len(wanted), "runs", live=live)
    with cluster(address, names) as workers, bar:
        waiting = {workers.executor.submit(_files, task): task for task in wanted}
        for future in as_completed(waiting):
            bar.advance(1, failed=int(future.exception() is not None))
            if future.exception() is None:
                files = future.result()

                def fill(directory: Path, files: dict[str, bytes] = files) -> None:
                    for name, content in files.items():
                        storage.write(directory / name, content)

                keep(waiting[future].place(cache), fill)


def _files(task: Task) -> dict[str, bytes]:
    """Make a run and give its files."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "run"
        done = engine.simulate(task.scenario, run=task.run, record=task.record)
        with storage.new_directory(place, force=True, is_result=lambda _: True) as directory:
            done.write(directory, tables=task.record)
        return {file.name: file.read_bytes() for file in place.iterdir()}
