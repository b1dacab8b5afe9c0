//! A scenario to be changed for the worse.

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::read_toml;

/// A scenario in which nothing is wrong.
pub const VALID: &str = r#"[run]
duration = "10 s"

[dumbbell]
rate = "10 Mbit/s"
delay = "20 ms"
queue = { kind = "droptail", limit = "50 packets" }

[[flow]]
controller = "illinois"
rtt = "60 ms"

[[flow]]
controller = "reno"
"#;

/// The message for the valid scenario with a setting.
pub fn refusal(setting: &str) -> String {
    let refused = read_toml(VALID, "a.toml", &[setting.to_owned()], &BuiltIn);
    refused.err().unwrap_or_else(|| panic!("{setting} was accepted")).to_string()
}
