//! ABE (RFC 8511) where it is meant to help: an ECN queue much shorter than the path.

use ackclock_scenario::read_toml;
use ackclock_sim::BuiltIn;

use crate::common;

/// The utilisation of 10 Mbit/s with an RTT of 100 ms, 83 packets of 1500 bytes, by one flow whose queue is marked by CoDel.
fn utilisation(control: &str, ecn_keep: f64) -> f64 {
    let queue = "{ kind = \"codel\", limit = \"1000 packets\", ecn = true }";
    let text = format!(
        "run = {{ duration = \"330 s\", warmup = \"30 s\" }}\n\
         tcp = {{ profile = \"linux\", delayed_ack = 1, packet = \"1500 B\", ecn = true }}\n\
         dumbbell = {{ rate = \"10 Mbit/s\", delay = \"50 ms\", queue = {queue} }}\n\
         flow = [{{ controller = \"{control}\", rtt = \"100 ms\", params = {{ ecn_keep = {ecn_keep} }} }}]\n"
    );
    let summary = common::run(&read_toml(&text, "abe", &[], &BuiltIn).unwrap().scenario);
    assert_eq!(summary.links[0].queue_drops, 0);
    summary.links[0].utilisation.unwrap()
}

/// The window rises by a packet per round trip to where CoDel marks, at a queue of seven packets: M = 90 with the 84 that
/// fill the path and the transmission. It falls to b M, and for d = 84 - b M of the M - b M round trips the link lacks a
/// packet less in each: it is used by 1 - d^2/2/(84 (M - b M)), which is 0.80 for b = 0.5 and 0.95 for 0.8. Without the
/// parameter marks are losses. 1 % for the round trips with a queue, which are longer.
#[test]
fn a_smaller_decrease_leaves_less_of_the_link_unused() {
    for (ecn_keep, b) in [(0.0, 0.5), (0.8, 0.8)] {
        let (filling, most) = (84.3, 90.3_f64);
        let lack = filling - b * most;
        let expected = 1.0 - lack * lack / 2.0 / (filling * (1.0 - b) * most);
        let measured = utilisation("reno", ecn_keep);
        assert!((measured - expected).abs() < 0.01, "{measured} against {expected} for {ecn_keep}");
    }
    // CUBIC keeps 0.7 of itself. With 0.85 a decrease is half as deep, and what is lacking goes with the square of its depth
    // below the path's own window: less than half.
    let lacks = [0.0, 0.85].map(|ecn_keep| 1.0 - utilisation("cubic", ecn_keep));
    assert!(lacks[1] < lacks[0] / 2.0, "{lacks:?}");
}
