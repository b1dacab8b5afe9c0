//! Goodput, which counts what arrives for the first time, and delivery in order.

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

/// A link carries at most its rate, and a packet of which the last bit comes within the second: 8000 bits. Data in order that
/// had waited for a lost packet when the second began may be more, which is not a goodput.
#[test]
fn goodput_never_exceeds_the_rate_and_delivery_in_order_may() {
    let mut more_in_order = 0;
    for warmup_ms in (1000..9000).step_by(50) {
        let summary = measured(warmup_ms);
        let flow = &summary.flows[0];
        let (goodput, in_order) = (flow.goodput_mbps.unwrap(), flow.in_order_mbps.unwrap());
        assert!(goodput <= RATE_MBPS + 0.008 + 1e-9, "from {warmup_ms} ms: {goodput}");
        assert_eq!(summary.warnings, Vec::<String>::new());
        more_in_order += u32::from(in_order > RATE_MBPS + 0.008);
    }
    assert!(more_in_order > 0, "no second began while data waited for a lost packet");
}

/// Over the whole run the two differ only by what waits for a lost packet at the end: less than a window.
#[test]
fn over_a_whole_run_both_are_the_same_up_to_a_window() {
    let text = "run = { duration = \"30 s\" }\n\
         dumbbell = { rate = \"20 Mbit/s\", delay = \"40 ms\", queue = { kind = \"droptail\", limit = \"200 packets\" } }\n\
         flow = [{ controller = \"reno\", rtt = \"80 ms\" }]\n";
    let flow = common::run(&read_toml(text, "goodput", &[], &BuiltIn).unwrap().scenario).flows.remove(0);
    let packets = (flow.goodput_mbps.unwrap() - flow.in_order_mbps.unwrap()) * 30.0 / 8e-3;
    assert!((0.0..=flow.max_window.unwrap()).contains(&packets), "{packets}");
}
