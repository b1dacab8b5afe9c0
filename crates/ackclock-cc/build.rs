//! Tells the crate which compiler builds it: libraries of controls must come from the same one.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(compiler).arg("--version").output().ok();
    let version = version.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    println!("cargo::rustc-env=ACKCLOCK_COMPILER={}", version.trim());
}
