//! Any text as a scenario: it is read or refused in one line, and what was read can be read again.
#![no_main]

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::{read_json, read_toml};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for read in [read_toml, read_json] {
        match read(text, "fuzz", &[], &BuiltIn) {
            Err(refusal) => assert_eq!(refusal.to_string().lines().count(), 1, "{refusal}"),
            Ok(checked) => {
                let again =
                    read_toml(&checked.toml, "again", &[], &BuiltIn).expect("what was read can be read");
                assert_eq!(checked.toml, again.toml);
            }
        }
    }
});
