//! The count of round trips that controls see, and HyStart++, which counts by it.

use ackclock_scenario::{Scenario, read_toml};
use ackclock_sim::BuiltIn;
use ackclock_trace::Column;
use proptest::prelude::*;

use crate::common;

/// A window of `window` packets over a path of `rtt_ms` that is never a bottleneck, with an ACK per `delayed` packets, for
/// 10 s; the table of windows has a row per round trip.
fn constant(window: u64, delayed: u64, rtt_ms: u64) -> Scenario {
    let text = format!(
        "run = {{ duration = \"10 s\", sample = \"rtt\" }}\n\
         tcp = {{ delayed_ack = {delayed}, delayed_ack_timer = \"40 ms\" }}\n\
         dumbbell = {{ rate = \"100 Gbit/s\", delay = \"{} us\", queue = {{ kind = \"droptail\", limit = \"10000 packets\" }} }}\n\
         flow = [{{ controller = \"constant\", params = {{ window = {window} }}, rtt = \"{rtt_ms} ms\" }}]\n",
        500 * rtt_ms
    );
    read_toml(&text, "constant", &[], &BuiltIn).unwrap().scenario
}

fn column(scenario: &Scenario, name: &str) -> Vec<f64> {
    let tables = common::run_with(scenario, 0, true, u64::MAX).1;
    let windows = &tables.iter().find(|(table, _)| *table == "windows").unwrap().1;
    match &windows.columns.iter().find(|(column, _)| *column == name).unwrap().1 {
        Column::Real(values) => values.clone(),
        _ => panic!("{name} is a number"),
    }
}

/// When each round trip ended, in round trips of the path.
fn ends(window: u64, delayed: u64, rtt_ms: u64) -> Vec<f64> {
    let times = column(&constant(window, delayed, rtt_ms), "time_s");
    times.iter().map(|time| time * 1000.0 / rtt_ms as f64).filter(|time| *time > 0.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A round trip ends with the acknowledgement of its own first packet, which was sent when it began. So it is never
    /// shorter than the RTT, and with an ACK per packet, where that acknowledgement comes at once, it is as long.
    #[test]
    fn no_round_trip_is_shorter_than_the_rtt(window in 2_u64..200, delayed in 1_u64..5, rtt_ms in 5_u64..300) {
        let ends = ends(window, delayed, rtt_ms);
        for pair in ends.windows(2) {
            // Two packets of 1000 bytes take 0.16 us of the link.
            prop_assert!(pair[1] - pair[0] >= 1.0 - 1e-9, "{pair:?}");
            if delayed == 1 {
                prop_assert!(pair[1] - pair[0] < 1.001, "{pair:?}");
            }
        }
        prop_assert!(delayed > 1 || ends.len() as u64 >= 10_000 / rtt_ms - 1, "{} round trips", ends.len());
    }
}

/// With an ACK for two packets, and a timer of 40 ms for one that stays alone, the RTT being 100 ms, counted by hand:
/// - W = 2, 4, 10: all go in pairs, 1 RTT; with an ACK for four, two wait for the timer, 1.4 RTTs.
/// - W = 3: packets 0 and 1 are acknowledged at 1 RTT, which ends the first round trip and sends 3 and 4; packet 2 alone at
///   1.4, which sends 5. At 2 RTTs 3 and 4 are acknowledged, the first packet of the round trip among them.
#[test]
fn delayed_acknowledgements_do_not_make_round_trips_shorter() {
    for (window, delayed, length) in [(2, 4, 1.4), (2, 2, 1.0), (3, 2, 1.0), (4, 2, 1.0), (10, 2, 1.0)] {
        let ends = ends(window, delayed, 100);
        for (number, end) in (1..).zip(&ends) {
            let expected = f64::from(number) * length;
            assert!((end - expected).abs() < 1e-3, "W = {window}: round trip {number} ends at {end}");
        }
        assert!(ends.len() >= (99.0 / length) as usize, "W = {window}: {} round trips", ends.len());
    }
}

/// Reno from 10 packets over `rate` and `rtt_ms` with an endless buffer, by HyStart++. Returns the window where its growth
/// slows down, and ssthresh.
fn hystart(rate_mbps: f64, rtt_ms: f64) -> (f64, f64) {
    let text = format!(
        "run = {{ duration = \"20 s\", sample = \"1 ms\" }}\n\
         tcp = {{ hystart = true, initial_window = 10 }}\n\
         dumbbell = {{ rate = \"{rate_mbps} Mbit/s\", delay = \"{} ms\", queue = {{ kind = \"droptail\", limit = \"100000 packets\" }} }}\n\
         flow = [{{ controller = \"reno\", rtt = \"{rtt_ms} ms\" }}]\n",
        rtt_ms / 2.0
    );
    let scenario = read_toml(&text, "hystart", &[], &BuiltIn).unwrap().scenario;
    let (windows, ssthresh) = (column(&scenario, "window"), column(&scenario, "ssthresh"));
    let ssthresh = ssthresh.into_iter().find(|ssthresh| ssthresh.is_finite()).unwrap();
    // A full link acknowledges `rate` packets per millisecond: slow start grows by as many, its conservative part by a
    // quarter of that. In the first 20 ms that bring less than half, growth slowed down after the part that solves
    // growth = part + (1 - part)/4; the path is full before that.
    let per_20_ms = rate_mbps * 1e6 / 8000.0 * 0.02;
    let is_full = |window: f64| window > 2.0 * rate_mbps * rtt_ms / 8.0;
    let slows = (20..windows.len())
        .find(|at| is_full(windows[at - 20]) && windows[*at] - windows[at - 20] < per_20_ms / 2.0)
        .unwrap();
    let part = ((windows[slows] - windows[slows - 20]) / per_20_ms - 0.25) / 0.75;
    (windows[slows - 20] + part * per_20_ms, ssthresh)
}

/// RFC 9406 by hand, where the window doubles from 10 packets and N packets acknowledged are N more. 50 Mbit/s and 100 ms
/// hold 625 packets. The first eight packets of a round trip wait for what the round trip before left in the queue; that is
/// 12.5 ms longer than before (an eighth of the RTT) for the first time when the window is 2560 at the beginning, so that it
/// is 2568 after eight acknowledgements. Five round trips of growth by a quarter end at 7827. 20 Mbit/s and 60 ms hold 150:
/// 648 and 1975.
#[test]
fn hystart_plus_plus_leaves_slow_start_where_its_rfc_says() {
    for (rate, rtt, slows, ends) in [(50.0, 100.0, 2568.0, 7827.0), (20.0, 60.0, 648.0, 1975.0)] {
        let (from, ssthresh) = hystart(rate, rtt);
        println!("{rate} Mbit/s, {rtt} ms: slows at {from} for {slows}, ends at {ssthresh} for {ends}");
        assert!((from / slows - 1.0).abs() < 0.01, "{from} packets, by hand {slows}");
        assert!((ssthresh / ends - 1.0).abs() < 0.01, "{ssthresh} packets, by hand {ends}");
    }
}
