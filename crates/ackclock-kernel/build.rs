//! Compiles the controls for this machine, and with the feature `load` for the kernel.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ackclock_cc::hstcp::HstcpParams;

/// How the file of a control ends.
const ENDING: &str = ".bpf.c";
/// Longest name of a control in the kernel.
const LONGEST_NAME: usize = 15;

/// Compilers that know BPF, the best first.
const CLANGS: &[&str] = &["clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14", "clang"];

/// The table of `bpf/hstcp.h`: from this window on, this number of doublings, and this number of rows in each.
const LOWEST: u32 = 32;
const OCTAVES: u32 = 15;
const ROWS: u32 = 8;

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("hstcp_table.h"), hstcp_table()).expect("the directory is cargo's");
    let names = names();
    for name in &names {
        // A library each: their static functions have the same names.
        cc::Build::new()
            .file(format!("bpf/{name}{ENDING}"))
            .include(&out)
            .define("NAME", name.as_str())
            .flag("-std=gnu11")
            .flag("-Wno-unused-function")
            .flag("-Wno-unused-parameter")
            .warnings_into_errors(true)
            .compile(&format!("ackclock_{name}"));
    }
    let twins: String =
        names.iter().map(|name| format!("    {:?} ackclock_{name};\n", public(name))).collect();
    fs::write(out.join("twins.rs"), format!("twins! {{\n{twins}}}\n")).expect("the directory is cargo's");
    if env::var_os("CARGO_FEATURE_LOAD").is_some() {
        let clang = CLANGS.iter().find(|name| Command::new(name).arg("--version").output().is_ok());
        let clang =
            clang.expect("the feature load needs clang; install it, for example with make kernel-deps");
        names.iter().for_each(|name| compile_for_kernel(clang, name, &out));
        let objects: String = names
            .iter()
            .map(|name| {
                let (public, in_kernel) = (public(name), in_kernel(name));
                format!("({public:?}, {in_kernel:?}, include_bytes!(\"{name}.bpf.o\")),\n")
            })
            .collect();
        fs::write(out.join("objects.rs"), format!("&[\n{objects}]\n")).expect("the directory is cargo's");
    }
}

/// The controls, by the names of their files, sorted.
fn names() -> Vec<String> {
    let files = fs::read_dir("bpf").expect("it is in the folder of this file").flatten();
    let names = files.filter_map(|file| file.file_name().to_str()?.strip_suffix(ENDING).map(str::to_owned));
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// What everybody calls a control. A plus is written out in the name of its file, which C uses, too.
fn public(name: &str) -> String {
    name.replace("_plus", "+").replace('_', "-")
}

/// What the kernel calls a control. It allows 15 characters, too few for `ack_illinois_linux`, and no plus.
fn in_kernel(name: &str) -> String {
    let in_kernel = format!("ack_{}", name.replace("_linux", "_lx").replace("_plus_plus", "_pp"));
    assert!(in_kernel.len() <= LONGEST_NAME, "{in_kernel} is too long for the kernel");
    in_kernel
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
        .args([format!("-DNAME={name}"), format!("-DNAME_IN_KERNEL={:?}", in_kernel(name))])
        .arg("-I")
        .arg(out)
        .args(["-c", &format!("bpf/{name}{ENDING}"), "-o"])
        .arg(out.join(format!("{name}.bpf.o")))
        .status()
        .expect("it has told its version");
    assert!(status.success(), "bpf/{name}{ENDING} does not compile for the kernel");
}
