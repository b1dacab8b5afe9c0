//! What many tests of the engine need: scenarios, and their runs.

pub mod chance;
pub mod ledger;
pub mod page;
pub mod random;
mod scenarios;
pub mod table;

use ackclock_scenario::Scenario;
use ackclock_sim::{BuiltIn, Simulation};
use ackclock_trace::{Summary, Table};

#[allow(unused_imports, reason = "each program of tests needs others")]
pub use scenarios::{flow, scenario};

pub fn run(scenario: &Scenario) -> Summary {
    run_with(scenario, 0, false, u64::MAX).0
}

pub fn run_with(
    scenario: &Scenario,
    run: u64,
    record: bool,
    chunk: u64,
) -> (Summary, Vec<(&'static str, Table)>) {
    let mut simulation = Simulation::new(scenario.clone(), &BuiltIn, run, record).unwrap();
    while !simulation.advance(chunk) {}
    simulation.finish(&BuiltIn).unwrap()
}
