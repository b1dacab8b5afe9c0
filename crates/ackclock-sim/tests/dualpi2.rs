//! DualPI2 at work: the coupling law, overload and delays, with traffic whose answer is known.

use ackclock_scenario::{Scenario, read_toml};
use ackclock_sim::packet::{EcnField, Kind, Packet};
use ackclock_sim::random::{Purpose, Streams};
use ackclock_sim::{BuiltIn, make_link};
use ackclock_trace::Summary;
use ackclock_units::{Span, Time};

use crate::common;

fn read(text: &str, settings: &[&str]) -> Scenario {
    let settings: Vec<_> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    read_toml(text, "test", &settings, &BuiltIn).unwrap().scenario
}

fn run(text: &str, settings: &[&str]) -> Summary {
    common::run(&read(text, settings))
}

/// Two constant sources at 10 Mbit/s: flow 0 is to wait in C, flow 1 in L.
const CONSTANT: &str = r#"
run = { duration = "120 s", warmup = "60 s" }
dumbbell = { rate = "10 Mbit/s", delay = "10 ms", queue = { kind = "dualpi2", limit = "1000 packets" } }
flow = [
  { source = "cbr", packet = "1500 B", rate = "10 Mbit/s" },
  { source = "cbr", packet = "1500 B", rate = "1 Mbit/s", codepoint = "ect1" },
]
"#;

/// Shares of the packets of flows 0 and 1 that were dropped, and of those of the link that were marked.
fn shares(summary: &Summary) -> (f64, f64, f64) {
    let sent = |flow: usize| summary.flows[flow].counters.sent_packets as f64;
    let dropped = |flow: usize| summary.flows[flow].counters.dropped_packets as f64 / sent(flow);
    (dropped(0), dropped(1), summary.links[0].marks as f64)
}

/// What the link cannot send is dropped from C, where packets cannot be marked: of C Mbit/s of C and 1 of L the share
/// (C - 9)/C. Nothing is dropped from L, and p_C = (p_CL/k)^2: the share of L that is marked is k times the root
/// of C's. L's own delay never asks for marks: it goes first, and no two of its packets wait together. The controller
/// integrates, so C's delay is the target, to the 1.2 ms of a packet.
///
/// Evenly spaced marks: p' moves by 3/s times the 1.2 ms of a packet at most, a fortieth of the least p' here, and
/// makes the mean of its square larger than the square of its mean by a thousandth. Random ones: five standard
/// deviations of 5000 draws.
#[test]
fn marks_are_the_root_of_drops_times_the_coupling() {
    for (settings, coupling, random) in [
        (&[][..], 2.0, false),
        (&["dumbbell.queue.uniform=false"][..], 2.0, true),
        (&["dumbbell.queue.scheduler=ts-fifo"][..], 2.0, false),
        (&["dumbbell.queue.coupling=1.5"][..], 1.5, false),
    ] {
        for (rate, share) in [("9.2 Mbit/s", 0.2 / 9.2), ("9.5 Mbit/s", 0.5 / 9.5), ("10 Mbit/s", 0.1)] {
            let rate = format!("flow.0.rate={rate}");
            let summary = run(CONSTANT, &[&[rate.as_str()], settings].concat());
            let (of_classic, of_low_latency, marks) = shares(&summary);
            assert!((of_classic / share - 1.0).abs() < 0.01, "{settings:?} {rate}: {of_classic}");
            assert_eq!(of_low_latency, 0.0);
            let sent = summary.flows[1].counters.sent_packets as f64;
            let (marked, expected) = (marks / sent, coupling * share.sqrt());
            let deviation = (expected * (1.0 - expected) / sent).sqrt();
            let tolerance = if random { 5.0 * deviation } else { 0.01 * expected };
            assert!((marked - expected).abs() < tolerance, "{settings:?} {rate}: {marked}, not {expected}");
            let delay = summary.links[0].queue_delay_p50_ms.unwrap();
            assert!((delay - 15.0).abs() < 1.2, "{settings:?} {rate}: {delay} ms");
        }
    }
}

