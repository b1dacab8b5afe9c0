//! Pages of the controls are part of the extension; new ones are noticed.

fn main() {
    println!("cargo:rerun-if-changed=../../docs/controllers");
}
