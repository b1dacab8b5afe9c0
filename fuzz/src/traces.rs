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

/// A dumbbell with these keys, and a flow of Reno or of requests.
fn dumbbell(keys: &str, flow: &str) -> String {
    format!(
        "[run]\nduration = \"1 s\"\n[dumbbell]\n{keys}\nqueue = {{ kind = \"droptail\", limit = \"9 packets\" }}\n[[flow]]\n{flow}\n"
    )
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let plain = "rate = \"10 Mbit/s\"\ndelay = \"1 ms\"";
    let reno = "controller = \"reno\"";
    let more = [
        (dumbbell("rate_series = { file = \"file\" }\ndelay = \"1 ms\"", reno), "dumbbell.rate_series"),
        (
            dumbbell(
                "rate = \"10 Mbit/s\"\ndelay_series = { file = \"file\", between = \"linear\", repeat = true }",
                reno,
            ),
            "dumbbell.delay_series",
        ),
        (
            dumbbell(&format!("{plain}\nloss_series = {{ file = \"file\", unit = \"%\" }}"), reno),
            "dumbbell.loss",
        ),
        (
            dumbbell(&format!("{plain}\nloss = {{ kind = \"bursts\", file = \"file\" }}"), reno),
            "dumbbell.loss",
        ),
        (
            dumbbell(
                &format!("{plain}\ndelay_noise = {{ kind = \"table\", file = \"file\", sigma = \"1 ms\" }}"),
                reno,
            ),
            "dumbbell.delay_noise",
        ),
        (dumbbell(plain, "source = \"requests\"\nfile = \"file\""), "flow.0.file"),
        (format!("path = \"./file\"\n{}", dumbbell("delay = \"1 ms\"", reno)), ""),
    ];
    let traces = [(RATE.to_owned(), "dumbbell.rate_trace"), (LOSS.to_owned(), "dumbbell.loss")];
    for (scenario, key) in traces.into_iter().chain(more) {
        let files = ["file", "./file"].map(|name| (name.to_owned(), text.to_owned()));
        let draft = Draft::from_toml(&scenario, "fuzz").expect("a scenario").with_files(Files::from(files));
        if let Err(refusal) = draft.check(&BuiltIn) {
            let line = refusal.to_string();
            assert!(!line.contains(char::is_control) && line.contains(key), "{line:?}");
        }
    }
});
