"""A scenario on a named path or on a path measured in a file, as with the option ``--path`` of verbs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ackclock.engine import build, catalogue, scenario
from ackclock.errors import ScenarioError


@dataclass(frozen=True)
class PathChoice:
    """A path that replaces the path of a scenario.

    Attributes
    ----------
    path : str
        A name such as ``geo``, or a file with a series of rates or a Mahimahi trace.
    rtt_ms : float, optional
        The round trip without queues, milliseconds; by default that of the path.
    buffer : str, optional
        The buffer as in ``compare``: ``250`` (packets), ``2bdp``, ``100ms`` or ``3MB``; by default that of
        the path.
    """

    path: str
    rtt_ms: float | None = None
    buffer: str | None = None

    @property
    def is_file(self) -> bool:
        """Whether it is a file rather than a named path."""
        return self.path.lower() not in catalogue.words("path")

    def put(self, written: Mapping[str, Any], file: str = "scenario") -> scenario.Scenario:
        """Return a scenario with this path in place of its ``[dumbbell]``, and of the RTTs of its flows.

        `written` are its tables, and `file` is its name in messages, from whose folder it names files. Raises
        ScenarioError when it has another topology, or the path cannot be read.
        """
        # A path is a single link; other topologies have the keys of their links in other tables.
        other = next((key for key in ("parking_lot", "link", "node") if key in written), None)
        if other is not None:
            raise ScenarioError(f"{file}: a path takes the place of a [dumbbell], and this one has a {other}")
        flows = [{key: flow[key] for key in flow if key != "rtt"} for flow in written.get("flow", ())]
        tables = dict(written) | {"flow": flows, "path": self._name(file), "dumbbell": self._delay()}
        read = self._read(tables, file)
        if self.buffer is None:
            return read
        queue = read.tables()["dumbbell"]["queue"] | {"limit": _limit(self.buffer)}
        return self._read(tables | {"dumbbell": self._delay() | {"queue": queue}}, file)

    def _name(self, file: str) -> str:
        # A scenario finds its files from its own folder, and a command from the one where it was typed.
        is_here = not self.is_file or Path(file).parent == Path()
        path = self.path if is_here else str(Path(self.path).resolve())
        # With a slash it is a file for the engine, too.
        is_bare = self.is_file and not any(mark in path for mark in "./\\") and Path(path).is_file()
        return f"./{path}" if is_bare else path

    def _delay(self) -> build.Table:
        return {} if self.rtt_ms is None else {"delay": build.milliseconds(self.rtt_ms / 2)}

    def _read(self, tables: Mapping[str, Any], file: str) -> scenario.Scenario:
        try:
            return scenario.parse(json.dumps(tables), file, is_json=True)
        except ScenarioError as error:
            if "says nothing of delays" in str(error):
                raise ScenarioError(f"{self.path} says nothing of delays; write e.g. --rtt 40ms") from error
            raise


def _limit(buffer: str) -> str:
    """Return a buffer as people write it in the words of a scenario."""
    return f"{buffer} packets" if buffer.strip().isdigit() else buffer
