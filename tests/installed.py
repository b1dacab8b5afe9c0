"""The commands of the README, run with the installed package: `make wheel-test` runs it.

It runs in an empty directory, by the interpreter of a fresh environment that has only the wheel.
"""

import os
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
INSTALLING = ROOT / "docs" / "installing.md"
SHOWN = runpy.run_path(str(ROOT / "docs" / "readme.py"))


def first_picture(text: str) -> list[str]:
    """Return the commands that lead from a bare machine to a picture; `make wheel-test` did the first."""
    lines = text.split("to a first picture\n", 1)[1].split("\n\n")[1].splitlines()
    install, *others = [re.split(r"\s#", line)[0].strip() for line in lines]
    if install != "pip install dist/ackclock-*.whl" or len(others) != 2:
        sys.exit(f"docs/installing.md says something else: {lines}")
    return others


def main() -> None:
    """Run all of them until one fails."""
    text = README.read_text(encoding="utf-8")
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory() as directory:

        def run(command: str, **options: object) -> None:
            print(command, flush=True)
            done = subprocess.run(
                ["bash", "-euc", command],
                cwd=directory,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                **options,
            )
            if done.returncode:
                told = done.stdout[-2000:] + done.stderr[-2000:]
                sys.exit(f"{command}: status {done.returncode}\n{told}")

        listed = [command for command, _ in SHOWN["commands"](text) if command.startswith("ackclock")]
        if len(listed) < 6:
            sys.exit(f"the README has {len(listed)} commands that can be run; are they written otherwise?")
        SHOWN["save_files"](text, Path(directory))
        place = f"{shlex.quote(sys.executable)} -c"
        installed = 'import ackclock; assert "site-packages" in ackclock.__file__'
        run(f"{place} {shlex.quote(installed)}")
        for command in first_picture(INSTALLING.read_text(encoding="utf-8")):
            run(command)
        if 'data-charts="run"' not in Path(directory, "first", "index.html").read_text(encoding="utf-8"):
            sys.exit("first/index.html has no picture")
        for command in listed:
            run(command)
        run("ackclock compare --rate 5mbit --rtt 20ms --duration 5s --runs 2 reno cubic")
        run("ackclock evaluate illinois --only iot")
        for program in ("link", "measure serve"):
            run(f"ackclock {program} --help")
    print("everything that the README says works")


if __name__ == "__main__":
    main()
