"""Controls of other crates: what their code does wrong is the failure of its run, in one line."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from conftest import BOTTLENECK, Finished

ROOT = Path(__file__).resolve().parent.parent
CRATES = ROOT / "crates"
pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="needs cargo")

MANIFEST = """\
[package]
name = "faulty"
version = "0.1.0"
edition = "2024"
[lib]
crate-type = ["cdylib"]
[dependencies]
ackclock-cc = {{ path = "{crates}/ackclock-cc" }}
[workspace]
"""
CODE = """\
use ackclock_cc::parts::Base;
use ackclock_cc::units::{Time, Window};
use ackclock_cc::{Controller, Decision, Signal, Start};
ackclock_cc::parameters! {
    /// What goes wrong.
    pub struct FaultyParams {
        /// panics in the constructor
        new: bool = false, Domain::Flag;
        /// the window after a loss event; 0 for a panic
        window: f64 = 0.0, Domain::Number { minimum: -1.0, maximum: 1e400 };
    }
}
/// A control.
#[derive(Clone, Debug)]
pub struct Faulty(FaultyParams, Base, Option<f64>);
impl Controller for Faulty {
    type Params = FaultyParams;
    fn new(params: FaultyParams, start: Start) -> Self {
        assert!(!params.new, "never\\nmade");
        Faulty(params, Base::new(start), None)
    }
    fn on(&mut self, _: Time, signal: Signal) {
        if let Signal::Loss { .. } = signal {
            assert!(self.0.window != 0.0, "a packet is lost");
            self.2 = Some(self.0.window);
        }
        self.1.react(signal, 0.5);
        if let Signal::Ack(ack) = signal { self.1.slow_start(&ack); }
    }
    fn decision(&self) -> Decision {
        let decision = self.1.decision();
        Decision { window: self.2.map_or(decision.window, Window), ..decision }
    }
}
ackclock_cc::library! { "faulty", "a test" => Faulty; }
"""
PATH = f"""
[run]
duration = "1 s"
{BOTTLENECK}
[[flow]]
controller = "libfaulty.so:faulty"
rtt = "20 ms"
"""
SWEEP = """
scenario = "path.toml"
[parameters]
control = { set = "flow.0.controller", to = ["reno", "libfaulty.so:faulty", "cubic"] }
"""


def build(place: Path, crates: Path, target: Path) -> Path:
    """Build the library, without a registry; what does not change is kept between tests."""
    (place / "src").mkdir(parents=True)
    (place / "Cargo.toml").write_text(MANIFEST.format(crates=crates))
    (place / "src" / "lib.rs").write_text(CODE.replace("1e400", "f64::MAX"))
    shutil.copy(ROOT / "rust-toolchain.toml", place)
    done = subprocess.run(
        ["cargo", "build", "--quiet", "--offline", "--target-dir", str(target)],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target / "debug" / "libfaulty.so"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("faulty")
    return build(place, CRATES, place / "target")


@pytest.fixture
def place(tmp_path: Path, library: Path) -> Path:
    """Give a directory with the library, a scenario and a sweep."""
    shutil.copy(library, tmp_path)
    (tmp_path / "path.toml").write_text(PATH)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("window=0", "panicked at src/lib.rs:24:13: a packet is lost"),
        ("window=-1", "has a window of -1; a window is a finite number of packets, at least 1"),
        ("new=true", "panicked at src/lib.rs:19:9: never made"),
    ],
)
@pytest.mark.usefixtures("place")
def test_simulate_fails_in_one_line(ackclock: Callable[..., Finished], setting: str, problem: str) -> None:
    done = ackclock("simulate", "path.toml", "--set", f"flow.0.params.{setting}")
    assert done.returncode == 1
    # Found in the working directory, too, where the linker would not look.
    assert done.stderr == f"ackclock: libfaulty.so:faulty {problem}\n"


@pytest.mark.parametrize("where", ["--threads", "--processes"])
def test_a_panic_stops_no_other_run(ackclock: Callable[..., Finished], place: Path, where: str) -> None:
    done = ackclock("sweep", "sweep.toml", where, "--jobs", "2")
    assert (done.returncode, "5 runs failed" in done.stderr) == (1, True), done.stderr
    # The first cause, and not the report of the library that panics.
    assert done.stderr.count("panicked") == 1
    assert len(done.stderr.splitlines()) == 1
    table = pl.read_parquet(place / "results" / "experiment=sweep")
    failed = table.filter(pl.col("error").is_not_null())
    assert failed["control"].to_list() == ["libfaulty.so:faulty"] * 5
    assert all("a packet is lost" in error for error in failed["error"])


def test_a_library_of_other_sources_is_refused(ackclock: Callable[..., Finished], tmp_path: Path) -> None:
    """A field more in a type that crosses the border used to be read as garbage."""
    for name in ("ackclock-cc", "ackclock-units"):
        shutil.copytree(CRATES / name, tmp_path / "crates" / name)
    manifest = (ROOT / "Cargo.toml").read_text()
    (tmp_path / "Cargo.toml").write_text(
        manifest.split("default-members")[0] + manifest[manifest.index("[workspace.package]") :]
    )
    registry = tmp_path / "crates" / "ackclock-cc" / "src" / "registry.rs"
    text = registry.read_text()
    for old, new in (
        ("pub struct Entry {", "pub struct Entry {\n    /// New.\n    pub new: u64,"),
        ("Entry {\n            name,", "Entry {\n            new: 3,\n            name,"),
        ("Entry { name, kind", "Entry { new: 3, name, kind"),
    ):
        assert old in text
        text = text.replace(old, new)
    registry.write_text(text)
    library = build(tmp_path / "faulty", tmp_path / "crates", tmp_path / "target")
    shutil.copy(library, tmp_path)
    (tmp_path / "path.toml").write_text(PATH)
    done = ackclock("check", "path.toml")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "was built by ackclock-cc 0.1.0, sources " in done.stderr
