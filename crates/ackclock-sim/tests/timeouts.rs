//! The retransmission timer and the tail loss probe of Linux, by arithmetic.

use ackclock_scenario::{Loss, Scenario, read_toml};
use ackclock_sim::BuiltIn;
use ackclock_trace::Summary;

use crate::common;

fn read(text: &str) -> Scenario {
    read_toml(text, "timeouts", &[], &BuiltIn).unwrap().scenario
}

fn path(rtt_ms: u64) -> String {
    format!(
        "tcp = {{ profile = \"linux\" }}\n\
         dumbbell = {{ rate = \"100 Gbit/s\", delay = \"{} us\", queue = {{ kind = \"droptail\", limit = \"1000 packets\" }} }}\n",
        500 * rtt_ms
    )
}

/// Ten packets in one window, of which the last `lost` are lost when they are sent first.
fn tail(rtt_ms: u64, lost: usize) -> Summary {
    let text = format!(
        "run = {{ duration = \"20 s\" }}\n{}flow = [{{ controller = \"reno\", rtt = \"{rtt_ms} ms\", bytes = \"10 kB\" }}]\n",
        path(rtt_ms)
    );
    let mut scenario = read(&text);
    // The SYN comes first.
    let arrive = std::iter::repeat_n(false, 1 + 10 - lost);
    let all = arrive.chain(std::iter::repeat_n(true, lost)).chain(std::iter::repeat_n(false, 1000));
    scenario.links[0].loss = Loss::Trace { lost: all.collect::<Vec<_>>().into() };
    common::run(&scenario)
}

/// The ninth and tenth are lost. After the handshake, at 2 RTTs the others are acknowledged, two smoothed RTTs later the probe
/// repeats the tenth, whose report at 5 RTTs shows the ninth lost: it arrives at 5.5 RTTs. The timer is at srtt + 200 ms or more
/// (of two equal samples 2.5 RTTs), and the probe takes the place of a timeout that would come before it, which from an RTT of
/// 200 ms on it does only when the variance has decayed: here never, within two round trips.
#[test]
fn a_tail_is_repaired_by_a_probe() {
    for rtt_ms in [20, 40, 80, 100, 150, 250] {
        let summary = tail(rtt_ms, 2);
        let flow = &summary.flows[0];
        let completion_ms = flow.completion_s.unwrap() * 1000.0;
        println!("RTT {rtt_ms} ms: complete after {completion_ms} ms");
        assert!(
            (completion_ms / (5.5 * rtt_ms as f64) - 1.0).abs() < 1e-3,
            "RTT {rtt_ms} ms: {completion_ms} ms"
        );
        assert_eq!(
            (flow.whole_run.timeouts, flow.whole_run.retransmitted_packets),
            (0, 2),
            "RTT {rtt_ms} ms"
        );
    }
}

/// 20 packets in flight on a steady path: the timer is at the RTT + 200 ms, so 350, 380 and 450 ms. The RTT rises by 140, 60
/// and 120 ms, to 290, 240 and 370 ms: no timeout, and nothing is sent again. With the minimum of RFC 6298 the timer is at 200
/// ms, or at the RTT where that is more: each jump is a timeout where no probe takes its place.
#[test]
fn a_jump_of_the_delay_is_not_a_timeout() {
    for (rtt_ms, rise_ms) in [(150, 140), (180, 60), (250, 120)] {
        for (recovery, bounds, timeouts) in
            [("rack", "variance", 0), ("sack", "variance", 0), ("sack", "timeout", 1)]
        {
            let text = format!(
                "run = {{ duration = \"20 s\" }}\n{}\
                 flow = [{{ controller = \"constant\", params = {{ window = 20 }}, rtt = \"{rtt_ms} ms\", \
                 recovery = \"{recovery}\", min_rto_bounds = \"{bounds}\" }}]\n\
                 event = [{{ at = \"10 s\", set = \"dumbbell.delay\", to = \"{} us\" }}]\n",
                path(rtt_ms),
                500 * (rtt_ms + rise_ms)
            );
            let counters = common::run(&read(&text)).flows[0].whole_run;
            let case = format!("RTT {rtt_ms} ms, {recovery}, {bounds}: {counters:?}");
            assert_eq!(counters.timeouts, timeouts, "{case}");
            assert!(timeouts > 0 || counters.retransmitted_packets == 0, "{case}");
        }
    }
}
