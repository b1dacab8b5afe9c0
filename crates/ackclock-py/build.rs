//! The name of the engine: a hash of the sources that decide the results of a run. Pages of documentation and tests are
//! not among them, so an edited page leaves results of earlier runs valid; a compiler or a machine is not either.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// What decides, relative to the workspace: files, and folders whose sources count.
const SOURCES: &[&str] = &[
    "Cargo.lock",
    "crates/ackclock-cc/build.rs",
    "crates/ackclock-cc/sources.rs",
    "crates/ackclock-cc/src",
    "crates/ackclock-kernel/bpf",
    "crates/ackclock-kernel/build.rs",
    "crates/ackclock-kernel/src",
    "crates/ackclock-py/build.rs",
    "crates/ackclock-py/src",
    "crates/ackclock-quic/src",
    "crates/ackclock-scenario/src",
    "crates/ackclock-sim/src",
    "crates/ackclock-trace/src",
    "crates/ackclock-units/src",
];
/// Ends of the names of sources.
const ENDINGS: &[&str] = &["rs", "c", "h", "lock"];

fn main() {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let root = Path::new(&package).join("../..");
    let mut files = Vec::new();
    for source in SOURCES {
        let path = root.join(source);
        println!("cargo:rerun-if-changed={}", path.display());
        collect(&path, (*source).to_owned(), &mut files);
    }
    files.sort();
    let mut hash = Sha256::new();
    for (name, path) in files {
        let content = read(&path);
        // The length keeps the end of one file from being the beginning of the next.
        hash.update(format!("{name} {}\n", content.len()));
        hash.update(content);
    }
    let name: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=ACKCLOCK_ENGINE={name}");
    // The pages of the controls are part of the extension; new ones are noticed.
    println!("cargo:rerun-if-changed={}", root.join("docs/controllers").display());
}

/// Adds the sources at `path`; their names have forward slashes on every machine.
fn collect(path: &Path, name: String, files: &mut Vec<(String, PathBuf)>) {
    if !path.is_dir() {
        let is_source = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
        files.extend(is_source.then(|| (name, path.to_owned())));
        return;
    }
    for entry in fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())) {
        let entry = entry.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        collect(&entry.path(), format!("{name}/{}", entry.file_name().to_string_lossy()), files);
    }
}

/// A missing source must stop the build: the hash would name another engine.
fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
