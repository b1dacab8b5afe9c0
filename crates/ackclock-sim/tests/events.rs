//! Changes of links during a run: outages, and events that repeat or are random.

use ackclock_scenario::read_toml;
use ackclock_sim::BuiltIn;
use ackclock_trace::{Column, Summary, Table};

use crate::common;

fn run(text: &str, number: u64) -> (Summary, Vec<(&'static str, Table)>) {
    let scenario = read_toml(text, "test", &[], &BuiltIn).unwrap().scenario;
    common::run_with(&scenario, number, true, u64::MAX)
}

/// A packet of 1000 bytes every millisecond over a link that takes 0.8 ms for one; it is down from 2.0005 s to 4.0005 s.
fn outage(kind: &str) -> String {
    format!(
        r#"
run = {{ duration = "15 s" }}
flow = [{{ source = "cbr", rate = "8 Mbit/s", stop = "12.9995 s" }}]
[dumbbell]
rate = "10 Mbit/s"
delay = "10 ms"
queue = {{ kind = "droptail", limit = "5000 packets" }}
outage = "{kind}"
[[event]]
at = "2.0005 s"
set = "dumbbell.up"
to = false
[[event]]
at = "4.0005 s"
set = "dumbbell.up"
to = true
"#
    )
}

/// The packet of 2 s is in transmission and arrives; those of 2.001 s to 4 s, 2000, wait; that of 4.001 s comes while the
/// first of them is in transmission, and from then on the queue gets shorter. All 13000 arrive. The link has sent what it could
/// in 13.0003 of the 15 s: the packet in transmission is sent 0.3 ms after the outage begins.
#[test]
fn an_outage_holds_packets() {
    let (summary, _) = run(&outage("hold"), 0);
    let (flow, link) = (&summary.flows[0], &summary.links[0]);
    assert_eq!((flow.whole_run.sent_packets, flow.whole_run.dropped_packets), (13_000, 0));
    assert_eq!((link.queue_drops, link.max_queue_packets), (0, 2001));
    // The 2000 that waited are gone after 8 s, at a quarter of a packet per millisecond. So by the end of the flow's life, at
    // 12.9995 s, all have arrived that were sent until 10.8 ms before: 12 989.
    let goodput = 12_989.0 * 8e-3 / 12.9995;
    assert!((flow.goodput_mbps.unwrap() - goodput).abs() < 1e-9, "{:?}", flow.goodput_mbps);
    let utilisation = 13_000.0 * 8e-3 / (10.0 * 13.0003);
    assert!((link.utilisation.unwrap() - utilisation).abs() < 1e-9, "{:?}", link.utilisation);
}

/// The same packets that waited are lost, and no other.
#[test]
fn an_outage_drops_packets() {
    let (summary, _) = run(&outage("drop"), 0);
    let (flow, link) = (&summary.flows[0], &summary.links[0]);
    assert_eq!((flow.whole_run.sent_packets, flow.whole_run.dropped_packets), (13_000, 2000));
    assert_eq!((link.queue_drops, link.max_queue_packets), (2000, 1));
}

/// One packet every 4 ms, until 0.996 s, over a link that takes 8 ms: of 250 packets 126 have been taken up by 1.001 s, the
/// last of them at 1 s, and 124 wait. They are dropped at once, or sent when the link comes up again after 10 s.
#[test]
fn what_waits_shares_the_fate_of_what_arrives() {
    for (kind, dropped) in [("drop", 124), ("hold", 0)] {
        let text = outage(kind).replace("rate = \"8 Mbit/s\"", "rate = \"2 Mbit/s\"");
        let text = text.replace("rate = \"10 Mbit/s\"", "rate = \"1 Mbit/s\"").replace("12.9995", "0.9985");
        let (summary, _) = run(&text.replace("2.0005", "1.001").replace("4.0005", "11"), 0);
        let (flow, link) = (&summary.flows[0], &summary.links[0]);
        assert_eq!((flow.whole_run.sent_packets, flow.whole_run.dropped_packets), (250, dropped));
        // All that was sent, over 1 Mbit/s in the 5.001 s in which it could be, and 7 ms of the packet in transmission.
        let sent = (250 - dropped) as f64 * 8e-3;
        assert!((link.utilisation.unwrap() - sent / 5.008).abs() < 1e-9, "{:?}", link.utilisation);
    }
}

/// A link that is down from the start carries nothing, and has no capacity to be used.
#[test]
fn a_link_may_be_down_all_the_time() {
    let text = outage("hold").split("[[event]]").next().unwrap().to_owned() + "up = false\n";
    let (summary, _) = run(&text, 0);
    assert_eq!(summary.links[0].utilisation, None);
    assert_eq!((summary.flows[0].goodput_mbps, summary.links[0].queue_drops), (Some(0.0), 8000));
}

/// A rate that goes 4, 1, 4, 1 ... every second from 1 s on, after 2 in the first second; a source of 10 Mbit/s keeps the link
/// busy, so that what it sends in each second is the rate.
#[test]
fn values_come_in_turn() {
    let text = r#"
run = { duration = "8 s", sample = "1 s" }
flow = [{ source = "cbr", rate = "10 Mbit/s" }]
dumbbell = { rate = "2 Mbit/s", delay = "10 ms", queue = { kind = "droptail", limit = "100 packets" } }
[[event]]
at = "1 s"
every = "1 s"
until = "6 s"
set = "dumbbell.rate"
to = ["4 Mbit/s", "1 Mbit/s"]
"#;
    let (_, tables) = run(text, 0);
    let windows = &tables.iter().find(|(name, _)| *name == "windows").unwrap().1;
    let delivered = match &windows.columns.iter().find(|(name, _)| *name == "delivered_bytes").unwrap().1 {
        Column::Whole(bytes) => bytes.iter().map(|bytes| *bytes as f64 * 8e-6).collect::<Vec<_>>(),
        _ => panic!("bytes"),
    };
    // A packet of 8 kbit on either side, and 10 ms of the rate before.
    for (measured, expected) in delivered.iter().zip([2.0, 4.0, 1.0, 4.0, 1.0, 4.0, 4.0, 4.0]) {
        assert!((measured - expected).abs() < 0.016 + 0.01 * 4.0, "{delivered:?}");
    }
}

const RANDOM: &str = r#"
run = { duration = "200.5 s", sample = "100 ms" }
flow = [{ controller = "reno", receive_window = 1, rtt = "200 ms" }]
dumbbell = { rate = "1 Gbit/s", delay = "1 ms", queue = { kind = "droptail", limit = "100 packets" }, reverse = { delay = "1 ms" } }
[[event]]
at = "0 s"
every = "1 s"
set = "dumbbell.delay"
to = { uniform = ["10 ms", "60 ms"] }
"#;

/// The RTT at the end of each second, in which one packet at a time goes, is the access delay of 198 ms, 1 ms back, some
/// microseconds, and what was drawn for that second, uniform on [10, 60] ms: 200 of them have a mean of 35 ms with a standard
/// error of 50/sqrt(12 * 200) = 1.02 ms, of which five are allowed. Each run draws anew, and the same run the same.
#[test]
fn random_values_are_drawn_for_each_time() {
    let drawn = |number: u64| {
        let (_, tables) = run(RANDOM, number);
        let windows = &tables.iter().find(|(name, _)| *name == "windows").unwrap().1;
        match &windows.columns.iter().find(|(name, _)| *name == "rtt_ms").unwrap().1 {
            // The sample at 0.9 s of each second, in which several packets have gone.
            Column::Real(rtts) => rtts.iter().skip(8).step_by(10).map(|rtt| rtt - 199.0).collect::<Vec<_>>(),
            _ => panic!("round trips"),
        }
    };
    let first = drawn(0);
    assert_eq!(first.len(), 200);
    assert!(first.iter().all(|ms| (10.0..60.01).contains(ms)), "{first:?}");
    let mean = first.iter().sum::<f64>() / 200.0;
    assert!((mean - 35.0).abs() < 5.0 * 1.02, "{mean}");
    assert!(first.windows(2).filter(|pair| pair[0] == pair[1]).count() == 0);
    assert_eq!(first, drawn(0));
    assert_ne!(first, drawn(1));
}

/// Two events of the same key, each every two seconds: what each of them sets holds until the other comes, although the value
/// of one is that of the file.
#[test]
fn repeated_events_of_one_key_alternate() {
    let text = RANDOM.split("[[event]]").next().unwrap().to_owned()
        + "[[event]]\nat = \"2 s\"\nevery = \"2 s\"\nset = \"dumbbell.delay\"\nto = \"1 ms\"\n\
           [[event]]\nat = \"1 s\"\nevery = \"2 s\"\nset = \"dumbbell.delay\"\nto = \"21 ms\"\n";
    let (summary, _) = run(&text, 0);
    // 200 ms for half of the time and 220 for the other: per second five packets or 4.5.
    let mean = summary.flows[0].mean_rtt_ms.unwrap();
    assert!((mean - (5.0 * 200.0 + 4.545 * 220.0) / 9.545).abs() < 1.0, "{mean}");
}
