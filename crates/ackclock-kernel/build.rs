//! Compiles the controls for this machine, and with the feature `load` for the kernel.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// File names of the controls, without their ending.
const NAMES: &[&str] = &["fit", "gaimd", "illinois", "multcp"];

/// Compilers that know BPF, the best first.
const CLANGS: &[&str] = &["clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14", "clang"];

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    for name in NAMES {
        // A library each: their static functions have the same names.
        cc::Build::new()
            .file(format!("bpf/{name}.bpf.c"))
            .flag("-std=gnu11")
            .flag("-Wno-unused-function")
            .warnings_into_errors(true)
            .compile(&format!("ackclock_{name}"));
    }
    if env::var_os("CARGO_FEATURE_LOAD").is_some() {
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
        let clang = CLANGS.iter().find(|name| Command::new(name).arg("--version").output().is_ok());
        let clang = clang.expect("the feature load needs clang: make kernel-deps");
        for name in NAMES {
            compile_for_kernel(clang, name, &out);
        }
    }
}

fn compile_for_kernel(clang: &str, name: &str, out: &Path) {
    let status = Command::new(clang)
        .args(["-target", "bpf", "-mcpu=v3", "-g", "-O2", "-Wall", "-Werror", "-Wno-unused-function"])
        .args(["-c", &format!("bpf/{name}.bpf.c"), "-o"])
        .arg(out.join(format!("{name}.bpf.o")))
        .status()
        .expect("it has told its version");
    assert!(status.success(), "bpf/{name}.bpf.c does not compile for the kernel");
}
