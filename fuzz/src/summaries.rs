//! Any bytes as the seed of a random scenario: its summary must add up, as `cargo test` asks of a few hundred.
#![no_main]

#[allow(dead_code, reason = "tests need more of them")]
#[path = "../../crates/ackclock-sim/tests/common"]
mod common {
    pub mod ledger;
    pub mod random;
    mod scenarios;
}

use libfuzzer_sys::fuzz_target;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

fuzz_target!(|data: &[u8]| {
    // A seed, and not the choices themselves: proptest halves those for every part of a scenario, until none are left.
    let mut seed = [0; 32];
    data.iter().zip(&mut seed).for_each(|(given, byte)| *byte = *given);
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let Ok(tree) = common::random::scenario().new_tree(&mut runner) else { return };
    let scenario = tree.current();
    if let Err(error) = common::ledger::check(&scenario) {
        panic!("{error}\n{scenario:#?}");
    }
});