/// 60 s of 1 Mbit/s in L are 5000 packets, and C has the other 9 Mbit/s, 45 000 packets, to one at each end of the time.
/// C waits for the target, to the 1.2 ms of a packet. A packet of L comes every 12 ms and finds none of its own, so under
/// the time-shifted FIFO it waits for what is left of the one in transmission, uniform on [0, 1.2 ms] if the times of
/// the flows are out of step, and under weighted round robin for one more of C where C is owed it: 2.4 ms at most. The
/// rates are out of step: 9.5 Mbit/s of C is a packet every 1.263 ms. Percentiles are known to 0.4 %.
#[test]
fn each_side_is_measured_by_itself() {
    for (scheduler, most) in [("wrr", 2.4), ("ts-fifo", 1.2)] {
        let scheduler = format!("dumbbell.queue.scheduler={scheduler}");
        let summary = run(CONSTANT, &[&scheduler, "flow.0.rate=9.5 Mbit/s"]);
        let sides = summary.links[0].dualpi2.as_ref().unwrap();
        let (low_latency, classic) = (&sides.low_latency, &sides.classic);
        assert!(low_latency.packets.abs_diff(5000) <= 1, "{scheduler}: {}", low_latency.packets);
        assert!(classic.packets.abs_diff(45_000) <= 1, "{scheduler}: {}", classic.packets);
        let delay = classic.queue_delay_p50_ms.unwrap();
        assert!((delay - 15.0).abs() < 1.2, "{scheduler}: {delay} ms");
        let [p50, p95, p99] = [
            low_latency.queue_delay_p50_ms.unwrap(),
            low_latency.queue_delay_p95_ms.unwrap(),
            low_latency.queue_delay_p99_ms.unwrap(),
        ];
        assert!(0.0 < p50 && p50 <= p95 && p95 <= p99, "{scheduler}: {p50}, {p95}, {p99}");
        assert!(p99 <= most * 1.004, "{scheduler}: {p99} ms");
    }
}

/// Reno's packets are ECT(0) and wait in C, also those that are marked there, which leave as those of L come. Another queue
/// has no sides, and one that becomes DualPI2's during the run is measured from then on: in the last 30 s the link sends as
/// many of 25 000 packets as it is busy, but for one at each end.
#[test]
fn marked_packets_of_the_classic_side_stay_there() {
    let summary = run(TCP, &["tcp.ecn=true"]);
    let sides = summary.links[0].dualpi2.as_ref().unwrap();
    assert!(summary.links[0].marks > 0 && sides.classic.packets > 0);
    assert_eq!((sides.low_latency.packets, sides.low_latency.queue_delay_p50_ms), (0, None));
    assert_eq!(sides.classic.queue_delay_p99_ms, summary.links[0].queue_delay_p99_ms);
    assert!(summary.links[1].dualpi2.is_none());
    let text =
        format!("{CONSTANT}\n[[event]]\nat = \"90 s\"\nset = \"dumbbell.queue.kind\"\nto = \"dualpi2\"\n");
    let settings = ["run.warmup=90 s", "dumbbell.queue={ kind = \"droptail\", limit = \"100 packets\" }"];
    let summary = run(&text, &settings);
    let sides = summary.links[0].dualpi2.as_ref().unwrap();
    let packets = (sides.low_latency.packets + sides.classic.packets) as f64;
    let sent = 25_000.0 * summary.links[0].utilisation.unwrap();
    assert!((packets - sent).abs() <= 1.0, "{packets}, not {sent}");
}

/// L alone, 1.5 times what the link can send: a third must go, p' is the root of that, above 1/k, so what is left is marked
/// throughout; L then is held at the target itself. At 1.2 times a sixth must go, which is less than 1/k^2: p' moves
/// around 1/k, drops begin and end, and the sum is that sixth; all is marked, for its own delay if for no other reason.
#[test]
fn overload_of_the_low_latency_queue() {
    for (rate, share) in [("15 Mbit/s", 1.0 / 3.0), ("12 Mbit/s", 1.0 / 6.0)] {
        let rate = format!("flow.1.rate={rate}");
        let summary = run(CONSTANT, &[&rate, "flow.0.rate=1 bit/s"]);
        let (_, dropped, marks) = shares(&summary);
        assert!((dropped / share - 1.0).abs() < 0.01, "{rate}: {dropped}");
        let left = summary.flows[1].counters.sent_packets as f64 * (1.0 - dropped);
        assert!((marks / left - 1.0).abs() < 0.01, "{rate}: {} marked", marks / left);
        let delay = summary.links[0].queue_delay_p50_ms.unwrap();
        assert!((delay - 15.0).abs() < 1.2, "{rate}: {delay} ms");
    }
}

/// Both queues in overload, 0.3 and 1.2 times what the link can send: each loses a third.
#[test]
fn overload_drops_alike_from_both() {
    let (of_classic, of_low_latency, _) =
        shares(&run(CONSTANT, &["flow.0.rate=3 Mbit/s", "flow.1.rate=12 Mbit/s"]));
    for share in [of_classic, of_low_latency] {
        assert!((share * 3.0 - 1.0).abs() < 0.01, "{of_classic}, {of_low_latency}");
    }
}

/// 40 packets of 1500 bytes fit. Without drops in overload p' stays at 1/k, so L is marked throughout but loses only what
/// does not fit, a third of 1.5 times the link's rate; all 40 wait or are sent, 1.2 ms each.
#[test]
fn overload_can_overflow() {
    let settings = [
        "flow.0.rate=1 bit/s",
        "flow.1.rate=15 Mbit/s",
        "dumbbell.queue.overload=overflow",
        "dumbbell.queue.limit=40 packets",
    ];
    let summary = run(CONSTANT, &settings);
    let (_, dropped, marks) = shares(&summary);
    let left = summary.flows[1].counters.sent_packets as f64 * (1.0 - dropped);
    assert!((dropped * 3.0 - 1.0).abs() < 0.01 && (marks / left - 1.0).abs() < 0.01, "{dropped}, {marks}");
    let delay = summary.links[0].queue_delay_p50_ms.unwrap();
    assert!((delay - 39.0 * 1.2).abs() < 1.2, "{delay} ms");
}

