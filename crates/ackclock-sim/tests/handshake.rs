//! The handshake, by arithmetic: a round trip of 100 ms on a path on which packets take no time.

use ackclock_scenario::{Loss, read_toml};
use ackclock_sim::BuiltIn;
use ackclock_trace::FlowSummary;

use crate::common;

/// A transfer of ten packets, of whose packets, SYNs included, `lost` are lost.
fn transfer(keys: &str, lost: &[usize]) -> FlowSummary {
    let controller = if keys.contains("controller") { "" } else { "controller = \"reno\"\n" };
    let text = format!(
        "run = {{ duration = \"30 s\" }}\n\
         dumbbell = {{ rate = \"100 Gbit/s\", delay = \"50 ms\", queue = {{ kind = \"droptail\", limit = \"1000 packets\" }} }}\n\
         [[flow]]\nrtt = \"100 ms\"\nbytes = \"10 kB\"\n{controller}{keys}\n"
    );
    let mut scenario = read_toml(&text, "handshake", &[], &BuiltIn).unwrap().scenario;
    scenario.links[0].loss =
        Loss::Trace { lost: (0..1000).map(|number| lost.contains(&number)).collect::<Vec<_>>().into() };
    common::run(&scenario).flows.remove(0)
}

fn completion_ms(keys: &str, lost: &[usize]) -> f64 {
    (transfer(keys, lost).completion_s.unwrap() * 1e4).round() / 10.0
}

const TEN_AT_ONCE: &str = "initial_window = 10";
const WITH: &str = "initial_window = 10\nhandshake = true";
const LINUX: &str = "profile = \"linux\"\nhandshake = true";

/// All packets of the first window arrive after half a round trip; the SYN and its answer take a whole one. Data alone counts.
#[test]
fn a_handshake_takes_a_round_trip() {
    assert_eq!((completion_ms(TEN_AT_ONCE, &[]), completion_ms(WITH, &[])), (50.0, 150.0));
    let flow = transfer(WITH, &[]);
    assert_eq!((flow.counters.sent_packets, flow.counters.dropped_packets), (10, 0));
    // The window of two packets: 2, 4, 4 in 2.5 round trips.
    assert_eq!(completion_ms("handshake = true", &[]), 350.0);
}

/// All ten are lost. Without a sample the timeout is a second, with one of 100 ms it is 100 + 4 * 50 = 300 ms; then slow start
/// from one packet: 1, 2, 4, 3 in 3.5 round trips. With RACK a probe repeats the tenth after two round trips, and its report
/// lets RACK find the others: at 100 + 200 + 100 ms; PRR sends them in slow start.
#[test]
fn a_handshake_is_an_rtt_sample() {
    let all: Vec<_> = (0..10).collect();
    let after_syn: Vec<_> = (1..11).collect();
    assert_eq!(completion_ms(TEN_AT_ONCE, &all), 1000.0 + 350.0);
    assert_eq!(completion_ms(WITH, &after_syn), 100.0 + 300.0 + 350.0);
    let flow = transfer(LINUX, &after_syn);
    println!("{flow:?}");
    assert_eq!((flow.whole_run.timeouts, flow.whole_run.loss_events), (0, Some(1)));
}

/// A lost SYN is sent again after a second, the next after two more. Then data begins with one packet: 1, 2, 4, 3. Linux still
/// begins with its ten after one lost SYN. SYNs do not count as data that was lost.
#[test]
fn a_lost_syn_costs_the_initial_timeout_and_the_window() {
    assert_eq!(completion_ms(WITH, &[0]), 1000.0 + 100.0 + 350.0);
    assert_eq!(completion_ms(WITH, &[0, 1]), 3000.0 + 100.0 + 350.0);
    assert_eq!(completion_ms(&format!("{WITH}\ninitial_rto = \"300 ms\""), &[0]), 300.0 + 100.0 + 350.0);
    assert_eq!(completion_ms(LINUX, &[0]), 1000.0 + 150.0);
    let flow = transfer(LINUX, &[0, 1]);
    assert!(flow.completion_s.unwrap() > 3.45, "{flow:?}");
    let counters = flow.whole_run;
    assert_eq!((counters.sent_packets, counters.dropped_packets, counters.dropped_acks), (10, 0, 2));
    assert_eq!((counters.timeouts, counters.loss_events), (0, Some(0)));
}

/// After a lost SYN a sender without time stamps has no sample, and begins with a timeout of three seconds: the one packet of
/// its first window is lost, too.
#[test]
fn after_a_lost_syn_the_timeout_is_three_seconds() {
    // Then ssthresh is 2: 1, 2, 2, 3, 2 packets.
    assert_eq!(completion_ms(WITH, &[0, 2]), 1000.0 + 100.0 + 3000.0 + 450.0);
    // Linux measures the second SYN by its time stamp; after two its window is one packet, whose probe goes out after two round
    // trips and 200 ms more for a delayed acknowledgement, unless the timer comes first: at 300 ms.
    let flow = transfer(LINUX, &[0, 1, 3]);
    assert!((flow.completion_s.unwrap() - 3.1 - 0.3) < 0.6, "{flow:?}");
}

/// BBR paces its first window at its gain over the RTT that the handshake shows, not over a millisecond: ten packets leave in
/// nine spaces of 100/2.885/10 ms.
#[test]
fn the_first_pacing_rate_is_that_of_the_handshake() {
    let bbr = |keys: &str| completion_ms(&format!("controller = \"bbr\"\ninitial_window = 10\n{keys}"), &[]);
    let spread = 9.0 * 100.0 / 2.885_39 / 10.0;
    let unknown = 9.0 / 2.885_39 / 10.0;
    assert!((bbr("handshake = true") - 150.0 - spread).abs() < 0.2, "{}", bbr("handshake = true"));
    assert!((bbr("") - 50.0 - unknown).abs() < 0.2, "{}", bbr(""));
}

/// An idle time of more than a second. The third request of 40 packets finds the window of the second, which is more than 20
/// because the first left 20 and less than 40 because nothing grows once all is sent: in two flights. Or it finds the initial
/// one of ten: 10, 20, 10.
#[test]
fn a_restart_after_an_idle_time_can_be_switched_off() {
    let last = |keys: &str| {
        let text = format!(
            "run = {{ duration = \"10 s\" }}\n\
             dumbbell = {{ rate = \"100 Gbit/s\", delay = \"50 ms\", queue = {{ kind = \"droptail\", limit = \"1000 packets\" }} }}\n\
             [[flow]]\nsource = \"requests\"\ncontroller = \"reno\"\nrtt = \"100 ms\"\nsize = \"40 kB\"\nevery = \"2 s\"\n\
             requests = 3\ninitial_window = 10\n{keys}\n"
        );
        let scenario = read_toml(&text, "idle", &[], &BuiltIn).unwrap().scenario;
        (common::run(&scenario).flows[0].completion_s.unwrap() * 1e4).round() / 10.0 - 4000.0
    };
    assert_eq!((last(""), last("slow_start_after_idle = false")), (250.0, 150.0));
}
