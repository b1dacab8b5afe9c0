//! Settings, `--set KEY=VALUE`, one a line: they change a scenario, or are refused in one line.
#![no_main]

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::{Draft, Files, read_toml};
use libfuzzer_sys::fuzz_target;

const SCENARIO: &str = r#"
[run]
duration = "1 s"
[dumbbell]
rate = "10 Mbit/s"
delay = "1 ms"
queue = { kind = "droptail", limit = "100 packets" }
[[flow]]
controller = "reno"
"#;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let settings: Vec<String> = text.split('\n').map(str::to_owned).collect();
    // No setting may read files of this machine.
    let draft = Draft::from_toml(SCENARIO, "fuzz").expect("a scenario").with_files(Files::new());
    match draft.set(&settings).and_then(|draft| draft.check(&BuiltIn)) {
        Err(refusal) => assert!(!refusal.to_string().contains(char::is_control), "{refusal:?}"),
        Ok(checked) => {
            let again = read_toml(&checked.toml, "again", &[], &BuiltIn).expect("what was set can be read");
            assert_eq!(checked.toml, again.toml);
        }
    }
});
