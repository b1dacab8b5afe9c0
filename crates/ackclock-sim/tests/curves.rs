//! Window curves of every control on one reference path, in whole packets: they show what a change did. They
//! prove nothing; the tests next to this one do. `make docs` rewrites and draws them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use ackclock_cc::registry::Catalogue;
use ackclock_scenario::read_toml;
use ackclock_sim::{BuiltIn, Simulation};
use ackclock_trace::Column;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The window at every sample, 20 per line.
fn curve(controller: &str) -> String {
    let text = fs::read_to_string(Path::new(ROOT).join("scenarios/reference-path.toml")).unwrap();
    let settings = [format!("flow.0.controller={controller}")];
    let scenario = read_toml(&text, "reference-path.toml", &settings, &BuiltIn).unwrap().scenario;
    let mut simulation = Simulation::new(scenario, &BuiltIn, 0, true).unwrap();
    while !simulation.advance(u64::MAX) {}
    let tables = simulation.finish(&BuiltIn).unwrap().1;
    let windows = &tables.iter().find(|(name, _)| *name == "windows").unwrap().1;
    let (_, Column::Real(window)) = windows.columns.iter().find(|(name, _)| *name == "window").unwrap()
    else {
        panic!("windows are numbers");
    };
    let mut lines = String::new();
    for line in window.chunks(20) {
        let words: Vec<_> = line.iter().map(|window| format!("{}", window.floor())).collect();
        writeln!(lines, "{}", words.join(" ")).unwrap();
    }
    lines
}

#[test]
fn curves_are_as_on_file() {
    let folder = Path::new(ROOT).join("docs/curves");
    for entry in BuiltIn.entries() {
        let (file, now) = (folder.join(format!("{}.txt", entry.name)), curve(entry.name));
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&file, now).unwrap();
            continue;
        }
        let before = fs::read_to_string(&file).unwrap_or_default();
        assert!(before == now, "{}: another curve; `make docs` writes it anew. Now:\n{now}", entry.name);
    }
}
