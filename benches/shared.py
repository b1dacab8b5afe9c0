"""Parts that the benches share: the command, campaigns over the emulated link, tables in pages."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ackclock.engine import build

ROOT = Path(__file__).resolve().parent.parent
KERNEL_PAGE = ROOT / "docs" / "kernel.md"
COMMAND = str(Path(sys.executable).parent / "ackclock")
SERVER = "10.77.0.2"
"""The sender's address on the emulated link."""


def run(*command: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run a command that must succeed; return its output."""
    return subprocess.run(command, check=True, text=True, capture_output=True, **settings)


@contextmanager
def loaded(*controls: str) -> Iterator[None]:
    """Load controls into the kernel for the duration of the block, and always unload them."""
    try:
        run(COMMAND, "kernel", "load", *controls)
        yield
    finally:
        # A load that failed may have loaded some.
        run(COMMAND, "kernel", "unload", *controls)


def path(rate: str, rtt_ms: float, queue: int, loss: float) -> dict[str, Any]:
    """Return a dumbbell with a queue in packets and random losses."""
    random = {"loss": {"kind": "bernoulli", "rate": loss}} if loss else {}
    delay, limit = build.milliseconds(rtt_ms / 2), build.packets(queue)
    dumbbell: dict[str, Any] = build.dumbbell(rate, delay, limit, **random)["dumbbell"]
    return dumbbell


def put(page: Path, name: str, target: str, lines: Sequence[str]) -> None:
    """Replace the text between the marks of a part of a page."""
    begin, end = f"<!-- {name}: made by `make {target}` -->", f"<!-- end of {name} -->"
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    page.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}", "utf-8")


def campaign(
    turns: Sequence[str],
    period_s: int,
    measured_from_s: int,
    link: Sequence[str] | None,
    transport: Sequence[str] = (),
) -> dict[str, float]:
    """Let controls take one turn each by `ackclock measure`.

    Parameters
    ----------
    turns
        Names of the controls, as the server calls them.
    period_s, measured_from_s
        Length of a turn, and when measuring begins in it, seconds.
    link
        Options of `ackclock link`; over loopback without.
    transport
        Options that server and client share.

    Returns
    -------
    dict
        Goodput by control, Mbit/s.
    """
    from ackclock_paths import campaign

    with tempfile.TemporaryDirectory() as folder:
        token, output = Path(folder) / "token", Path(folder) / "campaign"
        run(COMMAND, "measure", "token", str(token))
        serve = [
            COMMAND,
            "measure",
            "serve",
            *transport,
            "--token",
            str(token),
            "--controls",
            ",".join(turns),
            "--log",
            str(Path(folder) / "server.jsonl"),
        ]
        fetch = [
            COMMAND,
            "measure",
            "run",
            *transport,
            "--token",
            str(token),
            "-o",
            str(output),
            "--period",
            f"{period_s}s",
            "--duration",
            f"{period_s * len(turns)}s",
        ]
        if link is None:
            serving = [*serve, "--listen", "127.0.0.1:0"]
            with subprocess.Popen(serving, stderr=subprocess.PIPE, text=True) as server:
                # "Listening on ADDRESS, ..."
                address = server.stderr.readline().split()[2].strip(",;")  # type: ignore[union-attr]
                try:
                    run(*fetch, address)
                finally:
                    server.terminate()
        else:
            run(COMMAND, "link", *link, "--server", " ".join(serve), "--", *fetch, SERVER)
        samples = campaign.read(output).samples.filter(pl.col("side") == "client")
    goodputs = {}
    for (control,), own in samples.group_by("control"):
        after = own.filter(pl.col("second") >= measured_from_s - 0.5).sort("second")
        spans = after["second"].to_numpy()[[0, -1]]
        sizes = after["received_bytes"].to_numpy()[[0, -1]]
        goodputs[str(control)] = float(np.diff(sizes)[0] * 8e-6 / np.diff(spans)[0])
    return goodputs
