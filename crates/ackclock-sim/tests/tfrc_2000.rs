//! TFRC of 2000 where one packet in 1/p is lost at random: 100 Mbit/s, RTT 100 ms, one flow, no queue. What is sent
//! in each 100 ms from 50 s to 1000 s, in three runs.

use ackclock_scenario::{Loss, Scenario};
use ackclock_trace::Column;
use ackclock_units::Span;

use crate::common;
use crate::common::table::{Table, mean};

const NS2: &str = include_str!("../../../tests/data/ns2/tfrc.csv");

/// One flow; its spacings are random, because it has an overhead.
fn lossy(controller: &str, probability: f64) -> Scenario {
    let mut scenario = common::scenario(controller);
    scenario.links[0].loss = Loss::Bernoulli { probability };
    scenario.run.duration = Span::from_seconds(1000);
    scenario.flows[0].tcp.overhead = Span::from_millis(10);
    scenario
}

/// Packets sent in each 100 ms of a run.
fn sent(scenario: &Scenario, run: u64) -> Vec<f64> {
    let tables = common::run_with(scenario, run, true, u64::MAX).1;
    let windows = &tables.iter().find(|(name, _)| *name == "windows").unwrap().1;
    let (_, Column::Whole(bytes)) = windows.columns.iter().find(|(name, _)| *name == "sent_bytes").unwrap()
    else {
        panic!("bytes are whole numbers");
    };
    bytes.iter().skip(500).map(|bytes| *bytes as f64 / 1000.0).collect()
}

/// Mean and CoV of what is sent in 100 ms.
fn moments(sent: &[f64]) -> (f64, f64) {
    let rate = mean(sent.iter().copied());
    let variance = mean(sent.iter().map(|packets| (packets - rate).powi(2)));
    (rate, variance.sqrt() / rate)
}

/// Means over three runs of mean and CoV.
fn measure(controller: &str, probability: f64) -> (f64, f64) {
    let runs: Vec<_> = (0..3).map(|run| moments(&sent(&lossy(controller, probability), run))).collect();
    (mean(runs.iter().map(|run| run.0)), mean(runs.iter().map(|run| run.1)))
}

/// A port of an ns-2 older than 2.1b8 to another simulator, made and measured before this control was written, in
/// short runs of one to three seeds. Rates up to 4 %: within 10 %, of which 4 % is a systematic difference that
/// ns-2.35 itself has on the path of this test (12.2 instead of the 11.8 measured together with the port). From 8 %
/// on the flow falls below a packet per round trip and rises again for tens of seconds, so that 150 s of it at 15 %
/// have between 0.3 and 0.65: three of them a standard error of a fifth. CoVs: 15 %.
#[test]
fn it_is_the_port() {
    for (probability, rate, cov) in [
        (0.01, 11.8, 0.22),
        (0.02, 7.9, 0.25),
        (0.04, 4.7, 0.31),
        (0.08, 2.1, 0.60),
        (0.15, 0.41, 1.53),
        (0.20, 0.25, 1.92),
    ] {
        let ours = measure("tfrc-2000", probability);
        let tolerance = if probability < 0.05 { 0.1 } else { 0.2 };
        assert!((ours.0 / rate - 1.0).abs() < tolerance, "{probability}: {ours:?} against {rate}");
        assert!((ours.1 / cov - 1.0).abs() < 0.15, "{probability}: {ours:?} against {cov}");
    }
}

/// The TFRC of ns-2.35 on the same path, with spacings that are random by half, too: at 1 and 2 % nothing that was
/// changed since 2000 matters. One run of 950 s has a standard deviation of 1 to 2 % in rate and 3 to 4 % in CoV, so
/// three against three are within 3 % and 8 %. At 8 % it already sends a fifth less and less evenly, at 20 % a
/// quarter, though ns-2.35 does not collapse.
#[test]
fn at_little_loss_it_is_that_of_ns2() {
    let table = Table::read(NS2);
    let theirs = |case: &str, column| mean(table.case(case).map(|row| row.number(column)));
    for (case, probability) in [("tfrc 0.01", 0.01), ("tfrc 0.02", 0.02)] {
        let ours = measure("tfrc-2000", probability);
        let (rate, cov) = (theirs(case, "packets"), theirs(case, "cov"));
        assert!((ours.0 / rate - 1.0).abs() < 0.03, "{case}: {ours:?} against {rate}");
        assert!((ours.1 / cov - 1.0).abs() < 0.08, "{case}: {ours:?} against {cov}");
    }
    for (case, probability, share) in [("tfrc 0.08", 0.08, 0.85), ("tfrc 0.2", 0.2, 0.4)] {
        let ours = measure("tfrc-2000", probability);
        assert!(ours.0 < share * theirs(case, "packets"), "{case}: {ours:?}");
        assert!(ours.1 > theirs(case, "cov") / share, "{case}: {ours:?}");
    }
}

/// Where no round trip has more than one packet, the mean of the squares is the mean r itself: CoV = sqrt(r - r^2)/r
/// = sqrt(1/r - 1). In general the squares have the mean r + s, where s is the mean of n (n - 1), and CoV = sqrt((r +
/// s)/r^2 - 1). At 50 % loss s is less than a tenth of r, which is a twentieth of the CoV.
#[test]
fn a_collapsed_flow_has_the_cov_of_its_rate() {
    let sent = sent(&lossy("tfrc-2000", 0.5), 0);
    let (rate, cov) = moments(&sent);
    let pairs = mean(sent.iter().map(|packets| packets * (packets - 1.0)));
    assert!(pairs < 0.1 * rate, "{pairs} {rate}");
    let formula = (1.0 / rate - 1.0).sqrt();
    assert!((cov / formula - 1.0).abs() < 0.05, "r = {rate}: {cov}, not {formula}");
}

/// Spacings are multiplied by U(0.5, 1.5) if there is an overhead, whatever it is: a nanosecond and 20 ms make the
/// same run, and none makes another.
#[test]
fn any_overhead_is_the_same() {
    let [none, least, most] = [Span::ZERO, Span(1000), Span::from_millis(20)].map(|overhead| {
        let mut scenario = lossy("tfrc-2000", 0.02);
        scenario.run.duration = Span::from_seconds(120);
        scenario.flows[0].tcp.overhead = overhead;
        common::run(&scenario).digest
    });
    assert_eq!(least, most);
    assert_ne!(none, least);
}
