//! Agreement with ns-2.35 on the dumbbell of the papers: 100 Mbit/s, RTT 100 ms, droptail 100 packets,
//! 1000-byte packets, one flow, measured from 100 s to 300 s. The numbers of ns-2 were measured for this
//! project; docs/validation.md has them all and explains the differences.
mod common;

use ackclock_scenario::{ParamValue, Recovery};

/// Goodput in Mbit/s within 2 %, mean window in packets within 4 %.
fn agrees(controller: &str, recovery: Recovery, goodput: f64, window: f64) {
    let mut scenario = common::scenario(controller);
    scenario.flows[0].tcp.recovery = recovery;
    let summary = common::run(&scenario);
    let flow = &summary.flows[0];
    let off = |measured: Option<f64>, reference: f64| (measured.unwrap() / reference - 1.0).abs();
    assert!(off(flow.goodput_mbps, goodput) < 0.02, "{controller}: {:?} Mbit/s", flow.goodput_mbps);
    assert!(off(flow.mean_window, window) < 0.04, "{controller}: {:?} packets", flow.mean_window);
}

#[test]
fn reno_on_sack() {
    agrees("reno", Recovery::Sack, 80.17, 1011.2);
}

#[test]
fn reno_on_newreno() {
    agrees("reno", Recovery::NewReno, 80.54, 1016.2);
}

/// What ns-2's Linux agent ran, with the recovery of that agent.
#[test]
fn controls_of_linux_on_its_recovery() {
    for (controller, goodput, window) in [
        ("reno", 80.17, 1011.2),
        ("hstcp-table", 88.70, 1124.2),
        ("bic-linux", 96.57, 1221.9),
        ("htcp-linux", 92.00, 1163.0),
        ("compound-linux", 80.51, 1027.5),
        ("illinois-linux", 93.80, 1223.9),
        ("veno", 83.04, 1054.7),
    ] {
        agrees(controller, Recovery::Linux26, goodput, window);
    }
}

/// H-TCP by its draft finds the same cycle as Linux' code.
#[test]
fn htcp() {
    agrees("htcp", Recovery::Sack, 92.00, 1163.0);
    agrees("htcp-linux", Recovery::Sack, 92.00, 1163.0);
}

#[test]
fn compound_of_linux() {
    agrees("compound-linux", Recovery::Sack, 80.51, 1027.5);
}

#[test]
fn highspeed_by_its_table() {
    agrees("hstcp-table", Recovery::Sack, 88.70, 1124.2);
}

#[test]
fn bic_of_linux() {
    agrees("bic-linux", Recovery::Sack, 96.57, 1221.9);
}

/// The CUBIC of Linux 2.6.22 keeps 819/1024 of the window; RFC 9438's keeps 0.7. That is all the difference: 80
/// drops in both.
#[test]
fn cubic_of_linux_2_6_22() {
    let mut scenario = common::scenario("cubic");
    scenario.flows[0].params = vec![("beta".to_owned(), ParamValue::Number(819.0 / 1024.0))];
    let flow = common::run(&scenario).flows.remove(0);
    assert!((flow.goodput_mbps.unwrap() / 96.77 - 1.0).abs() < 0.005, "{:?}", flow.goodput_mbps);
    assert!((flow.mean_window.unwrap() / 1229.5 - 1.0).abs() < 0.005, "{:?}", flow.mean_window);
    assert_eq!(flow.counters.dropped_packets, 80);
}

/// The first slow start of ns-2's linux reno loses 129 packets, as many as ours.
#[test]
fn the_first_slow_start_loses_as_many_packets() {
    let flow = common::run(&common::scenario("reno")).flows.remove(0);
    let in_slow_start = flow.whole_run.dropped_packets - flow.counters.dropped_packets;
    assert_eq!((in_slow_start, flow.counters.dropped_packets), (129, 3));
}
