//! Agreement with ns-2.35 on the dumbbell of the papers: 100 Mbit/s, RTT 100 ms, droptail 100 packets,
//! 1000-byte packets, one flow, measured from 100 s to 300 s. ns-2's numbers are the cases `one ...` of
//! `tests/data/ns2`; docs/validation.md has them all and explains the differences.

use ackclock_scenario::{ParamValue, Recovery, Scenario};
use ackclock_trace::FlowSummary;

use crate::common;
use crate::common::table::Table;

const FLOWS: &str = include_str!("../../../tests/data/ns2/flows.csv");
const RUNS: &str = include_str!("../../../tests/data/ns2/runs.csv");

/// What ns-2 has in a column of a table, for the one run of a case.
fn reference(table: &'static str, case: &str, column: &str) -> f64 {
    Table::read(table).case(case).next().unwrap().number(column)
}

fn scenario(controller: &str, recovery: Recovery) -> Scenario {
    let mut scenario = common::scenario(controller);
    scenario.flows[0].tcp.recovery = recovery;
    if controller == "bic-linux" {
        // The code in ns-2 is older.
        *scenario.flows[0].params = vec![("whole_counts".to_owned(), ParamValue::Flag(false))];
    }
    scenario
}

/// Goodput and mean window within 2 %. What two senders do in the round trip of a recovery is not the same, and the
/// controls that lose most often, HS-TCP, Compound and H-TCP, do so every 40 to 55 round trips: a round trip in fifty
/// is 2 %.
fn agrees(controller: &str, recovery: Recovery, case: &str) {
    let flow = common::run(&scenario(controller, recovery)).flows.remove(0);
    for (column, ours) in [("goodput_mbps", flow.goodput_mbps), ("mean_window", flow.mean_window)] {
        let (ours, reference) = (ours.unwrap(), reference(FLOWS, case, column));
        assert!((ours / reference - 1.0).abs() < 0.02, "{controller}: {column} {ours} against {reference}");
    }
}

/// The drops at the queue and the cuts of the window are the same ones: goodput and mean window within 0.7 %, which is
/// what the recoveries themselves make of it, and the numbers of drops and cuts equal.
fn agrees_to_the_last_drop(flow: &FlowSummary, case: &str) {
    for (column, ours) in [("goodput_mbps", flow.goodput_mbps), ("mean_window", flow.mean_window)] {
        let (ours, reference) = (ours.unwrap(), reference(FLOWS, case, column));
        assert!((ours / reference - 1.0).abs() < 0.007, "{case}: {column} {ours} against {reference}");
    }
    assert_eq!(flow.counters.dropped_packets as f64, reference(RUNS, case, "drops"), "{case}: drops");
    // ns-2 counts a timeout among the cuts.
    let cuts = flow.whole_run.loss_events.unwrap() + flow.whole_run.timeouts;
    assert_eq!(cuts as f64, reference(FLOWS, case, "cuts"), "{case}: cuts");
    assert_eq!(flow.whole_run.timeouts as f64, reference(FLOWS, case, "timeouts"), "{case}: timeouts");
}

/// What ns-2's Linux agent ran, with the recovery of that agent.
#[test]
fn controls_of_linux_on_its_recovery() {
    for (controller, case) in [
        ("bic-linux", "one linux bic"),
        ("htcp-linux", "one linux htcp"),
        ("compound-linux", "one linux compound"),
        ("illinois-linux", "one linux illinois"),
        ("veno", "one linux veno"),
    ] {
        agrees(controller, Recovery::Linux26, case);
    }
}

/// Where both lose alike, and with ns-2's own agents and SACK compared with `sack` and `newreno`.
#[test]
fn the_same_drops_and_cuts() {
    for (controller, recovery, case) in [
        ("reno", Recovery::Linux26, "one linux reno"),
        ("reno", Recovery::Sack, "one linux reno"),
        ("reno", Recovery::NewReno, "one newreno"),
        ("hstcp-table", Recovery::Linux26, "one linux highspeed"),
        ("bic-linux", Recovery::Sack, "one linux bic"),
    ] {
        agrees_to_the_last_drop(&common::run(&scenario(controller, recovery)).flows[0], case);
    }
}

/// The CUBIC of Linux 2.6.22 keeps 819/1024 of the window; RFC 9438's keeps 0.7. That is all the difference.
#[test]
fn cubic_of_linux_2_6_22() {
    let mut scenario = common::scenario("cubic");
    *scenario.flows[0].params = vec![("beta".to_owned(), ParamValue::Number(819.0 / 1024.0))];
    agrees_to_the_last_drop(&common::run(&scenario).flows[0], "one linux cubic");
}

/// ns-2's own SACK agent, which cuts once more before 100 s and as often after that.
#[test]
fn reno_beside_the_sack_agent_of_ns2() {
    agrees("reno", Recovery::Sack, "one sack1");
}

/// On SACK the controls of Linux find the same cycle; H-TCP by its draft, too.
#[test]
fn controls_of_linux_on_sack() {
    for (controller, case) in [
        ("htcp", "one linux htcp"),
        ("htcp-linux", "one linux htcp"),
        ("compound-linux", "one linux compound"),
        ("hstcp-table", "one linux highspeed"),
    ] {
        agrees(controller, Recovery::Sack, case);
    }
}

/// The first slow start of ns-2's linux reno loses as many packets as ours.
#[test]
fn the_first_slow_start_loses_as_many_packets() {
    let flow = common::run(&common::scenario("reno")).flows.remove(0);
    let of = |column| reference(RUNS, "one linux reno", column);
    let in_slow_start = flow.whole_run.dropped_packets - flow.counters.dropped_packets;
    assert_eq!(in_slow_start as f64, of("drops_whole_run") - of("drops"));
}
