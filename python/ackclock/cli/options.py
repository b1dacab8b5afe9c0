"""Options and arguments that several verbs have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[Path, typer.Argument(metavar="FILE", help="Scenario; - is standard input.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set a key, as in flow.0.rtt=80ms."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Parallel runs; by default one per core.")
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster at ADDRESS."),
]
