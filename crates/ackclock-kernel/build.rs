//! Compiles the controls for this machine, and with the feature `load` for the kernel.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ackclock_cc::hstcp::HstcpParams;

/// File names of the controls, without their ending.
const NAMES: &[&str] = &["africa", "bic", "compound", "fast", "fit", "gaimd", "hstcp", "illinois", "multcp"];

/// Compilers that know BPF, the best first.
const CLANGS: &[&str] = &["clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14", "clang"];

/// The table of `bpf/hstcp.h`: from this window on, so many doublings, so many rows in each.
const LOWEST: u32 = 32;
const OCTAVES: u32 = 15;
const ROWS: u32 = 8;

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("hstcp_table.h"), hstcp_table()).expect("the directory is cargo's");
    for name in NAMES {
        // A library each: their static functions have the same names.
        cc::Build::new()
            .file(format!("bpf/{name}.bpf.c"))
            .include(&out)
            .flag("-std=gnu11")
            .flag("-Wno-unused-function")
            .warnings_into_errors(true)
            .compile(&format!("ackclock_{name}"));
    }
    if env::var_os("CARGO_FEATURE_LOAD").is_some() {
        let clang = CLANGS.iter().find(|name| Command::new(name).arg("--version").output().is_ok());
        let clang = clang.expect("the feature load needs clang: make kernel-deps");
        for name in NAMES {
            compile_for_kernel(clang, name, &out);
        }
    }
}

/// a(W) and b(W) times 2^16 at the ends of the rows.
fn hstcp_table() -> String {
    let formulas = HstcpParams::default();
    let scaled = |value: f64| (value * 65_536.0).round() as u32;
    let mut text = format!(
        "#define LOWEST {LOWEST}U\n#define OCTAVES {OCTAVES}U\n#define ROWS {ROWS}U\n\
         static const struct {{ u32 a, b; }} hstcp_table[OCTAVES * ROWS + 1] = {{\n"
    );
    for row in 0..=OCTAVES * ROWS {
        let first = f64::from(LOWEST << (row / ROWS));
        let window = first * (1.0 + f64::from(row % ROWS) / f64::from(ROWS));
        text += &format!("\t{{ {}, {} }},\n", scaled(formulas.a(window)), scaled(formulas.b(window)));
    }
    text + "};\n"
}

fn compile_for_kernel(clang: &str, name: &str, out: &Path) {
    let status = Command::new(clang)
        .args(["-target", "bpf", "-mcpu=v3", "-g", "-O2", "-Wall", "-Werror", "-Wno-unused-function"])
        .arg("-I")
        .arg(out)
        .args(["-c", &format!("bpf/{name}.bpf.c"), "-o"])
        .arg(out.join(format!("{name}.bpf.o")))
        .status()
        .expect("it has told its version");
    assert!(status.success(), "bpf/{name}.bpf.c does not compile for the kernel");
}
