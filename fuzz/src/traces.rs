//! Files that a scenario names: read, or refused in one line that says which key names it.
#![no_main]

use ackclock_cc::registry::BuiltIn;
use ackclock_scenario::{Draft, Files};
use libfuzzer_sys::fuzz_target;

const RATE: &str = r#"
[run]
duration = "1 s"
[dumbbell]
rate_trace = "file"
delay = "1 ms"
queue = { kind = "droptail", limit = "100 packets" }
[[flow]]
controller = "reno"
"#;
const LOSS: &str = r#"
[run]
duration = "1 s"
[dumbbell]
rate = "10 Mbit/s"
loss = { kind = "trace", file = "file" }
delay = "1 ms"
queue = { kind = "droptail", limit = "100 packets" }
[[flow]]
controller = "reno"
"#;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for (scenario, key) in [(RATE, "dumbbell.rate_trace"), (LOSS, "dumbbell.loss")] {
        let files = Files::from([("file".to_owned(), text.to_owned())]);
        let draft = Draft::from_toml(scenario, "fuzz").expect("a scenario").with_files(files);
        if let Err(refusal) = draft.check(&BuiltIn) {
            let line = refusal.to_string();
            assert!(!line.contains(char::is_control) && line.contains(key), "{line:?}");
        }
    }
});
