//! DCTCP at a step of K packets, against the closed forms of M. Alizadeh et al., SIGCOMM 2010, section 3.3: N flows in step
//! with W* = (CR + K)/N have alpha = sqrt(2/W*), a queue that swings by A = sqrt(2N(CR + K))/2 and reaches K + N.

use ackclock_scenario::{Aggregation, Limit, Queue, Recovery, Sample, Scenario, Threshold};
use ackclock_trace::{Column, Summary, Table};
use ackclock_units::{Bytes, Packets, Rate, Span};

use crate::common;

/// `flows` flows of 1500-byte packets over a link of `rate` with a round trip of `rtt` and a step at `k` packets.
fn step(flows: usize, rate: Rate, rtt: Span, k: u64) -> Scenario {
    let mut scenario = common::scenario("dctcp");
    scenario.run.warmup = Span(rtt.0 * 1000);
    scenario.run.duration = Span(rtt.0 * 4000);
    scenario.run.sample = Sample::Every(rtt);
    for link in &mut scenario.links {
        (link.rate, link.delay) = (rate, Span(rtt.0 / 2));
    }
    let limit = Limit::Packets(Packets(1000));
    scenario.links[0].queue = Queue::Step { limit, threshold: Threshold::Packets(Packets(k)) };
    let flow = &mut scenario.flows[0];
    flow.rtt = rtt;
    flow.tcp.packet = Bytes(1500);
    flow.tcp.recovery = Recovery::Rack;
    scenario.flows = vec![scenario.flows[0].clone(); flows].into();
    for (number, flow) in scenario.flows.iter_mut().enumerate() {
        flow.name = format!("flow-{number}");
    }
    scenario
}

fn real<'a>(tables: &'a [(&str, Table)], table: &str, name: &str) -> &'a [f64] {
    let (_, table) = tables.iter().find(|(other, _)| *other == table).unwrap();
    match table.columns.iter().find(|(other, _)| *other == name) {
        Some((_, Column::Real(values))) => values,
        _ => panic!("no column {name}"),
    }
}

/// What is measured: mean alpha, mean swing of the queue within a cycle, and the longest queue.
fn measured(scenario: &Scenario) -> (f64, f64, f64, Summary) {
    let (summary, tables) = common::run_with(scenario, 0, true, u64::MAX);
    let warmup = scenario.run.warmup.as_seconds();
    let times = real(&tables, "windows", "time_s");
    let alphas = real(&tables, "windows", "alpha");
    let settled: Vec<_> =
        (0..times.len()).filter(|row| times[*row] > warmup).map(|row| alphas[row]).collect();
    let (_, queues) = tables.iter().find(|(name, _)| *name == "queues").unwrap();
    let whole = |name: &str| match queues.columns.iter().find(|(other, _)| *other == name) {
        Some((_, Column::Whole(values))) => values,
        _ => panic!("no column {name}"),
    };
    let (times, least, most) =
        (real(&tables, "queues", "time_s"), whole("min_packets"), whole("max_packets"));
    let Some((_, Column::Id(links))) = queues.columns.iter().find(|(name, _)| *name == "link") else {
        panic!("queues have links")
    };
    let rows: Vec<_> = (0..times.len()).filter(|row| links[*row] == 0 && times[*row] > warmup).collect();
    let extreme = |values: &[u64], start: u64, pick: fn(u64, u64) -> u64| {
        rows.iter().fold(start, |extreme, row| pick(extreme, values[*row])) as f64
    };
    let (bottom, top) = (extreme(least, u64::MAX, u64::min), extreme(most, 0, u64::max));
    (common::table::mean(settled), top - bottom, top, summary)
}

