//! Tells the crate which compiler builds it, and from which sources: libraries of controls must come from the same.

use std::env;
use std::path::Path;
use std::process::Command;

#[path = "sources.rs"]
mod sources;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=sources.rs");
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(compiler).arg("--version").output().ok();
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    println!("cargo::rustc-env=ACKCLOCK_COMPILER={}", version.trim());
    let package = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let crates = Path::new(&package).parent().expect("the crates are in one folder");
    for directory in sources::SHARED {
        println!("cargo::rerun-if-changed={}", crates.join(directory).display());
    }
    println!("cargo::rustc-env=ACKCLOCK_SOURCES={:016x}", sources::hash(crates));
}
