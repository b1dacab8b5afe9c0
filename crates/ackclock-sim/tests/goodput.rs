//! Goodput in order, and what arrives in any order.

use ackclock_scenario::read_toml;
use ackclock_sim::BuiltIn;
use ackclock_trace::Summary;

use crate::common;

const RATE_MBPS: f64 = 20.0;

/// A Reno flow that fills a link of 20 Mbit/s and 80 ms, measured for a second from `warmup_ms` on.
fn measured(warmup_ms: u64) -> Summary {
    let text = format!(
        "run = {{ duration = \"{} ms\", warmup = \"{warmup_ms} ms\" }}\n\
         dumbbell = {{ rate = \"{RATE_MBPS} Mbit/s\", delay = \"40 ms\", queue = {{ kind = \"droptail\", limit = \"200 packets\" }} }}\n\
         flow = [{{ controller = \"reno\", rtt = \"80 ms\" }}]\n",
        warmup_ms + 1000
    );
    common::run(&read_toml(&text, "goodput", &[], &BuiltIn).unwrap().scenario)
}

/// A link carries at most its rate, and a packet of which the last bit comes within the second: 8000 bits. What waited for a
/// lost packet when the second began counts for the goodput in it, which may therefore be larger; then a warning says so.
#[test]
fn what_arrives_never_exceeds_the_rate_and_a_goodput_that_does_is_explained() {
    let mut explained = 0;
    for warmup_ms in (1000..9000).step_by(50) {
        let summary = measured(warmup_ms);
        let flow = &summary.flows[0];
        let (goodput, arrived) = (flow.goodput_mbps.unwrap(), flow.arrived_mbps.unwrap());
        assert!(arrived <= RATE_MBPS + 0.008 + 1e-9, "from {warmup_ms} ms: {arrived}");
        let warned =
            summary.warnings.iter().any(|warning| warning.contains("exceeds the link's 20.0000 Mbit/s"));
        assert_eq!(
            warned,
            goodput > RATE_MBPS && goodput > arrived,
            "from {warmup_ms} ms: {goodput}, {arrived}"
        );
        explained += u32::from(warned);
    }
    assert!(explained > 0, "no second began while data waited for a lost packet");
}

/// Over the whole run the two differ only by what waits for a lost packet at the end: less than a window.
#[test]
fn over_a_whole_run_both_are_the_same_up_to_a_window() {
    let text = "run = { duration = \"30 s\" }\n\
         dumbbell = { rate = \"20 Mbit/s\", delay = \"40 ms\", queue = { kind = \"droptail\", limit = \"200 packets\" } }\n\
         flow = [{ controller = \"reno\", rtt = \"80 ms\" }]\n";
    let flow = common::run(&read_toml(text, "goodput", &[], &BuiltIn).unwrap().scenario).flows.remove(0);
    let packets = (flow.arrived_mbps.unwrap() - flow.goodput_mbps.unwrap()) * 30.0 / 8e-3;
    assert!((0.0..=flow.max_window.unwrap()).contains(&packets), "{packets}");
}