/// 1 Gbit/s, 1 ms: CR = 83.3 packets, K = 40. The formulas leave out that packets are whole and that alpha swings with
/// its gain: 12 %, and two packets. K > CR/7, so that the link is never idle.
#[test]
fn the_queue_swings_as_the_paper_says() {
    let (rate, rtt, k) = (Rate(1_000_000_000), Span::from_millis(1), 40);
    for flows in [1, 2] {
        let n = flows as f64;
        let filling = 83.3 + k as f64;
        let (alpha, swing, top, summary) = measured(&step(flows, rate, rtt, k));
        let expected = (2.0 * n * filling).sqrt() / 2.0;
        assert!((alpha / (2.0 * n / filling).sqrt() - 1.0).abs() < 0.12, "{flows} flows: alpha {alpha}");
        assert!((swing / expected - 1.0).abs() < 0.12, "{flows} flows: {swing} against {expected}");
        assert!((top - (k as f64 + n)).abs() <= 2.0, "{flows} flows: {top}");
        assert!(summary.links[0].utilisation.unwrap() > 0.999);
        assert_eq!(summary.links[0].queue_drops, 0);
    }
}

/// Ten flows are no longer in step, so that the formula's swing does not hold; what does is K + N at most, a link that is
/// never idle, and equal shares.
#[test]
fn ten_flows_share_the_link() {
    let (_, _, top, summary) = measured(&step(10, Rate(1_000_000_000), Span::from_millis(1), 40));
    assert!((top - 50.0).abs() <= 2.0, "{top}");
    assert!(summary.links[0].utilisation.unwrap() > 0.999);
    assert!(summary.jain.unwrap() > 0.99, "{:?}", summary.jain);
}

/// Two thirds of a millisecond at the link's rate are as much as 40 packets at 1 Gbit/s: by sojourn the same queue.
#[test]
fn a_time_marks_as_packets_do() {
    let (rate, rtt) = (Rate(1_000_000_000), Span::from_millis(1));
    let mut scenario = step(1, rate, rtt, 40);
    let limit = Limit::Packets(Packets(1000));
    scenario.links[0].queue = Queue::Step { limit, threshold: Threshold::Time(Span::from_micros(480)) };
    let (_, _, top, summary) = measured(&scenario);
    assert!((top - 41.0).abs() <= 2.0, "{top}");
    assert!(summary.links[0].marks > 0 && summary.links[0].queue_drops == 0);
}

/// Three bits of a count tell as much as eleven while every acknowledgement arrives and covers one packet: the same run.
#[test]
fn three_bits_are_enough_for_an_acknowledgement_per_packet() {
    let [long, short] = [11, 3].map(|ace_bits| {
        let mut scenario = step(2, Rate(1_000_000_000), Span::from_millis(1), 40);
        scenario.flows.iter_mut().for_each(|flow| flow.tcp.ace_bits = ace_bits);
        common::run(&scenario)
    });
    assert!(long.links[0].marks > 100);
    assert_eq!(long.digest, short.digest);
}

/// Of all acknowledgements that come within 1 ms only the last passes, and nothing is marked. With eleven bits that changes
/// nothing, and the link of 1 Gbit/s is full. With three bits an acknowledgement of up to 7 packets is read as it is, one of 8
/// as 8 marks (RFC 9768, appendix A.2.1: the worst that fits). A small window comes back in one acknowledgement, so that it
/// is cut whenever it reaches 8, by half at most: 4 to 8 packets per 10 to 11 ms are 4.3 to 9.6 Mbit/s.
#[test]
fn three_bits_starve_behind_thinned_acknowledgements() {
    let [long, short] = [11, 3].map(|ace_bits| {
        let mut scenario = step(1, Rate(1_000_000_000), Span::from_millis(10), 40);
        scenario.links[0].queue = Queue::Droptail { limit: Limit::Packets(Packets(2000)) };
        scenario.links[1].aggregation = Some(Aggregation { every: Span::from_millis(1), thin_acks: true });
        scenario.flows[0].tcp.ace_bits = ace_bits;
        scenario.flows[0].tcp.receive_window = Some(Packets(2000));
        common::run(&scenario).flows[0].goodput_mbps.unwrap()
    });
    assert!(long > 980.0, "{long}");
    assert!((4.3..9.6).contains(&short), "{short}");
}