const TCP: &str = r#"
run = { duration = "60 s", warmup = "20 s" }
tcp = { profile = "linux", packet = "1500 B", overhead = "10 us" }
dumbbell = { rate = "40 Mbit/s", delay = "5 ms", queue = { kind = "dualpi2", limit = "1000 packets" } }
flow = [{ controller = "reno", count = 4, start = { uniform = ["0 s", "1 s"] } }]
"#;

/// The controller holds the mean of the delay at 15 ms, and its probability stays above 0 here: the round trip of 10 ms is
/// shorter than the queue's, so a halved window still fills the link. The median is near the mean of a saw; two of
/// its teeth more or less are allowed. With ECN nothing is lost.
#[test]
fn classic_flows_are_held_at_the_target() {
    for controller in ["reno", "cubic"] {
        for (ecn, count) in [("false", 1), ("true", 1), ("false", 4), ("true", 4)] {
            let settings = [
                format!("flow.0.controller={controller}"),
                format!("tcp.ecn={ecn}"),
                format!("flow.0.count={count}"),
            ];
            let summary = run(TCP, &settings.each_ref().map(String::as_str));
            let link = &summary.links[0];
            let delay = link.queue_delay_p50_ms.unwrap();
            assert!((delay - 15.0).abs() < 2.0, "{settings:?}: {delay} ms");
            assert!(link.utilisation.unwrap() > 0.99, "{settings:?}: {:?}", link.utilisation);
            assert_eq!((link.queue_drops > 0, link.marks > 0), (ecn == "false", ecn == "true"));
        }
    }
}

/// Delays of the packets of L, milliseconds: they are a tenth of the link's rate as a Poisson process, next to a C that
/// always has packets waiting. They count from 10 s on, when the controller has settled.
fn delays_beside_classic(scheduler: &str) -> Vec<f64> {
    let settings = ["dumbbell.delay=0 ms", &format!("dumbbell.queue.scheduler={scheduler}")];
    let mut link = make_link(&read(TCP, &settings).links[0], 0, 1, Streams { seed: 1, run: 0 });
    let mut stream = Streams { seed: 7, run: 0 }.of(Purpose::Application, 0, 0);
    let mut delays = Vec::new();
    let settled = Time::ZERO + Span::from_seconds(10);
    let (mut classic, mut low_latency) = (Time::ZERO, Time::ZERO);
    for sequence in 0..200_000 {
        let ecn = if classic < low_latency { EcnField::NotCapable } else { EcnField::Ect1 };
        let now = classic.min(low_latency);
        while link.next_event() <= now {
            let at = link.next_event();
            if let (Some(packet), _) = link.deliver(at)
                && packet.ecn() != EcnField::NotCapable
                && at > settled
            {
                delays.push(at.since(packet.sent).as_millis() - 0.3);
            }
        }
        let mut packet = Packet::new(Kind::Data, 0, 0, sequence, now, 1500);
        packet.set_ecn(ecn);
        link.arrive(now, packet);
        if ecn == EcnField::Ect1 {
            low_latency += Span::from_seconds_f64(3e-3 * stream.exponential());
        } else {
            classic += Span::from_micros(300);
        }
    }
    delays.sort_by(f64::total_cmp);
    assert!(delays.len() > 14_000 && link.counters(classic).queue_drops > 0);
    delays
}

/// A packet of L goes before all of C, so it waits for the rest of the packet in transmission, uniform on [0, S], and as in an
/// M/D/1 queue at a load of 0.1 for those of L: together S/2 + 0.1 S/(2 * 0.9) = 0.5556 S, 0.1667 ms at S = 0.3 ms.
/// P(W <= x) = 0.9 (exp(0.1 x/S) - ...) gives 0.2 % beyond 2 S (Erlang 1909), so the 99th percentile is below that. The
/// standard deviation is about 0.12 ms: five standard errors of 14 000 packets are 0.005 ms.
///
/// Under weighted round robin C is owed a packet after nine of L, so every tenth waits for one more, and so do those that
/// wait with it or come while it does: S/10 on average, and up to a third more at this load.
#[test]
fn low_latency_beside_a_full_classic_queue() {
    let mean = |delays: &[f64]| delays.iter().sum::<f64>() / delays.len() as f64;
    let p99 = |delays: &[f64]| delays[delays.len() * 99 / 100];
    let first = delays_beside_classic("ts-fifo");
    assert!((mean(&first) - 0.1667).abs() < 0.005 && p99(&first) < 0.6, "{}, {}", mean(&first), p99(&first));
    let weighted = delays_beside_classic("wrr");
    let more = mean(&weighted) - mean(&first);
    assert!((0.03..0.04).contains(&more) && p99(&weighted) < 0.9, "{more}, {}", p99(&weighted));
}
