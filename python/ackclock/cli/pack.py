"""The verb that packs a result for another machine."""

from __future__ import annotations

import json
import shlex
import zipfile
from collections.abc import Iterator
from pathlib import Path

import click

from ackclock import engine
from ackclock.cli import options, verify
from ackclock.engine import integrity, storage
from ackclock.runs.store import CACHE
from ackclock.sweeps.exports import EXPERIMENT, PLAN

SCRIPT = "run.sh"
SAME = """
set -eu
cd "$(dirname "$0")"
ackclock verify .
same() { # FOLDER RUNS DIGEST...
    folder=$1; runs=$2; shift 2
    text=$(cd "$folder" && ackclock simulate scenario.toml --runs "$runs" --json)
    for digest; do
        case "$text" in *"$digest"*) ;; *) echo "$folder: the digest is not $digest"; exit 1 ;; esac
    done
}
"""
DATE = (1980, 1, 1, 0, 0, 0)
"""Date of every file in an archive, the first that its format knows: the same result gives the same bytes."""


@click.command()
@click.argument("directory", type=options.PATH, metavar="DIR", help="Directory of the result.")
@click.option(
    "-o", "--output", type=options.PATH, metavar="FILE", help="Archive to write; by default DIR.zip."
)
@click.option("--force", is_flag=True, help="Replace an earlier archive.")
@options.as_json
def pack(directory: Path, output: Path | None, force: bool, as_json: bool) -> None:
    """Pack a result into an archive that runs again on another machine.

    The archive holds every file of the result that has a checksum, among them the traces and your own
    controls, and run.sh, which checks the files and simulates the scenarios again. Kept runs (.cache) are
    left out. The result must be unchanged.

    \b
    Examples:
      ackclock pack results -o results.zip
      unzip results.zip && sh results/run.sh
    """
    directory = directory.resolve()
    file = directory.with_name(f"{directory.name}.zip") if output is None else output
    if not directory.is_dir():
        raise click.ClickException(f"{directory} is not a directory")
    if file.exists() and not force:
        raise click.ClickException(f"{file} exists; --force replaces it")
    names = _files(directory)
    script = _script(directory, names)
    with storage.sealed_file(file) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name in names:
            _add(archive, f"{directory.name}/{name}", (directory / name).read_bytes(), 0o644)
        _add(archive, f"{directory.name}/{SCRIPT}", script.encode(), 0o755)
    if as_json:
        print(json.dumps({"file": str(file), "files": [*names, SCRIPT], "bytes": file.stat().st_size}))
    else:
        print(f"{file}: {len(names) + 1} files, {file.stat().st_size / 1e6:.1f} MB")
        print(
            f"Run it again with: unzip {shlex.quote(file.name)} && sh {shlex.quote(directory.name)}/{SCRIPT}"
        )


def _files(directory: Path) -> list[str]:
    """Return the files with checksums in a directory and below it; raise ScenarioError if one was changed."""
    names: set[str] = set()
    for result in verify.results(directory):
        path = Path(result.path)
        if CACHE in path.relative_to(directory).parts:
            continue
        if result.problems:
            raise engine.ScenarioError(f"{path}: {result.problems[0]}")
        names.update(file.relative_to(directory).as_posix() for file in path.glob("part-*.parquet"))
        if result.kind == "directory":
            own = (*(integrity.listed(path) or ()), integrity.CHECKSUMS)
            names.update((path / name).relative_to(directory).as_posix() for name in own)
    if not names:
        raise engine.ScenarioError(f"{directory} holds no result; ackclock simulate FILE -o DIR writes one")
    return sorted(names)


def _script(directory: Path, names: list[str]) -> str:
    """Return the script that checks the files and simulates the scenarios again."""
    lines = [
        "#!/bin/sh",
        f"# Checks this result of ackclock {engine.__version__}, and simulates its scenarios again.",
        SAME.strip(),
        *_reruns(directory, names),
        'echo "everything is as it was"',
    ]
    return "\n".join(lines) + "\n"


def _reruns(directory: Path, names: list[str]) -> Iterator[str]:
    """Yield a command for the runs of each scenario."""
    runs: dict[str, list[tuple[str, str]]] = {}
    for name in names:
        path = Path(name)
        if path.name == "summary.json" and f"{path.parent / 'scenario.toml'}" in names:
            summary = json.loads((directory / path).read_text("utf-8"))
            # Several runs of a scenario lie next to each other.
            group = path.parent.parent if path.parent.name.startswith("run-") else path.parent
            runs.setdefault(group.as_posix(), []).append((path.parent.as_posix(), summary["digest"]))
        elif path.parent.name == f"{PLAN}{path.stem}" and path.suffix == ".toml":
            home = path.parent.with_name(f"{EXPERIMENT}{path.stem}")
            # Its own controls are found from the folder of the plan.
            yield "again=$(mktemp -d)"
            yield f'(cd {shlex.quote(path.parent.as_posix())} && ackclock sweep {path.name} -o "$again")'
            copy = f'"$again/{EXPERIMENT}{path.stem}"'
            yield f'ackclock diff {shlex.quote(home.as_posix())} {copy} | grep "nothing: the same"'
            yield 'rm -r "$again"'
        elif path.parent.name == "scenarios" and path.suffix == ".json":
            folder, file = shlex.quote(path.parent.as_posix()), shlex.quote(path.name)
            yield f"(cd {folder} && ackclock simulate {file} --quiet)"
    for several in runs.values():
        words = [several[0][0], str(len(several)), *(digest for _, digest in several)]
        yield f"same {shlex.join(words)}"


def _add(archive: zipfile.ZipFile, name: str, content: bytes, mode: int) -> None:
    entry = zipfile.ZipInfo(name, DATE)
    entry.external_attr = mode << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)
