"""Measures Linux 6.12 again and writes its tables beside this file.

A kernel of Debian's runs guest.py in an emulator whose time is counted in instructions: what the
machine does besides changes nothing.
"""

import argparse
import importlib.util
import lzma
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PACKAGE = r"linux-image-6\.12\..*-cloud-amd64-unsigned"
CONTROLS = ["highspeed", "dctcp", "bbr", "bic", "htcp", "hybla", "illinois", "westwood"]
MODULES = ["veth", "sch_netem", "sch_tbf", "sch_codel", *(f"tcp_{control}" for control in CONTROLS)]
STUDIES = {"windows": "guest", "marks": "marked", "shares": "shares", "bbr": "bbr", "functions": "functions"}
STUDIES |= {f"losses-{path}": f"lossy {path}" for path in "123"}
"""What is measured, and the file that does it."""
NEEDED = {"qemu-system-x86_64": "qemu-system-x86", "ip": "iproute2", "tc": "iproute2", "cpio": "cpio"}
"""Programs, and Debian's packages that have them."""
MEMORY = "2G"
LONGEST_S = 4 * 3600


def fetch(directory: Path) -> Path:
    """Let apt fetch a package of the kernel.

    Parameters
    ----------
    directory
        Where it is put.

    Returns
    -------
        The package.
    """
    search = ["apt-cache", "search", "--names-only", f"^{PACKAGE}$"]
    found = subprocess.run(search, capture_output=True, text=True, check=True).stdout.split("\n")
    names = [line.split()[0] for line in found if line]
    if not names:
        sys.exit("apt has no Linux 6.12: add bookworm-backports or trixie, or name a package")
    newest = max(names, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
    subprocess.run(["apt-get", "download", "--quiet", newest], cwd=directory, check=True)
    return next(directory.glob("*.deb"))


def libraries(program: Path) -> set[Path]:
    """Find the libraries that a program needs.

    Parameters
    ----------
    program
        An executable or a library.

    Returns
    -------
        Their paths, as the loader has them.
    """
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", done.stdout)}


def fill(root: Path, modules: Path) -> None:
    """Make the file system of the guest: Python, ip, tc, and modules in the order of loading.

    Parameters
    ----------
    root
        An empty directory.
    modules
        The folder of the kernel's modules.
    """
    python = Path(sys.executable).resolve()
    programs = {python, *(Path(str(shutil.which(name))).resolve() for name in ("ip", "tc"))}
    library = Path(sysconfig.get_path("stdlib"))
    ignored = shutil.ignore_patterns("test", "*-packages", "__pycache__", "config-*")
    shutil.copytree(library, root / library.relative_to("/"), ignore=ignored)
    extension = importlib.util.find_spec("_ctypes")
    ctypes = Path(str(extension.origin if extension else ""))
    files = programs | {needed for file in programs | {ctypes} for needed in libraries(file)}
    for file in files:
        place = root / file.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    for name in ("ip", "tc"):
        (root / "bin").mkdir(exist_ok=True)
        (root / "bin" / name).symlink_to(Path(str(shutil.which(name))).resolve())
    for script in HERE.glob("*.py"):
        shutil.copy(script, root)
    (root / "modules").mkdir()
    for number, name in enumerate(MODULES):
        packed = next(modules.rglob(f"{name}.ko.xz"))
        (root / "modules" / f"{number}-{name}.ko").write_bytes(lzma.decompress(packed.read_bytes()))


def measure(study: str, package: Path, directory: Path) -> dict[str, str]:
    """Run the measured kernel.

    Parameters
    ----------
    study
        Of `STUDIES`.
    package
        A package of Debian's with a kernel.
    directory
        For files that are needed meanwhile.

    Returns
    -------
        The tables that the guest wrote, by the names of their files.
    """
    kernel, root, image, table = (directory / name for name in ("kernel", "root", "image", "table"))
    subprocess.run(["dpkg-deb", "--extract", package, kernel], check=True)
    fill(root, kernel / "lib" / "modules")
    with image.open("wb") as out:
        names = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
        pack = ["cpio", "--create", "--format=newc", "--quiet"]
        subprocess.run(pack, cwd=root, input=names, stdout=out, check=True)
    python = Path(sys.executable).resolve()
    command: list[str | Path] = [
        "qemu-system-x86_64",
        "-accel",
        "tcg",
        "-icount",
        "shift=0,sleep=off",
        "-rtc",
        "clock=vm",
        "-m",
        MEMORY,
        "-nodefaults",
        "-nographic",
        "-no-reboot",
        "-serial",
        "stdio",
        "-serial",
        f"file:{table}",
        "-kernel",
        next((kernel / "boot").glob("vmlinuz-*")),
        "-initrd",
        image,
        "-append",
        f"console=ttyS0 panic=-1 quiet PYTHONHASHSEED=0 rdinit={python} -- /guest.py " + STUDIES[study],
    ]
    environment = os.environ | {"LC_ALL": "C"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=LONGEST_S, env=environment
    )
    text = table.read_text().replace("\r", "") if table.exists() else ""
    if not text.endswith("# end\n"):
        sys.exit(f"the guest did not come to its end:\n{done.stdout}{done.stderr}")
    tables = text.removesuffix("# end\n").split("@ ")[1:]
    return dict(table.split("\n", 1) for table in tables)


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", nargs="?", type=Path, help="a kernel; by default from apt")
    parser.add_argument("--only", choices=STUDIES, help="one study; by default all")
    options = parser.parse_args()
    if missing := {package for name, package in NEEDED.items() if not shutil.which(name)}:
        sys.exit(f"missing: apt-get install {' '.join(sorted(missing))}")
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        package = options.package.resolve() if options.package else fetch(scratch)
        for study in [options.only] if options.only else STUDIES:
            (scratch / study).mkdir()
            for name, text in measure(study, package, scratch / study).items():
                (HERE / name).write_text(text)


if __name__ == "__main__":
    main()
