//! Agreement with the TCP of Linux 6.12 on one path: 10 Mbit/s, RTT 60 ms, 50 packets of 1014 bytes on the wire,
//! measured from 5 s to 20 s every 10 ms. The kernel's numbers were measured for this project; docs/validation.md
//! has them all.
mod common;

use ackclock_scenario::{Scenario, read_toml};
use ackclock_sim::BuiltIn;
use ackclock_trace::Column;

const PATH: &str = r#"
[run]
duration = "20 s"
warmup = "5 s"
sample = "10 ms"
[tcp]
profile = "linux"
packet = "1014 B"
[dumbbell]
rate = "10 Mbit/s"
delay = "30 ms"
queue = { kind = "droptail", limit = "50 packets" }
[[flow]]
controller = "reno"
rtt = "60 ms"
"#;

fn scenario(controller: &str) -> Scenario {
    let hystart = controller == "cubic";
    let settings = [format!("flow.0.controller={controller}"), format!("flow.0.hystart={hystart}")];
    read_toml(PATH, "path", &settings, &BuiltIn).unwrap().scenario
}

/// Mean window within 3 %; smallest and largest within 3 packets, for the kernel's are whole ones and cut at other
/// moments.
fn agrees(controller: &str, smallest: f64, mean: f64, largest: f64) {
    let (summary, tables) = common::run_with(&scenario(controller), 0, true, u64::MAX);
    let flow = &summary.flows[0];
    assert!((flow.mean_window.unwrap() / mean - 1.0).abs() < 0.03, "{controller}: {:?}", flow.mean_window);
    assert_eq!(flow.whole_run.timeouts, 0);
    let windows = &tables.iter().find(|(name, _)| *name == "windows").unwrap().1;
    let (_, Column::Real(window)) = windows.columns.iter().find(|(name, _)| *name == "window").unwrap()
    else {
        panic!("windows are numbers");
    };
    let measured = &window[500..];
    let low = measured.iter().copied().fold(f64::INFINITY, f64::min);
    let high = measured.iter().copied().fold(0.0, f64::max);
    assert!((low - smallest).abs() <= 3.0, "{controller}: smallest {low}");
    assert!((high - largest).abs() <= 3.0, "{controller}: largest {high}");
}

#[test]
fn reno() {
    agrees("reno", 62.0, 96.0, 125.0);
}

#[test]
fn cubic() {
    agrees("cubic", 87.0, 112.0, 125.0);
}

#[test]
fn highspeed() {
    agrees("hstcp-table", 75.0, 101.0, 126.0);
}
