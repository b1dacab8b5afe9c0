//! A scenario to be changed.

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::read_toml;

/// A scenario in which nothing is wrong: two flows on a dumbbell.
pub const VALID: &str = include_str!("common/valid.toml");

/// The message for the valid scenario with a setting.
pub fn refusal(setting: &str) -> String {
    let refused = read_toml(VALID, "a.toml", &[setting.to_owned()], &BuiltIn);
    refused.err().unwrap_or_else(|| panic!("{setting} was accepted")).to_string()
}
